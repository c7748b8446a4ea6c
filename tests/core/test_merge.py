"""Three-way merge: its laws, and the cases in which other tools fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.diff.merge import MergeResult, merge, unresolved, without_resolved
from quire.core.diff.text_merge import Labels, conflict_sides, marker_size, merge_tags, merge_text
from quire.core.errors import BadInput
from quire.core.ids import CellId
from quire.core.sheet.equality import same_cell, same_sheet
from quire.core.sheet.sheet import Sheet, SheetCell
from quire.core.values import Json

from .sheets import OUTPUTS, SHEETS, code, descendants, families, sheet_of, stream

Family = tuple[Sheet, Sheet, Sheet]
LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "=======", ""]), max_size=6).map("\n".join)


def replaced(sheet: Sheet, **sources: str) -> Sheet:
    """The notebook with other texts in some cells, by id."""
    return with_fields(sheet, {id: {"source": source} for id, source in sources.items()})


def with_fields(sheet: Sheet, changed: dict[str, dict[str, Any]]) -> Sheet:
    cells = (msgspec.structs.replace(cell, **changed.get(cell.id, {})) for cell in sheet.cells)
    return msgspec.structs.replace(sheet, cells=tuple(cells))


def ordered(sheet: Sheet, ids: str) -> Sheet:
    """The notebook with just these cells, in this order; ids are one letter each."""
    found = {cell.id: cell for cell in sheet.cells}
    return msgspec.structs.replace(sheet, cells=tuple(found[CellId(id)] for id in ids))


def ids(merged: MergeResult) -> str:
    return "".join(cell.id for cell in merged.sheet.cells)


def sources(merged: MergeResult) -> list[str]:
    return [cell.source for cell in merged.sheet.cells]


BASE = sheet_of(*(code(f"step_{id} = 1\nprint(step_{id})\nend_{id}()", id) for id in "abcde"))


# ---- Laws


@pytest.mark.generated
@given(families())
def test_an_unchanged_side_yields_the_other(family: Family) -> None:
    base, ours, theirs = family
    assert same_sheet(merge(base, ours, base).sheet, ours)
    assert same_sheet(merge(base, base, theirs).sheet, theirs)
    assert same_sheet(merge(base, ours, ours).sheet, ours)


@pytest.mark.generated
@given(families())
def test_swapping_the_sides_changes_only_the_labels(family: Family) -> None:
    base, ours, theirs = family
    one, other = merge(base, ours, theirs), merge(base, theirs, ours)
    left = {conflict.cell: conflict for conflict in unresolved(one.sheet)}
    right = {conflict.cell: conflict for conflict in unresolved(other.sheet)}
    assert left.keys() == right.keys()
    for cell, opposite in zip(one.sheet.cells, other.sheet.cells, strict=True):
        if cell.id in left:
            assert (left[cell.id].ours, left[cell.id].theirs) == (right[cell.id].theirs, right[cell.id].ours)
            cell, opposite = (msgspec.structs.replace(each, source="", metadata={}) for each in (cell, opposite))
        assert same_cell(cell, opposite)
    assert same_sheet(Sheet(metadata=one.sheet.metadata), Sheet(metadata=other.sheet.metadata))
    assert len(one.conflicts) == len(other.conflicts)


@pytest.mark.generated
@given(families())
def test_ids_stay_unique_and_nothing_that_somebody_wrote_is_lost(family: Family) -> None:
    base, ours, theirs = family
    merged = merge(base, ours, theirs)
    assert len({cell.id for cell in merged.sheet.cells}) == len(merged.sheet.cells)
    assert {left.cell for left in unresolved(merged.sheet)} == {conflict.cell for conflict in merged.unresolved}
    written = lines_in(merged.sheet)
    for side in (ours, theirs):
        other = theirs if side is ours else ours
        if len(side.cells) >= len(base.cells) and len(other.cells) >= len(base.cells):
            assert lines_in(side) - lines_in(base) <= written


def lines_in(sheet: Sheet) -> set[str]:
    return {line.strip("\r") for cell in sheet.cells for line in cell.source.split("\n")}


@pytest.mark.generated
@given(st.data(), SHEETS)
def test_edits_of_different_cells_both_arrive_without_a_conflict(data: st.DataObject, base: Sheet) -> None:
    numbers = range(len(base.cells))
    mine = data.draw(st.sets(st.sampled_from(numbers))) if base.cells else set[int]()
    ours, theirs = (
        msgspec.structs.replace(
            base,
            cells=tuple(
                edited(cell, side) if (n in mine) is (side == "ours") else cell for n, cell in enumerate(base.cells)
            ),
        )
        for side in ("ours", "theirs")
    )
    merged = merge(base, ours, theirs)
    assert merged.conflicts == ()
    for n, cell in enumerate(merged.sheet.cells):
        assert same_cell(cell, (ours if n in mine else theirs).cells[n])


def edited(cell: SheetCell, side: str) -> SheetCell:
    return msgspec.structs.replace(cell, source=f"{side}\n{cell.source}", tags=(*cell.tags, side))


@pytest.mark.generated
@given(st.data(), SHEETS)
def test_two_runs_never_conflict(data: st.DataObject, base: Sheet) -> None:
    ours, theirs = (run(base, data.draw(st.lists(OUTPUTS, min_size=6, max_size=6)), count) for count in (3, 4))
    merged = merge(base, ours, theirs)
    assert merged.conflicts == ()
    for n, cell in enumerate(merged.sheet.cells):
        assert any(same_cell(cell, side.cells[n]) for side in (ours, theirs)), "both halves are of one run"


def run(sheet: Sheet, outputs: Sequence[list[Json]], count: int) -> Sheet:
    cells = (
        msgspec.structs.replace(cell, outputs=shown, count=count)
        for cell, shown in zip(sheet.cells, outputs, strict=False)
    )
    return msgspec.structs.replace(sheet, cells=tuple(cells))


@pytest.mark.generated
@given(LINES, LINES, LINES)
def test_lines_that_a_side_wrote_are_in_the_merged_text(base: str, ours: str, theirs: str) -> None:
    merged = merge_text(base, ours, theirs)
    for side in (ours, theirs):
        assert set(side.split("\n")) - set(base.split("\n")) <= set(merged.text.split("\n"))
    swapped = merge_text(base, theirs, ours)
    if merged.marker:
        one, other = conflict_sides(merged.text, merged.marker), conflict_sides(swapped.text, swapped.marker)
        assert one is not None
        assert other == one[::-1]
    else:
        assert swapped == merged
        assert conflict_sides(merged.text, marker_size(7, base, ours, theirs)) is None


@pytest.mark.generated
@given(st.data(), SHEETS)
def test_merging_again_with_what_was_merged_changes_nothing(data: st.DataObject, base: Sheet) -> None:
    ours, theirs = data.draw(descendants(base)), data.draw(descendants(base))
    merged = merge(base, ours, theirs).sheet
    assert same_sheet(merge(theirs, merged, theirs).sheet, merged)


# ---- Lines inside a cell


def test_lines_apart_merge_and_lines_that_touch_conflict() -> None:
    base = "a\nb\nc\nd"
    assert merge_text(base, "A\nb\nc\nd", "a\nb\nc\nD") == ("A\nb\nc\nD", 0)
    assert merge_text(base, "A\nb\nc\nd", "a\nB\nc\nd").text == (
        "<<<<<<< ours\nA\nb\n=======\na\nB\n>>>>>>> theirs\nc\nd"
    )


def test_a_line_appended_below_the_last_is_no_change_of_the_last() -> None:
    assert merge_text("a\nb\nc", "a\nb\nc\nd", "A\nb\nc") == ("A\nb\nc\nd", 0)


def test_what_both_sides_changed_alike_is_outside_of_the_conflict() -> None:
    merged = merge_text("x", "same\nours\nend", "same\ntheirs\nend")
    assert merged.text == "same\n<<<<<<< ours\nours\n=======\ntheirs\n>>>>>>> theirs\nend"


def test_markers_are_longer_than_any_line_that_looks_like_one() -> None:
    merged = merge_text("Title\n=========\nx", "Title\n=========\ny", "Title\n=========\nz")
    assert merged.marker == 10
    assert f"\n{'=' * 10}\n" in merged.text
    assert conflict_sides(merged.text, 10) == ("Title\n=========\ny", "Title\n=========\nz")


def test_windows_line_ends_stay_windows_line_ends() -> None:
    merged = merge_text("a\r\nb", "A\r\nb", "B\r\nb")
    assert merged.text == "<<<<<<< ours\r\nA\r\n=======\r\nB\r\n>>>>>>> theirs\r\nb"
    assert merge_text("b", "a\r\nA", "a\r\nB").text.endswith("\nB\r\n>>>>>>> theirs")


def test_tags_merge_as_sets() -> None:
    assert merge_tags(("a", "b"), ("a", "c"), ("a", "b", "d")) == ("a", "c", "d")


# ---- Where other tools fail


def test_both_sides_insert_at_one_place_and_both_cells_are_kept() -> None:
    ours = Sheet(cells=(*BASE.cells[:2], code("mine()", "m"), *BASE.cells[2:]))
    theirs = Sheet(cells=(*BASE.cells[:2], code("yours()", "y"), code("more()", "z"), *BASE.cells[2:]))
    merged = merge(BASE, ours, theirs)
    assert ids(merged) == "abmyzcde"
    assert merged.conflicts == ()


def test_the_same_cell_inserted_by_both_is_there_once() -> None:
    ours = Sheet(cells=(*BASE.cells[:2], code("same()", "m"), *BASE.cells[2:]))
    theirs = Sheet(cells=(*BASE.cells[:2], code("same()", "n"), code("more()", "z"), *BASE.cells[2:]))
    assert sources(merge(BASE, ours, theirs)).count("same()") == 1


def test_the_same_text_inserted_by_both_at_different_places_is_there_twice() -> None:
    """Also where the file has no ids, and both cells would get the same."""
    base = sheet_of(*(code(cell.source) for cell in BASE.cells))
    ours = sheet_of(code("df.head()"), *base.cells)
    theirs = sheet_of(*base.cells, code("df.head()"))
    assert ours.cells[0].id == theirs.cells[-1].id
    merged = merge(base, ours, theirs)
    assert sources(merged) == ["df.head()", *(cell.source for cell in base.cells), "df.head()"]
    assert len({cell.id for cell in merged.sheet.cells}) == 7


def test_a_cell_that_both_inserted_by_one_id_and_then_edited_is_a_conflict() -> None:
    ours, theirs = (Sheet(cells=(*BASE.cells, code(text, "n"))) for text in ("x = 1", "x = 2"))
    merged = merge(BASE, ours, theirs)
    assert ids(merged) == "abcden"
    assert [(conflict.cell, conflict.base) for conflict in merged.unresolved] == [("n", None)]


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ("bacde", "abcde", "bacde"),
        ("bcdea", "bcdea", "bcdea"),
        ("eabcd", "abecd", "eabcd"),
        ("edcba", "abcde", "edcba"),
    ],
)
def test_a_cell_that_both_moved_is_in_one_place(ours: str, theirs: str, expected: str) -> None:
    merged = merge(BASE, ordered(BASE, ours), ordered(BASE, theirs))
    assert ids(merged) == expected
    assert merged.conflicts == ()


def test_a_cell_moved_by_one_and_edited_by_the_other_is_moved_and_edited() -> None:
    merged = merge(BASE, ordered(BASE, "eabcd"), replaced(BASE, e="edited()"))
    assert ids(merged) == "eabcd"
    assert sources(merged)[0] == "edited()"
    assert merged.conflicts == ()


def test_deletes_on_both_sides_and_of_what_nobody_touched_are_deletes() -> None:
    assert ids(merge(BASE, ordered(BASE, "abde"), ordered(BASE, "acde"))) == "ade"
    both = merge(BASE, ordered(BASE, "abde"), replaced(ordered(BASE, "abde"), a="edited()"))
    assert ids(both) == "abde"
    ran = with_fields(BASE, {"c": {"outputs": [stream("1")], "count": 4, "metadata": {"execution": {"at": "now"}}}})
    merged = merge(BASE, ordered(BASE, "abde"), ran)
    assert ids(merged) == "abde"
    assert merged.conflicts == ()


@pytest.mark.parametrize("removed_by", ["ours", "theirs"])
def test_a_cell_that_one_removed_and_the_other_edited_is_kept_as_a_conflict(removed_by: str) -> None:
    sides = [ordered(BASE, "abde"), replaced(BASE, c="edited()")]
    merged = merge(BASE, *(sides if removed_by == "ours" else sides[::-1]))
    assert ids(merged) == "abcde"
    (conflict,) = unresolved(merged.sheet)
    kept = {"ours": "theirs", "theirs": "ours"}[removed_by]
    assert {"ours": conflict.ours, "theirs": conflict.theirs} == {removed_by: "", kept: "edited()"}
    assert f"{removed_by} (removed)" in merged.sheet.cells[2].source


def test_outputs_follow_the_source_that_they_came_from() -> None:
    ran = {"outputs": [stream("theirs")], "count": 9}
    edited_and_ran = {"source": "edited()", "outputs": [stream("ours")], "count": 2}
    (cell,) = merge(
        sheet_of(code("x", "a")),
        sheet_of(code("x", "a", **ran)),
        with_fields(sheet_of(code("x", "a")), {"a": edited_and_ran}),
    ).sheet.cells
    assert (cell.outputs, cell.count) == ([stream("ours")], 2)
    base, left, right = ("a\nb\nc", "A\nb\nc", "a\nb\nC")
    (cell,) = merge(*(sheet_of(code(text, "a", **ran)) for text in (base, left, right))).sheet.cells
    assert (cell.source, cell.outputs, cell.count) == ("A\nb\nC", [], None), "nobody has run this"


def test_of_metadata_that_both_changed_one_value_stays_and_the_merge_tells() -> None:
    def sheet(name: str, version: str) -> Sheet:
        return sheet_of(
            code("x", "a"), metadata={"kernelspec": {"name": name, "x": 1}, "language_info": {"v": version}}
        )

    merged = merge(sheet("base", "1"), sheet("ours", "2"), sheet("theirs", "3"))
    assert merged.sheet.metadata == {"kernelspec": {"name": "theirs", "x": 1}, "language_info": {"v": "3"}}
    assert [(conflict.field, conflict.settled) for conflict in merged.conflicts] == [("metadata.kernelspec.name", True)]
    assert merged.unresolved == ()


# ---- Conflicts


def conflicting() -> MergeResult:
    return merge(BASE, replaced(BASE, c="mine = 1"), replaced(BASE, c="yours = 1"), labels=Labels("HEAD", "topic"))


def test_a_conflict_holds_both_sides_and_says_so_in_the_metadata() -> None:
    merged = conflicting()
    cell = merged.sheet.cells[2]
    assert cell.source == "<<<<<<< HEAD\nmine = 1\n=======\nyours = 1\n>>>>>>> topic"
    assert cell.metadata == {"quire": {"conflict": {"marker": 7, "ours": "HEAD", "theirs": "topic"}}}
    (left,) = unresolved(merged.sheet)
    assert (left.cell, left.number, left.ours, left.theirs) == ("c", 3, "mine = 1", "yours = 1")


def test_a_cell_whose_markers_are_gone_is_resolved_and_loses_the_note() -> None:
    merged = conflicting().sheet
    assert without_resolved(merged) is not None
    assert unresolved(without_resolved(merged)) == unresolved(merged)
    resolved = replaced(merged, c="both = 1")
    assert unresolved(resolved) == []
    assert without_resolved(resolved).cells[2].metadata == {}


def test_a_text_that_shows_markers_is_no_conflict() -> None:
    lesson = sheet_of(code("<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs", "a"))
    assert unresolved(lesson) == []


def test_a_conflict_inside_a_conflict_is_refused_and_elsewhere_it_is_carried_along() -> None:
    merged = conflicting().sheet
    theirs = replaced(BASE, c="others = 1")
    with pytest.raises(BadInput, match="Cell c holds a conflict of an earlier merge"):
        merge(BASE, merged, theirs)
    again = merge(BASE, merged, replaced(BASE, a="elsewhere()"))
    assert again.conflicts == ()
    assert [left.cell for left in unresolved(again.sheet)] == ["c"]


def test_a_base_that_is_a_conflict_itself_is_merged_over() -> None:
    """Git makes such a base when two branches have more than one commit in common."""
    merged = merge(conflicting().sheet, replaced(BASE, c="one()"), replaced(BASE, c="one()", a="two()"))
    assert merged.conflicts == ()
    assert sources(merged)[2] == "one()"
    assert merged.sheet.cells[2].metadata == {}


def test_what_a_cell_cannot_have_any_more_goes_and_is_told() -> None:
    """One side makes code of a text, the other attaches a picture to it."""
    base = Sheet(cells=(SheetCell(id=CellId("a"), kind="markdown", source="x"),))
    ours = Sheet(cells=(SheetCell(id=CellId("a"), source="x"),))
    picture: dict[str, Any] = {"p.png": {"image/png": "aGk="}}
    theirs = Sheet(cells=(SheetCell(id=CellId("a"), kind="markdown", source="x", attachments=picture),))
    merged = merge(base, ours, theirs)
    assert (merged.sheet.cells[0].kind, merged.sheet.cells[0].attachments) == ("code", {})
    (told,) = merged.conflicts
    assert (told.field, told.theirs, told.settled) == ("attachments", picture, True)
