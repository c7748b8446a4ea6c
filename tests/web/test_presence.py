"""People and agents are shown where they are and what they do, and can be followed there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from quire.workspace.clock import new_id

from ..doors.mcp.agents import Agent, over_http
from .app import App, answered
from .axe import serious


@pytest.fixture(scope="module")
def agent(app: App) -> Iterator[Agent]:
    """Codex, an agent of Ada's at the server's /mcp."""
    with app.client("human:root", "admin", "read", "edit", "run") as client:
        wanted = {"actor": "agent:codex", "scopes": ["read", "edit", "run"], "on_behalf_of": "human:ada"}
        secret = answered(client.post("/api/tokens", json=wanted))["secret"]
    with over_http(app.url, secret) as made:
        yield made


def people(page: Page) -> Locator:
    """Open the panel of people: also where there is no room for its button."""
    page.keyboard.press("Control+K")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("People: open")
    page.keyboard.press("Enter")
    panel = page.locator("[data-rail-panel=people]")
    expect(panel).to_be_visible()
    return panel


def test_an_agent_is_seen_at_work_and_followed(app: App, page: Page, agent: Agent) -> None:
    log = app.notebook("agent at work", *[f"x{number} = 1" for number in range(60)])
    order = app.read(log)["order"]
    with app.client() as client:
        event = {"type": "cell_named", "cell": order[-1], "name": "result"}
        answered(client.post(f"/api/logs/{log}/events", json={"drafts": [{"id": new_id(), "event": event}]}))
    app.open(page, log)
    panel = people(page)
    expect(panel).to_contain_text("Nobody else is here.")
    agent.told("read", notebook=log, cells=[order[0]])
    row = panel.locator("[data-follow] [data-actor='agent:codex']")
    expect(row).to_contain_text("codex for ada")
    expect(row).to_contain_text("reading cell 1")
    row.get_by_role("button", name="Follow").click()
    agent.told("edit", notebook=log, edits=[{"op": "patch", "cell": "result", "old": "1", "new": "2"}])
    expect(row).to_contain_text("editing result")
    expect(page.locator("[data-cell]").last).to_be_in_viewport()
    expect(page.get_by_role("button", name="codex for ada is here, editing result. Go there")).to_be_visible()


@pytest.mark.slow
def test_an_agent_whose_proposal_is_open_waits_for_a_yes(app: App, page: Page, agent: Agent) -> None:
    log = app.notebook("agent proposes", "x = 1", "y = 2")
    app.open(page, log)
    panel = people(page)
    cell = app.read(log)["order"][1]
    edit = {"op": "patch", "cell": cell, "old": "2", "new": "3"}
    made = agent.facts("propose", notebook=log, why="Three is better.", edits=[edit])
    row = panel.locator("[data-follow] [data-actor='agent:codex']")
    expect(row).to_contain_text("waiting for your yes")
    agent.told("control", notebook=log, action="withdraw", id=made["proposal"])
    expect(row).to_contain_text("reading")


@pytest.mark.slow
def test_what_people_do_is_said_on_a_narrow_page(app: App, second_page: Page, agent: Agent) -> None:
    log = app.notebook("doing", "x = 1", "y = 2")
    context = app.context(color_scheme="dark", viewport={"width": 400, "height": 900})
    page = context.new_page()
    app.open(page, log)
    app.open(second_page, log)
    agent.told("read", notebook=log, cells=["2"])
    panel = people(page)
    row = panel.locator("[data-follow] [data-actor='human:grace']")
    expect(row).to_contain_text("reading cell 1")
    second_page.locator("[data-cell]").nth(1).click(position={"x": 100, "y": 12})
    second_page.keyboard.press("Enter")
    expect(row).to_contain_text("editing cell 2")
    second_page.keyboard.press("Escape")
    expect(row).to_contain_text("reading cell 2")
    expect(panel.locator("[data-follow] [data-actor='agent:codex']")).to_contain_text("codex for ada")
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    context.close()
