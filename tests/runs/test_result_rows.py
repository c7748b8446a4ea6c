"""`quire.results` over files: typed values, frames when asked for, and what could not be read."""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import json
import math
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from quire.core.errors import BadInput, NotFound
from quire.runs.records.result_rows import COLUMNS, results

OURS = "application/vnd.quire.result+json"


def write(path: Path, *results: dict[str, Any]) -> None:
    outputs = [{"output_type": "display_data", "data": {OURS: each}, "metadata": {}} for each in results]
    cell: dict[str, Any] = {"cell_type": "code", "id": "c1", "metadata": {}, "source": "", "outputs": outputs}
    cell["execution_count"] = 1
    path.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


def value(name: str, tagged: Any) -> dict[str, Any]:
    return {"name": name, "kind": "json", "value": tagged}


def of_bytes(name: str, media: str, data: bytes) -> dict[str, Any]:
    return {"name": name, "kind": "frame", "media": media, "data": base64.b64encode(data).decode()}


def test_values_are_pythons_own(tmp_path: Path) -> None:
    tagged = {
        "day": {"$date": "2026-01-31"},
        "pair": {"$tuple": [1, {"$set": [2]}]},
        "nan": {"$float": "nan"},
        "path": {"$path": "a/b"},
        "newer": {"$newer": 1},
    }
    write(tmp_path / "a.ipynb", *(value(name, each) for name, each in tagged.items()))
    found = {row["name"]: row["value"] for row in results(tmp_path)}
    assert math.isnan(found.pop("nan"))
    assert found == {
        "day": dt.date(2026, 1, 31),
        "pair": (1, {2}),
        "path": Path("a/b"),
        "newer": {"$newer": 1},
    }


def test_rows_say_where_they_come_from_and_become_a_frame(tmp_path: Path) -> None:
    for name, score in (("b", 2), ("a", 1)):
        write(tmp_path / f"{name}.ipynb", value("score", score), value("month", name))
    rows = results(tmp_path)
    assert list(rows[0]) == list(COLUMNS)
    assert [(row["file"], row["name"]) for row in rows][:2] == [
        (str(tmp_path / "a.ipynb"), "score"),
        (str(tmp_path / "a.ipynb"), "month"),
    ]
    wide = rows.to_pandas().pivot(index="file", columns="name", values="value")
    assert wide["score"].tolist() == [1, 2]
    assert wide["month"].tolist() == ["a", "b"]


def test_a_file_that_cannot_be_read_is_a_warning_and_the_rest_is_there(tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb", value("score", 1))
    (tmp_path / "b.ipynb").write_text("{")
    with pytest.warns(UserWarning, match=r"b\.ipynb") as told:
        rows = results(tmp_path)
    assert Path(told[0].filename) == Path(__file__), "it names the line that asked"
    assert ([row["value"] for row in rows], len(rows.faults)) == ([1], 1)


def test_what_is_named_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"nowhere\.ipynb is not there"):
        results(tmp_path / "nowhere.ipynb")
    with pytest.raises(NotFound, match="There is no notebook or run 'nobody'"):
        results("nobody", at=tmp_path)


def test_bytes_that_are_not_what_they_say_are_told_when_they_are_asked_for(tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb", value("score", 1), of_bytes("frame", "application/vnd.apache.parquet", b"PAR1"))
    assert [row["value"] for row in results(tmp_path)] == [1, None]
    assert [row["value"] for row in results(tmp_path, name="score", load=True)] == [1]
    with pytest.raises(BadInput, match="Result 'frame' cannot be read: "):
        results(tmp_path, load=True)


def test_a_frame_is_one_again(tmp_path: Path) -> None:
    pandas = import_module("pandas")
    frame = pandas.DataFrame({"a": [1, 2]})
    write(tmp_path / "a.ipynb", of_bytes("frame", "application/vnd.apache.parquet", frame.to_parquet()))
    (row,) = results(tmp_path, load=True)
    pandas.testing.assert_frame_equal(row["value"], frame)


def test_it_works_where_a_loop_runs_already(tmp_path: Path) -> None:
    """As in every notebook."""
    write(tmp_path / "a.ipynb", value("score", 1))

    async def cell() -> Any:
        return results(tmp_path)[0]["value"]

    assert asyncio.run(cell()) == 1


def test_an_address_is_a_file_elsewhere(tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb", value("score", 1))
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            place = f"http://127.0.0.1:{server.server_port}/a.ipynb"
            assert [(row["file"], row["value"]) for row in results(place)] == [(place, 1)]
        finally:
            server.shutdown()
            thread.join()


def test_links_are_not_followed_in_circles(tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb", value("score", 1))
    (tmp_path / "again").symlink_to(tmp_path)
    assert len(results(tmp_path)) == 1
