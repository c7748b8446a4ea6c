"""The file that a run leaves: papermill's keys and words, and the truth about every cell."""

from __future__ import annotations

import datetime as dt
from typing import Any, cast

import nbformat
import pytest
from msgspec.structs import replace

from quire.core import events as e
from quire.core.errors import BadInput
from quire.core.events import ExecutionStatus, RunSource, RunStatus
from quire.core.ids import CellId, ExecutionId, LogId, RuntimeId
from quire.core.notebook.notebook import Notebook
from quire.core.notebook.reduce import Fold
from quire.core.sheet.conversion import sheet_of
from quire.core.sheet.sheet import Sheet, SheetCell
from quire.core.text import source_hash
from quire.formats.papermill import ERROR_TAG, executed, prepared_only, without_markers
from quire.formats.registry import read, write
from tests.random_logs import RUNTIME, at, entry

STYLE = 'style="color:red; font-family:Helvetica Neue, Helvetica, Arial, sans-serif; font-size:2em;"'


class Log:
    """The log of a run, second by second: each event is one later."""

    def __init__(
        self, *cells: tuple[str, e.CellKind, tuple[str, ...]], environment: dict[str, Any] | None = None
    ) -> None:
        self._fold = Fold()
        self._seq = 0
        self.add(e.RunRequested(name="sales", source=RunSource(path="sales.py")))
        after: CellId | None = None
        for name, kind, tags in cells:
            self.add(e.CellAdded(cell=CellId(name), after=after, kind=kind, source=name, tags=tags))
            after = CellId(name)
        self.add(e.RunClaimed(runtime=RuntimeId(RUNTIME), epoch=1))
        self.started = self.add(e.RunStarted(epoch=1, environment=environment or {}))

    def add(self, event: e.KnownEvent) -> str:
        """Take an event, and say when it was."""
        self._seq += 1
        self._fold.add(entry(self._seq, event, RUNTIME))
        return told(self._seq)

    def start(self, cell: str) -> str:
        return self.add(
            e.ExecutionStarted(
                execution=ExecutionId(f"x-{cell}"), cell=CellId(cell), source_hash=source_hash(cell), epoch=1
            )
        )

    def finish(self, cell: str, status: ExecutionStatus = "ok", count: int | None = 1) -> str:
        return self.add(e.ExecutionFinished(execution=ExecutionId(f"x-{cell}"), epoch=1, status=status, count=count))

    def end(self, status: RunStatus, failed: str | None = None) -> str:
        return self.add(e.RunFinished(epoch=1, status=status, failed_cell=CellId(failed) if failed else None))

    @property
    def notebook(self) -> Notebook:
        return self._fold.notebook()

    @property
    def sheet(self) -> Sheet:
        notebook = self.notebook
        return executed(sheet_of(notebook, {}), notebook, input_path="sales.py", output_path="runs/a.ipynb")


def told(seq: int) -> str:
    """A time as papermill writes it."""
    return dt.datetime.fromisoformat(at(seq)).isoformat()


def three() -> Log:
    return Log(
        ("title", "markdown", ()),
        ("load", "code", ()),
        ("note", "markdown", ()),
        ("plot", "code", ()),
        ("end", "markdown", ()),
    )


def of_cells(sheet: Sheet) -> dict[str, Any]:
    return {cell.id: cell.metadata["papermill"] for cell in sheet.cells if ERROR_TAG not in cell.tags}


def statuses(sheet: Sheet) -> dict[str, tuple[str, bool | None]]:
    return {id: (told["status"], told["exception"]) for id, told in of_cells(sheet).items()}


DONE, FAILED, PENDING, RUNNING = ("completed", False), ("failed", True), ("pending", None), ("running", False)


def test_a_run_that_succeeded_says_what_papermill_says() -> None:
    log = three()
    begun, done = log.start("load"), log.finish("load")
    log.start("plot")
    log.finish("plot", count=2)
    over = log.end("success")
    assert log.sheet.metadata["papermill"] == {
        "default_parameters": {},
        "parameters": {},
        "environment_variables": {},
        "version": "2.7.0",
        "input_path": "sales.py",
        "output_path": "runs/a.ipynb",
        "start_time": log.started,
        "end_time": over,
        "duration": 5.0,
        "exception": None,
    }
    found = of_cells(log.sheet)
    assert found["load"] == {
        "exception": False,
        "start_time": begun,
        "end_time": done,
        "duration": 1.0,
        "status": "completed",
    }
    assert found["title"] == {
        "exception": False,
        "start_time": log.started,
        "end_time": log.started,
        "duration": 0.0,
        "status": "completed",
    }
    assert found["end"]["status"] == "completed"
    assert [cell.id for cell in log.sheet.cells] == ["title", "load", "note", "plot", "end"]


def test_while_it_runs_only_what_is_done_is_called_so() -> None:
    log = three()
    assert statuses(log.sheet) == dict.fromkeys(("title", "load", "note", "plot", "end"), PENDING)
    begun = log.start("load")
    assert statuses(log.sheet) == {"title": DONE, "load": RUNNING, "note": PENDING, "plot": PENDING, "end": PENDING}
    assert of_cells(log.sheet)["load"] == {
        "exception": False,
        "start_time": begun,
        "end_time": None,
        "duration": None,
        "status": "running",
    }
    told = log.sheet.metadata["papermill"]
    assert (told["end_time"], told["duration"], told["exception"]) == (None, None, None)


@pytest.mark.parametrize(
    ("status", "of_run"),
    [
        ("error", "error"),
        ("timeout", "timeout"),
        ("cancelled", "cancelled"),
        ("dead_kernel", "dead_kernel"),
        ("lost", "lost"),
    ],
)
def test_the_cell_that_was_running_failed_and_the_rest_never_ran(status: ExecutionStatus, of_run: RunStatus) -> None:
    """Papermill calls the rest completed when a kernel dies, a cell takes too long or somebody presses Ctrl-C."""
    log = three()
    log.start("load")
    log.finish("load", status, count=7)
    log.end(of_run, "load")
    sheet = log.sheet
    assert statuses(sheet) == {"title": DONE, "load": FAILED, "note": PENDING, "plot": PENDING, "end": PENDING}
    assert sheet.metadata["papermill"]["exception"] is True
    assert [(cell.kind, cell.source, cell.tags) for cell in (sheet.cells[0], sheet.cells[2])] == [
        (
            "markdown",
            f"<span {STYLE}>An Exception was encountered at '<a href=\"#papermill-error-cell\">In [7]</a>'.</span>",
            (ERROR_TAG,),
        ),
        (
            "markdown",
            f'<span id="papermill-error-cell" {STYLE}>Execution using papermill encountered an exception here and stopped:</span>',
            (ERROR_TAG,),
        ),
    ]
    assert [cell.id for cell in sheet.cells if ERROR_TAG not in cell.tags] == ["title", "load", "note", "plot", "end"]
    assert sheet.cells[3].id == "load"


def test_a_run_again_begins_without_the_marks_of_the_last() -> None:
    log = three()
    log.start("load")
    log.finish("load", "error")
    log.end("error", "load")
    marked = log.sheet
    clean = without_markers(marked)
    assert [cell.id for cell in clean.cells] == ["title", "load", "note", "plot", "end"]
    assert without_markers(clean) is clean
    notebook = log.notebook
    again = executed(marked, notebook, input_path="sales.py", output_path="runs/a.ipynb")
    assert again == marked


def test_a_kernel_that_could_not_start_leaves_no_mark_and_no_done_cell() -> None:
    log = three()
    log.end("error")
    assert statuses(log.sheet) == dict.fromkeys(("title", "load", "note", "plot", "end"), PENDING)
    assert log.sheet.metadata["papermill"]["exception"] is True
    assert len(log.sheet.cells) == 5


def test_cells_that_were_left_out_are_pending_also_after_success() -> None:
    log = three()
    log.add(e.ExecutionSkipped(execution=ExecutionId("x-load"), cell=CellId("load"), why="--from plot"))
    log.start("plot")
    log.finish("plot")
    log.end("success")
    assert statuses(log.sheet) == {"title": DONE, "load": PENDING, "note": DONE, "plot": DONE, "end": DONE}


def test_an_error_that_was_expected_is_no_failure() -> None:
    log = Log(("try", "code", ("raises-exception",)), ("after", "code", ()))
    log.start("try")
    log.finish("try", "error")
    log.start("after")
    log.finish("after")
    log.end("success")
    assert statuses(log.sheet) == {"try": DONE, "after": DONE}
    assert log.sheet.metadata["papermill"]["exception"] is None


def test_an_exit_that_means_success_is_told_as_papermill_tells_it() -> None:
    log = three()
    log.start("load")
    log.finish("load", "error")
    log.end("success")
    assert statuses(log.sheet) == {"title": DONE, "load": FAILED, "note": PENDING, "plot": PENDING, "end": PENDING}
    assert log.sheet.metadata["papermill"]["exception"] is True
    assert len(log.sheet.cells) == 5


def test_what_a_file_says_of_an_earlier_run_is_not_this_one() -> None:
    log = three()
    log.add(
        e.OutputsImported(execution=ExecutionId("old"), cell=CellId("load"), source_hash=source_hash("load"), count=3)
    )
    assert statuses(log.sheet)["load"] == PENDING


def test_what_the_notebook_was_given_stays_and_other_keys_of_cells_too() -> None:
    log = three()
    log.add(
        e.MetadataSet(values={"papermill": {"parameters": {"top": 5}, "version": "1.0", "end_time": "old"}, "k": 1})
    )
    log.add(e.CellMetadataSet(cell=CellId("load"), values={"papermill": {"status": "old"}, "k": 2}))
    sheet = log.sheet
    assert sheet.metadata["k"] == 1
    assert {name: sheet.metadata["papermill"][name] for name in ("parameters", "version", "end_time")} == {
        "parameters": {"top": 5},
        "version": "2.7.0",
        "end_time": None,
    }
    assert sheet.cells[1].metadata == {"papermill": of_cells(sheet)["load"], "k": 2}


def test_the_file_is_a_valid_notebook_and_its_ids_are_always_the_same() -> None:
    log = three()
    log.start("load")
    log.finish("load", "dead_kernel", None)
    log.end("dead_kernel", "load")
    text = write(log.sheet, "a.ipynb")
    node: Any = cast("Any", nbformat).reads(text, as_version=4)
    cast("Any", nbformat).validate(node)
    assert read(text, "a.ipynb").cells == log.sheet.cells
    assert "In [None]" in log.sheet.cells[0].source


def test_the_file_names_its_run_its_interpreter_and_what_the_kernel_said_of_itself() -> None:
    info = {"name": "python", "version": "3.11.7"}
    kernel = {"interpreter": "/venv/bin/python", "kernel": "python3", "language_info": info}
    notebook = Log(("load", "code", ()), environment=kernel).notebook
    sheet = sheet_of(notebook, {})
    made = executed(sheet, notebook, input_path=None, output_path=None, log=LogId("01RUN"))
    assert made.ours == {"run": "01RUN", "interpreter": "/venv/bin/python"}
    assert made.metadata["language_info"] == info
    assert made.metadata["kernelspec"] == {"name": "python3", "display_name": "Python 3", "language": "python"}
    # A kernelspec that is there is the author's own.
    own = {"name": "mine", "display_name": "Mine"}
    again = executed(replace(sheet, metadata={"kernelspec": own}), notebook, input_path=None, output_path=None)
    assert (again.metadata["kernelspec"], again.ours) == (own, {})


def test_what_is_only_prepared_has_no_times_and_keeps_what_it_shows() -> None:
    shown = SheetCell(id=CellId("load"), source="1", outputs=[{"output_type": "stream", "name": "stdout", "text": "1"}])
    mark = SheetCell(id=CellId("mark"), kind="markdown", tags=(ERROR_TAG,))
    made = prepared_only(Sheet(cells=(mark, shown)), input_path="a.ipynb", output_path="b.ipynb")
    assert made.cells == (shown,)
    assert made.metadata["papermill"] == {
        "default_parameters": {},
        "parameters": {},
        "environment_variables": {},
        "version": "2.7.0",
        "input_path": "a.ipynb",
        "output_path": "b.ipynb",
    }


def test_a_notebook_that_is_no_run_has_no_record() -> None:
    with pytest.raises(BadInput, match="'play' is a notebook, not a run"):
        executed(Sheet(), Notebook(name="play"), input_path=None, output_path=None)
