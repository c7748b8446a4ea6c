"""A file that becomes a log, and a log that becomes a file: the same notebook on both sides."""

from __future__ import annotations

import base64
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quire.core.errors import BadInput
from quire.core.events import NotebookEvent
from quire.core.ids import CellId, LogId
from quire.core.notebook.notebook import INLINE_TEXT, Notebook
from quire.core.notebook.reduce import Fold
from quire.core.sheet.conversion import INLINE_BYTES, WHOLE_TEXT, blobs_of, events_of, sheet_of
from quire.core.sheet.sheet import Sheet, SheetCell, with_ids
from tests.random_logs import ADA, attempt

TEXT = st.text("xy=é🍵\n", max_size=12)
OBJECT: st.SearchStrategy[dict[str, Any]] = st.dictionaries(st.sampled_from("abc"), st.integers() | TEXT, max_size=2)
PNG = base64.b64encode(bytes(range(256)) * 8).decode()
LONG = "line\n" * 20_000


def media() -> st.SearchStrategy[dict[str, Any]]:
    some = {
        "text/plain": TEXT | st.just(LONG),
        "text/html": TEXT,
        "image/png": st.sampled_from(["iVBORw0KGgo=", PNG]),
        "image/svg+xml": st.just("<svg/>"),
        "application/json": OBJECT,
        "application/vnd.plotly.v1+json": OBJECT | st.just({"data": ["x" * 70_000]}),
    }
    return st.sets(st.sampled_from(sorted(some)), max_size=3).flatmap(
        lambda names: st.fixed_dictionaries({name: some[name] for name in sorted(names)})
    )


def outputs() -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.fixed_dictionaries(
            {
                "output_type": st.just("stream"),
                "name": st.sampled_from(["stdout", "stderr"]),
                "text": TEXT | st.just(LONG),
            }
        ),
        st.fixed_dictionaries({"output_type": st.just("display_data"), "data": media(), "metadata": OBJECT}),
        st.fixed_dictionaries(
            {
                "output_type": st.just("execute_result"),
                "execution_count": st.integers(1, 9),
                "data": media(),
                "metadata": OBJECT,
            }
        ),
        st.fixed_dictionaries(
            {"output_type": st.just("error"), "ename": TEXT, "evalue": TEXT, "traceback": st.lists(TEXT, max_size=2)}
        ),
    )


@st.composite
def sheets(draw: st.DrawFn) -> Sheet:
    cells: list[SheetCell] = []
    for _ in range(draw(st.integers(0, 4))):
        kind: Any = draw(st.sampled_from(["code", "markdown", "raw", "sql", "prompt"]))
        runs = kind in ("code", "sql")
        cells.append(
            SheetCell(
                id=CellId(""),
                kind=kind,
                source=draw(TEXT),
                name=draw(st.sampled_from([None, "load"])),
                tags=tuple(draw(st.sets(st.sampled_from(["parameters", "b"]), max_size=2))),
                metadata=draw(OBJECT),
                outputs=draw(st.lists(outputs(), max_size=3)) if runs else [],
                count=draw(st.none() | st.integers(1, 9)) if runs else None,
                attachments=draw(st.sampled_from([{}, {"a.png": {"image/png": "aGk="}}])),
                extra=draw(st.sampled_from([{}, {"unknown": [1]}])),
            )
        )
    return Sheet(cells=with_ids(cells), metadata=draw(OBJECT), extra=draw(st.sampled_from([{}, {"unknown": 1}])))


def taken_in(sheet: Sheet) -> tuple[Notebook, dict[str, bytes]]:
    """The notebook that a log holds after the sheet was imported, and its blobs."""
    numbers = count()
    events, blobs = events_of(sheet, "sales", lambda: f"x{next(numbers)}")
    folding = Fold()
    for event in events:
        assert isinstance(event, NotebookEvent)
        assert attempt([], folding, ADA, event) is not None, event
    return folding.notebook(), {hash: data for hash, (data, _) in blobs.items()}


@pytest.mark.generated
@given(sheets())
def test_a_sheet_that_becomes_a_log_is_the_same_sheet_again(sheet: Sheet) -> None:
    """Rule 12: one projection; and nothing of a file is lost on the way in."""
    notebook, blobs = taken_in(sheet)
    wanted = {ref.hash for ref in blobs_of(notebook)}
    assert wanted == blobs.keys()
    assert sheet_of(notebook, blobs) == sheet


def code(*outputs: Any) -> Sheet:
    return Sheet(cells=(SheetCell(id=CellId("a1b2c3d4"), source="x", outputs=list(outputs), count=1),))


def test_what_is_large_becomes_a_blob_and_the_log_keeps_an_excerpt() -> None:
    """Rule 5."""
    shown = {"output_type": "display_data", "data": {"image/png": PNG, "text/plain": LONG}, "metadata": {}}
    notebook, blobs = taken_in(code(shown, {"output_type": "stream", "name": "stdout", "text": LONG}))
    execution = next(notebook.live_cells).execution
    assert execution is not None and execution.imported
    display, stream = execution.outputs
    assert len(base64.b64decode(PNG)) > INLINE_BYTES
    assert set(display.data) == {"text/plain"}  # type: ignore[union-attr]
    assert len(display.data["text/plain"]) == INLINE_TEXT  # type: ignore[union-attr]
    assert stream.omitted == len(LONG) - INLINE_TEXT  # type: ignore[union-attr]
    assert {len(data) for data in blobs.values()} == {len(LONG), len(base64.b64decode(PNG))}


def test_without_its_blob_an_output_says_how_much_is_missing() -> None:
    notebook, _ = taken_in(code({"output_type": "stream", "name": "stdout", "text": LONG}))
    (output,) = sheet_of(notebook, {}).cells[0].outputs
    assert f"[… {len(LONG) - INLINE_TEXT:,} characters left out; the whole is in blob " in output["text"]


def test_a_text_of_more_than_ten_megabytes_says_how_to_get_all_of_it() -> None:
    text = "x" * (WHOLE_TEXT + 1)
    shown = {"output_type": "display_data", "data": {"text/plain": text, "text/html": "<b>" + text}, "metadata": {}}
    notebook, blobs = taken_in(code({"output_type": "stream", "name": "stdout", "text": text}, shown))
    assert [ref.media for ref in blobs_of(notebook)] == ["text/html"]
    cell = sheet_of(notebook, blobs, LogId("01RUN")).cells[0]
    stream, display = cell.outputs
    line = f"; `quire output 01RUN {cell.id}` prints all of it …]"
    half = "x" * (INLINE_TEXT // 2)
    assert stream["text"] == f"{half}\n[… {len(text) - INLINE_TEXT:,} characters left out{line}\n{half}"
    assert display["data"]["text/plain"] == f"{'x' * INLINE_TEXT}\n[… cut: {len(text):,} bytes in all{line}"
    assert display["data"]["text/html"] == f"<b>{text}"


def test_an_image_that_is_no_base64_is_kept_as_the_text_it_is() -> None:
    sheet = code({"output_type": "display_data", "data": {"image/png": "not base64! " * 9_000}, "metadata": {}})
    notebook, blobs = taken_in(sheet)
    assert sheet_of(notebook, blobs) == sheet


def test_the_line_breaks_of_base64_are_not_kept() -> None:
    wrapped = "\n".join(PNG[at : at + 76] for at in range(0, len(PNG), 76)) + "\n"
    shown = {"output_type": "display_data", "data": {"image/png": wrapped}, "metadata": {}}
    notebook, blobs = taken_in(code(shown))
    (output,) = sheet_of(notebook, blobs).cells[0].outputs
    assert output["data"]["image/png"] == PNG


def test_a_value_without_a_count_stays_a_value() -> None:
    shown = {"output_type": "execute_result", "execution_count": None, "data": {"text/plain": "1"}, "metadata": {}}
    notebook, blobs = taken_in(replace(code(shown)))
    (output,) = sheet_of(notebook, blobs).cells[0].outputs
    assert (output["output_type"], output["execution_count"]) == ("execute_result", None)


def test_numbers_that_json_cannot_carry_come_out_as_they_went_in() -> None:
    data = {"application/vnd.plotly.v1+json": {"y": [1.0, float("inf"), 2**60]}}
    sheet = code({"output_type": "display_data", "data": data, "metadata": {"at": 2**70}})
    sheet = replace(sheet, metadata={"big": 2**60, "quire": {"extra": "theirs"}}, extra={"field": 2**61})
    notebook, blobs = taken_in(sheet)
    assert sheet_of(notebook, blobs) == sheet


def test_half_a_character_is_named_with_its_cell() -> None:
    sheet = Sheet(cells=(SheetCell(id=CellId("a1"), source="x = '\ud800'"),))
    with pytest.raises(BadInput, match=r"cell 1 \(a1\): character 6"):
        events_of(sheet, "x", str)
