"""Notebooks for the tests of what agents read, made event by event."""

from __future__ import annotations

from collections.abc import Sequence

from quire.core import events as e
from quire.core.events import Entry, Fault, KnownEvent, Output, Raised
from quire.core.ids import ActorId, CellId, EventId, ExecutionId, LogId
from quire.core.notebook.notebook import Notebook
from quire.core.notebook.reduce import fold
from quire.core.text import source_hash

LOG = LogId("01M7GFVPH9ABCDEFGHJKMNPQRS")
ADA = ActorId("human:ada")


class Book:
    """A log on its way."""

    def __init__(self, name: str = "sales") -> None:
        self._entries: list[Entry] = []
        self._last: CellId | None = None
        self._executions = 0
        self._sources: dict[str, str] = {}
        self.add(e.NotebookCreated(name=name))

    def add(self, *events: KnownEvent) -> Book:
        """Record these."""
        for event in events:
            seq = len(self._entries) + 1
            at = f"2026-11-16T12:{seq // 60 % 60:02}:{seq % 60:02}.000000Z"
            self._entries.append(Entry(log=LOG, seq=seq, id=EventId(str(seq)), at=at, actor=ADA, event=event))
        return self

    def cell(self, id: str, source: str = "", *, kind: e.CellKind = "code", name: str | None = None) -> Book:
        """A cell at the end."""
        self.add(e.CellAdded(cell=CellId(id), after=self._last, kind=kind, source=source, name=name))
        self._last = CellId(id)
        self._sources[id] = source
        return self

    def ran(
        self,
        id: str,
        *outputs: Output,
        status: e.ExecutionStatus = "ok",
        defines: Sequence[str] = (),
        count: int | None = None,
    ) -> Book:
        """A cell ran, and showed this."""
        self._executions += 1
        cell, execution = CellId(id), ExecutionId(f"x{self._executions}")
        hash = source_hash(self._sources[id])
        started = e.ExecutionStarted(
            execution=execution, cell=cell, source_hash=hash, epoch=1, defines=tuple(defines), uses=()
        )
        self.add(started)
        for chunk, output in enumerate(outputs):
            self.add(_shown(execution, chunk, output))
        raised = next((each for each in outputs if isinstance(each, Raised)), None)
        fault = raised and Fault(ename=raised.ename, evalue=raised.evalue, traceback=raised.traceback)
        return self.add(
            e.ExecutionFinished(
                execution=execution, epoch=1, status=status, count=count or self._executions, fault=fault
            )
        )

    def showed(self, id: str, *outputs: Output) -> Book:
        """A file says what a cell showed: any output, as it is."""
        self._executions += 1
        cell = CellId(id)
        hash = source_hash(self._sources[id])
        execution = ExecutionId(f"x{self._executions}")
        return self.add(e.OutputsImported(execution=execution, cell=cell, source_hash=hash, outputs=outputs))

    def failed(self, id: str, ename: str, evalue: str, *frames: str) -> Book:
        """A cell raised this."""
        first = ("-" * 75, f"{ename}      Traceback (most recent call last)")
        raised = Raised(ename=ename, evalue=evalue, traceback=(*first, *frames, f"{ename}: {evalue}"))
        return self.ran(id, raised, status="error")

    @property
    def notebook(self) -> Notebook:
        """The notebook as it is."""
        return fold(self._entries)


def _shown(execution: ExecutionId, chunk: int, output: Output) -> KnownEvent:
    if isinstance(output, e.Stream):
        return e.StreamAppended(
            execution=execution, epoch=1, chunk=chunk, name=output.name, offset=0, text=output.head, blob=output.blob
        )
    return e.OutputAdded(execution=execution, epoch=1, chunk=chunk, output=output)
