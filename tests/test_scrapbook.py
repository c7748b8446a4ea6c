"""quire.scrapbook: notebooks of scrapbook's, papermill's and ours read with scrapbook's names."""

from __future__ import annotations

import base64
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from quire import scrapbook as sb

OURS = "application/vnd.quire.result+json"


def display(data: Any, **metadata: Any) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": metadata}


def scrap(name: str, data: Any, encoder: str = "json") -> dict[str, Any]:
    payload = {"name": name, "data": data, "encoder": encoder, "version": 1}
    said = {"name": name, "data": True, "display": False}
    return display({f"application/scrapbook.scrap.{encoder}+json": payload}, scrapbook=said)


def shown(name: str, **media: Any) -> dict[str, Any]:
    return display({"text/plain": name, **media}, scrapbook={"name": name, "data": False, "display": True})


def written(path: Path, *outputs: Any, **parameters: Any) -> Path:
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "id": "m", "metadata": {}, "source": "# x"},
        {
            "cell_type": "code",
            "id": "c",
            "metadata": {"papermill": {"duration": 1.5}},
            "source": "",
            "execution_count": 1,
            "outputs": list(outputs),
        },
    ]
    metadata = {"papermill": {"parameters": parameters}}
    fields: dict[str, Any] = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(fields, indent=1))
    return path


@pytest.fixture
def book(tmp_path: Path) -> sb.Scrapbook:
    """Two notebooks of one sweep."""
    for name, score in (("b", 2), ("a", 1)):
        written(tmp_path / f"{name}.ipynb", scrap("score", score), shown("plot"), month=name)
    (tmp_path / "notes.txt").write_text("no notebook")
    return sb.read_notebooks(tmp_path)


def test_scraps_have_data_encoder_and_display(tmp_path: Path) -> None:
    path = written(tmp_path / "a.ipynb", scrap("n", 1), scrap("t", "5", "text"), shown("plot"))
    scraps = sb.read_notebook(str(path)).scraps
    assert list(scraps) == ["n", "t", "plot"]
    assert (scraps["n"].data, scraps["n"].encoder, scraps["n"].display) == (1, "json", None)
    assert scraps.data_dict == {"n": 1, "t": "5"}
    assert scraps.display_dict == {"plot": shown("plot")}
    name, data, encoder, _ = scraps["t"]
    assert (name, data, encoder) == ("t", "5", "text")


def test_ours_are_read_exactly(tmp_path: Path) -> None:
    output = scrap("pair", [1, 2])
    output["data"][OURS] = {"name": "pair", "kind": "json", "value": {"$tuple": [1, 2]}}
    path = written(tmp_path / "a.ipynb", output, display({OURS: {"name": "f", "kind": "file", "data": "eA=="}}))
    assert sb.read_notebook(path).scraps.data_dict == {"pair": (1, 2), "f": b"x"}


def test_a_value_that_is_also_shown_keeps_its_data(tmp_path: Path) -> None:
    """Scrapbook itself loses it."""
    found = sb.read_notebook(written(tmp_path / "a.ipynb", scrap("x", 1), shown("x"))).scraps["x"]
    assert (found.data, found.display) == (1, shown("x"))


def test_records_of_papermill_are_scraps(tmp_path: Path) -> None:
    path = written(tmp_path / "a.ipynb", display({"application/papermill.record+json": {"a": 1}}))
    assert sb.read_notebook(path).scraps.data_dict == {"a": 1}


def test_parameters_timing_and_place_are_there(tmp_path: Path) -> None:
    notebook = sb.read_notebook(str(written(tmp_path / "a.ipynb", top=5)))
    assert notebook.parameters == {"top": 5}
    assert (notebook.filename, notebook.directory) == ("a.ipynb", str(tmp_path))
    assert (notebook.execution_counts, notebook.cell_timing) == ([None, 1], [None, 1.5])
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)


def test_a_notebook_is_a_node_of_nbformats_where_that_is_wanted(tmp_path: Path) -> None:
    notebook = sb.read_notebook(written(tmp_path / "a.ipynb", scrap("x", 1)))
    assert notebook.node.cells[1].outputs[0].output_type == "display_data"
    assert sb.Notebook(notebook.node).scraps.data_dict == {"x": 1}


def test_a_folder_is_read_in_order_by_name(book: sb.Scrapbook) -> None:
    assert list(book) == ["a", "b"]
    assert [each.scraps["score"].data for each in book.notebooks] == [1, 2]
    assert book.scraps["score"].data == 2
    assert book.notebook_scraps["a"].data_dict == {"score": 1}
    assert list(book.filter(lambda each: each.parameters["month"] == "b")) == ["b"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is no notebook: Expecting value"),
        ("[]", "is JSON, but no notebook: it does not say its nbformat."),
        ('{"nbformat": 4}', "is no notebook: its cells or its metadata are missing."),
        ('{"nbformat": 4, "cells": [5]}', "is no notebook: its cells or its metadata are missing."),
        ("[" * 100_000, "is no notebook: "),
        ('{"nbformat": 9, "cells": []}', "is nbformat 9, which is newer than what is known here."),
    ],
)
def test_a_file_that_is_no_notebook_is_named(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(content)
    with pytest.raises(sb.ScrapbookException) as caught:
        sb.read_notebooks(tmp_path)
    assert str(caught.value).startswith(f"{path} {told}")


def test_a_file_that_is_not_there_or_has_another_ending_is_named(tmp_path: Path) -> None:
    with pytest.raises(sb.ScrapbookException, match=r"nowhere\.ipynb cannot be read: No such file"):
        sb.read_notebook(tmp_path / "nowhere.ipynb")
    with pytest.raises(sb.ScrapbookException, match=r"a\.py is no \.ipynb file"):
        sb.read_notebook("a.py")
    with pytest.raises(sb.ScrapbookException, match="is no folder"):
        sb.read_notebooks(tmp_path / "nowhere")


def test_a_scrap_that_cannot_be_read_hurts_only_whoever_asks_for_it(tmp_path: Path) -> None:
    ours = {"name": "odd", "kind": "json", "value": {"$newer": 1}}
    path = written(tmp_path / "a.ipynb", scrap("frame", "no base64!", "pandas"), scrap("x", 1), display({OURS: ours}))
    scraps = sb.read_notebook(path).scraps
    assert scraps["x"].data == 1
    with pytest.raises(sb.ScrapbookException, match="Scrap 'frame' cannot be read: it is not base64"):
        _ = scraps["frame"].data
    with pytest.raises(sb.ScrapbookException, match="Scrap 'odd' cannot be read: Tagged value '\\$newer'"):
        _ = scraps["odd"].data


def test_outputs_that_are_none_are_passed_over(tmp_path: Path) -> None:
    path = written(tmp_path / "a.ipynb", 5, scrap("x", 1))
    assert sb.read_notebook(path).scraps == {}
    path.write_text('{"nbformat": 4, "cells": [{"outputs": 5}], "metadata": {"papermill": {"parameters": 5}}}')
    assert (sb.read_notebook(path).scraps, sb.read_notebook(path).parameters) == ({}, {})


def test_an_older_notebook_is_brought_up_to_date(tmp_path: Path) -> None:
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "input": "x", "language": "python", "outputs": [], "prompt_number": 1, "metadata": {}}
    ]
    old: dict[str, Any] = {
        "worksheets": [{"cells": cells, "metadata": {}}],
        "metadata": {"name": ""},
        "nbformat": 3,
        "nbformat_minor": 0,
    }
    (tmp_path / "old.ipynb").write_text(json.dumps(old))
    assert sb.read_notebook(tmp_path / "old.ipynb").execution_counts == [1]


# ---- Frames


def test_without_pandas_a_frame_says_what_is_needed(book: sb.Scrapbook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(sb.ScrapbookException, match=r"pandas is needed for a frame.*scraps\.data_dict"):
        _ = book.scrap_dataframe


def test_frames_have_scrapbooks_columns(book: sb.Scrapbook) -> None:
    one = book["a"]
    assert one.scrap_dataframe.to_dict("list") == {
        "name": ["score", "plot"],
        "data": [1, None],
        "encoder": ["json", "display"],
        "display": [None, shown("plot")],
        "filename": ["a.ipynb"] * 2,
    }
    assert one.parameter_dataframe.to_dict("records") == [
        {"name": "month", "value": "a", "type": "parameter", "filename": "a.ipynb"}
    ]
    assert list(one.papermill_dataframe["value"]) == ["a", 1]
    assert list(book.papermill_dataframe["key"]) == ["a", "a", "b", "b"]
    assert list(book.scrap_dataframe["key"]) == ["a", "a", "b", "b"]
    assert list(book.metrics["value"]) == [1.5, 1.5]


def test_a_frame_comes_back_as_one(tmp_path: Path) -> None:
    pandas = import_module("pandas")
    frame = pandas.DataFrame({"a": [1, 2]}, index=[5, 6])
    path = written(tmp_path / "a.ipynb", scrap("f", base64.b64encode(frame.to_parquet()).decode(), "pandas"))
    pandas.testing.assert_frame_equal(sb.read_notebook(path).scraps["f"].data, frame)


# ---- Outside a kernel


def test_glue_outside_a_kernel_is_never_silent(capsys: pytest.CaptureFixture[str]) -> None:
    sb.glue("score", '{"a": 1}', "json")
    assert capsys.readouterr().err == "quire: result 'score' = {'a': 1} was not recorded, for this is no kernel.\n"


def test_what_is_reglued_or_reported_is_told(book: sb.Scrapbook, capsys: pytest.CaptureFixture[str]) -> None:
    book["a"].reglue("score", "best")
    book["a"].reglue("nothing", raise_on_missing=False)
    with pytest.raises(sb.ScrapbookException, match=r"There is no scrap 'nothing' in .*a\.ipynb"):
        book["a"].reglue("nothing")
    assert capsys.readouterr().err.splitlines() == [
        "quire: result 'best' = 1 was not recorded, for this is no kernel.",
        f"quire: There is no scrap 'nothing' in {book['a'].path}.",
    ]
    book.scraps_report(include_data=True)
    told = capsys.readouterr().err
    assert told.splitlines()[:5] == [
        "quire: ### a",
        "quire: #### plot",
        "quire: plot",
        "quire: #### score",
        "quire: score: 1",
    ]
