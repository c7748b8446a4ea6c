"""Undo of all edits of one actor: what it did goes, what others did stays."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core import events as e
from quire.core.edits.undo_plan import UndoPlan, author_of, plan_undo
from quire.core.events import Entry
from quire.core.ids import MIRROR, ActorId, CellId, CommentId, ExecutionId, ProposalId
from quire.core.notebook.notebook import Notebook
from quire.core.notebook.reduce import Fold, fold
from quire.core.text import Edit, Splice, apply, difference, source_hash

from ..conftest import examples
from ..random_logs import ADA, AGENT, BOB, CELLS, Player, attempt, created, logs

A, B, C = CELLS[:3]


class Played:
    """A log that grows as the rules let it."""

    def __init__(self, log: list[Entry] | None = None) -> None:
        self.log = log or [created()]
        self.fold = Fold(fold(self.log))

    @property
    def now(self) -> Notebook:
        return self.fold.notebook()

    @property
    def sources(self) -> list[str]:
        return [cell.source for cell in self.now.live_cells]

    def say(self, actor: ActorId, *events: e.NotebookEvent) -> Played:
        for event in events:
            assert attempt(self.log, self.fold, actor, event) is not None, event
        return self

    def type(self, actor: ActorId, cell: CellId, at: int, remove: int, insert: str) -> Played:
        edit = (Splice(at, remove, insert),)
        return self.say(actor, e.SourceEdited(cell=cell, base=self.fold.now.seq, edit=edit))

    def run(self, actor: ActorId, cell: CellId) -> Played:
        hash = source_hash(self.fold.now.cells[cell].source)
        execution = ExecutionId(f"x{self.fold.now.seq}")
        return self.say(actor, e.ExecutionRequested(execution=execution, cell=cell, source_hash=hash))

    def plan(self, actor: ActorId = AGENT, since: int = 0) -> UndoPlan:
        return plan_undo(fold(self.log[:since]), self.log[since:], self.now, actor)

    def undo(self, actor: ActorId = AGENT, since: int = 0, by: ActorId = ADA) -> UndoPlan:
        plan = self.plan(actor, since)
        self.say(by, *plan.changes)
        return plan


def with_cells(*sources: str, by: ActorId = ADA) -> Played:
    played = Played()
    for number, source in enumerate(sources):
        after = CELLS[number - 1] if number else None
        played.say(by, e.CellAdded(cell=CELLS[number], after=after, source=source))
    return played


def told(plan: UndoPlan) -> list[tuple[ActorId, CellId, str]]:
    return [(edit.by, edit.cell, edit.what) for edit in plan.dependents]


# ---- Text


def test_what_an_agent_typed_goes_and_what_it_removed_comes_back() -> None:
    played = with_cells("total = 1\n")
    played.type(AGENT, A, 8, 1, "2").type(AGENT, A, 10, 0, "print(total)\n")
    played.undo()
    assert played.sources == ["total = 1\n"]


def test_text_that_others_typed_inside_an_agents_stays_and_is_told() -> None:
    played = with_cells("")
    played.type(AGENT, A, 0, 0, "load(path)").type(BOB, A, 9, 0, ", 'r'")
    plan = played.undo()
    assert played.sources == [", 'r'"]
    assert told(plan) == [(BOB, A, "text")]
    assert plan.undone[0].removes == len("load(path)")


def test_text_that_others_typed_on_another_line_depends_on_nothing() -> None:
    played = with_cells("a\n")
    played.type(AGENT, A, 2, 0, "b\n").type(BOB, A, 4, 0, "c\n").type(BOB, A, 0, 0, "0\n")
    plan = played.undo()
    assert played.sources == ["0\na\nc\n"]
    assert plan.dependents == ()


def test_text_that_an_agent_removed_comes_back_before_what_others_wrote_there() -> None:
    played = with_cells("one\ntwo\nthree\n")
    played.type(AGENT, A, 4, 4, "").type(BOB, A, 4, 0, "# ")
    played.undo()
    assert played.sources == ["one\ntwo\n# three\n"]


def test_an_undo_is_taken_back_by_the_undo_of_whoever_undid() -> None:
    played = with_cells("x = 1\n", "y\n")
    played.type(AGENT, A, 4, 1, "22").say(AGENT, e.CellRemoved(cell=B), e.CellAdded(cell=C, after=A, source="z"))
    done = len(played.log)
    before = played.sources
    played.undo(by=BOB)
    assert played.sources == ["x = 1\n", "y\n"]
    played.undo(BOB, done)
    assert played.sources == before


# ---- Cells


def test_a_cell_that_an_agent_added_goes_unless_others_typed_in_it() -> None:
    played = with_cells("a")
    played.say(AGENT, e.CellAdded(cell=B, after=A, source="b"), e.CellAdded(cell=C, after=B, source="c = 1\n"))
    played.type(BOB, C, 6, 0, "mine\n")
    plan = played.undo()
    assert played.sources == ["a", "mine\n"]
    assert [(undone.cell, undone.part, undone.stays) for undone in plan.undone] == [
        (C, "text", True),
        (B, "added", False),
    ]
    assert (BOB, C, "cell") in told(plan)


def test_a_cell_that_an_agent_removed_comes_back_where_it_was_with_the_text_it_had() -> None:
    played = with_cells("a", "b", "c")
    played.say(ADA, e.CellNamed(cell=B, name="load"), e.CellTagged(cell=B, tags=("t",)))
    since = len(played.log)
    played.type(AGENT, B, 1, 0, "!!").say(AGENT, e.CellNamed(cell=B, name=None), e.CellRemoved(cell=B))
    played.undo(since=since)
    assert played.sources == ["a", "b", "c"]
    assert (played.now.cells[B].name, played.now.cells[B].tags) == ("load", ("t",))


def test_a_cell_that_an_agent_moved_goes_back_and_those_that_others_moved_stay() -> None:
    played = with_cells("a", "b", "c")
    since = len(played.log)
    played.say(AGENT, e.CellMoved(cell=A, after=C))  # b c a
    played.say(BOB, e.CellMoved(cell=C, after=None))  # c b a
    played.undo(since=since)
    assert played.sources == ["c", "a", "b"]


def test_a_cell_that_others_put_after_an_agents_is_told() -> None:
    played = with_cells("a", "b")
    played.say(AGENT, e.CellAdded(cell=C, after=None, source="c")).say(BOB, e.CellMoved(cell=B, after=C))
    plan = played.undo()
    assert played.sources == ["b", "a"]
    assert told(plan) == [(BOB, B, "placed")]


def test_kind_name_tags_and_metadata_are_set_back_unless_others_set_them_since() -> None:
    played = with_cells("a")
    played.say(ADA, e.CellTagged(cell=A, tags=("keep",)), e.CellMetadataSet(cell=A, values={"k": 1, "old": True}))
    since = len(played.log)
    played.say(
        AGENT,
        e.CellKindChanged(cell=A, kind="markdown"),
        e.CellNamed(cell=A, name="agents"),
        e.CellTagged(cell=A, tags=("agents",)),
        e.CellMetadataSet(cell=A, values={"k": 2, "new": 3}, removed=("old",)),
    )
    played.say(BOB, e.CellNamed(cell=A, name="bobs"), e.CellTagged(cell=A, tags=("agents", "bobs")))
    played.undo(since=since)
    cell = played.now.cells[A]
    assert (cell.kind, cell.name) == ("code", "bobs")
    assert cell.metadata == {"k": 1, "old": True}
    assert set(cell.tags) == {"agents", "bobs"}  # bob set both


# ---- Whose change it is


def test_what_an_accepted_proposal_of_an_agent_changed_is_the_agents() -> None:
    played = with_cells("a")
    change = e.SourceEdited(cell=A, base=played.now.seq, edit=(Splice(1, 0, "bc"),))
    played.say(AGENT, e.ProposalMade(proposal=ProposalId("p"), why="better", changes=(change,)))
    since = len(played.log)
    played.say(ADA, e.ProposalAccepted(proposal=ProposalId("p")))
    assert played.plan(ADA, since).changes == ()
    played.undo(AGENT, since)
    assert played.sources == ["a"]


def test_what_came_from_a_file_is_the_mirrors_whoever_sent_it() -> None:
    played = with_cells("a").say(ADA, e.FileBound(path="a.py"))
    since = len(played.log)
    change = e.SourceEdited(cell=A, base_hash=source_hash("a"), text="ab")
    played.say(ADA, e.FileMerged(path="a.py", digest="d", changes=(change,)))
    assert played.plan(ADA, since).changes == ()
    played.undo(MIRROR, since)
    assert played.sources == ["a"]


def test_runs_of_what_an_agent_wrote_are_counted_and_those_of_others_told() -> None:
    played = with_cells("a").type(AGENT, A, 1, 0, "b").run(BOB, A)
    played.say(AGENT, e.CellAdded(cell=B, after=A, source="b")).run(AGENT, B)
    played.say(BOB, e.CommentAdded(comment=CommentId("c"), cell=B, text="why?"))
    plan = played.plan()
    assert plan.executions == 2
    assert told(plan) == [(BOB, B, "commented"), (BOB, A, "ran")]


def test_nothing_is_told_of_an_actor_who_did_nothing() -> None:
    played = with_cells("a").run(ADA, A)
    plan = played.plan(BOB)
    assert (plan.changes, plan.undone, plan.dependents, plan.executions) == ((), (), (), 0)


# ---- Drawn logs


class Blame:
    """Who inserted each code point of each cell, found the plain way: one by one."""

    def __init__(self, before: Notebook) -> None:
        self.cells: dict[CellId, list[tuple[str, ActorId | None]]] = {
            id: [(point, None) for point in cell.source] for id, cell in before.cells.items()
        }
        self.added_by: dict[CellId, ActorId] = {}

    def edit(self, cell: CellId, edit: Edit, by: ActorId) -> list[ActorId | None]:
        """Apply an edit; return whose code points it removed."""
        points = self.cells.setdefault(cell, [])
        removed: list[ActorId | None] = []
        for splice in reversed(edit):
            removed += [who for _, who in points[splice.at : splice.at + splice.remove]]
            points[splice.at : splice.at + splice.remove] = [(point, by) for point in splice.insert]
        return removed

    def read(self, entries: Sequence[Entry], before: Notebook) -> None:
        proposers = {id: each.by for id, each in before.proposals.items()}
        for entry in entries:
            if isinstance(entry.event, e.ProposalMade):
                proposers[entry.event.proposal] = entry.by
            author = author_of(entry, proposers)
            for change in changes_of(entry.event):
                self.change(change, author)

    def change(self, change: e.CellChange, author: ActorId) -> None:
        if isinstance(change, e.CellAdded):
            old = "".join(point for point, _ in self.cells.get(change.cell, ()))
            self.edit(change.cell, difference(old, change.source), author)
            self.added_by[change.cell] = author
        elif isinstance(change, e.SourceEdited):
            self.edit(change.cell, change.edit if change.applied is None else change.applied, author)


def changes_of(event: e.AnyEvent) -> Sequence[e.CellChange]:
    match event:
        case e.FileMerged():
            return event.changes
        case e.ProposalAccepted():
            return event.applied or ()
        case _:
            return (event,) if isinstance(event, e.CellChange) else ()


def plain(notebook: Notebook) -> list[tuple[object, ...]]:
    return [(cell.id, cell.kind, cell.source, cell.name, set(cell.tags), cell.metadata) for cell in notebook.live_cells]


@st.composite
def spans(draw: st.DrawFn, actors: tuple[ActorId, ...]) -> tuple[list[Entry], int]:
    """A log, and a number since which only these actors changed cells."""
    played = Played(draw(logs(20)))
    since = len(played.log)
    for _ in range(draw(st.integers(0, 25))):
        player = Player(draw, played.fold.now)
        attempt(played.log, played.fold, draw(st.sampled_from(actors)), player.change())
    return played.log, since


@pytest.mark.generated
@examples(60)
@given(spans((AGENT,)))
def test_undone_a_log_in_which_only_one_actor_worked_is_as_it_was(span: tuple[list[Entry], int]) -> None:
    log, since = span
    played = Played(list(log))
    played.undo(AGENT, since)
    assert plain(played.now) == plain(fold(log[:since]))


@pytest.mark.generated
@examples(60)
@given(
    st.one_of(spans((AGENT, ADA, BOB)), logs().map(lambda log: (log, len(log) // 2)), logs().map(lambda log: (log, 0)))
)
def test_an_undo_touches_nothing_of_others(span: tuple[list[Entry], int]) -> None:
    log, since = span
    played, before = Played(list(log)), fold(log[:since])
    blame = Blame(before)
    blame.read(log[since:], before)
    now = played.now
    plan = played.undo(AGENT, since)
    # Text: only the actor's own code points are removed, so all others stay, in their order.
    for change in plan.changes:
        if isinstance(change, e.SourceEdited):
            assert set(blame.edit(change.cell, change.edit, ADA)) <= {AGENT}
            assert "".join(point for point, _ in blame.cells[change.cell]) == apply(
                now.cells[change.cell].source, change.edit
            )
        if isinstance(change, e.CellRemoved):
            assert blame.added_by[change.cell] == AGENT
            assert played.now.cells[change.cell].source == now.cells[change.cell].source
    # Cells: those that the plan does not name are what they were, and stand in the same order.
    named = {undone.cell for undone in plan.undone}
    assert [row for row in plain(now) if row[0] not in named] == [
        row for row in plain(played.now) if row[0] not in named
    ]
    touched = {
        change.cell
        for entry in log[since:]
        if entry.by == AGENT or isinstance(entry.event, e.ProposalAccepted)
        for change in changes_of(entry.event)
    }
    assert named <= touched


@pytest.mark.generated
@examples(60)
@given(st.one_of(spans((AGENT, ADA, BOB)), logs().map(lambda log: (log, 0))))
def test_undone_twice_nothing_is_added(span: tuple[list[Entry], int]) -> None:
    log, since = span
    played = Played(list(log))
    played.undo(AGENT, since)
    assert played.plan(AGENT, since).changes == ()
