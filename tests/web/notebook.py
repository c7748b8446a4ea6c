"""A notebook on a page, as tests use it: its cells, what they say, and what the server has of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from playwright.sync_api import Locator, Page, expect

from .app import PATIENCE, App, CellGiven

POLL = 50
"""Milliseconds between two looks at the server."""


class Book:
    """A notebook that is open in a page."""

    def __init__(self, app: App, page: Page, log: str) -> None:
        self.app, self.page, self.log = app, page, log
        app.open(page, log)

    @classmethod
    def of(cls, app: App, page: Page, *cells: CellGiven, name: str = "n") -> Self:
        """Make a notebook, and open it."""
        return cls(app, page, app.notebook(name, *cells))

    # ---- What is on the page

    @property
    def cells(self) -> Locator:
        """All rows."""
        return self.page.locator("[data-cell]")

    def cell(self, number: int) -> Locator:
        """A row, from 0."""
        return self.cells.nth(number)

    @property
    def focused(self) -> Locator:
        """The row that keys act on."""
        return self.page.locator("[data-cell][data-focused]")

    @property
    def editor(self) -> Locator:
        """The text of the cell that is edited."""
        return self.page.locator("[data-edited] .cm-content")

    def foot(self, number: int) -> Locator:
        """The line under a cell."""
        return self.cell(number).locator("[data-foot]")

    def outputs(self, number: int) -> Locator:
        """What a cell shows."""
        return self.cell(number).locator("[data-outputs]")

    def is_at(self, number: int) -> None:
        """Expect the focus on a cell."""
        expect(self.cell(number)).to_have_attribute("data-focused", "true")

    def has_state(self, number: int, state: str) -> None:
        """Expect a state of a cell."""
        expect(self.cell(number)).to_have_attribute("data-state", state)

    # ---- What one does

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def go(self, number: int) -> None:
        """Go to a cell with the pointer: press its gutter."""
        self.cell(number).locator("> div").first.click()
        self.is_at(number)

    def edit(self, number: int, text: str) -> None:
        """Give a cell another text by typing."""
        self.go(number)
        self.press("Enter")
        expect(self.editor).to_be_focused()
        self.press("Control+a")
        self.page.keyboard.type(text)
        self.press("Escape")

    # ---- What the server has

    def read(self) -> list[dict[str, Any]]:
        """The cells that are not removed, as the server has them."""
        now = self.app.read(self.log)
        cells: dict[str, Any] = now["cells"]
        return [cells[cell] for cell in now["order"] if not cells[cell].get("removed")]

    def order(self) -> list[str]:
        """Their ids."""
        now = self.app.read(self.log)
        return [cell for cell in now["order"] if not now["cells"][cell].get("removed")]

    def sources(self) -> list[str]:
        """Their sources."""
        return [cell.get("source", "") for cell in self.read()]

    def until(self, ask: Callable[[], object], wanted: object) -> None:
        """Wait until the server has it so."""
        found: object = None
        for _ in range(PATIENCE // POLL):
            if (found := ask()) == wanted:
                return
            self.page.wait_for_timeout(POLL)
        raise AssertionError(f"It is {found!r}, and not {wanted!r}.")

    def until_sources(self, *wanted: str) -> None:
        """Wait until the server has these sources, and the page its cells in this order: who goes to one next means that."""
        self.until(self.sources, list(wanted))
        self.until(lambda: self.cells.evaluate_all("rows => rows.map((row) => row.dataset.cell)"), self.order())

    def field(self, number: int, name: str) -> object:
        """A field of a cell, as the server has it."""
        return self.read()[number].get(name)
