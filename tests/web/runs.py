"""The table of runs as tests use it: filled in the store, read by its rows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlparse

from playwright.sync_api import Locator, Page, expect

from quire.stores.sqlite.sqlite_store import SqliteStore

from ..run_logs import RunLog, run_append
from .app import App


def record(app: App, runs: Sequence[RunLog]) -> None:
    """Put runs into the store of a server that is running."""

    async def append() -> None:
        store = SqliteStore(app.folder / ".quire" / "quire.db")
        await store.append([run_append(run) for run in runs])
        await store.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(append())).result()


def show(app: App, page: Page, search: str = "") -> Page:
    """Open the page of runs, and wait for its table."""
    page.goto(f"{app.url}/runs{search}")
    expect(page.get_by_role("table", name="Runs")).to_be_visible()
    return page


def expect_runs(page: Page, *logs: str) -> None:
    """Wait until these runs are shown, in this order."""
    rows = page.locator("tbody [data-row]")
    expect(rows).to_have_count(len(logs))
    for place, log in enumerate(logs):
        expect(rows.nth(place)).to_have_attribute("data-run", log)


def row(page: Page, log: str) -> Locator:
    """The row of a run."""
    return page.locator(f"[data-run='{log}']")


def asked(page: Page) -> dict[str, list[str]]:
    """What the address asks for."""
    return parse_qs(urlparse(page.url).query)


def filter_by(page: Page, text: str, *, enter: bool = False) -> None:
    """Type into the filter."""
    field = page.get_by_role("searchbox")
    field.fill(text)
    if enter:
        field.press("Enter")
