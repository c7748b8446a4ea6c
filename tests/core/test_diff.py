"""What turns one notebook into another, and what happens when it meets a third."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.diff import diff as d
from quire.core.diff.align import align, carry
from quire.core.diff.diff import Diff, decode, diff, encode
from quire.core.diff.line_diff import MOST_PAIRS, changes, increasing, matches
from quire.core.diff.patch import patch
from quire.core.errors import BadInput, Conflict
from quire.core.ids import CellId
from quire.core.sheet.equality import same, same_sheet
from quire.core.sheet.sheet import Sheet, SheetCell
from quire.core.text import Splice

from .sheets import JSON, SHEETS, code, families, sheet_of

LOAD = "import pandas as pd\n\ndf = pd.read_csv('sales.csv')\ndf.head()"
PLOT = "df.plot(kind='bar')\nplt.title('Sales by month')"
STREAM = {"output_type": "stream", "name": "stdout", "text": "1\n"}


def types(found: Diff) -> list[str]:
    return [msgspec.to_builtins(operation)["type"] for operation in found.operations]


DOCS = (Path(__file__).parents[2] / "docs" / "reference" / "diff.md").read_text()


@pytest.mark.parametrize("operation", d.Operation.__subclasses__())
def test_every_operation_is_in_the_reference_with_its_fields(operation: type[d.Operation]) -> None:
    row = next(line for line in DOCS.splitlines() if line.startswith(f"| `{operation.__struct_config__.tag}` |"))
    assert [f"`{field}`" for field in operation.__struct_fields__] == row.split("|")[2].strip().split(", ")


# ---- Laws


@pytest.mark.generated
@given(SHEETS, SHEETS)
def test_the_operations_turn_the_old_notebook_into_the_new_one(old: Sheet, new: Sheet) -> None:
    found = diff(old, new)
    assert same_sheet(patch(old, found.operations), new)
    assert bool(found) is not same_sheet(old, new)


@pytest.mark.generated
@given(families())
def test_operations_survive_as_json(family: tuple[Sheet, Sheet, Sheet]) -> None:
    _, old, new = family
    operations = diff(old, new).operations
    read = decode(encode(operations), "diff.json")
    assert same_sheet(patch(old, read), new)


@pytest.mark.generated
@given(SHEETS)
def test_a_notebook_read_again_is_no_other(sheet: Sheet) -> None:
    again = msgspec.convert(json.loads(json.dumps(msgspec.to_builtins(sheet))), Sheet)
    assert not diff(sheet, again)


@pytest.mark.generated
@given(JSON, JSON)
def test_two_values_are_the_same_exactly_when_their_json_is(one: object, other: object) -> None:
    def text(value: object) -> str:
        return json.dumps(value, sort_keys=True)

    assert same(one, other) is (text(one) == text(other))


def test_values_that_python_takes_for_equal_are_told_apart() -> None:
    assert not same({"a": [1]}, {"a": [True]})
    assert not same(1, 1.0)
    assert same({"a": math.nan}, {"a": float("nan")})
    deep: list[object] = []
    other: list[object] = []
    for _ in range(100_000):
        deep, other = [deep], [other]
    assert same(deep, other)


@pytest.mark.generated
@given(st.lists(st.integers(0, 5), max_size=20), st.lists(st.integers(0, 5), max_size=20))
def test_stretches_that_both_have_are_equal_and_in_order(old: list[int], new: list[int]) -> None:
    i = j = 0
    for block in matches(old, new):
        assert block.old >= i
        assert block.new >= j
        i, j = block.old + block.size, block.new + block.size
        assert old[block.old : i] == new[block.new : j]
    rebuilt: list[int] = []
    at = 0
    for change in changes(old, new):
        rebuilt += [*old[at : change.old_start], *new[change.new_start : change.new_end]]
        at = change.old_end
    assert rebuilt + old[at:] == new


def test_texts_too_long_to_compare_thoroughly_are_lined_up_by_what_is_there_once() -> None:
    old = [f"line {number}" for number in range(2000)]
    new = [*old[1500:], *(f"new {number}" for number in range(700)), *old[:900:2]]
    assert len(old) * len(new) > MOST_PAIRS
    found = matches(old, new)
    assert sum(block.size for block in found) >= 450
    assert all(old[b.old : b.old + b.size] == new[b.new : b.new + b.size] for b in found)


@pytest.mark.generated
@given(st.lists(st.integers(0, 9), max_size=8))
def test_the_longest_run_of_larger_numbers_is_found(numbers: list[int]) -> None:
    found = [numbers[index] for index in increasing(numbers)]
    assert all(one < other for one, other in pairwise(found))
    best = [1] * len(numbers)
    for j in range(len(numbers)):
        best[j] = 1 + max((best[i] for i in range(j) if numbers[i] < numbers[j]), default=0)
    assert len(found) == max(best, default=0)


# ---- Which cell is which


def test_a_moved_cell_is_one_operation_and_so_is_an_edited_one() -> None:
    old = sheet_of(*(code(f"step_{name}()", name) for name in "abcdef"))
    cells = list(old.cells)
    moved = Sheet(cells=(cells[4], *cells[:4], cells[5]))
    assert types(diff(old, moved)) == ["cell_moved"]
    edited = msgspec.structs.replace(cells[2], source="step_c(1)")
    (operation,) = diff(old, Sheet(cells=(*cells[:2], edited, *cells[3:]))).operations
    assert isinstance(operation, d.SourceEditedOp)
    assert operation.cell == "c"
    assert operation.edit == (Splice(7, 0, "1"),)


def test_an_id_stays_the_same_cell_whatever_is_written_in_it() -> None:
    old, new = sheet_of(code(LOAD, "one"), code(PLOT, "two")), sheet_of(code(PLOT, "one"), code(LOAD, "two"))
    assert types(diff(old, new)) == ["source_edited", "source_edited"]


def test_without_ids_an_edited_cell_is_still_that_cell() -> None:
    old = sheet_of(code(LOAD), code("x = 1"), code(PLOT))
    new = sheet_of(code(LOAD.replace("csv", "parquet")), code("x = 2"), code(PLOT))
    assert set(types(diff(old, new))) == {"source_edited", "ids_changed"}
    assert not diff(old, new).only("outputs")


def test_without_ids_a_cell_that_was_moved_and_edited_is_still_that_cell() -> None:
    others = [code(f"step_{name} = compute('{name}')") for name in "abcd"]
    old, new = sheet_of(code(LOAD), *others), sheet_of(*others, code(f"{LOAD}\ndf.tail()"))
    assert sorted(types(diff(old, new))) == ["cell_moved", "ids_changed", "source_edited"]


def test_without_ids_a_further_copy_of_a_cell_is_an_added_cell() -> None:
    old = sheet_of(code(LOAD), code("df.head()"), code(PLOT))
    new = sheet_of(code("df.head()"), code(LOAD), code("df.head()"), code(PLOT))
    assert [found for found in types(diff(old, new)) if found != "ids_changed"] == ["cell_added"]


def test_a_cell_of_another_kind_is_that_cell_as_long_as_its_text_stays() -> None:
    old = sheet_of(code("# Sales", "a"), code("x", "b"))
    new = sheet_of(SheetCell(id=CellId("c"), kind="markdown", source="# Sales"), code("x", "b"))
    assert set(types(diff(old, new))) == {"cell_kind_changed", "ids_changed"}


def test_ten_thousand_cells_without_ids_or_likeness_are_compared_all_the_same() -> None:
    old = sheet_of(*(code(f"alpha_{number} beta_{number}", f"old{number}") for number in range(10_000)))
    new = sheet_of(*(code(f"gamma_{number} delta_{number}", f"new{number}") for number in range(10_000)))
    found = align(old, new)
    assert found.pairs == []
    assert (len(found.removed), len(found.added)) == (10_000, 10_000)


def test_two_cells_with_one_id_are_refused() -> None:
    broken = Sheet(cells=(code("x", "a"), code("y", "a")))
    with pytest.raises(BadInput, match="'a' is there twice"):
        diff(broken, Sheet())
    with pytest.raises(BadInput, match="one id"):
        patch(broken, ())


# ---- Ids carried on


def test_ids_are_carried_to_cells_that_were_moved_or_edited() -> None:
    """Rule 13."""
    old = sheet_of(code(LOAD, "load"), code("x = 1", "set"), code(PLOT, "plot"))
    new = sheet_of(code(PLOT), code(LOAD), code("x = 2"), code("brand_new()"))
    assert [cell.id for cell in carry(old, new).cells][:3] == ["plot", "load", "set"]


def test_no_carried_id_is_there_twice() -> None:
    """An id that a new cell was derived may be the old one of another: the id that was carried wins."""
    new = sheet_of(code("x = 1"), code(PLOT), code("x = 1"))
    old = Sheet(cells=(msgspec.structs.replace(new.cells[1], id=new.cells[0].id),))
    carried = carry(old, new)
    assert carried.cells[1].id == new.cells[0].id
    assert len({cell.id for cell in carried.cells}) == 3


# ---- Against another notebook


BASE = sheet_of(code(LOAD, "load"), code("x = 1", "set"), code(PLOT, "plot", outputs=[STREAM]))


def changed(index: int, **fields: object) -> Sheet:
    cells = list(BASE.cells)
    cells[index] = msgspec.structs.replace(cells[index], **fields)
    return msgspec.structs.replace(BASE, cells=tuple(cells))


def test_a_diff_applies_to_a_notebook_that_changed_elsewhere() -> None:
    operations = diff(BASE, changed(1, source="x = 2")).operations
    other = changed(0, source="import polars")
    patched = patch(other, operations)
    assert [cell.source for cell in patched.cells] == ["import polars", "x = 2", PLOT]


@pytest.mark.parametrize(
    ("new", "other", "told"),
    [
        (changed(1, source="x = 2"), changed(1, source="x = 3"), "Cell set: its source"),
        (changed(1, kind="markdown"), changed(1, kind="raw"), "Cell set: its kind"),
        (changed(1, name="a"), changed(1, name="b"), "Cell set: its name"),
        (changed(1, tags=("a",)), changed(1, tags=("b",)), "Cell set: its tags"),
        (changed(1, count=2), changed(1, count=3), "Cell set: its count"),
        (changed(2, outputs=[]), changed(2, outputs=[STREAM, STREAM]), "Cell plot: its outputs"),
        (changed(1, metadata={"a": 1}), changed(1, metadata={"a": 2}), "Cell set: metadata key 'a'"),
        (changed(1, attachments={"a": {}}), changed(1, attachments={"a": 1}), "Cell set: attachments key 'a'"),
        (changed(1, extra={"a": 1}), changed(1, extra={"a": 2}), "Cell set: fields key 'a'"),
        (Sheet(cells=BASE.cells[:2]), changed(2, source="other"), "Cell plot: its source"),
        (changed(1, source="x = 2"), Sheet(cells=BASE.cells[:1]), "Cell set is not in this notebook"),
        (Sheet(cells=(*BASE.cells, code("new", "n"))), Sheet(cells=BASE.cells[:2]), "goes after cell plot"),
        (
            Sheet(cells=(*BASE.cells, code("new", "n"))),
            Sheet(cells=(*BASE.cells, code("", "n"))),
            "n is in this notebook",
        ),
        (
            sheet_of(*BASE.cells, metadata={"k": 1}),
            sheet_of(*BASE.cells, metadata={"k": 2}),
            "notebook: metadata key 'k'",
        ),
    ],
)
def test_a_diff_is_refused_where_a_cell_is_not_what_it_expects(new: Sheet, other: Sheet, told: str) -> None:
    with pytest.raises(Conflict, match=told):
        patch(other, diff(BASE, new).operations)


def test_a_removed_cell_may_have_been_run_meanwhile() -> None:
    operations = diff(BASE, Sheet(cells=BASE.cells[:2])).operations
    assert patch(changed(2, outputs=[], count=9), operations).cells == BASE.cells[:2]


@pytest.mark.parametrize(
    ("operation", "told"),
    [
        ({"type": "cell_added", "cell": "n", "after": None, "content": {"id": "m"}}, "its content says m"),
        ({"type": "cell_moved", "cell": "set", "after": "set"}, "goes after cell set"),
        ({"type": "ids_changed", "ids": {"set": "load"}}, "an id that another cell has"),
        ({"type": "ids_changed", "ids": {"none": "other"}}, "Cell none is not in"),
        (
            {
                "type": "outputs_changed",
                "cell": "plot",
                "at": 0,
                "remove": 5,
                "insert": [],
                "base_hash": diff(BASE, changed(2, outputs=[])).operations[0].base_hash,  # type: ignore[union-attr]
            },
            "outputs 0 to 5 of cell plot: it has 1",
        ),
        (
            {
                "type": "source_edited",
                "cell": "set",
                "edit": [[3, 99, ""]],
                "base_hash": diff(BASE, changed(1, source="")).operations[0].base_hash,  # type: ignore[union-attr]
            },
            "reaches position 102",
        ),
    ],
)
def test_operations_that_make_no_sense_are_refused(operation: dict[str, object], told: str) -> None:
    with pytest.raises((BadInput, Conflict), match=told):
        patch(BASE, decode(json.dumps([operation]), "diff.json"))


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '[{"type": "nothing"}]', '[{"type": "cell_moved"}]', "[" * 100_000, '[{"op": "patch"}]']
)
def test_what_is_no_diff_is_named_with_what_to_do(text: str) -> None:
    with pytest.raises(BadInput, match=r"^diff.json is no diff: .*quire diff OLD NEW --json"):
        decode(text, "diff.json")


def test_half_a_surrogate_pair_and_endless_numbers_are_carried() -> None:
    old, new = BASE, changed(1, source="x = '\ud800é'", metadata={"n": 10**400, "f": math.inf})
    operations = decode(encode(diff(old, new).operations), "diff.json")
    assert same_sheet(patch(old, operations), new)
