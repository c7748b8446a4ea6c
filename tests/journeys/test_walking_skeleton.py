"""The ground, walked once from end to end, with real processes and a real kernel.

A script makes a notebook and edits a cell, a runtime executes it in a kernel, another
process follows the log, and `quire show` prints what everybody sees.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

from quire.connection import connect
from quire.core import events as e
from quire.core.events import Draft, KnownEvent
from quire.core.ids import CellId, ExecutionId, LogId
from quire.core.text import Splice, source_hash
from quire.workspace.clock import new_id
from quire.workspace.protocol import Workspace

ROOT = Path(__file__).parents[2]
QUIRE = Path(sys.executable).with_name("quire")
LOAD, SHOW = CellId("load1111"), CellId("show2222")


async def start(*command: str | Path) -> Process:
    return await asyncio.create_subprocess_exec(*map(str, command), cwd=ROOT, stdout=PIPE)


async def printed(*command: str | Path) -> str:
    process = await start(*command)
    out, _ = await process.communicate()
    assert process.returncode == 0
    return out.decode()


async def say(workspace: Workspace, log: LogId, *events: KnownEvent) -> int:
    entries = await workspace.submit(log, [Draft(id=new_id(), event=event) for event in events])
    return entries[-1].seq


async def write_notebook(workspace: Workspace, log: LogId) -> None:
    """What a script would do: create, add, edit, request."""
    seq = await say(
        workspace,
        log,
        e.NotebookCreated(name="skeleton"),
        e.CellAdded(cell=LOAD, after=None, source="x = 20"),
        e.CellAdded(cell=SHOW, after=LOAD, source="print('x is', x)\nx / 0"),
    )
    await say(workspace, log, e.SourceEdited(cell=LOAD, base=seq, edit=(Splice(4, 2, "42"),)))
    notebook = await workspace.read(log)
    for cell in (LOAD, SHOW):
        hash = source_hash(notebook.cells[cell].source)
        await say(workspace, log, e.ExecutionRequested(execution=ExecutionId(f"x-{cell}"), cell=cell, source_hash=hash))


async def test_a_notebook_is_written_run_followed_and_shown(tmp_path: Path) -> None:
    workspace = await connect(tmp_path)
    log = LogId(new_id())
    await write_notebook(workspace, log)

    follower = await start(QUIRE, "log", log, "--follow", "--json", "--at", tmp_path)
    runtime = await start(sys.executable, "-m", "tests.journeys.runtime", tmp_path, "skeleton", "2")
    assert follower.stdout is not None
    seen: list[dict[str, object]] = []
    finished = 0
    while finished < 2:
        seen.append(json.loads(await follower.stdout.readline()))
        finished += '"execution_finished"' in json.dumps(seen[-1])
    follower.terminate()
    await follower.wait()
    assert await runtime.wait() == 0

    assert [each["seq"] for each in seen] == list(range(1, len(seen) + 1))
    notebook = await workspace.read(log)
    assert [(cell.id, cell.state) for cell in notebook.live_cells] == [(LOAD, "ok"), (SHOW, "error")]
    await workspace.close()

    shown = await printed(QUIRE, "show", "skeleton", "--view", "full", "--at", tmp_path)
    assert "x = 42" in shown
    assert "x is 42" in shown
    assert "ZeroDivisionError" in shown
    before = await printed(QUIRE, "show", "skeleton", "--view", "source", "--seq", "3", "--at", tmp_path)
    assert "x = 20" in before
    assert "never_run" in before
    verdict = json.loads(await printed(QUIRE, "verify", "--json", "--at", tmp_path))
    assert verdict["ok"] is True
    counted = json.loads(
        await printed(QUIRE, "sql", "select ename from executions where state = 'error'", "--json", "--at", tmp_path)
    )
    assert counted == [{"ename": "ZeroDivisionError"}]
