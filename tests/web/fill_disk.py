"""Run on a small disk: somebody types into a notebook and runs it while the disk is full, and goes on when there is room."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx
from playwright.sync_api import expect

from ..journeys.fill_disk import fill
from ..journeys.server import until
from .app import App, answered, chromium
from .editor_actions import edit, until_recorded

TOLD = (
    "Nothing can be saved right now: the disk of the server is full. "
    "What you do is kept in this browser and is sent when there is room."
)


def main(disk: Path) -> None:
    with chromium() as browser:
        app = App(disk, browser, "--no-mirror")
        try:
            _type_while_full(app, disk)
        finally:
            (disk / "ballast").unlink(missing_ok=True)
            app.close()
    sys.stdout.write("recorded\n")


def _type_while_full(app: App, disk: Path) -> None:
    log = app.notebook("full", "x = 40", "print(x)")
    context = app.context()
    page = app.open(context.new_page(), log)
    told = page.get_by_text(TOLD)
    edit(page)
    page.keyboard.type(" + 1")
    until_recorded(app, log, "x = 40 + 1", "print(x)")

    ballast = fill(disk)
    until(lambda: httpx.get(f"{app.url}/health").status_code == 503, "the disk is not full")
    page.keyboard.type(" + 1")
    page.keyboard.press("Shift+Enter")
    expect(told).to_be_visible()
    edit(page, 1)
    page.keyboard.press("Home")
    page.keyboard.type("if x: ")
    # Neither a page that is loaded again nor the next try takes anything back.
    page.reload()
    expect(told).to_be_visible()
    cells = page.locator("[data-cell] [data-source]")
    expect(cells.nth(0)).to_have_text("x = 40 + 1 + 1")
    expect(cells.nth(1)).to_have_text("if x: print(x)")
    assert app.sources(log) == ["x = 40 + 1", "print(x)"]

    ballast.unlink()
    until_recorded(app, log, "x = 40 + 1 + 1", "if x: print(x)")
    expect(told).to_have_count(0)
    edit(page, 1)
    page.keyboard.press("Shift+Enter")
    expect(page.locator("[data-cell]").nth(1).locator("[data-outputs]")).to_contain_text("42")
    with app.client() as client:
        asked = answered(client.get(f"/api/logs/{log}/events", params={"types": "execution_requested"}))
    assert len(asked["entries"]) == 2, "each of the two runs once"
    context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
