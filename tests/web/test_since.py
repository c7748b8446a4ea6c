"""What others changed since somebody was here: the line, the marks, the walk through the differences, and what counts as seen."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Response, expect

from quire.core.events import Scope
from quire.core.text import source_hash
from quire.workspace.clock import new_id

from .app import EVERYTHING, PATIENCE, App, answered
from .notebook import Book

CODEX = "agent:codex"

ATTENTION = """given => {
  document.hasFocus = () => given
  dispatchEvent(new Event(given ? 'focus' : 'blur'))
}"""
"""Tests in one Chromium all have the focus: take it from a page, or give it back, as a desktop would."""


def record(app: App, log: str, *events: dict[str, Any], actor: str = "human:ada") -> None:
    """Record events in a log; an agent does it for the owner of the folder."""
    scopes: tuple[Scope, ...] = ("read", "edit", "run") if actor.startswith("agent:") else EVERYTHING
    with app.client(actor, *scopes) as client:
        drafts = [{"id": new_id(), "event": event} for event in events]
        answered(client.post(f"/api/logs/{log}/events", json={"drafts": drafts}))


def edit(app: App, log: str, number: int, text: str, actor: str) -> None:
    """Write another text into a cell."""
    now = app.read(log)
    cell = now["order"][number]
    before = now["cells"][cell].get("source", "")
    record(
        app,
        log,
        {"type": "source_edited", "cell": cell, "base": now["seq"], "edit": [[0, len(before), text]]},
        actor=actor,
    )


def line(page: Page) -> Locator:
    """The line above the cells."""
    return page.get_by_role("region", name="Since you were here").filter(has=page.get_by_role("button", name="Dismiss"))


def mark(page: Page, number: int) -> Locator:
    """The mark in the gutter of a cell, by its place from 0."""
    return page.locator("[data-cell]").nth(number).locator("[data-change]")


def difference(page: Page) -> Locator:
    """The difference that is open."""
    return page.locator("[data-difference]")


def _is_mark(response: Response) -> bool:
    return response.request.method == "PUT" and response.url.endswith("/seen")


@contextmanager
def seen(page: Page) -> Generator[None]:
    """Wait until the server was told that what is on the page was seen."""
    with page.expect_response(_is_mark, timeout=PATIENCE) as told:
        yield
    assert told.value.ok


def look(app: App, context: BrowserContext, log: str) -> None:
    """Look at a notebook until it was seen, and leave."""
    page = context.new_page()
    with seen(page):
        app.open(page, log)
    expect(line(page)).to_have_count(0)
    page.close()


def remove(app: App, log: str, number: int, actor: str) -> None:
    """Take a cell out."""
    record(app, log, {"type": "cell_removed", "cell": app.read(log)["order"][number]}, actor=actor)


def run(app: App, log: str, number: int, actor: str) -> None:
    """Ask for a cell to be run."""
    now = app.read(log)
    cell = now["order"][number]
    hash = source_hash(now["cells"][cell].get("source", ""))
    wanted = {"type": "execution_requested", "execution": new_id(), "cell": cell, "source_hash": hash}
    record(app, log, wanted, actor=actor)


# ---- The story


def test_what_others_changed_is_told_marked_and_walked_and_gone_once_it_was_seen(app: App, page: Page) -> None:
    log = app.notebook("story", "rows = 5", "print(rows)", ("markdown", "The end"))
    look(app, page.context, log)
    edit(app, log, 0, "rows = 7\nprint(rows)", actor=CODEX)
    edit(app, log, 2, "The end of it", actor="human:grace")
    app.open(page, log)
    expect(line(page)).to_contain_text("Since you were here, just now: codex for you changed 1 cell, grace changed 1")
    expect(mark(page, 0)).to_have_accessible_name("Since you were here: changed by codex")
    expect(mark(page, 1)).to_have_count(0)

    page.keyboard.press("Alt+]")
    expect(page.locator("[data-cell]").nth(0)).to_have_attribute("data-focused", "true")
    expect(difference(page)).to_contain_text("Changed by codex, just now")
    expect(difference(page).locator("[data-kind=removed]")).to_contain_text("rows = 5")
    expect(difference(page).locator("[data-kind=added]").first).to_contain_text("rows = 7")
    page.keyboard.press("Alt+]")
    expect(page.locator("[data-cell]").nth(2)).to_have_attribute("data-focused", "true")
    expect(difference(page)).to_have_count(1)
    expect(difference(page)).to_contain_text("The end of it")
    expect(difference(page)).to_contain_text("2 of 2")
    page.keyboard.press("Alt+[")
    expect(page.locator("[data-cell]").nth(0)).to_have_attribute("data-focused", "true")

    with seen(page):
        line(page).get_by_role("button", name="Dismiss").click()
    expect(line(page)).to_have_count(0)
    expect(page.locator("[data-change]")).to_have_count(0)
    expect(difference(page)).to_have_count(0)
    page.reload()
    with seen(page):
        page.wait_for_selector("[data-cell]")
    expect(line(page)).to_have_count(0)


# ---- What is told


@pytest.mark.slow
def test_a_first_visit_and_ones_own_changes_make_no_line(app: App, page: Page) -> None:
    log = app.notebook("own", "a", "b", actor="human:grace")
    look(app, page.context, log)
    other = app.context()  # another browser of the same person
    window = other.new_page()
    with seen(window):
        book = Book(app, window, log)
        book.edit(0, "mine")
        book.until_sources("mine", "b")
    other.close()
    look(app, page.context, log)


@pytest.mark.slow
def test_removed_cells_are_listed_with_what_they_said(app: App, page: Page) -> None:
    log = app.notebook("removed", "keep = 1", "gone = 2", "late = 3")
    look(app, page.context, log)
    remove(app, log, 1, CODEX)
    app.open(page, log)
    expect(line(page)).to_contain_text("codex for you removed 1 cell")
    expect(line(page).get_by_role("button", name="Show", exact=True)).to_have_count(0)
    line(page).get_by_role("button", name="1 removed cell").click()
    listed = line(page).get_by_role("list", name="Removed cells")
    expect(listed).to_contain_text("removed by codex")
    expect(listed).to_contain_text("gone = 2")


@pytest.mark.slow
def test_a_cell_that_ran_again_says_how_it_ended(app: App, page: Page) -> None:
    book = Book.of(app, page, "print('one')", "1 / 0", name="again")
    with seen(page):
        book.go(0)
        book.press("Control+Enter")
        book.has_state(0, "ok")
    page.close()
    run(app, log := book.log, 0, "human:grace")
    run(app, log, 1, "human:grace")
    again = book.page.context.new_page()
    book = Book(app, again, log)
    book.has_state(0, "ok")
    book.has_state(1, "error")
    expect(line(again)).to_contain_text("grace ran 2 cells")
    line(again).get_by_role("button", name="Show", exact=True).click()
    expect(difference(again)).to_contain_text("Ran again, just now: ok")
    difference(again).get_by_role("button", name="Next").click()
    expect(difference(again)).to_contain_text("Ran, just now: error (ZeroDivisionError)")
    difference(again).get_by_role("button", name="Close").click()
    expect(difference(again)).to_have_count(0)
    mark(again, 0).click()
    expect(difference(again)).to_contain_text("Run by grace")
    expect(mark(again, 0)).to_have_attribute("aria-expanded", "true")


@pytest.mark.slow
def test_a_new_cell_a_name_and_an_invisible_character_are_shown_as_they_are(app: App, page: Page) -> None:
    log = app.notebook("shapes", "a = 1")
    look(app, page.context, log)
    first = app.read(log)["order"][0]
    record(app, log, {"type": "cell_added", "cell": "newcell1", "after": first, "source": "b = 2"}, actor=CODEX)
    record(app, log, {"type": "cell_named", "cell": first, "name": "load"}, actor=CODEX)
    edit(app, log, 0, "a\u202e = 1", actor=CODEX)
    app.open(page, log)
    expect(line(page)).to_contain_text("codex for you added 1 cell and changed 1")
    page.keyboard.press("Alt+]")
    expect(difference(page)).to_contain_text("is called load")
    expect(difference(page).locator("[data-kind=added]")).not_to_contain_text("\u202e")
    page.keyboard.press("Alt+]")
    expect(difference(page)).to_contain_text("Added by codex")
    expect(difference(page)).to_contain_text("It is new.")


# ---- What counts as seen


@pytest.mark.slow
def test_what_comes_while_one_looks_is_seen_and_what_comes_while_away_is_told_on_return(
    app: App, page: Page, second_page: Page
) -> None:
    log = app.notebook("two", "a = 1", "b = 2")
    with seen(page):
        app.open(page, log)
    grace = Book(app, second_page, log)
    with seen(page):
        grace.edit(0, "a = 10")
    expect(page.locator("[data-cell]").nth(0)).to_contain_text("a = 10")
    expect(line(page)).to_have_count(0)

    with seen(page):
        page.evaluate(ATTENTION, False)
    grace.edit(1, "b = 20")
    expect(page.locator("[data-cell]").nth(1)).to_contain_text("b = 20")
    expect(line(page)).to_have_count(0)
    with seen(page):
        page.evaluate(ATTENTION, True)
        expect(line(page)).to_contain_text("While you were away: grace changed 1 cell")
        expect(mark(page, 0)).to_have_count(0)
        expect(mark(page, 1)).to_be_visible()
    page.keyboard.press("Alt+]")
    expect(difference(page).locator("[data-kind=removed]")).to_contain_text("b = 2")


@pytest.mark.slow
def test_a_page_that_is_closed_tells_the_server_what_was_seen_on_it(app: App, page: Page) -> None:
    log = app.notebook("closed", "a = 1")
    with seen(page):
        app.open(page, log)
    edit(app, log, 0, "a = 2", actor=CODEX)
    expect(page.locator("[data-cell]").nth(0)).to_contain_text("a = 2")
    head = app.read(log)["seq"]
    page.goto("about:blank")
    asking = page.context.new_page()
    asking.goto(app.url)
    key = asking.evaluate("localStorage.getItem('quire-page-key')")
    told = asking.request.get(f"{app.url}/api/notebooks/{log}/seen", headers={"X-Quire-Page-Key": key})
    assert told.json()["seq"] == head


@pytest.mark.slow
def test_the_keys_are_in_the_palette_and_the_sheet_and_say_that_nothing_is_new(app: App, page: Page) -> None:
    app.open(page, app.notebook("keys", "a = 1"))
    page.keyboard.press("Alt+]")
    expect(page.get_by_text("Nobody else changed a cell since you were here.")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Next change since you were here")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("previous change")
    expect(page.get_by_role("option").first).to_contain_text("Previous change since you were here")


# ---- Everybody
