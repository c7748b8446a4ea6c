"""Notebooks that differ in how they are written: versions of the format, JSON styles, odd cells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, cast

from .parts import (
    Fields,
    Recipe,
    Style,
    code,
    display,
    error,
    keys,
    language,
    markdown,
    notebook,
    raw,
    result,
    stream,
    with_id,
)

INFO = language("python", ".py", "text/x-python", "3.11.2")
OLD_INFO = language("python", ".py", "text/x-python", "3.6.9", nbconvert_exporter="python", pygments_lexer="ipython3")


def recipes() -> Iterator[Recipe]:
    """Old versions, JSON styles, then cells that are hard to carry."""
    yield nbformat_3()
    yield from (minor(number) for number in range(5))
    yield newer_minor()
    yield from (indent_4(), compact(), tabs(), key_order(), source_strings(), escapes(), surrogates())
    yield from (crlf_in_sources(), crlf_between_tokens(), no_final_newline(), unknown_fields(), numbers(), same_ids())
    yield from (empty(), empty_cells(), only_markdown(), long_lines(), blank_lines(), adjacent_markdown())
    yield from (looks_like_percent(), fences(), names(), prompts(), runbook())


def nbformat_3() -> Recipe:
    """As IPython 0.13 to 2 wrote them."""
    cells: list[Fields] = [
        {"cell_type": "heading", "level": 1, "metadata": {}, "source": ["An old notebook"]},
        {"cell_type": "markdown", "metadata": {"slideshow": {"slide_type": "slide"}}, "source": ["From *2013*."]},
        {
            "cell_type": "code",
            "collapsed": False,
            "input": ["print 'hello'\n", "1 + 1"],
            "language": "python",
            "metadata": {},
            "outputs": [
                {"output_type": "stream", "stream": "stdout", "text": ["hello\n"]},
                {
                    "metadata": {},
                    "output_type": "pyout",
                    "prompt_number": 1,
                    "text": ["2"],
                    "html": ["<b>2</b>"],
                    "latex": ["$2$"],
                },
            ],
            "prompt_number": 1,
        },
        {
            "cell_type": "code",
            "collapsed": True,
            "input": ["plot()"],
            "language": "python",
            "metadata": {"name": "plot"},
            "outputs": [
                {
                    "metadata": {},
                    "output_type": "display_data",
                    "png": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==\n",
                    "svg": ["<svg/>"],
                    "json": ['{"a": 1}'],
                    "javascript": ["1"],
                    "text": ["<Figure>"],
                }
            ],
            "prompt_number": 2,
        },
    ]
    more: list[Fields] = [
        {"cell_type": "heading", "level": 3, "metadata": {}, "source": ["On a second sheet"]},
        {"cell_type": "raw", "metadata": {}, "source": ["raw text"]},
        {
            "cell_type": "code",
            "collapsed": False,
            "input": "1/0",
            "language": "python",
            "metadata": {},
            "outputs": [
                {
                    "ename": "ZeroDivisionError",
                    "evalue": "integer division or modulo by zero",
                    "output_type": "pyerr",
                    "traceback": ["\x1b[1;31mZeroDivisionError\x1b[0m: integer division or modulo by zero"],
                },
                {"output_type": "stream", "stream": "stderr", "text": "tail\n"},
            ],
        },
    ]
    sheets: list[Fields] = [{"cells": cells, "metadata": {}}, {"cells": more, "metadata": {"name": "two"}}]
    return Recipe(
        "nbformat-3",
        {
            "metadata": {"name": "old", "signature": "sha256:00"},
            "nbformat": 3,
            "nbformat_minor": 0,
            "worksheets": sheets,
        },
    )


def minor(number: int) -> Recipe:
    """As each version of the format had it, from 2015 on; ids came with 4.5."""
    kernel = {"display_name": "Python 3", "name": "python3"} | ({"language": "python"} if number < 4 else {})
    cells = [
        markdown(f"# nbformat 4.{number}"),
        code("x = 6\nx * 7", result(1, {"text/plain": "42"}), count=1, collapsed=False),
        code("print(x)", stream("6\n"), count=2, **keys({"scrolled": True} if number else {"trusted": True})),
        raw("raw", format="text/plain"),
    ]
    if number >= 1:
        dot = "R0lGODlhAQABAIAAAP8AAP///ywAAAAAAQABAAACAkQBADs="
        cells.append(markdown("![dot](attachment:dot.gif)", attachments={"dot.gif": {"image/gif": dot}}))
    if number >= 2:
        cells.append(code("data", display({"application/json": {"a": [1]}, "text/plain": "<JSON>"}), count=3))
    if number >= 4:
        cells.append(code("hidden", count=None, jupyter={"source_hidden": True}))
    made = notebook(*cells, minor=number, kernel=kernel, language_info=OLD_INFO)
    return Recipe(f"nbformat-4.{number}", made)


def newer_minor() -> Recipe:
    """From a Jupyter that is newer than we are: what is unknown has to survive."""
    made = notebook(
        code(
            "1",
            {
                "output_type": "execute_result",
                "data": {"text/plain": "1"},
                "execution_count": 1,
                "metadata": {},
                "at": 5,
            },
            count=1,
        ),
        markdown("A cell"),
        language_info=INFO,
    )
    made["cells"][0]["state"] = {"since": "4.6"}
    return Recipe("newer-minor", made | {"nbformat_minor": 6, "theme": "dark"})


def indent_4() -> Recipe:
    return Recipe("indent-4", _ordinary("four blanks"), style=Style(indent=4, sort_keys=False))


def compact() -> Recipe:
    return Recipe("compact", _ordinary("no blank to spare, é"), style=Style(indent=None, ascii=True, end=""))


def tabs() -> Recipe:
    return Recipe("tabs", _ordinary("tabs"), style=Style(indent="\t", end="\n\n"))


def source_strings() -> Recipe:
    return Recipe("source-strings", _ordinary("sources as strings"), style=Style(source="string", sort_keys=False))


def key_order() -> Recipe:
    made = _ordinary("keys from z to a")
    return Recipe("key-order", _reversed(made), style=Style(indent=2, sort_keys=False))


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        pairs = cast("Fields", value)
        return {key: _reversed(pairs[key]) for key in sorted(pairs, reverse=True)}
    return [_reversed(each) for each in cast("list[Any]", value)] if isinstance(value, list) else value


def _ordinary(title: str) -> Fields:
    """A small notebook with one of everything."""
    return notebook(
        markdown(f"# {title}\n\nSome *prose*."),
        code("limit = 3  # how many", count=1, tags=["parameters"]),
        code("for n in range(limit):\n    print(n)", stream("0\n1\n2\n"), count=2),
        code("{'a': 1}", result(3, {"text/plain": "{'a': 1}", "application/json": {"a": 1}}), count=3),
        raw("as it is\n"),
        code(
            "1 / 0",
            error("ZeroDivisionError", "division by zero", "\x1b[31mZeroDivisionError\x1b[39m: division by zero"),
            count=4,
        ),
        language_info=INFO,
    )


def escapes() -> Recipe:
    """Every character that need not be escaped is, and slashes too."""
    made = notebook(
        markdown("Ünïcödé 😀 </script> \x7f"),
        code("print('\\u00e9 \"quoted\" \\\\ /')\t# tab", stream('é "quoted" \\ /\n'), count=1),
        language_info=INFO,
    )
    return Recipe("escapes", made, style=Style(ascii=True))


def surrogates() -> Recipe:
    """Half of a pair, as kernels on Windows and careless slicing leave them. Only JSON's escapes can hold them."""
    made = notebook(
        markdown("half \ud83d and the other \ude00, whole \U0001f600"),
        code("'\\ud83d'", result(1, {"text/plain": "'\ud83d'"}), count=1),
        code("print('\\udc80')", stream("\udc80\n"), count=2),
        language_info=INFO,
    )
    return Recipe("surrogates", made, style=Style(ascii=True))


def crlf_in_sources() -> Recipe:
    made = notebook(
        markdown("# From Windows\r\n\r\nTwo lines,\r\nended as there."),
        code("x = 1\r\ny = 2\r\nx + y", result(1, {"text/plain": "3"}), count=1),
        code("text = '''a\r\nb\nc\rd'''\n", stream("a\r\nb\r\n"), count=2),
        code("only = 'a lone \r return'\r", count=3),
        language_info=INFO,
    )
    return Recipe("crlf-in-sources", made)


def crlf_between_tokens() -> Recipe:
    return Recipe("crlf-between-tokens", _ordinary("saved by an editor on Windows"), style=Style(line_end="\r\n"))


def no_final_newline() -> Recipe:
    return Recipe("no-final-newline", _ordinary("no newline at the end"), style=Style(end=""))


def unknown_fields() -> Recipe:
    """What nbformat does not know, at every level: a vendor's, or from a newer tool."""
    cell = code(
        "1", {**result(1, {"text/plain": "1"}), "x-rank": 1}, count=1, **keys({"vendor.io/x": {"deep": [None, {}]}})
    )
    made = notebook(
        cell | {"x-vendor": {"a": 1}},
        markdown("a") | {"outputs": [], "execution_count": None},
        code("2", {**stream("2\n"), "x-time": 1.5}, count=None, tags=["a", "b"]),
        language_info=INFO,
        **keys({"x-quire-like": {"quire": 1}, "quire": {"environment": {"python": ">=3.11"}, "x": [1]}}),
    )
    return Recipe("unknown-fields", made | {"x-top": ["kept", {"as": "is"}]}, style=Style(sort_keys=False))


def numbers() -> Recipe:
    """Numbers that JSON writers disagree about."""
    values = [
        1.0,
        1e22,
        1e-7,
        0.1,
        -0.0,
        2**53 + 1,
        2**70,
        123456789012345678901234567890,
        math.nan,
        math.inf,
        -math.inf,
    ]
    made = notebook(
        code(
            "values", display({"application/json": values, "text/plain": "[…]"}, **keys({"nan": math.nan})), count=2**40
        ),
        code("", count=0, timing={"spent": 1.50, "big": 2**64}),
        language_info=INFO,
    )
    return Recipe("numbers", made)


def same_ids() -> Recipe:
    """Cells copied by hand, ids and all. nbformat warns of it."""
    twin = with_id(code("print('twin')", stream("twin\n"), count=1), "twin")
    return Recipe(
        "same-ids",
        notebook(
            twin,
            with_id(markdown("between"), "a"),
            {**twin},
            with_id(code("print('other')"), "twin"),
            language_info=INFO,
        ),
    )


def empty() -> Recipe:
    return Recipe("empty", {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def empty_cells() -> Recipe:
    cells = [
        code(""),
        markdown(""),
        raw(""),
        code("", stream(""), count=1),
        markdown(""),
        code(""),
        code("\n"),
        markdown(" "),
    ]
    return Recipe("empty-cells", notebook(*cells, language_info=INFO))


def only_markdown() -> Recipe:
    return Recipe(
        "only-markdown",
        notebook(
            markdown(
                "# An essay\n\nWithout a line of code.\n\n## Lists\n\n* a\n    * b\n\n        indented code\n\n1. c"
            ),
            markdown("***\n\n<details>\n<summary>More</summary>\n\nHTML *inside*.\n\n</details>\n\n<!-- a comment -->"),
            markdown(
                "[link](https://example.org 'title'), <https://example.org>, [ref][1], "
                "![remote](https://example.org/x.png)\n\n[1]: ./other.ipynb#x"
            ),
            markdown("Footnote[^1], ~~gone~~, ==marked==, H~2~O, `code`, ``a ` b``\n\n[^1]: here"),
        ),
    )


def long_lines() -> Recipe:
    data = ", ".join(str(n * n) for n in range(4000))
    return Recipe(
        "long-lines",
        notebook(
            code(f"squares = [{data}]", count=1),
            markdown("word " * 2000),
            code("print('x' * 20_000)", stream("x" * 20_000 + "\n"), count=2),
            code("'é' * 3000", result(3, {"text/plain": f"'{'é' * 3000}'"}), count=3),
            language_info=INFO,
        ),
    )


def blank_lines() -> Recipe:
    return Recipe(
        "blank-lines",
        notebook(
            code("\n\nx = 1\n\n\n"),
            markdown("\n# Title\n\n\n\ntext  \nwith a hard break\n\n"),
            code("def f():\n    pass\n"),
            code("   \n\t\n"),
            code("x = '''\n\n\n'''\n   "),
            raw("\n\n"),
            markdown("last\n"),
            language_info=INFO,
        ),
    )


def adjacent_markdown() -> Recipe:
    cells = [
        markdown("one"),
        markdown("two"),
        markdown(""),
        markdown("three", tags=["t"]),
        markdown("- a"),
        markdown("- b"),
    ]
    return Recipe(
        "adjacent-markdown", notebook(*cells, code("x"), markdown("four"), markdown("five"), language_info=INFO)
    )


def looks_like_percent() -> Recipe:
    """Sources that a script could mistake for its own marks."""
    return Recipe(
        "looks-like-percent",
        notebook(
            code("# ---\n# jupyter:\n#   not: a header\n# ---\nx = 1"),
            code("# %% a title inside\ny = 2\n# %% [markdown]\n# not Markdown"),
            code("#%%\n# %%%% four\n# + light\n# -\n# <codecell>"),
            markdown('# %% in Markdown\n\n"""quoted"""\n\n# comment\n#comment\n# %% [raw]'),
            markdown("'''\nthree\n'''\n\\"),
            code('text = """\n# %% [markdown]\n# inside a string\n%magic\n!shell\n"""\ntext'),
            code("# # %matplotlib inline\n## %%time\n#%%capture\n# !ls"),
            code("%%time\n# %% inside a magic cell\nx = 1"),
            code("x = 1 # %% not here\n    # %% indented"),
            code("# comment only"),
            code("ls = 'ls'\ncd, cp = 1, 2\nls"),
            code("get_ipython().run_line_magic('matplotlib', 'inline')"),
            raw("# %% in raw\n---\n- x: 1"),
            language_info=INFO,
        ),
    )


def fences() -> Recipe:
    """Sources that a Markdown file could mistake for its own."""
    return Recipe(
        "fences",
        notebook(
            markdown("---\ntitle: not frontmatter\n---\n\ntext"),
            markdown(
                "```python\nprint('only shown')\n```\n\n~~~sql\nSELECT 1\n~~~\n\n````md\n```python\nnested\n```\n````"
            ),
            code('"""\n```python\ncode in a docstring\n```\n"""'),
            code("# ````\n# ~~~"),
            markdown("```\nan open fence"),
            markdown("text\n<!-- #region -->\nfolded\n<!-- #endregion -->\n<!-- cell -->"),
            markdown(
                "    ```python\n    indented\n    ```\n\n> ```python\n> quoted\n> ```\n\n- ```python\n  in a list\n  ```"
            ),
            markdown("Results:\n\n```\n42\n```\n\n{month} and {{braces}}"),
            code("x = '```'\ny = '~~~~'"),
            raw("```raw\nin a raw cell\n```"),
            language_info=INFO,
        ),
    )


def names() -> Recipe:
    return Recipe(
        "names",
        notebook(
            code("a = 1", name="load"),
            code("b = 2", name="a name with blanks", tags=["t1", "t2"]),
            code("c = 3", name='quo"ted \\ [x] {y}', tags=["ünïcode", "with-dash", "a.b:c/d"]),
            markdown("named prose", name="intro", tags=["keep"]),
            raw("named raw", name="raw one"),
            code("d = 4", name="load", title="The same name again"),
            code("e = 5", tags=[]),
            language_info=INFO,
        ),
    )


def prompts() -> Recipe:
    ours: Fields = {"quire": {"kind": "prompt"}}
    return Recipe(
        "prompts",
        notebook(
            markdown("# Ask an agent"),
            raw("Summarise what `frame` holds.\n\nAnswer in one line; use # and %% and ``` freely.", **ours),
            code("summary = 'a table'", count=1),
            raw("", **ours),
            raw(
                "```python\nnot code\n```\n# %% not a cell",
                name="ask",
                tags=["agent"],
                quire={"kind": "prompt", "model": "small"},
            ),
            raw("an ordinary raw cell"),
            code("%%sql\nSELECT 1", quire={"kind": "sql", "connection": "db"}),
            language_info=INFO,
        ),
    )


def runbook() -> Recipe:
    """A logbook that was saved as a notebook."""
    declared: Fields = {
        "host": "...",
        "since": {"type": "date", "default": "2026-01-01", "help": "the first day"},
        "level": {"type": "str", "choices": ["low", "high"], "default": "low"},
        "limit": 10,
        "note": None,
    }
    return Recipe(
        "runbook",
        notebook(
            markdown("# Disk is full\n\nOn `{host}`, since {since}."),
            markdown("## 1. Look\n\nWhich folders are large?"),
            code(
                "import shutil\nshutil.disk_usage('/').free > 0",
                result(1, {"text/plain": "True"}),
                count=1,
                name="look",
            ),
            markdown('Results:\n\n- free: {"json": "stays"}'),
            code("%%sql\nSELECT path, bytes FROM files WHERE host = {host} LIMIT {limit}", quire={"kind": "sql"}),
            raw("What would you delete on {host}?", quire={"kind": "prompt"}),
            language_info=INFO,
            quire={
                "parameters": declared,
                "title": "Disk is full",
                "environment": {"python": ">=3.11", "dependencies": ["httpx"]},
            },
        ),
    )
