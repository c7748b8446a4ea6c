"""The page moves only because of what its reader did; and a large notebook is there at once, all of it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from .app import App, answered
from .notebook import Book

pytestmark = pytest.mark.slow

GROWS = "import time\nfor i in range(30):\n    print('line', i, flush=True)\n    time.sleep(0.02)"
FILLER = [f"x{number} = {number}\nx{number} + 1\n# more" for number in range(30)]
# Where the focused cell stood, in every frame since it was asked for first.
WATCH = """() => {
  const top = () => Math.round(document.querySelector("[data-cell][data-focused]").getBoundingClientRect().top)
  window.tops = new Set([top()])
  const look = () => { window.tops.add(top()); requestAnimationFrame(look) }
  look()
}"""


def run_by_another(book: Book, number: int) -> None:
    """Somebody else asks for a cell, and it ends."""
    cell = book.read()[number]["id"]
    with book.app.client("human:eve") as client:
        asked = answered(client.post(f"/api/notebooks/{book.log}/executions", json={"cells": [{"cell": cell}]}))[
            "executions"
        ]
    book.until(lambda: asked[0] in str(book.field(number, "execution")), True)
    book.has_state(number, "ok")


@pytest.mark.parametrize("edits", [False, True])
@pytest.mark.parametrize("place", [0, len(FILLER) + 1])
def test_the_focused_cell_stays_where_it_is_while_outputs_above_it_grow(
    app: App, page: Page, place: int, edits: bool
) -> None:
    """Far above, where it cannot be seen, and right above, where it can."""
    book = Book.of(app, page, GROWS, *FILLER, GROWS, "a = 1", "b = 2")
    book.press("End", "k")
    book.is_at(len(FILLER) + 2)
    if edits:
        book.press("Enter")
        expect(book.editor).to_be_focused()
    page.evaluate(WATCH)
    run_by_another(book, place)
    expect(book.outputs(place)).to_contain_text("line 29")
    assert len(page.evaluate("[...window.tops]")) == 1


def test_a_thousand_cells_are_in_the_page_and_found_by_the_keyboard(app: App, page: Page) -> None:
    cells = [("markdown", f"## Part {at}") if at % 5 == 0 else ("code", f"value_{at} = {at}") for at in range(1000)]
    book = Book.of(app, page, *cells)
    expect(book.cells).to_have_count(1000)
    assert page.evaluate("document.body.textContent.includes('value_999 = 999')")
    book.press("End")
    book.is_at(999)
    expect(book.cell(999)).to_be_in_viewport()
    book.press("Enter")
    expect(book.editor).to_be_focused()
    page.keyboard.type(" + 1")
    book.press("Escape", "Home")
    expect(book.cell(0)).to_be_in_viewport()
    book.until(lambda: book.sources()[999], "value_999 = 999 + 1")


def test_what_was_typed_before_the_editor_was_loaded_is_typed(app: App, page: Page) -> None:
    log = app.notebook("slow", "x = ")
    # The editor's code comes late, as over a slow network.
    held: list[Route] = []
    page.route("**/assets/EditedCell-*.js", lambda route: held.append(route))
    book = Book(app, page, log)
    book.press("Enter")
    page.keyboard.type("42")
    expect(page.locator("[data-edited]")).to_have_count(1)
    for route in held:
        route.continue_()
    expect(book.editor).to_be_focused()
    page.keyboard.type("!")
    book.press("Escape")
    book.until_sources("x = 42!")
