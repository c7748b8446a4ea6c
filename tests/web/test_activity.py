"""What was done in a notebook, in words: grouped, filtered, followed, and each line leading to its cell and its moment."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from quire.core.text import source_hash
from quire.workspace.clock import new_id

from .app import App
from .notebook import Book
from .test_panels import rail
from .test_since import CODEX, edit, record, run, seen


def lines(page: Page) -> Locator:
    """The lines of the panel."""
    return page.get_by_role("list", name="Activity").get_by_role("listitem")


def name(app: App, log: str, number: int, text: str) -> str:
    """Give a cell a name, and return its id."""
    cell = app.read(log)["order"][number]
    record(app, log, {"type": "cell_named", "cell": cell, "name": text}, actor="human:grace")
    return cell


def comment(cell: str, text: str) -> dict[str, Any]:
    return {"type": "comment_added", "comment": new_id(), "text": text, "cell": cell}


def proposal(cell: str, text: str, why: str) -> dict[str, Any]:
    change = {"type": "source_edited", "cell": cell, "base_hash": source_hash("rows = 5"), "text": text}
    return {"type": "proposal_made", "proposal": new_id(), "why": why, "changes": [change]}


def test_a_change_and_a_failing_run_of_an_agent_are_one_line_that_leads_to_the_cell(app: App, page: Page) -> None:
    log = app.notebook("story", "rows = 5", "print('x')")
    cell = name(app, log, 0, "load")
    edit(app, log, 0, "{}['region']", actor=CODEX)
    now = app.read(log)
    hash = source_hash(now["cells"][cell]["source"])
    wanted = {"type": "execution_requested", "execution": new_id(), "cell": cell, "source_hash": hash}
    record(app, log, wanted, actor=CODEX)
    book = Book(app, page, log)
    book.go(1)
    rail(page, "Activity")
    newest = lines(page).filter(has_text="codex").first
    expect(newest).to_contain_text("codex for you changed load and ran it: KeyError")
    newest.get_by_role("button", name="load").click()
    book.is_at(0)
    moment = newest.get_by_role("link")
    expect(moment).to_have_attribute("href", re.compile(rf"/notebooks/{log}\?at=\d+$"))


@pytest.mark.slow
def test_each_filter_shows_its_lines_and_no_others(app: App, page: Page) -> None:
    log = app.notebook("filters", "rows = 5", "print('x')")
    cell = name(app, log, 0, "load")
    record(app, log, comment(cell, "Why 5?"), actor="human:grace")
    record(app, log, proposal(cell, "rows = 6", "more rows"), actor=CODEX)
    record(app, log, {"type": "file_bound", "path": "filters.py", "format": "percent"})
    run(app, log, 1, "human:grace")
    Book(app, page, log).has_state(1, "ok")
    panel = rail(page, "Activity")
    what, who = panel.get_by_role("combobox", name="What"), panel.get_by_role("combobox", name="Who")
    said = {
        "Edits": "named load",
        "Proposals": "made a proposal: more rows",
        "Comments": "commented on load: Why 5?",
        "Files": "bound the notebook to filters.py",
        "Kernel": "started a python kernel",
        "Runs": "ran cell 2: ok",
    }
    for kind, words in said.items():
        what.select_option(kind)
        expect(lines(page).filter(has_text=words)).to_have_count(1)
        for other in set(said.values()) - {words}:
            expect(lines(page).filter(has_text=other)).to_have_count(0)
    who.select_option("codex")
    expect(panel).to_contain_text("Nothing of that kind happened here")
    panel.get_by_role("button", name="Show everything").click()
    expect(lines(page).filter(has_text="more rows")).to_have_count(1)
    who.select_option("codex")
    expect(lines(page)).to_have_count(1)
    expect(lines(page)).to_contain_text("codex")
    who.select_option("grace")
    expect(lines(page).filter(has_text="Why 5?")).to_have_count(1)
    expect(lines(page).filter(has_text="codex")).to_have_count(0)


@pytest.mark.slow
def test_it_follows_what_others_do_and_tells_what_is_new(app: App, page: Page, second_page: Page) -> None:
    log = app.notebook("live", "a = 1", "b = 2")
    with seen(page):
        app.open(page, log)
    page.goto("about:blank")
    edit(app, log, 0, "a = 2", actor=CODEX)
    app.open(page, log)
    rail(page, "Activity")
    expect(lines(page).nth(0)).to_contain_text("codex for you changed cell 1")
    expect(lines(page).nth(1)).to_contain_text("New since you were here")
    grace = Book(app, second_page, log)
    grace.edit(1, "b = 3")
    expect(lines(page).nth(0)).to_contain_text("grace changed cell 2")
    expect(lines(page).nth(1)).to_contain_text("codex for you changed cell 1")


@pytest.mark.slow
def test_a_long_log_is_read_page_by_page(app: App, page: Page) -> None:
    log = app.notebook("long", "a = 1")
    cell = app.read(log)["order"][0]
    for number in range(45):  # each of two begins a line
        record(app, log, comment(cell, f"word {number}"), actor=("human:grace", CODEX)[number % 2])
    app.open(page, log)
    panel = rail(page, "Activity")
    expect(lines(page)).to_have_count(30)
    expect(lines(page).first).to_contain_text("word 44")
    panel.get_by_role("button", name="Show older").click()
    expect(lines(page)).to_have_count(46)
    expect(lines(page).last).to_contain_text("created the notebook")
    expect(panel.get_by_role("button", name="Show older")).to_have_count(0)
