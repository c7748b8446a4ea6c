"""Code without a cell, executions that need others, and removals as seen: what the rules say."""

from __future__ import annotations

import pytest

from quire.core import events as e
from quire.core.errors import BadInput, Conflict, NotFound, QuireError, Refused
from quire.core.events import Entry, KnownEvent
from quire.core.ids import CellId, EventId, ExecutionId, LogId, ProposalId
from quire.core.notebook.executions import SCRATCHES
from quire.core.notebook.reduce import fold
from quire.core.notebook.staleness import stale_cells
from quire.core.rules.acceptance import SubmissionContext, accept
from quire.core.text import source_hash

from ..two_cell_log import ADA, BOB, LOCAL, A, B, Log, S, X, Y, Z

# ---- Code without a cell


def test_it_runs_behind_all_cells_and_in_nobody_s_view() -> None:
    """Rule 1: the fold keeps it; rule 6: its outputs are its own."""
    log = Log()
    log.scratch()
    epoch = log.start()
    stream = e.StreamAppended(execution=X, epoch=epoch, chunk=0, name="stdout", offset=0, text="2\n")
    log.say(stream, e.ExecutionFinished(execution=X, epoch=epoch, status="ok"), by=LOCAL)
    now = log.now
    assert [cell.id for cell in now.live_cells] == [A, B]
    assert now.order == [A, B, S]
    scratch = now.cells[S]
    assert scratch.scratch and scratch.state == "ok" and scratch.execution is not None
    assert scratch.execution.outputs == [e.Stream(name="stdout", head="2\n")]
    log.say(e.CellAdded(cell=CellId("c"), after=B, source="3"))
    assert log.now.order == [A, B, "c", S]


@pytest.mark.parametrize(
    "event",
    [
        e.CellAdded(cell=S, after=None),
        e.CellAdded(cell=CellId("c"), after=S),
        e.CellRemoved(cell=S),
        e.CellMoved(cell=S, after=None),
        e.CellMoved(cell=A, after=S),
        e.CellKindChanged(cell=S, kind="markdown"),
        e.CellNamed(cell=S, name="s"),
        e.CellTagged(cell=S, tags=("t",)),
        e.CellMetadataSet(cell=S, values={"k": 1}),
        e.SourceEdited(cell=S, text="x = 3", base_hash=source_hash("x = 2")),
        e.SourceEdited(cell=S, base=4),
        e.ExecutionRequested(execution=Y, cell=S, source_hash=source_hash("x = 2")),
        e.CommentAdded(comment=e.CommentId("c"), text="?", cell=S),
        e.ProposalMade(proposal=ProposalId("p"), why="?", changes=(e.CellRemoved(cell=S),)),
    ],
    ids=lambda event: type(event).__name__,
)
def test_no_event_of_cells_touches_it(event: KnownEvent) -> None:
    log = Log()
    log.scratch()
    with pytest.raises(Refused, match="'s' is code that was executed without a cell; insert a cell with it instead"):
        log.say(event)


@pytest.mark.parametrize(
    ("event", "kind", "told"),
    [
        (e.ScratchRequested(execution=X, cell=A, source="1"), Refused, "'a' exists already"),
        (e.ScratchRequested(execution=X, cell=CellId("no id"), source="1"), BadInput, "no id"),
        (e.ScratchRequested(execution=X, cell=S, source="1", kind="markdown"), BadInput, "does not run"),
        (e.ScratchRequested(execution=X, cell=S, source="x" * 1_000_001), BadInput, "1,000,000 may be"),
    ],
)
def test_what_makes_no_sense_is_refused(event: KnownEvent, kind: type[QuireError], told: str) -> None:
    with pytest.raises(kind, match=told):
        Log().say(event)


def test_an_archived_notebook_and_a_run_that_goes_on_take_none() -> None:
    log = Log()
    log.say(e.NotebookArchived())
    with pytest.raises(Refused, match="archived"):
        log.scratch()
    asking = SubmissionContext(actor=ADA, at="2026-03-02T09:00:00.000000Z", seq=1)
    requested = e.RunRequested(name="run", source=e.RunSource(path="a.py"))
    entry = Entry(log=LogId("r"), seq=1, id=EventId("1"), at=asking.at, actor=ADA, event=requested)
    with pytest.raises(Refused, match="once it is over"):
        accept(fold([entry]), e.ScratchRequested(execution=X, cell=S, source="1"), asking)


def test_a_cell_that_reads_what_it_defined_is_stale() -> None:
    """The notebook alone does not give that name, also once the code is forgotten."""
    log = Log()
    log.scratch()
    log.run(defines=("x",))
    log.request(Y, B)
    log.run(Y, uses=("x",))
    assert stale_cells(log.now) == {B}
    for number in range(SCRATCHES + 1):
        log.scratch(CellId(f"s{number}"), ExecutionId(f"x{number}"))
        log.say(e.ExecutionCancelled(execution=ExecutionId(f"x{number}")))
    assert S not in log.now.cells and stale_cells(log.now) == {B}
    log.request(Z, B)
    log.run(Z, uses=("x",))
    assert stale_cells(log.now) == {B}


def test_only_the_last_that_are_over_are_kept_and_all_that_are_open() -> None:
    log = Log()
    log.scratch(CellId("open"), Y)
    for number in range(2 * SCRATCHES):
        log.scratch(CellId(f"s{number}"), ExecutionId(f"x{number}"))
        log.say(e.ExecutionCancelled(execution=ExecutionId(f"x{number}")))
        kept = [id for id, cell in log.now.cells.items() if cell.scratch]
        assert len(kept) <= SCRATCHES + 2 and kept[0] == "open"
    assert log.now.order == list(log.now.cells)
    log.run(Y)
    assert log.now.cells[CellId("open")].state == "ok"


# ---- What needs another execution


def test_what_needs_another_begins_once_that_ended_well() -> None:
    log = Log()
    log.request(X, A)
    log.request(Y, B, needs=X)
    with pytest.raises(Conflict, match="begins once 'x' has ended well"):
        log.start(Y)
    log.run(X)
    log.run(Y)
    assert log.now.cells[B].state == "ok"


@pytest.mark.parametrize("status", ["error", "cancelled", "timeout", "dead_kernel", "lost"])
def test_what_needs_one_that_failed_never_begins(status: e.ExecutionStatus) -> None:
    log = Log()
    log.request(X, A)
    log.request(Y, B, needs=X)
    log.run(X, status)
    with pytest.raises(Refused, match="did not end well"):
        log.start(Y)
    log.say(e.ExecutionSkipped(execution=Y, cell=B, why="a cell before it did not end well"), by=LOCAL)
    assert log.now.cells[B].state == "skipped"


def test_all_that_stands_on_one_that_failed_is_blocked_at_once() -> None:
    """Also what is asked for while it waits to be skipped; and nothing else."""
    log = Log()
    log.say(e.CellAdded(cell=CellId("c"), after=B), e.CellAdded(cell=CellId("d"), after=B))
    log.request(X, A)
    log.request(Y, B, needs=X)
    log.request(Z, CellId("c"))
    log.run(X, "error")
    log.request(ExecutionId("w"), CellId("d"), needs=Y)
    waiting = {id: execution for id in log.now.executions if (execution := log.now.execution(id)) is not None}
    assert {id for id, each in waiting.items() if each.blocked} == {Y, "w"}
    log.say(e.ExecutionSkipped(execution=Y, cell=B, why="no"), by=LOCAL)
    log.run(Z)
    assert log.now.cells[CellId("d")].queued == waiting[ExecutionId("w")]


def test_what_is_needed_has_to_be_under_way() -> None:
    log = Log()
    with pytest.raises(NotFound, match="needs 'x', which is not under way"):
        log.request(Y, B, needs=X)


# ---- Proposals of it


def _effect(**more: object) -> e.RunCell:
    fields: dict[str, object] = {"execution": X, "cell": S, "source_hash": source_hash("x = 2"), "source": "x = 2"}
    return e.RunCell(**(fields | more))  # type: ignore[arg-type]


def test_what_was_shown_is_what_runs() -> None:
    """Rule 9."""
    log = Log()
    log.say(e.ProposalMade(proposal=ProposalId("p"), why="look", effects=(_effect(),)))
    log.say(e.ProposalAccepted(proposal=ProposalId("p")), by=BOB)
    scratch = log.now.cells[S]
    assert scratch.scratch and scratch.source == "x = 2" and scratch.queued is not None
    assert (scratch.queued.by, scratch.queued.source_hash) == (BOB, source_hash("x = 2"))
    log.run(X)
    assert log.now.cells[S].state == "ok"


@pytest.mark.parametrize(
    ("effect", "kind", "told"),
    [
        (_effect(source="x = 3"), Refused, "its `source_hash` is not that of its `source`"),
        (_effect(cell=A), Refused, "'a' exists already"),
        (_effect(cell_kind="markdown"), BadInput, "does not run"),
        (_effect(needs=Y), NotFound, "needs 'y'"),
    ],
)
def test_an_effect_that_could_not_be_is_not_asked_about(effect: e.RunCell, kind: type[QuireError], told: str) -> None:
    with pytest.raises(kind, match=told):
        Log().say(e.ProposalMade(proposal=ProposalId("p"), why="look", effects=(effect,)))


def test_a_proposal_is_void_once_its_id_is_taken() -> None:
    log = Log()
    log.say(e.ProposalMade(proposal=ProposalId("p"), why="look", effects=(_effect(),)))
    log.say(e.CellAdded(cell=S, after=B, source="mine"))
    with pytest.raises(Refused, match="'s' exists already"):
        log.say(e.ProposalAccepted(proposal=ProposalId("p")), by=BOB)


# ---- Removals


def test_a_cell_is_removed_as_it_was_seen() -> None:
    """Rule 8: as a whole-text edit."""
    log = Log()
    log.say(e.SourceEdited(cell=A, text="x = 7", base_hash=source_hash("x = 1")), by=BOB)
    with pytest.raises(Refused, match="was changed by human:bob since you read it") as refused:
        log.say(e.CellRemoved(cell=A, base_hash=source_hash("x = 1")))
    now = source_hash("x = 7")
    assert refused.value.details == {"source": "x = 7", "source_hash": now, "changed_by": BOB}
    log.say(e.CellRemoved(cell=A, base_hash=now), e.CellRemoved(cell=B))
    assert list(log.now.live_cells) == []
    with pytest.raises(NotFound, match="was removed"):
        log.say(e.CellRemoved(cell=A, base_hash=now))
