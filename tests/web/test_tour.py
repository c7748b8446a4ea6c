"""The first-run tour: four steps that go on by what a person does, to a decided proposal of a real agent over MCP."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from quire.workspace.clock import new_id

from ..doors.mcp.agents import over_http
from .app import App, answered

NAME = "Start here"


def example(app: App) -> str:
    """A notebook that is called as the example is."""
    log = app.notebook(NAME, ("markdown", "# Start here"), "print('hello')", 'chosen = "Pluto"')
    last = app.read(log)["order"][-1]
    with app.client() as client:
        named = {"id": new_id(), "event": {"type": "cell_named", "cell": last, "name": "lookup"}}
        answered(client.post(f"/api/logs/{log}/events", json={"drafts": [named]}))
    return log


def step(page: Page, number: int) -> None:
    """Wait for a step, counted from 1."""
    expect(page.locator(f"[data-tour='{number - 1}']")).to_be_visible()


def test_the_tour_leads_from_the_first_cell_to_a_decided_proposal_of_an_agent(app: App, page: Page) -> None:
    log = example(app)
    app.open(page, log)
    step(page, 1)
    tour = page.get_by_role("complementary", name="Tour")
    expect(tour.get_by_role("status")).to_contain_text("Tour, step 1 of 4")
    page.locator("[data-cell]").nth(1).locator("> div").first.click()  # the page stays usable
    page.keyboard.press("Shift+Enter")
    step(page, 2)
    page.locator("[data-cell]").nth(1).locator("[data-foot] button").first.click()
    step(page, 3)
    tour.get_by_role("button", name="Let one in…").click()
    page.get_by_role("button", name="Make its token").click()
    page.get_by_label("Your coding agent").select_option("cursor")
    pasted = json.loads(page.get_by_role("group", name="the settings for Cursor").inner_text())["mcpServers"]["quire"]
    page.get_by_role("button", name="Done").click()
    step(page, 4)
    expect(tour).to_contain_text("the cell lookup fails")

    secret = pasted["headers"]["Authorization"].removeprefix("Bearer ")
    with over_http(pasted["url"].removesuffix("/mcp"), secret) as agent:
        edit = {"op": "patch", "cell": "lookup", "old": "Pluto", "new": "Saturn"}
        assert "Proposed as" in agent.told("edit", notebook=NAME, edits=[edit])
        assert "Start here" in agent.told("find")
    expect(tour.get_by_role("heading", name="codex proposes something")).to_be_visible()
    expect(page.get_by_text("Waiting (1)")).to_be_visible()
    assert app.sources(log)[-1] == 'chosen = "Pluto"'
    tour.get_by_role("button", name="Show it").click()
    card = page.locator("[data-proposal]")
    expect(card).to_contain_text("Saturn")
    card.get_by_role("button", name="Accept").first.click()
    expect(tour.get_by_role("heading", name="That is all")).to_be_visible()
    expect(page.locator("[data-cell]").last).to_contain_text("Saturn")
    tour.locator("footer").get_by_role("button", name="Close").click()
    expect(tour).to_have_count(0)
    page.reload()
    expect(page.locator("[data-cell]").first).to_be_visible()
    expect(page.get_by_role("button", name="Share")).to_be_visible()  # the panels are loaded, and with them the tour
    expect(tour).to_have_count(0)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["Escape", "Skip", "Skip the tour"])
def test_a_tour_that_was_left_is_not_shown_again_until_it_is_asked_for(app: App, page: Page, way: str) -> None:
    log = example(app)
    app.open(page, log)
    step(page, 1)
    if way == "Escape":
        page.keyboard.press("Escape")
    else:
        page.get_by_role("complementary", name="Tour").get_by_role("button", name=way, exact=True).click()
    tour = page.get_by_role("complementary", name="Tour")
    expect(tour).to_have_count(0)
    page.reload()
    expect(page.get_by_role("button", name="Share")).to_be_visible()
    expect(tour).to_have_count(0)
    page.locator("[data-cell]").first.focus()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").get_by_role("button", name="Show the tour").click()
    step(page, 1)
    expect(tour.get_by_role("button", name="Run it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(tour).to_have_count(0)


@pytest.mark.slow
def test_esc_in_an_editor_or_a_panel_is_for_those_and_letters_in_the_card_are_no_commands(app: App, page: Page) -> None:
    log = example(app)
    app.open(page, log)
    step(page, 1)
    tour = page.get_by_role("complementary", name="Tour")
    page.locator("[data-cell]").nth(1).locator("[data-source]").click()
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("status", name="Command mode")).to_be_visible()
    expect(tour).to_be_visible()
    tour.get_by_role("button", name="Next").focus()
    page.keyboard.press("x")
    expect(page.locator("[data-cell]")).to_have_count(3)
    page.keyboard.press("Enter")
    step(page, 2)
    page.reload()
    step(page, 2)  # it goes on where it was
    page.keyboard.press("Escape")
    expect(tour).to_have_count(0)


@pytest.mark.slow
def test_only_the_example_and_who_may_let_an_agent_in_see_the_tour(app: App, page: Page, second_page: Page) -> None:
    app.open(page, app.notebook("ordinary", "x = 1"))
    app.open(second_page, example(app))
    for each in (page, second_page):
        expect(each.get_by_role("button", name="Share")).to_be_visible()
        expect(each.get_by_role("complementary", name="Tour")).to_have_count(0)
