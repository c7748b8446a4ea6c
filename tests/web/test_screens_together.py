"""Every screen of working together, looked at: proposals, news, comments, people and agents; and lists without anything.

Each state is one that people meet, in one prepared workspace and one browser; light and dark, wide and narrow. Nothing
serious is found by axe in any of them, nothing is cut off, no page complains, and Tab leads to what is used there.
`make screenshots` keeps the pictures.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from quire.core.text import source_hash
from quire.workspace.clock import new_id

from .app import App
from .desk import CODEX, GRACE, Desk, opened_desk
from .node import needs_packages
from .notebook import Book

pytestmark = [needs_packages, pytest.mark.slow]


@pytest.fixture
def desk(app: App, tmp_path: Path) -> Iterator[Desk]:
    """The workspace, with nothing in it yet."""
    with opened_desk(app, tmp_path) as made:
        yield made


# ---- Nothing there yet


def lists_without_anything(desk: Desk) -> None:
    app, page = desk.app, desk.page
    page.goto(app.url)
    expect(page.get_by_role("main").get_by_role("button").first).to_be_visible()
    desk.camera.study("home-empty")
    page.goto(f"{app.url}/runs")
    expect(page.get_by_text("No runs yet")).to_be_visible()
    desk.camera.study("runs-empty")
    app.open(page, app.notebook("Sketch", "x = 1"))
    for name, words in (("Proposals", "No proposal waits"), ("Comments", "No comments yet")):
        expect(desk.panel(name)).to_contain_text(words)
        desk.camera.study(f"{name.lower()}-empty")
    activity = desk.panel("Activity")
    activity.get_by_role("combobox", name="What").select_option("Files")
    expect(activity).to_contain_text("Nothing of that kind happened here")
    desk.camera.study("activity-empty")
    desk.close_panel()


# ---- Proposals


def proposals_at_cells_and_in_the_list(desk: Desk) -> None:
    app, page = desk.app, desk.page
    log = desk.forecast()
    codex = desk.codex(log)
    level, growth = codex.cell(2), codex.cell(3)
    fitted = "import statistics\n\nspread = statistics.stdev(orders[-months:])"
    better = "months = 12\nlevel = statistics.median(orders[-months:])"
    new = {"type": "cell_added", "cell": "aaaa0001", "after": level, "source": fitted, "name": "spread"}
    run = {"kind": "run_cell", "execution": new_id(), "cell": level, "source_hash": source_hash(better)}
    first = codex.propose(
        "One odd month must not move the forecast: the median is steadier than the mean.",
        codex.text(2, better),
        new,
        {"type": "cell_removed", "cell": growth},
        effects=[run],
    )
    second = codex.ask(codex.text(4, "forecast = round(level * (1 + growth), 1)\nforecast"))
    book = Book(app, page, log)
    expect(book.cell(2)).to_contain_text("wants to change 1 cell, add 1, remove 1 and run 1")
    expect(book.cell(4)).to_contain_text("codex gave no reason")
    book.cell(2).scroll_into_view_if_needed()
    desk.camera.study("proposals-cell")
    listed = desk.panel("Proposals")
    card = listed.locator(f'[data-proposal="{first}"]')
    card.get_by_role("checkbox", name="Remove growth").uncheck()
    expect(card.get_by_role("button", name="Accept chosen (3 of 4)")).to_be_visible()
    desk.camera.study("proposals")
    desk.record(log, desk.replaced(log, 2, "months = 12", "months = 6"), actor=GRACE)
    expect(card.locator("[data-void]")).to_contain_text("Void: the code moved on")
    card.locator("[data-void]").scroll_into_view_if_needed()
    desk.camera.study("proposals-void")
    late = codex.propose(
        "Before noon, or not at all.", codex.text(1, "orders = []"), expires_at="2020-01-01T00:00:00.000000Z"
    )
    listed.locator(f'[data-proposal="{second}"]').press("n")
    word = listed.get_by_role("textbox", name="A word for codex")
    expect(word).to_be_focused()
    word.fill("Round when it is shown, not here.")
    desk.camera.study("proposals-decline")
    word.press("Enter")
    codex.withdraw(first)
    expect(card).to_contain_text("Withdrawn by codex")
    ended = listed.locator(f'[data-proposal="{late}"]')
    expect(ended).to_contain_text("Expired: nobody answered in time")
    desk.camera.study("proposals-decided")
    desk.close_panel()
    codex.close()


# ---- Since you were here, activity, comments, people


def news_of_others_and_what_they_did(desk: Desk) -> None:
    app, page = desk.app, desk.page
    log = desk.forecast("Orders")
    with page.expect_response(lambda told: told.request.method == "PUT" and told.url.endswith("/seen")):
        app.open(page, log)
    page.goto("about:blank")
    desk.record(log, desk.replaced(log, 2, "months = 12", "months = 6  # the last half year"), actor=CODEX)
    desk.record(
        log,
        desk.replaced(
            log, 3, "print(", "print('the same months of the year before, in percent of what was ordered in them:', "
        ),
        actor=GRACE,
    )
    desk.record(log, {"type": "cell_removed", "cell": app.read(log)["order"][4]}, actor=CODEX)
    app.open(page, log)
    line = page.get_by_role("region", name="Since you were here").first
    expect(line).to_contain_text("codex for you changed 1 cell")
    line.get_by_role("button", name="1 removed cell").click()
    page.keyboard.press("Alt+]")
    expect(page.locator("[data-difference]")).to_contain_text("the last half year")
    desk.camera.study("since")
    page.set_viewport_size({"width": 400, "height": 800})
    page.locator("[data-cell]").nth(2).locator("[data-change]").click()
    expect(page.locator("[data-difference]")).to_have_count(0)
    line.get_by_role("button", name="Show", exact=True).click()
    page.keyboard.press("Alt+]")
    expect(page.locator("[data-difference]")).to_contain_text("the year before")
    desk.camera.study("since-second")
    activity = desk.panel("Activity")
    expect(activity).to_contain_text("New since you were here")
    desk.camera.study("activity")
    desk.press(activity.get_by_role("button", name="growth").first)
    expect(page.locator("[data-cell]").nth(3)).to_have_attribute("data-focused", "true")
    desk.close_panel()
    # Where there is no room for its button; and a word that is longer than the window.
    page.set_viewport_size({"width": 400, "height": 800})
    about = {"type": "comment_added", "comment": new_id(), "text": "x" * 300, "cell": app.read(log)["order"][1]}
    desk.record(log, about, actor=GRACE)
    page.locator("[data-cell]").first.focus()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("activity")
    page.keyboard.press("Enter")
    expect(activity).to_contain_text("commented on orders")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1280, "height": 900})
    desk.close_panel()


def a_thread_with_an_agent(desk: Desk) -> None:
    app, page = desk.app, desk.page
    log = desk.forecast("Level")
    cells = app.read(log)["order"]
    asked = new_id()
    about = {
        "type": "comment_added",
        "comment": asked,
        "cell": cells[2],
        "text": "@codex why twelve months, and not six?",
    }
    desk.record(log, about)
    answer = "@ada Sales repeat by the year: with six, every spring looks like growth.\nI can show both."
    desk.agent.told("control", notebook=log, action="comment", id=asked, text=answer)
    done = {"type": "comment_added", "comment": new_id(), "text": "Names of the columns are as in the ledger now."}
    desk.record(log, done, {"type": "comment_resolved", "comment": done["comment"]}, actor=GRACE)
    app.open(page, log)
    thread = page.locator("[data-cells] [data-thread]")
    expect(thread).to_contain_text("every spring looks like growth")
    desk.camera.study("comments")
    thread.get_by_role("button", name="Reply").click()
    page.keyboard.type("Show both, then @gra")
    expect(page.get_by_role("option").first).to_be_visible()
    desk.camera.study("comments-mention")
    page.keyboard.press("Escape")
    listed = desk.panel("Comments")
    desk.press(listed.get_by_role("button", name="Show"))
    expect(listed).to_contain_text("resolved by grace")
    desk.camera.study("comments-panel")
    desk.close_panel()


def people_and_agents_who_are_here(desk: Desk) -> None:
    app, page = desk.app, desk.page
    log = desk.forecast("Growth")
    with app.context(GRACE, "read", "edit", "run") as context:
        other = Book(app, context.new_page(), log)
        app.open(page, log)
        other.go(3)
        other.press("Enter")
        edit = {"op": "patch", "cell": "level", "old": "12", "new": "24"}
        desk.agent.told("edit", notebook=log, edits=[edit])
        people = desk.panel("People")
        expect(people.locator("[data-follow] [data-actor='agent:codex']")).to_contain_text("editing level")
        expect(people.locator("[data-follow] [data-actor='human:grace']")).to_contain_text("editing growth")
        expect(people.get_by_role("button", name="Undo… all of codex")).to_be_visible()
        desk.camera.study("people")
        desk.press(people.get_by_role("button", name="Follow").first)
        expect(people.get_by_role("button", name="Following")).to_be_visible()
    desk.press(people.get_by_role("button", name="Undo… all of codex"))
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Taken back")
    desk.camera.study("people-undo")
    page.keyboard.press("Escape")
    desk.press(people.get_by_role("button", name="Pause… codex"))
    expect(dialog).to_contain_text("Pause codex")
    desk.camera.study("people-pause")
    dialog.get_by_label("Why").fill("Tests first.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="is paused by")).to_be_visible()
    desk.camera.study("people-paused")
    desk.press(people.get_by_role("button", name="Resume codex"))
    desk.close_panel()


STORY = (
    lists_without_anything,
    proposals_at_cells_and_in_the_list,
    news_of_others_and_what_they_did,
    a_thread_with_an_agent,
    people_and_agents_who_are_here,
)


def test_every_screen_of_working_together_is_readable_by_everyone(desk: Desk) -> None:
    """One test, since all of them share a workspace, which is empty at first."""
    for part in STORY:
        part(desk)
    assert "\n".join(desk.camera.faults) == ""
