"""Results read out of outputs: ours exactly, scrapbook's and papermill's as they read them."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.ids import CellId
from quire.core.results import RecordedResult
from quire.core.sheet.sheet import Sheet, SheetCell
from quire.formats.scraps import results_of

OURS = "application/vnd.quire.result+json"
RECORD = "application/papermill.record+json"


def display(data: Any, **metadata: Any) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": metadata}


def scrap(name: str, data: Any, encoder: str) -> dict[str, Any]:
    payload = {"name": name, "data": data, "encoder": encoder, "version": 1}
    said = {"name": name, "data": True, "display": False}
    return display({f"application/scrapbook.scrap.{encoder}+json": payload}, scrapbook=said)


def read(*outputs: Any) -> dict[str, RecordedResult]:
    return results_of(Sheet(cells=(SheetCell(id=CellId("a"), outputs=list(outputs)),)))


def test_ours_is_exact_and_counts_before_what_else_a_display_says() -> None:
    output = scrap("when", "2026-01-31", "json")
    output["data"][OURS] = {"name": "when", "kind": "json", "value": {"$date": "2026-01-31"}}
    (found,) = read(output).values()
    assert found == RecordedResult(name="when", kind="json", value={"$date": "2026-01-31"}, cell=CellId("a"))


@pytest.mark.parametrize(
    ("data", "encoder", "value"),
    [
        (5, "json", 5),
        ([1, None], "json", [1, None]),
        ('{"a": 1}', "json", {"a": 1}),
        ("no json", "json", "no json"),
        ("5", "text", "5"),
        (2**60, "json", {"$int": str(2**60)}),
        ({"$x": 1}, "json", {"$dict": [["$x", 1]]}),
        (1, "their_own", 1),
    ],
)
def test_a_scrap_is_what_scrapbook_reads(data: Any, encoder: str, value: Any) -> None:
    found = read(scrap("x", data, encoder))["x"]
    assert (found.kind, found.value) == (encoder, value)


def test_a_frame_of_scrapbook_is_parquet() -> None:
    found = read(scrap("frame", base64.b64encode(b"PAR1").decode(), "pandas"))["frame"]
    assert (found.kind, found.media, found.data, found.size) == ("frame", "application/vnd.apache.parquet", b"PAR1", 4)


def test_bytes_of_ours_have_a_media_type_and_a_file_its_name() -> None:
    ours = {"name": "r", "kind": "file", "media": "text/csv", "data": "YSxi\nCg==", "file": "r.csv"}
    found = read(display({OURS: ours}))["r"]
    assert (found.kind, found.media, found.data, found.file) == ("file", "text/csv", b"a,b\n", "r.csv")


def test_records_of_papermill_are_read_each() -> None:
    found = read(display({RECORD: {"a": 1, "b": "5"}}))
    assert [(each.name, each.kind, each.value) for each in found.values()] == [("a", "json", 1), ("b", "json", "5")]


@pytest.mark.parametrize("section", ["scrapbook", "papermill"])
def test_a_picture_that_is_shown_under_a_name_is_a_figure(section: str) -> None:
    output = display({"text/plain": "<Figure>", "image/png": "UE5H\n"}, **{section: {"name": "plot", "display": True}})
    assert (read(output)["plot"].kind, read(output)["plot"].data) == ("figure", b"PNG")


def test_what_is_shown_under_a_name_is_kept_as_it_is_shown() -> None:
    found = read(display({"text/html": "<b>"}, scrapbook={"name": "page", "data": False, "display": True}))["page"]
    assert (found.kind, found.value) == ("display", {"text/html": "<b>"})


def test_of_one_name_the_last_counts_but_a_picture_takes_no_values_place() -> None:
    shown = display({"text/plain": "2"}, scrapbook={"name": "x", "data": False, "display": True})
    assert read(scrap("x", 1, "json"), scrap("x", 2, "json"), shown)["x"].value == 2


@pytest.mark.parametrize(
    "output",
    [
        {"output_type": "stream", "name": "stdout", "text": "x"},
        {"output_type": "error", "ename": "", "evalue": "", "traceback": []},
        display([]),
        display({}, scrapbook=[]),
        display({}, scrapbook={"name": 5, "display": True}),
        display({OURS: 5}),
        display({OURS: {"name": ["x"]}}),
        display({OURS: {"name": " \n"}}),
        display({RECORD: [1]}),
        display({"application/scrapbook.scrap.json+json": 5}),
        display({"application/scrapbook.scrap.json+json": {"name": "\ud800", "data": 1}}),
        "text",
        None,
    ],
)
def test_what_makes_no_sense_is_passed_over(output: Any) -> None:
    assert read(output, scrap("x", 1, "json")).keys() == {"x"}


@pytest.mark.parametrize(
    ("ours", "value"),
    [
        ({"name": "x", "kind": "json", "value": {"$date": "never"}}, {"$dict": [["$date", "never"]]}),
        ({"name": "x", "kind": "json", "value": {"$newer": 1}}, {"$dict": [["$newer", 1]]}),
        ({"name": "x", "kind": 5}, None),
        ({"name": "x", "kind": "file", "data": "no base64!"}, "no base64!"),
    ],
)
def test_a_value_that_cannot_be_read_is_kept_as_it_is_written(ours: Any, value: Any) -> None:
    assert read(display({OURS: ours}))["x"].value == value


junk = st.recursive(
    st.none() | st.integers() | st.text("$ab=", max_size=3) | st.sampled_from(["$int", "name", "data", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "data", "kind", "$int"]), inner)
    ),
    max_leaves=6,
)


@pytest.mark.generated
@given(
    st.dictionaries(st.sampled_from([OURS, RECORD, "application/scrapbook.scrap.pandas+json", "image/png"]), junk), junk
)
def test_nothing_that_a_file_says_raises(data: Any, section: Any) -> None:
    for result in read(display(data, scrapbook=section, papermill=section)).values():
        json.dumps(None if result.data is not None else result.value)
