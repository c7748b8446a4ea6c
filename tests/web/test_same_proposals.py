"""What the page foresees of a yes is what the rules make of it (rules 3, 8 and 9)."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.core import events as e
from quire.core.errors import QuireError
from quire.core.events import Entry, NotebookEvent
from quire.core.ids import ActorId, CellId, EventId, ExecutionId, LogId, ProposalId
from quire.core.notebook.notebook import Notebook
from quire.core.notebook.reduce import fold
from quire.core.rules.acceptance import SubmissionContext, accept
from quire.core.rules.cell_rules import bases, edits_of
from quire.core.text import Splice, source_hash

from .node import NODE, WEB, needs_packages
from .test_same_fold import as_sent

pytestmark = needs_packages

ADA, BOB, AGENT = ActorId("human:ada"), ActorId("human:bob"), ActorId("agent:codex")
P = ProposalId("p")
NAMES = [CellId(name) for name in "abc"]
NEW = [CellId(name) for name in "mn"]
TEXTS = st.text("xy\n", max_size=6)


class Log:
    """A log that grows by what the rules accept."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.now = Notebook()

    def add(self, actor: ActorId, event: NotebookEvent) -> bool:
        """Record an event, if the rules take it; say whether they did."""
        at = f"2026-03-02T09:00:{len(self.entries):02}.000000Z"
        try:
            wanted = set(bases(event, self.now))
            earlier = {
                (cell, base): [edit for entry in self.entries if entry.seq > base for edit in edits_of(entry, cell)]
                for cell, base in wanted
            }
            asking = SubmissionContext(actor=actor, at=at, seq=self.now.seq, earlier=earlier)
            recorded = accept(self.now, event, asking)
        except QuireError:
            return False
        seq = self.now.seq + 1
        self.entries.append(Entry(log=LogId("n"), seq=seq, id=EventId(f"e{seq}"), at=at, actor=actor, event=recorded))
        self.now = fold(self.entries)
        return True


def edits(draw: st.DrawFn, text: str) -> tuple[Splice, ...]:
    """One or two splices that fit a text."""
    at = sorted(draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=4)))
    places = list(zip(at[::2], at[1::2], strict=False))
    return tuple(Splice(start, end - start, draw(TEXTS)) for start, end in places)


def change(draw: st.DrawFn, now: Notebook, base: int) -> e.CellChange:
    """Anything that can be done to a cell, also to one that is not there."""
    cell = draw(st.sampled_from(NAMES * 3 + NEW))
    after = draw(st.sampled_from([None, *NAMES, *NEW]))
    source = now.cells[cell].source if cell in now.cells else ""
    match draw(st.sampled_from(("whole", "whole", "splice", "splice", "add", "remove", "move", "kind", "name"))):
        case "whole":
            return e.SourceEdited(cell=cell, text=draw(TEXTS), base_hash=source_hash(source))
        case "splice":
            return e.SourceEdited(cell=cell, base=base, edit=edits(draw, source))
        case "add":
            return e.CellAdded(cell=draw(st.sampled_from(NEW + NAMES[:1])), after=after, source=draw(TEXTS))
        case "remove":
            return e.CellRemoved(cell=cell, base_hash=draw(st.sampled_from([None, source_hash(source)])))
        case "move":
            return e.CellMoved(cell=cell, after=after)
        case "kind":
            return e.CellKindChanged(cell=cell, kind=draw(st.sampled_from(("markdown", "code"))))
        case _:
            return e.CellNamed(cell=cell, name=draw(st.sampled_from((None, "load"))))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Log, tuple[int, ...] | None] | None:
    """A proposal, what others did before and after it, and what is chosen of it; None where it was refused."""
    log = Log()
    log.add(ADA, e.NotebookCreated(name="n"))
    for place, name in enumerate(NAMES):
        log.add(ADA, e.CellAdded(cell=name, after=NAMES[place - 1] if place else None, source=draw(TEXTS)))
    base = log.now.seq
    for _ in range(draw(st.integers(0, 1))):
        log.add(BOB, change(draw, log.now, log.now.seq))
    if not made(draw, log, draw(st.sampled_from((base, log.now.seq)))):
        return None
    for _ in range(draw(st.integers(0, 4))):
        log.add(BOB, change(draw, log.now, log.now.seq))
    if draw(st.booleans()):
        cell = log.now.cells[NAMES[0]]
        request = e.ExecutionRequested(execution=ExecutionId("q"), cell=cell.id, source_hash=source_hash(cell.source))
        log.add(BOB, request)
    proposal = log.now.proposals[P]
    count = len(proposal.changes) + len(proposal.effects)
    chosen = draw(st.none() | st.sets(st.integers(0, count - 1), min_size=1).map(lambda each: tuple(sorted(each))))
    return log, chosen


def made(draw: st.DrawFn, log: Log, base: int) -> bool:
    """Record a proposal whose changes fit one after the other, and runs of what they lead to."""
    tried = Log()
    tried.entries, tried.now = list(log.entries), log.now
    changes: list[e.CellChange] = []
    for _ in range(draw(st.integers(0, 4))):
        drawn = change(draw, tried.now, base)
        if tried.add(AGENT, drawn):
            changes.append(drawn)
    effects: list[e.RunCell] = []
    for number, cell in enumerate(draw(st.lists(st.sampled_from(NAMES + NEW), max_size=2, unique=True))):
        known = tried.now.cells.get(cell)
        if known is not None and known.kind == "code" and not known.removed:
            needs = effects[-1].execution if effects and draw(st.booleans()) else None
            id = ExecutionId(f"x{number}")
            effects.append(e.RunCell(execution=id, cell=cell, source_hash=source_hash(known.source), needs=needs))
    if draw(st.booleans()):
        code = draw(TEXTS)
        scratch = e.RunCell(execution=ExecutionId("xs"), cell=CellId("s"), source_hash=source_hash(code), source=code)
        effects.append(scratch)
    return log.add(AGENT, e.ProposalMade(proposal=P, why="", changes=tuple(changes), effects=tuple(effects)))


def in_typescript(drawn: list[tuple[Log, tuple[int, ...] | None]]) -> list[dict[str, Any]]:
    """What the page foresees of each."""
    lines = "".join(
        f"{json.dumps({'log': [as_sent(each) for each in log.entries], 'proposal': P, 'selection': chosen})}\n"
        for log, chosen in drawn
    )
    tool = WEB / "tools" / "preview_proposals.ts"
    done = subprocess.run([NODE, tool], input=lines, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def cells_of(now: Notebook) -> dict[str, dict[str, object]]:
    return {
        cell.id: {
            "source": cell.source,
            "kind": cell.kind,
            "name": cell.name,
            "tags": list(cell.tags),
            "removed": cell.removed,
            "scratch": cell.scratch,
            "queued": cell.queued.id if cell.queued is not None else None,
        }
        for cell in now.cells.values()
    }


def check(count: int) -> None:
    drawn: list[tuple[Log, tuple[int, ...] | None]] = []

    @settings(max_examples=count, database=None)
    @given(cases())
    def draw(case: tuple[Log, tuple[int, ...] | None] | None) -> None:
        if case is not None:
            drawn.append(case)

    draw()
    taken = 0
    for (log, chosen), foreseen in zip(drawn, in_typescript(drawn), strict=True):
        told = [as_sent(entry)["event"] for entry in log.entries], chosen
        accepted = log.add(ADA, e.ProposalAccepted(proposal=P, selection=chosen))
        assert foreseen["isPossible"] == accepted, told
        if accepted:
            taken += 1
            assert foreseen["cells"] == cells_of(log.now), told
            assert foreseen["order"] == list(log.now.order), told
    assert taken > len(drawn) // 10 > 0, "most are of no use if few can be accepted"


@pytest.mark.generated
def test_the_page_foresees_what_a_yes_comes_to() -> None:
    check(3000 if os.environ.get("QUIRE_TORTURE") else 200)
