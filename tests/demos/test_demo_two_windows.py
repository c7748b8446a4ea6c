"""Two people in one notebook: both see each other's edits, cursors and outputs."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from ..web.app import App
from ..web.node import needs_packages
from ..web.notebook import Book
from .film import film

pytestmark = [needs_packages, pytest.mark.slow]


def test_two_windows_edit_and_run_and_show_the_same(app: App) -> None:
    log = app.notebook("Rivers", ("markdown", "# Rivers"), "lengths = {'Rhine': 1233}", "print('not yet')")
    ada, grace = (
        Book(app, app.context(actor, "read", "edit", "run").new_page(), log) for actor in ("human:ada", "human:grace")
    )
    with film("3-two-windows", windows=2) as shown:
        shown.show(ada.page, 0)
        shown.show(grace.page, 1)
        shown.tell(ada.page, "Left: Ada. Right: Grace. One notebook, one kernel.")
        ada.go(1)
        ada.press("Enter", "Control+End", "ArrowLeft")
        expect(ada.editor).to_be_focused()
        grace.go(1)
        grace.press("Enter", "Control+Home")
        expect(grace.editor).to_be_focused()
        shown.tell(ada.page, "Both type into the same cell at once: cursors have names, and no letter is lost.")
        for mine, theirs in zip(", 'Aare': 288", "# in kilometres\n", strict=False):
            ada.page.keyboard.type(mine)
            grace.page.keyboard.type(theirs)
            shown.rest(ada.page, 0.1)
        grace.page.keyboard.type("# in kilometres\n"[len(", 'Aare': 288") :])
        wanted = "# in kilometres\nlengths = {'Rhine': 1233, 'Aare': 288}"
        ada.until(lambda: ada.sources()[1], wanted)
        for book in (ada, grace):
            expect(book.cell(1).locator(".cm-line").last).to_have_text(wanted.splitlines()[1])
        expect(ada.page.locator(".cm-peerCaret")).to_have_attribute("data-name", "grace")
        expect(grace.page.locator(".cm-peerCaret")).to_have_attribute("data-name", "ada")
        shown.take(ada.page, "cursors")
        shown.rest(ada.page, 1.5)
        ada.press("Escape")
        grace.press("Escape")
        shown.tell(ada.page, "Grace changes the last cell and runs all; Ada sees every output as it comes.")
        grace.edit(2, "for river, km in lengths.items():\n    print(river, km)")
        ada.until(lambda: "river, km" in ada.sources()[2], True)
        grace.press("Control+k")
        grace.page.keyboard.type("Run all")
        expect(grace.page.get_by_role("combobox")).to_have_value("Run all")
        grace.press("Enter")
        for book in (ada, grace):
            book.has_state(2, "ok")
            expect(book.outputs(2)).to_contain_text("Rhine 1233")
            expect(book.outputs(2)).to_contain_text("Aare 288")
        expect(ada.foot(2)).to_contain_text("grace")
        shown.tell(ada.page, "And below each cell stands who ran it.", 2.5)
    ada.page.context.close()
    grace.page.context.close()
