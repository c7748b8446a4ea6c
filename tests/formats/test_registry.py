"""All formats together: what one writes, itself and the others read, and Jupyter's own tools too.

docs/reference/formats.md lists what a format cannot carry. The exceptions below are that
list, and nothing else may be lost.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, cast

import jupytext  # pyright: ignore[reportMissingTypeStubs]
import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quire.core.ids import CellId
from quire.core.params import parameters as params
from quire.core.sheet.sheet import Sheet, SheetCell, with_ids
from quire.formats import registry
from quire.formats.percent.cell_writer import LEFT_OUT

from ..conftest import examples
from ..corpus import IPYNB, NOTEBOOKS, UNKNOWN_FIELDS, for_each, huge_outputs, many_cells, text_of

NOTEBOOK_METADATA = ("jupytext", "kernel_info", "orphan", "tocdepth", "quire")
"""Of the notebook's metadata, what a script's header carries whatever it says."""


def sheet_of(path: Path) -> Sheet:
    return registry.read(text_of(path), str(path))


def is_python(sheet: Sheet) -> bool:
    return sheet.language == "python"


PYTHON = [path for path in IPYNB if is_python(sheet_of(path))]


# ---- Each format, to itself


@for_each(NOTEBOOKS)
def test_what_did_not_change_keeps_its_bytes(path: Path) -> None:
    """Also those that mark the order of bytes, as no file has to."""
    for text in (text_of(path), "\ufeff" + text_of(path)):
        assert registry.write(registry.read(text, str(path)), str(path), like=text) == text


@for_each(NOTEBOOKS)
def test_what_is_written_anew_reads_the_same(path: Path) -> None:
    sheet = sheet_of(path)
    again = registry.read(registry.write(sheet, str(path)), str(path))
    assert [content(cell) for cell in again.cells] == [content(cell) for cell in lowered(sheet, path.suffix).cells]


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".ipynb", ".py", ".md"])
def test_five_thousand_cells_keep_their_bytes(ending: str) -> None:
    sheet = registry.read(many_cells(5000), "many.ipynb")
    text = registry.write(sheet, f"many{ending}")
    again = registry.read(text, f"many{ending}")
    assert [content(cell) for cell in again.cells] == [content(cell) for cell in sheet.cells]
    assert registry.write(again, f"many{ending}", like=text) == text


def test_huge_outputs_keep_their_bytes() -> None:
    text = huge_outputs()
    assert registry.write(registry.read(text, "huge.ipynb"), "huge.ipynb", like=text) == text


# ---- From one to another and back


def content(cell: SheetCell) -> tuple[Any, ...]:
    """What every format carries."""
    return cell.kind, cell.source, cell.tags, cell.name, cell.metadata


def lowered(sheet: Sheet, ending: str) -> Sheet:
    """A sheet without what a format cannot carry."""
    if ending.lower() not in registry.LANGUAGES:
        return replace(sheet, cells=tuple(_untrusted(cell) for cell in sheet.cells))
    jupytext: Any = sheet.metadata.get("jupytext", {})
    drops_all = jupytext.get("cell_metadata_filter") == "-all"
    return replace(sheet, cells=tuple(_lowered(cell, drops_all=drops_all) for cell in sheet.cells))


def _untrusted(cell: SheetCell) -> SheetCell:
    """Nobody writes into a file that it can be trusted: Jupyter does not, either."""
    return replace(cell, metadata={key: value for key, value in cell.metadata.items() if key != "trusted"})


def _lowered(cell: SheetCell, *, drops_all: bool) -> SheetCell:
    metadata = {key: value for key, value in cell.metadata.items() if key not in LEFT_OUT}
    cell = replace(cell, source=cell.source.replace("\r\n", "\n").replace("\r", "\n"), metadata=metadata)
    return replace(cell, metadata={}, name=None, tags=()) if drops_all else cell


def parameters(sheet: Sheet) -> list[params.Parameter]:
    """What a notebook takes, whatever the id of the cell that says so."""
    return [replace(parameter, cell=None) for parameter in params.declared(sheet)]


@for_each(IPYNB)
def test_a_notebook_survives_as_text_and_back(path: Path) -> None:
    sheet = sheet_of(path)
    script = (
        ".py"
        if is_python(sheet)
        else next(ending for ending, names in registry.LANGUAGES.items() if sheet.language in names)
    )
    for ending in (script, ".md"):
        text = registry.write(sheet, f"a{ending}")
        there = registry.read(text, f"a{ending}")
        back = registry.read(registry.write(there, "a.ipynb"), "a.ipynb")
        expected = lowered(sheet, ending)
        assert [content(cell) for cell in back.cells] == [content(cell) for cell in expected.cells]
        assert parameters(back) == parameters(expected)
        assert registry.write(there, f"a{ending}", like=text) == text


@for_each(IPYNB)
def test_markdown_carries_the_metadata_of_the_notebook_but_for_widgets(path: Path) -> None:
    sheet = sheet_of(path)
    back = registry.read(registry.write(sheet, "a.md"), "a.md")
    kept = {key: value for key, value in sheet.metadata.items() if key != "widgets"}
    assert without_layout(back.metadata) == without_layout(kept)


@for_each(PYTHON)
def test_a_script_carries_the_metadata_of_the_notebook_that_an_author_wrote(path: Path) -> None:
    sheet = sheet_of(path)
    back = registry.read(registry.write(sheet, "a.py"), "a.py")
    kept, wanted = without_layout(back.metadata), without_layout(sheet.metadata)
    assert {key: kept.get(key) for key in NOTEBOOK_METADATA} == {key: wanted.get(key) for key in NOTEBOOK_METADATA}


def without_layout(metadata: dict[str, Any]) -> dict[str, Any]:
    """Metadata without what Jupytext says of the file that it was in: the next file is another."""
    jupytext: Any = metadata.get("jupytext")
    if jupytext is None:
        return metadata
    layout = ("main_language", "text_representation")
    return metadata | {"jupytext": {key: value for key, value in jupytext.items() if key not in layout}}


# ---- Jupyter's own tools


@for_each(NOTEBOOKS)
def test_nbformat_validates_every_ipynb_that_is_written(path: Path) -> None:
    text = registry.write(sheet_of(path), "a.ipynb")
    node = cast("Any", nbformat).reads(text, as_version=4)
    cast("Any", nbformat).validate(node, relax_add_props=path.name in UNKNOWN_FIELDS)
    assert node.nbformat == 4


def as_jupytext_sees(cell: SheetCell) -> tuple[str, str, tuple[str, ...]]:
    """Kind, source and tags of a cell in Jupytext's words."""
    kind = {"sql": "code", "prompt": "code"}.get(cell.kind, cell.kind)
    return kind, as_lines(cell.source), cell.tags


def as_lines(source: str) -> str:
    """Jupytext ends a line wherever Python's `splitlines` does, and drops blank lines at the end of a cell."""
    lines = source.splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines)


def of_node(cell: Any) -> tuple[str, str, tuple[str, ...]]:
    return cell.cell_type, as_lines(cell.source), tuple(cell.metadata.get("tags", ()))


def read_by_jupytext(text: str, format: str) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cast("Any", jupytext).reads(text, format).cells


def written_by_jupytext(path: Path, format: str) -> str:
    with warnings.catch_warnings():
        # Ids used twice, and the like.
        warnings.simplefilter("ignore")
        node = cast("Any", nbformat).reads(text_of(path), as_version=4)
        return cast("Any", jupytext).writes(node, format)


@for_each(PYTHON)
def test_jupytext_reads_what_is_written(path: Path) -> None:
    sheet = lowered(sheet_of(path), ".py")
    seen = [of_node(cell) for cell in read_by_jupytext(registry.write(sheet, "a.py"), "py:percent")]
    wanted = [as_jupytext_sees(cell) for cell in sheet.cells]
    for number, cell in enumerate(sheet.cells):
        if cell.kind in ("sql", "prompt"):
            # To Jupytext it is code, all of it comments.
            assert "\n".join(uncommented(line) for line in seen[number][1].split("\n")) == wanted[number][1]
            seen[number] = wanted[number]
    assert seen == wanted


def uncommented(line: str) -> str:
    return line.removeprefix("#").removeprefix(" ")


@for_each(PYTHON)
def test_what_jupytext_writes_is_read_as_jupytext_reads_it(path: Path) -> None:
    text = written_by_jupytext(path, "py:percent")
    sheet = registry.read(text, "a.py")
    assert [(c.kind, c.source, c.tags) for c in sheet.cells] == [
        (c.cell_type, c.source, tuple(c.metadata.get("tags", ()))) for c in read_by_jupytext(text, "py:percent")
    ]
    assert registry.write(sheet, "a.py", like=text) == text


@pytest.mark.parametrize("format", ["md", "md:myst", "Rmd"])
@pytest.mark.parametrize("name", ["simulation", "papermill", "r", "unicode", "latex"])
def test_what_jupytext_writes_as_markdown_is_read_as_jupytext_reads_it(name: str, format: str) -> None:
    text = written_by_jupytext(next(path for path in IPYNB if path.stem == name), format)
    file = f"a.{format.partition(':')[0]}"
    sheet = registry.read(text, file)
    assert [(c.kind, c.source, c.tags) for c in sheet.cells] == [
        (c.cell_type, c.source, tuple(c.metadata.get("tags", ()))) for c in read_by_jupytext(text, format)
    ]
    assert registry.write(sheet, file, like=text) == text


# ---- Generated

LINES = [
    *(
        "",
        "x = 1",
        "# %%",
        "# %% [markdown]",
        "%matplotlib inline",
        "!ls",
        '"""',
        "```",
        "```python",
        "# text",
        "---",
    ),
    *("    indented", "<!-- #region -->", "<!-- #endregion -->", "Results:", "{month}", "\\", "é 😀", "%%sql", "# + x"),
]
sources = st.lists(st.sampled_from(LINES), max_size=6).map("\n".join)
metadata: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["slideshow", "title", "x-y", "a b"]),
    st.sampled_from(
        [True, None, 1.5, "text", 'q"uote', ["a", {"b": []}], {"slide_type": "slide"}, "-->", "[markdown]"]
    ),
    max_size=2,
)
cells = st.builds(
    SheetCell,
    id=st.just(CellId("")),
    kind=st.sampled_from(["code", "markdown", "raw", "sql", "prompt"]),
    source=sources,
    name=st.sampled_from([None, "load", 'a "name"', "ünï"]),
    tags=st.lists(st.sampled_from(["parameters", "a b", 'q"', "hide-input"]), max_size=2, unique=True).map(tuple),
    metadata=metadata,
)
sheets = st.lists(cells, max_size=5).map(lambda made: Sheet(cells=with_ids(made)))


@pytest.mark.generated
@pytest.mark.parametrize("ending", [".ipynb", ".py", ".md"])
@examples(40)
@given(sheet=sheets)
def test_any_sheet_survives_in_every_format(ending: str, sheet: Sheet) -> None:
    text = registry.write(sheet, f"a{ending}")
    again = registry.read(text, f"a{ending}")
    assert [content(cell) for cell in again.cells] == [content(cell) for cell in sheet.cells]
    assert registry.write(again, f"a{ending}", like=text) == text


@pytest.mark.generated
@examples(40)
@given(sheet=sheets)
def test_any_sheet_survives_a_journey_through_all_formats(sheet: Sheet) -> None:
    for ending in (".ipynb", ".py", ".md", ".py", ".ipynb", ".md", ".ipynb"):
        travelled = registry.read(registry.write(sheet, f"a{ending}"), f"a{ending}")
        assert [content(cell) for cell in travelled.cells] == [content(cell) for cell in sheet.cells]
        sheet = travelled


@pytest.mark.generated
@given(sheet=sheets)
def test_jupytext_finds_the_same_cells_in_any_script(sheet: Sheet) -> None:
    seen = read_by_jupytext(registry.write(sheet, "a.py"), "py:percent")
    plain = [(of_node(node), as_jupytext_sees(cell)) for node, cell in zip(seen, sheet.cells, strict=True)]
    for (node, wanted), cell in zip(plain, sheet.cells, strict=True):
        if cell.kind not in ("sql", "prompt"):
            assert node == wanted


@pytest.mark.generated
@given(sheet=sheets)
def test_nbformat_validates_any_sheet(sheet: Sheet) -> None:
    node = cast("Any", nbformat).reads(registry.write(sheet, "a.ipynb"), as_version=4)
    cast("Any", nbformat).validate(node)
