"""Typing while the server is away, or no longer knows who types: every keystroke is recorded once, or kept."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from .app import PATIENCE, App, answered
from .editor_actions import edit, editor, edits, shown, until_recorded, until_shown

FOX = "\N{FOX FACE}"
AWAY = "The server does not answer."


@pytest.fixture
def context(app: App) -> Iterator[BrowserContext]:
    """A browser profile: its windows share one storage."""
    made = app.context()
    yield made
    made.close()


def reconnect(page: Page) -> None:
    """Let the page connect without waiting for its next try, as when a laptop is opened."""
    page.evaluate("dispatchEvent(new Event('online'))")


def test_what_was_typed_while_the_server_was_away_is_sent_when_it_is_back(app: App, context: BrowserContext) -> None:
    log = app.notebook("away", "x = 1", "y = 2")
    page = app.open(context.new_page(), log)
    edit(page)
    page.keyboard.type(" + 1")
    app.stop()
    page.keyboard.type(f" + 2  # {FOX}")
    expect(page.get_by_text(AWAY)).to_be_visible()
    runtime = page.locator("header [data-runtime]")
    expect(runtime).to_have_text("not connected")
    edit(page, 1)
    page.keyboard.type("0")
    app.start()
    reconnect(page)
    page.keyboard.type("0")
    until_recorded(app, log, f"x = 1 + 1 + 2  # {FOX}", "y = 200")
    expect(page.get_by_text(AWAY)).to_have_count(0)
    expect(runtime).to_have_text("No kernel")


def test_a_tab_closed_while_the_server_is_away_loses_nothing(app: App, context: BrowserContext) -> None:
    log = app.notebook("closed", "x = ")
    page = app.open(context.new_page(), log)
    edit(page)
    app.stop()
    page.keyboard.type(f"'{FOX} every key")
    page.close()
    app.start()
    page = app.open(context.new_page(), log)
    until_recorded(app, log, f"x = '{FOX} every key'")
    expect(page.locator("[data-cell] pre")).to_have_text(f"x = '{FOX} every key'")
    # The next window finds nothing left to send.
    before = edits(app, log)
    page.reload()
    edit(page)
    page.keyboard.type("!")
    until_recorded(app, log, f"x = '{FOX} every key'!")
    assert edits(app, log) == before + 1


@pytest.mark.parametrize("field", ["version", "reducer"])
def test_a_page_that_is_older_than_the_server_says_so_and_loses_nothing(
    app: App, context: BrowserContext, field: str
) -> None:
    """The server is the same; what it says of itself is changed on its way, as after an upgrade."""
    is_upgraded = False
    connections: list[WebSocketRoute] = []

    def connect(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        connections.append(route)

        def pass_on(frame: str | bytes) -> None:
            told = json.loads(frame)
            if is_upgraded and "reducer" in told:
                told[field] = 99 if field == "reducer" else "99.0"
                frame = json.dumps(told)
            route.send(frame)

        server.on_message(pass_on)

    log = app.notebook("upgraded", "x = ")
    page = context.new_page()
    page.route_web_socket("**/api/socket*", connect)
    app.open(page, log)
    expect(page.locator("header [data-runtime]")).to_have_text("No kernel")
    edit(page)
    is_upgraded = True
    for connection in connections:
        connection.close()
    page.keyboard.type("12")
    reconnect(page)
    updated = page.get_by_text("Quire was updated.")
    expect(updated).to_be_visible()
    page.keyboard.type("3")
    is_upgraded = False
    page.get_by_role("button", name="Reload").click()
    expect(page.locator("[data-cell] pre")).to_have_text("x = 123")
    expect(updated).to_have_count(0)
    page.close()
    app.open(context.new_page(), log)
    until_recorded(app, log, "x = 123")


def test_two_windows_send_what_each_of_them_typed_once(app: App, context: BrowserContext) -> None:
    log = app.notebook("windows", "", "")
    first, second = (app.open(context.new_page(), log) for _ in range(2))
    edit(first)
    edit(second, 1)
    app.stop()
    first.keyboard.type("first window")
    second.keyboard.type("second window")
    first.close()
    app.start()
    reconnect(second)
    third = app.open(context.new_page(), log)
    until_recorded(app, log, "first window", "second window")
    for page in (second, third):
        expect(page.locator("[data-cell]").first).to_contain_text("first window")
    assert edits(app, log) == 2


def test_a_token_that_is_revoked_while_somebody_types_takes_no_text_along(app: App) -> None:
    log = app.notebook("revoked", "x = 1")
    context = app.browser.new_context(base_url=app.url)
    context.set_default_timeout(PATIENCE)
    token = app.sign_in(context, "human:grace", "read", "edit", "run")
    page = app.open(context.new_page(), log)
    edit(page)
    page.keyboard.type(" + 1")
    until_recorded(app, log, "x = 1 + 1")
    with app.client() as client:
        answered(client.post(f"/api/tokens/{token}/revoke"))
    page.keyboard.type(" + 2")
    expect(page.get_by_text("signed out")).to_be_visible()
    page.keyboard.type(" + 3")
    until_shown(page, "x = 1 + 1 + 2 + 3")
    page.close()
    # Signed in again, the browser sends what it kept.
    app.sign_in(context, "human:grace", "read", "edit", "run")
    app.open(context.new_page(), log)
    until_recorded(app, log, "x = 1 + 1 + 2 + 3")
    context.close()


@pytest.mark.slow
def test_a_minute_of_typing_alone_makes_few_events(app: App, context: BrowserContext) -> None:
    """Five keys a second for a minute, by a clock that the test turns."""
    log = app.notebook("minute", "")
    page = context.new_page()
    page.clock.install()
    app.open(page, log)
    edit(page)
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    words = "total = price * amount + 12  "
    text = (words * 11)[:300]
    for letter in text:
        page.keyboard.type(letter)
        page.clock.run_for(200)
    page.clock.run_for(3000)
    assert len(shown(page)) >= 300
    until_recorded(app, log, shown(page))
    assert edits(app, log) < 40


@pytest.mark.slow
def test_a_server_that_ends_again_and_again_gets_every_key_once(app: App, context: BrowserContext) -> None:
    log = app.notebook("again", "")
    page = app.open(context.new_page(), log)
    edit(page)
    text = ""
    for round in range(5):
        for letter in f"{round}: {FOX}abc ":
            page.keyboard.type(letter)
            text += letter
        app.stop()
        page.keyboard.type("away ")
        text += "away "
        if round % 2:
            page.close()
        app.start()
        if round % 2:
            page = app.open(context.new_page(), log)
            edit(page)
            until_shown(page, text)
        else:
            reconnect(page)
    until_recorded(app, log, text)
    expect(editor(page)).to_be_focused()
