"""How the notebook page looks and reads, in light, dark and narrow: pictures are left in build/screenshots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from .app import App
from .axe import serious
from .node import WEB
from .notebook import Book

pytestmark = pytest.mark.slow

PICTURES = WEB.parent / "build" / "screenshots"
CELLS = (
    (
        "markdown",
        "# Sales by region\n\nWhat sold **where**, and how sure we are: $\\sigma^2 = 1.5$.\n\n- two files\n- one month",
    ),
    "import time\n\nrows = {'north': 12, 'south': 30}\nprint(len(rows), 'regions')",
    "total = sum(rows.values())\ntotal",
    "def share(region):\n    return rows[region] / total\n\nshare('east')",
    "print('not reached')",
    ("sql", "select 1 as a, 'north' as region"),
    "time.sleep(120)",
    "month = input('Month? ')",
    ("raw", "kept as it is"),
)


@pytest.fixture(scope="module")
def log(app: App) -> str:
    """A notebook whose cells are in many states."""
    return app.notebook("Sales by region", *CELLS)


@pytest.fixture(
    params=[("light", 1200), ("dark", 1200), ("light", 400), ("dark", 400)], ids=lambda given: f"{given[0]}-{given[1]}"
)
def screen(request: pytest.FixtureRequest, app: App) -> Iterator[Page]:
    """A page in one of the looks."""
    scheme: Literal["light", "dark"]
    scheme, width = request.param
    context = app.context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    yield context.new_page()
    context.close()


def picture(page: Page, name: str) -> None:
    """Keep a picture of the page, by what it shows and how."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    size = page.viewport_size
    scheme = "dark" if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else "light"
    page.screenshot(path=PICTURES / f"{name}-{scheme}-{size['width'] if size else 0}.png", animations="disabled")


def in_states(book: Book) -> None:
    """Bring the cells into states, if no test has yet."""
    if book.cell(1).get_attribute("data-state") == "never_run":
        book.go(1)
        book.press("Shift+Enter", "Shift+Enter")
        book.has_state(2, "ok")
        book.go(3)
        book.press("Shift+ArrowDown", "Control+Enter")
        book.has_state(4, "skipped")
        book.go(6)
        book.press("Shift+Enter", "Shift+Enter")
        book.edit(1, "import time\n\nrows = {'north': 12, 'south': 31}\nprint(len(rows), 'regions')")
    for number, state in ((3, "error"), (4, "skipped"), (6, "running"), (7, "queued")):
        book.has_state(number, state)
    expect(book.cell(2)).to_have_attribute("data-stale", "true")


def fits(page: Page) -> bool:
    """Whether nothing is wider than the page."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_each_part_of_the_page_is_read_out_and_nothing_is_cut_off(app: App, log: str, screen: Page) -> None:
    book = Book(app, screen, log)
    in_states(book)
    book.go(0)
    screen.mouse.move(0, 0)
    picture(screen, "notebook")
    assert (serious(screen), fits(screen)) == ([], True)
    book.go(4)
    book.press("Shift+ArrowDown")
    picture(screen, "notebook-selected")
    assert serious(screen) == []
    book.press("j", "Enter")
    expect(book.editor).to_be_focused()
    picture(screen, "notebook-editing")
    assert (serious(screen), fits(screen)) == ([], True)
    book.press("Escape", ".")
    expect(screen.get_by_role("menuitem", name="Duplicate")).to_be_visible()
    picture(screen, "notebook-cell-menu")
    assert serious(screen) == []
    book.press("Escape", "?")
    expect(screen.get_by_role("dialog", name="Keys")).to_be_visible()
    picture(screen, "notebook-keys")
    assert serious(screen) == []
    book.press("Escape", "Control+k")
    expect(screen.get_by_role("combobox")).to_be_focused()
    picture(screen, "notebook-palette")
    assert serious(screen) == []
    book.press("Escape", "0", "0")
    expect(screen.get_by_role("dialog", name="Restart the kernel?")).to_be_visible()
    picture(screen, "notebook-question")
    assert serious(screen) == []


def test_an_empty_notebook_says_what_to_do(app: App, screen: Page) -> None:
    log = app.notebook("Empty")
    app.open(screen, log)
    expect(screen.get_by_text("An empty notebook. Add the first cell:")).to_be_visible()
    picture(screen, "notebook-empty")
    assert serious(screen) == []
    screen.get_by_role("button", name="Markdown").click()
    expect(screen.locator("[data-edited] .cm-content")).to_be_focused()


def test_a_notebook_that_is_not_there_says_so(app: App, screen: Page) -> None:
    screen.goto(f"{app.url}/notebooks/01JZZZZZZZZZZZZZZZZZZZZZZZ")
    expect(screen.get_by_text("There is no notebook at")).to_be_visible()
    assert serious(screen) == []
