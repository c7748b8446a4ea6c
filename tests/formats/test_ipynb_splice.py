"""An .ipynb that is written: what did not change keeps its bytes, and all of it is valid to nbformat."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from quire.core.ids import CellId
from quire.core.sheet.equality import same
from quire.core.sheet.sheet import Sheet, SheetCell
from quire.formats.ipynb.format import read, write

from ..conftest import examples
from .ipynb_texts import PATH, Style, code, nbformat, notebook, notebooks, styles, text, validated, values, with_cell


@pytest.mark.generated
@examples(40)
@given(notebooks(), styles())
def test_what_was_read_and_not_changed_is_written_byte_for_byte(fields: dict[str, Any], style: Style) -> None:
    written = style.dumps(fields)
    assert write(read(written, PATH), PATH, written) == written


@pytest.mark.generated
@examples(40)
@given(notebooks())
def test_a_sheet_written_anew_reads_as_it_was(fields: dict[str, Any]) -> None:
    sheet = read(json.dumps(fields), PATH)
    assert read(write(sheet, PATH, None), PATH) == sheet


@pytest.mark.generated
@examples(40)
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
@examples(40)
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
@examples(40)
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
@examples(40)
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


@pytest.mark.generated
@examples(40)
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
@examples(40)
@given(odd_sheets(), odd_sheets())
def test_odd_metadata_that_changes_in_a_file_is_valid_too(old: Sheet, new: Sheet) -> None:
    written = write(new, PATH, write(old, PATH, None))
    validated(written)
    assert read(written, PATH) == new


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
