"""Logs that could have happened: actors who play by the rules, and some who try not to.

`play` draws moves from hypothesis, puts each through the rules and folds what they accept.
What comes out is a log of accepted entries, whatever the notebook looks like by then.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from quire.core import events as e
from quire.core.errors import QuireError
from quire.core.events import Entry, NotebookEvent
from quire.core.ids import ActorId, CellId, CommentId, ConflictId, EventId, ExecutionId, LogId, ProposalId, RuntimeId
from quire.core.notebook import Notebook
from quire.core.reduce import Fold
from quire.core.rules import Asking, accept
from quire.core.rules.cells import bases, edits_of
from quire.core.text import Splice, source_hash

ADA, BOB, AGENT = ActorId("human:ada"), ActorId("human:bob"), ActorId("agent:claude")
RUNTIME, SYSTEM = ActorId("runtime:local"), ActorId("system:quire")
ACTORS = (ADA, BOB, AGENT, RUNTIME, SYSTEM)
LOG = LogId("n1")
TEXT = st.text("xy=\n🦊é", max_size=6)
NAMES = st.sampled_from(["x", "y", "z"])
CELLS = [CellId(f"cell{n}") for n in range(6)]

Draw = Callable[[st.SearchStrategy], object]  # type: ignore[type-arg]


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


@st.composite
def moves(draw: st.DrawFn, now: Notebook) -> tuple[ActorId, NotebookEvent]:
    """Something that somebody might try next."""
    cell = draw(st.sampled_from(CELLS))
    known = now.cells.get(cell)
    anchor = draw(st.sampled_from([None, *CELLS]))
    seq = now.seq + 1
    source = known.source if known is not None else ""
    execution = draw(st.sampled_from([*now.executions, ExecutionId(f"x{seq}")]))
    found = now.execution(execution)
    epoch = (found.epoch if found is not None else None) or draw(st.integers(1, 3))
    wanted = source_hash(source) if draw(st.integers(0, 9)) else "stale"
    change = draw(
        st.sampled_from(
            [
                e.CellAdded(cell=cell, after=anchor, source=draw(TEXT), tags=("t",)),
                e.CellRemoved(cell=cell),
                e.CellMoved(cell=cell, after=anchor),
                e.CellKindChanged(cell=cell, kind=draw(st.sampled_from(["code", "markdown", "sql"]))),
                e.CellNamed(cell=cell, name=draw(st.sampled_from([None, "load"]))),
                e.CellTagged(cell=cell, tags=("a", "b")),
                e.CellMetadataSet(cell=cell, values={"k": draw(st.integers(0, 9))}, removed=("old",)),
                e.SourceEdited(cell=cell, base=draw(st.integers(1, max(1, now.seq))), edit=draw(edits(len(source)))),
                e.SourceEdited(cell=cell, base_hash=wanted, text=draw(TEXT)),
            ]
        )
    )
    chunk = draw(st.integers(0, 8))
    stream = e.StreamAppended(
        execution=execution, epoch=epoch, chunk=chunk, name="stdout", offset=draw(st.integers(0, 6)), text=draw(TEXT)
    )
    shown = e.Display(data={"text/plain": draw(TEXT)}, display_id=draw(st.sampled_from([None, "d1", "d2"])))
    running: list[tuple[ActorId, NotebookEvent]] = [
        (RUNTIME, e.ExecutionClaimed(execution=execution, runtime=RuntimeId(RUNTIME))),
        (
            RUNTIME,
            e.ExecutionStarted(
                execution=execution,
                cell=found.cell if found is not None else cell,
                source_hash=found.source_hash if found is not None else wanted,
                epoch=epoch,
                defines=(draw(NAMES),),
                uses=draw(st.sampled_from([None, ("x",), ("y", "z")])),
            ),
        ),
        (RUNTIME, stream),
        (RUNTIME, e.OutputAdded(execution=execution, epoch=epoch, chunk=chunk, output=shown)),
        (RUNTIME, e.DisplayUpdated(execution=execution, epoch=epoch, chunk=chunk, display_id="d1", data={"a": 1})),
        (RUNTIME, e.OutputsCleared(execution=execution, epoch=epoch, chunk=chunk)),
        (RUNTIME, e.ResultRecorded(execution=execution, epoch=epoch, name=draw(NAMES), kind="int", value=1)),
        (RUNTIME, e.ExecutionFinished(execution=execution, epoch=epoch, status="ok", count=1)),
        (SYSTEM, e.ExecutionFinished(execution=execution, epoch=epoch, status="lost")),
        (RUNTIME, e.ExecutionSkipped(execution=execution, cell=cell, why="an earlier cell failed")),
        (ADA, e.InterruptRequested(execution=execution)),
        (ADA, e.ExecutionCancelled(execution=execution)),
        (ADA, e.InputAnswered(execution=execution, prompt="?", answer="y")),
    ]
    proposal = draw(st.sampled_from([*now.proposals, ProposalId(f"p{seq}")]))
    comment = draw(st.sampled_from([*now.comments, CommentId(f"c{seq}")]))
    conflict = draw(st.sampled_from([*now.conflicts, ConflictId(f"f{seq}")]))
    request = e.ExecutionRequested(execution=ExecutionId(f"x{seq}"), cell=cell, source_hash=wanted)
    effect = e.RunCell(execution=ExecutionId(f"y{seq}"), cell=cell, source_hash=wanted)
    others: list[tuple[ActorId, NotebookEvent]] = [
        (ADA, e.NotebookRenamed(name="other")),
        (ADA, e.MetadataSet(values={"kernel": "python3"}, removed=("x",))),
        (ADA, e.FileBound(path=draw(st.sampled_from([None, "a.py", "../a.py"])))),
        (SYSTEM, e.FileMerged(path="a.py", digest="d", changes=(change,))),
        (SYSTEM, e.ConflictRaised(conflict=conflict, cell=cell, base="", ours="a", theirs="b")),
        (BOB, e.ConflictResolved(conflict=conflict)),
        (ADA, e.MomentNamed(name="start", seq=draw(st.integers(0, seq)))),
        (RUNTIME, e.RuntimeAttached(runtime=RuntimeId(RUNTIME), name="local")),
        (RUNTIME, e.RuntimeDetached(runtime=RuntimeId(RUNTIME))),
        (RUNTIME, e.KernelStarted(runtime=RuntimeId(RUNTIME), kernel="k")),
        (RUNTIME, e.KernelRestarted(runtime=RuntimeId(RUNTIME), kernel="k")),
        (
            AGENT,
            e.ProposalMade(
                proposal=proposal, why="better", changes=(change,), effects=draw(st.sampled_from([(), (effect,)]))
            ),
        ),
        (
            draw(st.sampled_from(ACTORS)),
            e.ProposalAccepted(proposal=proposal, selection=draw(st.sampled_from([None, (0,), (1,)]))),
        ),
        (BOB, e.ProposalDeclined(proposal=proposal)),
        (AGENT, e.ProposalWithdrawn(proposal=proposal)),
        (ADA, e.CommentAdded(comment=comment, text="why?", cell=draw(st.sampled_from([None, cell])))),
        (ADA, e.CommentEdited(comment=comment, text="why not?")),
        (BOB, e.CommentResolved(comment=comment)),
    ]
    by = draw(st.sampled_from((ADA, BOB, AGENT)))
    group = draw(st.sampled_from(["change", "change", "request", "running", "running", "others"]))
    if group == "change":
        return by, change
    return (by, request) if group == "request" else draw(st.sampled_from(running if group == "running" else others))


def attempt(log: list[Entry], folding: Fold, actor: ActorId, event: NotebookEvent) -> Entry | None:
    """Put an event through the rules; append it when they accept it."""
    now = folding.now
    asking = Asking(actor=actor, at=at(now.seq + 1), epoch=now.seq + 1)
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
        actor, event = draw(moves(folding.now))
        attempt(log, folding, actor, event)
    return log
