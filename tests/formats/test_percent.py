"""Percent scripts, held to the real Jupytext: what it reads we read, and what we write it reads, cell for cell.

Where we differ on purpose, the test says so: see "Where Jupytext loses something" and
"Where a file means something else to us".
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from typing import Any, cast

import jupytext  # pyright: ignore[reportMissingTypeStubs]
import msgspec
import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.core.events import CellKind
from quire.core.sheet.sheet import Sheet, SheetCell, with_ids
from quire.formats.percent import format as percent
from quire.formats.percent.cell_writer import LEFT_OUT

PATH = "notebooks/sales.py"
LAYOUT = ("lines_to_next_cell", "cell_marker")
Seen = tuple[str, str, dict[str, Any]]


def cell(source: str = "", kind: CellKind = "code", **fields: Any) -> SheetCell:
    return SheetCell(id=fields.pop("id", ""), kind=kind, source=source, **fields)


def sheet_of(*cells: SheetCell, **metadata: Any) -> Sheet:
    return Sheet(cells=with_ids(cells), metadata=metadata)


def seen(sheet: Sheet) -> list[Seen]:
    """Kind, source and metadata of each cell, tags and name among it."""
    return [_seen(each) for each in sheet.cells]


def _seen(each: SheetCell) -> Seen:
    named: dict[str, Any] = {"name": each.name} if each.name else {}
    tagged: dict[str, Any] = {"tags": list(each.tags)} if each.tags else {}
    return each.kind, each.source, each.metadata | named | tagged


def read_by_jupytext(text: str) -> list[Seen]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        notebook = cast("Any", jupytext).reads(text, "py:percent")
    return [(each.cell_type, each.source, plain(each.metadata)) for each in notebook.cells]


def plain(metadata: Any) -> dict[str, Any]:
    """Metadata as plain values, without the layout of the file."""
    values = json.loads(json.dumps(metadata))
    return {key: value for key, value in values.items() if key not in LAYOUT and (key, value) != ("tags", [])}


def written_by_jupytext(sheet: Sheet) -> str:
    makers = {"code": "new_code_cell", "markdown": "new_markdown_cell", "raw": "new_raw_cell"}
    cells = [getattr(nbformat.v4, makers[kind])(source, metadata=metadata) for kind, source, metadata in seen(sheet)]
    metadata = {"jupytext": {"notebook_metadata_filter": "-all"}, **sheet.metadata}
    notebook = cast("Any", nbformat).v4.new_notebook(cells=cells, metadata=metadata)
    return cast("Any", jupytext).writes(notebook, "py:percent")


def read(text: str) -> Sheet:
    return percent.read(text, PATH)


def write(sheet: Sheet, like: str | None = None) -> str:
    return percent.write(sheet, PATH, like)


# ---- As Jupytext reads it

SNIPPETS = {
    "nothing": "",
    "one blank line": "\n",
    "blank lines": "\n\n\n",
    "a plain script": "import os\n\n\ndef main():\n    pass\n\n\nmain()\n",
    "no final newline": "# %%\nx = 1",
    "text before the first marker": "import os\n\n# %%\nx = 1\n",
    "a comment before the first marker": "# About\n#\n# this\n\n# %%\nx = 1\n",
    "marker without a blank": "#%%\nx = 1\n#%% Title\ny = 2\n",
    "marker with many blanks": "#   %%   A   title  \nx\n",
    "marker of a notebook exported": "# In[1]:\nx\n\n# In[ ]:\ny\n# <codecell>\nz\n",
    "indented marker": "if x:\n    # %%\n    y = 1\n    # %% [markdown]\n    # text\n",
    "no marker: no blank after it": "# %%x\n# %%%\n# %%time\ny = 1\n",
    "title": "# %% A title\nx = 1\n",
    "title and metadata": '# %% A title tags=["a", "b"] x=1\nx = 1\n',
    "sub cells": "# %%% Sub\nx\n\n# %%%% Deeper [markdown]\n# text\n",
    "markdown": "# %% [markdown]\n# # Title\n#\n# text\n",
    "md": "# %% [md]\n# text\n",
    "markdown with a title": "# %% Title [markdown]\n# text\n",
    "kind first": "# %% [markdown] Title\n# text\n",
    "markdown without comments": "# %% [markdown]\ntext\n  more\n",
    "markdown comments without blank": "# %% [markdown]\n#text\n##\n",
    "markdown in triple quotes": '# %% [markdown]\n"""\n# Title\n\n# %% no cell\n"""\n\n# %%\nx\n',
    "markdown in single triple quotes": "# %% [markdown]\n'''\ntext\n'''\n",
    "markdown in raw quotes": "# %% [markdown]\nr\"\"\"\n$\\alpha$\n\"\"\"\n# %% [markdown]\nR'''\\'''\n",
    "markdown in quotes on a line": '# %% [markdown]\n"""text"""\n',
    "quotes with blank lines around": '# %% [markdown]\n\n"""\n\ntext\n\n\n"""\n\n',
    "empty quotes": '# %% [markdown]\n""""""\n# %% [markdown]\n""" """\n',
    "quotes that are not all": '# %% [markdown]\n"""a""" b\n',
    "a heading that looks like a magic": "# %% [markdown]\n# # Why?\n# ## ls files\n# # !so\n# !so\n# cd ..\n",
    "fence with markers in it": "# %% [markdown]\n# ```mermaid\n# %% a comment\n# ```\n\n# %%\nx\n",
    "fence that a later cell closes": "# %% [markdown]\n# ```\n# text\n\n# %%\nx\n\n# %% [markdown]\n# ```\n# y\n",
    "fence that nothing closes": "# %% [markdown]\n# ```\n# text\n\n# %%\nx\n",
    "fence of tildes": "# %% [markdown]\n# ~~~~\n# ```\n# ~~~\n# ~~~~~\n\n# %%\nx\n",
    "fence with a backtick in its label": "# %% [markdown]\n# ```a`b\n\n# %%\n# ```\n",
    "raw": "# %% [raw]\n# text\n\n# %% [raw]\ntext\n",
    "raw with metadata": '# %% [raw] raw_mimetype="text/latex"\n# \\begin{x}\n',
    "empty cells": "# %%\n\n# %%\n# %%\n\n\n# %% [markdown]\n\n# %% [raw]\n",
    "blank lines at the end of cells": "# %%\nx\n\n\n# %%\ny\n\n\n\n# %%\nz\n\n\n\n\n",
    "lines of blanks": "# %%\nx\n  \n# %%\ny\n \n \n# %%\n \n",
    "blank lines first": "# %%\n\n\nx\n",
    "magics": "# %%\n# %matplotlib inline\n# !ls\n# %%time\n# ?print\n# print?\n# files = !ls\n# t = %time x\n",
    "magics without comments": "# %%\n%matplotlib inline\n!ls\nprint?\nx = !ls\n",
    "magics commented twice": "# %%\n# # %matplotlib inline\n## !ls\n# # # cd ..\n",
    "indented magics": "# %%\nif x:\n    # %time y\n    # !ls\n    # y = !ls\n",
    "bare commands": "# %%\n# cd ..\n# ls\n# cat = 1\n# mv a b\n# rm, x\n# echo\n",
    "noescape": "# %%\n# %load x # noescape\n%load y # noescape\n# %load z # escape\n",
    "continued magics": "# %%\n# !ls \\\n#   -l \\\n# # x\n# y = 1\n",
    "magics in a string": '# %%\ns = """\n# %magic\n# %% no cell\n"""\n# %magic\n',
    "a string that does not end": '# %%\ns = """\n# %%\nx\n',
    "quotes in comments": "# %%\n# don't \"\"\"\nx = 'it' # '''\n\n# %%\ny\n",
    "escaped quotes": '# %%\nx = "\\"\\"\\""\ny = \'\\\'\n# %%\nz\n',
    "four quotes": '# %%\nx = """"a"""\n# %%\ny = ""\n# %%\nz\n',
    "light markers": "# %%\n# + x\n# # + x\n## +\n##+ y\n",
    "bash": '# %% language="bash"\n# ls\n#\n# # comment\n# %%\nx\n',
    "language with arguments": '# %% language="sql" magic_args="sqlite:// -x"\n# select 1\n',
    "empty arguments": '# %% language="bash" magic_args=""\n# ls\n',
    "language python": '# %% language="python"\nx = 1\n# %% language="Python"\n# y\n',
    "unknown language": '# %% language="nolang"\n# text\n# %% language="R"\n# \'\'\'\n# %%\nx\n',
    "quotes in another language": "# %% language=\"sql\"\n# select ''' x\n# %%\nx\n",
    "language of a markdown cell": '# %% [markdown] language="bash"\n# text\n',
    "active": '# %% active="ipynb"\n# x = 1\n# %% active="py"\nx = 2\n# %m\n# %% active=""\n# x\n# %% active="ipynb,py"\nx\n',
    "inactive code in quotes": '# %% active="ipynb"\n"""\nx = 1\n"""\n',
    "raw cells and active": '# %% [raw] active="py"\n# x\n# %% active="py" language="bash"\n# x\n',
    "active tags": '# %% tags=["active-ipynb"]\n# x\n# %% tags=["active-py"]\nx\n# %% tags=["active-py-ipynb"]\nx\n',
    "frozen": '# %% run_control={"frozen": true}\n# x = 1\n',
    "cell type": '# %% cell_type="markdown"\n# text\n# %% cell_type="x"\n# ```\n# %% cell_type="code"\nx\n# ```\n',
    "json metadata": '# %% {"tags": ["a"], "x": {"y": null}}\nx\n# %% Title [markdown] {"a": 1}\n# x\n',
    "values": '# %% a=1 b=-1.5 c=true d=null e="x = 1" f=[1, {"g": "="}] h=\'py\' i=(1, 2) j=None k={"l": 1}\nx\n',
    "flags": "# %% .class\nx\n# %% a=1 flag\nx\n# %% Title .class b=2 .other\nx\n",
    "names of values": "# %% a.b=1 c/d=2 e@f=3 g-h=4 0=5\nx\n",
    "the same name twice": "# %% a=1 a=2\nx\n# %% a=1 a\nx\n",
    "broken metadata": '# %% a=\nx\n# %% a=b\nx\n# %% {"a": \nx\n# %% T a=" b=1\nx\n# %% --x\n',
    "name": '# %% name="load"\nx\n',
    "unicode": "# %% Größe [markdown]\n# 😀 x\n# %%\nπ = 'é'\n",
    "a script for uv": '# /// script\n# dependencies = ["httpx"]\n# ///\n\n# %%\nimport httpx\n',
    "shebang": "#!/usr/bin/env python\n# %%\nx\n",
    "shebang and encoding": "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n\n# %%\nx\n",
    "encoding": "# coding: utf-8\nx = 1\n",
    "header": "# ---\n# jupyter:\n#   kernelspec:\n#     name: python3\n#     display_name: x\n# ---\n\n# %%\nx\n",
    "header and other names": "# ---\n# title: x\n# jupyter:\n#   a: 1\n# tags: [1]\n# ---\n# %%\nx\n",
    "only other names": "# ---\n# title: x\n# ---\n#\n# %%\nx\n",
    "blank comments above the header": "#\n# ---\n# title: x\n# ---\n\nx\n",
    "a rule that is no header": "# ---\n# About this script\n\nx = 1\n",
    "two rules": "# ---\n# A box\n# ---\nx = 1\n",
    "comment_magics": "# ---\n# jupyter:\n#   jupytext:\n#     comment_magics: false\n# ---\n\n# %%\n# %x\n%y\n# # + z\n",
    "hydrogen": "# ---\n# jupyter:\n#   jupytext:\n#     text_representation:\n#       extension: .py\n"
    "#       format_name: hydrogen\n# ---\n\n# %%\n# %x\n%%bash\nls\n",
    "custom magics": "# ---\n# jupyter:\n#   jupytext:\n#     custom_cell_magics: kql,foo\n# ---\n"
    '\n# %% language="kql"\n# table\n# %% language="foo" magic_args="x"\n# y\n',
    "a line that is only a mark": "# %% [markdown]\n#\n# %%\n#\n",
    "windows": "# %% [markdown]\r\n# a\r\n#\r\n\r\n# %%\r\nx = 1\r\n",
    "line ends of all sorts": "# %%\nx\r\n# %%\ry\r\r\n# %%\n",
}


@pytest.mark.parametrize("text", SNIPPETS.values(), ids=SNIPPETS)
def test_cells_are_those_that_jupytext_finds(text: str) -> None:
    assert seen(read(text)) == read_by_jupytext(text)


@pytest.mark.parametrize("text", SNIPPETS.values(), ids=SNIPPETS)
def test_a_notebook_that_did_not_change_leaves_every_byte(text: str) -> None:
    assert write(read(text), like=text) == text


@pytest.mark.parametrize("text", SNIPPETS.values(), ids=SNIPPETS)
def test_a_notebook_written_anew_is_the_same_to_us_and_to_jupytext(text: str) -> None:
    sheet = read(text)
    again = write(sheet)
    assert seen(read(again)) == seen(sheet)
    assert [each[:2] for each in _as_jupytext_reads(again)] == [each[:2] for each in seen(sheet)]


def _as_jupytext_reads(text: str) -> list[Seen]:
    """What Jupytext reads, with the ends of cells that only Quire puts back."""
    return [
        (kind, source + metadata.get("quire.end", ""), metadata) for kind, source, metadata in read_by_jupytext(text)
    ]


OURS: list[tuple[str, list[Seen]]] = [
    ("# %% [sql]\n# select 1\n# -- %m\n", [("sql", "select 1\n-- %m", {})]),
    (
        '# %% Top ten [sql] tags=["x"] name="top"\n# a\n',
        [("sql", "a", {"title": "Top ten", "name": "top", "tags": ["x"]})],
    ),
    ("# %% [prompt]\n# # Why?\n#\n# ```\n", [("prompt", "# Why?\n\n```", {})]),
    (
        '# %% [prompt]\n"""\nLook at\n# %% this\n"""\n\n# %%\nx\n',
        [("prompt", "Look at\n# %% this", {}), ("code", "x", {})],
    ),
    ("# %% about [sql] things\nx\n", [("code", "x", {"title": "about [sql] things"})]),
]


@pytest.mark.parametrize(("text", "expected"), OURS)
def test_sql_and_prompts_are_cells_of_their_own(text: str, expected: list[Seen]) -> None:
    sheet = read(text)
    assert seen(sheet) == expected
    assert len(read_by_jupytext(text)) == len(expected)
    assert write(sheet, like=text) == text
    assert seen(read(write(sheet))) == expected


# ---- The header


HEADER = """\
# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.1
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
#   quire:
#     parameters:
#       month: october
# ---

# %%
x = 1
"""


def test_what_stands_under_jupyter_is_the_metadata() -> None:
    sheet = read(HEADER)
    notebook = cast("Any", jupytext).reads(HEADER, "py:percent")
    assert sheet.metadata["kernelspec"] == notebook.metadata.kernelspec
    assert sheet.metadata["jupytext"]["formats"] == notebook.metadata.jupytext.formats
    assert sheet.ours == {"parameters": {"month": "october"}} == notebook.metadata.quire
    assert write(sheet) == HEADER


def test_top_lines_are_kept_in_the_metadata_and_written_without_a_header() -> None:
    text = "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n# %%\nx = 1\n"
    sheet = read(text)
    assert sheet.metadata == {"jupytext": {"executable": "/usr/bin/env python", "encoding": "# -*- coding: utf-8 -*-"}}
    assert write(sheet) == text


def test_other_names_than_jupyter_are_a_raw_cell_and_back_in_the_header() -> None:
    text = "# ---\n# title: Sales\n# jupyter:\n#   quire:\n#     a: 1\n# ---\n\n# %%\nx\n"
    sheet = read(text)
    assert seen(sheet)[0] == ("raw", "---\ntitle: Sales\n---", {})
    assert sheet.metadata == {"quire": {"a": 1}}
    assert write(sheet) == text


@pytest.mark.parametrize(
    "source", ["---\n---", "---\na\n---\n", "---\n\n---x", "---\na\n---\nb\n---", "---\njupyter:\n  a: 1\n---", "---"]
)
def test_a_raw_cell_that_no_header_can_carry_stays_a_cell(source: str) -> None:
    sheet = sheet_of(cell(source, "raw"), cell("x"))
    assert seen(read(write(sheet))) == seen(sheet)
    tagged = sheet_of(cell("---\na: 1\n---", "raw", tags=("x",)), cell("x"))
    assert seen(read(write(tagged))) == seen(tagged)


@pytest.mark.parametrize(
    ("metadata", "asks"),
    [
        ({}, False),
        ({"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}, False),
        ({"language_info": {"name": "python"}, "widgets": {}}, False),
        ({"jupytext": {"main_language": "python"}}, False),
        ({"jupytext": {"notebook_metadata_filter": "-all", "cell_metadata_filter": "-all"}}, False),
        ({"jupytext": {"text_representation": {"extension": ".md", "format_name": "markdown"}}}, False),
        ({"jupytext": {"formats": "ipynb,py"}}, True),
        ({"quire": {"parameters": {"a": 1}}}, True),
        ({"kernelspec": {"name": "venv", "display_name": "venv", "language": "python"}}, True),
        ({"quire": {"a": 1}, "jupytext": {"notebook_metadata_filter": "-all"}}, True),
    ],
)
def test_a_header_is_written_when_there_is_something_to_say(metadata: dict[str, Any], asks: bool) -> None:
    text = write(sheet_of(cell("x"), **metadata))
    assert text.startswith("# ---") == asks
    assert text.endswith("# %%\nx\n")
    said = read(text).metadata
    for key in ("quire", "kernelspec") if asks else ():
        assert said.get(key) == metadata.get(key)


def test_a_filter_in_the_header_says_which_metadata_is_written() -> None:
    metadata = {
        "jupytext": {"notebook_metadata_filter": "all,-widgets", "cell_metadata_filter": "tags,-all"},
        "a": 1,
        "widgets": 2,
    }
    back = read(write(sheet_of(cell("x", tags=("t",), name="n", metadata={"b": 1}), **metadata)))
    assert back.metadata == {key: value for key, value in metadata.items() if key != "widgets"}
    assert seen(back) == [("code", "x", {"tags": ["t"]})]


def test_quotes_for_markdown_can_be_asked_for() -> None:
    metadata = {"jupytext": {"cell_markers": '"""', "notebook_metadata_filter": "-all"}}
    sheet = sheet_of(cell("a\n$\\b$", "markdown"), cell('has """', "markdown"), **metadata)
    assert write(sheet) == '# %% [markdown]\nr"""\na\n$\\b$\n"""\n\n# %% [markdown]\n# has """\n'
    assert write(sheet_of(cell("a", "markdown"), **metadata)) == written_by_jupytext(
        sheet_of(cell("a", "markdown"), **metadata)
    )


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        ("# ---\n# jupyter:\n#   a: 1\n\nx = 1\n", 2, "has no end"),
        ("# ---\n# title: a\n# jupyter:\n#   a: [1\n# ---\n", 5, "not YAML"),
        ("#!/bin/python\n# ---\n# jupyter:\n#   a: 1\n#   a: 2\n# ---\n", 5, "twice"),
        ("# ---\n# jupyter:\n#   a: !!python/object:os.system 1\n# ---\n", 3, "tag"),
    ],
)
def test_a_broken_header_is_refused_with_its_line(text: str, line: int, fault: str) -> None:
    with pytest.raises(BadInput, match=f"{PATH}: line {line}: .*{fault}"):
        read(text)


def test_metadata_that_yaml_cannot_carry_is_refused() -> None:
    with pytest.raises(BadInput, match="cannot be written as YAML"):
        write(sheet_of(quire={"a": "\ud800"}))


# ---- As Jupytext writes it

ORDINARY = [
    *("import os", "", "x = 1", 'y = "a" # "', "def f():", "    return 1", "class A:", "@decorated", ")", "# comment"),
    *(
        "%matplotlib inline",
        "!ls",
        "x = %time 1",
        "print?",
        "cd ..",
        "%%time",
        "    ",
        's = """',
        '"""',
        "async def g():",
    ),
    *("%%bash\nls\n# x", "%%html\n<b>", "if x:\n    !ls"),
]
PROSE = ["# Title", "text", "", "- a", "```python\nx\n```", "$$x$$", "%magic", "!important", "### Sub", "  a"]
METADATA: list[dict[str, Any]] = [
    {},
    {"slideshow": {"slide_type": "slide"}},
    {"title": "T"},
    {"collapsed": True, "scrolled": False},
    {"cell_depth": 1, "title": "s"},
    {"a": "x=1", "editable": False},
]


def _drawn(lines: list[str], kinds: list[CellKind]) -> st.SearchStrategy[SheetCell]:
    return st.builds(
        cell,
        st.lists(st.sampled_from(lines), max_size=6).map("\n".join).map(lambda text: text.strip("\n")),
        st.sampled_from(kinds),
        tags=st.sampled_from([(), (), ("a",), ("a", "b c")]),
        name=st.sampled_from([None, None, "n"]),
        metadata=st.sampled_from(METADATA),
    )


@pytest.mark.generated
@given(st.lists(_drawn(ORDINARY, ["code"]) | _drawn(PROSE, ["markdown", "raw"]), max_size=5))
def test_what_jupytext_carries_is_written_as_jupytext_writes_it(cells: list[SheetCell]) -> None:
    sheet = sheet_of(*(msgspec.structs.replace(each, metadata=dict(sorted(each.metadata.items()))) for each in cells))
    # In the order that notebooks have it.
    ordered = [(kind, source, dict(sorted(metadata.items()))) for kind, source, metadata in seen(sheet)]
    text = written_by_jupytext(_plainly(ordered))
    if [each[:2] for each in read_by_jupytext(text)] == [each[:2] for each in ordered]:
        assert write(sheet) == text
    assert seen(read(write(sheet))) == [
        (kind, source, {key: value for key, value in metadata.items() if key not in LEFT_OUT})
        for kind, source, metadata in seen(sheet)
    ]


def _plainly(cells: list[Seen]) -> Sheet:
    return sheet_of(*(cell(source, cast("CellKind", kind), metadata=metadata) for kind, source, metadata in cells))


def test_functions_and_classes_stand_apart_as_pep_8_has_it() -> None:
    sheet = sheet_of(
        cell("x = 1"), cell("def f():\n    pass"), cell("y", "markdown"), cell("f()"), cell("class A:\n    pass")
    )
    assert write(sheet) == written_by_jupytext(sheet)
    assert write(sheet).count("\n\n\n") == 3


# ---- Where Jupytext loses something

LOST = {
    "a marker in code": cell("x = 1\n# %%\ny = 2"),
    "a marker in a file that is written": cell("%%writefile a.py\n# %% [markdown]\n# text"),
    "a marker in a shell script": cell("%%bash\necho\n%% x"),
    "a string that does not end": cell('s = """'),
    "quotes in another language": cell("%%sql\nselect '''"),
    "one blank line at the end": cell("x\n"),
    "blank lines at the end": cell("x\n\n \n"),
    "only blank lines": cell("\n\n"),
    "only blanks": cell("  "),
    "an indented magic assigned": cell("if x:\n    y = !ls"),
    "a comment for the light format": cell("# # + x"),
    "a magic that is Python": cell("%%python\nx = 1"),
    "a magic with a blank behind it": cell("%%bash \nls"),
    "a language without text": cell("%%bash"),
    "a heading that looks like a magic": cell("# Why?\n## ls files\n# %x", "markdown"),
    "a marker in Markdown": cell("%% text", "markdown"),
    "an open fence": cell("```\ntext", "markdown"),
    "blank lines at the end of Markdown": cell("text\n\n", "markdown"),
    "a comment of LaTeX": cell("%% text\n% text", "raw"),
    "a raw cell for notebooks": cell("text", "raw", metadata={"active": "ipynb"}),
    "an open fence in a raw cell": cell("```\n\"\"\"\n'''", "raw"),
    "a title with an equal sign": cell("x", metadata={"title": "a = b"}),
    "a title with a brace": cell("x", metadata={"title": "{a}"}),
    "a title that is a kind": cell("x", metadata={"title": "[markdown]"}),
    "a title of two lines": cell("x", metadata={"title": "a\nb"}),
    "a title that is a number": cell("x", metadata={"title": 1}),
    "a title like an encoding": cell("x", metadata={"title": "encoding: latin-1"}),
    "a sub cell without a title": cell("x", metadata={"cell_depth": 2}),
    "a flag": cell("x", metadata={"flag": None}),
    "a name with a blank": cell("x", metadata={"a b": 1}),
    "code for scripts": cell("x", metadata={"active": "py"}),
    "metadata with a meaning": cell("x", metadata={"language": "R", "cell_type": "raw", "quire.end": "\n"}),
    "tags that nbformat refuses": cell("x", tags=("a,b", "")),
}


@pytest.mark.parametrize("lost", LOST.values(), ids=LOST)
def test_what_jupytext_loses_we_keep(lost: SheetCell) -> None:
    sheet = sheet_of(lost, cell("```\ny\n```", "markdown"), lost, cell("z"), lost)
    text = write(sheet)
    assert seen(read(text)) == seen(sheet)
    assert write(read(text), like=text) == text
    # And Jupytext finds the same kinds and texts, but for blank lines at the end.
    assert [each[:2] for each in _as_jupytext_reads(text)] == [each[:2] for each in seen(sheet)]


def test_code_stays_live_in_the_script_when_only_blank_lines_are_odd() -> None:
    assert write(sheet_of(cell("x = 1\n"))) == '# %% quire.end="\\n"\nx = 1\n'


def test_a_fence_is_closed_where_nothing_else_helps_and_opened_again() -> None:
    sheet = sheet_of(cell("\"\"\"\n'''\n```", "markdown"), cell("x"), cell("```\n```", "markdown"))
    text = write(sheet)
    assert seen(read(text)) == seen(sheet)
    assert [each[1] for each in read_by_jupytext(text)] == ["\"\"\"\n'''\n```\n```", "x", "```\n```"]


def test_form_feeds_and_separators_stay_inside_their_lines() -> None:
    """Jupytext ends a line at each of them."""
    sheet = sheet_of(cell("a = 1\x0c\n\x0b\nb = '\u2028\x85'"), cell("a\u2028# %%", "markdown"), cell("\x1c", "raw"))
    text = write(sheet)
    assert seen(read(text)) == seen(sheet)
    assert write(read(text), like=text) == text


def test_carriage_returns_are_line_ends() -> None:
    """Not carried: a script has one sort of line end, and a comment must not end in the middle."""
    assert seen(read(write(sheet_of(cell("a\rimport os", "markdown"), cell("x\r\ny"))))) == [
        ("markdown", "a\nimport os", {}),
        ("code", "x\ny", {}),
    ]


def test_layout_and_screen_are_left_out() -> None:
    metadata = dict.fromkeys(LEFT_OUT, True) | {"cell_marker": '"""', "kept": 1}
    assert seen(read(write(sheet_of(cell("x", metadata=metadata))))) == [("code", "x", {"kept": 1})]


# ---- Where a file means something else to us


@pytest.mark.parametrize("line", ["# coding: latin-1", "# Decoding: how it works"])
def test_an_encoding_that_is_not_ours_is_only_a_comment(line: str) -> None:
    """Jupytext gives up on such a file."""
    text = f"{line}\n# %%\nx\n"
    assert read(text).metadata == {"jupytext": {"encoding": line}}
    assert write(read(text)) == text


def test_a_marker_is_a_marker_whatever_its_title_says() -> None:
    """Jupytext takes it for the encoding of the file."""
    assert seen(read("# %% encoding: utf-8\nx\n")) == [("code", "x", {"title": "encoding: utf-8"})]


def test_an_encoding_below_a_rule_belongs_to_the_text() -> None:
    """Jupytext drops both lines."""
    assert seen(read("# ---\n# coding: utf-8\nx\n")) == [("code", "# ---\n# coding: utf-8\nx", {})]


def test_values_that_json_cannot_hold_are_no_values() -> None:
    """Jupytext makes a notebook of them that cannot be saved."""
    assert seen(read("# %% a={1, 2}\nx\n")) == [("code", "x", {"incorrectly_encoded_metadata": "a={1, 2}"})]
    assert seen(read('# %% tags="a" name=5\nx\n')) == [("code", "x", {"name": "5", "tags": ["a"]})]


def test_dates_and_times_in_a_header_stay_what_they_look_like() -> None:
    """Jupytext makes a date that JSON cannot hold, and 750 of the time."""
    text = "# ---\n# jupyter:\n#   quire:\n#     day: 2026-10-01\n#     time: 12:30\n# ---\n\n# %%\nx\n"
    sheet = read(text)
    assert sheet.ours == {"day": {"$date": "2026-10-01"}, "time": "12:30"}
    assert write(sheet, like=text) == text
    assert read(write(sheet)).metadata == sheet.metadata


def test_other_formats_and_languages_are_left_to_jupytext() -> None:
    light = "# ---\n# jupyter:\n#   jupytext:\n#     text_representation:\n#       extension: .py\n#       format_name: light\n"
    light += "#       format_version: '1.5'\n# ---\n\n# # Title\n\nx = 1\n\ny = 2\n"
    sheet = read(light)
    assert [each[:2] for each in seen(sheet)] == [("markdown", "# Title"), ("code", "x = 1"), ("code", "y = 2")]
    assert write(sheet, like=light) == light
    other = "# ---\n# jupyter:\n#   kernelspec:\n#     language: R\n#     name: ir\n#     display_name: R\n# ---\n\n# %%\nx <- 1\n"
    assert read(other).language == "r"
    assert write(read(other), like=other) == other


# ---- With the file as it was

TEXT = """\
#!/usr/bin/env python
# ---
# jupyter:
#   kernelspec: {name: python3, display_name: Python}
# ---
#%%   First
%matplotlib inline
import  os
# %% [markdown]
'''
A note
'''
# %%
x = 1



#%% tags = ['a']
y = 2
"""


def changed(sheet: Sheet, *cells: SheetCell | int) -> Sheet:
    return msgspec.structs.replace(
        sheet, cells=tuple(sheet.cells[each] if isinstance(each, int) else each for each in cells)
    )


def edited(sheet: Sheet, index: int, source: str) -> SheetCell:
    return msgspec.structs.replace(sheet.cells[index], source=source)


@pytest.mark.parametrize("keeps_id", [True, False])
def test_a_changed_cell_keeps_its_marker_and_its_other_lines(keeps_id: bool) -> None:
    sheet = read(TEXT)
    first = edited(sheet, 0, "%matplotlib inline\nimport sys")
    if not keeps_id:
        first = msgspec.structs.replace(first, id="other")
    text = write(changed(sheet, first, 1, 2, 3), like=TEXT)
    assert text == TEXT.replace("import  os", "import sys")


def test_changed_markdown_stays_in_its_quotes() -> None:
    sheet = read(TEXT)
    text = write(changed(sheet, 0, edited(sheet, 1, "Another\nnote"), 2, 3), like=TEXT)
    assert text == TEXT.replace("A note", "Another\nnote")


def test_changed_metadata_gives_a_new_marker_and_nothing_else() -> None:
    sheet = read(TEXT)
    tagged = msgspec.structs.replace(sheet.cells[3], tags=("b",))
    assert write(changed(sheet, 0, 1, 2, tagged), like=TEXT) == TEXT.replace("#%% tags = ['a']", '# %% tags=["b"]')


def test_cells_come_and_go_and_move_with_their_lines() -> None:
    sheet = read(TEXT)
    assert write(changed(sheet, 0, 1, 3), like=TEXT) == TEXT.replace("# %%\nx = 1\n\n\n\n", "")
    new = cell("new = 1", id="new")
    assert write(changed(sheet, 0, 1, new, 2, 3), like=TEXT) == TEXT.replace("# %%\nx", "# %%\nnew = 1\n\n# %%\nx")
    assert write(changed(sheet, 0, 1, 2, 3, new), like=TEXT) == TEXT + "\n# %%\nnew = 1\n"
    moved = write(changed(sheet, 3, 0, 1, 2), like=TEXT)
    assert seen(read(moved)) == [seen(sheet)[index] for index in (3, 0, 1, 2)]
    assert all(line in moved for line in TEXT.splitlines())
    assert moved.endswith("x = 1\n")
    assert write(changed(sheet), like=TEXT) == TEXT[: TEXT.index("#%%   First")]


def test_a_header_changes_only_when_the_metadata_does() -> None:
    sheet = read(TEXT)
    more = sheet.metadata | {"language_info": {"name": "python"}, "widgets": {}}
    assert write(msgspec.structs.replace(sheet, metadata=more), like=TEXT) == TEXT
    renamed = sheet.metadata | {"kernelspec": {"name": "venv", "display_name": "venv"}}
    text = write(msgspec.structs.replace(sheet, metadata=renamed), like=TEXT)
    assert read(text).metadata == renamed
    assert text[text.index("#%%   First") :] == TEXT[TEXT.index("#%%   First") :]
    assert write(msgspec.structs.replace(sheet, metadata={}), like=TEXT) == TEXT[TEXT.index("#%%   First") :]


def test_a_notebook_does_not_need_to_know_the_form_of_the_file() -> None:
    """Jupytext takes it out of every .ipynb, and a JupyterLab without Jupytext never had it."""
    sheet = read(HEADER)
    kept = {"formats": "ipynb,py:percent"}
    assert write(msgspec.structs.replace(sheet, metadata=sheet.metadata | {"jupytext": kept}), like=HEADER) == HEADER
    other = sheet.metadata | {"jupytext": kept, "quire": {"parameters": {"month": "may"}}}
    assert write(msgspec.structs.replace(sheet, metadata=other), like=HEADER) == HEADER.replace("october", "may")


def test_a_script_without_markers_stays_one_while_it_is_one_cell() -> None:
    text = "import os\n\nx = 1"
    sheet = read(text)
    assert write(changed(sheet, edited(sheet, 0, "import os\n\nx = 2")), like=text) == "import os\n\nx = 2\n"
    assert write(changed(sheet, cell("a", id="new"), 0), like=text) == "# %%\na\n\n# %%\nimport os\n\nx = 1\n"
    assert write(changed(sheet, 0, cell("a", id="new")), like=text) == "import os\n\nx = 1\n\n# %%\na\n"


def test_windows_line_ends_stay() -> None:
    text = "# ---\r\n# jupyter:\r\n#   quire:\r\n#     a: 1\r\n# ---\r\n\r\n# %%\r\nx = 1\r\n\r\n# %% [markdown]\r\n# a\r\n"
    sheet = read(text)
    assert seen(sheet) == [("code", "x = 1", {}), ("markdown", "a", {})]
    new = write(changed(sheet, edited(sheet, 0, "x = 2\ny"), 1, cell("z", id="new")), like=text)
    assert new == text.replace("x = 1", "x = 2\r\ny") + "\r\n# %%\r\nz\r\n"


def test_old_lines_that_read_otherwise_beside_new_ones_are_written_anew() -> None:
    """A fence that nothing closed, a string that did not end."""
    fence = "# %% [markdown]\n# ```\n# text\n"
    sheet = read(fence)
    new = changed(sheet, 0, cell("x", id="a"), cell("```\n```", "markdown", id="b"))
    assert seen(read(write(new, like=fence))) == seen(new)
    string = '# %%\ns = """\n# %% [markdown]\n'
    new = changed(read(string), 0, cell("x", id="a"))
    assert seen(read(write(new, like=string))) == seen(new)


# ---- Any text, any notebook

TEXT_LINES = [
    *("# %%", "# %%", "# %% [markdown]", "#%% t", "# %%% sub", "# %% [raw]", "# %% [md]", "  # %%", "# In[1]:"),
    *(
        '"""',
        "'''",
        'r"""',
        's = """',
        "it's",
        "# text",
        "# # Head",
        "# # Why?",
        "# ## ls x",
        "#",
        "#more",
        "",
        "",
        " ",
    ),
    *("%magic", "# %magic", "# # %magic", "!x", "# !ls", "  # x = !ls", "    x = %foo", "cd ..", "foo?", "# %time \\"),
    *("x = 1", "def f():", "    return 1", "# + x", "# # + x", "# ```", "# ```python", "# ~~~", "```", "# ---"),
    *('# %% language="bash"', '# %% language="sql" magic_args="x"', '# %% tags=["a"]', '# %% active="py"'),
    *('# %% active="ipynb"', '# %% tags=["active-py"]', "# %% a=1 flag", '# %% t {"x": 1}', "%%bash", "# %%time"),
    *('# %% cell_type="markdown"', '# %% cell_type="x"', "# title: x", "# %% [sql]", "# %% [prompt]"),
]
texts = st.builds(
    str.__add__, st.lists(st.sampled_from(TEXT_LINES), max_size=10).map("\n".join), st.sampled_from(["", "\n"])
)


@pytest.mark.generated
@given(texts)
def test_any_text_is_read_as_jupytext_reads_it(text: str) -> None:
    plainly = text.replace("[sql]", "[x]").replace("[prompt]", "[x]")
    assert seen(read(plainly)) == read_by_jupytext(plainly)


@pytest.mark.generated
@given(texts, st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_text_keeps_its_bytes_and_its_meaning(text: str, newline: str) -> None:
    sheet = read(text)
    with_ends = text.replace("\n", newline)
    assert seen(read(with_ends)) == seen(sheet)
    assert write(read(with_ends), like=with_ends) == with_ends
    assert seen(read(write(sheet))) == seen(sheet)


SOURCES = [
    *("# %%", "# %% x", "%% y", '"""', "'''", '"""a"""', "# text", "# Why?", "## ls x", "%magic", "# %magic", "!x", ""),
    *(
        "  x = !ls",
        "",
        " ",
        "x = 1",
        "def f():",
        "```",
        "```python",
        "~~~",
        "%%bash",
        "%%bash -x",
        "%%python",
        "%%time",
    ),
    *("%%sql", "%%R", "# + x", "# # + x", "##+", "cd ..", "foo?", "%time \\", "  # %%", "it's", "\\'''", "# ---", "#"),
    *("\t", "x\x0cy", "\u2028", "é\u00a0", "# In[3]:", "\\", "---", "jupyter:", "#!/bin/sh", "# coding: latin-1"),
]
ODD: list[dict[str, Any]] = [
    {},
    {},
    {"title": "T"},
    {"title": "a=b"},
    {"title": " lead"},
    {"title": "t .cls"},
    {"a": None},
    {"x": {"y": [1, None, "=\" '"]}},
    {"active": "py"},
    {"active": "ipynb"},
    {"active": ""},
    {"active": "py,ipynb"},
    {"run_control": {"frozen": True}},
    {"language": "R"},
    {"cell_type": "markdown"},
    {"region_name": "md"},
    {"cell_depth": 2},
    {"quire.metadata": {"a": 1}},
    {"incorrectly_encoded_metadata": "foo"},
    {"quire": {"x": 1}},
    {"name": ""},
    {"é": 1},
    {"a": "b c=1"},
]
any_cell = st.builds(
    cell,
    st.lists(st.sampled_from(SOURCES), max_size=5).map("\n".join),
    st.sampled_from(["code", "code", "markdown", "raw", "sql", "prompt"]),
    tags=st.sampled_from([(), (), ("a",), ("active-py",), ("active-ipynb", "x=1")]),
    name=st.sampled_from([None, None, "n"]),
    metadata=st.sampled_from(ODD),
)
sheets = st.lists(any_cell, max_size=4).map(lambda cells: sheet_of(*cells))


@pytest.mark.generated
@given(sheets)
def test_any_notebook_survives_as_a_script(sheet: Sheet) -> None:
    text = write(sheet)
    assert seen(read(text)) == seen(sheet)
    assert write(read(text), like=text) == text


@pytest.mark.generated
@given(sheets)
def test_jupytext_finds_the_cells_of_any_notebook(sheet: Sheet) -> None:
    found = _as_jupytext_reads(write(sheet))
    assert len(found) == len(sheet.cells)
    for each, (kind, source, metadata) in zip(sheet.cells, found, strict=True):
        if each.kind in ("sql", "prompt"):
            assert kind in ("code", "raw")
        elif not set("\x0c\u2028") & set(each.source):
            closed = metadata.get("quire.closed", "")
            assert (kind, source.removesuffix(f"\n{closed}") if closed else source) == (each.kind, each.source)


@pytest.mark.generated
@given(sheets, texts)
def test_any_notebook_can_take_the_place_of_any_other(sheet: Sheet, text: str) -> None:
    assert seen(read(write(sheet, like=text))) == seen(sheet)


@pytest.mark.generated
@given(texts, st.data())
def test_an_edit_leaves_the_lines_of_all_other_cells(text: str, data: st.DataObject) -> None:
    sheet = read(text)
    if not sheet.cells:
        return
    index = data.draw(st.integers(0, len(sheet.cells) - 1))
    new = changed(sheet, *range(index), edited(sheet, index, data.draw(st.sampled_from(["new = 1", "# a\nb"]))))
    new = msgspec.structs.replace(new, cells=(*new.cells, *sheet.cells[index + 1 :]))
    assert seen(read(write(new, like=text))) == seen(new)


# ---- Large, and loaded only then


def test_five_thousand_cells_come_back() -> None:
    parts = [cell(f"# {index}\nx = {index}\nprint('x', \"y\")") for index in range(2500)]
    prose = [cell(f"## {index}\n\n```python\n" + "```" * (index % 10 > 0), "markdown") for index in range(2500)]
    sheet = sheet_of(*(each for pair in zip(parts, prose, strict=True) for each in pair))
    text = write(sheet)
    assert read(text).cells == sheet.cells
    assert write(read(text), like=text) == text


def test_hostile_lines_end() -> None:
    text = (
        "# %% " + "a=b " * 20_000 + "\n# %% [markdown]\n" + "# ```\n# ~~~~x\n" * 5_000 + "# %% a=" + "[" * 50_000 + "\n"
    )
    assert write(read(text), like=text) == text


def test_metadata_that_is_nested_too_deeply_is_refused() -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    for sheet in (sheet_of(cell("x", metadata={"a": deep})), sheet_of(quire={"a": deep})):
        with pytest.raises(BadInput, match=PATH):
            write(sheet)


def test_lone_surrogates_are_carried() -> None:
    sheet = sheet_of(cell("x = '\ud800'"), cell("\udfff", "markdown", tags=("\ud800",)))
    assert seen(read(write(sheet))) == seen(sheet)


def test_reading_and_writing_loads_neither_jupytext_nor_yaml() -> None:
    code = "import sys\nfrom quire.formats.percent import format as percent\nsheet = percent.read('# %%\\n%x\\n# %% [md]\\n# y', 'a.py')\n"
    code += "percent.write(sheet, 'a.py', percent.write(sheet, 'a.py', None))\n"
    code += "sys.exit(str({'jupytext', 'nbformat', 'yaml', 'IPython'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.stderr.strip() == "set()"
