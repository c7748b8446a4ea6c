"""Chromium for measurements, and the probes that run inside a page: first cells, keystrokes, long tasks, memory."""

from __future__ import annotations

import contextlib
import gzip
import shutil
from collections.abc import AsyncGenerator
from statistics import median, quantiles
from typing import Any

import msgspec
from playwright.async_api import Browser, BrowserContext, Page, Response, async_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
PATIENCE_MILLISECONDS = 180_000
FRAME_MILLISECONDS = 1000 / 60
GOLDEN = 0.618034
"""Its multiples, without their whole parts, are spread evenly."""

# Seen is painted: a frame is asked for, and what comes after it has been drawn.
_FIRST_CELLS = """
(() => {
  window.__longest = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.__longest = Math.max(window.__longest, entry.duration)
  }).observe({ type: "longtask", buffered: true })
  const look = () => {
    let seen = 0
    for (const cell of document.querySelectorAll(SELECTOR)) {
      if (cell.textContent.includes("measured")) seen += 1
      if (seen === 5) break
    }
    if (seen < 5) return void requestAnimationFrame(look)
    requestAnimationFrame(() => {
      const channel = new MessageChannel()
      channel.port1.onmessage = () => (window.__firstCells = performance.now())
      channel.port2.postMessage(null)
    })
  }
  requestAnimationFrame(look)
})()
"""

# From when the browser got the key, not from when the page came round to it: a page that is busy with the frame before
# handles a key late, and is not to be thanked for that.
_KEYS = """
() => {
  window.__keys = []
  addEventListener("keydown", ({ timeStamp: start }) => {
    requestAnimationFrame(() => {
      const channel = new MessageChannel()
      channel.port1.onmessage = () => window.__keys.push(performance.now() - start)
      channel.port2.postMessage(null)
    })
  }, { capture: true })
}
"""


class Keystrokes(msgspec.Struct, frozen=True):
    """Seconds from a key to the frame that shows it."""

    p50: float
    p95: float


@contextlib.asynccontextmanager
async def chromium() -> AsyncGenerator[Browser]:
    """Debian's Chromium, without a window."""
    path: Any = shutil.which("chromium")
    if path is None:
        raise SystemExit("Chromium is not there. `make test` installs it.")
    async with async_playwright() as play:
        browser = await play.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        await browser.close()


@contextlib.asynccontextmanager
async def new_profile(browser: Browser) -> AsyncGenerator[BrowserContext]:
    """A browser that has never been anywhere."""
    # Playwright evaluates text in the page, which our pages forbid.
    context = await browser.new_context(
        viewport={"width": 1280, "height": 900}, bypass_csp=True, service_workers="block"
    )
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    yield context
    await context.close()


async def first_cells(page: Page, url: str, selector: str) -> float:
    """Seconds from the start of a navigation until five cells are painted."""
    script = _FIRST_CELLS.replace("SELECTOR", msgspec.json.encode(selector).decode())
    await page.add_init_script(script)
    await page.goto(url, wait_until="commit")
    await page.wait_for_function("window.__firstCells !== undefined")
    return float(await page.evaluate("window.__firstCells")) / 1000


async def keystrokes(page: Page, count: int, pause_milliseconds: float = 20) -> Keystrokes:
    """Type into what has the focus, and time each key."""
    await listen_for_keys(page)
    times = await typed(page, count, pause_milliseconds)
    return Keystrokes(median(times), quantiles(times, n=20)[-1])


async def listen_for_keys(page: Page) -> None:
    """Time the keys that a page gets from now on. Once for a page."""
    await page.evaluate(_KEYS)


async def typed(page: Page, count: int, pause_milliseconds: float = 20) -> list[float]:
    """Seconds of each of so many keys, typed into what has the focus of a page that listens for them."""
    await page.evaluate("window.__keys = []")
    for number in range(count):
        await page.keyboard.press("abcdefghij"[number % 10])
        # A steady pause may meet each frame at the same moment of it, and then the next frame is always as far away.
        await page.wait_for_timeout(pause_milliseconds + FRAME_MILLISECONDS * (number * GOLDEN % 1 - 0.5))
    await page.wait_for_function(f"window.__keys.length >= {count}")
    return [float(each) / 1000 for each in await page.evaluate("window.__keys")]


async def longest_task(page: Page, *, reset: bool = False) -> float:
    """Seconds of the longest task that the page has had; 0 below 50 ms."""
    longest = float(await page.evaluate("window.__longest")) / 1000
    if reset:
        await page.evaluate("window.__longest = 0")
    return longest


async def heap_bytes(page: Page) -> int:
    """What the page's JavaScript holds after a collection."""
    session: Any = await page.context.new_cdp_session(page)  # its answers have no types
    await session.send("HeapProfiler.collectGarbage")
    used = await session.send("Runtime.getHeapUsage")
    await session.detach()
    return int(used["usedSize"])


class Scripts:
    """The JavaScript that a page fetches."""

    def __init__(self, page: Page) -> None:
        self._responses: list[Response] = []
        page.on("response", self._note)

    def _note(self, response: Response) -> None:
        if "javascript" in (response.headers.get("content-type") or ""):
            self._responses.append(response)

    async def sent(self) -> int:
        """Octets as the server sent them."""
        return sum([(await each.request.sizes())["responseBodySize"] for each in self._responses])

    async def gzipped(self) -> int:
        """Octets when everything is compressed alike, with gzip at level 9."""
        return sum([len(gzip.compress(await each.body(), 9)) for each in self._responses])
