"""Declared results: read from both places, and held against what was recorded."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from quire.core.errors import BadInput
from quire.core.events import BlobRef
from quire.core.ids import CellId, ExecutionId
from quire.core.notebook.notebook import Result
from quire.core.results import DeclaredResult, RecordedResult, check, declared, recorded
from quire.core.sheet.sheet import Sheet, SheetCell
from quire.core.values import tag
from quire.formats import registry

BLOCK = """# /// script
# dependencies = []
# [tool.quire.results]
# score = "float"
# rows = {type = "int", min = 1, help = "how many"}
# ///
"""


def sheet(results: Any = None, source: str = "") -> Sheet:
    metadata = {"quire": {"results": results}} if results is not None else {}
    return Sheet(cells=(SheetCell(id=CellId("a"), source=source),), metadata=metadata)


def faults(said: Any, **values: Any) -> list[str]:
    """What is wrong when a notebook declares `x` as `said` and these were recorded."""
    found = {name: RecordedResult(name=name, kind="json", value=tag(value)) for name, value in values.items()}
    return check(declared(sheet({"x": said})), found)


# ---- Declared


def test_a_logbook_declares_results_in_its_frontmatter() -> None:
    text = "---\nresults:\n  score: float\n  plot: figure\n  anything:\n  region: {type: str, choices: [n, s]}\n---\n"
    assert declared(registry.read(text, "a.md")) == [
        DeclaredResult(name="score", type="float"),
        DeclaredResult(name="plot", type="figure"),
        DeclaredResult(name="anything"),
        DeclaredResult(name="region", type="str", choices=("n", "s")),
    ]


def test_a_script_declares_results_in_its_block() -> None:
    assert declared(registry.read(f"# %%\n{BLOCK}", "a.py")) == [
        DeclaredResult(name="score", type="float"),
        DeclaredResult(name="rows", type="int", minimum=1, help="how many"),
    ]


def test_the_metadata_has_the_last_word() -> None:
    both = declared(sheet({"score": "int", "more": None}, BLOCK.replace("\n", "\r\n")))
    assert [(each.name, each.type) for each in both] == [("score", "int"), ("rows", "int"), ("more", None)]


@pytest.mark.parametrize("said", [None, "...", {}, []])
def test_nothing_declared_is_nothing_promised(said: Any) -> None:
    assert declared(sheet(said)) == []


def test_names_alone_are_enough() -> None:
    assert declared(sheet(["a", "b"])) == [DeclaredResult(name="a"), DeclaredResult(name="b")]


@pytest.mark.parametrize(
    ("said", "type"), [("DataFrame", "frame"), ("json", None), ("list[int]", "list[int]"), ("number", "float")]
)
def test_types_have_the_names_that_people_use(said: str, type: str | None) -> None:
    assert declared(sheet({"x": said}))[0].type == type


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("floot", "result 'x': the type 'floot' is not known. These are: int, float"),
        (5, "result 'x': 5 is no type. Write `x: float`"),
        ({"typ": "int"}, "result 'x': 'typ' is no part of a declaration: type, help, choices"),
        ({"type": 5}, "result 'x': type and help are text"),
        ({"type": "int", "min": "a"}, "result 'x': min: 'a' is not an int"),
        ({"type": "dict", "max": {}}, "result 'x': max: {} is not a dict, or has no order."),
        ({"type": "figure", "min": 1}, "result 'x': min is for values, and a figure is none."),
        ({"choices": []}, "result 'x': choices are a list of values, not []."),
        ({"required": "yes"}, "result 'x': type and help are text, and required is true or false."),
    ],
)
def test_a_wrong_declaration_names_the_result_and_the_way_out(said: Any, told: str) -> None:
    with pytest.raises(BadInput) as caught:
        declared(sheet({"x": said}))
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize("said", ["float", 5])
def test_results_that_have_no_names_are_refused(said: Any) -> None:
    with pytest.raises(BadInput, match="`results` has no names: write a `name: type` line for each"):
        declared(sheet(said))


def test_a_name_that_cannot_be_shown_is_refused() -> None:
    with pytest.raises(BadInput, match="A result's name is 1 to 200 visible characters"):
        declared(sheet({" x": "int"}))


def test_a_block_that_is_no_toml_or_stands_twice_is_refused() -> None:
    with pytest.raises(BadInput, match="Cell a: the `# /// script` block is no TOML"):
        declared(sheet(source="# /// script\n# a = \n# ///\n"))
    with pytest.raises(BadInput, match="Cells a: one `# /// script` block is enough"):
        declared(sheet(source=f"{BLOCK}\nx = 1\n{BLOCK}"))


# ---- Checked


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("float", 1),
        ("int", 2**70),
        ("float | None", None),
        ("list[int]", [1, 2]),
        ("tuple[int, str]", (1, "a")),
        ("date", "2026-01-31"),
        ("array", [1, 2]),
        ("any", {"a": 1}),
        (None, None),
        ({"type": "float", "min": 0, "max": 1}, 1),
        ({"type": "float | None", "min": 0}, None),
        ({"choices": ["a", 1]}, 1),
    ],
)
def test_what_fits_is_no_fault(said: Any, value: Any) -> None:
    assert faults(said, x=value) == []


@pytest.mark.parametrize(
    ("said", "value", "told"),
    [
        ("int", "five", "result 'x' wants an int, got 'five'."),
        ("int", True, "result 'x' wants an int, got True."),
        ("str", None, "result 'x' wants a str, got None."),
        ("list[int]", [1, "a"], "result 'x' wants a list[int], got [1, 'a']."),
        ("frame", [{"a": 1}], "result 'x' wants a frame, got [{'a': 1}]."),
        ({"type": "float", "min": 0}, -1, "result 'x' is at least 0.0, got -1."),
        ({"type": "float", "min": 0}, float("nan"), "result 'x' is at least 0.0, got nan."),
        ({"type": "int", "max": 5}, 6, "result 'x' is at most 5, got 6."),
        ({"min": 5}, "a", "result 'x' cannot be compared with its limits, got 'a'."),
        ({"choices": ["a", 1]}, True, "result 'x' is one of 'a', 1, got True."),
    ],
)
def test_what_does_not_fit_names_result_type_and_value(said: Any, value: Any, told: str) -> None:
    assert faults(said, x=value) == [told]


def test_a_result_that_is_missing_is_a_fault_with_a_way_out() -> None:
    assert faults("float") == [
        "result 'x' is missing: the notebook declares it as a float, and no cell recorded it. Record it: result('x', …)."
    ]
    (told,) = check([DeclaredResult(name="score")], {"scores": RecordedResult(name="scores", kind="json", value=1)})
    assert told.endswith("and no cell recorded it. 'scores' was: is that the one?")


def test_one_that_is_not_required_may_be_missing_but_not_wrong() -> None:
    optional = {"type": "int", "required": False}
    assert faults(optional) == []
    assert faults(optional, x="a") == ["result 'x' wants an int, got 'a'."]


def test_every_fault_is_told_and_what_is_not_declared_is_none() -> None:
    found = {"c": RecordedResult(name="c", kind="json", value=1)}
    assert len(check(declared(sheet({"a": "int", "b": "int"})), found)) == 2


# ---- Of a log


def logged(kind: str, value: Any = None, media: str | None = None) -> dict[str, RecordedResult]:
    blob = BlobRef(hash="0" * 64, size=5, media=media) if media else None
    return {"x": recorded(Result(name="x", kind=kind, value=value, blob=blob, execution=ExecutionId("e"), at=""))}


@pytest.mark.parametrize(
    ("type", "found", "right"),
    [
        ("frame", logged("pandas", media="application/vnd.apache.parquet"), True),
        ("figure", logged("display", media="image/png"), True),
        ("figure", logged("display", {"image/png": "UE5H"}), True),
        ("figure", logged("display", {"text/html": "x"}), False),
        ("frame", logged("display", media="image/png"), False),
        ("int", logged("display", media="image/png"), False),
        ("dict", logged("json", media="application/json"), True),
        (None, logged("display", media="image/png"), True),
        ("int", logged("json", 5), True),
    ],
)
def test_what_is_in_a_blob_is_judged_by_its_kind(
    type: str | None, found: dict[str, RecordedResult], right: bool
) -> None:
    assert (check([DeclaredResult(name="x", type=type)], found) == []) is right


def test_beside_its_blob_a_file_has_its_name() -> None:
    found = logged("file", "report.csv", "text/csv")["x"]
    assert (found.file, found.value, found.media, found.size) == ("report.csv", UNSET, "text/csv", 5)
