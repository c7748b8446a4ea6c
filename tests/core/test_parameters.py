"""Parameters: what a notebook declares, and how values are bound to it."""

from __future__ import annotations

import datetime as dt
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from quire.core.errors import BadInput
from quire.core.params.param_types import GENERIC, SIMPLE, fit, from_text, parse_type, type_of
from quire.core.params.parameters import Parameter, Text, as_json, bind, declared, declared_in_source, inspected
from quire.core.sheet.sheet import Sheet, SheetCell, with_ids
from quire.core.values import FilePath, tag, untag


def one(source: str, language: str = "python") -> Parameter:
    (found,) = declared_in_source(source, language)
    return found


def sheet_of(*cells: tuple[str, str], parameters: Any = None, language: str = "python") -> Sheet:
    """Cells are sources with a tag."""
    made = [SheetCell(id="", source=source, tags=(tag,) if tag else ()) for source, tag in cells]  # type: ignore[arg-type]
    ours = {"quire": {"parameters": parameters}} if parameters is not None else {}
    return Sheet(cells=with_ids(made), metadata={"language_info": {"name": language}, **ours})


def front(**parameters: Any) -> list[Parameter]:
    return declared(sheet_of(parameters=parameters))


# ---- From a cell


@pytest.mark.parametrize(
    ("source", "type", "value"),
    [
        ("x = 5", "int", 5),
        ("x = -5", "int", -5),
        ("x = 2.5", "float", 2.5),
        ("x: float = 1", "float", 1.0),
        ("x = True", "bool", True),
        ("x = 'a' 'b'", "str", "ab"),
        ("x = None", None, None),
        ("x: int | None = None", "int | None", None),
        ("x: Optional[int] = None", "int | None", None),
        ("x: typing.Union[int, str] = 1", "int | str", 1),
        ("x: 'list[int]' = []", "list[int]", []),
        ("x: List[str] = ['a']", "list[str]", ["a"]),
        ("x = [1, 2]", "list[int]", [1, 2]),
        ("x = [1, 'a']", "list", [1, "a"]),
        ("x = (1, 'a')", "tuple", (1, "a")),
        ("x: tuple[int, ...] = (1, 2)", "tuple[int, ...]", (1, 2)),
        ("x = {'a': 1}", "dict", {"a": 1}),
        ("x = {1, 2}", "set[int]", {1, 2}),
        ("x = b'a'", "bytes", b"a"),
        ("x = Path('a') ", "path", FilePath("a")),
        ("x = pathlib.Path('a', 'b')", "path", FilePath("a/b")),
        ("x: Path = 'a.csv'", "path", FilePath("a.csv")),
        ("x = datetime.date(2026, 1, 31)", "date", dt.date(2026, 1, 31)),
        ("x = date.fromisoformat('2026-01-31')", "date", dt.date(2026, 1, 31)),
        ("x: date = '2026-01-31'", "date", dt.date(2026, 1, 31)),
        ("x = datetime(2026, 1, 31, tzinfo=timezone.utc)", "datetime", dt.datetime(2026, 1, 31, tzinfo=dt.UTC)),
        ("x = dt.timedelta(days=1)", "duration", dt.timedelta(days=1)),
        ("x = float('-inf')", "float", -math.inf),
        ("x = math.inf", "float", math.inf),
        ("x = 2**70", None, UNSET),
        ("x = 123456789012345678901234567890", "int", 123456789012345678901234567890),
        ("x = f'plain'", "str", "plain"),
        ("x: pd.DataFrame = 5", "int", 5),
        ("x: int = 'wrong'", "int", "wrong"),
        ("x: Literal['a', 'b'] = 'a'", "str", "a"),
    ],
)
def test_a_default_is_read_from_the_syntax_tree(source: str, type: str | None, value: Any) -> None:
    found = one(source)
    assert (found.name, found.type, found.required) == ("x", type, False)
    if value is UNSET:
        assert found.default is UNSET
    else:
        assert untag(found.default) == value
        json.dumps(found.default)


def test_not_a_number_is_a_number() -> None:
    assert math.isnan(untag(one("x = float('nan')").default))


@pytest.mark.parametrize(
    "expression", ["date.today()", "a + 1", "[x for x in y]", "os.environ['HOME']", "Path(home) / 'x'", "f'{a}'"]
)
def test_what_only_running_tells_is_kept_as_it_is_written(expression: str) -> None:
    found = one(f"x: int = {expression}  # help")
    assert (found.type, found.default, found.expression, found.required) == ("int", UNSET, expression, False)
    assert found.help == "help"


def test_nothing_is_run() -> None:
    assert one("x = __import__('os').abort()").expression is not None


@pytest.mark.parametrize("source", ["x: int", "x: int = ..."])
def test_without_a_default_it_is_required(source: str) -> None:
    found = one(source)
    assert (found.type, found.default, found.required) == ("int", UNSET, True)


def test_help_is_the_comment_behind_or_the_lines_right_above() -> None:
    source = """# Of the whole cell.

# How many rows
# to keep.
top = 5
month = "2026-10"  # which month
# not this one

limit = [  # first line
    1,
]
a = b = 1  # both
c, d = 1, "#no"
"""
    found = declared_in_source(source)
    assert {each.name: (each.help, each.line) for each in found} == {
        "top": ("How many rows to keep.", 5),
        "month": ("which month", 6),
        "limit": ("first line", 9),
        "a": ("both", 12),
        "b": ("both", 12),
        "c": ("", 13),
        "d": ("", 13),
    }


def test_papermills_type_comments_are_understood() -> None:
    found = one("x = None  # type: List[int] which ones")
    assert (found.type, found.help) == ("list[int]", "which ones")


def test_only_names_at_the_top_count_and_the_last_value_of_each() -> None:
    source = "import os\nx = 1\nif x:\n    y = 2\ndef f():\n    z = 3\nx = 4\na.b = 5\nc[0] = 6\nd += 1\n"
    assert [(each.name, each.default) for each in declared_in_source(source)] == [("x", 4)]


def test_magics_are_passed_over() -> None:
    source = "%matplotlib inline\n!pip list\nx = 1  # help\nfiles = !ls\ny?\nz = 2\n"
    assert [each.name for each in declared_in_source(source)] == ["x", "z"]
    assert [each.name for each in declared_in_source("%%time\nx = 1\n")] == ["x"]


@pytest.mark.parametrize("source", ["x = = 1", "x = (", "x = '", "x = 1\n  y = 2", "x\x00 = 1", "(" * 1000])
def test_what_is_no_python_is_told_with_the_cell(source: str) -> None:
    with pytest.raises(BadInput, match="The cell tagged `parameters` cannot be read: "):
        declared(sheet_of((source, "parameters")))


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("r", "# how many\ntop <- 5L  # rows\nname = 'x'\nfine <- TRUE\nnone <- NULL\nv <- c(1, 2)",
         {"top": ("int", 5, "rows"), "name": ("str", "x", ""), "fine": ("bool", True, ""),
          "none": (None, None, ""), "v": (None, UNSET, "")}),
        ("julia", 'const top::Int = 5 # rows\nname = "a\\"b"\nx::Float64 = 1\ny = nothing',
         {"top": ("int", 5, "rows"), "name": ("str", 'a"b', ""), "x": ("float", 1.0, ""), "y": (None, None, "")}),
        ("bash", "export TOP=5 # rows\nname='a b'\nother=\"$HOME/x\"\nplain=a.csv",
         {"TOP": ("int", 5, "rows"), "name": ("str", "a b", ""), "other": (None, UNSET, ""), "plain": ("str", "a.csv", "")}),
        ("scala", 'val top: Int = 5 // rows\nvar name = "x";\nval big = 5L',
         {"top": ("int", 5, "rows"), "name": ("str", "x", ""), "big": ("int", 5, "")}),
        ("csharp", 'int top = 5; // rows\nvar name = "x";\nconst double d = 1.5;',
         {"top": ("int", 5, "rows"), "name": ("str", "x", ""), "d": ("float", 1.5, "")}),
        ("fsharp", 'let top = 5 // rows\nlet mutable name = "x"',
         {"top": ("int", 5, "rows"), "name": ("str", "x", "")}),
        ("powershell", "$top = 5 # rows\n[string]$name = 'x'\n$on = $true",
         {"top": ("int", 5, "rows"), "name": ("str", "x", ""), "on": ("bool", True, "")}),
        ("javascript", "const top = 5; // rows\nlet name = 'x'\nvar u = undefined",
         {"top": ("int", 5, "rows"), "name": ("str", "x", ""), "u": (None, None, "")}),
        ("matlab", "top = 5; % rows\nname = 'x';",
         {"top": ("int", 5, "rows"), "name": ("str", "x", "")}),
        ("haskell", "top = 5\nif a == b", {"top": ("int", 5, "")}),
    ],
)  # fmt: skip
def test_lines_of_other_languages_that_give_a_literal_to_a_name(language: str, source: str, expected: Any) -> None:
    found = declared_in_source(source, language)
    assert {
        each.name: (each.type, untag(each.default) if each.default is not UNSET else UNSET, each.help) for each in found
    } == expected


# ---- From the notebook


def test_the_first_tagged_code_cell_declares_whatever_its_language() -> None:
    sheet = sheet_of(("z = 0", ""), ("x = 1", "parameters"), ("y = 2", "parameters"))
    (found,) = declared(sheet)
    assert (found.name, found.cell, found.line) == ("x", sheet.cells[1].id, 1)
    assert [each.name for each in declared(sheet_of(("x <- 1", "parameters"), language="R"))] == ["x"]
    assert declared(sheet_of(("x = 1", ""))) == []


@pytest.mark.parametrize(
    ("said", "type", "default", "required"),
    [
        (5, "int", 5, False),
        (None, None, None, False),
        ("...", None, UNSET, True),
        ("text", "str", "text", False),
        ([1], "list[int]", [1], False),
        ({"$date": "2026-01-31"}, "date", dt.date(2026, 1, 31), False),
        ({"type": "int"}, "int", UNSET, True),
        ({"type": "int", "default": "..."}, "int", UNSET, True),
        ({"type": "int", "default": None}, "int", None, False),
        ({"type": "int", "required": False}, "int", None, False),
        ({"default": {"a": 1}}, "dict", {"a": 1}, False),
        ({"type": "date", "default": "2026-01-31"}, "date", dt.date(2026, 1, 31), False),
        ({"type": "float", "default": 1}, "float", 1.0, False),
        ({"choices": ["a", "b"]}, "str", UNSET, True),
        ({"choices": [1, 2], "default": 2}, "int", 2, False),
        ({"help": "only help"}, None, UNSET, True),
        ({"type": "string?"}, "str | None", UNSET, True),
        ({"type": "dict[str, list[int]]", "default": {"a": [1]}}, "dict[str, list[int]]", {"a": [1]}, False),
    ],
)
def test_frontmatter_declares_by_a_bare_value_or_at_length(
    said: Any, type: str | None, default: Any, required: bool
) -> None:
    (found,) = front(x=said)
    assert (found.type, found.required) == (type, required)
    assert (untag(found.default) if found.default is not UNSET else UNSET) == default


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            {"typ": "int"},
            "parameter 'x': 'typ' is no part of a declaration: type, default, help, choices, required are.",
        ),
        ({}, "parameter 'x': an empty object declares nothing"),
        ({"type": "integral"}, "parameter 'x': the type 'integral' is not known. These are: int, float"),
        ({"type": 5}, "parameter 'x': the type 5 is not known."),
        ({"type": "int", "default": "five"}, "parameter 'x': the default 'five' is not an int."),
        ({"type": "int", "default": True}, "parameter 'x': the default True is not an int."),
        ({"choices": ["a"], "default": "b"}, "parameter 'x': the default 'b' is none of the choices: 'a'."),
        ({"choices": []}, "parameter 'x': choices are a list of values, not []."),
        ({"choices": ["a"], "type": "int"}, "parameter 'x': a choice 'a' is not an int."),
        ({"required": True, "default": 1}, "parameter 'x': it is required and has a default. Keep one of the two."),
        ({"required": "yes"}, "parameter 'x': required is true or false, not 'yes'."),
        ({"help": 5}, "parameter 'x': help is text, not 5."),
        ({"$no": 5}, "parameter 'x': Tagged value '$no' is not known here"),
        ({"choices": [{"$date": "x"}]}, "parameter 'x': Tagged value '$date' cannot be read"),
        ({"type": "date", "default": {"$date": "x"}}, "parameter 'x': Tagged value '$date' cannot be read"),
    ],
)
def test_a_wrong_declaration_names_the_parameter_and_the_fault(said: Any, told: str) -> None:
    with pytest.raises(BadInput) as caught:
        front(x=said)
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize("name", ["a b", "1a", "", "a-b", "class", "a\n"])
def test_a_name_is_one_that_code_can_use(name: str) -> None:
    with pytest.raises(BadInput, match="parameter"):
        front(**{name: 1})


def test_parameters_are_named() -> None:
    with pytest.raises(BadInput, match="`parameters` has no names"):
        declared(sheet_of(parameters=[1, 2]))


def test_the_frontmatter_has_the_last_word_and_the_cell_adds_what_it_leaves_open() -> None:
    sheet = sheet_of(("top: int = 5  # rows\nother = 1", "parameters"), parameters={"top": "...", "more": 2})
    found = {each.name: each for each in declared(sheet)}
    assert list(found) == ["top", "more", "other"]
    assert (found["top"].required, found["top"].type, found["top"].help) == (True, "int", "rows")


# ---- Binding


def declared_as(type: str | None, **fields: Any) -> Parameter:
    return Parameter(name="x", type=type, **fields)


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        ("int", "5", 5),
        ("int", " -1_000 ", -1000),
        ("int", "9" * 100, int("9" * 100)),
        ("float", "5", 5.0),
        ("float", "1e-3", 0.001),
        ("float", "-inf", -math.inf),
        ("str", "5", "5"),
        ("str", "", ""),
        ("bool", "true", True),
        ("bool", "No", False),
        ("bool", "1", True),
        ("date", "2026-01-31", dt.date(2026, 1, 31)),
        ("datetime", "2026-01-31T06:00Z", dt.datetime(2026, 1, 31, 6, tzinfo=dt.UTC)),
        ("datetime", "2026-01-31", dt.datetime(2026, 1, 31)),
        ("time", "06:00", dt.time(6)),
        ("duration", "90", dt.timedelta(seconds=90)),
        ("path", "a b/c.csv", FilePath("a b/c.csv")),
        ("bytes", "é", "é".encode()),
        ("list[int]", "[1, 2]", [1, 2]),
        ("list", '[1, "a", null]', [1, "a", None]),
        ("tuple[int, str]", '[1, "a"]', (1, "a")),
        ("set[int]", "[1, 1]", {1}),
        ("dict", '{"a": 1}', {"a": 1}),
        ("dict[str, date]", '{"a": "2026-01-31"}', {"a": dt.date(2026, 1, 31)}),
        ("int | None", "null", None),
        ("int | None", "5", 5),
        ("int | str", "5", 5),
        ("str | int", "5", 5),
        ("int | str", "five", "five"),
        ("bool | None", "None", None),
        (None, "5", 5),
        (None, "2.5", 2.5),
        (None, "True", True),
        (None, "None", None),
        (None, "true", "true"),
        (None, "[1]", "[1]"),
        (None, "\u0665", "\u0665"),
    ],
)
def test_text_is_read_as_the_declared_type(type: str | None, text: str, value: Any) -> None:
    found = bind([declared_as(type)], {"x": Text(text)}).values["x"]
    assert found == value
    assert found.__class__ is value.__class__


@pytest.mark.parametrize(
    ("type", "text"),
    [("int", "five"), ("int", "5.0"), ("int", ""), ("int", "\u0665"), ("int", "9" * 5000), ("float", "1,5"), ("bool", "maybe"),
     ("date", "31.1.2026"), ("date", "2026-02-30"), ("path", ""), ("list[int]", "1,2"), ("list[int]", '["a"]'), ("list", "{}"),
     ("dict", "[1]"), ("dict[str, int]", '{"a": "b"}'), ("int | None", "x"), ("duration", "nan"), ("duration", "1e400"),
     ("set", "[[1]]"), ("tuple[int, str]", "[1]"), ("list", "[" * 100_000)],
)  # fmt: skip
def test_text_that_does_not_fit_is_refused(type: str, text: str) -> None:
    with pytest.raises(BadInput, match=r"parameter 'x' wants an? "):
        bind([declared_as(type)], {"x": Text(text)})


def test_a_wrong_value_names_parameter_type_and_value() -> None:
    with pytest.raises(BadInput) as caught:
        bind([Parameter(name="top", type="int")], {"top": Text("five")})
    assert str(caught.value) == "parameter 'top' wants an int, got 'five'. Try -p top=5."


@pytest.mark.parametrize(
    ("type", "value", "expected"),
    [
        ("float", 1, 1.0),
        ("date", "2026-01-31", dt.date(2026, 1, 31)),
        ("date", {"$date": "2026-01-31"}, dt.date(2026, 1, 31)),
        ("int", {"$int": "9007199254740993"}, 9007199254740993),
        ("tuple[int, ...]", [1, 2], (1, 2)),
        ("list[path]", ["a"], [FilePath("a")]),
        ("any", {"a": [{"$date": "2026-01-31"}]}, {"a": [dt.date(2026, 1, 31)]}),
        (None, [1, "a"], [1, "a"]),
        ("datetime", dt.date(2026, 1, 31), dt.datetime(2026, 1, 31)),
    ],
)
def test_json_is_taken_as_the_declared_type(type: str | None, value: Any, expected: Any) -> None:
    found = bind([declared_as(type)], {"x": value}).values["x"]
    assert (found, found.__class__) == (expected, expected.__class__)


@pytest.mark.parametrize(
    ("type", "value"),
    [("int", "5"), ("int", 5.0), ("int", True), ("bool", 1), ("str", 5), ("list[int]", "[1]"), ("date", 5),
     ("int", None), ("int", {"$no": 1})],
)  # fmt: skip
def test_json_of_another_type_is_refused(type: str, value: Any) -> None:
    with pytest.raises(BadInput, match=r"parameter 'x' wants an? "):
        bind([declared_as(type)], {"x": value})


def test_an_optional_parameter_takes_null() -> None:
    optional = declared_as("int", default=None)
    assert bind([optional], {"x": None}).values == {"x": None}
    assert bind([optional], {"x": Text("null")}).values == {"x": None}
    assert bind([optional], {}).values == {"x": None}


def test_all_missing_ones_are_named_at_once() -> None:
    parameters = front(a="...", b={"type": "date"}, c=1, d={"choices": ["x"]})
    with pytest.raises(BadInput) as caught:
        bind(parameters, {"c": 2})
    assert str(caught.value) == (
        "parameters 'a', 'b', 'd' have no values, and need them. Try -p a=text -p b=2026-01-31 -p d=x."
    )
    assert caught.value.details == {"parameters": ["a", "b", "d"]}


def test_only_the_choices_are_allowed() -> None:
    (parameter,) = front(region={"choices": ["north", "south"], "default": "north"})
    assert bind([parameter], {"region": Text("south")}).values == {"region": "south"}
    with pytest.raises(BadInput) as caught:
        bind([parameter], {"region": Text("west")})
    assert str(caught.value) == "parameter 'region' is one of 'north', 'south', got 'west'. Try -p region=north."
    (number,) = front(n={"choices": [0, 1]})
    with pytest.raises(BadInput):
        bind([number], {"n": True})


def test_an_undeclared_parameter_is_passed_on_with_a_warning() -> None:
    bound = bind(front(month="2026-10"), {"mouth": Text("5"), "y": 1.5})
    assert bound.values == {"month": "2026-10", "mouth": 5, "y": 1.5}
    assert bound.declared == {"month": "2026-10"}
    assert bound.given == {"mouth": 5, "y": 1.5}
    assert bound.warnings == (
        "parameter 'mouth' is not declared; it is passed on as it is. Did you mean 'month'?",
        "parameter 'y' is not declared; it is passed on as it is.",
    )


def test_a_default_that_only_running_tells_has_no_value_yet() -> None:
    assert bind(declared_in_source("x = f()\ny = 2"), {}).values == {"y": 2}


# ---- Laws

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-9, 9) | st.text(max_size=5) | st.dates() | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    | st.lists(inner, max_size=2).map(tuple),
    max_leaves=5,
)  # fmt: skip


@pytest.mark.generated
@given(VALUES)
def test_a_value_fits_its_own_type_and_stays_what_it_is(value: Any) -> None:
    wanted = type_of(value)
    assert parse_type(str(wanted)) == wanted
    assert fit(value, wanted) == value
    assert fit(tag(value), wanted) == value


@pytest.mark.generated
@given(VALUES)
def test_what_repr_writes_is_read_back_from_a_cell(value: Any) -> None:
    import datetime

    found = one(f"x = {value!r}")
    assert untag(found.default) == value
    assert eval(repr(value), {"datetime": datetime}) == value


@pytest.mark.generated
@given(st.text("int|[], .?NoneOptional", max_size=20))
def test_any_text_is_a_type_or_none(text: str) -> None:
    found = parse_type(text)
    if found is not None:
        assert parse_type(str(found)) == found


@pytest.mark.generated
@given(
    st.text(max_size=10),
    st.sampled_from(["int", "float", "bool", "date", "datetime", "time", "list[int]", "dict", "int | None"]),
)
def test_any_text_is_bound_or_refused(text: str, type: str) -> None:
    wanted = parse_type(type)
    assert wanted is not None
    try:
        value = bind([declared_as(type)], {"x": Text(text)}).values["x"]
    except BadInput:
        return
    assert fit(value, wanted) == value or value != value
    assert from_text(text, wanted) == value or value != value


# ---- Telling


def test_what_is_told_of_a_parameter() -> None:
    (found,) = front(day={"type": "date", "default": "2026-01-31", "help": "when"})
    assert as_json(found) == {
        "name": "day",
        "type": "date",
        "default": {"$date": "2026-01-31"},
        "help": "when",
        "choices": None,
        "required": False,
    }
    assert inspected([found]) == {"day": {"type": "date", "default": {"$date": "2026-01-31"}, "help": "when"}}


@pytest.mark.parametrize("name", [*SIMPLE, *GENERIC])
def test_every_type_is_in_the_reference(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "parameters.md").read_text()
    section = page.partition("# Types")[2].partition("\n# ")[0]
    assert f"`{name}`" in section


def test_the_example_of_the_reference_declares_what_the_page_says() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "parameters.md").read_text()
    example = page.partition("```python\n")[2].partition("```")[0]
    assert [(each.name, each.type, each.help, each.required) for each in declared_in_source(example)] == [
        ("top", "int", "How many rows to keep.", False),
        ("month", "str", "which month", True),
        ("day", "date", "", False),
        ("region", "str", "", False),
        ("limit", "int", "at most this many", False),
        ("out", None, "", False),
    ]
