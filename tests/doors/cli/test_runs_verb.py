"""`quire runs`, as a person types it: over runs in real kernels."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ...command import DEADLINE_SECONDS, ME, QUIRE, as_json, run

SALES = """\
# %% tags=["parameters"]
month = "2026-10"
top = 5

# %% name="report"
from quire.kernel import result
result("sold", top * 2)
result("best", ["Bern", "Chur"])
"""


class Runs:
    """A workspace with four runs: two that differ in a parameter, one of another source, one that failed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "reports").mkdir()
        (folder / "reports" / "sales.py").write_text(SALES)
        (folder / "other.py").write_text(SALES.replace("Chur", "Thun").replace("top * 2", "'\\x1b[2J'"))
        (folder / "bad.py").write_text("# %%\nx = 1\n\n# %%\n1 / 0\n\n# %%\n'never'\n")
        self.five = self.ran("reports/sales.py")
        self.two = self.ran("reports/sales.py", "-p", "top", "2", "-p", "month", "two words")
        self.other = self.ran("other.py")
        self.bad = self.ran("bad.py", status=1)

    def ran(self, *args: str, status: int = 0) -> str:
        done = run("run", *args, "--json", at=self.folder)
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout)["run"]

    def json(self, *args: str) -> Any:
        return as_json("runs", *args, at=self.folder)

    def text(self, *args: str, status: int = 0) -> str:
        done = run("runs", *args, at=self.folder)
        assert done.returncode == status, done.stderr
        assert "\x1b" not in done.stdout
        return done.stdout


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("runs"))


def test_list_has_the_last_run_first_and_all_that_tells_it_from_others(runs: Runs) -> None:
    head, _, *rows = runs.text("list").splitlines()
    assert head.split() == ["run", "when", "name", "status", "took", "cells", "parameters"]
    assert len(rows) == 4
    bad, _, two, five = rows
    assert re.fullmatch(rf"{runs.bad[:12]}  \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d  bad    error    \d+\.\d\d s  2/3", bad)
    assert two.endswith('3/3    top=2 month="two words"') and five.endswith("2/2")
    told = runs.json("list", "--status", "success")
    assert [each["run"] for each in told] == [runs.other, runs.two, runs.five]
    assert told[1]["parameters"] == {"top": 2, "month": "two words"}
    assert (told[1]["by"], told[1]["path"], told[1]["cells_executed"]) == (ME, "reports/sales.py", 3)


@pytest.mark.parametrize("source", ["sales.py", "reports/sales.py", "{folder}/reports/sales.py"])
def test_list_finds_the_runs_of_a_file_however_it_was_named(runs: Runs, source: str) -> None:
    found = runs.json("list", "--source", source.format(folder=runs.folder))
    assert [each["run"] for each in found] == [runs.two, runs.five]
    assert [each["run"] for each in runs.json("list", "--source", source.format(folder=runs.folder), "-n", "1")] == [
        runs.two
    ]


@pytest.mark.parametrize("source", ["elsewhere/sales.py", "ales.py", "x' OR '1'='1", "sales.py' --"])
def test_list_finds_no_run_of_another_file(runs: Runs, source: str) -> None:
    assert runs.json("list", "--source", source) == []


def test_show_tells_what_it_was_given_where_it_ran_and_how_long_each_cell_took(runs: Runs) -> None:
    shown = runs.text("show", runs.two)
    assert re.match(rf"sales  \[{runs.two}\]  success in \d+\.\d\d s\n", shown)
    for line in (
        r"source       reports/sales\.py  sha256 [0-9a-f]{16}…",
        rf"asked by     {ME}",
        r"interpreter  \S+python\S* · python 3\.\S+",
        r'  month  "two words"',
        r"  sold  4",
        r"  best  \[Bern, Chur\]",
        r"  3  \w{8}  ok     +\d+\.\d\d s  report",
    ):
        assert re.search(rf"^{line}$", shown, re.MULTILINE), line
    told = runs.json("show", runs.two)
    outcome = told["outcome"]
    assert (outcome["status"], outcome["run"], outcome["scraps"]["sold"]) == ("success", runs.two, 4)
    assert [(cell["number"], cell["state"]) for cell in told["cells"]] == [(1, "ok"), (2, "ok"), (3, "ok")]
    assert (told["by"], told["resumed"], len(told["source"]["digest"])) == (ME, None, 64)
    failed = runs.text("show", runs.bad)
    assert f"quire output {runs.bad} 2" in failed and "ZeroDivisionError: division by zero" in failed
    assert re.search(r"3  \w+ +skipped +'never'", failed)


def test_diff_puts_two_runs_side_by_side(runs: Runs) -> None:
    shown = runs.text("diff", runs.five, runs.two, status=1)
    assert re.search(r"parameters: 2 differences\n.*\n.*\n  top    -  2\n  month  -  \"two words\"\n", shown)
    assert "\nsources: the same\n" in shown and "\nenvironment: the same\n" in shown
    assert re.search(r"results: 1 difference, 1 more the same\n.*\n.*\n  sold  10  4\n", shown)
    assert re.search(r"timing\n(.*\n)+.*\d s  \d+\.\d\d s .*report", shown)
    shown = runs.text("diff", runs.five, runs.other, status=1)
    assert '    - result("best", ["Bern", "Chur"])\n' in shown and '    + result("best", ["Bern", "Thun"])\n' in shown
    assert r"\u001b[2J" in shown


def test_diff_in_json_has_both_sides_and_a_run_is_the_same_as_itself(runs: Runs) -> None:
    done = run("runs", "diff", runs.five, runs.two, "--json", at=runs.folder)
    told = json.loads(done.stdout)
    assert (done.returncode, told["same"], told["sources"]) == (1, False, [])
    assert told["parameters"]["top"] == {"b": 2, "same": False}
    assert told["results"] == {
        "sold": {"a": 10, "b": 4, "same": False, "difference": -6.0, "relative": -0.6},
        "best": {"a": ["Bern", "Chur"], "b": ["Bern", "Chur"], "same": True},
    }
    assert [(each["a_number"], each["b_number"]) for each in told["timing"]] == [(1, 1), (None, 2), (2, 3)]
    operations = json.loads(run("runs", "diff", runs.five, runs.other, "--json", at=runs.folder).stdout)["sources"]
    assert [each["type"] for each in operations] == ["source_edited"]
    assert runs.json("diff", runs.five, runs.five)["same"] is True
    again = runs.ran("reports/sales.py")
    assert runs.json("diff", runs.five, again)["same"] is True, "another time is no difference"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("show", "nowhere"), "There is no notebook or run 'nowhere'"),
        (("show", "sales"), "Use the id"),
        (("diff", "nowhere", "nowhere"), "There is no notebook or run"),
        (("list", "--status", "fine"), "'fine' is not one of"),
    ],
)
def test_what_cannot_be_found_is_told(runs: Runs, args: tuple[str, ...], said: str) -> None:
    done = run("runs", *args, at=runs.folder)
    assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr


def test_a_run_that_is_not_over_says_so(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("# %%\nprint('waiting', flush=True)\nimport time\ntime.sleep(600)\n")
    env = {name: value for name, value in os.environ.items() if not name.startswith("QUIRE_")}
    command = [QUIRE, "run", "long.py", "--log-output"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stderr is not None
            assert "waiting" in process.stderr.readline()
            (told,) = as_json("runs", "list", "--status", "running", at=tmp_path)
            assert (told["status"], told["finished_at"], told["cells_executed"]) == ("running", None, 1)
            assert re.search(r"running  \d+\.\d+ s …", run("runs", "list", at=tmp_path).stdout)
            assert "long  [" in (shown := run("runs", "show", "long", at=tmp_path).stdout)
            assert re.search(r"\]  running in \d+\.\d+ s …\n", shown)
            assert run("output", "long", "1", at=tmp_path).stderr.endswith("is running: there may be more.\n")
        finally:
            process.terminate()
            process.communicate(timeout=DEADLINE_SECONDS)


def test_a_workspace_without_runs_says_so(tmp_path: Path) -> None:
    done = run("runs", "list", at=tmp_path)
    assert (done.returncode, done.stdout, "Nothing was run yet" in done.stderr) == (0, "", True)
    assert as_json("runs", "list", at=tmp_path) == []


def test_the_page_on_runs_shows_what_works(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "runs.md").read_text()
    (source,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "sales.py").write_text(source)
    lines = [
        line
        for block in re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    assert len(lines) >= 10
    ids: list[str] = []
    for line in lines:
        for placeholder, found in zip(("01M7GFVPH9", "01M7GG2K4T"), ids, strict=False):
            line = line.replace(placeholder, found)
        path = f"{Path(QUIRE).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env=os.environ | {"PATH": path},
            timeout=DEADLINE_SECONDS,
        )
        # A comparison finds a difference; a run that is over cannot be cancelled.
        expected = 1 if " diff " in line else 3 if " cancel " in line else 0
        assert done.returncode == expected, (line, done.stderr)
        ids += re.findall(r"success in .* run (\w+)", done.stderr)
    assert len(ids) == 2
    assert (tmp_path / "towns.txt").read_text() == "Basel\nBern\n"
    assert "nbformat" in json.loads((tmp_path / "runs" / "all.ipynb").read_text())
