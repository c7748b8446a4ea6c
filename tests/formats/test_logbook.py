"""Logbooks: a notebook as a Markdown template, there and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import jupytext  # pyright: ignore[reportMissingTypeStubs]
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.core.events import CellKind
from quire.core.sheet.equality import same
from quire.core.sheet.sheet import Sheet, SheetCell, with_ids
from quire.formats.logbook.format import carried_sheet
from quire.formats.logbook.reader import LANGUAGES
from quire.formats.registry import read, write

from ..conftest import examples

PATH = "logbooks/sales.md"


def cell(source: str = "", kind: CellKind = "code", **fields: Any) -> SheetCell:
    return SheetCell(id=fields.pop("id", ""), kind=kind, source=source, **fields)


def sheet_of(*cells: SheetCell, **metadata: Any) -> Sheet:
    return Sheet(cells=with_ids(cells), metadata=metadata)


def shown(text: str) -> list[tuple[str, str]]:
    return [(cell.kind, cell.source) for cell in read(text, PATH).cells]


def kept(sheet: Sheet) -> Any:
    """What docs/reference/logbook.md says a logbook carries."""
    said = carried_sheet(sheet)
    cells = [[each.kind, each.source, each.name, list(each.tags), each.metadata, each.outputs] for each in said.cells]
    return [cells, said.metadata]


# ---- What is a cell


def test_prose_is_markdown_and_fences_of_listed_languages_are_code() -> None:
    text = """# Sales

Look at *this*.

```python
x = 1
```

```sql
SELECT 1
```

```prompt
Summarise it.
```

```raw
as it is
```

The answer:

```json
{"a": 1}
```

```
no language
```
"""
    assert shown(text) == [
        ("markdown", "# Sales\n\nLook at *this*."),
        ("code", "x = 1"),
        ("sql", "SELECT 1"),
        ("prompt", "Summarise it."),
        ("raw", "as it is"),
        ("markdown", 'The answer:\n\n```json\n{"a": 1}\n```\n\n```\nno language\n```'),
    ]


@pytest.mark.parametrize("label", [alias for name, more in LANGUAGES.items() for alias in (name, *more)])
def test_each_language_on_the_list_is_a_cell_whatever_the_case(label: str) -> None:
    for spelling in (label, label.upper()):
        (found,) = read(f"```{spelling}\nx\n```\n", PATH).cells
        assert found.kind != "markdown"
        assert found.source == "x"


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("~~~python\nx\n~~~", "x"),
        ("`````python\n```\nx\n````\n`````", "```\nx\n````"),
        ("   ```python\n   if x:\n       y\n \n   ```", "if x:\n    y\n"),
        ("```python\n```", ""),
        ("```python\n\n```", ""),
        ("```python\nx\n\n```", "x\n"),
        ("```  python \nx\n```   ", "x"),
        ("```python\nx\n```python\n```", "x\n```python"),
        ("```python\nwithout an end", "without an end"),
    ],
)
def test_a_fence_is_as_commonmark_has_it(text: str, source: str) -> None:
    assert shown(text) == [("code", source)]
    assert shown(f"before\n{text}")[1:] == [("code", source)]


@pytest.mark.parametrize(
    "text",
    [
        "````markdown\n```python\nx\n```\n````",
        "<!--\n```python\nx\n```\n-->",
        "<pre>\n```python\nx\n```\n</pre>",
        "    ```python\n    x\n    ```",
        "> ```python\n> x\n> ```",
        "- ```python\n  x\n  ```",
        "1. - ```python\n     x\n     ```",
        "``` python`x` ```",
        "```python .noeval\nx\n```",
        "```pythonic\nx\n```",
        "``\npython\n``",
    ],
)
def test_what_only_looks_like_code_stays_prose_and_hides_no_code_after_it(text: str) -> None:
    assert shown(f"{text}\n\n```python\nreal()\n```\n") == [("markdown", text), ("code", "real()")]


def test_a_fence_in_a_list_item_ends_with_the_item() -> None:
    assert shown("- ```python\n  x\nnext\n\n```python\nreal()\n```\n")[-1] == ("code", "real()")


def test_the_line_of_a_fence_carries_name_tags_and_metadata() -> None:
    text = '```python name="load" tags=["parameters", "slow"] slideshow={"slide_type": "slide"} id="abc"\nx\n```\n'
    (found,) = read(text, PATH).cells
    assert (found.name, found.tags, found.id) == ("load", ("parameters", "slow"), "abc")
    assert found.metadata == {"slideshow": {"slide_type": "slide"}}


def test_words_that_are_no_options_are_kept_for_whoever_wrote_them() -> None:
    (found,) = read('```python {1,3-5} title="x" a=b\ny\n```\n', PATH).cells
    assert found.metadata == {"title": "x", "quire": {"info": "{1,3-5} a=b"}}
    assert kept(read(write(sheet_of(found), PATH), PATH)) == kept(sheet_of(found))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('```python tags="parameters"', 'sales.md: line 3: tags are a list of text, such as tags=["parameters"].'),
        ("```python name=5", 'sales.md: line 3: a name is text, such as name="load".'),
        ('```python id="a b"', "sales.md: line 3: Cell id 'a b' is not valid"),
        ("```python metadata=[1]", "sales.md: line 3: metadata is an object"),
    ],
)
def test_a_wrong_option_is_told_with_its_line(line: str, told: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(f"text\n\n{line}\nx\n```\n", PATH)
    assert told in str(caught.value)


def test_a_marked_cell_holds_anything_and_says_more() -> None:
    text = '<!-- #region Intro tags=["a"] -->\n\n```python\nexample\n```\n<!-- #endregion -->\n\n<!-- #raw -->\nr\n<!-- #endraw -->\n'
    first, second = read(text, PATH).cells
    assert (first.kind, first.source, first.tags) == ("markdown", "\n```python\nexample\n```", ("a",))
    assert first.metadata == {"title": "Intro"}
    assert (second.kind, second.source) == ("raw", "r")


def test_a_mark_without_an_end_is_a_comment() -> None:
    text = "<!-- #region -->\nx\n\n```python\ny\n```\n"
    assert shown(text) == [("markdown", "<!-- #region -->\nx"), ("code", "y")]


# ---- Languages


def test_the_language_is_what_the_metadata_says_and_others_are_noted() -> None:
    text = "---\njupyter:\n  kernelspec: {name: ir, display_name: R, language: R}\n---\n\n```r\nx <- 1\n```\n\n```python\ny = 1\n```\n"
    sheet = read(text, PATH)
    assert sheet.language == "r"
    assert [each.metadata for each in sheet.cells] == [{}, {"quire": {"language": "python"}}]


def test_without_metadata_the_language_is_python_if_it_is_used_else_the_first() -> None:
    both = read("```bash\nls\n```\n\n```python\nx\n```\n", PATH)
    assert (both.language, both.metadata) == ("python", {})
    assert both.cells[0].metadata == {"quire": {"language": "bash"}}
    bash = read("```sh\nls\n```\n", PATH)
    assert (bash.language, bash.cells[0].metadata) == ("bash", {})
    assert "language_info" not in write(bash, PATH)
    assert kept(read(write(bash, PATH), PATH)) == kept(bash)


def test_any_language_that_the_metadata_names_has_fences() -> None:
    sheet = sheet_of(cell("main = print 1"), cell("```haskell\nx\n```", "markdown"), language_info={"name": "haskell"})
    text = write(sheet, PATH)
    assert "```haskell\nmain = print 1\n```" in text
    assert kept(read(text, PATH)) == kept(sheet)


# ---- Results


def test_results_belong_to_the_cell_above() -> None:
    text = "```python\nprint(1)\n```\n\nResults:\n\n```\n1\n```\n\nAnd so on.\n"
    code, prose = read(text, PATH).cells
    assert code.outputs == [{"output_type": "stream", "name": "stdout", "text": "1\n"}]
    assert prose.source == "And so on."


@pytest.mark.parametrize(
    "text",
    [
        "Results:\n\n```\n1\n```\n",
        "```python\nx\n```\n\nResults: fine\n\n```\n1\n```\n",
        "```python\nx\n```\n\nResults:\n\n| a |\n|---|\n\n```\n1\n```\n",
        "```python\nx\n```\n\nResults:\n\n```json\n1\n```\n",
        "```python\nx\n```\n\nResults:\n",
    ],
)
def test_other_results_are_prose(text: str) -> None:
    sheet = read(text, PATH)
    assert sheet.cells[-1].kind == "markdown"
    assert not any(each.outputs for each in sheet.cells)


def test_outputs_are_written_as_text_and_what_is_no_text_is_left_out() -> None:
    data = {"text/plain": "<Figure>", "image/png": "iVBOR"}
    sheet = sheet_of(
        cell(
            "f()",
            count=3,
            outputs=[
                {"output_type": "stream", "name": "stdout", "text": "\x1b[31mred\x1b[0m\n"},
                {"output_type": "stream", "name": "stderr", "text": "no line end"},
                {"output_type": "execute_result", "data": data, "metadata": {"x": 1}, "execution_count": 3},
                {"output_type": "display_data", "data": {"image/png": "iVBOR"}, "metadata": {}},
                {"output_type": "error", "ename": "E", "evalue": "`-->`", "traceback": ["a\nb", "c"]},
            ],
        )
    )
    text = write(sheet, PATH)
    assert "iVBOR" not in text
    assert text.startswith("```python\nf()\n```\n\nResults:\n\n```text\nred\n```\n")
    (found,) = read(text, PATH).cells
    assert [each["output_type"] for each in found.outputs] == ["stream", "stream", "execute_result", "error"]
    assert found.outputs[1]["text"] == "no line end"
    assert found.outputs[3]["traceback"] == ["a", "b", "c"]
    assert kept(read(text, PATH)) == kept(sheet)


# ---- Writing beside what is there

LIKE = """---
title: Sales   # as it was
parameters: {top: 5}
---


# Sales
```py
x = 1
```
* * *

~~~sql name="q"
SELECT 1
~~~

  ```bash
  ls
  ```
The end."""


def replaced(sheet: Sheet, index: int, **fields: Any) -> Sheet:
    cells = list(sheet.cells)
    cells[index] = msgspec.structs.replace(cells[index], **fields)
    return msgspec.structs.replace(sheet, cells=tuple(cells))


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("index", "source", "old", "new"),
    [
        (0, "# Sold", "# Sales", "# Sold"),
        (1, "x = 2\ny", "x = 1", "x = 2\ny"),
        (1, "'''\n```\n'''", "```py\nx = 1\n```", "````python\n'''\n```\n'''\n````"),
        (3, "SELECT 2", "SELECT 1", "SELECT 2"),
        (4, "ls\n  -l", "  ls\n", "  ls\n    -l\n"),
        (5, "The very end.", "The end.", "The very end."),
    ],
)
def test_a_changed_cell_changes_only_its_own_lines(index: int, source: str, old: str, new: str, line_end: str) -> None:
    like = LIKE.replace("\n", line_end)
    sheet = replaced(read(like, PATH), index, source=source)
    assert write(sheet, PATH, like) == LIKE.replace(old, new).replace("\n", line_end)


def test_cells_come_go_and_move_beside_the_others() -> None:
    sheet = read(LIKE, PATH)
    less = msgspec.structs.replace(sheet, cells=sheet.cells[:2] + sheet.cells[3:])
    assert write(less, PATH, LIKE) == LIKE.replace("* * *\n\n", "").replace("```\n~~~", "```\n\n~~~")
    more = msgspec.structs.replace(sheet, cells=(*sheet.cells, cell("y", id="new")))
    assert write(more, PATH, LIKE) == LIKE + "\n\n```python\ny\n```"
    moved = msgspec.structs.replace(sheet, cells=(*sheet.cells[1:], sheet.cells[0]))
    assert "  ```bash\n  ls\n  ```\nThe end." in write(moved, PATH, LIKE)
    assert kept(read(write(moved, PATH, LIKE), PATH)) == kept(moved)


def test_a_changed_key_of_the_frontmatter_leaves_the_others() -> None:
    sheet = read(LIKE, PATH)
    changed = msgspec.structs.replace(sheet, metadata={"quire": {**sheet.ours, "parameters": {"top": 6}, "owner": "é"}})
    text = write(changed, PATH, LIKE)
    assert text == LIKE.replace("parameters: {top: 5}\n", "parameters:\n  top: 6\nowner: é\n")
    none = msgspec.structs.replace(sheet, metadata={})
    assert write(none, PATH, LIKE) == LIKE.partition("---\n\n\n")[2]


def test_ids_and_counts_are_no_change() -> None:
    sheet = read(LIKE, PATH)
    other = msgspec.structs.replace(
        sheet, cells=tuple(msgspec.structs.replace(each, id=f"n{i}", count=i) for i, each in enumerate(sheet.cells))
    )
    assert write(other, PATH, LIKE) == LIKE


def test_an_id_that_the_author_wrote_stays_and_no_other_is_written() -> None:
    like = '```python id="mine"\nx\n```\n\n```python\ny\n```\n'
    sheet = read(like, PATH)
    assert write(replaced(sheet, 0, source="z", tags=("t",)), PATH, like) == like.replace(
        '"mine"\nx', '"mine" tags=["t"]\nz'
    )
    assert "id=" not in write(sheet, PATH)


def test_what_a_logbook_does_not_carry_stays_where_somebody_wrote_it() -> None:
    like = "---\njupyter:\n  widgets: {a: 1}\n---\n\n```python\nx\n```\n\nResults:\n\n```\n\x1b[31mred\n```\n"
    assert write(read(like, PATH), PATH, like) == like
    changed = write(replaced(read(like, PATH), 0, source="y"), PATH, like)
    assert changed.startswith("---\njupyter:\n  widgets: {a: 1}\n---\n")


def test_prose_that_follows_prose_is_marked_only_then() -> None:
    text = write(sheet_of(cell("a", "markdown"), cell("b", "markdown"), cell("c", "markdown"), cell("d")), PATH)
    assert text == "a\n\n<!-- #region -->\nb\n<!-- #endregion -->\n\nc\n\n```python\nd\n```\n"


@pytest.mark.parametrize(
    "source",
    ["", " ", "\n", "a\n", "\na", "---", "Results:", "```python\nx\n```", "```\nopen", "<!-- open", "a\rb", "a\r\nb", "a\n\n\nb",
     "<!-- #region -->", "<!-- #endregion -->", "<!-- #endregion -->\n<!-- #endregion 2 -->",
     "<!-- #endregion -->\n<!-- #endmd -->\n<!-- #endmarkdown -->\n<!-- #endregion 2 -->", "<!-- #endraw -->", "- ```\n  open"],
)  # fmt: skip
def test_prose_that_would_be_read_as_something_else_survives(source: str) -> None:
    sheet = sheet_of(cell(source, "markdown"), cell("x = 1"), cell(source, "markdown"), cell(source, "markdown"))
    assert kept(read(write(sheet, PATH), PATH)) == kept(sheet)
    raw = sheet_of(cell(source, "raw"), cell(source, "raw"))
    assert kept(read(write(raw, PATH), PATH)) == kept(raw)


# ---- Laws

LINES = st.sampled_from(
    [
        "", "", "", "text", "Results:", "**Results:**", "```python", "```", "````", "~~~", "~~~sql", "```json", "  ```r",
        '```python tags=["parameters"] name="p"', "```prompt", "<!-- #region -->", "<!-- #endregion -->", "<!-- #raw -->",
        '<!-- #region until="2" -->', "<!-- #endregion 2 -->", "<!-- #endraw -->",
        "<!-- #md -->", "<!-- #endmd -->", "<!-- #endmarkdown -->", "<!--", "-->", "---", "...", "a: 1",
        "- ```python", "  x", "    ```python", "> ```python", "<pre>", "</pre>", "x\r", "```bash .noeval", "```text",
        "\t```", " ", "# é ☃", "```python title=foo {1,2}", "<script>", "jupyter:", "  kernelspec: {language: R}", "\ud800",
        "# c", "parameters:", "  top:", "```raw", '```text stream="stderr"', "\x1b[1m", "  widgets: 1", '```python id="a"',
    ]
)  # fmt: skip


def _joined(drawn: tuple[list[str], str, bool]) -> str:
    lines, line_end, ended = drawn
    return line_end.join(lines) + line_end * ended


TEXTS = st.tuples(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans()).map(_joined)
PAGES = TEXTS | TEXTS.map(lambda text: f"---\n{text}\n---\n{text}")
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text("ab`-> \n\"'{}é=:#%", max_size=6)
JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab -$`", max_size=3), inner, max_size=2),
    max_leaves=4,
)
NAMES = st.text('ab`->é \n="', min_size=1, max_size=5)
PRINTED = st.text("a`~ \n\r\x1b[m", max_size=8)


@st.composite
def outputs(draw: st.DrawFn) -> Any:
    match draw(st.integers(0, 4)):
        case 0:
            return {"output_type": "stream", "name": draw(st.sampled_from(["stdout", "stderr"])), "text": draw(PRINTED)}
        case 1:
            data = {"text/plain": draw(PRINTED), "text/html": "<b>"}
            return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 3}
        case 2:
            return {"output_type": "display_data", "data": {"text/plain": draw(PRINTED)}, "metadata": {"a": 1}}
        case 3:
            lines = draw(st.lists(PRINTED, max_size=3))
            return {"output_type": "error", "ename": draw(NAMES), "evalue": draw(NAMES), "traceback": lines}
        case _:
            return {"output_type": "display_data", "data": {"image/png": "x"}, "metadata": {}}


KINDS: st.SearchStrategy[CellKind] = st.sampled_from(["code", "code", "markdown", "markdown", "raw", "sql", "prompt"])


@st.composite
def cells(draw: st.DrawFn) -> SheetCell:
    kind = draw(KINDS)
    keys = st.sampled_from(["a", "b c", "id", "kind", "until", "metadata", "title"])
    metadata = draw(st.dictionaries(keys, JSON, max_size=2))
    own = [None, None, {"language": "bash"}, {"language": "sql", "x": 1}, {"language": "python"}, {"info": "y"}]
    if kind == "code" and (ours := draw(st.sampled_from(own))) is not None:
        metadata["quire"] = ours
    return cell(
        draw(TEXTS),
        kind,
        name=draw(st.none() | NAMES),
        tags=tuple(draw(st.just([]) | st.lists(NAMES, max_size=2))),
        metadata=metadata,
        outputs=draw(st.just([]) | st.lists(outputs(), max_size=3)),
    )


SPOKEN = st.sampled_from(["python", "R", "bash", "wolfram language", "sql", "raw", "C#"])


@st.composite
def sheets(draw: st.DrawFn) -> Sheet:
    metadata = draw(st.dictionaries(st.text("ab: #", max_size=3), JSON, max_size=3))
    if draw(st.booleans()):
        metadata["quire"] = draw(st.dictionaries(st.sampled_from(["a", "jupyter", "kernelspec", "parameters"]), JSON))
    # A notebook that names no language takes that of its fences: that is another test.
    key, name = draw(st.sampled_from([("language_info", "name"), ("kernelspec", "language")]))
    metadata[key] = {name: draw(SPOKEN)}
    return Sheet(cells=with_ids(draw(st.lists(cells(), max_size=5))), metadata=metadata)


def read_or_none(text: str) -> Sheet | None:
    try:
        return read(text, PATH)
    except BadInput:
        return None


@pytest.mark.generated
@given(PAGES)
def test_a_logbook_that_is_read_and_written_is_the_same_bytes(text: str) -> None:
    sheet = read_or_none(text)
    if sheet is not None:
        assert write(sheet, PATH, text) == text
        assert kept(read(write(sheet, PATH), PATH)) == kept(sheet)


@pytest.mark.generated
@examples(40)
@given(sheets())
def test_what_is_written_is_read_back(sheet: Sheet) -> None:
    text = write(sheet, PATH)
    assert same(kept(read(text, PATH)), kept(sheet))
    assert write(read(text, PATH), PATH) == text


@pytest.mark.generated
@examples(40)
@given(sheets(), PAGES)
def test_what_is_written_over_another_file_is_read_back(sheet: Sheet, like: str) -> None:
    if read_or_none(like) is not None:
        assert same(kept(read(write(sheet, PATH, like), PATH)), kept(sheet))


@pytest.mark.generated
@given(PAGES, st.data())
def test_an_edit_leaves_the_other_cells_their_bytes(text: str, data: st.DataObject) -> None:
    sheet = read_or_none(text)
    if sheet is None or not any(each.kind in ("code", "sql") for each in sheet.cells):
        return
    places = [index for index, each in enumerate(sheet.cells) if each.kind in ("code", "sql")]
    changed = replaced(sheet, data.draw(st.sampled_from(places)), source="changed = 1", outputs=[])
    new = write(changed, PATH, text)
    assert kept(read(new, PATH)) == kept(changed)
    for each in sheet.cells:
        if each.kind == "markdown" and "\r" not in each.source:
            assert each.source in new.replace("\r\n", "\n")


@pytest.mark.generated
@settings(max_examples=25)
@given(sheets())
def test_jupytext_reads_the_same_cells(sheet: Sheet) -> None:
    """The markers are Jupytext's: what is a cell to us is one to it, prompts and results aside."""
    plain = [
        cell(each.source.replace("\r", ""), each.kind, tags=tuple(dict.fromkeys(each.tags)))
        for each in sheet.cells
        if each.kind in ("code", "markdown", "raw") and "\ud800" not in each.source
    ]
    plain = [each for each in plain if not each.source.endswith("\n") or each.kind == "code"]
    text = write(sheet_of(*plain, kernelspec={"name": "python3", "display_name": "P", "language": "python"}), PATH)
    found = cast("Any", jupytext).reads(text, "md")
    assert [each.cell_type for each in found.cells] == [each.kind for each in plain]


# ---- Bad input


@pytest.mark.parametrize(
    ("front", "told"),
    [
        ("a: 1\nb: [1, 2", "line 4: the frontmatter is not YAML"),
        ("a: 1\n\tb: 2", "line 3: the frontmatter is not YAML"),
        ("a: 1\nb: 2\na: 3", "line 4: 'a' stands twice"),
        ("parameters:\n  x: 1\n  x: 2", "line 4: 'x' stands twice"),
        ("just text", "line 2: the frontmatter has no names"),
        ("- a\n- b", "line 2: the frontmatter has no names"),
        ("a: !!python/object:os.system x", "line 2: the tag"),
        ("a: 2026-13-45", "line 2: '2026-13-45' cannot be read as timestamp"),
        ("[1, 2]: x", "line 2: a name in the frontmatter is text"),
        ("jupyter: 5", "`jupyter:` in the frontmatter holds"),
        ("a: &x [*x]", "too large or nested too deep"),
        ("a: " + "[" * 200 + "]" * 200, "too large or nested too deep"),
        ("a: " + "[" * 20_000, "the frontmatter is too large"),
        ("a: \x01", "the frontmatter is not YAML"),
        ("a: *nothing", "line 2: the frontmatter is not YAML"),
    ],
)
def test_broken_frontmatter_is_told_with_the_line_of_the_file(front: str, told: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(f"---\n{front}\n---\n\ntext\n", PATH)
    assert str(caught.value).startswith(PATH)
    assert told in str(caught.value)


def test_aliases_of_aliases_are_refused_before_they_fill_the_memory() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    with pytest.raises(BadInput, match="too large"):
        read("---\n" + "\n".join(lines) + "\n---\n", PATH)


def test_frontmatter_says_what_yaml_says_but_names_are_text_and_times_are_no_numbers() -> None:
    text = "---\non: yes\n1: 2\nat: 12:30\nday: 2026-01-31\nwhen: 2026-01-31T06:00:00Z\nx: .inf\n---\n"
    assert read(text, PATH).ours == {
        "on": True,
        "1": 2,
        "at": "12:30",
        "day": {"$date": "2026-01-31"},
        "when": {"$datetime": "2026-01-31T06:00:00+00:00"},
        "x": {"$float": "inf"},
    }
    assert kept(read(write(read(text, PATH), PATH), PATH)) == kept(read(text, PATH))


def test_a_rule_at_the_top_is_no_frontmatter_without_its_end() -> None:
    assert shown("---\n\ntext\n") == [("markdown", "---\n\ntext")]


def test_nothing_required_and_null_are_told_apart() -> None:
    text = "---\nparameters:\n  a:\n  b: null\n  c: ~\n  d: ...\n  e: '...'\n  f: {default: , type: int}\n---\n"
    assert read(text, PATH).ours["parameters"] == {
        "a": "...",
        "b": None,
        "c": None,
        "d": "...",
        "e": "...",
        "f": {"default": "...", "type": "int"},
    }


def test_thousands_of_cells_and_of_marks_take_no_longer_than_they_should() -> None:
    """What grows with the square of its input ends at the time limit of the tests."""
    many = "".join(f"text {n}\n\n```python\nx = {n}\n```\n\n" for n in range(2500))
    sheet = read(many, PATH)
    assert len(sheet.cells) == 5000
    changed = replaced(sheet, 2501, source="y")
    assert write(changed, PATH, many) == many.replace("x = 1250\n", "y\n")
    for hostile in (
        '<!-- #region until="2" -->\n',
        "<!-- #raw -->\n",
        "- ```\n",
        "> ```\n",
        "```x``\n",
        "<a>\n",
        "- " * 20 + "\n",
    ):
        assert len(read(hostile * 10_000, PATH).cells) == 1


def test_the_reference_lists_every_language_with_its_other_names() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "logbook.md").read_text()
    for name, more in LANGUAGES.items():
        assert f"| `{name}` | {' '.join(f'`{alias}`' for alias in more)}".rstrip() + " |" in page
