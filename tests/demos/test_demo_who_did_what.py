"""Two people and an agent change one notebook while its cells run, a schedule runs it, and the page and SQL say who did what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from quire.core.events import Draft, SourceEdited
from quire.core.ids import CellId, LogId
from quire.core.text import source_hash
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from ..doors.mcp.agents import Agent, over_http
from ..journeys.owner import new_token, owned
from ..journeys.server import until
from ..web.app import EVERYTHING, App, answered
from ..web.node import needs_packages
from ..web.notebook import Book
from .film import film

pytestmark = [needs_packages, pytest.mark.slow]

SERVE_FLAGS = ()
"""With the mirror: a file is changed under the notebook."""

NOTEBOOK = """\
# %% [markdown]
# # Harvest

# %% name="inputs" tags=["parameters"]
year = 2025  # of the harvest

# %% name="load"
tons = {"apples": 42, "pears": 17, "plums": 9}
print(year, sum(tons.values()), "tons")

# %% name="rank"
print(sorted(tons))

# %% name="report"
from quire.kernel import result

result("total", sum(tons.values()))
"""
RANKED = "ranked = sorted(tons, key=tons.get, reverse=True)\nprint(ranked)"
REPORTED = 'from quire.kernel import result\n\nresult("best", ranked[0])\nresult("total", sum(tons.values()))'


@pytest.fixture(scope="module")
def log(app: App) -> str:
    (app.folder / "harvest.py").write_text(NOTEBOOK)
    with app.client("human:ada", *EVERYTHING) as client:
        return answered(client.post("/api/files", json={"path": "harvest.py"}))["log"]


@pytest.fixture(scope="module")
def codex(app: App) -> Iterator[Agent]:
    """An agent of ada's over /mcp, which may edit and run."""
    with over_http(app.url, new_token(app.folder, "agent:codex", "read", "edit", "run", behalf="human:ada")) as agent:
        yield agent


def sql(app: App, query: str) -> list[list[Any]]:
    """What `quire sql` answers."""
    return owned(app.folder, lambda workspace: _query(workspace, query))


async def _query(workspace: LocalWorkspace, query: str) -> list[list[Any]]:
    return [list(row) for row in (await workspace.query(query)).rows]


def run_by_schedule(app: App, log: str, year: int) -> str:
    """Run the notebook as the schedule `nightly` of ada's does, and return the run when it has ended."""
    secret = new_token(app.folder, "schedule:nightly", "read", "edit", "run", behalf="human:ada")
    headers = {"Authorization": f"Bearer {secret}"}
    with app.client() as client:
        body = {"notebook": log, "parameters": {"year": year}}
        run = answered(client.post("/api/runs", json=body, headers=headers))["run"]
        until(
            lambda: answered(client.get(f"/api/runs/{run}"))["outcome"]["status"] == "success", "the run does not end"
        )
    return run


def conflict(app: App, log: str) -> None:
    """While no server runs, change one line in the file and in the notebook, each in its own way."""
    app.stop()
    path = app.folder / "harvest.py"
    path.write_text(path.read_text().replace("year = 2025", "year = 2027"))

    async def edit(workspace: LocalWorkspace) -> None:
        cells = (await workspace.read(LogId(log))).cells
        cell = next(id for id, each in cells.items() if each.name == "inputs")
        text = cells[cell].source.replace("2025", "2026")
        edited = SourceEdited(cell=CellId(cell), text=text, base_hash=source_hash(cells[cell].source))
        await workspace.submit(LogId(log), [Draft(id=new_id(), event=edited)])

    owned(app.folder, edit)
    app.start()


def test_every_cell_and_output_says_who_for_whom_and_when_and_sql_says_the_same(
    app: App, log: str, codex: Agent
) -> None:
    ada, grace = (Book(app, app.context(actor).new_page(), log) for actor in ("human:ada", "human:grace"))
    with film("1-who-did-what", windows=2) as shown:
        shown.show(ada.page, 0)
        shown.show(grace.page, 1)
        shown.tell(ada.page, "Left: Ada. Right: Grace. An agent, Codex, works for Ada in the same notebook.")
        ada.go(1)
        ada.press("Control+Enter")
        ada.has_state(1, "ok")
        ada.go(2)
        ada.press("Control+Enter")
        grace.has_state(2, "ok")
        shown.tell(ada.page, "Ada runs the first cells. Grace rewrites one, and runs it.", 1)
        grace.edit(3, RANKED)
        grace.press("Control+Enter")
        ada.has_state(3, "ok")
        shown.tell(ada.page, "Codex changes the last cell over the Model Context Protocol, and runs it.", 1)
        cell = ada.read()[4]
        edit = {"op": "replace", "cell": "report", "base": source_hash(cell["source"]), "source": REPORTED}
        codex.told("edit", notebook=log, edits=[edit], run="changed")
        for book in (ada, grace):
            book.has_state(4, "ok")
        expect(grace.foot(2)).to_contain_text("ada")
        expect(grace.foot(3)).to_contain_text("you")
        expect(grace.foot(4)).to_contain_text("codex for ada")
        expect(ada.foot(3)).to_contain_text("grace")
        expect(ada.foot(4)).to_contain_text("codex for you")
        shown.tell(
            ada.page, "Below each cell stands who ran it, and for whom. Activity tells the whole story, in words.", 2
        )
        grace.page.locator("nav[aria-label=Panels]").get_by_role("button", name="Activity").click()
        lines = grace.page.get_by_role("list", name="Activity").get_by_role("listitem")
        expect(lines.filter(has_text="codex for ada").first).to_contain_text(re.compile("changed report.* and ran it"))
        shown.rest(grace.page, 2.5)

        asked = sql(app, f"SELECT c.name, x.actor, x.on_behalf_of FROM executions x JOIN cells c USING (log, cell) "
                         f"WHERE x.log = '{log}' AND x.state = 'ok' ORDER BY c.place")  # fmt: skip
        assert asked == [
            ["inputs", "human:ada", None],
            ["load", "human:ada", None],
            ["rank", "human:grace", None],
            ["report", "agent:codex", "human:ada"],
        ]
        wrote = sql(
            app, f"SELECT name, edited_by FROM cells WHERE log = '{log}' AND name IN ('rank', 'report') ORDER BY name"
        )
        assert wrote == [["rank", "human:grace"], ["report", "agent:codex"]]

        run_by_schedule(app, log, 2024)
        run = run_by_schedule(app, log, 2026)
        ada.page.goto(f"{app.url}/runs?notebook={log}")
        row = ada.page.get_by_role("row").filter(has_text="nightly").filter(has_text="2026")
        expect(row).to_contain_text("apples")
        shown.tell(
            ada.page, "A schedule of Ada's has run it for other years: the runs are listed, with their results.", 3
        )
        (listed,) = sql(app, f"SELECT actor, on_behalf_of, status FROM runs WHERE run = '{run}'")
        assert listed == ["schedule:nightly", "human:ada", "success"]

        app.open(ada.page, log)
        conflict(app, log)
        expect(ada.cell(1)).to_contain_text("Conflict")
        ada.cell(1).get_by_role("button", name="Show both sides").click()
        expect(ada.page.locator("[data-rail-panel]")).to_contain_text("2027")
        shown.tell(
            ada.page,
            "The file was saved in an editor meanwhile, in the same line: both sides are kept until somebody decides.",
            3,
        )
        shown.take(ada.page, "conflict")
    for book in (ada, grace):
        book.page.context.close()
