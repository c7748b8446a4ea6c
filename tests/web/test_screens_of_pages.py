"""Every page beside the notebook, looked at: moments, runs, reading, sharing, settings, the keys of each, and the tour.

As test_screens_together.py does it, in a workspace of its own.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from quire.core.ids import ActorId, LogId

from ..run_logs import RunLog
from . import runs
from .app import App, answered
from .camera import Camera
from .desk import ADA, CODEX, GRACE, Desk, opened_desk
from .node import needs_packages

pytestmark = [needs_packages, pytest.mark.slow]


@pytest.fixture
def desk(app: App, tmp_path: Path) -> Iterator[Desk]:
    """The workspace, with nothing in it yet."""
    with opened_desk(app, tmp_path) as made:
        yield made


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


STORY = (
    a_moment_and_two_compared,
    runs_in_a_table_and_two_compared,
    reading_with_and_without_the_right_to_run,
    sharing_with_people_and_agents,
    settings_and_the_keys_of_every_page,
    the_tour,
)


def test_every_screen_of_a_page_is_readable_by_everyone(desk: Desk) -> None:
    """One test, since all of them share a workspace."""
    for part in STORY:
        part(desk)
    assert "\n".join(desk.camera.faults) == ""
