"""Every flag of papermill's command line, on ours; and the files of both, side by side."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import click
import nbformat
import pytest

from quire.doors.cli.run.run_verb import run_verb

from ...command import run

PAPERMILL = str(Path(sys.executable).with_name("papermill"))
PYTHON = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def code(source: str, *tags: str) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "tags": tags}


def prose(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source, "tags": ()}


def write(path: Path, *cells: dict[str, Any]) -> None:
    made: list[dict[str, Any]] = [
        {"cell_type": cell["cell_type"], "id": f"cell-{number}", "metadata": {"tags": list(cell["tags"])}}
        | {"source": cell["source"]}
        | ({"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else {})
        for number, cell in enumerate(cells)
    ]
    metadata = PYTHON | {"language_info": {"name": "python"}}
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": made}))


def book(path: Path) -> Any:
    read: Any = cast("Any", nbformat).read(path, as_version=4)
    cast("Any", nbformat).validate(read)
    return read


DECLARED = code('month = "2026-10"  # as YYYY-MM\ntop: int = 5\n', "parameters")
SHOWN = code("import sys, os\nprint(month, top)\nprint('careful', file=sys.stderr)\nos.getcwd()")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "sales.ipynb", prose("# Sales"), DECLARED, SHOWN)
    return tmp_path


def ran(*args: str | Path, at: Path, status: int = 0, stdin: str = "") -> subprocess.CompletedProcess[str]:
    done = run("run", *args, at=at, stdin=stdin)
    assert done.returncode == status, done.stderr
    return done


def shown(node: Any, name: str = "stdout") -> str:
    outputs = [each for cell in node.cells for each in cell.get("outputs", ())]
    return "".join(each.text for each in outputs if each.output_type == "stream" and each.name == name)


# ---- All of them are there


def papermills_flags() -> Iterator[str]:
    from papermill.cli import papermill  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

    for parameter in papermill.params:
        if isinstance(parameter, click.Option):
            yield from (*parameter.opts, *parameter.secondary_opts)


def test_every_flag_of_papermill_is_one_of_ours() -> None:
    ours = {name for each in run_verb.params for name in (*each.opts, *each.secondary_opts)}
    # `quire --version` is the version of Quire.
    assert set(papermills_flags()) - ours == {"--version"}


# ---- The same file


def papermill(*args: str, at: Path) -> subprocess.Popen[str]:
    """The real one, which takes its time: something else can be done meanwhile."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("QUIRE_")}
    command = [PAPERMILL, *args, "--no-progress-bar"]
    return subprocess.Popen(
        command,
        cwd=at,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        env=clean,
    )


def told(node: Any) -> dict[str, Any]:
    """What a file says but for times, ids and what only one of the two has to say."""
    record = node.metadata.papermill
    return {
        "cells": [
            {
                "type": cell.cell_type,
                "tags": list(cell.metadata.get("tags", ())),
                "source": cell.source,
                "record": sorted(cell.metadata.get("papermill", {})),
                "status": cell.metadata.get("papermill", {}).get("status"),
                "exception": cell.metadata.get("papermill", {}).get("exception"),
                "hidden": cell.metadata.get("jupyter", {}).get("source_hidden"),
                "count": cell.get("execution_count"),
                "outputs": [outline(each) for each in cell.get("outputs", ())],
            }
            for cell in node.cells
        ],
        "record": {name: record[name] if "time" not in name and name != "duration" else ... for name in record},
        "language": dict(node.metadata.language_info),
        "kernel": dict(node.metadata.kernelspec),
    }


def outline(output: Any) -> Any:
    match output.output_type:
        case "stream":
            return (output.name, output.text)
        case "error":
            return (output.ename, output.evalue)
        case _:
            return (output.output_type, dict(output.data), output.get("execution_count"))


MORE = "{extra: [1, 2.5, null, true, 'e', {a: b}]}"
FAILS = (code("print('before')"), code("1 / 0"), prose("never"), code("print('never')"))


def test_the_file_is_what_papermill_leaves(tmp_path: Path) -> None:
    cells = (prose("# Sales"), DECLARED, code("print(month, top, extra)"))
    args = ["-p", "top", "2", "-r", "month", "2026", "-y", MORE, "--inject-paths", "--report-mode"]
    leaves_what_papermill_leaves(tmp_path, cells, args, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cells", "args", "status"),
    [
        ((code("print(x)"),), ["-p", "x", "1"], 0),
        (FAILS, [], 1),
        ((code("print(1)"), code("import sys\nsys.exit(0)"), code("print('never')")), [], 0),
        ((code("print(1)"), code("import sys\nsys.exit(1)"), code("print('never')")), [], 1),
        ((prose("# Sales"), DECLARED, code("print(top)")), ["-p", "top", "3", "--prepare-only"], 0),
    ],
    ids=["untagged", "error", "exit-0", "exit-1", "prepare-only"],
)
def test_the_file_is_what_papermill_leaves_also_of_rarer_runs(
    tmp_path: Path, cells: tuple[dict[str, Any], ...], args: list[str], status: int
) -> None:
    leaves_what_papermill_leaves(tmp_path, cells, args, status)


def leaves_what_papermill_leaves(
    tmp_path: Path, cells: tuple[dict[str, Any], ...], args: list[str], status: int
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for place in (ours, theirs):
        place.mkdir()
        write(place / "in.ipynb", *cells)
    with papermill("in.ipynb", "out.ipynb", *args, at=theirs) as process:
        ran("in.ipynb", "out.ipynb", *args, at=ours, status=status)
    assert process.returncode == status
    assert told(book(ours / "out.ipynb")) == told(book(theirs / "out.ipynb"))


@pytest.mark.slow
def test_what_either_left_is_run_again_by_the_other(tmp_path: Path) -> None:
    """One injected cell, and one record of the parameters."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for place in (ours, theirs):
        place.mkdir()
        write(place / "in.ipynb", DECLARED, code("print(top)"))
    with papermill("in.ipynb", "out.ipynb", "-p", "top", "2", at=theirs):
        ran("in.ipynb", "out.ipynb", "-p", "top", "2", at=ours)
    with papermill("out.ipynb", "again.ipynb", "-p", "top", "3", at=ours) as process:
        ran("out.ipynb", "again.ipynb", "-p", "top", "3", at=theirs)
    assert process.returncode == 0
    assert shown(book(ours / "again.ipynb")) == "3\n"
    assert told(book(theirs / "again.ipynb")) == told(book(ours / "again.ipynb"))


def test_the_marks_of_an_error_are_gone_when_it_is_run_again(tmp_path: Path) -> None:
    write(tmp_path / "in.ipynb", DECLARED, code("1 / top"))
    ran("in.ipynb", "failed.ipynb", "-p", "top", "0", at=tmp_path, status=1)
    assert len(book(tmp_path / "failed.ipynb").cells) == 5
    ran("failed.ipynb", "fine.ipynb", "-p", "top", "1", at=tmp_path)
    fine = book(tmp_path / "fine.ipynb")
    assert [cell.source for cell in fine.cells][1:] == ["# Parameters\ntop = 1\n", "1 / top"]
    assert fine.metadata.papermill.exception is None


# ---- Parameters


def test_help_notebook_lists_the_parameters_and_runs_nothing(folder: Path) -> None:
    done = ran("sales.ipynb", "--help-notebook", at=folder)
    assert all(word in done.stdout for word in ("month", "2026-10", "as YYYY-MM", "top", "int", "5"))
    assert [each["name"] for each in json.loads(ran("sales.ipynb", "--help-notebook", "--json", at=folder).stdout)] == [
        "month",
        "top",
    ]
    write(folder / "none.ipynb", code("1"))
    assert "takes no parameters" in ran("none.ipynb", "--help-notebook", at=folder, status=1).stderr
    assert not (folder / ".quire").exists()


def test_values_come_by_every_way_and_the_last_word_is_papermills(folder: Path) -> None:
    (folder / "p.yaml").write_text("a: file\nb: file\nc: file\nd: file\nday: 2026-10-01\n")
    (folder / "empty.yaml").write_text("# nothing\n")
    in_base64 = base64.b64encode(b"{a: base64, nothing: ~}").decode()
    args = ["-b", in_base64, "-f", "p.yaml", "-f", "empty.yaml", "-y", "{b: yaml, c: yaml}"]
    args += [
        "-p",
        "c",
        "2.50",
        "-r",
        "d",
        "2.50",
        "--parameters_raw",
        "e",
        "1",
        "--parameters",
        "f=True",
        "-p",
        "g",
        "-1",
    ]
    ran("sales.ipynb", "out.ipynb", *args, "--prepare-only", at=folder)
    made = book(folder / "out.ipynb")
    assert made.cells[2].source.splitlines() == [
        "# Parameters",
        'a = "file"',
        "nothing = None",
        'b = "yaml"',
        "c = 2.5",
        'd = "2.50"',
        'day = "2026-10-01"',
        "f = True",
        "g = -1",
        'e = "1"',
    ]
    assert made.metadata.papermill.parameters["day"] == "2026-10-01"


@pytest.mark.parametrize(
    ("flags", "injected"),
    [
        (["--inject-input-path"], ['PAPERMILL_INPUT_PATH = "sales.ipynb"']),
        (["--inject-output-path"], ['PAPERMILL_OUTPUT_PATH = "3.ipynb"']),
        (["--inject-paths"], ['PAPERMILL_INPUT_PATH = "sales.ipynb"', 'PAPERMILL_OUTPUT_PATH = "3.ipynb"']),
        (["--inject-paths", "-p", "PAPERMILL_INPUT_PATH", "mine"], ['PAPERMILL_INPUT_PATH = "mine"',
         'PAPERMILL_OUTPUT_PATH = "3.ipynb"']),
    ],
)  # fmt: skip
def test_paths_are_injected_as_parameters(folder: Path, flags: list[str], injected: list[str]) -> None:
    """OUTPUT is a template here: what is injected is the file that will be there."""
    done = ran("sales.ipynb", "{top}.ipynb", "-p", "top", "3", *flags, "--prepare-only", at=folder)
    assert book(folder / "3.ipynb").cells[2].source.splitlines()[1:] == [*injected, "top = 3"]
    assert ("not declared" in done.stderr) == ("-p" in flags)


def test_both_paths_may_be_templates(folder: Path) -> None:
    (folder / "sales.ipynb").rename(folder / "sales-2026.ipynb")
    args = ("sales-{year}.ipynb", "{year}-{pm[run_uuid]}.ipynb", "-p", "year", "2026", "--json")
    made = json.loads(ran(*args, at=folder).stdout)
    assert made["output"] == f"2026-{made['run']}.ipynb"
    assert book(folder / made["output"]).metadata.papermill.input_path == "sales-2026.ipynb"
    (folder / "sales-2026.ipynb").rename(folder / "{year}.ipynb")
    ran("{year}.ipynb", "out.ipynb", "--prepare-only", at=folder)


# ---- Where it runs, and what is said meanwhile


def test_a_folder_to_run_in_files_for_the_streams_and_levels(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    streams = ("--stdout-file", "out.txt", "--stderr-file", "err.txt")
    quiet = ("--log-output", "--log-level", "WARNING", "--no-progress-bar", "-p", "unknown", "1")
    done = ran("sales.ipynb", "out.ipynb", "--cwd", "elsewhere", *streams, *quiet, at=folder)
    made = book(folder / "out.ipynb")
    assert made.cells[-1].outputs[-1].data["text/plain"] == repr(str(folder / "elsewhere"))
    assert (folder / "out.txt").read_text() == "2026-10 5\n"
    assert (folder / "err.txt").read_text() == "careful\n"
    said = done.stderr.splitlines()
    assert "careful" in said
    assert "2026-10 5" not in said, "stdout is information, which is not worth a line at this level"
    assert any("'unknown' is not declared" in line for line in said)
    assert not any("  ok  " in line for line in said)


def test_the_level_decides_what_is_said(folder: Path) -> None:
    ordinary = ran("sales.ipynb", "--log-output", "-p", "unknown", "1", at=folder).stderr
    assert all(word in ordinary for word in ("2026-10 5", "careful", "not declared", " ok "))
    silent = ran("sales.ipynb", "--log-output", "-p", "unknown", "1", "--log-level", "ERROR", at=folder).stderr
    assert not any(word in silent for word in ("2026-10 5", "careful", "not declared"))
    debug = ran("sales.ipynb", "--log-level", "DEBUG", "-k", "python3", at=folder).stderr
    assert f"kernel python3 ({sys.executable})" in debug
    assert "--log-level" in ran("sales.ipynb", "--log-level", "LOUD", at=folder, status=2).stderr


def test_a_stream_on_standard_output_and_a_file_that_cannot_be(folder: Path) -> None:
    assert ran("sales.ipynb", "--stdout-file", "-", at=folder).stdout == "2026-10 5\n"
    assert "cannot be written" in ran("sales.ipynb", "--stdout-file", "no/such.txt", at=folder, status=2).stderr
    full = ran("sales.ipynb", "--stdout-file", "/dev/full", at=folder)
    assert "The file for stdout cannot be written any more" in full.stderr
    assert "success" in full.stderr


def test_another_engine_and_a_folder_that_is_not_there_are_refused(folder: Path) -> None:
    assert (
        "There is no engine 'noteable' here" in ran("sales.ipynb", "--engine", "noteable", at=folder, status=2).stderr
    )
    assert "is no folder" in ran("sales.ipynb", "--cwd", "nowhere", at=folder, status=2).stderr
    ran("sales.ipynb", "out.ipynb", "--engine", "quire", "--prepare-only", at=folder)


# ---- Standard input and output


def test_a_notebook_may_come_from_stdin_and_go_to_stdout(folder: Path) -> None:
    done = ran("-", "-", "-p", "top", "7", at=folder, stdin=(folder / "sales.ipynb").read_text())
    made = cast("Any", nbformat).reads(done.stdout, as_version=4)
    assert shown(made) == "2026-10 7\n"
    record = made.metadata.papermill
    assert (record.input_path, record.output_path, record.exception) == ("-", "-", None)
    as_script = ran("-", "-", "--prepare-only", at=folder, stdin="# %%\nprint('hello')\n")
    assert cast("Any", nbformat).reads(as_script.stdout, as_version=4).cells[0].source == "print('hello')"
    for args in (["-", "--json"], ["--json", "--stdout-file", "-"], ["-", "--stderr-file", "-"]):
        assert "cannot both be on stdout" in ran("sales.ipynb", *args, at=folder, status=2).stderr


def test_prepare_only_writes_what_would_run_and_runs_nothing(folder: Path) -> None:
    done = ran("sales.ipynb", "out.ipynb", "--prepare-only", "-p", "top", "1", "-k", "nowhere", "--json", at=folder)
    outcome = json.loads(done.stdout)
    assert (outcome["status"], outcome["run"], outcome["cells_executed"]) == ("success", None, 0)
    assert not (folder / ".quire").exists()
    assert "Name the OUTPUT" in ran("sales.ipynb", "--prepare-only", at=folder, status=2).stderr
    ran("sales.ipynb", "run.ipynb", "--prepare-execute", at=folder)
    assert shown(book(folder / "run.ipynb")) == "2026-10 5\n"


# ---- While it runs


WAITS = """\
import json, pathlib, time
print("begun", flush=True)
out, deadline = pathlib.Path("out.ipynb"), time.monotonic() + 240
def seen():
    if not out.exists(): return False
    (first, second) = json.loads(out.read_text())["cells"]
    return {condition}
while not seen() and time.monotonic() < deadline: time.sleep(0.05)
print(seen())
"""


def test_the_file_is_current_while_the_run_goes_on(tmp_path: Path) -> None:
    ended = 'first["metadata"]["papermill"]["status"] == "completed"'
    write(tmp_path / "in.ipynb", code("1"), code(WAITS.format(condition=ended)))
    ran("in.ipynb", "out.ipynb", "--request-save-on-cell-execute", "--autosave-cell-every", "0", at=tmp_path)
    assert shown(book(tmp_path / "out.ipynb")) == "begun\nTrue\n"


def test_it_is_current_while_one_cell_takes_long(tmp_path: Path) -> None:
    begun = 'any("begun" in "".join(each.get("text", "")) for each in second["outputs"])'
    write(tmp_path / "in.ipynb", code("1"), code(WAITS.format(condition=begun)))
    ran("in.ipynb", "out.ipynb", "--autosave-cell-every", "1", at=tmp_path)
    assert shown(book(tmp_path / "out.ipynb")) == "begun\nTrue\n"


def test_it_is_written_once_when_nobody_wants_it_before(tmp_path: Path) -> None:
    write(tmp_path / "in.ipynb", code("1"), code("import pathlib\nprint(pathlib.Path('out.ipynb').exists())"))
    ran("in.ipynb", "out.ipynb", "--no-request-save-on-cell-execute", "--autosave-cell-every", "1", at=tmp_path)
    assert shown(book(tmp_path / "out.ipynb")) == "False\n"


# ---- When it takes too long


def test_a_kernel_that_does_not_start_in_time_ends_the_run(folder: Path) -> None:
    place = folder / "jupyter" / "kernels" / "mute"
    place.mkdir(parents=True)
    spec = {"argv": ["sleep", "600", "{connection_file}"], "display_name": "Mute", "language": "python"}
    (place / "kernel.json").write_text(json.dumps(spec | {"argv": ["sh", "-c", "sleep 600", "{connection_file}"]}))
    env = {"JUPYTER_PATH": str(folder / "jupyter")}
    done = run("run", "sales.ipynb", "out.ipynb", "-k", "mute", "--start_timeout", "0.5", "--json", at=folder, env=env)
    assert (done.returncode, "did not answer within 0.5 seconds" in done.stderr) == (4, True), done.stderr
    outcome = json.loads(done.stdout)
    assert (outcome["status"], outcome["failed_cell"]) == ("error", None)
    made = book(folder / "out.ipynb")
    assert {cell.metadata.papermill.status for cell in made.cells} == {"pending"}


def test_a_cell_that_takes_too_long_is_stopped_and_named(tmp_path: Path) -> None:
    # No code before it: on a busy machine the first would take too long as well.
    write(tmp_path / "in.ipynb", prose("# Sales"), code("import time\ntime.sleep(600)"), code("print('never')"))
    done = ran("in.ipynb", "out.ipynb", "--execution-timeout", "1", "--json", at=tmp_path, status=1)
    outcome = json.loads(done.stdout)
    assert (outcome["status"], outcome["failed_cell"]["index"]) == ("timeout", 1)
    title, *cells = [cell for cell in book(tmp_path / "out.ipynb").cells if "papermill" in cell.metadata]
    assert (title.cell_type, title.metadata.papermill.status) == ("markdown", "completed")
    assert [cell.metadata.papermill.status for cell in cells if cell.cell_type == "code"] == ["failed", "pending"]


def test_no_time_at_all_is_no_limit_as_papermill_has_it(folder: Path) -> None:
    ran("sales.ipynb", "--execution-timeout", "0", at=folder)


def test_a_name_that_is_not_text_is_told_as_such(folder: Path) -> None:
    """A file name may be any bytes; a command line is read as the system reads it."""
    name = os.fsdecode(b"\xff.ipynb")
    assert "Traceback" not in ran(name, at=folder, status=2).stderr
