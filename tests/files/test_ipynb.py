"""Notebooks as .ipynb: read, checked, brought up to date, and written so that what did not change keeps its bytes."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, cast

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.core.ids import CellId
from quire.core.same import same
from quire.core.sheet import Sheet, SheetCell
from quire.files.ipynb import lines_of, read, text_of, write

replace = msgspec.structs.replace
PATH = "sales.ipynb"


def code(source: Any = "x = 1\n", **fields: Any) -> dict[str, Any]:
    """The fields of a code cell; ... leaves one out."""
    cell: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    return _without_gaps(cell | {"source": source} | fields)


def notebook(*cells: Any, minor: int = 5, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": minor}
    return _without_gaps(found | fields)


def _without_gaps(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not ...}


def text(*cells: Any, **fields: Any) -> str:
    return json.dumps(notebook(*cells, **fields), indent=1)


def with_cell(sheet: Sheet, index: int, **changes: Any) -> Sheet:
    cells = list(sheet.cells)
    cells[index] = replace(cells[index], **changes)
    return replace(sheet, cells=tuple(cells))


def nbformat() -> Any:
    """The real one. Loaded when needed: it takes its time."""
    import nbformat  # pyright: ignore[reportMissingTypeStubs]

    return nbformat


# Notebooks as people and programs write them.

words = st.text("ab\n#é", max_size=6)
plain = st.text("ab é", max_size=4)
values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from([0.0, 1.0, -0.0, 1e30]) | plain,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("pqr"), inner, max_size=2),
    max_leaves=4,
)
texts = words | words.map(lambda words: words.splitlines(keepends=True))
metadata = st.fixed_dictionaries(
    {},
    optional={
        "tags": st.lists(st.sampled_from(["parameters", "é", "raises"]), unique=True),
        "name": st.sampled_from(["load", "é"]),
        "collapsed": st.booleans(),
        "quire": st.fixed_dictionaries({}, optional={"kind": st.sampled_from(["sql", "prompt", "chart"]), "p": values}),
        "source": texts,
        "deep": values,
    },
)
bundles = st.fixed_dictionaries(
    {},
    optional={
        "text/plain": texts,
        "image/png": st.just("iVBORw0KGgo="),
        "application/json": values,
        "application/javascript": texts,
    },
)
counts = st.none() | st.integers(0, 9)
outputs = st.one_of(
    st.fixed_dictionaries({"output_type": st.just("stream"), "name": st.just("stdout"), "text": texts}),
    st.fixed_dictionaries({"output_type": st.just("display_data"), "data": bundles, "metadata": metadata}),
    st.fixed_dictionaries(
        {"output_type": st.just("execute_result"), "data": bundles, "metadata": st.just({}), "execution_count": counts}
    ),
    st.fixed_dictionaries(
        {"output_type": st.just("error"), "ename": plain, "evalue": plain, "traceback": st.lists(plain, max_size=2)}
    ),
)


@st.composite
def cells(draw: st.DrawFn, unknown: bool = True) -> dict[str, Any]:
    """One cell of any type, with fields nobody knows when `unknown`."""
    cell_type = draw(st.sampled_from(["code", "code", "markdown", "raw"]))
    source = draw(texts | texts.map(lambda text: ["%%sql\n", *text] if isinstance(text, list) else f"%%sql\n{text}"))
    fields: dict[str, Any] = {"source": source, "cell_type": cell_type, "metadata": draw(metadata)}
    if cell_type == "code":
        fields |= {"outputs": draw(st.lists(outputs, max_size=2)), "execution_count": draw(counts)}
    elif draw(st.booleans()):
        fields["attachments"] = draw(st.dictionaries(st.sampled_from(["é.png", "b"]), bundles, max_size=1))
    if unknown and draw(st.booleans()):
        fields |= {"zoom": draw(values), "attached": draw(values)}
    return fields


class Style(NamedTuple):
    """How a program writes JSON."""

    indent: int | str | None
    separators: tuple[str, str]
    sort_keys: bool
    ensure_ascii: bool
    newline: str
    ending: str

    def dumps(self, value: Any) -> str:
        written = json.dumps(
            value,
            indent=self.indent,
            separators=self.separators,
            sort_keys=self.sort_keys,
            ensure_ascii=self.ensure_ascii,
        )
        return written.replace("\n", self.newline) + self.ending


@st.composite
def styles(draw: st.DrawFn) -> Style:
    indent: Any = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    apart = st.sampled_from([(", ", ": "), (",", ":"), (" , ", " : ")])
    separators = draw(apart) if indent is None else (",", draw(st.sampled_from([": ", ":", " : "])))
    newline, ending = draw(st.sampled_from(["\n", "\r\n"])), draw(st.sampled_from(["", "\n", "\r\n", "\n\n"]))
    return Style(indent, separators, draw(st.booleans()), draw(st.booleans()), newline, ending)


@st.composite
def notebooks(draw: st.DrawFn, unknown: bool = True) -> dict[str, Any]:
    """A notebook of any minor version. Its metadata has an é, so that the file shows how it writes one."""
    minor = draw(st.integers(0, 5))
    found = draw(st.lists(cells(unknown), max_size=4))
    if minor == 5:
        found = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(found)]
    fields = notebook(*found, minor=minor, metadata={"title": "é", "deep": draw(values)})
    if unknown and draw(st.booleans()):
        fields["attic"] = draw(values)
    return {key: fields[key] for key in draw(st.permutations(sorted(fields)))}


@pytest.mark.generated
@given(notebooks(), styles())
def test_what_was_read_and_not_changed_is_written_byte_for_byte(fields: dict[str, Any], style: Style) -> None:
    written = style.dumps(fields)
    assert write(read(written, PATH), PATH, written) == written


@pytest.mark.generated
@given(notebooks())
def test_a_sheet_written_anew_reads_as_it_was(fields: dict[str, Any]) -> None:
    sheet = read(json.dumps(fields), PATH)
    assert read(write(sheet, PATH, None), PATH) == sheet


@pytest.mark.generated
@given(notebooks(unknown=False), styles())
def test_every_text_we_write_is_valid_to_nbformat_and_as_nbformat_writes_it(
    fields: dict[str, Any], style: Style
) -> None:
    sheet = read(style.dumps(fields), PATH)
    written = write(sheet, PATH, None)
    node = nbformat().from_dict(json.loads(written))
    nbformat().validate(node)
    assert written == nbformat().writes(node) + "\n"


def edit(what: str, fields: dict[str, Any], cell: SheetCell) -> SheetCell:
    """Change a cell in the fields of the file, and the same in the sheet."""
    match what:
        case "source":
            if cell.kind in ("sql", "prompt"):
                # The kind goes too: so does the mark.
                fields["metadata"]["quire"].pop("kind")
                if not fields["metadata"]["quire"]:
                    del fields["metadata"]["quire"]
            fields["source"] = ["y\n", "à\n", "b"] if isinstance(fields["source"], list) else "y\nà\nb"
            return replace(
                cell, source="y\nà\nb", kind="code" if fields["cell_type"] == "code" else fields["cell_type"]
            )
        case "tags":
            fields["metadata"]["tags"] = ["z", "à"]
            return replace(cell, tags=("z", "à"))
        case "came":
            fields["metadata"]["deep"] = {"à": [1, {}]}
            return replace(cell, metadata=cell.metadata | {"deep": {"à": [1, {}]}})
        case "went":
            fields["metadata"].pop("deep", None)
            return replace(cell, metadata={key: cell.metadata[key] for key in cell.metadata if key != "deep"})
        case _:
            fields["zoom"] = [True]
            return replace(cell, extra=cell.extra | {"zoom": [True]})


@pytest.mark.generated
@given(notebooks(), styles(), st.data())
def test_a_file_changes_only_where_a_cell_changed(fields: dict[str, Any], style: Style, data: st.DataObject) -> None:
    """Expected is what the same program would have written."""
    if not fields["cells"]:
        return
    index = data.draw(st.integers(0, len(fields["cells"]) - 1))
    # Where a key that is new goes is only known of programs that sort them.
    what = data.draw(st.sampled_from(["source", "went", "tags", "came", "zoom"][: None if style.sort_keys else 2]))
    before = style.dumps(fields)
    sheet = read(before, PATH)
    cells = list(sheet.cells)
    cells[index] = edit(what, fields["cells"][index], cells[index])
    assert write(replace(sheet, cells=tuple(cells)), PATH, before) == style.dumps(fields)


@pytest.mark.generated
@given(notebooks(), styles(), st.data())
def test_cells_that_move_go_and_come_take_their_bytes_along(
    fields: dict[str, Any], style: Style, data: st.DataObject
) -> None:
    before = style.dumps(fields)
    sheet = read(before, PATH)
    order = data.draw(st.permutations(range(len(sheet.cells))))[: data.draw(st.integers(0, len(sheet.cells)))]
    cells = [sheet.cells[index] for index in order]
    fields["cells"] = [fields["cells"][index] for index in order]
    if style.sort_keys and data.draw(st.booleans()) and len(sheet.cells) > 0:
        at = data.draw(st.integers(0, len(cells)))
        cells.insert(at, SheetCell(id=CellId("new"), kind="markdown", source="à\nb"))
        lists = next((isinstance(cell["source"], list) for cell in json.loads(before)["cells"] if cell["source"]), True)
        new: dict[str, Any] = {"cell_type": "markdown", "metadata": {}, "source": ["à\n", "b"] if lists else "à\nb"}
        fields["cells"].insert(at, new | ({"id": "new"} if fields["nbformat_minor"] == 5 else {}))
    assert write(replace(sheet, cells=tuple(cells)), PATH, before) == style.dumps(fields)


@pytest.mark.generated
@given(notebooks(), notebooks(), styles())
@example(
    notebook(code("")),
    notebook({"cell_type": "markdown", "source": "", "metadata": {}, "attachments": {}}),
    Style(None, (", ", ": "), False, False, "\n", ""),
)
@example(
    notebook(code("%%sql\n")),
    notebook(code("", metadata={"quire": {"kind": "sql"}})),
    Style(None, (", ", ": "), False, False, "\n", ""),
)
def test_any_sheet_written_like_any_file_reads_as_that_sheet(
    fields: dict[str, Any], other: dict[str, Any], style: Style
) -> None:
    like = style.dumps(other | {"nbformat_minor": 5, "cells": [{"id": "x", **cell} for cell in other["cells"][:1]]})
    sheet = read(json.dumps(fields), PATH)
    if sheet.cells:
        sheet = with_cell(sheet, 0, id=CellId("x"))
    assert read(write(sheet, PATH, like), PATH) == sheet


# Metadata that nbformat refuses, as scripts and logbooks may have it.

odd = values | st.sampled_from(["auto", "x\ny", "x\n", 5, True])
sections = odd | st.dictionaries(st.sampled_from(["kept", "p"]), odd | st.just({"collapsed": 3}), max_size=2)
odd_metadata = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(("jupyter", "collapsed", "scrolled", "execution", "format", "deep"), odd)
    | {"name": st.just("") | st.integers(0, 1), "tags": st.integers(0, 1) | st.just([5]), "quire": sections},
)
infos = odd | st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(("name", "display_name", "codemirror_mode", "file_extension", "mimetype", "language"), odd),
)


@st.composite
def odd_sheets(draw: st.DrawFn) -> Sheet:
    """A sheet of one or two cells, with metadata of any sort."""
    cells: list[SheetCell] = []
    for number in range(draw(st.integers(1, 2))):
        found = draw(odd_metadata)
        if found.get("quire") == {}:
            del found["quire"]  # An empty section says nothing in any format.
        if tags := tuple(draw(st.lists(st.sampled_from(["a", "b", "a,b", "", "é\n"]), max_size=3))):
            found.pop("tags", None)
        if name := draw(st.none() | st.sampled_from(["load", "x\ny", "\n", "x\n"])):
            found.pop("name", None)
        kind: Any = draw(st.sampled_from(["code", "markdown", "raw"]))
        cells.append(SheetCell(id=CellId(f"c{number}"), kind=kind, name=name, tags=tags, metadata=found))
    keys: dict[str, Any] = {"kernelspec": infos, "language_info": infos, "title": odd, "authors": odd}
    around = st.fixed_dictionaries({}, optional=keys | {"quire": sections, "deep": odd})
    return Sheet(cells=tuple(cells), metadata=draw(around))


def validated(written: str) -> dict[str, Any]:
    fields = json.loads(written)
    nbformat().validate(nbformat().from_dict(fields))
    return fields


@pytest.mark.generated
@given(odd_sheets())
def test_odd_metadata_is_written_valid_to_nbformat_and_reads_as_it_was(sheet: Sheet) -> None:
    written = write(sheet, PATH, None)
    validated(written)
    again = read(written, PATH)
    assert again == sheet
    assert same(
        [again.metadata, *(cell.metadata for cell in again.cells)],
        [sheet.metadata, *(cell.metadata for cell in sheet.cells)],
    )
    assert write(again, PATH, written) == written


@pytest.mark.generated
@given(odd_sheets(), odd_sheets())
def test_odd_metadata_that_changes_in_a_file_is_valid_too(old: Sheet, new: Sheet) -> None:
    written = write(new, PATH, write(old, PATH, None))
    validated(written)
    assert read(written, PATH) == new


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


def test_refused_metadata_of_a_file_stays_as_it_is_until_it_changes() -> None:
    before = text(code("x", id="a", metadata={"tags": ["a,b"]}), metadata={"kernelspec": {"name": "x"}})
    sheet = read(before, PATH)
    assert write(with_cell(sheet, 0, source="y"), PATH, before) == before.replace('"source": "x"', '"source": "y"')
    changed = replace(with_cell(sheet, 0, tags=("a,b", "c")), metadata=sheet.metadata | {"title": "t"})
    after = write(changed, PATH, before)
    assert validated(after)["cells"][0]["metadata"]["tags"] == ["c"]
    assert read(after, PATH) == changed


def test_what_was_kept_and_then_changed_by_another_program_is_left_to_it() -> None:
    metadata = {"tags": ["mine"], "quire": {"kept": {"tags": ["x", "a,b"]}}}
    (cell,) = read(text(code(id="a", metadata=metadata)), PATH).cells
    assert (cell.tags, cell.metadata) == (("mine",), {"quire": {"kept": {"tags": ["x", "a,b"]}}})


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


def test_a_cell_that_becomes_text_loses_what_only_code_has() -> None:
    before = text(code(id="a", execution_count=1, outputs=[{"output_type": "stream", "name": "stdout", "text": "1"}]))
    sheet = with_cell(read(before, PATH), 0, kind="markdown")
    for like in (None, before):
        written = json.loads(write(sheet, PATH, like))
        assert written["cells"][0].keys() == {"cell_type", "id", "metadata", "source"}
        nbformat().validate(nbformat().from_dict(written))


def test_code_without_outputs_count_and_metadata_is_read_and_left_as_it_is() -> None:
    before = text(code(id="a", outputs=..., execution_count=..., metadata=...), metadata=...)
    sheet = read(before, PATH)
    assert (sheet.cells[0].outputs, sheet.cells[0].count, sheet.metadata) == ([], None, {})
    after = write(with_cell(sheet, 0, source="y"), PATH, before)
    assert after == before.replace('"x = 1\\n"', '"y"')


def test_before_4_5_no_id_is_forced_on_a_file_and_no_other_version() -> None:
    before = text(code(["a"]), code(["b"]), minor=2)
    sheet = read(before, PATH)
    assert len({cell.id for cell in sheet.cells}) == 2
    more = replace(with_cell(sheet, 0, source="c"), cells=(*sheet.cells[1:], SheetCell(id=CellId("new"), source="d")))
    written = json.loads(write(more, PATH, before))
    assert written["nbformat_minor"] == 2
    assert [(cell["source"], "id" in cell) for cell in written["cells"]] == [(["b"], False), (["d"], False)]
    nbformat().validate(nbformat().from_dict(written))


def test_an_id_that_stands_twice_is_another_for_the_second_and_written_once_that_cell_changes() -> None:
    before = text(code("a", id="same"), code("b", id="same"), code("c", id=...))
    sheet = read(before, PATH)
    assert sheet.cells[0].id == "same" and len({cell.id for cell in sheet.cells}) == 3
    assert write(sheet, PATH, before) == before
    changed = with_cell(sheet, 1, source="B")
    ids = [cell.get("id") for cell in json.loads(write(changed, PATH, before))["cells"]]
    assert ids == ["same", sheet.cells[1].id, None]


def test_lines_that_did_not_change_keep_their_escapes() -> None:
    before = text(code("SOURCE", id="a")).replace('"SOURCE"', '["\\u003ca>\\/\\n", "b\\n", "\\u003cc>"]')
    sheet = read(before, PATH)
    assert sheet.cells[0].source == "<a>/\nb\n<c>"
    after = write(with_cell(sheet, 0, source="<c>\n<a>/\nB\n<c>"), PATH, before)
    assert '["<c>\\n", "\\u003ca>\\/\\n", "B\\n", "\\u003cc>"]' in after


def test_numbers_keep_their_spelling_and_the_others_theirs() -> None:
    before = text(code("a", id="a", metadata={"x": "X"})).replace('"X"', "[1e0, 1.0, 1E+2, -0]")
    sheet = read(before, PATH)
    assert '"x": [1e0, 1.0, 1E+2, -0]' in write(with_cell(sheet, 0, source="b"), PATH, before)
    changed = with_cell(sheet, 0, metadata={"x": [1.0, 1, 100.0, 0]})
    assert '"x": [1e0, 1, 1E+2, -0]' in write(changed, PATH, before), "1 is not 1.0"


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


def test_of_two_members_with_one_key_the_last_counts_and_is_the_one_that_changes() -> None:
    cell = '{"cell_type": "code", "id": "a", "metadata": {}, "source": "first", "source": "last", "outputs": []}'
    before = f'{{"nbformat": 4, "cells": 11, "nbformat_minor": 5, "cells": [{cell}], "metadata": {{}}}}'
    sheet = read(before, PATH)
    assert sheet.cells[0].source == "last"
    assert write(with_cell(sheet, 0, source="new"), PATH, before) == before.replace('"last"', '"new"')


def test_a_newer_minor_version_is_read_with_all_that_it_knows_more() -> None:
    chart = {"cell_type": "chart", "id": "a", "metadata": {}, "spec": {"x": 1}}
    before = text(chart, code("x", id="b", outputs=[{"output_type": "hologram", "text": ["a"]}]), minor=9)
    sheet = read(before, PATH)
    assert write(sheet, PATH, before) == before
    after = write(with_cell(sheet, 1, source="y"), PATH, before)
    assert after == before.replace('"source": "x"', '"source": "y"')
    assert json.loads(write(sheet, PATH, None))["cells"][0]["cell_type"] == "chart"


def test_an_empty_file_of_cells_takes_the_first_cell_in_its_own_manner() -> None:
    for indent in (None, 0, 1, 3, "\t"):
        before = json.dumps(notebook(), indent=indent)
        sheet = Sheet(cells=(SheetCell(id=CellId("a"), source="a\nb"),))
        cell = code(["a\n", "b"]) | {"id": "a"}
        expected = json.dumps(notebook({key: cell[key] for key in sorted(cell)}), indent=indent)
        assert write(sheet, PATH, before) == expected


def test_what_nbformat_calls_transient_is_not_written_into_a_new_file() -> None:
    before = text(code(id="a", metadata={"trusted": True}), metadata={"signature": "sha", "orig_nbformat": 3})
    sheet = read(before, PATH)
    assert write(sheet, PATH, before) == before
    written = json.loads(write(sheet, PATH, None))
    assert (written["metadata"], written["cells"][0]["metadata"]) == ({}, {})


def test_ten_thousand_cells_are_no_more_than_many() -> None:
    before = text(*(code(f"x = {number}", id=f"c{number}") for number in range(10_000)))
    sheet = read(before, PATH)
    after = write(with_cell(sheet, 5_000, source="y"), PATH, before)
    assert after == before.replace('"x = 5000"', '"y"')


# Nbformat 3.

V3: dict[str, Any] = {
    "metadata": {"name": "old", "signature": "sha256:1", "kernel": "k"},
    "nbformat": 3,
    "nbformat_minor": 0,
    "orig_nbformat": 2,
    "worksheets": [
        {
            "metadata": {},
            "cells": [
                {"cell_type": "heading", "level": 2, "metadata": {}, "source": ["Two\n", "lines"]},
                {"cell_type": "heading", "metadata": {}, "source": "One"},
                {"cell_type": "markdown", "metadata": {"trusted": True}, "source": ["no", "line ends"]},
                {"cell_type": "raw", "source": "raw"},
                {"cell_type": "html", "metadata": {}, "source": "<b>"},
                {
                    "cell_type": "code",
                    "collapsed": False,
                    "input": ["a = 1\n", "a"],
                    "language": "python",
                    "metadata": {},
                    "prompt_number": 7,
                    "outputs": [
                        {
                            "output_type": "pyout",
                            "prompt_number": 7,
                            "metadata": {"png": {"width": 1}},
                            "text": ["1\n", "2"],
                            "png": "iVBO",
                            "html": ["<b>", "</b>"],
                            "json": '{"a": [1]}',
                        },
                        {"output_type": "display_data", "metadata": {}, "svg": ["<svg>\n", "</svg>"], "latex": "$x$"},
                        {"output_type": "display_data", "javascript": ["a"], "jpeg": "x", "application/x": "y"},
                        {"output_type": "stream", "stream": "stderr", "text": ["oops\n"]},
                        {"output_type": "stream", "text": "out"},
                        {"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["\u001b[0;31m"]},
                    ],
                },
            ],
        },
        {"cells": [{"cell_type": "code", "input": [], "language": "python", "metadata": {"k": 1}, "outputs": []}]},
    ],
}


def test_nbformat_3_is_brought_up_to_date_as_nbformat_does_it() -> None:
    before = json.dumps(V3)
    theirs = json.loads(nbformat().writes(nbformat().reads(before, as_version=4)))
    ours = json.loads(write(read(before, PATH), PATH, None))
    for number, cell in enumerate(theirs["cells"]):
        cell["id"] = ours["cells"][number]["id"]
    assert ours == theirs
    nbformat().validate(nbformat().from_dict(ours))


@pytest.mark.generated
@given(notebooks(unknown=False), styles())
def test_what_nbformat_writes_as_3_reads_as_nbformat_reads_it(fields: dict[str, Any], style: Style) -> None:
    node = nbformat().reads(json.dumps(fields), as_version=4)
    for cell in node.cells:
        # Only version 4 knows outputs of these types, and names nobody gave to metadata then.
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.output_type in ("stream", "error")]
    before = style.dumps(nbformat().convert(node, 3))
    theirs = json.loads(nbformat().writes(nbformat().reads(before, as_version=4)))
    sheet = read(before, PATH)
    ours = json.loads(write(sheet, PATH, None))
    assert [cell | {"id": ""} for cell in ours["cells"]] == [cell | {"id": ""} for cell in theirs["cells"]]
    assert write(sheet, PATH, before) == before


def test_nbformat_3_stays_as_it_is_until_something_changes() -> None:
    before = json.dumps(V3, indent=2) + "\n"
    sheet = read(before, PATH)
    assert write(sheet, PATH, before) == before
    after = write(with_cell(sheet, 0, source="## New"), PATH, before)
    assert after.startswith('{\n  "cells": [') and after.endswith("}\n")
    assert json.loads(after)["nbformat"] == 4
    assert read(after, PATH).cells[0].source == "## New"


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
