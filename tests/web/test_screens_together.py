"""Every screen of working together, looked at: proposals, news, comments, people, time, runs, reading, sharing, settings, tour.

Each state is one that people meet, in one prepared workspace and one browser; light and dark, wide and narrow. Nothing
serious is found by axe in any of them, nothing is cut off, no page complains, and Tab leads to what is used there.
`make screenshots` keeps the pictures.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from quire.core.ids import ActorId, LogId
from quire.core.text import source_hash
from quire.workspace.clock import new_id

from ..doors.mcp.agents import Agent, over_http
from ..journeys.owner import new_token
from ..run_logs import RunLog
from . import runs
from .agents import Codex
from .app import EVERYTHING, App, answered
from .camera import Camera, pictures_folder
from .node import needs_packages
from .notebook import Book

pytestmark = [needs_packages, pytest.mark.slow]

ADA, GRACE, CODEX = "human:ada", "human:grace", "agent:codex"
FORECAST = (
    ("markdown", "# Forecast\n\nWhat sells next month, from the orders of the last two years."),
    "import random\n\nrandom.seed(1)\norders = [random.gauss(100, 15) for _ in range(24)]",
    "months = 12\nlevel = sum(orders[-months:]) / months",
    "growth = level / (sum(orders[:months]) / months) - 1\nprint(f'growth: {growth:.1%}')",
    "forecast = level * (1 + growth)\nforecast",
)
MOST_TABS = 80
"""More than any page has to go through."""
NAMES = ("", "orders", "level", "growth", "forecast")


@dataclass
class Desk:
    """A workspace in which ada works with grace and an agent, codex; and the page that ada has open."""

    app: App
    page: Page
    camera: Camera
    agent: Agent
    tokens: dict[str, str]

    def record(self, log: str, *events: dict[str, Any], actor: str = ADA) -> None:
        """Record events in a log."""
        if actor not in self.tokens:
            behalf = ADA if actor == CODEX else None
            self.tokens[actor] = new_token(self.app.folder, actor, "read", "edit", "run", behalf=behalf)
        headers = {"Authorization": f"Bearer {self.tokens[actor]}"}
        with httpx.Client(base_url=self.app.url, headers=headers, timeout=60) as client:
            drafts = [{"id": new_id(), "event": event} for event in events]
            answered(client.post(f"/api/logs/{log}/events", json={"drafts": drafts}))

    def forecast(self, name: str = "Forecast") -> str:
        """Make a notebook with names of cells, and return its log."""
        log = self.app.notebook(name, *FORECAST)
        cells = self.app.read(log)["order"]
        named = zip(cells[1:], NAMES[1:], strict=True)
        self.record(log, *({"type": "cell_named", "cell": cell, "name": each} for cell, each in named))
        return log

    def replaced(self, log: str, number: int, old: str, new: str) -> dict[str, Any]:
        """Return the event that writes a text in the place of another in a cell."""
        now = self.app.read(log)
        cell = now["order"][number]
        at = now["cells"][cell]["source"].index(old)
        return {"type": "source_edited", "cell": cell, "base": now["seq"], "edit": [[at, len(old), new]]}

    def codex(self, log: str) -> Codex:
        """Codex in a notebook, for ada; it asks first."""
        return Codex(self.app, log, behalf=ADA)

    def panel(self, name: str) -> Locator:
        """Open a panel by its button, and return it."""
        self.page.locator("nav[aria-label=Panels]").get_by_role("button", name=name).click()
        made = self.page.locator("[data-rail-panel]")
        expect(made).to_be_visible()
        return made

    def close_panel(self) -> None:
        """Close the panel that is open, so that the next notebook opens without it."""
        self.page.locator("[data-rail-panel]").get_by_role("button", name="Close").click()

    def press(self, target: Locator, key: str = "Enter", page: Page | None = None) -> None:
        """Go to something with Tab alone, and press a key there."""
        keyboard = (page or self.page).keyboard
        expect(target).to_be_visible()
        for _ in range(MOST_TABS):
            if target.evaluate("(it) => it === document.activeElement"):
                return keyboard.press(key)
            keyboard.press("Tab")
        raise AssertionError(f"Tab does not lead to {target}.")

    def hide_secrets(self) -> None:
        """Pictures are kept: a secret is in none."""
        self.page.get_by_role("dialog").locator("pre").evaluate_all(
            "(all) => { for (const it of all) it.textContent = it.textContent.replaceAll(/quire_[\\w-]+/g, 'quire_3t…') }"
        )


Part = Callable[[Desk], None]


@pytest.fixture(scope="module")
def desk(app: App, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The workspace, with nothing in it yet."""
    context = app.context(ADA, *EVERYTHING)
    page = context.new_page()
    camera = Camera(page, pictures_folder(tmp_path_factory.mktemp("screens")).resolve())
    token = new_token(app.folder, CODEX, "read", "edit", "run", behalf=ADA)
    with over_http(app.url, token) as agent:
        yield Desk(app, page, camera, agent, {CODEX: token})
    context.close()


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


# ---- Time


def a_moment_and_two_compared(desk: Desk) -> None:
    app, page = desk.app, desk.page
    log = desk.forecast("Yearly")
    seq = app.read(log)["seq"]
    cells = app.read(log)["order"]
    added = {"type": "cell_added", "cell": "aaaa0002", "after": cells[3], "source": "print(level)"}
    desk.record(
        log, desk.replaced(log, 2, "months = 12", "months = 6"), added, {"type": "cell_removed", "cell": cells[4]}
    )
    page.goto(f"{app.url}/notebooks/{log}?at={seq}")
    expect(page.locator(f"[data-moment='{seq}'][aria-busy=false]")).to_have_count(1)
    desk.camera.study("moment")
    page.goto(f"{app.url}/notebooks/{log}?at=soon")
    expect(page.locator("main")).to_contain_text("is not the number")
    desk.camera.study("moment-wrong")
    page.goto(f"{app.url}/notebooks/{log}/compare?from={seq}")
    expect(page.locator("[data-diff-rows] [data-change]").first).to_be_visible()
    desk.camera.study("moments-compared")
    desk.press(page.get_by_role("link", name=f"Open event {seq}"))
    expect(page).to_have_url(re.compile(rf"at={seq}$"))


# ---- Runs


def runs_in_a_table_and_two_compared(desk: Desk) -> None:
    app, page = desk.app, desk.page
    given = [
        RunLog(
            log=LogId(f"train-{number}"),
            minute=number * 7,
            parameters={
                "month": f"2026-{number + 5:02}",
                "depth": (3, 20, 7, 12, 5, 9)[number],
                "fast": number % 2 == 0,
            },
            results={"accuracy": (0.71, 0.84, 0.79, 0.88, 0.74, 0.9)[number], "day": dt.date(2026, 3, number + 1)},
            seconds=(4, 31, 12, 20, 6, 15)[number],
            actor=ActorId(ADA if number % 2 else CODEX),
            on_behalf_of=None if number % 2 else ActorId(ADA),
        )
        for number in range(6)
    ]
    failed = RunLog(log=LogId("broken"), minute=50, parameters={"depth": 200}, status="error", actor=ActorId(GRACE))
    runs.record(app, [*given, failed])
    runs.show(app, page, "?source=train.py")
    runs.expect_runs(page, "broken", *(each.log for each in reversed(given)))
    desk.camera.study("runs-table")
    runs.filter_by(page, "result.accuracy > 0.75", enter=True)
    runs.expect_runs(page, "train-5", "train-3", "train-2", "train-1")
    page.get_by_role("button", name="Value", exact=True).click()
    expect(page.get_by_role("form", name="Filter by a value")).to_be_visible()
    desk.camera.study("runs-filter")
    page.keyboard.press("Escape")
    for log in ("train-1", "train-3"):
        runs.row(page, log).get_by_role("checkbox").check()
    expect(page.get_by_text("Two runs are selected.")).to_be_visible()
    desk.camera.study("runs-selected")
    page.goto(f"{app.url}/runs?text=nothing+like+this")
    expect(page.get_by_text("No run meets these filters")).to_be_visible()
    desk.camera.study("runs-none")
    page.goto(f"{app.url}/runs/compare?a=train-1&b=train-3")
    expect(page.get_by_text("the code is the same")).to_be_visible()
    desk.camera.study("runs-compared")
    desk.press(page.get_by_role("link", name="Swap a and b"))
    expect(page).to_have_url(re.compile("a=train-3&b=train-1"))


# ---- Reading and sharing


def reading_with_and_without_the_right_to_run(desk: Desk) -> None:
    app, page = desk.app, desk.page
    text = ("markdown", "# Sales of a month\n\nWhich cities sold **most**.")
    cells = ("top = 2  # how many cities", "ranked = ['Basel', 'Bern', 'Chur'][:top]\nprint('first:', *ranked)")
    log = app.notebook("Sales", text, *cells, "from quire.kernel import result\n\nresult('cities', len(ranked))")
    desk.record(log, {"type": "cell_tagged", "cell": app.read(log)["order"][1], "tags": ["parameters"]})
    with app.client() as client:
        for name, role in (("ada", "owner"), ("vera", "viewer")):
            answered(client.post("/api/roles", json={"actor": f"human:{name}", "role": role, "notebook": log}))
    with app.context("human:vera", "read") as context:
        vera = context.new_page()
        camera = Camera(vera, desk.camera.folder)
        camera.faults = desk.camera.faults
        vera.goto(f"{app.url}/read/{log}")
        expect(vera.locator(f"[data-reading='{log}']")).to_contain_text("Which cities sold most.")
        expect(vera.get_by_role("form")).to_have_count(0)
        camera.study("reading-viewer")
        page.goto(f"{app.url}/read/{log}")
        desk.press(page.get_by_label("Viewers may start runs"), "Space")
        expect(page.get_by_label("Viewers may start runs")).to_be_checked()
        desk.camera.study("reading-owner")
        vera.reload()
        desk.press(vera.get_by_role("form", name="Run with parameters").get_by_label("top"), "Control+a", vera)
        vera.keyboard.type("3")
        desk.press(vera.get_by_role("button", name="Run with these values"), page=vera)
        expect(vera.locator("[data-run=success]")).to_be_visible()
        expect(vera.get_by_role("table", name="Results")).to_have_text("cities3")
        camera.study("reading-run")
        desk.press(vera.get_by_role("button", name="Show code"), page=vera)
        expect(vera.locator("[data-source]").first).to_be_visible()
        camera.study("reading-code")
        vera.emulate_media(media="print")
        for hidden in (vera.get_by_role("form"), vera.locator("header")):
            expect(hidden).not_to_be_visible()
        expect(vera.get_by_role("table", name="Results")).to_be_visible()


def sharing_with_people_and_agents(desk: Desk) -> None:
    app, page = desk.app, desk.page
    app.open(page, desk.forecast("Budget"))
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.get_by_role("list", name="People and agents")).to_be_visible()
    desk.camera.study("share")
    page.get_by_role("button", name="Invite a person…").click()
    page.get_by_label("Name", exact=True).fill("katherine")
    desk.camera.study("share-invite")
    page.get_by_role("button", name="Make a link").click()
    expect(page.locator("[data-secret]")).to_be_visible()
    desk.hide_secrets()
    desk.camera.study("share-link")
    page.get_by_role("button", name="I have sent or kept it").click()
    expect(page.get_by_text("katherine is invited until")).to_be_visible()
    page.get_by_role("button", name="Let an agent in…").click()
    page.get_by_label("Name", exact=True).fill("claude")
    desk.camera.study("share-agent")
    page.get_by_role("button", name="Make its token").click()
    expect(page.get_by_label("Your coding agent")).to_have_value("claude-code")
    desk.hide_secrets()
    desk.camera.study("share-agent-line")
    page.get_by_role("button", name="Done").click()


# ---- Settings, keys, tour


def settings_and_the_keys_of_every_page(desk: Desk) -> None:
    app, page = desk.app, desk.page
    for path, words in (("/", "This list"), ("/runs", "Compare the two that are selected"), ("/settings", "This list")):
        page.goto(f"{app.url}{path}")
        expect(page.get_by_role("main")).to_be_visible()
        page.locator("#main").focus()
        page.keyboard.press("?")
        sheet = page.get_by_role("dialog", name="Keys")
        expect(sheet).to_contain_text(words)
        desk.camera.study(f"keys-{path[1:] or 'home'}")
        page.keyboard.press("Escape")
        expect(sheet).to_have_count(0)
    expect(page.locator("[data-browser=this]")).to_be_visible()
    desk.camera.study("settings-all")
    desk.press(page.get_by_role("button", name="New token…"))
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.type("hal")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your coding agent")).to_be_visible()
    desk.hide_secrets()
    desk.camera.study("settings-agent-line")
    desk.press(page.get_by_role("button", name="I have kept it"))


def the_tour(desk: Desk) -> None:
    app, page = desk.app, desk.page
    log = app.notebook("Start here", ("markdown", "# Start here"), "print('hello')", 'chosen = "Pluto"')
    desk.record(log, {"type": "cell_named", "cell": app.read(log)["order"][-1], "name": "lookup"})
    app.open(page, log)
    for number in range(5):
        expect(page.locator(f"[data-tour='{number}']")).to_be_visible()
        for width in (400, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            expect(page.get_by_role("complementary", name="Tour")).to_be_in_viewport(ratio=1)
        desk.camera.study(f"tour-{number + 1}")
        if number < 4:
            desk.press(page.get_by_role("complementary", name="Tour").get_by_role("button", name=re.compile("^Next")))


TALK = (
    lists_without_anything,
    proposals_at_cells_and_in_the_list,
    news_of_others_and_what_they_did,
    a_thread_with_an_agent,
    people_and_agents_who_are_here,
)
REST = (
    a_moment_and_two_compared,
    runs_in_a_table_and_two_compared,
    reading_with_and_without_the_right_to_run,
    sharing_with_people_and_agents,
    settings_and_the_keys_of_every_page,
    the_tour,
)


@pytest.mark.parametrize("story", [TALK, REST], ids=["talk", "rest"])
def test_every_screen_of_working_together_is_readable_by_everyone(desk: Desk, story: Sequence[Part]) -> None:
    """Two tests, since two processes may share them; the first begins with an empty workspace."""
    for part in story:
        part(desk)
    assert "\n".join(desk.camera.faults) == ""
