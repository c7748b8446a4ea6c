"""What only Jupytext reads: other languages' scripts, its Markdown, MyST and R Markdown, through the real Jupytext."""

from __future__ import annotations

import logging
import subprocess
import sys
import warnings
from typing import Any, cast

import jupytext  # pyright: ignore[reportMissingTypeStubs]
import msgspec
import pytest

from quire.core.errors import BadInput, Unavailable
from quire.core.events import CellKind
from quire.core.sheet.sheet import Sheet, SheetCell, with_ids
from quire.formats import registry
from quire.formats.percent import jupytext as bridge

Seen = tuple[str, str, tuple[str, ...]]


def cell(source: str = "", kind: CellKind = "code", **fields: Any) -> SheetCell:
    return SheetCell(id=fields.pop("id", ""), kind=kind, source=source, **fields)


def sheet_of(*cells: SheetCell, **metadata: Any) -> Sheet:
    return Sheet(cells=with_ids(cells), metadata=metadata)


def seen(sheet: Sheet) -> list[Seen]:
    return [(each.kind, each.source, each.tags) for each in sheet.cells]


def edited(sheet: Sheet, index: int, source: str) -> Sheet:
    cells = list(sheet.cells)
    cells[index] = msgspec.structs.replace(cells[index], source=source)
    return msgspec.structs.replace(sheet, cells=tuple(cells))


MARKDOWN = """\
---
jupyter:
  jupytext:
    text_representation:
      extension: .md
      format_name: markdown
      format_version: '1.3'
      jupytext_version: 1.19.1
  kernelspec:
    display_name: Python 3
    language: python
    name: python3
---

# Title

```python tags=["a"]
x = 1
```

The end.
"""
MYST = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  name: python3
---

# Title

```{code-cell} ipython3
:tags: [a]
x = 1
```

The end.
"""
RMD = """\
---
title: Report
output: html_document
---

# Title

```{r plot, fig.width=5, tags=c("a")}
plot(1)
```

The end.
"""
FILES: dict[str, tuple[str, str, list[Seen]]] = {
    "R": ("a.R", "# %% [markdown]\n# # Title\n\n# %%\nx <- 1\n", [("markdown", "# Title", ()), ("code", "x <- 1", ())]),
    "small r": ("a.r", "# %%\nx <- 1\n", [("code", "x <- 1", ())]),
    "spin": ("a.R", "#' # Title\n#'\n#' text\nx <- 1\n", [("markdown", "# Title\n\ntext", ()), ("code", "x <- 1", ())]),
    "Julia": (
        "a.jl",
        '# %% tags=["a"]\nx = 1\n\n\n\n\n# %%\ny\n',
        [("code", "x = 1\n\n\n", ("a",)), ("code", "y", ())],
    ),
    "a script without markers": ("a.jl", "x = 1\n\ny = 2\n", [("code", "x = 1\n\ny = 2", ())]),
    "shell": ("a.sh", "#!/bin/sh\n# %%\nls\n# %% [raw]\n# text\n", [("code", "ls", ()), ("raw", "text", ())]),
    "TypeScript": ("a.ts", "// %% [markdown]\n// a\n\n// %%\nlet x\n", [("markdown", "a", ()), ("code", "let x", ())]),
    "JavaScript": ("a.js", "// %%\nlet x\n", [("code", "let x", ())]),
    "Scala": ("a.scala", "// %%\nval x = 1\n", [("code", "val x = 1", ())]),
    "MATLAB": ("a.m", "% %% [markdown]\n% a\n\n% %%\nx = 1\n", [("markdown", "a", ()), ("code", "x = 1", ())]),
    "C#": ("a.cs", "// %%\nvar x = 1;\n", [("code", "var x = 1;", ())]),
    "F#": ("a.fs", "// %%\nlet x = 1\n", [("code", "let x = 1", ())]),
    "PowerShell": ("a.ps1", "# %%\n$x = 1\n", [("code", "$x = 1", ())]),
    "Markdown": (
        "a.md",
        MARKDOWN,
        [("markdown", "# Title", ()), ("code", "x = 1", ("a",)), ("markdown", "The end.", ())],
    ),
    "MyST": ("a.md", MYST, [("markdown", "# Title", ()), ("code", "x = 1", ("a",)), ("markdown", "The end.", ())]),
    "R Markdown": (
        "a.Rmd",
        RMD,
        [
            ("raw", "---\ntitle: Report\noutput: html_document\n---", ()),
            ("markdown", "# Title", ()),
            ("code", "plot(1)", ("a",)),
            ("markdown", "The end.", ()),
        ],
    ),
    "Windows": ("a.R", "# %%\r\nx <- 1\r\n\r\n# %%\r\ny\r\n", [("code", "x <- 1", ()), ("code", "y", ())]),
}


@pytest.mark.parametrize(("path", "text", "expected"), FILES.values(), ids=FILES)
def test_cells_are_those_that_jupytext_finds(path: str, text: str, expected: list[Seen]) -> None:
    assert seen(registry.read(text, path)) == expected


@pytest.mark.parametrize(("path", "text", "expected"), FILES.values(), ids=FILES)
def test_a_notebook_that_did_not_change_leaves_every_byte(path: str, text: str, expected: list[Seen]) -> None:
    assert registry.write(registry.read(text, path), path, like=text) == text


@pytest.mark.parametrize(("path", "text", "expected"), FILES.values(), ids=FILES)
def test_an_edit_reads_back_with_the_other_cells_as_they_were(path: str, text: str, expected: list[Seen]) -> None:
    sheet = registry.read(text, path)
    new = registry.write(edited(sheet, -1, "changed"), path, like=text)
    assert seen(registry.read(new, path)) == [*expected[:-1], (expected[-1][0], "changed", expected[-1][2])]
    assert registry.read(new, path).language == sheet.language
    assert ("\r\n" in new) == ("\r\n" in text)


@pytest.mark.parametrize("path", ["a.R", "a.jl", "a.m", "a.ts"])
def test_blank_lines_behind_cells_that_did_not_change_stay(path: str) -> None:
    mark = {".m": "%", ".ts": "//"}.get(path[1:], "#")
    text = f"{mark} %%\nx\n\n\n{mark} %%\ny\n{mark} %%\nz\n"
    assert registry.write(edited(registry.read(text, path), 2, "zz"), path, like=text) == text.replace("z\n", "zz\n")


def test_what_jupytext_adds_by_itself_stays_out_of_the_metadata() -> None:
    assert registry.read("# %%\nx\n", "a.jl").metadata == {"jupytext": {"main_language": "julia"}}
    assert set(registry.read(MARKDOWN, "a.md").metadata) == {"kernelspec", "jupytext"}
    assert set(registry.read(MARKDOWN, "a.md").metadata["jupytext"]) == {"text_representation"}
    assert registry.read(RMD, "a.Rmd").language == "r"


@pytest.mark.parametrize(
    ("metadata", "header"),
    [
        ({}, ""),
        ({"language_info": {"name": "julia"}}, ""),
        (
            {"kernelspec": {"name": "julia-1.10", "display_name": "Julia", "language": "julia"}},
            "# ---\n# jupyter:\n#   kernelspec:\n#     display_name: Julia\n#     language: julia\n#     name: julia-1.10\n# ---\n\n",
        ),
        ({"quire": {"a": 1}}, "# ---\n# jupyter:\n#   quire:\n#     a: 1\n# ---\n\n"),
    ],
)
def test_a_header_is_written_when_there_is_something_to_say(metadata: dict[str, Any], header: str) -> None:
    assert registry.write(sheet_of(cell("x"), **metadata), "a.jl") == f"{header}# %%\nx\n"


def test_the_format_of_the_file_goes_on() -> None:
    """Edited MyST stays MyST, a spin script a spin script."""
    assert "{code-cell}" in registry.write(edited(registry.read(MYST, "a.md"), 0, "b"), "a.md", like=MYST)
    spin = "#' text\nx <- 1\n"
    assert registry.write(edited(registry.read(spin, "a.R"), 1, "y"), "a.R", like=spin).startswith("#' text")


# ---- Where Jupytext loses something

LOST = {
    "a marker in code": cell("x = 1\n# %%\n// %%\n% %%\ny"),
    "one blank line at the end": cell("x\n"),
    "blank lines only": cell("\n\n"),
    "a string that does not end": cell('s = """'),
    "a section of MATLAB's": cell("%% a section\nx"),
    "a marker in Markdown": cell("a\n%% b\n", "markdown"),
    "a marker at the top of Markdown": cell("%% b", "markdown"),
    "an open fence": cell("a\n\n```\nb", "markdown"),
    "an open fence in a raw cell": cell("~~~ a", "raw"),
    "a marker in a raw cell": cell("%% b\n\nc", "raw"),
    "SQL": cell("select 1", "sql"),
    "a prompt": cell("# Look", "prompt", tags=("a",)),
    "a name": cell("x", name="load", metadata={"slideshow": {"slide_type": "slide"}}),
}


@pytest.mark.parametrize("path", ["a.R", "a.jl", "a.sh", "a.m", "a.ts"])
@pytest.mark.parametrize("lost", LOST.values(), ids=LOST)
def test_a_cell_survives_in_a_script(lost: SheetCell, path: str) -> None:
    sheet = sheet_of(lost, cell("```\ntext\n```", "markdown"), lost, cell("z"), lost)
    text = registry.write(sheet, path)
    again = registry.read(text, path)
    assert [(*each, more.name, more.metadata) for each, more in zip(seen(again), again.cells, strict=True)] == [
        (*each, more.name, more.metadata) for each, more in zip(seen(sheet), sheet.cells, strict=True)
    ]
    assert registry.write(again, path, like=text) == text


def test_a_notebook_without_cells_is_an_empty_file() -> None:
    assert registry.write(sheet_of(), "a.jl") == ""
    assert registry.read("", "a.jl").cells == ()


# ---- Faults


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.R", "# ---\n# jupyter:\n#   a: [\n# ---\n"),
        ("a.md", "---\njupyter: {\nkernelspec: [\n---\n"),
        ("a.jl", "# %% tags=5\nx\n"),
    ],
)
def test_what_jupytext_refuses_is_bad_input_with_the_path(path: str, text: str) -> None:
    with pytest.raises(BadInput, match=path):
        registry.read(text, path)


def test_quarto_is_needed_for_its_files() -> None:
    with pytest.raises(Unavailable, match=r"a\.qmd cannot be read: .*quarto"):
        registry.read("# Title\n", "a.qmd")


def test_a_file_that_looks_like_pandoc_starts_no_program() -> None:
    text = "---\nkernelspec:\n  name: python3\n  display_name: x\n---\n\n::: {.cell}\ntext\n:::\n"
    assert ":::" in "".join(each.source for each in registry.read(text, "a.md").cells)


def test_nothing_is_printed_and_nobody_is_warned(capsys: pytest.CaptureFixture[str]) -> None:
    handlers = list(logging.getLogger().handlers)
    odd = sheet_of(cell("---\n- a\n---", "raw"), cell("x", metadata={"a b": 1}), **registry.read(MYST, "a.md").metadata)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        registry.write(odd, "a.md", like=MYST)
    assert capsys.readouterr() == ("", "")
    assert logging.getLogger().handlers == handlers


def test_without_jupytext_the_message_names_what_to_install() -> None:
    code = "import sys\nsys.modules['jupytext'] = None\nfrom quire.core.errors import Unavailable\n"
    code += "from quire.formats import registry as formats\ntry:\n    formats.read('x', 'a.jl')\n"
    code += "except Unavailable as error:\n    sys.exit(str(error))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.stderr == "a.jl: only Jupytext can read it, and jupytext is not there. Install quire[formats].\n"


def test_jupytext_reads_what_is_written() -> None:
    sheet = sheet_of(
        cell("# Title", "markdown"), cell("x <- 1\n\ny", tags=("a",)), cell("%%bash\nls"), cell("r", "raw")
    )
    notebook = cast("Any", jupytext).reads(bridge.write(sheet, "a.R", None), "R:percent")
    assert [(each.cell_type, each.source, tuple(each.metadata.get("tags", ()))) for each in notebook.cells] == seen(
        sheet
    )
