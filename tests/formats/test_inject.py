"""Values on their way into a notebook: one cell, in the right place, and a record of what it was."""

from __future__ import annotations

import datetime as dt
import json
import math
from typing import Any, cast

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.core.ids import CellId
from quire.core.params.parameters import Text, bind, declared
from quire.core.sheet.sheet import Sheet, SheetCell, with_ids
from quire.core.values import FilePath, untag
from quire.formats.papermill import GIVEN, TAG, inject, parameterized, plain_json
from quire.formats.registry import read, write
from tests.core.sheets import CELLS


def notebook(*cells: SheetCell, **metadata: Any) -> Sheet:
    return Sheet(cells=with_ids(cells), metadata=metadata)


def code(source: str, *tags: str, id: str = "", **metadata: Any) -> SheetCell:
    return SheetCell(id=CellId(id), source=source, tags=tags, metadata=metadata)


def prose(source: str) -> SheetCell:
    return SheetCell(id=CellId(""), kind="markdown", source=source)


def sources(sheet: Sheet) -> list[str]:
    return [cell.source for cell in sheet.cells]


# ---- Where


def test_the_cell_stands_after_the_parameters() -> None:
    sheet = inject(notebook(prose("# A"), code("top = 1", "parameters"), code("top")), {"top": 5})
    assert sources(sheet) == ["# A", "top = 1", "# Parameters\ntop = 5\n", "top"]
    assert [cell.tags for cell in sheet.cells] == [(), ("parameters",), (TAG,), ()]


def test_without_parameters_it_stands_at_the_top() -> None:
    assert sources(inject(notebook(prose("# A"), code("top")), {"top": 5}))[0] == "# Parameters\ntop = 5\n"
    assert sources(inject(Sheet(), {"top": 5})) == ["# Parameters\ntop = 5\n"]


def test_that_of_an_earlier_run_is_replaced_where_it_is_and_keeps_its_id() -> None:
    before = notebook(code("a", "parameters"), code("b"), code("x = 1", TAG, "old", id="mine", k=1), code("x = 2", TAG))
    after = inject(before, {"x": 5})
    assert sources(after) == ["a", "b", "# Parameters\nx = 5\n"]
    assert after.cells[2] == SheetCell(id=CellId("mine"), source="# Parameters\nx = 5\n", tags=(TAG,))


def test_without_values_nothing_changes() -> None:
    sheet = notebook(code("x = 1", "parameters"), code("x = 2", TAG))
    assert inject(sheet, {}) is sheet
    assert parameterized(sheet, bind(declared(sheet), {})) == sheet


@pytest.mark.generated
@given(st.lists(CELLS, max_size=5), st.integers())
def test_the_other_cells_stay_as_they_are(cells: list[SheetCell], value: int) -> None:
    sheet = Sheet(cells=with_ids(cells))
    once = inject(sheet, {"x": value})
    assert tuple(cell for cell in once.cells if TAG not in cell.tags) == sheet.cells
    assert len({cell.id for cell in once.cells}) == len(sheet.cells) + 1
    twice = inject(once, {"x": value + 1})
    assert [cell.id for cell in twice.cells] == [cell.id for cell in once.cells]
    assert inject(once, {"x": value}) == once


# ---- In which language


def test_it_is_written_in_the_language_of_the_notebook() -> None:
    sheet = notebook(code("x"), kernelspec={"name": "ir", "language": "R"})
    assert inject(sheet, {"x": True}).cells[0].source == "# Parameters\nx = TRUE\n"
    assert inject(sheet, {"x": True}, "julia").cells[0].source == "# Parameters\nx = true\n"


def test_what_the_language_cannot_hold_is_refused() -> None:
    with pytest.raises(BadInput, match="parameter 'x': a value of type set cannot be written in R"):
        inject(notebook(code("x")), {"x": {1}}, "R")


# ---- Report mode


def test_a_report_hides_the_sources_and_keeps_what_else_is_said_of_them() -> None:
    sheet = notebook(prose("# A"), code("x", jupyter={"outputs_hidden": True}, k=1), code("y"))
    shown = inject(sheet, {"x": 1}, report_mode=True)
    assert [cell.metadata for cell in shown.cells] == [
        {"jupyter": {"source_hidden": True}},
        {},
        {"jupyter": {"outputs_hidden": True, "source_hidden": True}, "k": 1},
        {"jupyter": {"source_hidden": True}},
    ]
    assert inject(sheet, {}, report_mode=True).cells == shown.cells[1:]


# ---- The record

EXACT: dict[str, Any] = {
    "a": 2**70, "b": math.inf, "c": (1, {2}), "d": dt.date(2026, 1, 31), "e": b"\xff", "f": FilePath("a/b"), "g": {"k": None, 1: 2},
    "h": dt.timedelta(seconds=90), "i": "é", "j": [True, 0.5], "k": dt.datetime(2026, 1, 31, tzinfo=dt.UTC),
}  # fmt: skip


def test_the_values_are_recorded_for_others_and_exactly() -> None:
    sheet = inject(notebook(code("x"), papermill={"version": "1", "parameters": {"old": 1}}, quire={"k": 1}), EXACT)
    assert sheet.metadata["papermill"] == {
        "version": "1",
        "parameters": {
            "a": str(2**70),
            "b": "inf",
            "c": [1, [2]],
            "d": "2026-01-31",
            "e": "/w==",
            "f": "a/b",
            "g": {"k": None, "1": 2},
            "h": 90.0,
            "i": "é",
            "j": [True, 0.5],
            "k": "2026-01-31T00:00:00+00:00",
        },
    }
    assert {name: untag(value) for name, value in sheet.ours[GIVEN].items()} == EXACT
    assert sheet.ours["k"] == 1


def test_an_injected_notebook_is_valid_and_reads_back() -> None:
    sheet = inject(notebook(code("x", "parameters")), EXACT)
    text = write(sheet, "a.ipynb")
    node: Any = cast("Any", nbformat).reads(text, as_version=4)
    cast("Any", nbformat).validate(node)
    assert read(text, "a.ipynb").cells == sheet.cells
    assert {name: untag(each) for name, each in read(text, "a.ipynb").ours[GIVEN].items()} == EXACT


@pytest.mark.generated
@given(
    st.recursive(
        st.floats() | st.integers() | st.binary() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
        max_leaves=6,
    )
)
def test_the_plain_record_is_json_for_everybody(value: Any) -> None:
    assert json.loads(json.dumps(plain_json(value), allow_nan=False)) == plain_json(value)


# ---- What a run needs

LOGBOOK = """---
parameters:
  region: ...
  top: 5
---

# Sales of {region}

```python
print(top, "{region}")
```
"""


def test_a_logbook_gets_its_values_in_braces_and_as_variables() -> None:
    sheet = read(LOGBOOK, "a.md")
    made = parameterized(sheet, bind(declared(sheet), {"region": Text("it's")}))
    assert sources(made) == ['# Parameters\ntop = 5\nregion = "it\'s"\n', "# Sales of it's", 'print(top, "it\'s")']
    assert made.ours[GIVEN] == {"region": "it's", "top": 5}
    assert [cell.id for cell in made.cells[1:]] == [cell.id for cell in sheet.cells]


def test_a_notebook_with_a_cell_of_parameters_gets_only_what_was_given() -> None:
    sheet = notebook(code("a = 1\nb = 2", "parameters"), code("'{a}'"))
    made = parameterized(sheet, bind(declared(sheet), {"b": Text("3"), "other": Text("x")}))
    assert sources(made) == ["a = 1\nb = 2", '# Parameters\nb = 3\nother = "x"\n', "'{a}'"]


def test_values_stand_in_the_order_in_which_they_were_given() -> None:
    sheet = notebook(code("a = 1\nb = 2", "parameters"))
    made = parameterized(sheet, bind(declared(sheet), {"new": 1, "b": 2, "a": 3}))
    assert sources(made)[1] == "# Parameters\nnew = 1\nb = 2\na = 3\n"


def test_what_stands_in_braces_need_not_be_a_variable_too() -> None:
    sheet = read("---\nparameters:\n  box: {type: dict, default: {a: 1}}\n---\n\n{box}\n\n```bash\nls\n```\n", "a.md")
    made = parameterized(sheet, bind(declared(sheet), {}))
    assert sources(made) == ["# Parameters\ndeclare -A box=(['a']=1)\n", '{"a": 1}', "ls"]
    nested = read(
        "---\nparameters:\n  box: {type: dict, default: {a: [1]}}\n---\n\n{box}\n\n```bash\nls\n```\n", "a.md"
    )
    assert sources(parameterized(nested, bind(declared(nested), {}))) == ['{"a": [1]}', "ls"]
    alone = read("---\nparameters:\n  box: {type: dict, default: {a: [1]}}\n---\n\n```bash\nls\n```\n", "a.md")
    with pytest.raises(BadInput, match="parameter 'box'"):
        parameterized(alone, bind(declared(alone), {}))


def test_a_logbook_without_code_gets_no_cell_but_the_record() -> None:
    sheet = read("---\nparameters:\n  who: Ada\n---\n\nDear {who}\n", "a.md")
    made = parameterized(sheet, bind(declared(sheet), {}), report_mode=True)
    assert sources(made) == ["Dear Ada"]
    assert made.ours[GIVEN] == {"who": "Ada"}
