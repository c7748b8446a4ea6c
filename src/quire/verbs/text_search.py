"""Finding text over all notebooks: in their names, in what cells say, and in what they showed last."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

import msgspec

from ..core.errors import BadInput
from ..core.ids import CellId, LogId
from ..files.plain import one_line
from ..workspace import access
from ..workspace.local import LocalWorkspace

MOST_HITS = 100
MOST_WORDS = 20
LONGEST_TEXT = 300
_ROWS = 2000
"""So many rows of each kind are read: some may be hidden from the bearer."""
_WIDTH = 200
_SECONDS = 10


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """A place where all words were found."""

    log: LogId
    name: str
    """Of the notebook or run."""
    cell: CellId | None
    where: Literal["name", "source", "output"]
    text: str
    """The first line with one of the words."""


async def search_text(workspace: LocalWorkspace, text: str) -> list[SearchHit]:
    """Return where all words of `text` stand together: names first, then sources, then outputs; the newest log first."""
    if len(text) > LONGEST_TEXT or "\0" in text:
        raise BadInput(f"A search has at most {LONGEST_TEXT} characters, and no NUL among them. Use fewer words.")
    words = text.lower().split()[:MOST_WORDS]
    if not words:
        return []
    names = {info.log: info.name for info in await workspace.logs() if info.kind != "workspace"}
    found = [
        SearchHit(log=log, name=name, cell=None, where="name", text=one_line(name, _WIDTH))
        for log, name in names.items()
        if all(word in name.lower() for word in words)
    ]
    system = workspace.acting_as(access.system())
    sources = await system.query(_source_query(words), limit=_ROWS, seconds=_SECONDS)
    outputs = await system.query(_output_query(words), limit=_ROWS, seconds=_SECONDS)
    found += _hits("source", sources.rows, names, words)
    found += _hits("output", outputs.rows, names, words)
    return found[:MOST_HITS]


def _hits(
    where: Literal["source", "output"], rows: Iterable[Collection[str]], names: dict[LogId, str], words: list[str]
) -> Iterable[SearchHit]:
    seen: set[tuple[str, str]] = set()
    for log, cell, text in rows:
        if log in names and (log, cell) not in seen:
            seen.add((log, cell))
            line = one_line(_line(text, words), _WIDTH)
            yield SearchHit(log=LogId(log), name=names[LogId(log)], cell=CellId(cell), where=where, text=line)


def _line(text: str, words: list[str]) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in lines if any(word in line.lower() for word in words)), lines[0] if lines else "")


def _source_query(words: list[str]) -> str:
    wanted = " AND ".join(f"lower(coalesce(name, '') || ' ' || source) LIKE {_like(word)} ESCAPE '!'" for word in words)
    return f"SELECT log, cell, coalesce(name, '') || '\n' || source FROM cells WHERE {wanted} ORDER BY log DESC, place"  # noqa: S608 - quoted


def _output_query(words: list[str]) -> str:
    wanted = " AND ".join(f"lower(o.text) LIKE {_like(word)} ESCAPE '!'" for word in words)
    last = (
        "SELECT x.execution FROM executions x WHERE x.log = o.log AND x.cell = o.cell AND x.started_at IS NOT NULL"
        " ORDER BY x.started_at DESC LIMIT 1"
    )
    return (
        "SELECT o.log, o.cell, o.text FROM outputs o JOIN cells c ON c.log = o.log AND c.cell = o.cell"  # noqa: S608 - quoted
        f" WHERE {wanted} AND o.execution = ({last}) ORDER BY o.log DESC, c.place"
    )


def _like(word: str) -> str:
    """A pattern for LIKE that means the word itself."""
    for special in "!%_":
        word = word.replace(special, f"!{special}")
    return "'%" + word.replace("'", "''") + "%'"
