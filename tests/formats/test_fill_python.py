"""Values in prose and in Python code: exactly there, and exactly that."""

from __future__ import annotations

import ast
import datetime as dt
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.core.events import CellKind
from quire.core.sheet.sheet import Sheet, SheetCell, with_ids
from quire.core.values import FilePath
from quire.formats.logbook.fill_literals import literal
from quire.formats.logbook.fill_values import fill, fill_prose
from quire.formats.registry import read, write

from .fill_cases import HOSTILE, filled, refused


def sheet_of(source: str, kind: CellKind = "code", **metadata: Any) -> Sheet:
    cell = SheetCell(id="", kind=kind, source=source, name="load", metadata=metadata)  # type: ignore[arg-type]
    return Sheet(cells=with_ids([cell]))


# ---- Exactly there


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("for {top} rows", "for 5 rows"),
        ("{top}{top}", "55"),
        ('{"top": {top}}', '{"top": 5}'),
        ("{{top}} { top } {Top} {topp} {top {top:d} ${top}", "{{top}} { top } {Top} {topp} {top {top:d} $5"),
        ("{other}", "{other}"),
    ],
)
def test_only_a_declared_name_in_its_own_braces_is_replaced(source: str, result: str) -> None:
    assert fill_prose(source, {"top": 5}) == result


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (None, "null"), (1.5, "1.5"), (dt.date(2026, 1, 31), "2026-01-31"), ([1, "é"], '[1, "é"]'), (FilePath("a/b"), "a/b"),
     ({"a": (1,)}, '{"a": [1]}'), ("{top}", "{top}")],
)  # fmt: skip
def test_prose_shows_a_value_as_text(value: Any, text: str) -> None:
    assert fill_prose("{x}", {"x": value, "top": 5}) == text


def test_a_value_begins_no_cell_of_its_own() -> None:
    value = "a\n\n```python\nimport os\n```\n\u2028---"
    sheet = fill(read("About {x}.\n\n{x}\n\n```python\ny = 1\n```\n", "a.md"), {"x": value})
    again = read(write(sheet, "a.md"), "a.md")
    assert [cell.kind for cell in again.cells] == ["markdown", "code"]
    assert [cell.source for cell in again.cells] == [cell.source for cell in sheet.cells]


def test_each_kind_of_cell_is_filled_in_its_own_language() -> None:
    fences = {"python": "a = {x}", "sql": "SELECT {x}", "prompt": "Say {x}", "bash": "echo {x}", "raw": "{x}"}
    text = "{x}\n\n" + "".join(f"```{label}\n{source}\n```\n\n" for label, source in fences.items())
    sheet = fill(read(text, "a.md"), {"x": "it's"})
    assert [cell.source for cell in sheet.cells] == [
        "it's",
        'a = "it\'s"',
        "SELECT 'it''s'",
        "Say it's",
        "echo 'it'\\''s'",
        "{x}",
    ]


def test_what_is_refused_names_cell_line_name_and_value() -> None:
    with pytest.raises(BadInput) as caught:
        fill(sheet_of("a = 1\nb = r'{x}'"), {"x": "it's"})
    assert str(caught.value) == (
        'cell load, line 2: {x} cannot be replaced by "it\'s": a raw string cannot hold it.'
        " Give another value, or use the parameter as a variable."
    )
    assert caught.value.details["parameter"] == "x"


# ---- Python


@pytest.mark.parametrize(
    ("source", "value", "result"),
    [
        ("x = {v}", "a'b\n", 'x = "a\'b\\n"'),
        ("x = {v}", -5, "x = (-5)"),
        ("x = {v}.real", 5, "x = (5).real"),
        ("x = {v}", math.nan, "x = float('nan')"),
        ("x = {v}", dt.date(2026, 1, 31), "x = __import__('datetime').date(2026, 1, 31)"),
        ("x = {v}", FilePath("a'b"), "x = __import__('pathlib').Path(\"a'b\")"),
        ("x = 'a {v}'", "it's", "x = 'a it\\'s'"),
        ('x = "a {v}"', "it's", 'x = "a it\'s"'),
        ("x = '''{v}'''", "'''", "x = '''\\'\\'\\''''"),
        ("x = f'{v} {w}' + '{v}'", "{w}", "x = f'{v} {w}' + '{w}'"),
        ("x = rf'{v}' F'{v}'", "a", "x = rf'{v}' F'{v}'"),
        ("x = f'{{v}} {w:{v}} {v!r}'", "a", "x = f'{{v}} {w:{v}} {v!r}'"),
        ("x = b'{v}'", "é", "x = b'\\xc3\\xa9'"),
        ("x = r'\\d{v}'", "a\\b", "x = r'\\da\\b'"),
        ("x = '\\\\{v}'", "a", "x = '\\\\a'"),
        ("x = '\\N{v}'", "a", "x = '\\N{v}'"),
        ("# {v}", "a\nb", "# a b"),
        ("x = sales_{v}", "north", "x = sales_north"),
        ("x = {v}", True, "x = True"),
        ("x = '{v}'", None, "x = 'None'"),
        ("!ls '{v}'", "a.csv", "!ls 'a.csv'"),
        ("%%bash\nls {v}", 5, "%%bash\nls 5"),
    ],
)
def test_a_value_in_python_stays_inside_its_literal(source: str, value: Any, result: str) -> None:
    assert filled(source, v=value) == result


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("x = r'{v}'", "'"),
        ("x = r'{v}'", "a\\"),
        ("x = r'{v}'", "a\nb"),
        ("x = '\\{v}'", "' + os.system('x') + '"),
        ("x = '\\{v}'", "n"),
        ("x{v} = 1", "y"),
        ("x{v} = 1", 5),
        ("import {v}", "a b"),
        ("!ls {v}", "a; rm -rf /"),
        ("!ls {v}", "a"),
        ("x = !ls {v}", "a"),
        ("%%bash\nls '{v}'", "a b"),
        ("x = 'open {v}", "a b"),
        ("x = ({v}", "a b"),
        ("{v} = 1", "a b"),
        ("@{v}\ndef f(): ...", "a"),
        ("x = {v}", object()),
        ("x = ''{v}", "a"),
        ("# a\rx = {v}", "f()"),
        ("x = '''open {v}", "a b"),
    ],
)
def test_what_python_cannot_hold_there_is_refused(source: str, value: Any) -> None:
    assert "{v}" in refused(source, v=value)


@pytest.mark.parametrize(
    ("source", "line", "name", "why"),
    [
        ("a = '{w}'\n{v} = 1\nb = {w}", 2, "v", "with it the code would be no Python, or other code"),
        ("a = {w}\nb = {w}\nc = [\n  {v}\n  for {w} in x]\nd = {w}", 5, "w", "with it the code would be no Python, or other code"),
        ("a = {n}\nb = '{v}'\nc = (", 2, "v", "the code around it is no Python, so nobody can tell what it would do there"),
    ],
)  # fmt: skip
def test_what_the_syntax_tree_shows_names_line_name_and_value_too(source: str, line: int, name: str, why: str) -> None:
    assert refused(source, v="a b", w="a b", n=5) == (
        f"line {line}: {{{name}}} cannot be replaced by 'a b': {why}. Give another value, or use the parameter as a variable."
    )


TEMPLATES = st.lists(
    st.sampled_from(
        ["'{v}'", '"{v}"', "'''{v}'''", '"""\n{v}"""', "f'{v}'", "f'{y}{v}'", "rf'{v}'", "r'{v}'", "b'{v}'", "{v}", "[{v}, {v}]",
         "f'{y:{v}}'", "'\\\\{v}'", "f'{{{v}}}'", "'{v}' \"{v}\"", "f'{ {v} }'", "f\"{'{v}'}\"", "({v},)", "-{v}", "u'{v}{v}'"]
    ),
    min_size=1,
    max_size=4,
).map(lambda parts: "".join(f"x = {part}  # {{v}}\n" for part in parts))  # fmt: skip


class Shape(ast.NodeTransformer):
    """The code without what its constants say, and without what their f-strings spell out."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant(type(node.value).__name__)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        return ast.JoinedStr([self.visit(each) for each in node.values if not isinstance(each, ast.Constant)])


def shape(source: str) -> str:
    return ast.dump(Shape().visit(ast.parse(source)))


@pytest.mark.generated
@given(TEMPLATES, HOSTILE)
def test_no_text_changes_what_python_code_does(template: str, value: str) -> None:
    try:
        source = filled(template, v=value)
    except BadInput:
        return
    assert shape(source) == shape(filled(template, v="x"))


@pytest.mark.generated
@given(st.sampled_from(["'{v}'", '"{v}"', "'''{v}'''", '"""{v}"""', "f'{v}'", 'f"""{v}"""', "{v}", "u'{v}'"]), HOSTILE)
def test_text_in_python_is_exactly_that_text(template: str, value: str) -> None:
    # In an f-string it is the variable, which a run sets too.
    assert eval(filled(template, v=value), {"v": value}) == value


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | HOSTILE | st.binary() | st.dates() | st.datetimes()
    | st.times() | st.timedeltas(),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@pytest.mark.generated
@given(VALUES)
def test_a_literal_of_python_is_exactly_its_value(value: Any) -> None:
    assert eval(literal(value, "python"), {}) == value
    assert eval(filled("[{v}]", v=value), {}) == [value]


@pytest.mark.parametrize(
    "value",
    [{1, 2}, set[int](), frozenset({1}), frozenset[int](), (1,), (), dt.datetime(2026, 1, 1, tzinfo=dt.UTC), 2**70],
)
def test_other_values_of_python_are_exact_too(value: Any) -> None:
    assert eval(literal(value, "python"), {}) == value
