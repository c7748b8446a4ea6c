"""What entries did, which acts belong together, and what is new for somebody."""

from __future__ import annotations

from itertools import count
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from quire.core import events as e
from quire.core.codec import event_types
from quire.core.events import Entry, KnownEvent
from quire.core.ids import ActorId, CellId, CommentId, EventId, ExecutionId, LogId, ProposalId, RuntimeId
from quire.core.notebook.activity import (
    KINDS,
    LINE_NUMBERS,
    MOST_ACTS,
    STEPS,
    ActivityLine,
    acts_of,
    belong_together,
    ending_of,
    grouped,
    news,
    types_of,
)

ADA, BOB, CODEX = ActorId("human:ada"), ActorId("human:bob"), ActorId("agent:codex")
MIRROR, LOCAL = ActorId("system:mirror"), ActorId("runtime:local")
A, B, C = CellId("aaaa1111"), CellId("bbbb2222"), CellId("cccc3333")
WORKSPACE_TYPES = {kind.__struct_config__.tag for kind in get_args(e.WorkspaceEvent)}


class Log:
    """Entries one after the other, a second apart unless told otherwise."""

    def __init__(self, start: int = 1) -> None:
        self.entries: list[Entry] = []
        self._numbers = count(start)
        self._second = 0

    def add(self, actor: ActorId, event: KnownEvent, *, pause: int = 1, **more: Any) -> Log:
        self._second += pause
        hours, rest = divmod(self._second, 3600)
        seq = next(self._numbers)
        at = f"2026-01-01T{hours:02}:{rest // 60:02}:{rest % 60:02}.000000Z"
        self.entries.append(
            Entry(log=LogId("n1"), seq=seq, id=EventId(f"e{seq}"), at=at, actor=actor, event=event, **more)
        )
        return self

    def edit(self, actor: ActorId, cell: CellId, **more: Any) -> Log:
        return self.add(actor, e.SourceEdited(cell=cell, base=1), **more)

    def run(self, actor: ActorId, cell: CellId, status: Any = "ok", ename: str = "", **more: Any) -> Log:
        id = ExecutionId(f"x{len(self.entries)}")
        self.add(actor, e.ExecutionRequested(execution=id, cell=cell, source_hash="h"), **more)
        self.add(LOCAL, e.ExecutionClaimed(execution=id, runtime=RuntimeId(LOCAL), epoch=1), on_behalf_of=ADA)
        self.add(LOCAL, e.ExecutionStarted(execution=id, cell=cell, source_hash="h", epoch=1), on_behalf_of=ADA)
        fault = e.Fault(ename=ename) if ename else None
        return self.add(LOCAL, e.ExecutionFinished(execution=id, epoch=1, status=status, fault=fault), on_behalf_of=ADA)

    def lines(self) -> list[ActivityLine]:
        endings = dict(ended for entry in self.entries if (ended := ending_of(entry.event)) is not None)
        return grouped([act for entry in self.entries for act in acts_of(entry)], endings)


def said(line: ActivityLine) -> list[tuple[str, str | None, int]]:
    return [(act.type, act.cell, act.count) for act in line.acts]


def test_every_event_is_an_act_of_some_kind_or_a_step_of_an_execution() -> None:
    assert not set(KINDS) & STEPS
    assert set(KINDS) | STEPS | WORKSPACE_TYPES == set(event_types())


def test_a_filter_reads_what_carries_its_acts() -> None:
    assert "proposal_accepted" in types_of(["edits"])
    assert {"execution_finished", "proposal_accepted"} <= types_of(["runs"])
    said = {"comment_added", "comment_edited", "comment_resolved"}
    assert types_of(["comments"]) == said | {"review_opened", "cell_reviewed", "review_answered"}
    assert "stream_appended" not in types_of()


def test_edits_and_a_run_of_one_agent_are_one_line_with_how_it_ended() -> None:
    log = Log().edit(CODEX, A, on_behalf_of=ADA).edit(CODEX, A, on_behalf_of=ADA)
    log.run(CODEX, A, "error", "KeyError", on_behalf_of=ADA)
    (line,) = log.lines()
    assert (line.actor, line.on_behalf_of, line.first, line.last) == (CODEX, ADA, 1, 3)
    assert said(line) == [("source_edited", A, 2), ("execution_requested", A, 1)]
    assert (line.acts[1].outcome, line.acts[1].error) == ("error", "KeyError")


def test_another_actor_or_another_person_behind_it_begins_a_line() -> None:
    log = Log().edit(ADA, A).edit(CODEX, A, on_behalf_of=ADA).edit(CODEX, A, on_behalf_of=BOB).edit(ADA, A)
    assert [(line.actor, line.on_behalf_of) for line in log.lines()] == [
        (ADA, None),
        (CODEX, ADA),
        (CODEX, BOB),
        (ADA, None),
    ]


def test_a_pause_begins_a_line_unless_the_cause_is_the_same() -> None:
    log = Log().edit(ADA, A).edit(ADA, B, pause=299).edit(ADA, C, pause=300)
    assert [line.first for line in log.lines()] == [1, 3]
    caused = Log().edit(ADA, A, cause=EventId("c")).edit(ADA, B, pause=4000, cause=EventId("c"))
    assert len(caused.lines()) == 1


def test_somebody_who_never_pauses_makes_more_than_one_line() -> None:
    log = Log(start=LINE_NUMBERS - 2)
    for _ in range(4):
        log.edit(ADA, A)
    assert [(line.first, line.last) for line in log.lines()] == [(998, 999), (1000, 1001)]


def test_an_accepted_proposal_is_told_with_what_it_changed_and_ran() -> None:
    effect = e.RunCell(execution=ExecutionId("x9"), cell=A, source_hash="h")
    accepted = e.ProposalAccepted(
        proposal=ProposalId("p1"), applied=(e.SourceEdited(cell=A, base=1), e.CellRemoved(cell=B)), effects=(effect,)
    )
    log = Log().add(ADA, accepted)
    log.add(LOCAL, e.ExecutionFinished(execution=ExecutionId("x9"), epoch=1, status="ok"))
    (line,) = log.lines()
    assert [act.type for act in line.acts] == [
        "proposal_accepted",
        "source_edited",
        "cell_removed",
        "execution_requested",
    ]
    assert line.acts[-1].outcome == "ok"


def test_a_line_of_very_many_acts_counts_those_that_it_leaves_out() -> None:
    log = Log()
    for number in range(MOST_ACTS + 7):
        log.edit(ADA, CellId(f"cell{number:04}"))
    (line,) = log.lines()
    assert (len(line.acts), line.left_out) == (MOST_ACTS, 7)


def test_in_the_log_of_a_run_what_began_counts() -> None:
    started = Log().add(LOCAL, e.ExecutionStarted(execution=ExecutionId("x"), cell=A, source_hash="h", epoch=1))
    (entry,) = started.entries
    assert list(acts_of(entry)) == []
    assert [each.act.type for each in acts_of(entry, is_run=True)] == ["execution_requested"]


def test_a_long_text_is_cut_and_a_masked_one_stays_masked() -> None:
    log = (
        Log().add(ADA, e.CommentAdded(comment=CommentId("c"), text="x" * 5000)).add(BOB, e.NotebookRenamed(name="███"))
    )
    first, second = log.lines()
    assert first.acts[0].text == "x" * 200
    assert second.acts[0].text == "███"


@given(st.lists(st.tuples(st.sampled_from([ADA, BOB]), st.sampled_from([1, 200, 400]), st.sampled_from("AB"))))
def test_lines_are_the_same_whether_the_log_is_read_from_its_end_or_from_its_beginning(
    drawn: list[tuple[ActorId, int, str]],
) -> None:
    log = Log(start=LINE_NUMBERS - 5)
    for actor, pause, name in drawn:
        log.edit(actor, {"A": A, "B": B}[name], pause=pause)
    acts = [act for entry in log.entries for act in acts_of(entry)]
    forwards = grouped(acts, {})
    groups: list[list[Any]] = []
    for act in reversed(acts):
        if groups and belong_together(act, groups[-1][-1]):
            groups[-1].append(act)
        else:
            groups.append([act])
    assert [line for group in reversed(groups) for line in grouped(reversed(group), {})] == forwards
    assert sum(act.count for line in forwards for act in line.acts) == len(acts)


# ---- What is new


def summed(log: Log, me: ActorId = ADA) -> dict[str, dict[str, int]]:
    names = ("added", "changed", "moved", "removed", "ran", "commented", "proposed")
    return {
        each.file or each.actor: {name: getattr(each, name) for name in names if getattr(each, name)}
        for each in news(log.entries, me).actors
    }


def test_what_others_changed_and_ran_is_counted_by_cell_and_ones_own_is_left_out() -> None:
    log = Log().edit(CODEX, A, on_behalf_of=ADA).edit(CODEX, A, on_behalf_of=ADA).edit(CODEX, B, on_behalf_of=ADA)
    log.edit(ADA, C).run(ADA, C).run(BOB, A).run(BOB, A)
    assert summed(log) == {CODEX: {"changed": 2}, BOB: {"ran": 1}}
    cells = {each.cell: (each.did, each.by) for each in news(log.entries, ADA).cells}
    assert cells == {A: (("changed", "ran"), (CODEX, BOB)), B: (("changed",), (CODEX,))}
    assert summed(log, CODEX) == {ADA: {"changed": 1, "ran": 1}, BOB: {"ran": 1}}


def test_a_cell_that_came_and_went_is_not_told_of_and_one_that_was_added_is_not_changed_too() -> None:
    log = Log().add(BOB, e.CellAdded(cell=A, after=None)).edit(BOB, A).add(BOB, e.CellRemoved(cell=A))
    log.add(BOB, e.CellAdded(cell=B, after=None)).edit(BOB, B).edit(BOB, C).add(BOB, e.CellRemoved(cell=C))
    assert summed(log) == {BOB: {"added": 1, "removed": 1}}
    assert [(each.cell, each.did) for each in news(log.entries, ADA).cells] == [
        (B, ("added", "changed")),
        (C, ("changed", "removed")),
    ]


def test_a_cell_that_was_removed_and_brought_back_is_not_removed() -> None:
    log = Log().add(BOB, e.CellRemoved(cell=A)).add(BOB, e.CellAdded(cell=A, after=None, source="x"))
    assert [each.did for each in news(log.entries, ADA).cells] == [("added",)]


def test_changes_from_a_file_are_named_by_the_file() -> None:
    merged = e.FileMerged(path="sales.py", digest="d", changes=(e.SourceEdited(cell=A, base=1),))
    assert summed(Log().add(MIRROR, merged, on_behalf_of=ADA)) == {"sales.py": {"changed": 1}}


def test_comments_and_proposals_are_counted() -> None:
    log = Log().add(BOB, e.CommentAdded(comment=CommentId("c1"), text="?", cell=A))
    log.add(BOB, e.CommentAdded(comment=CommentId("c2"), text="all"))
    log.add(CODEX, e.ProposalMade(proposal=ProposalId("p"), why="faster"))
    assert summed(log) == {BOB: {"commented": 2}, CODEX: {"proposed": 1}}
    assert [each.cell for each in news(log.entries, ADA).cells] == [A]


def test_where_nobody_else_did_anything_nothing_is_new() -> None:
    log = Log().edit(ADA, A).run(ADA, A).add(BOB, e.NotebookRenamed(name="x"))
    assert news(log.entries, ADA) == news([], ADA)
