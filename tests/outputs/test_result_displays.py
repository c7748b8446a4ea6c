"""Results among displays, on their way into a log: read as files read them, large ones as blobs, no secrets."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from quire.core.notebook.notebook import INLINE_TEXT
from quire.formats.scraps import recorded_in
from quire.outputs.media import media_in
from quire.outputs.result_displays import DisplayedResult, results_in
from quire.outputs.secrets import Remover

OURS = "application/vnd.quire.result+json"
NOBODY = Remover({})


def found(data: dict[str, Any], remover: Remover = NOBODY, **metadata: Any) -> list[DisplayedResult]:
    return list(results_in({"data": data, "metadata": metadata}, remover))


def content(each: DisplayedResult) -> bytes:
    assert each.blob is not None
    return b"".join(each.blob.pieces())


def shown(name: str) -> dict[str, Any]:
    return {"name": name, "data": False, "display": True}


def test_a_display_without_results_is_passed_over() -> None:
    assert found({"text/plain": "5"}) == []


def test_the_kinds_are_ours_whoever_recorded_it() -> None:
    data = base64.b64encode(b"PAR1").decode()
    (frame,) = found({"application/scrapbook.scrap.pandas+json": {"name": "f", "data": data}})
    (plot,) = found({"image/png": base64.b64encode(b"PNG").decode()}, scrapbook=shown("plot"))
    assert [(each.kind, content(each)) for each in (frame, plot)] == [("frame", b"PAR1"), ("figure", b"PNG")]


def test_a_file_is_a_blob_and_its_value_is_its_name() -> None:
    ours = {"name": "r", "kind": "file", "media": "text/csv", "data": "YSxi", "file": "r.csv"}
    (report,) = found({OURS: ours})
    assert (report.kind, report.value, content(report)) == ("file", "r.csv", b"a,b")
    assert report.blob is not None and report.blob.ref.media == "text/csv"


def test_a_value_past_the_limit_is_a_blob() -> None:
    (inline,) = found({OURS: {"name": "x", "kind": "text", "value": "x" * (INLINE_TEXT - 2)}})
    (large,) = found({OURS: {"name": "x", "kind": "text", "value": "x" * (INLINE_TEXT - 1)}})
    assert (inline.blob, len(inline.value)) == (None, INLINE_TEXT - 2)
    assert (large.value, json.loads(content(large))) == (None, "x" * (INLINE_TEXT - 1))


def test_of_a_large_display_one_of_its_own_blobs_is_taken() -> None:
    data = {"text/plain": "<table>", "text/html": "<b>" + "x" * INLINE_TEXT}
    (page,) = found(data, scrapbook=shown("page"))
    assert page.blob is not None
    assert page.blob.ref == media_in({"data": data}, NOBODY).refs["text/html"], "nothing is kept twice"


def test_what_a_log_records_is_what_files_read() -> None:
    """One reader, so both say the same of one display."""
    data = {"application/scrapbook.scrap.json+json": {"name": "x", "data": '{"a": 1}'}, "text/plain": "x"}
    (of_log,) = found(data)
    ((of_file, is_shown),) = recorded_in(data, {})
    assert (of_log.name, of_log.kind, of_log.value, of_log.is_shown) == (of_file.name, of_file.kind, {"a": 1}, is_shown)


def test_a_secret_is_in_no_value_name_or_file_name() -> None:
    """Rule 16."""
    remover = Remover({"TOKEN": "ghp_0123456789"})
    (value,) = found({OURS: {"name": "ghp_0123456789", "kind": "json", "value": ["ghp_0123456789"]}}, remover)
    (file,) = found({OURS: {"name": "f", "kind": "file", "data": "eA==", "file": "ghp_0123456789.txt"}}, remover)
    assert (value.name, value.value, file.value) == ("[secret TOKEN]", ["[secret TOKEN]"], "[secret TOKEN].txt")


@pytest.mark.parametrize("before", [0, 1, 2, 5000])
def test_a_secret_inside_a_file_is_not_kept(before: int) -> None:
    """Rule 16: at any offset."""
    data = base64.b64encode(b"x" * before + b"ghp_0123456789abcdef" + b"x" * 5000).decode()
    ours = {"name": "f", "kind": "file", "media": "text/plain", "data": data, "file": "f.txt"}
    (file,) = found({OURS: ours}, Remover({"TOKEN": "ghp_0123456789abcdef"}))
    assert b"ghp_0123456789" not in content(file)
    assert (file.kind, content(file).strip(b"*x")) == ("file", b""), "the rest of the file is as it was"
