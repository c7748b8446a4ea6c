"""What cells show, between a log and the file of a notebook."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from quire.core import events as e
from quire.core.ids import ExecutionId, RuntimeId
from quire.core.text import source_hash
from quire.workspace.clock import new_id
from quire.workspace.identity import identities

from .mirror_desk import WAYS, Desk, until

PNG = "iVBORw0KGgo" + "A" * 4001  # past what stays inline: a blob


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """A notebook as JupyterLab has it, under a mirror."""
    desk = Desk(tmp_path, "sales.ipynb")
    await desk.write("a = 1", "b = 2")
    await desk.start()
    await desk.agree("a = 1", "b = 2")
    yield desk
    await desk.close()


async def execute(desk: Desk, number: int, text: str, *, ends: bool = True) -> e.ExecutionClaimed:
    """What a runtime says of an execution that prints."""
    cell = (await desk.cells())[number]
    execution, name = ExecutionId(new_id()), "test"
    runtime = desk.workspace.acting_as(identities.runtime(name))
    me = RuntimeId(f"runtime:{name}")
    hash = source_hash(cell.source)
    await desk.say(e.ExecutionRequested(execution=execution, cell=cell.id, source_hash=hash))
    (entry,) = await runtime.submit(desk.log, [draft(e.ExecutionClaimed(execution=execution, runtime=me))])
    assert isinstance(entry.event, e.ExecutionClaimed)
    epoch = entry.event.epoch or 0
    started = e.ExecutionStarted(execution=execution, cell=cell.id, source_hash=hash, epoch=epoch)
    printed = e.StreamAppended(execution=execution, epoch=epoch, chunk=0, name="stdout", offset=0, text=text)
    await runtime.submit(desk.log, [draft(started), draft(printed)])
    if ends:
        await finish(desk, entry.event)
    return entry.event


async def finish(desk: Desk, claim: e.ExecutionClaimed) -> None:
    runtime = desk.workspace.acting_as(identities.runtime("test"))
    event = e.ExecutionFinished(execution=claim.execution, epoch=claim.epoch or 0, status="ok", count=1)
    await runtime.submit(desk.log, [draft(event)])


def draft(event: e.KnownEvent) -> e.Draft:
    return e.Draft(id=new_id(), event=event)


def shown(desk: Desk) -> list[Any]:
    return [cell["outputs"] for cell in json.loads(desk.file.read_text())["cells"]]


def show(desk: Desk, number: int, outputs: list[Any], count: int | None = 7, how: str = "rename") -> None:
    """Save as JupyterLab does after a cell ran there."""
    notebook = json.loads(desk.file.read_text())
    notebook["cells"][number] |= {"outputs": outputs, "execution_count": count}
    notebook["cells"][number]["metadata"]["execution"] = {"iopub.status.idle": "2026-03-02T09:00:00Z"}
    desk.save(json.dumps(notebook, indent=1) + "\n", how)


def stream(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": [text]}


async def test_what_an_execution_showed_is_in_the_file_once_it_has_ended(desk: Desk) -> None:
    claim = await execute(desk, 0, "one\n", ends=False)
    await desk.edit(1, "b = 20")
    await desk.agree("a = 1", "b = 20")
    assert shown(desk) == [[], []]
    await finish(desk, claim)

    async def outputs() -> object:
        return shown(desk)

    await until(outputs, [[stream("one\n")], []])


async def test_what_another_editor_showed_comes_in_as_imported(desk: Desk, how: str = "rename") -> None:
    picture = {"output_type": "display_data", "data": {"image/png": PNG}, "metadata": {}}
    show(desk, 0, [stream("lab\n"), picture], how=how)

    async def imported() -> object:
        execution = (await desk.cells())[0].execution
        return execution is not None and (execution.imported, execution.count, len(execution.outputs))

    await until(imported, (True, 7, 2))
    seq, text = (await desk.notebook()).seq, desk.file.read_text()
    await desk.edit(1, "b = 20")
    await desk.agree("a = 1", "b = 20")
    assert await desk.types(seq) == ["SourceEdited", "FileMerged"]
    assert desk.file.read_text() == text.replace("b = 2", "b = 20")


@pytest.mark.parametrize("how", WAYS)
async def test_it_comes_in_once_however_it_is_saved(desk: Desk, how: str) -> None:
    await test_what_another_editor_showed_comes_in_as_imported(desk, how)
    assert (await desk.types()).count("OutputsImported") == 1


async def test_outputs_that_were_cleared_in_the_file_are_gone_in_the_log(desk: Desk) -> None:
    await test_what_another_editor_showed_comes_in_as_imported(desk)
    show(desk, 0, [], None)

    async def left() -> object:
        execution = (await desk.cells())[0].execution
        return execution is not None and execution.outputs

    await until(left, [])


async def test_what_was_executed_here_meanwhile_stays(desk: Desk) -> None:
    await desk.stop()
    await execute(desk, 0, "here\n")
    show(desk, 0, [stream("lab\n")])
    await desk.start()

    async def outputs() -> object:
        return shown(desk)

    await until(outputs, [[stream("here\n")], []])
    assert "OutputsImported" not in await desk.types()


async def test_a_mirror_that_starts_anew_takes_in_nothing_twice(desk: Desk) -> None:
    """Also where what a cell shows is a blob on our side."""
    await test_what_another_editor_showed_comes_in_as_imported(desk)
    await desk.stop()
    seq, text = (await desk.notebook()).seq, desk.file.read_text()
    await desk.start()
    assert await desk.types(seq) == []
    assert desk.file.read_text() == text


async def test_a_script_changes_nothing_that_cells_showed(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.write("a = 1", "b = 2")
    await desk.start()
    await execute(desk, 0, "one\n")
    desk.rewrite("a = 10", "b = 2")
    await desk.agree("a = 10", "b = 2")
    execution = (await desk.cells())[0].execution
    assert execution is not None
    assert execution.outputs == [e.Stream(name="stdout", head="one\n")]
    await desk.close()
