"""What was done in a notebook: its log as lines from the end backwards, and what others did since somebody looked.

Both read only what they need of a log: a page of it, or what came after a number, without what cells showed.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from ...core.events import Entry
from ...core.ids import ActorId, ExecutionId, LogId
from ...core.notebook.activity import (
    ENDINGS,
    NEWS,
    ActivityKind,
    ActivityLine,
    ActorChanges,
    AttributedAct,
    CellChanges,
    ExecutionEnding,
    acts_of,
    belong_together,
    ending_of,
    grouped,
    news,
    types_of,
)
from ...core.notebook.activity import KINDS as _KINDS
from ...workspace.protocol import Workspace

LINES_SHOWN = 30
MOST_LINES = 200
MOST_READ = 20_000
"""How many entries an answer looks at: a rare kind or actor may need more than one answer to be found."""
MOST_NEWS = 20_000
"""How many of the last entries a summary is made of."""
_PAGE = 500


class ActivityPage(msgspec.Struct, frozen=True, kw_only=True):
    """Lines, the newest first."""

    lines: list[ActivityLine]
    before: int | None
    """Ask for what was before this number; null: this is the beginning of the log."""


class Since(msgspec.Struct, frozen=True, kw_only=True):
    """What others did after a number."""

    seq: int
    head: int
    """The last number that was looked at."""
    actors: tuple[ActorChanges, ...]
    cells: tuple[CellChanges, ...]
    partial: bool = False
    """Whether only the last of it was looked at, because there is very much."""


async def activity(
    workspace: Workspace,
    log: LogId,
    *,
    before: int | None = None,
    limit: int = LINES_SHOWN,
    kinds: Collection[ActivityKind] | None = None,
    who: ActorId | None = None,
) -> ActivityPage:
    """Return what was done in a log before a number (at all, without one): of these kinds, by or for that actor."""
    info = await workspace.find(log)
    log, is_run = info.log, info.kind == "run"
    endings = await _endings_after(workspace, log, before)
    types = types_of(kinds)
    acts: list[AttributedAct] = []  # the newest first
    lines: list[ActivityLine] = []
    until = None if before is None else before - 1
    read = 0
    while page := await workspace.entries(log, 0, until, limit=_PAGE, types=types, newest_first=True):
        read += len(page)
        until = page[-1].seq - 1
        for entry in page:
            if (ended := ending_of(entry.event)) is not None:
                endings.setdefault(*ended)
            for act in reversed(_wanted(entry, kinds, who, is_run=is_run)):
                if acts and not belong_together(act, acts[-1]):
                    lines += grouped(reversed(acts), endings)
                    if len(lines) >= limit:
                        return ActivityPage(lines=lines, before=lines[-1].first)
                    acts = []
                acts.append(act)
        if len(page) < _PAGE:
            until = 0
            break
        if read >= MOST_READ:
            break
    lines += grouped(reversed(acts), endings)
    return ActivityPage(lines=lines, before=until + 1 if until else None)


async def _endings_after(workspace: Workspace, log: LogId, before: int | None) -> dict[ExecutionId, ExecutionEnding]:
    """How executions ended that were asked for before a number and ended soon after it."""
    if before is None:
        return {}
    page = await workspace.entries(log, before - 1, limit=_PAGE, types=ENDINGS)
    return dict(ended for entry in page if (ended := ending_of(entry.event)) is not None)


def _wanted(
    entry: Entry, kinds: Collection[ActivityKind] | None, who: ActorId | None, *, is_run: bool
) -> list[AttributedAct]:
    return [
        act
        for act in acts_of(entry, is_run=is_run)
        if (kinds is None or _KINDS[act.act.type] in kinds) and (who is None or who in (act.actor, act.on_behalf_of))
    ]


async def since(workspace: Workspace, log: LogId, seq: int) -> Since:
    """Sum up what others than whoever asks did in a log after a number."""
    info = await workspace.find(log)
    log, head = info.log, info.head.seq
    entries: list[Entry] = []  # the newest first
    until = head
    partial = False
    while page := await workspace.entries(log, seq, until, types=NEWS, newest_first=True):
        entries += page
        until = page[-1].seq - 1
        if len(entries) >= MOST_NEWS:
            partial = until > seq
            break
    summed = news(reversed(entries), workspace.identity.actor)
    return Since(seq=seq, head=head, actors=summed.actors, cells=summed.cells, partial=partial)
