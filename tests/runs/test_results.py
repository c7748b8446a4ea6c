"""Results of real runs: what a kernel records is in the outcome, in the log and in the file, and scrapbook reads it."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import re
import subprocess
import sys
import sysconfig
import venv
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from quire.connection import connect
from quire.core.ids import LogId
from quire.core.results import declared
from quire.formats import registry
from quire.runs.records.result_rows import Rows, results

from ..command import run_process as run
from ..other_kernels import register

RECORDS = """\
# /// script
# [tool.quire.results]
# score = {type = "float", min = 0}
# day = "date"
# pandas = "frame"
# array = "array"
# plot = "figure"
# report = "file"
# rows = "list[int]"
# nothing = {type = "int", required = false}
# ///

# %%
import datetime, pathlib
from quire.kernel import result, result_file
result("score", 0.94)
result("text", "Größe 🎈")
result("pair", (1, {2, 3}))
result("big", 2**70)
result("day", datetime.date(2026, 1, 31))
result("rows", list(range(50_000)))

# %%
import numpy, pandas, polars
frame = pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=[5, 6])
result("pandas", frame, display=True)
result("polars", polars.DataFrame({"a": [1, None], "when": [datetime.date(2026, 1, 31), None]}))
result("array", numpy.arange(6, dtype="int16").reshape(2, 3))

# %%
import matplotlib
matplotlib.use("agg")
from matplotlib import pyplot
figure, axes = pyplot.subplots()
axes.plot([1, 3, 2])
result("plot", axes)
pyplot.close(figure)
pathlib.Path("report.csv").write_bytes(b"a,b\\r\\n")
result_file("report", "report.csv")
"""
VALUES = {
    "score": 0.94,
    "text": "Größe 🎈",
    "pair": (1, {2, 3}),
    "big": 2**70,
    "day": dt.date(2026, 1, 31),
    "rows": list(range(50_000)),
}


class Ran:
    """A run that is over."""

    def __init__(self, folder: Path, source: str, *args: str, env: dict[str, str] | None = None) -> None:
        self.folder = folder
        (folder / "notebook.py").write_text(source)
        done = run("run", "notebook.py", "out.ipynb", "--json", *args, at=folder, env=env)
        assert done.stdout, done.stderr
        self.outcome: Any = json.loads(done.stdout)
        self.status = done.returncode
        self.told = done.stderr

    @property
    def file(self) -> str:
        return str(self.folder / "out.ipynb")

    def results(self, **options: Any) -> Rows:
        """As the log has them."""
        return results(self.outcome["run"], at=self.folder, **options)

    @property
    def fault(self) -> str | None:
        """What the log says went wrong."""

        async def read() -> str | None:
            workspace = await connect(self.folder)
            try:
                of_log = (await workspace.read(LogId(self.outcome["run"]))).run
                return of_log.fault.evalue if of_log is not None and of_log.fault is not None else None
            finally:
                await workspace.close()

        return asyncio.run(read())


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One run that records of everything something, for all who only look at it."""
    found = Ran(tmp_path_factory.mktemp("ran"), RECORDS)
    assert found.outcome["status"] == "success", found.told
    return found


def by_name(rows: Rows) -> dict[str, Any]:
    return {row["name"]: row["value"] for row in rows}


def test_values_are_exact_in_the_outcome_the_log_and_the_file(ran: Ran) -> None:
    assert ran.outcome["scraps"]["score"] == 0.94
    assert ran.outcome["scraps"]["day"] == {"$date": "2026-01-31"}
    assert ran.outcome["scraps"]["rows"]["media"] == "application/json", "what is large is a blob"
    for rows in (ran.results(name=VALUES), results(ran.file, name=VALUES)):
        assert by_name(rows) == VALUES
        assert [row["kind"] for row in rows] == ["json", "text", "json", "json", "json", "json"]


def test_the_verb_lists_a_run_and_the_file_names_it(ran: Ran) -> None:
    done = run("results", ran.outcome["run"], "--name", "day", "--name", "report", at=ran.folder)
    assert (done.returncode, done.stderr) == (0, "")
    id = ran.outcome["run"][:10]
    assert done.stdout.splitlines()[2:] == [
        f"{id}  day     json  2026-01-31",
        f"{id}  report  file  report.csv, 5 bytes of text/csv",
    ]
    assert {row["run"] for row in results(ran.file)} == {ran.outcome["run"]}


BYTES = ["pandas", "polars", "array", "plot", "report"]


def test_frames_arrays_figures_and_files_are_blobs(ran: Ran) -> None:
    media = ["application/vnd.apache.parquet"] * 2 + ["application/x-npy", "image/png", "text/csv"]
    assert [ran.outcome["scraps"][name]["media"] for name in BYTES] == media
    log, file = ran.results(name=BYTES), results(ran.file, name=BYTES)
    assert log == [{**row, "file": None} for row in file]
    assert [row["kind"] for row in log] == ["frame", "frame", "array", "figure", "file"]
    assert [row["media"] for row in log] == media
    assert by_name(log) == {"pandas": None, "polars": None, "array": None, "plot": None, "report": "report.csv"}


def test_frames_arrays_figures_and_files_come_back_when_asked_for(ran: Ran) -> None:
    pandas = import_module("pandas")
    for found in (by_name(ran.results(name=BYTES, load=True)), by_name(results(ran.file, name=BYTES, load=True))):
        pandas.testing.assert_frame_equal(
            found["pandas"], pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=[5, 6])
        )
        assert found["polars"]["a"].isna().tolist() == [False, True]
        assert (found["array"].dtype.name, found["array"].tolist()) == ("int16", [[0, 1, 2], [3, 4, 5]])
        assert found["plot"][:4] == b"\x89PNG"
        assert found["report"] == b"a,b\r\n"


# ---- scrapbook, the real one

GLUES = """\
# %%
import warnings
warnings.simplefilter("ignore")
import scrapbook as sb
assert sb.__file__.startswith({prefix!r}), "an installed one is never shadowed"
import pandas
sb.glue("number", 5)
sb.glue("words", "5")
sb.glue("object", {{"a": [1, None]}})
sb.glue("frame", pandas.DataFrame({{"a": [1, 2]}}), "pandas")
sb.glue("shown", "seen", display=True)

# %%
ours = sb.read_notebook({file!r})
read = {{name: scrap.data for name, scrap in ours.scraps.items() if name not in ("pandas", "polars")}}
frames = [ours.scraps["pandas"].data.to_dict("list"), ours.scraps["polars"].data["a"].isna().tolist()]
figures = sorted(ours.scraps["plot"].display["data"])
columns = list(ours.scrap_dataframe.columns)
print(__import__("json").dumps([read, frames, figures, columns], default=str))
"""


def test_scrapbook_reads_ours_and_we_read_what_it_glues(ran: Ran, tmp_path: Path) -> None:
    theirs = Ran(tmp_path, GLUES.format(prefix=sys.prefix, file=ran.file))
    assert theirs.outcome["status"] == "success", theirs.outcome["failed_cell"]
    for rows in (theirs.results(load=True), results(theirs.file, load=True)):
        found = by_name(rows)
        assert found.pop("frame").to_dict("list") == {"a": [1, 2]}
        assert found == {"number": 5, "words": "5", "object": {"a": [1, None]}, "shown": "seen"}
    cell = json.loads(Path(theirs.file).read_text())["cells"][-1]
    read, frames, figures, columns = json.loads("".join(cell["outputs"][0]["text"]))
    assert read == {
        "score": 0.94,
        "text": "Größe 🎈",
        "pair": [1, [2, 3]],
        "big": 2**70,
        "day": "2026-01-31",
        "rows": list(range(50_000)),
        "array": [[0, 1, 2], [3, 4, 5]],
        "plot": None,
        "report": None,
    }
    assert frames == [{"a": [1, 2], "b": ["x", "y"]}, [False, True]]
    assert figures == ["image/png", "text/plain"]
    assert columns == ["name", "data", "encoder", "display", "filename"]


# ---- Where neither Quire nor scrapbook is installed

BARE = """\
# %%
from quire.kernel import result
import quire.kernel, scrapbook as sb
result("ours", {"a": (1, 2)})
sb.glue("theirs", [1, 2])
sb.glue("shown", object(), display=True)
print(quire.kernel.__spec__.origin, sb.__spec__.origin, sorted(each for each in dir() if each[0] != "_"))

# %%
print(sb.read_notebook(PATH).scraps.data_dict["score"])
"""
MINE = """\
# %%
import scrapbook
from quire.kernel import result
print(scrapbook.glue, result.__module__)
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with all that is here but Quire and scrapbook: links, for nothing is to be fetched."""
    folder = tmp_path_factory.mktemp("bare") / "env"
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if not each.name.startswith(("scrapbook", "quire", "__pycache__")) and each.suffix != ".pth":
            (packages / each.name).symlink_to(each)
    return folder


def test_kernels_without_quire_and_scrapbook_get_both(ran: Ran, bare: Path, tmp_path: Path) -> None:
    found = Ran(tmp_path, BARE.replace("PATH", repr(ran.file)), env={"VIRTUAL_ENV": str(bare)})
    assert found.outcome["status"] == "success", found.outcome["failed_cell"]
    assert found.outcome["interpreter"].startswith(str(bare))
    rows = results(found.file)
    assert [(row["name"], row["kind"]) for row in rows] == [("ours", "json"), ("theirs", "json"), ("shown", "display")]
    assert by_name(rows)["ours"] == {"a": (1, 2)}
    cells = json.loads(Path(found.file).read_text())["cells"]
    printed = "".join(cells[0]["outputs"][-1]["text"])
    assert printed.startswith("<quire.kernel> <scrapbook> ['In', 'Out', 'exit', 'get_ipython', ")
    assert "sources" not in printed, "what the kernel was given left nothing among the notebook's names"
    assert "".join(cells[1]["outputs"][-1]["text"]) == "0.94\n"


def test_what_is_installed_is_never_shadowed(bare: Path, tmp_path: Path) -> None:
    """Nor is what stands beside the notebook."""
    (tmp_path / "scrapbook.py").write_text("glue = 'mine'\n")
    found = Ran(tmp_path, MINE, env={"VIRTUAL_ENV": str(bare)})
    cells = json.loads(Path(found.file).read_text())["cells"]
    assert "".join(cells[0]["outputs"][-1]["text"]) == "mine quire.kernel\n"


# ---- Declared results

DECLARED = """\
# /// script
# [tool.quire.results]
# score = "float"
# best = "frame"
# plot = {type = "figure", required = false}
# rows = {type = "int", min = 1}
# ///

# %%
from quire.kernel import result
"""


def test_a_declared_result_that_is_missing_or_wrong_fails_the_run(tmp_path: Path) -> None:
    found = Ran(tmp_path, DECLARED + "result('score', 'high')\nresult('bets', 1)\nresult('rows', 0)\n")
    assert (found.outcome["status"], found.status) == ("error", 1)
    assert (found.outcome["failed_cell"], found.outcome["cells_executed"]) == (None, 2)
    assert found.fault is not None
    assert "result 'score' wants a float, got 'high'." in found.fault
    assert "result 'best' is missing: the notebook declares it as a frame" in found.fault
    assert "'bets' was: is that the one?" in found.fault
    assert "result 'rows' is at least 1, got 0." in found.fault
    assert "plot" not in found.fault
    assert by_name(results(found.file))["score"] == "high", "what was recorded is there all the same"


def test_declared_results_that_are_there_are_fine(ran: Ran) -> None:
    assert (ran.outcome["status"], ran.status, ran.fault) == ("success", 0, None)


def test_a_wrong_declaration_is_told_before_the_first_cell(tmp_path: Path) -> None:
    (tmp_path / "notebook.py").write_text(DECLARED.replace('"float"', '"floot"'))
    done = run("run", "notebook.py", "--json", at=tmp_path)
    assert done.returncode == 2
    assert "result 'score': the type 'floot' is not known." in done.stderr


# ---- The examples of docs/reference/results.md

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "results.md"


def examples(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_what_the_page_records_is_what_it_reads(tmp_path: Path) -> None:
    recording, reading, _ = examples("python")
    (tmp_path / "october.py").write_text(f"# %%\nimport matplotlib\nmatplotlib.use('agg')\n\n# %%\n{recording}")
    (tmp_path / "runs").mkdir()
    done = run("run", "october.py", "runs/october.ipynb", "--json", at=tmp_path)
    assert list(json.loads(done.stdout)["scraps"]) == ["health_score", "best", "trend", "report"], done.stderr
    told = "print(scores, table.columns.tolist())\n"
    read = subprocess.run([sys.executable, "-c", reading + told], cwd=tmp_path, capture_output=True, text=True)
    assert read.stdout.splitlines() == [
        "420",
        "{'runs/october.ipynb': 0.94} ['best', 'health_score', 'report', 'trend']",
    ], read.stderr


def test_what_the_page_declares_is_declared() -> None:
    (frontmatter,), (_, _, block) = examples("yaml"), examples("python")
    names = [each.name for each in declared(registry.read(f"---\n{frontmatter}---\n", "a.md"))]
    assert names == ["health_score", "rows", "region", "best", "trend", "notes"]
    assert [each.name for each in declared(registry.read(block, "a.py"))] == ["health_score", "rows"]


@pytest.mark.slow
def test_another_language_records_as_the_page_says(tmp_path: Path) -> None:
    (source,) = examples("r")
    (tmp_path / "notebook.r").write_text(f"# %%\n{source}")
    done = run("run", "notebook.r", "out.ipynb", "-k", "ir", "--json", at=tmp_path, env=register(tmp_path / "jupyter"))
    assert json.loads(done.stdout)["scraps"] == {"health_score": 0.94}, done.stderr
    assert by_name(results(tmp_path / "out.ipynb")) == {"health_score": 0.94}
