"""`quire.run` and `NotebookExecutor`: real kernels, called as a program calls them."""

from __future__ import annotations

import asyncio
import datetime as dt
import inspect
import io
import json
import logging
import os
import pickle
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import msgspec
import nbformat
import pytest

import quire
from quire import NotFound
from quire.connection import connect
from quire.core.results import Outcome, outcome_of
from quire.runs.api import RunOutcome

from ..command import run_process as run_command
from ..doors.cli.test_papermill_flags import papermills_flags
from ..journeys.faulty_notebook import wait_until
from .test_languages import cell, notebook

SALES = """\
# %% tags=["parameters"]
month = "2026-10"  # as YYYY-MM
top: int = 5

# %% name="report"
import sys
from quire.kernel import result
print(month, top)
print("careful", file=sys.stderr)
result("twice", top * 2)
result("days", (1, 2))
"""
QUIET: dict[str, Any] = {"progress_bar": False}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sales.py").write_text(SALES)
    return tmp_path


def of_log(folder: Path, run: str) -> Outcome:
    """The outcome as whoever reads the log has it."""

    async def read() -> Outcome:
        workspace = await connect(folder)
        try:
            return outcome_of(cast("Any", run), await workspace.read(cast("Any", run)))
        finally:
            await workspace.close()

    return asyncio.run(read())


# ---- Its face


def test_the_keywords_are_papermills_with_its_defaults_and_ours_behind() -> None:
    from papermill import execute_notebook  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]
    from papermill.engines import (  # pyright: ignore[reportMissingTypeStubs]
        NBClientEngine,
        NotebookExecutionManager,
    )

    theirs = dict(inspect.signature(cast("Any", execute_notebook)).parameters)
    theirs.pop("engine_kwargs")
    ours = inspect.signature(quire.run).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    for name, parameter in list(theirs.items())[2:]:
        assert ours[name].default == parameter.default, name
    engine = inspect.signature(cast("Any", NBClientEngine).execute_managed_notebook).parameters
    manager = inspect.signature(NotebookExecutionManager).parameters
    assert ours["execution_timeout"].default == engine["execution_timeout"].default
    assert ours["autosave_cell_every"].default == manager["autosave_cell_every"].default
    of_papermills_engine = {"autosave_cell_every", "execution_timeout"}
    assert set(ours) - set(theirs) - of_papermills_engine == {
        "timeout",
        "start",
        "only",
        "keep",
        "wait",
        "resume",
        "check",
        "at",
    }


def test_a_run_is_kept_and_gone_on_with(tmp_path: Path) -> None:
    source = tmp_path / "n.py"
    source.write_text("# %%\nimport random\nx = random.random()\nprint(x)\n\n# %%\n1 / 0\n\n# %%\nprint(x)\n")
    failed = quire.run(source, keep=True, check=False, at=tmp_path, progress_bar=False)
    assert failed.status == "error" and failed.run is not None
    source.write_text(source.read_text().replace("1 / 0", "pass"))
    done = quire.run(None, resume=failed.run, at=tmp_path, progress_bar=False)
    assert (done.status, done.cells_executed) == ("success", 2)
    first, _, last = done.notebook.cells
    assert first.outputs[0].text == last.outputs[0].text, "the same kernel, the same x"
    with pytest.raises(NotFound, match="has the tag"):
        quire.run(source, only=["nothing"], at=tmp_path, progress_bar=False)
    assert quire.run(source, start="3", check=False, at=tmp_path, progress_bar=False).status == "error", "no x there"


# ---- What it returns


def test_a_run_returns_its_outcome_its_results_and_its_notebook(folder: Path) -> None:
    target = folder / "runs" / "{month}.ipynb"
    outcome = quire.run(folder / "sales.py", target, {"top": 4}, at=folder, **QUIET)
    assert (outcome.status, outcome.cells_executed, outcome.failed_cell) == ("success", 3, None)
    assert outcome.output == str(folder / "runs" / "2026-10.ipynb")
    assert outcome.results == {"twice": 8, "days": (1, 2)}
    node = outcome.notebook
    assert isinstance(node, nbformat.NotebookNode)
    assert [each.metadata.papermill.status for each in node.cells] == ["completed"] * 3
    assert node.cells[1].source == "# Parameters\ntop = 4\n"
    # One outcome, whoever tells it.
    assert outcome.run is not None
    written: Any = cast("Any", nbformat).read(outcome.output, as_version=4)
    assert {**written, "metadata": 0} == {**node, "metadata": 0}
    assert written.metadata.quire.run == outcome.run
    assert msgspec.structs.replace(of_log(folder, outcome.run), output=outcome.output) == Outcome(
        **msgspec.structs.asdict(outcome)
    )
    # It can be passed from process to process, with all that is behind it.
    again: RunOutcome = pickle.loads(pickle.dumps(outcome))
    assert (again, again.results) == (outcome, outcome.results)


def test_a_cell_that_raises_is_an_exception_with_papermills_names(tmp_path: Path) -> None:
    fails = notebook(cell("a = 1"), cell("raise ValueError(f'no {a}')"), cell("print('never')"))
    with pytest.raises(quire.RunFailed, match=r"ended as error in cell 2 .*: ValueError: no 1") as caught:
        quire.run(fails, at=tmp_path, **QUIET)
    error: quire.RunFailed = pickle.loads(pickle.dumps(caught.value))
    assert (error.cell_index, error.exec_count, error.source) == (1, 2, "raise ValueError(f'no {a}')")
    assert (error.ename, error.evalue, "ValueError" in error.traceback[-1]) == ("ValueError", "no 1", True)
    assert error.outcome is not None
    assert (error.outcome.status, error.outcome.cells_executed) == ("error", 2)
    unchecked = quire.run(fails, check=False, at=tmp_path, **QUIET)
    assert unchecked.status == "error"
    assert unchecked.notebook.cells[3].outputs[0].ename == "ValueError"


# ---- What it takes


def test_the_input_is_a_path_a_node_or_a_dict_and_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = notebook(cell("top = 1", "parameters"), cell("print(top)"))
    node = cast("Any", nbformat).from_dict(given)
    (tmp_path / "in.ipynb").write_text(json.dumps(given))
    before = json.dumps(given)
    monkeypatch.chdir(tmp_path)
    # What was read is the same from here on: one of them is run.
    for each in (node, "in.ipynb"):
        prepared = quire.run(each, "out.ipynb", {"top": 2}, prepare_only=True, **QUIET)
        assert [cell.source for cell in prepared.notebook.cells] == ["top = 1", "# Parameters\ntop = 2\n", "print(top)"]
    outcome = quire.run(given, parameters={"top": 2}, **QUIET)
    assert (outcome.notebook.cells[-1].outputs[0].text, outcome.output) == ("2\n", None)
    assert (json.dumps(given), json.dumps(node), (tmp_path / "in.ipynb").read_text()) == (before,) * 3
    assert (tmp_path / ".quire").is_dir(), "the workspace is where a command would have it"


def test_streams_go_to_files_and_to_the_log_of_python(
    folder: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    stdout = io.StringIO()
    (folder / "elsewhere").mkdir()
    with caplog.at_level(logging.INFO, logger="quire"):
        quire.run(
            folder / "sales.py",
            parameters={"unknown": 1},
            stdout_file=stdout,
            stderr_file=folder / "err.txt",
            log_output=True,
            cwd=folder / "elsewhere",
            at=folder,
        )
    assert stdout.getvalue() == "2026-10 5\n"
    assert (folder / "err.txt").read_text() == "careful\n"
    said = {record.getMessage(): record.levelname for record in caplog.records}
    assert (said["2026-10 5\n"], said["careful\n"]) == ("INFO", "WARNING")
    assert any("'unknown' is not declared" in each for each in said)
    assert [line.split()[:2] for line in capfd.readouterr().err.splitlines()] == [
        ["1/3", "ok"],
        ["2/3", "ok"],
        ["3/3", "ok"],
    ]


def test_only_prepared_it_is_written_and_not_run(folder: Path) -> None:
    outcome = quire.run(
        folder / "sales.py",
        folder / "out.ipynb",
        {"top": 1},
        prepare_only=True,
        report_mode=True,
        kernel_name="nowhere",
    )
    assert (outcome.status, outcome.run, outcome.results) == ("success", None, {})
    written: Any = cast("Any", nbformat).read(folder / "out.ipynb", as_version=4)
    assert written == outcome.notebook == pickle.loads(pickle.dumps(outcome)).notebook
    assert [each.metadata.jupyter.source_hidden for each in written.cells] == [True] * 3
    assert not (folder / ".quire").exists()


def test_kernel_language_and_engine_are_named_as_papermill_names_them(folder: Path) -> None:
    outcome = quire.run(
        folder / "sales.py", engine_name="quire", kernel_name="python3", language="python", at=folder, **QUIET
    )
    assert outcome.interpreter == sys.executable
    with pytest.raises(quire.BadInput, match="There is no engine 'nbclient' here"):
        quire.run(folder / "sales.py", engine_name="nbclient", at=folder)
    with pytest.raises(quire.BadInput, match="There is no kernel for 'cobol'"):
        quire.run(folder / "sales.py", language="cobol", at=folder)


def test_each_limit_of_time_ends_the_run_by_its_name(tmp_path: Path) -> None:
    slow = notebook(cell("import time\ntime.sleep(600)"))
    with pytest.raises(quire.RunFailed) as caught:
        quire.run(slow, execution_timeout=0.5, at=tmp_path, **QUIET)
    assert caught.value.outcome is not None
    assert (caught.value.outcome.status, caught.value.cell_index) == ("timeout", 0)
    assert quire.run(slow, timeout=0.5, check=False, at=tmp_path, **QUIET).status == "timeout"
    with pytest.raises(quire.Unavailable, match=r"did not answer within 0\.001 seconds"):
        quire.run(slow, start_timeout=0.001, at=tmp_path, **QUIET)
    outcome = quire.run(slow, start_timeout=0.001, check=False, at=tmp_path, **QUIET)
    assert (outcome.status, outcome.failed_cell, outcome.cells_executed) == ("error", None, 0)


def test_the_file_is_kept_current_or_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    looks = notebook(cell("import pathlib\nprint(pathlib.Path('out.ipynb').exists())"))
    once = quire.run(looks, "out.ipynb", request_save_on_cell_execute=False, autosave_cell_every=1, **QUIET)
    assert once.notebook.cells[0].outputs[0].text == "False\n"
    assert (tmp_path / "out.ipynb").exists()


def test_a_file_that_cannot_be_written_is_told_though_the_run_is_whole(tmp_path: Path) -> None:
    removes = notebook(cell("import os, shutil\nshutil.rmtree('gone')\nopen('gone', 'w').close()"))
    with pytest.raises(quire.Unavailable, match="quire export"):
        quire.run(
            removes, tmp_path / "gone" / "out.ipynb", request_save_on_cell_execute=False, cwd=tmp_path, at=tmp_path
        )


# ---- Where it is called


async def test_it_works_inside_a_running_loop(tmp_path: Path) -> None:
    outcome = quire.run(notebook(cell("from quire.kernel import result\nresult('x', 1)")), at=tmp_path, **QUIET)
    assert (outcome.results, outcome.notebook.nbformat) == ({"x": 1}, 4)


def test_several_threads_each_have_their_own_folder(tmp_path: Path) -> None:
    here = Path.cwd()
    folders = [tmp_path / name for name in ("a", "b")]
    for each in folders:
        each.mkdir()
    shows = notebook(cell("import os\nprint(os.getcwd())"))

    def one(place: Path) -> str:
        return quire.run(shows, cwd=place, at=tmp_path, **QUIET).notebook.cells[0].outputs[0].text.strip()

    with ThreadPoolExecutor(len(folders)) as pool:
        assert list(pool.map(one, folders)) == list(map(str, folders))
    assert Path.cwd() == here


INTERRUPTED = """\
import quire, sys
try:
    quire.run("long.py", "long.ipynb", stdout_file=sys.stdout, progress_bar=False)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


STARTING = """\
import quire
try:
    quire.run("long.py", kernel_name="slow", start_timeout=100_000, progress_bar=False)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_while_the_kernel_starts_is_heard_at_once(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("# %%\n1\n")
    spec = tmp_path / "kernels" / "slow"
    spec.mkdir(parents=True)
    starts = ["bash", "-c", f"touch {tmp_path}/begun; sleep 600", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": starts, "display_name": "slow", "language": "python"}))
    clean = {name: value for name, value in os.environ.items() if not name.startswith("QUIRE_")}
    with subprocess.Popen(
        [sys.executable, "-c", STARTING],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        env=clean | {"JUPYTER_PATH": str(tmp_path)},
    ) as process:
        assert process.stdout is not None
        wait_until(lambda: (tmp_path / "begun").exists(), "the kernel did not begin")
        process.send_signal(signal.SIGINT)
        # Long before the time that this kernel has for its start.
        assert process.communicate(timeout=240)[0] == "interrupted\n"


def test_ctrl_c_comes_to_a_clean_end_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("# %%\nimport os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)\n")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("QUIRE_")}
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=clean
    ) as process:
        assert process.stdout is not None
        kernel = int(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "interrupted\n"
    assert process.returncode == 0
    with pytest.raises(ProcessLookupError):
        os.kill(kernel, 0)
    made: Any = cast("Any", nbformat).read(tmp_path / "long.ipynb", as_version=4)
    assert [each.metadata.papermill.get("status") for each in made.cells if each.cell_type == "code"] == ["failed"]
    assert of_log(tmp_path, made.metadata.quire.run).status == "cancelled"


# ---- NotebookExecutor


def test_the_executor_returns_what_json_prints_and_never_raises_for_a_cell(folder: Path) -> None:
    executor = quire.NotebookExecutor(at=folder)
    told = executor.execute(folder / "sales.py", folder / "out.ipynb", {"top": 3})
    printed = json.loads(run_command("run", "sales.py", "again.ipynb", "-p", "top=3", "--json", at=folder).stdout)
    assert (told["status"], told["reason"]) == ("success", None)
    changing = {"run", "output", "duration_seconds", "reason"}
    assert {name: told[name] for name in told if name not in changing} == {
        name: printed[name] for name in printed if name not in changing
    }
    assert json.loads(json.dumps(told)) == told
    assert executor.collect_outputs(folder / "out.ipynb") == {"twice": 6, "days": (1, 2)}
    assert executor.collect_outputs(told["run"]) == {"twice": 6, "days": (1, 2)}
    failed = executor.execute(notebook(cell("import time\n1 / 0")), timeout=60)
    assert (failed["status"], failed["failed_cell"]["ename"]) == ("error", "ZeroDivisionError")
    assert json.loads(json.dumps(failed)) == failed
    assert failed["reason"] is None
    slow = notebook(cell("import time\ntime.sleep(600)"))
    late = executor.execute(slow, None, None, 0.01)
    assert (late["status"], late["reason"], late["failed_cell"]["index"]) == ("error", "timeout", 0)
    # A limit for the run counts before its first cell, too.
    late = executor.execute(slow, run_timeout=0.001)
    assert (late["status"], late["reason"], late["failed_cell"]) == ("error", "timeout", None)
    with pytest.raises(quire.NotFound):
        executor.execute(folder / "nowhere.py")


def test_the_executor_reads_writes_compares_and_inspects_any_format(folder: Path) -> None:
    executor = quire.NotebookExecutor()
    assert executor.inspect_parameters(folder / "sales.py") == {
        "month": {"type": "str", "default": "2026-10", "help": "as YYYY-MM"},
        "top": {"type": "int", "default": 5, "help": ""},
    }
    node = executor.read_notebook(folder / "sales.py")
    cast("Any", nbformat).validate(node)
    assert node.cells[0].metadata.tags == ["parameters"]
    executor.write_notebook(node, folder / "sales.ipynb")
    assert executor.diff_notebooks(folder / "sales.py", folder / "sales.ipynb") == []
    node.cells[1].source += "top\n"
    executor.write_notebook(node, folder / "changed.md")
    told = executor.diff_notebooks(folder / "sales.py", folder / "changed.md")
    printed = run_command("diff", "sales.py", "changed.md", "--json", at=folder)
    assert told
    assert told == json.loads(printed.stdout)
    with pytest.raises(quire.BadInput, match=r"would be a script in r"):
        executor.write_notebook(node, folder / "sales.R")
    assert not (folder / "sales.R").exists()


def test_a_diff_of_nodes_makes_one_of_the_other(folder: Path) -> None:
    import nbdime  # pyright: ignore[reportMissingTypeStubs]

    executor = quire.NotebookExecutor()
    old = executor.read_notebook(folder / "sales.py")
    new = executor.read_notebook(folder / "sales.py")
    new.cells[1].source += "\nprint(top)"
    new.cells.append(cast("Any", nbformat).v4.new_markdown_cell("# End", id="end"))
    assert quire.diff(old, old) == []
    operations = executor.diff_notebooks(old, new)
    assert operations == quire.diff(folder / "sales.py", new)
    made = quire.patch(old, operations)
    assert made.cells == new.cells
    assert [each.source for each in quire.patch(folder / "sales.py", operations).cells] == [
        each.source for each in new.cells
    ]
    theirs = executor.diff_notebooks(old, new, nbdime=True)
    assert cast("Any", nbdime).patch(old, theirs) == new
    assert json.loads(json.dumps(theirs)) == theirs
    with pytest.raises(quire.Conflict):
        quire.patch(new, [{**each, "base_hash": "0" * 64} for each in operations if "base_hash" in each])
    with pytest.raises(quire.BadInput, match="not JSON"):
        quire.patch(old, [{"type": object()}])


def test_validate_names_what_is_wrong(folder: Path) -> None:
    executor = quire.NotebookExecutor()
    assert executor.validate(folder / "sales.py")
    good = notebook(cell("1"))
    (folder / "good.ipynb").write_text(json.dumps(good))
    (folder / "cut.ipynb").write_text(json.dumps(good)[:-20])
    (folder / "odd.ipynb").write_text(json.dumps(good | {"metadata": {"kernelspec": {"name": 1}}}))
    (folder / "wrong.py").write_text('# %% tags=["parameters"]\na = (\n')
    assert executor.validate(folder / "good.ipynb")
    assert "cut off" in executor.validate(folder / "cut.ipynb").faults[0]
    odd = executor.validate(folder / "odd.ipynb")
    assert (bool(odd), len(odd.faults)) == (False, 1)
    assert "cannot be read" in executor.validate(folder / "wrong.py").faults[0]
    with pytest.raises(quire.NotFound):
        executor.validate(folder / "nowhere.ipynb")


def test_validate_runs_the_tests_of_a_notebook(folder: Path) -> None:
    executor = quire.NotebookExecutor()
    (folder / "wrong.py").write_text('# %% name="first"\nprint(1)\n\n# %% name="total"\nassert 1 == 2, "no sum"\n')
    (fault,) = executor.validate(folder / "wrong.py").faults
    assert fault.endswith("wrong.py:5: total: It raised AssertionError: no sum")
    stored = notebook(cell("print(2)"))
    stored["cells"][0] |= {
        "execution_count": 1,
        "outputs": [{"name": "stdout", "output_type": "stream", "text": "3\n"}],
    }
    (folder / "stored.ipynb").write_text(json.dumps(stored))
    assert not executor.validate(folder / "stored.ipynb")
    assert executor.validate(folder / "stored.ipynb", lax=True)


def test_inspect_notebook_answers_as_papermill_does(tmp_path: Path) -> None:
    from papermill import inspect_notebook  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

    source = "a: int = 1  # how many\nb = 'x'  # type: str  a letter\nc: float = 1.5\nd: list = [1, 'a']\n"
    spec = notebook(cell(source, "parameters"), kernel="python3")
    (tmp_path / "in-1.ipynb").write_text(json.dumps(spec))
    theirs = cast("Any", inspect_notebook)(str(tmp_path / "in-{n}.ipynb"), {"n": 1})
    assert quire.inspect_notebook(tmp_path / "in-{n}.ipynb", {"n": 1}) == theirs


# ---- The page that says all this

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "from-papermill.md"


def test_the_examples_for_people_who_come_from_papermill_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declares = cell('month = "2026-01"\ntop = 5\n', "parameters")
    records = cell("from quire.kernel import result\n1 / top\nresult('twice', top * 2)")
    (tmp_path / "sales.ipynb").write_text(json.dumps(notebook(declares, records)))
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    exec("\n".join(blocks), {})
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["2026-10.ipynb", "again.ipynb"]


def test_every_flag_of_papermill_is_on_the_page() -> None:
    page = PAGE.read_text()
    assert [flag for flag in papermills_flags() if f"`{flag}`" not in page] == []


def test_a_day_stays_a_day(tmp_path: Path) -> None:
    """papermill makes text of it."""
    shows = notebook(cell("day = None", "parameters"), cell("from quire.kernel import result\nresult('day', day)"))
    outcome = quire.run(shows, parameters={"day": dt.date(2026, 11, 16)}, at=tmp_path, **QUIET)
    assert outcome.results == {"day": dt.date(2026, 11, 16)}
