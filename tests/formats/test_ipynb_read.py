"""An .ipynb that is read: every field to its place, and every fault with its place."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.core.ids import CellId
from quire.core.sheet.sheet import Sheet, SheetCell
from quire.formats.ipynb.format import lines_of, read, text_of, write

from .ipynb_texts import PATH, code, nbformat, notebooks, text, validated, values, with_cell


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ({"tags": ("x", "a,b")}, {"tags": ["x"], "quire": {"kept": {"tags": ["x", "a,b"]}}}),
        ({"tags": ("a", "a", "")}, {"tags": ["a"], "quire": {"kept": {"tags": ["a", "a", ""]}}}),
        ({"tags": ("",)}, {"quire": {"kept": {"tags": [""]}}}),
        ({"name": "x\ny"}, {"quire": {"kept": {"name": "x\ny"}}}),
        ({"metadata": {"name": ""}}, {"quire": {"kept": {"name": ""}}}),
        ({"metadata": {"collapsed": 3, "quire": {"p": 1}}}, {"quire": {"kept": {"collapsed": 3}, "p": 1}}),
        ({"metadata": {"jupyter": 5, "quire": 7}}, {"quire": {"kept": {"jupyter": 5, "quire": 7}}}),
        ({"metadata": {"scrolled": "x", "execution": 5}}, {"quire": {"kept": {"scrolled": "x", "execution": 5}}}),
        ({"metadata": {"format": 5}}, {"format": 5}),
        ({"kind": "prompt", "metadata": {"format": 5}}, {"quire": {"kept": {"format": 5}, "kind": "prompt"}}),
        ({"metadata": {"quire": {"kept": {"name": ""}}}}, {"quire": {"kept": {"kept": {"name": ""}}}}),
    ],
)
def test_what_nbformat_refuses_of_a_cell_is_kept_in_our_section(cell: dict[str, Any], expected: dict[str, Any]) -> None:
    sheet = Sheet(cells=(SheetCell(id=CellId("a"), **cell),))
    written = write(sheet, PATH, None)
    assert validated(written)["cells"][0]["metadata"] == expected
    assert read(written, PATH) == sheet


@pytest.mark.parametrize(
    ("around", "expected"),
    [
        ({"kernelspec": {"name": "x"}}, {"kernelspec": {"name": "x", "display_name": "x"}}),
        ({"kernelspec": 5}, {}),
        ({"language_info": {"version": "3"}}, {}),
        ({"language_info": {"name": "R", "mimetype": 5}}, {"language_info": {"name": "R"}}),
        ({"title": 2024, "authors": "me"}, {}),
    ],
)
def test_what_nbformat_refuses_of_a_notebook_is_kept_in_our_section(
    around: dict[str, Any], expected: dict[str, Any]
) -> None:
    written = write(Sheet(metadata=around), PATH, None)
    assert validated(written)["metadata"] == expected | {"quire": {"kept": around}}
    assert read(written, PATH) == Sheet(metadata=around)


# Single cases.


def test_every_field_goes_to_its_place() -> None:
    sheet = read(
        text(
            code(["a\n", "b"], id="one", execution_count=3, metadata={"tags": ["t"], "name": "n", "k": 1}, zoom=2),
            {
                "cell_type": "markdown",
                "id": "two",
                "metadata": {},
                "source": "![](é.png)",
                "attachments": {"é.png": {"image/png": ["iV", "BO"], "text/plain": "x"}},
                "outputs": [],
            },
            metadata={"kernelspec": {"name": "ir", "language": "R"}},
            attic=1,
        ),
        PATH,
    )
    assert sheet == Sheet(
        cells=(
            SheetCell(
                id=CellId("one"), source="a\nb", count=3, tags=("t",), name="n", metadata={"k": 1}, extra={"zoom": 2}
            ),
            SheetCell(
                id=CellId("two"),
                kind="markdown",
                source="![](é.png)",
                attachments={"é.png": {"image/png": "iVBO", "text/plain": "x"}},
                extra={"outputs": []},
            ),
        ),
        metadata={"kernelspec": {"name": "ir", "language": "R"}},
        extra={"attic": 1},
    )


def test_texts_of_outputs_are_joined_but_for_lists_that_are_json() -> None:
    data = {"text/plain": ["a\n", "b"], "application/json": ["a"], "application/x+json": ["b"], "text/html": "<b>"}
    shown = {"output_type": "display_data", "data": data, "metadata": {}}
    stream = {"output_type": "stream", "name": "stderr", "text": ["1\n", "2"]}
    (cell,) = read(text(code(outputs=[shown, stream], id="a")), PATH).cells
    assert cell.outputs[0]["data"] == data | {"text/plain": "a\nb"}
    assert cell.outputs[1]["text"] == "1\n2"


def test_a_text_is_the_same_as_one_string_or_as_lines() -> None:
    strange = "a\r\nb\x0c\u2028c\n"
    assert text_of(lines_of(strange)) == text_of(strange) == strange
    assert text_of([]) == "" and text_of(["a", 1]) is None and text_of({}) is None


def test_sql_and_prompt_cells_are_cells_that_jupyter_opens() -> None:
    sheet = Sheet(
        cells=(
            SheetCell(id=CellId("a"), kind="sql", source="select 1"),
            SheetCell(id=CellId("b"), kind="prompt", source="Why?", metadata={"quire": {"model": "m"}}),
        )
    )
    written = write(sheet, PATH, None)
    sql, prompt = json.loads(written)["cells"]
    assert (sql["cell_type"], sql["source"]) == ("code", ["%%sql\n", "select 1"])
    assert sql["metadata"] == {"quire": {"kind": "sql"}}
    assert (prompt["cell_type"], prompt["metadata"]) == ("raw", {"quire": {"kind": "prompt", "model": "m"}})
    nbformat().validate(nbformat().from_dict(json.loads(written)))
    assert read(written, PATH) == sheet


@pytest.mark.parametrize(
    ("source", "marked", "kind"),
    [
        ("%%sql\nselect 1", True, "sql"),
        ("%%sql", True, "sql"),
        ("%%sql\nselect 1", False, "code"),
        ("%%sql sqlite:///db\nselect 1", True, "code"),
        ("select 1", True, "code"),
    ],
)
def test_a_sql_cell_is_one_that_says_so_twice(source: str, marked: bool, kind: str) -> None:
    metadata = {"quire": {"kind": "sql"}} if marked else {}
    (cell,) = read(text(code(source, id="a", metadata=metadata)), PATH).cells
    assert (cell.kind, cell.metadata) == (kind, {})
    assert cell.source == ("select 1" if kind == "sql" and "\n" in source else "" if kind == "sql" else source)


@pytest.mark.parametrize(("old", "new"), [("1", True), ("0", False), ("1.0", 1), ("0.0", -0.0), ("null", False)])
def test_values_that_python_calls_equal_are_told_apart(old: str, new: object) -> None:
    before = text(code("a", id="a", metadata={"x": "X"})).replace('"X"', old)
    after = write(with_cell(read(before, PATH), 0, metadata={"x": new}), PATH, before)
    assert after == before.replace(f'"x": {old}', f'"x": {json.dumps(new)}')


@pytest.mark.parametrize(
    "strange",
    [
        "NaN",
        "[NaN, -Infinity, 1e999]",
        '"\\ud800"',
        '"\\ud800\\ud800"',
        '{"a": 1, "a": 2}',
        "9" * 400,
        "[" * 300 + "]" * 300,
    ],
)
def test_what_json_does_not_allow_but_files_contain_is_read_and_kept(strange: str) -> None:
    shown = {"output_type": "display_data", "data": {"application/json": "JSON"}, "metadata": {}}
    before = text(code("one", id="a", outputs=[shown]), code("two", id="b")).replace('"JSON"', strange)
    sheet = read(before, PATH)
    assert write(sheet, PATH, before) == before
    for index, source in enumerate(("one", "two")):
        assert write(with_cell(sheet, index, source="three"), PATH, before) == before.replace(source, "three")
    new = write(sheet, PATH, None)
    assert new.encode().decode() == new
    assert write(read(new, PATH), PATH, new) == new


# Bad input.

NOTHING: Any = ...
SHOWN: dict[str, Any] = {"output_type": "display_data", "data": {}, "metadata": {}}
STREAM = {"output_type": "stream", "name": "stdout", "text": "a"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (code(source=NOTHING), "'source' is missing. It wants a string or a list of strings."),
        (code(source=5), "'source' wants a string or a list of strings, got 5."),
        (code(source=["a", 1]), "'source' wants a string or a list of strings, got a list."),
        (code(source=None), "'source' wants a string or a list of strings, got null."),
        (code(cell_type=NOTHING), "'cell_type' is missing. Write code, markdown or raw."),
        (code(cell_type="chart"), "'cell_type' 'chart' is not known. Write code, markdown or raw."),
        (code(cell_type=["code"]), "'cell_type' a list is not known."),
        (code(metadata=[]), "'metadata' wants an object, got a list."),
        (code(metadata=None), "'metadata' wants an object, got null."),
        (code(metadata={"tags": "a"}), "'metadata.tags' wants a list of strings, got 'a'."),
        (code(metadata={"tags": ["a", 1]}), "'metadata.tags' wants a list of strings, got a list."),
        (code(metadata={"name": 1}), "'metadata.name' wants a string, got 1."),
        (code(execution_count="1"), "'execution_count' wants an integer or null, got '1'."),
        (code(execution_count=True), "'execution_count' wants an integer or null, got true."),
        (code(outputs={}), "'outputs' wants a list, got an object."),
        (code(outputs=[5]), "output 1: it is not an object."),
        (code(outputs=[STREAM, {}]), "output 2: 'output_type' is missing."),
        (code(outputs=[{"output_type": "pyout"}]), "output 1: 'output_type' 'pyout' is not known."),
        (code(outputs=[{"output_type": {}}]), "output 1: 'output_type' an object is not known."),
        (code(outputs=[{"output_type": "stream", "name": "stdout"}]), "output 1: 'text' is missing."),
        (code(outputs=[STREAM | {"text": 1}]), "output 1: 'text' wants a string or a list of strings, got 1."),
        (code(outputs=[{"output_type": "stream", "text": ""}]), "output 1: 'name' is missing. It wants a string."),
        (code(outputs=[{"output_type": "display_data"}]), "output 1: 'data' is missing. It wants an object"),
        (code(outputs=[SHOWN | {"data": []}]), "output 1: 'data' wants an object, media type to data, got a list."),
        (code(outputs=[SHOWN | {"metadata": 1}]), "output 1: 'metadata' wants an object, got 1."),
        (code(outputs=[{"output_type": "error", "ename": 1}]), "output 1: 'ename' wants a string, got 1."),
        (code(outputs=[{"output_type": "error", "traceback": "a"}]), "output 1: 'traceback' wants a list of strings"),
        (code(cell_type="raw", attachments=[]), "'attachments' wants an object, got a list."),
        (code(cell_type="raw", attachments={"a": 1}), "'attachments.a' wants an object, media type to data, got 1."),
    ],
)
def test_a_fault_names_file_cell_and_field(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput) as raised:
        read(text(code(), code(id="b"), fields | {"id": "a1b2c3"}), PATH)
    assert str(raised.value).startswith(f"sales.ipynb: cell 3 (a1b2c3): {message}")


@pytest.mark.parametrize("bad", ["", "a b", "é", "a" * 65, 1, None, "a\n"])
def test_an_id_that_nbformat_does_not_take_is_refused(bad: object) -> None:
    with pytest.raises(BadInput, match=r"^sales.ipynb: cell 1.*: 'id' .* is not valid\. 1 to 64 letters"):
        read(text(code(id=bad)), PATH)


def test_a_cell_that_is_no_object_is_named_by_its_number() -> None:
    with pytest.raises(BadInput, match=r"^sales.ipynb: cell 2: it is not an object\. Remove it"):
        read(text(code(), 5), PATH)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "sales.ipynb is empty: it holds no notebook."),
        (" \n", "sales.ipynb is empty: it holds no notebook."),
        (text(code())[:60], "sales.ipynb ends too early, at line 5, column"),
        (text(code())[:-2], "sales.ipynb ends too early, at line 13, column 21"),
        ('{\n "cells": [}', "sales.ipynb is not JSON: Expecting value at line 2, column 12."),
        ("hello", "sales.ipynb is not JSON: Expecting value at line 1, column 1."),
        (text() + "\n{}", "sales.ipynb is not JSON: Extra data at line 7, column 1."),
        ('{\n<<<<<<< HEAD\n"a": 1\n=======\n', "sales.ipynb has an unresolved merge at line 2 (<<<<<<<). Resolve it"),
        ("{\r\n<<<<<<<\r\n", "sales.ipynb has an unresolved merge at line 2"),
        ("[]", "sales.ipynb is JSON, but no notebook: it holds a list."),
        ('"a"', "sales.ipynb is JSON, but no notebook: it holds 'a'."),
        ("{}", "sales.ipynb: 'nbformat' is missing: it wants a whole number. Is it a notebook?"),
        (text(nbformat="4"), "sales.ipynb: 'nbformat' wants a whole number, got '4'."),
        (text(nbformat=True), "sales.ipynb: 'nbformat' wants a whole number, got true."),
        (text(nbformat_minor=None), "sales.ipynb: 'nbformat_minor' wants a whole number, got null."),
        (text(nbformat_minor=-1), "sales.ipynb: 'nbformat_minor' wants a whole number, got -1."),
        ('{"nbformat": 4, "cells": []}', "sales.ipynb: 'nbformat_minor' is missing"),
        (text(nbformat=5), "sales.ipynb is nbformat 5, which is newer. Quire reads nbformat 3 and 4. Save it as"),
        (text(nbformat=2), "sales.ipynb is nbformat 2, which is too old. Quire reads nbformat 3 and 4. Run `jupyter"),
        (text(cells={}), "sales.ipynb: 'cells' wants a list, got an object."),
        ('{"nbformat": 4, "nbformat_minor": 5}', "sales.ipynb: 'cells' is missing: it wants a list."),
        (text(metadata=1), "sales.ipynb: 'metadata' wants an object, got 1."),
        ('{"nbformat": 3, "worksheets": 1}', "sales.ipynb: 'worksheets' wants a list, got 1."),
        ('{"nbformat": 3, "worksheets": [{}]}', "sales.ipynb: worksheet 1: 'cells' wants a list."),
        ('{"nbformat": 3, "worksheets": [{"cells": [1]}]}', "sales.ipynb: cell 1: it is not an object."),
        ("[" * 100_000, "sales.ipynb is nested too deeply to be a notebook."),
        (text(attic="X").replace('"X"', "1" * 5000), "sales.ipynb holds a number of more than 4,300 digits."),
    ],
)
def test_what_is_no_notebook_is_told_with_the_place_and_the_next_step(content: str, message: str) -> None:
    with pytest.raises(BadInput) as raised:
        read(content, PATH)
    assert str(raised.value).startswith(message)


@pytest.mark.generated
@given(notebooks(), st.data())
def test_a_file_cut_off_anywhere_is_bad_input_and_nothing_else(fields: dict[str, Any], data: st.DataObject) -> None:
    whole = json.dumps(fields, indent=1)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    with pytest.raises(BadInput):
        read(cut, PATH)


def _keys(value: Any) -> list[Any]:
    """Where in a value others stand."""
    if isinstance(value, dict):
        return list(cast("dict[str, Any]", value))
    return list(range(len(cast("list[Any]", value)))) if isinstance(value, list) else []


@pytest.mark.generated
@given(notebooks(), st.data())
def test_any_value_in_any_place_is_read_or_is_bad_input(fields: dict[str, Any], data: st.DataObject) -> None:
    place: Any = fields
    key: Any = data.draw(st.sampled_from(sorted(fields)))
    while (keys := _keys(place[key])) and data.draw(st.booleans()):
        place, key = place[key], data.draw(st.sampled_from(keys))
    place[key] = data.draw(values)
    written = json.dumps(fields)
    try:
        sheet = read(written, PATH)
    except BadInput:
        return
    assert write(sheet, PATH, written) == written
    assert read(write(sheet, PATH, None), PATH) == sheet
