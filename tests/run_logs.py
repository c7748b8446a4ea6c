"""Runs as they stand in a store once they are over: recorded directly, without a kernel and without rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from quire.core import codec
from quire.core import events as e
from quire.core.chain import digest
from quire.core.ids import ActorId, CellId, EventId, ExecutionId, LogId, RuntimeId
from quire.core.text import source_hash
from quire.core.values import tag
from quire.stores.store import Append, LogSummary, UnsealedRecord
from quire.workspace.clock import new_id

SOURCE = "train(month)"
START = datetime(2026, 1, 1, tzinfo=UTC)
RUNTIME = ActorId("runtime:r")
CELL = CellId("c1")


class RunLog(msgspec.Struct, frozen=True, kw_only=True):
    """A run to record."""

    log: LogId
    name: str = "train"
    path: str | None = "train.py"
    notebook: LogId | None = None
    parameters: Mapping[str, Any] = {}
    results: Mapping[str, Any] = {}
    status: Any = "success"
    """How it ended; `running` and `queued` for one that goes on."""
    actor: ActorId = ActorId("human:ada")
    on_behalf_of: ActorId | None = None
    minute: int = 0
    """When it was asked for, from START on."""
    seconds: float = 10
    cells: int = 1


def run_append(run: RunLog) -> Append:
    """The run as one append to a log of its own."""
    start = START + timedelta(minutes=run.minute)
    records = [_record(run, event, actor, start + timedelta(seconds=after)) for event, actor, after in _events(run)]
    return Append(log=run.log, kind="run", expected=0, records=tuple(records), about=LogSummary(name=run.name))


def _record(run: RunLog, event: e.KnownEvent, actor: ActorId, at: datetime) -> UnsealedRecord:
    payload = codec.encode(event)
    stamp = at.isoformat(timespec="microseconds").replace("+00:00", "Z")
    behalf = run.on_behalf_of if actor == run.actor else None
    return UnsealedRecord(
        EventId(new_id()), None, None, stamp, actor, behalf, codec.type_of(event), payload, digest(payload)
    )


def _events(run: RunLog) -> Iterator[tuple[e.KnownEvent, ActorId, float]]:
    source = e.RunSource(path=run.path, notebook=run.notebook)
    parameters = {name: tag(value) for name, value in run.parameters.items()}
    yield e.RunRequested(name=run.name, source=source, parameters=parameters), run.actor, 0
    for number in range(1, run.cells + 1):
        after = CellId(f"c{number - 1}") if number > 1 else None
        yield e.CellAdded(cell=CellId(f"c{number}"), after=after, source=SOURCE), run.actor, 0
    if run.status == "queued":
        return
    execution = ExecutionId(f"x-{run.log}")
    hash = source_hash(SOURCE)
    yield e.RunClaimed(runtime=RuntimeId(RUNTIME), epoch=1), RUNTIME, 1
    yield e.RunStarted(epoch=1), RUNTIME, 1
    yield e.ExecutionStarted(execution=execution, cell=CELL, source_hash=hash, epoch=1), RUNTIME, 1
    if run.status == "running":
        return
    for name, value in run.results.items():
        kind = type(value).__name__
        yield e.ResultRecorded(execution=execution, epoch=1, name=name, kind=kind, value=tag(value)), RUNTIME, 1
    is_good = run.status == "success"
    fault = None if is_good else e.Fault(ename="KeyError", evalue="region")
    ended = 1 + run.seconds
    yield (
        e.ExecutionFinished(execution=execution, epoch=1, status="ok" if is_good else "error", fault=fault),
        RUNTIME,
        ended,
    )
    failed = None if is_good else CELL
    yield e.RunFinished(epoch=1, status=run.status, failed_cell=failed, fault=fault), RUNTIME, ended
