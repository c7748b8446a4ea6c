"""A notebook of two cells, that grows as the rules let it."""

from __future__ import annotations

from itertools import count

from quire.core import events as e
from quire.core.events import Entry, KnownEvent
from quire.core.ids import ActorId, CellId, EventId, ExecutionId, LogId, RuntimeId
from quire.core.notebook.notebook import Notebook
from quire.core.notebook.reduce import Fold, fold
from quire.core.rules.acceptance import SubmissionContext, accept
from quire.core.text import source_hash

ADA, BOB, LOCAL = ActorId("human:ada"), ActorId("human:bob"), ActorId("runtime:local")
A, B, S = CellId("a"), CellId("b"), CellId("s")
X, Y, Z = ExecutionId("x"), ExecutionId("y"), ExecutionId("z")


class Log:
    """Its log."""

    def __init__(self) -> None:
        self._fold = Fold()
        self._epochs = count(1)
        self.entries: list[Entry] = []
        self.say(
            e.NotebookCreated(name="sales"),
            e.CellAdded(cell=A, after=None, source="x = 1"),
            e.CellAdded(cell=B, after=A, source="print(x)"),
        )

    @property
    def now(self) -> Notebook:
        return fold(self.entries)

    def say(self, *events: KnownEvent, by: ActorId = ADA) -> None:
        for event in events:
            seq = self._fold.now.seq
            epoch = next(self._epochs) if isinstance(event, e.ExecutionClaimed) else None
            at = f"2026-03-02T09:00:00.{seq:06}Z"
            asking = SubmissionContext(actor=by, at=at, seq=seq, epoch=epoch)
            recorded = accept(self._fold.now, event, asking)  # type: ignore[arg-type]
            entry = Entry(log=LogId("n"), seq=seq + 1, id=EventId(str(seq)), at=at, actor=by, event=recorded)
            self._fold.add(entry)
            self.entries.append(entry)

    def scratch(self, cell: CellId = S, execution: ExecutionId = X, source: str = "x = 2") -> None:
        self.say(e.ScratchRequested(execution=execution, cell=cell, source=source))

    def start(self, execution: ExecutionId = X, defines: tuple[str, ...] = (), uses: tuple[str, ...] = ()) -> int:
        """Claim and start what waits; return the epoch."""
        self.say(e.ExecutionClaimed(execution=execution, runtime=RuntimeId(LOCAL)), by=LOCAL)
        found = self._fold.now.execution(execution)
        assert found is not None and found.epoch is not None
        self.say(
            e.ExecutionStarted(
                execution=execution,
                cell=found.cell,
                source_hash=found.source_hash,
                epoch=found.epoch,
                defines=defines,
                uses=uses,
            ),
            by=LOCAL,
        )
        return found.epoch

    def run(self, execution: ExecutionId = X, status: e.ExecutionStatus = "ok", **names: tuple[str, ...]) -> None:
        epoch = self.start(execution, **names)
        self.say(e.ExecutionFinished(execution=execution, epoch=epoch, status=status), by=LOCAL)

    def request(self, execution: ExecutionId, cell: CellId, needs: ExecutionId | None = None) -> None:
        hash = source_hash(self._fold.now.cells[cell].source)
        self.say(e.ExecutionRequested(execution=execution, cell=cell, source_hash=hash, needs=needs))
