"""What was changed in a run, in terms of its source: by drawn notebooks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quire.core.errors import Refused
from quire.core.ids import CellId
from quire.core.sheet.equality import same_sheet
from quire.core.sheet.sheet import Sheet
from quire.runs.fix.run_fix import Fix, as_written, fixed

from ..core.sheets import SHEETS, code, descendants, sheet_of


@given(st.data())
def test_a_source_that_is_what_ran_becomes_what_the_run_was_made_into(data: st.DataObject) -> None:
    before = as_written(data.draw(SHEETS))
    after = as_written(data.draw(descendants(before)))
    assert alike(fixed(Fix(before, after), before, frozenset(), "it"), after)


@given(st.data())
def test_whatever_the_ids_in_the_source_are_the_result_is_the_same(data: st.DataObject) -> None:
    """Rule 13: a file without ids gives other ones to cells that were edited since it was bound."""
    before = sheet_of(*(code(f"x{number} = {number}") for number in range(data.draw(st.integers(1, 5)))))
    place = data.draw(st.integers(0, len(before.cells) - 1))
    after = changed(before, place, "y = 1")
    others = replace(before, cells=tuple(replace(cell, id=CellId(f"o{cell.id}")) for cell in before.cells))
    made = fixed(Fix(before, after), others, frozenset(), "it")
    assert alike(made, after)
    assert [cell.id for cell in made.cells] == [cell.id for cell in others.cells]


@given(st.data())
def test_a_change_of_another_cell_is_no_obstacle_and_one_of_the_same_is(data: st.DataObject) -> None:
    before = sheet_of(*(code(f"x{number} = {number}") for number in range(data.draw(st.integers(2, 5)))))
    mine, theirs = data.draw(st.permutations(range(len(before.cells))).map(lambda order: order[:2]))
    after, moved_on = changed(before, mine, "y = 1"), changed(before, theirs, "z = 1")
    made = fixed(Fix(before, after), moved_on, frozenset(), "it")
    assert {cell.source for cell in made.cells} >= {"y = 1", "z = 1"} and len(made.cells) == len(before.cells)
    with pytest.raises(Refused) as refused:
        fixed(Fix(before, after), changed(moved_on, mine, "w = 1"), frozenset(), "it")
    assert refused.value.details["cells"] == [before.cells[mine].id]
    assert "+w = 1" in str(refused.value.details["difference"])


def test_a_new_cell_takes_no_id_that_somebody_has_or_had() -> None:
    before = sheet_of(code("x = 1", "a"))
    after = replace(before, cells=(*before.cells, code("y = 1", "b")))
    made = fixed(Fix(before, after), before, frozenset((CellId("b"),)), "it")
    assert [cell.source for cell in made.cells] == ["x = 1", "y = 1"] and made.cells[1].id not in ("a", "b")


def changed(sheet: Sheet, place: int, source: str) -> Sheet:
    cells = list(sheet.cells)
    cells[place] = replace(cells[place], source=source)
    return replace(sheet, cells=tuple(cells))


def alike(one: Sheet, other: Sheet) -> bool:
    """Whether two notebooks are the same but for the ids of their cells."""
    return same_sheet(
        *(replace(each, cells=tuple(replace(cell, id=CellId("")) for cell in each.cells)) for each in (one, other))
    )
