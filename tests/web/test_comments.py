"""Comments in the browser: asked of an agent and answered by it, between two people, by keys alone, narrow and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from quire.workspace.clock import new_id
from quire.workspace.identity import identities

from ..doors.mcp.agents import Agent, over_http, text_of
from .app import App, answered
from .axe import serious

OWNER = identities.owner().actor.partition(":")[2]
"""As whom `page` is signed in."""


@pytest.fixture(scope="module")
def agent(app: App) -> Iterator[Agent]:
    """Codex, an agent at the server's /mcp."""
    with over_http(app.url, app.token("agent:codex", "read", "edit", "run")) as made:
        yield made


def cell(page: Page, number: int) -> Locator:
    """A cell by its place, from 0."""
    return page.locator("[data-cell]").nth(number)


def threads(page: Page) -> Locator:
    """The conversations below cells."""
    return page.locator("[data-cells] [data-thread]")


def comment(app: App, log: str, text: str, cell: str | None = None, actor: str = "human:ada") -> str:
    """Comment on a cell as somebody else."""
    id = new_id()
    event = {"type": "comment_added", "comment": id, "text": text} | ({"cell": cell} if cell else {})
    with app.client(actor) as client:
        answered(client.post(f"/api/logs/{log}/events", json={"drafts": [{"id": new_id(), "event": event}]}))
    return id


def comments(app: App, log: str) -> list[dict[str, Any]]:
    """What the log says was said."""
    return list(app.read(log).get("comments", {}).values())


def begin(page: Page, number: int) -> Locator:
    """Begin a comment on a cell with the key, and return the field."""
    cell(page, number).click(position={"x": 20, "y": 4})
    page.keyboard.press("Escape")
    page.keyboard.press("Alt+C")
    field = page.get_by_role("textbox", name=re.compile("^Comment on "))
    expect(field).to_be_focused()
    return field


def test_an_agent_is_asked_in_a_comment_and_its_answer_appears(app: App, page: Page, agent: Agent) -> None:
    log = app.notebook("asked", "rows = [1, 2, 3]", "sum(rows)")
    agent.told("read", notebook=log)
    app.open(page, log)
    waits = agent.begin("wait", notebook=log, comment=True, seconds=25)
    begin(page, 0)
    page.keyboard.type("@cod")
    expect(page.get_by_role("option", name=re.compile("codex"))).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.type("why these <b>rows</b>? https://example.org")
    page.keyboard.press("Control+Enter")
    thread = threads(page)
    expect(thread).to_contain_text("@codex why these <b>rows</b>? https://example.org")
    expect(thread.locator("a")).to_have_count(0)
    text = text_of(waits.result(60))
    assert f"1 comment to you, by human:{OWNER}" in text

    (asked,) = app.read(log)["comments"]
    agent.told("control", notebook=log, action="comment", id=asked, text=f"@{OWNER} they are the first.")
    expect(thread).to_contain_text("codex")
    expect(thread).to_contain_text("they are the first.")
    expect(page.get_by_role("button", name="Comments, 1")).to_be_visible()
    thread.get_by_role("button", name="Resolve").click()
    expect(threads(page)).to_have_count(0)
    expect(page.get_by_role("button", name="Comments", exact=True)).to_be_visible()
    assert [each["by"] for each in comments(app, log)] == [f"human:{OWNER}", "agent:codex"]


@pytest.mark.slow
def test_two_people_talk_edit_and_resolve(app: App, page: Page, second_page: Page) -> None:
    log = app.notebook("talk", "x = 1", "y = 2")
    app.open(page, log)
    app.open(second_page, log)
    begin(page, 1)
    page.keyboard.type("Hello @grace")
    page.get_by_role("button", name="Comment", exact=True).click()
    # It is unfolded for whom it addresses, and a mark stands above the cell.
    theirs = threads(second_page)
    expect(theirs).to_contain_text("Hello @grace")
    expect(second_page.get_by_role("button", name="1 comment, to you")).to_be_visible()
    theirs.get_by_role("button", name="Reply").click()
    second_page.keyboard.type("Hello, what is it?")
    second_page.keyboard.press("Control+Enter")
    mine = threads(page)
    expect(mine).to_contain_text("Hello, what is it?")
    expect(theirs.get_by_role("button", name="Edit")).to_have_count(1)  # only one's own are edited

    mine.get_by_role("button", name="Edit").click()
    field = page.get_by_role("textbox", name="Edit the comment")
    expect(field).to_have_value("Hello @grace")
    field.fill("Hello @grace, is 2 right?")
    page.get_by_role("button", name="Save").click()
    expect(theirs).to_contain_text("Hello @grace, is 2 right?")
    expect(theirs).to_contain_text("edited")

    theirs.get_by_role("button", name="Resolve").click()
    expect(threads(page)).to_have_count(0)
    page.locator("nav[aria-label=Panels]").get_by_role("button", name="Comments").click()
    panel = page.locator("[data-rail-panel]")
    expect(panel).to_contain_text("Resolved (1)")
    panel.get_by_role("button", name="Show").click()
    expect(panel).to_contain_text("resolved by grace")
    panel.get_by_role("button", name="Reopen").click()
    expect(threads(second_page)).to_have_count(1)


@pytest.mark.slow
def test_a_draft_survives_a_reload_and_a_refused_comment_comes_back_with_the_reason(app: App) -> None:
    log = app.notebook("drafts", "x = 1", actor="human:ada")
    context = app.context("human:eve", "read", "edit")
    page = context.new_page()
    app.open(page, log)
    begin(page, 0)
    page.keyboard.type("not finished")
    page.reload()
    field = page.get_by_role("textbox", name="Comment on cell 1")
    expect(field).to_have_value("not finished")

    role = {"type": "role_set", "actor": "human:eve", "role": "viewer", "notebook": log}
    owner = {"type": "role_set", "actor": "human:ada", "role": "owner", "notebook": log}
    with app.client("human:root", "admin", "read") as client:
        drafts = [{"id": new_id(), "event": event} for event in (owner, role)]
        answered(client.post("/api/logs/workspace/events", json={"drafts": drafts}))
    field.press("Control+Enter")
    expect(page.get_by_text(re.compile("human:eve .*may not edit")).first).to_be_visible()
    expect(field).to_have_value("not finished")
    expect(threads(page)).to_have_count(0)
    assert comments(app, log) == []
    context.close()


@pytest.mark.slow
def test_who_may_only_read_sees_comments_and_is_told_how_to_get_the_right(app: App) -> None:
    log = app.notebook("viewed", "x = 1")
    comment(app, log, "Look here, @viewer", app.read(log)["order"][0])
    context = app.context("human:viewer", "read")
    page = context.new_page()
    app.open(page, log)
    expect(threads(page)).to_contain_text("Look here")
    expect(threads(page).get_by_role("button")).to_have_count(0)
    page.locator("nav[aria-label=Panels]").get_by_role("button", name="Comments").click()
    expect(page.locator("[data-rail-panel]")).to_contain_text("ask whoever runs the workspace for the right to edit")
    context.close()


@pytest.mark.slow
def test_a_comment_waits_at_home_and_leads_to_its_cell(app: App, page: Page) -> None:
    log = app.notebook("home waits", *[f"x{number} = 1" for number in range(40)])
    comment(app, log, f"@{OWNER} is the last one right?", app.read(log)["order"][-1])
    page.goto(app.url)
    link = page.locator("[data-kind=comment] a", has_text="is the last one right?")
    expect(link).to_be_visible()
    link.click()
    expect(cell(page, 39)).to_be_in_viewport()
    expect(threads(page)).to_contain_text("is the last one right?")


@pytest.mark.slow
def test_comments_by_keys_alone_on_a_narrow_page(app: App) -> None:
    log = app.notebook("keys", "x = 1", ("markdown", "# Two"), "y = 2")
    context = app.context(color_scheme="dark", viewport={"width": 400, "height": 900})
    page = context.new_page()
    app.open(page, log)
    comment(app, log, f"@{OWNER} " + "a long question " * 20, app.read(log)["order"][2])
    comment(app, log, "About all of it.")
    expect(threads(page)).to_have_count(1)
    begin(page, 0)
    page.keyboard.type("From the keyboard, @a")
    expect(page.get_by_role("option").first).to_be_visible()
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    expect(threads(page)).to_have_count(2)
    expect(cell(page, 0)).to_be_focused()
    page.keyboard.press("Control+K")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("Comment on the notebook")
    page.keyboard.press("Enter")
    field = page.get_by_role("textbox", name="Comment on the notebook")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)
    expect(page.locator("[data-rail-panel]")).to_contain_text("To you (1)")
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    context.close()
