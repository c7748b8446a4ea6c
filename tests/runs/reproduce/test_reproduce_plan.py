"""What a recorded run becomes when it is repeated, and when it cannot be: without a kernel."""

from __future__ import annotations

import datetime as dt
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from quire.core import events as e
from quire.core.errors import BadInput, Conflict, NotFound
from quire.core.ids import CellId, ExecutionId, LogId
from quire.outputs.secrets import Remover
from quire.runs.reproduce.reproduce_plan import ReproduceRequest, ReproductionPlan, plan_reproduction
from quire.workspace.clock import new_id

from ..recorded_runs import SALES, Place

NOW = dt.datetime(2026, 11, 19, tzinfo=dt.UTC)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "sales.py").write_text(SALES)
    return Place(tmp_path)


async def planned(place: Place, log: LogId, **fields: Any) -> ReproductionPlan:
    return await plan_reproduction(place.owner, ReproduceRequest(run=log, **fields), os.environ, NOW)


async def ran(place: Place, **environment: Any) -> LogId:
    return await place.ran(SALES, environment={"cwd": str(place.folder), "kernel": "python3", **environment})


async def test_the_cells_that_ran_run_again_in_the_interpreter_and_folder_of_then(place: Place) -> None:
    log = await ran(place, interpreter=sys.executable)
    (place.folder / "sales.py").write_text("# %%\nchanged\n")
    found = await planned(place, log)
    assert [cell.source for cell in found.plan.sheet.cells] == ["x = 1", "text", "x / 0", "print(x)"]
    assert (found.plan.spec.interpreter, found.plan.cwd) == (sys.executable, place.folder)
    assert (found.plan.source.reproduces, found.plan.source.path, found.source_state) == (log, "sales.py", "changed")
    now = await planned(place, log, with_current_source=True)
    assert [cell.source for cell in now.plan.sheet.cells] == ["changed"]
    (place.folder / "sales.py").unlink()
    assert (await planned(place, log)).source_state == "gone"
    with pytest.raises(NotFound, match=r"was of sales.py, which is not there now"):
        await planned(place, log, with_current_source=True)


@pytest.mark.parametrize("interpreter", ["/no/such/python3", "/bin/sh", "python3", "../../bin/python3", 7])
async def test_an_interpreter_that_is_no_python_here_is_not_started(place: Place, interpreter: Any) -> None:
    """A log may come from anybody."""
    spec = (await planned(place, await ran(place, interpreter=interpreter))).plan.spec
    assert spec.interpreter != interpreter and Path(spec.argv[0]).name.startswith("python")


async def test_a_folder_of_another_machine_is_not_gone_to(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.folder)
    found = await planned(place, await ran(place, cwd="/home/nobody/here"))
    assert (found.plan.cwd, found.source_state) == (place.folder, "same")


async def test_a_run_of_some_cells_is_repeated_in_the_same_part(place: Place) -> None:
    log, execution = LogId(new_id()), ExecutionId(new_id())
    asked = e.RunRequested(
        name="sales", source=e.RunSource(), environment={"kernel": "python3"}, runtime="runtime:here"
    )
    cells = [e.CellAdded(cell=CellId(id), after=None, source=id) for id in ("b", "a")]
    await place.submit(log, asked, *cells)
    (claim,) = await place.submit(log, e.RunClaimed(runtime=e.RuntimeId("runtime:here")), who=place.runtime)
    epoch = claim.event.epoch
    left_out = e.ExecutionSkipped(execution=execution, cell=CellId("a"), why="a partial run left it out")
    ended = e.RunFinished(epoch=epoch, status="success")
    await place.submit(log, e.RunStarted(epoch=epoch), left_out, ended, who=place.runtime)
    assert (await planned(place, log)).plan.only == {"b"}


async def test_what_cannot_be_repeated_is_refused_with_the_reason(place: Place) -> None:
    log = LogId(new_id())
    await place.submit(log, e.NotebookCreated(name="plain"))
    with pytest.raises(NotFound, match="is a notebook, not a run"):
        await planned(place, log)
    log = LogId(new_id())
    await place.submit(log, e.RunRequested(name="open", source=e.RunSource(path="sales.py")))
    with pytest.raises(Conflict, match=rf"Run {log} is still queued. Wait for its end"):
        await planned(place, log)
    await place.submit(log, e.RunFinished(status="cancelled"))
    with pytest.raises(BadInput, match="no cell of it ran"):
        await planned(place, log)
    masked = Remover({"KEY": "s3cret-value"}).clean_text("s3cret-value")
    log = await place.ran(f"# %%\nkey = '{masked}'\n\n# %%\n2\n\n# %%\n3\n")
    with pytest.raises(BadInput, match=r"Cell 1 .* held a secret, which was not kept. Run its source as it is"):
        await planned(place, log)
    log = await _with_parameter(place, masked)
    with pytest.raises(BadInput, match=r"'key' of run .* held a secret.*-p key VALUE"):
        await planned(place, log)


async def _with_parameter(place: Place, value: str) -> LogId:
    log = LogId(new_id())
    asked = e.RunRequested(name="sales", source=e.RunSource(), parameters={"key": value}, runtime="runtime:here")
    await place.submit(log, asked)
    (claim,) = await place.submit(log, e.RunClaimed(runtime=e.RuntimeId("runtime:here")), who=place.runtime)
    epoch = claim.event.epoch
    ended = e.RunFinished(epoch=epoch, status="success")
    await place.submit(log, e.RunStarted(epoch=epoch), ended, who=place.runtime)
    return log
