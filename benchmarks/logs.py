"""Logs to measure with: what a working day leaves in a notebook."""

from __future__ import annotations

from collections.abc import Iterator

from quire.core import events as e
from quire.core.events import Draft, KnownEvent
from quire.core.ids import CellId, EventId, ExecutionId, LogId, RuntimeId
from quire.core.text import Splice, source_hash
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

CELLS = 20
PRINTS = 20
RUNTIME = identities.runtime("bench")
TEXT = "0123456789 " * 20
LOG = LogId("bench")


def beginning() -> list[KnownEvent]:
    """A notebook with cells."""
    cells = [
        e.CellAdded(cell=_cell(n), after=_cell(n - 1) if n else None, source=f"print({n})\n" * 5) for n in range(CELLS)
    ]
    return [e.NotebookCreated(name="bench"), *cells]


def _cell(number: int) -> CellId:
    return CellId(f"cell{number:04}")


def drafts(events: list[KnownEvent], start: int) -> list[Draft]:
    """Drafts with ids that no other has."""
    return [Draft(id=EventId(f"bench-{start + n}"), event=event) for n, event in enumerate(events)]


def typed(seq: int, count: int) -> Iterator[KnownEvent]:
    """Somebody types into the cells; the texts stay of one length."""
    for number in range(count):
        yield e.SourceEdited(cell=_cell(number % CELLS), base=seq, edit=(Splice(3, 1, "xyz"[number % 3]),))


async def execute(workspace: LocalWorkspace, log: LogId, number: int, start: int) -> int:
    """Run a cell that prints; return how many events that were."""
    runtime = workspace.acting_as(RUNTIME)
    cell, execution = _cell(number % CELLS), ExecutionId(f"x{start}")
    hash = source_hash((await workspace.read(log)).cells[cell].source)
    (request,) = drafts([e.ExecutionRequested(execution=execution, cell=cell, source_hash=hash)], start)
    await workspace.submit(log, [request])
    (claim,) = drafts([e.ExecutionClaimed(execution=execution, runtime=RuntimeId(RUNTIME.actor))], start + 1)
    (claimed,) = await runtime.submit(log, [claim])
    assert isinstance(claimed.event, e.ExecutionClaimed)
    epoch = claimed.event.epoch or 0
    said: list[KnownEvent] = [e.ExecutionStarted(execution=execution, cell=cell, source_hash=hash, epoch=epoch)]
    for chunk in range(PRINTS):
        said.append(
            e.StreamAppended(
                execution=execution, epoch=epoch, chunk=chunk, name="stdout", offset=chunk * len(TEXT), text=TEXT
            )
        )
    said.append(e.ExecutionFinished(execution=execution, epoch=epoch, status="ok", count=number))
    await runtime.submit(log, drafts(said, start + 2))
    return len(said) + 2


async def grow(workspace: LocalWorkspace, events: int, log: LogId = LOG) -> None:
    """Make a log of that many events: cells that all ran once, then typing and running in turn.

    So notebooks of a thousand and of a million events look alike; only their logs differ.
    """
    await workspace.submit(log, drafts(beginning(), 0))
    seq = CELLS + 1
    for number in range(CELLS):
        seq += await execute(workspace, log, number, seq)
    while seq < events:
        count = min(2000, events - seq)
        await workspace.submit(log, drafts(list(typed(seq, count)), seq))
        seq += count
        if events - seq > PRINTS + 10:
            seq += await execute(workspace, log, seq, seq)
