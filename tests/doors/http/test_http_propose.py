"""`POST /api/runs/{run}/propose`: who may, and what comes of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quire.core import events as e
from quire.core.events import RunSource
from quire.core.ids import CellId, LogId
from quire.core.text import source_hash
from quire.workspace.local import LocalWorkspace

from ...http_server import Server, served
from .conftest import As
from .http_clients import ADA, AGENT, ALL, BOB, NOTEBOOK, say

RUN = LogId("r1")
SALES = "# %%\nx = 1\n"


@pytest.fixture
async def server(workspace: LocalWorkspace, tmp_path: Path) -> AsyncIterator[Server]:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "sales.py").write_text(SALES)
    async with served(workspace, folder=tmp_path / "files") as running:
        yield running


async def fixed_run(workspace: LocalWorkspace, source: RunSource) -> None:
    """A run that is over, in whose notebook a cell was changed since."""
    cell = CellId("a1")
    await say(
        workspace, RUN, e.RunRequested(name="sales", source=source), e.CellAdded(cell=cell, after=None, source="x = 1")
    )
    await say(workspace, RUN, e.RunFinished(status="cancelled"))
    await say(workspace, RUN, e.SourceEdited(cell=cell, text="x = 2", base_hash=source_hash("x = 1")))


async def test_a_fix_is_proposed_to_the_notebook_that_is_made_of_the_file(
    workspace: LocalWorkspace, acting_as: As
) -> None:
    await fixed_run(workspace, RunSource(path="sales.py"))
    agent = await acting_as(AGENT, "read", "edit", "bind", on_behalf_of=ADA)
    made = await agent.ask("POST", f"/api/runs/{RUN}/propose", json={"why": "one more"})
    assert (made["run"], made["path"], made["was_made"], made["changes"]) == (RUN, "sales.py", True, 1)
    (found,) = await agent.ask("GET", f"/api/notebooks/{made['log']}/proposals")
    assert (found["proposal"], found["by"], found["on_behalf_of"]) == (made["proposal"], AGENT, ADA)
    assert found["why"].startswith("one more (fixed in run r1")
    assert made["proposal"] in await agent.ask("POST", f"/api/runs/{RUN}/propose", 409, json={})
    bob = await acting_as(BOB, *ALL)
    await bob.ask("POST", f"/api/notebooks/{made['log']}/proposals/{made['proposal']}/accept", json={})
    assert [cell.source for cell in (await workspace.read(made["log"])).live_cells] == ["x = 2"]


async def test_who_may_not_edit_the_source_may_not_propose_to_it(workspace: LocalWorkspace, acting_as: As) -> None:
    await fixed_run(workspace, RunSource(notebook=NOTEBOOK, seq=3))
    viewer = await acting_as(BOB, "read", "run")
    assert "may not edit" in await viewer.ask("POST", f"/api/runs/{RUN}/propose", 403, json={})
    other = await acting_as(BOB, *ALL, notebooks=[RUN])
    assert "Refused" in await other.ask("POST", f"/api/runs/{RUN}/propose", 403, json={})
    assert (await workspace.read(NOTEBOOK)).proposals == {}


async def test_an_agent_that_has_to_ask_proposes_to_what_is_there_and_makes_nothing(
    workspace: LocalWorkspace, acting_as: As
) -> None:
    await fixed_run(workspace, RunSource(path="sales.py"))
    agent = await acting_as(AGENT, "read", "edit", "bind", on_behalf_of=ADA, asks=["edit"])
    assert "has to ask" in await agent.ask("POST", f"/api/runs/{RUN}/propose", 403, json={})
    made = await (await acting_as(BOB, *ALL)).ask("POST", f"/api/runs/{RUN}/propose", json={})
    again = await agent.ask("POST", f"/api/runs/{RUN}/propose", 409, json={})
    assert made["proposal"] in again, "the notebook is there now, and so is the proposal"


async def test_a_notebook_that_the_bearer_may_not_read_has_the_file_and_no_second_one_is_made(
    workspace: LocalWorkspace, acting_as: As
) -> None:
    """Rule 13."""
    await fixed_run(workspace, RunSource(path="sales.py"))
    await say(workspace, NOTEBOOK, e.FileBound(path="sales.py", format="percent"))
    await say(workspace, e.LogId("workspace"), e.RoleSet(actor=ADA, role="owner", notebook=NOTEBOOK))
    before = await workspace.logs("notebook")
    bob = await acting_as(BOB, "read", "edit")
    assert "Refused" in await bob.ask("POST", f"/api/runs/{RUN}/propose", 403, json={})
    assert await workspace.logs("notebook") == before


async def test_what_is_no_run_is_told(acting_as: As) -> None:
    ada = await acting_as(ADA, *ALL)
    assert "not a run" in await ada.ask("POST", f"/api/runs/{NOTEBOOK}/propose", 404, json={})
    assert "no notebook or run" in await ada.ask("POST", "/api/runs/nothing/propose", 404, json={})
