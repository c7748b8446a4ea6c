"""Settings: my browsers, tokens with the line to paste, empty states; and the list of keys on every page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from .app import App, answered


@pytest.mark.slow
def test_my_browsers_are_listed_and_another_one_is_signed_out_with_what_was_made_in_it(app: App, page: Page) -> None:
    context = app.context()
    other = context.new_page()
    other.goto(f"{app.url}/settings")
    other.get_by_role("button", name="New token…").click()
    other.keyboard.type("hal")
    other.keyboard.press("Enter")
    secret = other.locator("[data-secret]").inner_text()
    page.goto(f"{app.url}/settings")
    expect(page.locator("[data-browser=this]")).to_contain_text("This browser")
    row = page.locator("[data-browser=other]").filter(has_text="1 token made in it")
    row.get_by_role("button", name="Sign out…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 token made in it ends with it")
    dialog.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_text("That browser is signed out.")).to_be_visible()
    expect(row).to_have_count(0)
    other.reload()
    expect(other.get_by_role("heading", name="Sign this browser in")).to_be_visible()
    with app.client() as client:
        told = client.get("/api/me", headers={"Authorization": f"Bearer {secret}"})
        assert told.status_code == 401
    context.close()


@pytest.mark.slow
def test_an_agents_token_comes_with_the_line_to_paste_and_a_persons_with_variables(app: App, page: Page) -> None:
    page.goto(f"{app.url}/settings")
    page.get_by_role("button", name="New token…").click()
    page.keyboard.type("claude")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="The token of claude")
    secret = dialog.locator("[data-secret]").inner_text()
    expect(dialog.get_by_role("group", name="the command for Claude Code")).to_contain_text(
        f'claude mcp add --transport http quire {app.url}/mcp --header "Authorization: Bearer {secret}"'
    )
    dialog.get_by_role("button", name="I have kept it").click()
    page.get_by_role("button", name="New token…").click()
    page.get_by_label("For", exact=True).select_option("human")
    page.get_by_label("Name", exact=True).fill("bob")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="The token of bob")
    expect(dialog.get_by_role("group", name="the variables")).to_contain_text(f"export QUIRE_URL={app.url}")
    expect(dialog.get_by_label("Your coding agent")).to_have_count(0)


@pytest.mark.slow
def test_an_invited_person_sees_their_own_settings_and_nobody_elses(app: App) -> None:
    log = app.notebook("limited", "x = 1")
    with app.client() as client:
        wanted = {"name": "hedy", "notebook": log, "role": "viewer"}
        secret = answered(client.post("/api/invitations", json=wanted))["secret"]
    context = app.browser.new_context(service_workers="block")
    page = context.new_page()
    page.goto(f"{app.url}/#sign-in={secret}&notebook={log}")
    expect(page.locator("[data-cell]").first).to_be_visible()
    page.goto(f"{app.url}/settings")
    expect(page.get_by_text("May read, in one notebook only.")).to_be_visible()
    expect(page.locator("[data-browser=this]")).to_be_visible()
    expect(page.get_by_text("You are signed in nowhere else.")).to_be_visible()
    expect(page.get_by_role("button", name="New token…")).to_have_count(0)
    page.locator("[data-browser=this]").get_by_role("button", name="Sign out…").click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_role("heading", name="Sign this browser in")).to_be_visible()
    context.close()
