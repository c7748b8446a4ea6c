"""The page at `/`, in a real browser: signed in by the fragment, without anything from elsewhere."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, async_playwright, expect

from quire.core import events as e
from quire.core.events import Draft
from quire.core.ids import CellId, LogId
from quire.stores.blobs_memory import MemoryBlobs
from quire.stores.sqlite import SqliteStore
from quire.workspace import access
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from ...serving import Server, served

HOSTILE = "<img src=x onerror=alert(1)>"
PATIENCE = 20_000


class Opened:
    """A browser on a server, and what it complained about."""

    def __init__(self, page: Page, server: Server, workspace: LocalWorkspace) -> None:
        self.page, self.server, self.workspace = page, server, workspace
        self.complaints: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))

    async def sign_in(self, more: str = "") -> str:
        made = await self.workspace.create_sign_in()
        address = f"{self.server.url}/#sign-in={made.secret}{more}"
        await self.page.goto(address)
        return address


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[LocalWorkspace]:
    made = LocalWorkspace(SqliteStore(tmp_path / "quire.db"), MemoryBlobs(), access.owner())
    yield made
    await made.close()


@pytest.fixture
async def opened(workspace: LocalWorkspace) -> AsyncIterator[Opened]:
    chromium: Any = shutil.which("chromium")
    assert chromium is not None, "`make test` installs Chromium"
    async with served(workspace) as server, async_playwright() as play:
        browser = await play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            context = await browser.new_context(color_scheme="dark", viewport={"width": 320, "height": 640})
            context.set_default_timeout(PATIENCE)
            yield Opened(await context.new_page(), server, workspace)
        finally:
            await browser.close()


async def write(workspace: LocalWorkspace, name: str) -> LogId:
    log = LogId(new_id())
    events = [e.NotebookCreated(name=name), e.CellAdded(cell=CellId("a"), after=None, source="1")]
    await workspace.submit(log, [Draft(id=new_id(), event=event) for event in events])
    return log


async def test_the_fragment_signs_in_once_and_leaves_the_address(opened: Opened) -> None:
    log = await write(opened.workspace, "sales")
    await write(opened.workspace, HOSTILE)
    address = await opened.sign_in(f"&notebook={log}")
    page = opened.page
    await expect(page.locator("#who")).to_contain_text(f"You are {opened.workspace.identity.actor}")
    assert page.url == f"{opened.server.url}/", "the token is in no history"
    await expect(page.get_by_role("row")).to_have_count(3)
    await expect(page.get_by_role("rowheader", name=HOSTILE)).to_be_visible()
    await expect(page.locator("tr.chosen")).to_contain_text("sales")
    await expect(page.locator("tr.chosen")).to_contain_text("never run")
    assert opened.complaints == []
    assert all(url.startswith(opened.server.url) for url in opened.asked if not url.startswith("data:")), opened.asked
    await page.reload()
    # The cookie is enough from now on.
    await expect(page.locator("#who")).to_contain_text("You are human:")
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_role("heading", name="You are not signed in")).to_be_visible()
    await page.goto("about:blank")
    await page.goto(address)
    await expect(page.get_by_role("heading", name="You are not signed in")).to_be_visible()
    await expect(page.locator("#why")).to_contain_text("revoked")


async def test_nobody_signed_in_is_told_what_to_do(opened: Opened) -> None:
    await opened.page.goto(opened.server.url)
    await expect(opened.page.get_by_text("quire open")).to_be_visible()
    await expect(opened.page.get_by_role("button", name="Sign out")).to_be_hidden()


async def test_it_fits_a_narrow_window_a_dark_one_and_a_keyboard(opened: Opened) -> None:
    await write(opened.workspace, "a-name-that-is-so-long-that-it-cannot-stand-in-one-line-of-a-telephone" * 2)
    await opened.sign_in()
    page = opened.page
    await expect(page.get_by_role("rowheader")).to_be_visible()
    wide: int = await page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 320, "nothing stands out to the right"
    paper: str = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(21, 24, 27)"
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="To the notebooks")).to_be_focused()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("button", name="Sign out")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="You are not signed in")).to_be_visible()


async def test_no_script_of_anybody_else_may_run_on_it(opened: Opened) -> None:
    answer = await opened.page.goto(opened.server.url)
    assert answer is not None
    policy = await answer.header_value("content-security-policy")
    assert policy is not None and "default-src 'none'" in policy and "unsafe" not in policy
    await opened.page.evaluate(
        "const made = document.createElement('script'); made.textContent = 'window.ran = 1'; document.body.append(made)"
    )
    assert await opened.page.evaluate("window.ran") is None
