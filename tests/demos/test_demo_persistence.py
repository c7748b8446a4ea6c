"""Work outlives its watchers: the browser itself is closed in the middle of a long cell, and a new one has all of it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from ..web.app import App, launch
from ..web.node import needs_packages
from ..web.notebook import Book
from .film import film

pytestmark = [needs_packages, pytest.mark.slow]

LONG = """\
import pathlib, time
for step in range(1, 41):
    print(f"step {step} of 40", "▪" * step, flush=True)
    time.sleep(0.25)
while not pathlib.Path("enough").exists():
    time.sleep(0.02)
print("done: nothing was lost")"""


def test_a_cell_goes_on_when_the_browser_itself_is_closed(app: App) -> None:
    """Rule 11."""
    log = app.notebook("A long computation", ("markdown", "# A long computation\n\nTen seconds, and longer."), LONG)
    with film("2-persistence") as shown:
        with launch(app.browser.browser_type) as browser:
            book = Book(app, app.context("human:ada", browser=browser).new_page(), log)
            shown.show(book.page)
            shown.tell(book.page, "Ada starts a long cell with Ctrl-Enter.")
            book.go(1)
            book.press("Control+Enter")
            book.has_state(1, "running")
            expect(book.outputs(1)).to_contain_text("step 5 of 40")
            shown.tell(book.page, "Now she closes the browser: not the tab, the whole program.", 2)
        with launch(app.browser.browser_type) as browser:
            book = Book(app, app.context("human:ada", browser=browser).new_page(), log)
            shown.show(book.page)
            shown.tell(book.page, "A new browser, later: every line is there, and the cell still runs.", 1)
            book.has_state(1, "running")
            expect(book.outputs(1)).to_contain_text("step 40 of 40")
            shown.take(book.page, "persistence")
            shown.rest(book.page, 1)
            (app.folder / "enough").touch()
            book.has_state(1, "ok")
            shown.tell(book.page, "It ends as if nobody had left.", 2)
            printed = book.read()[1]["execution"]["outputs"][0]["head"]
            steps = [f"step {step} of 40 {'▪' * step}" for step in range(1, 41)]
            assert printed.splitlines() == [*steps, "done: nothing was lost"], "every line, once"
