"""Which runs a log refers to: in its sources, comments, proposals and metadata, by id or by the beginning of one.

What a cell printed is no reference: a list of runs that somebody printed would keep them all for ever. To find too much
is safe: a run that is mentioned stays.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import AsyncIterator, Collection, Iterator

from ...core import codec
from ...core.chain import Record
from ...core.ids import LogId
from ...core.notebook.reduce import Fold
from ...stores.store import LogInfo, Store

SHORTEST = 10
"""The beginning of an id that people use for all of it has so many characters at least: the time it was made."""
_ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
_WORDS = re.compile(rf"[0-9A-HJKMNP-TV-Z]{{{SHORTEST},}}")
_PRINTED = (
    "stream_appended",
    "output_added",
    "display_updated",
    "outputs_cleared",
    "outputs_imported",
    "result_recorded",
)
_ADMINISTERED = ("log_imported", "log_pruned", "role_set", "policy_set", "token_created", "token_revoked")
"""What is said of a log while it is there, and needs it no longer."""
REFERRING = tuple(tag for tag in codec.event_types() if tag not in (*_PRINTED, *_ADMINISTERED))


class Mentions:
    """Finds the ids of some runs in text."""

    def __init__(self, runs: Collection[LogId]) -> None:
        self._usual = sorted(run for run in runs if _ULID.fullmatch(run))
        self._others = [run for run in runs if not _ULID.fullmatch(run)]

    def in_text(self, text: str) -> Iterator[LogId]:
        """Yield the runs that a text mentions, some of them perhaps twice."""
        for word in set(_WORDS.findall(text)) if self._usual else ():
            at = bisect_left(self._usual, word[:26])
            while at < len(self._usual) and self._usual[at].startswith(word[:26]):
                yield self._usual[at]
                at += 1
        yield from (run for run in self._others if run in text)

    def any_in(self, record: Record) -> bool:
        """Whether an event mentions one of them in a way that counts."""
        return record.type in REFERRING and any(True for _ in self.in_text(record.payload))


async def mentions_in_log(store: Store, info: LogInfo, mentions: Mentions) -> AsyncIterator[LogId]:
    """Yield the runs that a log refers to."""
    since = 0
    while records := await store.read(info.log, since, types=REFERRING):
        for record in records:
            for run in mentions.in_text(record.payload):
                yield run
        since = records[-1].seq
    if info.kind == "notebook":
        for text in await _texts(store, info):
            for run in mentions.in_text(text):
                yield run


async def _texts(store: Store, info: LogInfo) -> list[str]:
    """What was typed, as it came out: no event of a source that was typed letter by letter has an id in it."""
    folding, since = Fold(), 0
    while since < info.head.seq and (records := await store.read(info.log, since, info.head.seq)):
        for record in records:
            folding.add(codec.entry(record))
        since = records[-1].seq
    return [cell.source for cell in folding.notebook().live_cells]
