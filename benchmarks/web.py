"""The web app beside JupyterLab, in the same Chromium, by turns, each time with a new profile.

Both open the same file of a thousand cells: 800 of code with six lines of output, 200 of Markdown. JupyterLab is as it
installs itself, without real-time collaboration, on an empty workspace (`?reset`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
from playwright.async_api import Browser, BrowserContext, Page

from .browser import (
    Scripts,
    chromium,
    first_cells,
    heap_bytes,
    keystrokes,
    listen_for_keys,
    longest_task,
    new_profile,
    typed,
)
from .figures import Figure
from .jupyter import SECRET, jupyter
from .peers import OURS, environ
from .runtimes import end_runtimes

CELLS, FEW = 1000, 10
ROUNDS = 5
TURNS, KEYS_IN_TURN = 8, 25
"""A key waits for the next frame, up to 17 ms: medians of fewer keys differ by more than what is looked for."""
LINES_PER_SECOND, PRINTING_SECONDS = 5000, 10
TYPING_SECONDS, KEYS_PER_SECOND = 60, 5
BUSY = 1.0
THEIRS = "JupyterLab"
OUR_CELL, THEIR_CELL = "[data-cell]", ".jp-Cell"
PRINTING = f"""import time
start = time.monotonic()
for tick in range({PRINTING_SECONDS * 50}):
    for line in range({LINES_PER_SECOND // 50}):
        print(f"measured {{tick}} {{line}} of a long output")
    time.sleep(max(0, start + (tick + 1) / 50 - time.monotonic()))
"""

# Only the last lines are in the page while a cell runs.
_PRINTED = """(tick) => {
  const lines = document.querySelector("[data-cell]").textContent.matchAll(/measured (\\d+) \\d+ of a long/g)
  return [...lines].some((line) => Number(line[1]) >= tick)
}"""


async def web_figures() -> list[Figure]:
    """All but keys, which take as long as the rest together."""
    async with _hosts() as (browser, ours, theirs):
        return [
            *await _sizes(browser, ours, theirs),
            *await _opening(browser, ours, theirs),
            *await _printing(browser, ours),
            await _events_of_a_minute(browser, ours),
        ]


async def web_key_figures() -> list[Figure]:
    """A key in a long notebook, in a short one, and in JupyterLab."""
    async with _hosts() as (browser, ours, theirs):
        return await _typing(browser, ours, theirs)


@contextlib.asynccontextmanager
async def _hosts() -> AsyncGenerator[tuple[Browser, Host, Host]]:
    """A browser, Quire and JupyterLab, in a folder that is removed afterwards."""
    load = os.getloadavg()[0]
    if load > BUSY:
        sys.stderr.write(f"The machine is busy (load {load:.1f}): these figures are not to be trusted.\n")
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            browser = await stack.enter_async_context(chromium())
            ours = await stack.enter_async_context(quire(Path(folder, "ours")))
            theirs = await stack.enter_async_context(jupyterlab(Path(folder, "theirs")))
            yield browser, ours, theirs


# ---- Two servers with the same notebooks


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """A server, and the addresses of its notebooks by how many cells they have."""

    urls: dict[str, str]
    cell: str
    """The selector of a cell."""
    folder: Path
    sign_in: str = ""

    async def page(self, context: BrowserContext) -> Page:
        """A new page of a browser that may come in."""
        page = await context.new_page()
        if self.sign_in:
            words = ("open", "--print", "--json")
            await page.goto(json.loads(await _quire(self.folder, *words))["url"])
            await page.wait_for_function("localStorage.getItem('quire-page-key') !== null")
        return page


def notebook(cells: int) -> dict[str, Any]:
    """A notebook as nbformat has it: of five cells four are code, with outputs."""
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "cells": [_cell(number) for number in range(cells)],
    }


def _cell(number: int) -> dict[str, Any]:
    if number % 5 == 4:
        source = f"## Part {number}\n\nWhat was *measured* in part {number}, with `code` and **words**."
        return {"cell_type": "markdown", "id": f"c{number:04}", "metadata": {}, "source": source}
    source = f"measured_{number} = [value * {number} for value in range(6)]\nfor value in measured_{number}:\n    print('measured', value)"
    text = "".join(f"measured {value * number}\n" for value in range(6))
    output = {"output_type": "stream", "name": "stdout", "text": text}
    common: dict[str, Any] = {"id": f"c{number:04}", "metadata": {}, "source": source}
    return {"cell_type": "code", "execution_count": number + 1, "outputs": [output], **common}


def _write(folder: Path) -> dict[str, Path]:
    folder.mkdir()
    printing: dict[str, Any] = {
        "cell_type": "code",
        "id": "print",
        "metadata": {},
        "source": PRINTING,
        "outputs": [],
        "execution_count": None,
    }
    made: dict[str, dict[str, Any]] = {
        "many": notebook(CELLS),
        "few": notebook(FEW),
        "printing": notebook(FEW) | {"cells": [printing, *notebook(FEW)["cells"]]},
        "typing": notebook(FEW),
    }
    paths = {name: folder / f"{name}.ipynb" for name in made}
    for name, content in made.items():
        paths[name].write_text(json.dumps(content))
    return paths


@contextlib.asynccontextmanager
async def quire(folder: Path) -> AsyncGenerator[Host]:
    """`quire serve`, with the notebooks."""
    paths = _write(folder)
    await _quire(folder, "init")
    logs = {
        name: json.loads(await _quire(folder, "import", path.name, "--json"))["log"] for name, path in paths.items()
    }
    async with serving(folder) as host:
        base = host.urls["home"]
        urls = {name: f"{base}notebooks/{log}" for name, log in logs.items()}
        yield msgspec.structs.replace(host, urls=urls)


@contextlib.asynccontextmanager
async def serving(folder: Path) -> AsyncGenerator[Host]:
    """`quire serve` on a folder."""
    words = ("serve", "--no-browser", "--json", "--port", "0")
    process = await asyncio.create_subprocess_exec(
        OURS / "quire", *words, cwd=folder, env=_environ(), stdout=PIPE, stderr=DEVNULL
    )
    try:
        assert process.stdout is not None
        port = json.loads(await process.stdout.readline())["port"]
        base = f"http://127.0.0.1:{port}/"
        yield Host(urls={"home": base, "runs": f"{base}runs"}, cell=OUR_CELL, folder=folder, sign_in="yes")
    finally:
        process.terminate()
        await process.wait()
        await end_runtimes(folder)


async def _quire(folder: Path, *words: str) -> bytes:
    process = await asyncio.create_subprocess_exec(
        OURS / "quire", *words, cwd=folder, env=_environ(), stdout=PIPE, stderr=DEVNULL
    )
    return (await process.communicate())[0]


def _environ() -> dict[str, str]:
    return {name: value for name, value in environ().items() if not name.startswith("QUIRE_")}


@contextlib.asynccontextmanager
async def jupyterlab(folder: Path) -> AsyncGenerator[Host]:
    """JupyterLab, without the news that it would fetch."""
    paths = _write(folder)
    flags = ("--ServerApp.jpserver_extensions=jupyterlab=True", "--YDocExtension.disable_rtc=True")
    async with jupyter(folder, *flags) as server:
        base = f"http://127.0.0.1:{server.port}/lab/tree"
        urls = {name: f"{base}/{path.name}?reset&token={SECRET}" for name, path in paths.items()}
        yield Host(urls=urls, cell=THEIR_CELL, folder=folder)


# ---- What is measured


# The editor is fetched when the page has nothing to do: a reader's page, which has shown all it shows, has not got it yet.
_NEVER_IDLE = "window.requestIdleCallback = () => 0"


async def _sizes(browser: Browser, ours: Host, theirs: Host) -> list[Figure]:
    async with new_profile(browser) as context:
        page = await ours.page(context)
        # From here on nothing is in its cache but what signing in has fetched: a second profile would sign in again.
        await _forget_cache(page)
        await page.add_init_script(_NEVER_IDLE)
        scripts = Scripts(page)
        await first_cells(page, ours.urls["few"], ours.cell)
        await page.wait_for_load_state("networkidle")
        read = await scripts.sent()
        await _edit(page, ours)
        await page.wait_for_load_state("networkidle")
        edit, gzipped = await scripts.sent(), await scripts.gzipped()
    async with new_profile(browser) as context:
        page = await theirs.page(context)
        scripts = Scripts(page)
        await first_cells(page, theirs.urls["few"], theirs.cell)
        await page.wait_for_load_state("networkidle")
        their = await scripts.gzipped()
    return [
        Figure(
            name="JavaScript to read, as sent", ours=read / 1000, unit=" kB", target="< 250 kB", good=read < 250_000
        ),
        Figure(
            name="JavaScript to edit, as sent", ours=edit / 1000, unit=" kB", target="< 400 kB", good=edit < 400_000
        ),
        Figure(name="the same, both with gzip", ours=gzipped / 1000, unit=" kB", floor=their / 1000, floor_name=THEIRS),
    ]


async def _forget_cache(page: Page) -> None:
    session: Any = await page.context.new_cdp_session(page)
    await session.send("Network.clearBrowserCache")
    await session.detach()


async def _opening(browser: Browser, ours: Host, theirs: Host) -> list[Figure]:
    times: dict[str, list[float]] = {OUR_CELL: [], THEIR_CELL: []}
    for _ in range(ROUNDS):
        for host in (ours, theirs):
            async with new_profile(browser) as context:
                page = await host.page(context)
                await _forget_cache(page)
                times[host.cell].append(await first_cells(page, host.urls["many"], host.cell))
    mine, other = (median(each) for each in times.values())
    name = f"first cells of {CELLS:,}"
    target = "≤ ¼ of theirs"
    return [
        Figure(name=name, ours=mine, unit="s", floor=other, floor_name=THEIRS, target=target, good=mine * 4 <= other)
    ]


async def _edit(page: Page, host: Host) -> None:
    """Put the cursor into the second cell."""
    cell = page.locator(host.cell).nth(1)
    await cell.locator(".jp-InputArea-editor, [data-source]").first.click()
    await page.wait_for_selector(".cm-focused, .jp-mod-editMode .cm-content")


async def _typing(browser: Browser, ours: Host, theirs: Host) -> list[Figure]:
    keys: dict[str, list[float]] = {"few": [], "many": [], "their": []}
    for _ in range(ROUNDS):
        async with AsyncExitStack() as stack:
            pages: dict[str, Page] = {}
            for name, host, which in (("few", ours, "few"), ("many", ours, "many"), ("their", theirs, "many")):
                context = await stack.enter_async_context(new_profile(browser))
                pages[name] = await _edited_page(context, host, which)
            for turn in range(TURNS):
                # There and back: none of them is always the first.
                for name in pages if turn % 2 == 0 else reversed(pages):
                    await pages[name].bring_to_front()
                    keys[name] += await typed(pages[name], KEYS_IN_TURN)
    few, many, their = (median(each) for each in keys.values())
    return [
        Figure(
            name=f"a key in {CELLS:,} cells, p50",
            ours=many,
            unit="s",
            floor=few,
            floor_name=f"in {FEW}",
            target="≤ 1.2 ×",
            good=many <= 1.2 * few,
        ),
        Figure(
            name="the same", ours=many, unit="s", floor=their, floor_name=THEIRS, target="≤ theirs", good=many <= their
        ),
    ]


async def _edited_page(context: BrowserContext, host: Host, which: str) -> Page:
    """A page with the cursor in a cell, in which keys are timed."""
    page = await host.page(context)
    await first_cells(page, host.urls[which], host.cell)
    await page.wait_for_load_state("networkidle")
    await _edit(page, host)
    await listen_for_keys(page)
    return page


async def _printing(browser: Browser, ours: Host) -> list[Figure]:
    async with new_profile(browser) as context:
        page = await ours.page(context)
        await first_cells(page, ours.urls["printing"], ours.cell)
        await page.locator(ours.cell).first.click()
        await page.keyboard.press("Escape")
        await page.keyboard.press("Control+Enter")
        await page.wait_for_function(_PRINTED, arg=50)
        await longest_task(page, reset=True)
        before = await heap_bytes(page)
        await longest_task(page, reset=True)  # the collection itself is none of ours
        await page.locator(ours.cell).nth(3).locator("[data-source]").click()
        keys = await keystrokes(page, count=160, pause_milliseconds=30)
        longest = await longest_task(page)
        await page.wait_for_function(_PRINTED, arg=PRINTING_SECONDS * 50 - 1)
        after = await heap_bytes(page)
    growth = (after - before) / 1e6
    return [
        Figure(
            name=f"{LINES_PER_SECOND:,} lines/s: longest task",
            ours=longest,
            unit="s",
            target="≤ 100 ms",
            good=longest <= 0.1,
        ),
        Figure(name="a key elsewhere meanwhile, p95", ours=keys.p95, unit="s", target="< 80 ms", good=keys.p95 < 0.08),
        Figure(name="memory that the page gained", ours=growth, unit=" MB", target="< 5 MB", good=growth < 5),
    ]


async def _events_of_a_minute(browser: Browser, ours: Host) -> Figure:
    async with new_profile(browser) as context:
        page = await ours.page(context)
        await first_cells(page, ours.urls["typing"], ours.cell)
        await _edit(page, ours)
        for number in range(TYPING_SECONDS * KEYS_PER_SECOND):
            await page.keyboard.press("abcdefghij"[number % 10])
            await page.wait_for_timeout(1000 / KEYS_PER_SECOND)
        await page.keyboard.press("Escape")
        await page.wait_for_function("!document.body.textContent.includes('not saved')")
    with contextlib.closing(sqlite3.connect(ours.folder / ".quire" / "quire.db")) as database:
        (events,) = database.execute(
            "SELECT count(*) FROM events WHERE log = ? AND type = 'source_edited'",
            (ours.urls["typing"].rpartition("/")[2],),
        ).fetchone()
    return Figure(name="events of a minute of typing", ours=events, unit="", target="< 40", good=events < 40)
