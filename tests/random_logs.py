"""Logs that could have happened: actors who play by the rules, and some who try not to.

`play` draws moves from hypothesis, puts each through the rules and folds what they accept.
What comes out is a log of accepted entries, whatever the notebook looks like by then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from hypothesis import strategies as st

from quire.core import events as e
from quire.core.errors import QuireError
from quire.core.events import Entry, NotebookEvent
from quire.core.ids import ActorId, CellId, CommentId, ConflictId, EventId, ExecutionId, LogId, ProposalId, RuntimeId
from quire.core.notebook.notebook import Notebook
from quire.core.notebook.reduce import Fold
from quire.core.rules.acceptance import SubmissionContext, accept
from quire.core.rules.cell_rules import bases, edits_of
from quire.core.text import Splice, source_hash

ADA, BOB, AGENT = ActorId("human:ada"), ActorId("human:bob"), ActorId("agent:claude")
RUNTIME, SYSTEM = ActorId("runtime:local"), ActorId("system:quire")
ACTORS = (ADA, BOB, AGENT, RUNTIME, SYSTEM)
LOG = LogId("n1")
TEXT = st.text("xy=\n🦊é", max_size=6)
NAMES = st.sampled_from(["x", "y", "z"])
CELLS = [CellId(f"cell{n}") for n in range(6)]


def at(seq: int) -> str:
    """A time for each number."""
    return f"2026-01-01T{seq // 3600 % 24:02}:{seq // 60 % 60:02}:{seq % 60:02}.000000Z"


def entry(seq: int, event: e.AnyEvent, actor: ActorId = ADA) -> Entry:
    """An entry of a log, without its hash."""
    return Entry(log=LOG, seq=seq, id=EventId(f"e{seq}"), at=at(seq), actor=actor, event=event)


def created() -> Entry:
    """How every notebook begins."""
    return entry(1, e.NotebookCreated(name="play"))


@st.composite
def edits(draw: st.DrawFn, length: int) -> tuple[Splice, ...]:
    """An edit of a text of that length: sorted splices that do not overlap."""
    splices: list[Splice] = []
    position = 0
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(position, length))
        remove = draw(st.integers(0, min(3, length - start)))
        splices.append(Splice(start, remove, draw(TEXT)))
        position = start + remove
    return tuple(splices)


Move: TypeAlias = tuple[ActorId, NotebookEvent]


class Player:
    """Draws what somebody might try next. Only what a move needs is drawn: hypothesis pays for each."""

    def __init__(self, draw: st.DrawFn, now: Notebook) -> None:
        self.draw = draw
        self.now = now
        self.seq = now.seq + 1
        self.cell = draw(st.sampled_from(CELLS))
        known = now.cells.get(self.cell)
        self.source = known.source if known is not None else ""

    def move(self) -> Move:
        """Somebody changes cells, asks for a run, runs, or does something rarer."""
        group = self.draw(st.sampled_from(["change", "change", "request", "running", "running", "other"]))
        match group:
            case "change":
                return self.draw(st.sampled_from((ADA, BOB, AGENT))), self.change()
            case "request":
                return ADA, self.request()
            case "running":
                return self.running()
            case _:
                return self.other()

    def request(self) -> e.ExecutionRequested | e.ScratchRequested:
        execution, draw = ExecutionId(f"x{self.seq}"), self.draw
        if not draw(st.integers(0, 3)):
            return e.ScratchRequested(execution=execution, cell=CellId(f"s{self.seq}"), source=draw(TEXT))
        needs = draw(st.sampled_from([None, *self.now.executions]))
        return e.ExecutionRequested(execution=execution, cell=self.cell, source_hash=self.hash(), needs=needs)

    def hash(self) -> str:
        """Of the source as it is; now and then of one that never was."""
        return source_hash(self.source) if self.draw(st.integers(0, 9)) else "stale"

    def anchor(self) -> CellId | None:
        return self.draw(st.sampled_from([None, *CELLS]))

    def change(self) -> e.CellChange:
        cell, draw = self.cell, self.draw
        makers: list[Callable[[], e.CellChange]] = [
            lambda: e.CellAdded(cell=cell, after=self.anchor(), source=draw(TEXT), tags=("t",)),
            lambda: e.CellRemoved(cell=cell),
            lambda: e.CellMoved(cell=cell, after=self.anchor()),
            lambda: e.CellKindChanged(cell=cell, kind=draw(st.sampled_from(["code", "markdown", "sql"]))),
            lambda: e.CellNamed(cell=cell, name=draw(st.sampled_from([None, "load"]))),
            lambda: e.CellTagged(cell=cell, tags=("a", "b")),
            lambda: e.CellMetadataSet(cell=cell, values={"k": self.seq}, removed=("old",)),
            lambda: e.SourceEdited(cell=cell, base=self.base(), edit=draw(edits(len(self.source)))),
            lambda: e.SourceEdited(cell=cell, base_hash=self.hash(), text=draw(TEXT)),
        ]
        return draw(st.sampled_from(makers))()

    def base(self) -> int:
        return self.draw(st.integers(1, max(1, self.now.seq)))

    def running(self) -> Move:
        draw, now = self.draw, self.now
        execution = draw(st.sampled_from([*now.executions, ExecutionId(f"x{self.seq}")]))
        found = now.execution(execution)
        epoch = (found.epoch if found is not None else None) or draw(st.integers(1, 3))
        cell, wanted = (found.cell, found.source_hash) if found is not None else (self.cell, "never")
        place: dict[str, Any] = {"execution": execution, "epoch": epoch}
        runtime = RuntimeId(RUNTIME)

        def chunk() -> dict[str, Any]:
            return {**place, "chunk": draw(st.integers(0, 8))}

        def start() -> e.ExecutionStarted:
            uses = draw(st.sampled_from([None, ("x",), ("y", "z")]))
            return e.ExecutionStarted(**place, cell=cell, source_hash=wanted, defines=(draw(NAMES),), uses=uses)

        def shown() -> e.Display:
            return e.Display(data={"text/plain": draw(TEXT)}, display_id=draw(st.sampled_from([None, "d1", "d2"])))

        makers: list[tuple[ActorId, Callable[[], NotebookEvent]]] = [
            (RUNTIME, lambda: e.ExecutionClaimed(execution=execution, runtime=runtime)),
            (RUNTIME, lambda: e.ExecutionClaimed(execution=execution, runtime=runtime)),
            (RUNTIME, start),
            (RUNTIME, start),
            (
                RUNTIME,
                lambda: e.StreamAppended(**chunk(), name="stdout", offset=draw(st.integers(0, 6)), text=draw(TEXT)),
            ),
            (RUNTIME, lambda: e.OutputAdded(**chunk(), output=shown())),
            (RUNTIME, lambda: e.OutputAdded(**chunk(), output=e.Raised(ename="E", evalue="no", traceback=("a", "b")))),
            (RUNTIME, lambda: e.DisplayUpdated(**chunk(), display_id="d1", data={"a": 1})),
            (RUNTIME, lambda: e.OutputsCleared(**chunk())),
            (RUNTIME, lambda: e.ResultRecorded(**place, name=draw(NAMES), kind="int", value=1)),
            (RUNTIME, lambda: e.ExecutionFinished(**place, status="ok", count=1)),
            (SYSTEM, lambda: e.ExecutionFinished(**place, status="lost")),
            (RUNTIME, lambda: e.ExecutionSkipped(execution=execution, cell=self.cell, why="an earlier cell failed")),
            (ADA, lambda: e.InterruptRequested(execution=execution)),
            (ADA, lambda: e.ExecutionCancelled(execution=execution)),
            (ADA, lambda: e.InputAnswered(execution=execution, prompt="?", answer="y")),
        ]
        actor, make = draw(st.sampled_from(makers))
        return actor, make()

    def other(self) -> Move:
        draw, now, seq, cell = self.draw, self.now, self.seq, self.cell
        runtime = RuntimeId(RUNTIME)

        def proposal() -> ProposalId:
            return draw(st.sampled_from([*now.proposals, ProposalId(f"p{seq}")]))

        def comment() -> CommentId:
            return draw(st.sampled_from([*now.comments, CommentId(f"c{seq}")]))

        def conflict() -> ConflictId:
            return draw(st.sampled_from([*now.conflicts, ConflictId(f"f{seq}")]))

        def propose() -> e.ProposalMade:
            effect = e.RunCell(execution=ExecutionId(f"y{seq}"), cell=cell, source_hash=self.hash())
            effects = draw(st.sampled_from([(), (effect,)]))
            changes = draw(st.sampled_from([1, 1, 2, 0]))
            made = tuple(self.change() for _ in range(changes))
            return e.ProposalMade(proposal=ProposalId(f"p{seq}"), why="better", changes=made, effects=effects)

        def accepted() -> e.ProposalAccepted:
            return e.ProposalAccepted(proposal=proposal(), selection=draw(st.sampled_from([None, None, (0,), (1,)])))

        def imported() -> e.OutputsImported:
            outputs = (e.Stream(name="stdout", head=draw(TEXT)), e.Display(data={"text/plain": draw(TEXT)}, count=3))
            return e.OutputsImported(
                execution=ExecutionId(f"z{seq}"), cell=cell, source_hash=self.hash(), outputs=outputs
            )

        makers: list[tuple[ActorId, Callable[[], NotebookEvent]]] = [
            (ADA, lambda: e.NotebookRenamed(name="other")),
            (ADA, imported),
            (ADA, lambda: e.MetadataSet(values={"kernel": "python3"}, removed=("x",))),
            (ADA, lambda: e.FileBound(path=draw(st.sampled_from([None, "a.py", "a.py", "../a.py"])))),
            (SYSTEM, lambda: e.FileMerged(path="a.py", digest="d", changes=(self.change(), self.change()))),
            (SYSTEM, lambda: e.ConflictRaised(conflict=conflict(), cell=cell, base="", ours="a", theirs="b")),
            (BOB, lambda: e.ConflictResolved(conflict=conflict())),
            (RUNTIME, lambda: e.RuntimeAttached(runtime=runtime, name="local")),
            (RUNTIME, lambda: e.RuntimeDetached(runtime=runtime)),
            (RUNTIME, lambda: e.KernelStarted(runtime=runtime, kernel="k")),
            (RUNTIME, lambda: e.KernelRestarted(runtime=runtime, kernel="k")),
            (ADA, lambda: e.RestartRequested(runtime=draw(st.sampled_from([None, "local", "gpu"])))),
            (AGENT, propose),
            (AGENT, propose),
            (ADA, accepted),
            (draw(st.sampled_from(ACTORS)), accepted),
            (BOB, lambda: e.ProposalDeclined(proposal=proposal())),
            (AGENT, lambda: e.ProposalWithdrawn(proposal=proposal())),
            (ADA, lambda: e.CommentAdded(comment=comment(), text="why?", cell=draw(st.sampled_from([None, cell])))),
            (ADA, lambda: e.CommentEdited(comment=comment(), text="why not?")),
            (BOB, lambda: e.CommentResolved(comment=comment())),
        ]
        actor, make = draw(st.sampled_from(makers))
        return actor, make()


def attempt(log: list[Entry], folding: Fold, actor: ActorId, event: NotebookEvent) -> Entry | None:
    """Put an event through the rules; append it when they accept it."""
    now = folding.now
    asking = SubmissionContext(actor=actor, at=at(now.seq + 1), seq=now.seq, epoch=now.seq + 1)
    try:
        for cell, base in bases(event, now):
            if 0 < base < now.seq:
                asking.earlier[cell, base] = [edit for each in log[base:] for edit in edits_of(each, cell)]
        accepted = accept(now, event, asking)
    except QuireError:
        return None
    made = entry(now.seq + 1, accepted, actor)
    folding.add(made)
    log.append(made)
    return made


@st.composite
def logs(draw: st.DrawFn, moves_at_most: int = 60) -> list[Entry]:
    """A log of accepted entries."""
    first = created()
    log = [first]
    folding = Fold()
    folding.add(first)
    for cell in CELLS[:3]:
        attempt(log, folding, ADA, e.CellAdded(cell=cell, after=None, source=draw(TEXT)))
    for _ in range(draw(st.integers(0, moves_at_most))):
        attempt(log, folding, *Player(draw, folding.now).move())
    return log
