"""How a test types into cells: where the editor is, what it shows, and what the log has."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from ..journeys.server import until
from .app import App, answered

# The lines as they are shown. What others' carets are drawn with has no text.
SHOWN = "(page) => [...page.querySelectorAll('.cm-line')].map((line) => line.textContent).join('\\n')"


def editor(page: Page) -> Locator:
    """The editor that is open."""
    return page.locator(".cm-content")


def edit(page: Page, index: int = 0) -> Locator:
    """Click into a cell, and return its editor once it has the focus. The cursor is at the end."""
    page.locator("[data-cell]").nth(index).locator("[data-source] pre").click()
    expect(editor(page)).to_be_focused()
    page.keyboard.press("Control+End")
    return editor(page)


def shown(page: Page) -> str:
    """The text in the editor."""
    return page.locator(".cm-editor").evaluate(SHOWN)


def until_shown(page: Page, text: str) -> None:
    """Wait until the editor shows this text."""
    until_true(lambda: shown(page) == text, lambda: shown(page))


def until_true(ask: Callable[[], bool], what: Callable[[], object]) -> None:
    """Wait until it is so. A page's policy forbids `wait_for_function`, which evaluates text in it."""
    try:
        until(ask, "it never was so")
    except AssertionError as fault:
        raise AssertionError(what()) from fault


def paste(page: Page, text: str) -> None:
    """Paste text into what has the focus."""
    page.evaluate(
        """(text) => {
          const data = new DataTransfer()
          data.setData("text/plain", text)
          const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
          document.activeElement.dispatchEvent(event)
        }""",
        text,
    )


def until_recorded(app: App, log: str, *sources: str) -> None:
    """Wait until the log has these sources."""
    until_true(lambda: app.sources(log) == list(sources), lambda: app.sources(log))


def edits(app: App, log: str) -> int:
    """How many edits of sources the log has."""
    with app.client() as client:
        page = answered(client.get(f"/api/logs/{log}/events", params={"types": "source_edited"}))
    return len(page["entries"])
