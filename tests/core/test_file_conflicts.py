"""What ends a conflict between a notebook and its file (rule 13)."""

from __future__ import annotations

import pytest

from quire.core import events as e
from quire.core.diff.file_conflicts import Side, decided, taking
from quire.core.errors import NotFound
from quire.core.ids import ActorId, CellId, ConflictId, EventId, LogId
from quire.core.notebook.notebook import Notebook
from quire.core.notebook.reduce import fold
from quire.core.text import source_hash

CELL, CONFLICT = CellId("b"), ConflictId("c1")


def notebook(text: str, ours: str, theirs: str, *more: e.KnownEvent) -> Notebook:
    """Two cells, of which the second says `text` and has a conflict."""
    events: tuple[e.KnownEvent, ...] = (
        e.NotebookCreated(name="n"),
        e.CellAdded(cell=CellId("a"), after=None),
        e.CellAdded(cell=CELL, after=CellId("a"), source=text, tags=("t",)),
        e.ConflictRaised(conflict=CONFLICT, cell=CELL, base="base", ours=ours, theirs=theirs),
        *more,
    )
    return fold(
        e.Entry(log=LogId("n1"), seq=seq, id=EventId(str(seq)), at="", actor=ActorId("human:ada"), event=event)
        for seq, event in enumerate(events, 1)
    )


@pytest.mark.parametrize(
    ("text", "ours", "theirs", "is_over"),
    [
        ("log", "log", "file", False),
        ("file", "log", "file", True),
        ("something else", "log", "file", False),
        ("file", "", "file", False),  # the log had removed it, so this is how it began
        ("log", "log", "", False),
    ],
)
def test_a_conflict_is_over_when_the_cell_says_what_the_file_wanted(
    text: str, ours: str, theirs: str, is_over: bool
) -> None:
    assert bool(decided(notebook(text, ours, theirs))) == is_over


def test_a_conflict_is_over_when_its_cell_is_gone() -> None:
    now = notebook("log", "log", "file", e.CellRemoved(cell=CELL))
    assert decided(now) == [e.ConflictResolved(conflict=CONFLICT)]


@pytest.mark.parametrize(
    ("text", "side", "changes"),
    [
        ("log", None, []),
        ("log", "log", []),
        ("log", "file", [e.SourceEdited(cell=CELL, text="file", base_hash=source_hash("log"))]),
        ("edited", "log", [e.SourceEdited(cell=CELL, text="log", base_hash=source_hash("edited"))]),
    ],
)
def test_a_side_is_taken_by_an_edit_if_the_cell_says_something_else(
    text: str, side: Side | None, changes: list[e.CellChange]
) -> None:
    assert taking(notebook(text, "log", "file"), CONFLICT, side) == changes


def test_a_side_without_text_had_removed_the_cell_and_a_cell_that_is_gone_comes_back_to_its_place() -> None:
    assert taking(notebook("log", "log", ""), CONFLICT, "file") == [e.CellRemoved(cell=CELL)]
    gone = notebook("log", "log", "file", e.CellRemoved(cell=CELL))
    back = e.CellAdded(cell=CELL, after=CellId("a"), source="file", tags=("t",))
    assert taking(gone, CONFLICT, "file") == [back]
    assert taking(notebook("log", "log", "", e.CellRemoved(cell=CELL)), CONFLICT, "file") == []


def test_a_conflict_that_is_not_open_is_not_found() -> None:
    with pytest.raises(NotFound, match="no open conflict 'c2'"):
        taking(notebook("log", "log", "file"), ConflictId("c2"), None)
