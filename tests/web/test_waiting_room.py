"""There are as many runtimes as there may be: a notebook whose cells wait for a place says so until they run."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from .app import App, answered
from .notebook import Book


@pytest.mark.slow
@pytest.mark.usefixtures("built")
def test_a_cell_that_waits_for_a_place_says_why_until_it_runs(browser: Browser, tmp_path: Path) -> None:
    app = App(tmp_path, browser, "--no-mirror", environ={"QUIRE_SERVE_MOST_RUNTIMES": "1"})
    try:
        context = app.context()
        first = Book.of(app, context.new_page(), "print(6 * 7)", name="first")
        first.cell(0).locator("[data-source] pre").click()
        first.page.keyboard.press("Shift+Enter")
        expect(first.outputs(0)).to_contain_text("42")

        second = Book.of(app, context.new_page(), "print(7 * 7)", name="second")
        told = second.page.get_by_text("Waits for a place: 1 runtime is running, the most that this workspace allows")
        second.cell(0).locator("[data-source] pre").click()
        second.page.keyboard.press("Shift+Enter")
        expect(told).to_be_visible()
        expect(second.page.locator("header [data-runtime]")).to_have_text("waiting")

        with app.client() as client:
            answered(client.post(f"/api/logs/{first.log}/runtimes/stop"))
        expect(second.outputs(0)).to_contain_text("49")
        expect(told).to_have_count(0)
        context.close()
    finally:
        app.close()
