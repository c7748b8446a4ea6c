"""Undo all of an agent on the page of a notebook, and pause it: what others did stays."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from quire.workspace.clock import new_id

from .app import App, answered
from .axe import serious
from .notebook import Book
from .test_panels import edit, rail

CODEX = "agent:codex"


def say(app: App, log: str, actor: str, *events: dict[str, Any]) -> None:
    """Record events in a log, as somebody who may read, edit and run."""
    with app.client(actor, "read", "edit", "run") as client:
        drafts = [{"id": new_id(), "event": event} for event in events]
        answered(client.post(f"/api/logs/{log}/events", json={"drafts": drafts}))


def splice(app: App, log: str, cell: str, at: int, remove: int, insert: str) -> dict[str, Any]:
    return {"type": "source_edited", "cell": cell, "base": app.read(log)["seq"], "edit": [[at, remove, insert]]}


def worked(app: App, page: Page, name: str) -> Book:
    """A notebook of Ada's in which codex changed a cell, added one and removed one, and Bob typed in between.

    Eve was there first: nothing of hers is left.
    """
    log = app.notebook(name, "x = 1\n", "y = 2\n")
    first, second = app.read(log)["order"]
    say(app, log, "human:eve", splice(app, log, first, 0, 0, "# eve\n"))
    say(app, log, "human:bob", splice(app, log, first, 0, 6, ""))
    say(app, log, CODEX, splice(app, log, first, 4, 2, "11\nprint(x)\n"))
    say(app, log, "human:bob", splice(app, log, first, 0, 0, "# bob\n"))
    added = {"type": "cell_added", "cell": "codexadd", "after": first, "source": "plot(x)\n"}
    say(app, log, CODEX, {"type": "cell_removed", "cell": second}, added)
    say(app, log, "human:bob", splice(app, log, "codexadd", 8, 0, "# keep this\n"))
    return Book(app, page, log)


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog")


def test_all_of_an_agent_is_undone_and_what_others_typed_stays(app: App, page: Page) -> None:
    book = worked(app, page, "undo")
    panel = rail(page, "People")
    expect(panel.get_by_role("button", name="Undo… all of eve")).to_be_visible()
    panel.get_by_role("button", name="Undo… all of codex").click()
    box = dialog(page)
    expect(box).to_contain_text("Undo all of codex in this notebook")
    expect(box).to_contain_text("comes back: it was removed")
    expect(box).to_contain_text("the cell stays for what others typed in it")
    expect(box).to_contain_text("bob wrote in this added cell")
    assert serious(page) == []
    box.get_by_role("button", name="Undo", exact=True).click()
    book.until_sources("# bob\nx = 1\n", "# keep this\n", "y = 2\n")
    expect(page.get_by_text("Undone: all of codex in this notebook.")).to_be_visible()
    panel.get_by_role("button", name="Undo… all of codex").click()
    expect(dialog(page)).to_contain_text("Nothing of codex is left to undo")


@pytest.mark.slow
def test_an_undo_since_an_event_takes_back_less_and_one_that_is_outdated_is_shown_anew(app: App, page: Page) -> None:
    book = worked(app, page, "since")
    rail(page, "People").get_by_role("button", name="Undo… all of codex").click()
    box = dialog(page)
    box.get_by_label("Since when").select_option("number")
    expect(box.get_by_role("alert")).to_contain_text("number of an event")
    box.get_by_label("Event number").fill("7")
    expect(box).to_contain_text("comes back: it was removed")
    expect(box).not_to_contain_text("Cell 1")
    edit(app, book.log, 0, "x = 3\n", "human:bob")
    box.get_by_role("button", name="Undo", exact=True).click()
    expect(box).to_contain_text("Cells were changed meanwhile")
    box.get_by_role("button", name="Undo", exact=True).click()
    book.until_sources("x = 3\n", "# keep this\n", "y = 2\n")


@pytest.mark.slow
def test_an_agent_is_paused_from_the_palette_and_shown_as_paused_until_it_is_resumed(app: App, page: Page) -> None:
    book = worked(app, page, "pause")
    book.go(0)
    book.press("Alt+s")
    box = dialog(page)
    expect(box).to_contain_text("Pause codex")
    expect(box.get_by_label("Why (it is told this)")).to_be_focused()
    page.keyboard.type("tests first")
    expect(box.get_by_label("Also interrupt what it runs")).to_be_checked()
    assert serious(page) == []
    book.press("Enter")
    line = page.get_by_role("status").filter(has_text="is paused by")
    expect(line).to_contain_text(re.compile("codex.* is paused by .*: tests first"))
    assert serious(page) == []
    with app.client(CODEX, "read") as client:
        answer = client.get(f"/api/notebooks/{book.log}")
        assert (answer.status_code, "tests first" in answer.text) == (403, True)
    panel = rail(page, "People")
    expect(panel.locator(f"[data-actor='{CODEX}']")).to_contain_text("paused")
    line.get_by_role("button", name="Resume").click()
    expect(line).to_have_count(0)
    expect(panel.get_by_role("button", name="Pause… codex")).to_be_visible()
    with app.client(CODEX, "read") as client:
        assert client.get(f"/api/notebooks/{book.log}").status_code == 200


@pytest.mark.slow
def test_a_pause_elsewhere_is_seen_at_once(app: App, page: Page) -> None:
    worked(app, page, "elsewhere")
    with app.client() as client:
        assert client.post("/api/pauses", json={"actor": CODEX, "why": "lunch"}).status_code == 200
        expect(page.get_by_text("lunch")).to_be_visible()
        assert client.post("/api/pauses/end", json={"actor": CODEX}).status_code == 204
        expect(page.get_by_text("lunch")).to_have_count(0)


@pytest.mark.slow
def test_a_token_is_paused_and_resumed_in_settings(app: App, page: Page) -> None:
    with app.client("agent:tokened", "read"):
        pass
    page.goto(f"{app.url}/settings")
    row = page.get_by_role("listitem").filter(has_text="tokened")
    row.get_by_role("button", name="Pause").click()
    box = dialog(page)
    box.get_by_label("Why").fill("holidays")
    box.get_by_role("button", name="Pause", exact=True).click()
    expect(row).to_contain_text("holidays")
    assert serious(page) == []
    row.get_by_role("button", name="Resume").click()
    expect(row).not_to_contain_text("holidays")
