"""`quire results`, as a person types it. Runs with real kernels are in tests/runs/test_results.py."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import pty
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ...command import QUIRE, as_json, run

OURS = "application/vnd.quire.result+json"


def result(name: str, value: Any, kind: str = "json") -> dict[str, Any]:
    return display({OURS: {"name": name, "kind": kind, "value": value}})


def of_bytes(name: str, kind: str, media: str, data: bytes, **more: str) -> dict[str, Any]:
    return display(
        {OURS: {"name": name, "kind": kind, "media": media, "data": base64.b64encode(data).decode(), **more}}
    )


def display(data: Any, **metadata: Any) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": metadata}


def write(path: Path, *outputs: Any, **ours: Any) -> None:
    cell: dict[str, Any] = {"cell_type": "code", "id": "c1", "metadata": {}, "source": "", "outputs": outputs}
    cell["execution_count"] = 1
    metadata = {"quire": ours} if ours else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": [cell], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two runs of a sweep, one of them further down."""
    write(tmp_path / "runs/b.ipynb", result("score", 2), result("day", {"$date": "2026-01-31"}), run="01RUNB000000000")
    write(
        tmp_path / "runs/a/1.ipynb",
        result("score", {"$float": "nan"}),
        of_bytes("best", "frame", "application/vnd.apache.parquet", b"PAR1"),
        of_bytes("report", "file", "text/csv", b"a,b", file="r.csv"),
    )
    return tmp_path


def test_a_folder_is_a_readable_table_of_every_notebook_below_it(folder: Path) -> None:
    write(folder / "runs/.ipynb_checkpoints/b-checkpoint.ipynb", result("score", 1))
    (folder / "runs/notes.txt").write_text("no notebook")
    done = run("results", "runs", at=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "file            run         name    kind   value",
        "──────────────  ──────────  ──────  ─────  ─────────────────────────────────────────",
        "runs/b.ipynb    01RUNB0000  score   json   2",
        "runs/b.ipynb    01RUNB0000  day     json   2026-01-31",
        "runs/a/1.ipynb              score   json   nan",
        "runs/a/1.ipynb              best    frame  4 bytes of application/vnd.apache.parquet",
        "runs/a/1.ipynb              report  file   r.csv, 3 bytes of text/csv",
    ]
    assert not (folder / ".quire").exists(), "no workspace is needed, so none is made"


def test_json_has_all_of_it_and_values_are_tagged(folder: Path) -> None:
    rows = as_json("results", "runs/a/1.ipynb", "runs/b.ipynb", at=folder)
    nothing = {"media": None, "size": None, "cell": "c1"}
    assert rows[0] == {
        "file": "runs/a/1.ipynb",
        "run": None,
        "name": "score",
        "kind": "json",
        "value": {"$float": "nan"},
        **nothing,
    }
    assert [(row["name"], row["value"], row["media"], row["size"]) for row in rows[1:3]] == [
        ("best", None, "application/vnd.apache.parquet", 4),
        ("report", "r.csv", "text/csv", 3),
    ]
    assert [row["run"] for row in rows[3:]] == ["01RUNB000000000"] * 2


def test_csv_is_for_tables(folder: Path) -> None:
    write(folder / "c.ipynb", result("text", 'a "b",\nc', "text"), result("null", None), result("list", [1, {"é": 2}]))
    done = run("results", "c.ipynb", "runs/a", "--csv", at=folder)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert list(rows[0]) == ["file", "run", "name", "kind", "value", "media", "size", "cell"]
    assert [row["value"] for row in rows] == ['a "b",\nc', "null", '[1, {"é": 2}]', "nan", "", "r.csv"]


def test_only_the_names_that_are_asked_for(folder: Path) -> None:
    rows = as_json("results", "runs", "--name", "score", "--name", "day", at=folder)
    assert [row["name"] for row in rows] == ["score", "day", "score"]
    assert run("results", "runs", "--name", "scroe", at=folder).stderr == (
        "quire: nothing was recorded in runs under that name.\n"
    )


def test_parquet_is_a_file_with_numbers_in_it(folder: Path) -> None:
    write(folder / "runs/c.ipynb", result("big", {"$int": str(2**70)}), result("yes", True), result("none", None))
    done = run("results", "runs", "--parquet", "all.parquet", at=folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "quire: 8 results, written to all.parquet\n"
    table = import_module("pyarrow.parquet").read_table(folder / "all.parquet")
    found = {row["name"]: row for row in table.to_pylist()}
    assert table.column_names == ["file", "run", "name", "kind", "value", "media", "size", "cell", "number"]
    assert [(name, row["value"], row["number"]) for name, row in found.items() if name != "score"] == [
        ("day", '{"$date": "2026-01-31"}', None),
        ("big", '{"$int": "1180591620717411303424"}', 2.0**70),
        ("yes", "true", None),
        ("none", "null", None),
        ("best", None, None),
        ("report", '"r.csv"', None),
    ]
    assert [row["number"] for row in table.to_pylist() if row["number"] == 2] == [2.0]


def test_what_cannot_be_read_in_a_folder_is_named_and_the_rest_is_given(folder: Path) -> None:
    (folder / "runs/a/broken.ipynb").write_text('{"cells": [')
    (folder / "runs/gone.ipynb").symlink_to("nowhere.ipynb")
    os.mkfifo(folder / "runs/pipe.ipynb")
    done = run("results", "runs", "--json", at=folder)
    assert done.returncode == 1
    assert [row["name"] for row in json.loads(done.stdout)] == ["score", "day", "score", "best", "report"]
    gone, broken = done.stderr.splitlines()
    assert gone.startswith("quire: runs/gone.ipynb is not there.")
    assert broken.startswith("quire: runs/a/broken.ipynb ")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["nowhere.ipynb"], "nowhere.ipynb is not there."),
        (["runs/nowhere"], "runs/nowhere is not there."),
        (["nobody"], "There is no notebook or run 'nobody'."),
        (["broken.ipynb"], "broken.ipynb "),
        (["sales.py"], "sales.py carries no results: .ipynb files do, and runs."),
        (["runs", "--json", "--csv"], "--json, --csv and --parquet each say how the rows come out. Choose one."),
        (["runs", "--parquet", "no/where.parquet"], "no/where.parquet cannot be written: there is no folder"),
        ([], "Missing argument"),
    ],
)
def test_wrong_usage_is_told_with_a_way_out(folder: Path, args: list[str], told: str) -> None:
    (folder / "broken.ipynb").write_text("{")
    (folder / "sales.py").touch()
    done = run("results", *args, at=folder)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr


def test_a_notebook_may_come_from_standard_input(folder: Path) -> None:
    done = run("results", "-", "--json", at=folder, stdin=(folder / "runs/b.ipynb").read_text())
    assert [(row["file"], row["name"]) for row in json.loads(done.stdout)] == [("-", "score"), ("-", "day")]


def test_nothing_recorded_is_said(tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb")
    done = run("results", "a.ipynb", at=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "quire: nothing was recorded in a.ipynb.\n"
    assert as_json("results", "a.ipynb", at=tmp_path) == []


# ---- What others wrote

HOSTILE = "\x1b]0;owned\x07\x1b[31mred\u202e"


def test_nothing_that_a_file_says_steers_a_terminal(tmp_path: Path) -> None:
    write(
        tmp_path / "a.ipynb",
        result("text", HOSTILE, "text"),
        result("kind", 1, HOSTILE),
        result("list", [HOSTILE]),
        of_bytes("file", "file", HOSTILE, b"", file=HOSTILE),
        result(HOSTILE, 1),
    )
    for args in ([], ["--csv"]):
        leader, follower = pty.openpty()
        with subprocess.Popen([QUIRE, "results", "a.ipynb", *args], cwd=tmp_path, stdout=follower) as process:
            os.close(follower)
            seen = b""
            while piece := _read(leader):
                seen += piece
        os.close(leader)
        assert process.returncode == 0
        assert b"red" in seen
        assert [bad for bad in (b"\x1b", b"\x07", "\u202e".encode()) if bad in seen] == []


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, 10_000)
    except OSError:
        return b""  # nobody is at the other end any more


def test_half_characters_are_printed_as_far_as_that_goes(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.ipynb")
    write(path, result("text", "a\ud83d", "text"))
    assert as_json("results", ".", at=tmp_path)[0]["value"] == "a\ud83d"
    for args in ([], ["--csv"]):
        done = run("results", ".", *args, at=tmp_path)
        assert (done.returncode, "a?" in done.stdout) == (0, True), done.stderr
    assert run("results", ".", "--parquet", "x.parquet", at=tmp_path).returncode == 0


def test_whoever_has_seen_enough_may_stop_reading(tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb", *(result(f"r{number}", "x" * 50) for number in range(5000)))
    with subprocess.Popen(
        [QUIRE, "results", "a.ipynb"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
