"""Two notebooks or runs, or one at two moments, side by side."""

from __future__ import annotations

import asyncio

import msgspec

from ...core.ids import ActorId, LogId
from ...core.notebook.notebook import Notebook
from ...formats.diff_view.diff_values import DiffFact, DiffRow, diff_rows
from ...workspace.protocol import Workspace


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """A log at a number: as it was when that event was recorded."""

    log: LogId
    name: str
    is_run: bool
    seq: int
    at: str
    actor: ActorId
    on_behalf_of: ActorId | None = None


class MomentsCompared(msgspec.Struct, frozen=True, kw_only=True):
    """Two moments, and every cell of both from the top down."""

    a: Moment
    b: Moment
    rows: tuple[DiffRow, ...]
    facts: tuple[DiffFact, ...]
    language: str


async def compare(workspace: Workspace, a: tuple[LogId, int | None], b: tuple[LogId, int | None]) -> MomentsCompared:
    """Compare two logs cell by cell, each as it is or as it was at a number."""
    old, new = await workspace.read(*a), await workspace.read(*b)
    moments = await _moment(workspace, a[0], old), await _moment(workspace, b[0], new)
    # Large notebooks take a while, and others wait for the loop.
    found = await asyncio.to_thread(diff_rows, old, new)
    return MomentsCompared(a=moments[0], b=moments[1], rows=found.rows, facts=found.facts, language=found.language)


async def _moment(workspace: Workspace, log: LogId, notebook: Notebook) -> Moment:
    (entry,) = await workspace.entries(log, notebook.seq - 1, notebook.seq)
    return Moment(
        log=log,
        name=notebook.name,
        is_run=notebook.run is not None,
        seq=notebook.seq,
        at=entry.at,
        actor=entry.actor,
        on_behalf_of=entry.on_behalf_of,
    )
