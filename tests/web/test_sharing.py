"""Sharing a notebook: people, agents and roles in one sentence each, invitations, letting an agent in."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from playwright.sync_api import Locator, Page, expect

from .app import App, answered


def share(page: Page) -> Locator:
    """Open the dialog of sharing."""
    page.get_by_role("button", name="Share", exact=True).click()
    dialog = page.get_by_role("dialog", name=re.compile("^Share "))
    expect(dialog.get_by_role("list", name="People and agents")).to_be_visible()
    return dialog


def invite(page: Page, name: str, role: str) -> str:
    """Invite a person from the open dialog, and return the link that is shown."""
    page.get_by_role("button", name="Invite a person…").click()
    form = page.get_by_role("dialog", name="Invite a person")
    form.get_by_label("Name", exact=True).fill(name)
    form.get_by_role("radio", name=role).check()
    form.get_by_role("button", name="Make a link").click()
    return page.locator("[data-secret]").inner_text()


def line(dialog: Locator, actor: str) -> Locator:
    """The row of an actor."""
    return dialog.locator(f"[data-actor='{actor}']")


def test_an_invited_person_opens_the_link_once_and_sees_one_notebook(app: App, page: Page) -> None:
    app.notebook("other", "y = 2")
    app.open(page, app.notebook("invite", "x = 41"))
    dialog = share(page)
    expect(dialog.get_by_text("Open: everybody who can sign in")).to_be_visible()
    link = invite(page, "grace", "Viewer")
    assert "/#sign-in=quire_" in link
    page.get_by_role("button", name="I have sent or kept it").click()
    assert link not in page.content()
    expect(line(dialog, "human:grace")).to_contain_text("grace is invited until")
    expect(dialog.get_by_text("Closed: only these may come in.")).to_be_visible()

    context = app.browser.new_context(service_workers="block")
    grace = context.new_page()
    grace.goto(link)
    expect(grace.locator("[data-cell]").first).to_contain_text("x = 41")
    assert "sign-in" not in grace.url
    expect(grace.get_by_role("textbox", name="Name of the notebook")).to_have_count(0)
    grace.goto(app.url)
    expect(grace.get_by_role("link", name=re.compile("invite"))).to_be_visible()
    expect(grace.get_by_role("link", name=re.compile("other"))).to_have_count(0)
    context.close()

    second = app.browser.new_context(service_workers="block")
    late = second.new_page()
    late.goto(link)
    expect(late.get_by_role("heading", name="That address did not sign you in")).to_be_visible()
    expect(late.get_by_text("works once")).to_be_visible()
    second.close()


@pytest.mark.slow
def test_roles_are_changed_and_taken_away_and_what_else_that_does_is_asked_first(app: App, page: Page) -> None:
    log = app.notebook("roles", "x = 1")
    app.token("human:bob", "read", "edit", "run")
    app.open(page, log)
    dialog = share(page)
    bob = line(dialog, "human:bob")
    expect(bob).to_contain_text("bob may edit and run here.")
    bob.get_by_label("Role of bob").select_option("viewer")
    expect(bob.get_by_role("alert")).to_contain_text("This closes the notebook")
    bob.get_by_role("button", name="Cancel").click()
    expect(bob).to_contain_text("bob may edit and run here.")
    bob.get_by_label("Role of bob").select_option("viewer")
    bob.get_by_role("button", name="Make bob viewer").click()
    expect(bob).to_contain_text("bob may read here.")
    expect(dialog.get_by_text("Closed: only these may come in.")).to_be_visible()
    with app.client("human:bob", "read", "edit") as client:
        told = client.post(f"/api/logs/{log}/events", json={"drafts": []}).status_code
        assert told in (403, 422)
        assert answered(client.get(f"/api/notebooks/{log}"))["name"] == "roles"
    bob.get_by_label("Role of bob").select_option("editor")  # nothing else changes: it is not asked
    expect(bob).to_contain_text("bob may edit and run here.")
    bob.get_by_label("Role of bob").select_option("")
    expect(bob).to_have_count(0)  # the notebook is closed, and bob has nothing to do there
    with app.client("human:bob", "read") as client:
        assert client.get(f"/api/notebooks/{log}").status_code == 403


@pytest.mark.slow
def test_who_may_not_share_sees_the_list_and_the_reason(app: App, second_page: Page) -> None:
    app.open(second_page, app.notebook("reader", "x = 1"))
    dialog = share(second_page)
    expect(dialog.get_by_text("You see who may come in, and cannot change it.")).to_contain_text("scope 'admin'")
    expect(line(dialog, "human:grace").first).to_contain_text("You may edit and run here.")
    expect(dialog.get_by_role("combobox")).to_have_count(0)
    expect(dialog.get_by_role("button", name="Invite a person…")).to_have_count(0)


@pytest.mark.slow
def test_a_name_that_is_known_is_given_a_link_only_after_a_question(app: App, page: Page) -> None:
    app.token("human:linus", "read")
    app.open(page, app.notebook("known", "x = 1"))
    share(page)
    page.get_by_role("button", name="Invite a person…").click()
    form = page.get_by_role("dialog", name="Invite a person")
    form.get_by_label("Name", exact=True).fill("linus")
    form.get_by_role("button", name="Make a link").click()
    expect(form.get_by_role("alert").first).to_contain_text("There is somebody called linus here already")
    form.get_by_role("button", name="It is the same linus: make a link").click()
    expect(page.get_by_text("linus was known here, and is now editor")).to_be_visible()


@pytest.mark.slow
def test_an_agent_is_let_in_with_a_line_to_paste_for_each_coding_agent(app: App, page: Page) -> None:
    app.open(page, app.notebook("agents", "x = 1"))
    share(page)
    page.get_by_role("button", name="Let an agent in…").click()
    expect(page.get_by_role("checkbox", name="Asks first")).to_be_checked()
    page.get_by_label("Name", exact=True).fill("cursor")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="cursor may come in")
    chosen = dialog.get_by_label("Your coding agent")
    expect(chosen).to_have_value("cursor")
    entry = json.loads(dialog.get_by_role("group", name="the settings for Cursor").inner_text())
    bearer = entry["mcpServers"]["quire"]["headers"]["Authorization"]
    assert bearer.startswith("Bearer quire_")
    assert entry["mcpServers"]["quire"]["url"] == f"{app.url}/mcp"
    chosen.select_option("codex")
    table = tomllib.loads(dialog.get_by_role("group", name="the settings for Codex").inner_text())
    assert table["mcp_servers"]["quire"]["http_headers"]["Authorization"] == bearer
    chosen.select_option("claude-code")
    expect(dialog.get_by_role("group", name="the command for Claude Code")).to_contain_text(bearer)
    for other in ("vscode", "gemini-cli", "opencode", "windsurf", "zed", "other"):
        chosen.select_option(other)
        expect(dialog.get_by_text(bearer).first).to_be_attached()
    dialog.get_by_role("button", name="Done").click()
    assert bearer not in page.content()
    dialog = share(page)
    expect(line(dialog, "agent:cursor")).to_contain_text("cursor, for you, may read and asks before it edits or runs.")


@pytest.mark.slow
def test_a_person_is_invited_with_keys_alone(app: App, page: Page) -> None:
    app.open(page, app.notebook("keys only", "x = 1"))
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_visible()  # with it come its actions
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Find an action or a cell").fill("share")
    expect(page.get_by_role("option").first).to_contain_text("Share: people, agents and roles…")
    page.keyboard.press("Enter")
    expect(page.get_by_role("list", name="People and agents")).to_be_visible()
    page.get_by_role("button", name="Invite a person…").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.type("katherine")
    page.keyboard.press("Enter")
    expect(page.locator("[data-secret]")).to_contain_text("#sign-in=")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
