"""The table of runs in Chromium, with ten thousand of them: from a key that filters, and one that sorts, to what is painted.

The runs are recorded in the store directly, each with its cell, four parameters and three results.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from pathlib import Path
from statistics import median

from playwright.async_api import Page
from tests.run_logs import RunLog, run_append

from quire.core.ids import ActorId, LogId
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.stores.store import Store
from quire.workspace.clock import new_id

from .browser import chromium, new_profile
from .figures import Figure
from .web import BUSY, serving

RUNS = 10_000
TIMES = 20
TARGET_SECONDS = 0.150
_BATCH = 500

# From a key to the frame after the rows answer what it asked for: the table says which question that is.
_WATCH = """
() => {
  const table = document.querySelector("table[data-query]")
  addEventListener("keydown", () => {
    const start = performance.now()
    const observer = new MutationObserver(() => {
      observer.disconnect()
      requestAnimationFrame(() => {
        const channel = new MessageChannel()
        channel.port1.onmessage = () => (window.__painted = performance.now() - start)
        channel.port2.postMessage(null)
      })
    })
    observer.observe(table, { attributeFilter: ["data-query"] })
  }, { capture: true, once: true })
}
"""


async def run_table_figures() -> list[Figure]:
    """Measure in a folder that is removed afterwards."""
    load = os.getloadavg()[0]
    if load > BUSY:
        sys.stderr.write(f"The machine is busy (load {load:.1f}): these figures are not to be trusted.\n")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        async with chromium() as browser, serving(place) as host, new_profile(browser) as context:
            store = SqliteStore(place / ".quire" / "quire.db")
            await record_runs(store, RUNS)
            await store.close()
            page = await host.page(context)
            await page.goto(host.urls["runs"])
            await page.wait_for_selector("[data-row]")
            return [
                _figure("filter by words", await _filter(page, "train_3")),
                _figure("filter by a result", await _filter_by_result(page)),
                _figure("sort by a result", await _sort(page)),
            ]


def _figure(what: str, seconds: float) -> Figure:
    return Figure(
        name=f"web: {RUNS:,} runs, key to paint: {what}",
        ours=seconds,
        unit="s",
        target=f"under {TARGET_SECONDS * 1000:.0f} ms",
        good=seconds < TARGET_SECONDS,
    )


async def _filter(page: Page, text: str) -> float:
    """Type a word into the filter, and time its last letter, which alone changes the rows."""
    field = page.get_by_role("searchbox")
    times: list[float] = []
    for number in range(TIMES):
        await field.fill(f"{text[:-1]}")
        await _answered(page, f"text={text[:-1]}")
        times.append(await _painted(page, text[-1] if number % 2 else "4"))
        await field.fill("")
        await _answered(page, "")
    return median(times)


async def _filter_by_result(page: Page) -> float:
    field = page.get_by_role("searchbox")
    times: list[float] = []
    for number in range(TIMES):
        await field.fill(f"result.accuracy > 0.{number + 50}")
        times.append(await _painted(page, "Enter"))
        await page.get_by_role("button", name="Clear", exact=True).click()
        await _answered(page, "")
    return median(times)


async def _sort(page: Page) -> float:
    """Turn the order around, with the key on a column's head."""
    await page.get_by_role("button", name="loss").focus()
    return median([await _painted(page, "Enter") for _ in range(TIMES)])


async def _painted(page: Page, key: str) -> float:
    await page.evaluate("window.__painted = undefined")
    await page.evaluate(_WATCH)
    await page.keyboard.press(key)
    await page.wait_for_function("window.__painted !== undefined")
    return float(await page.evaluate("window.__painted")) / 1000


async def _answered(page: Page, query: str) -> None:
    await page.wait_for_function(
        "query => document.querySelector('table[data-query]')?.dataset.query === query", arg=query
    )


async def record_runs(store: Store, count: int) -> None:
    """Put so many runs into a store."""
    chance = random.Random(16)
    for first in range(0, count, _BATCH):
        runs = [_run(number, chance) for number in range(first, min(count, first + _BATCH))]
        await store.append([run_append(run) for run in runs])


def _run(number: int, chance: random.Random) -> RunLog:
    failed = number % 17 == 0
    return RunLog(
        log=LogId(new_id()),
        name=f"train_{number % 5}",
        path=f"train_{number % 5}.py",
        minute=number,
        seconds=chance.expovariate(0.1),
        actor=ActorId(f"human:{chance.choice(['ada', 'grace', 'edith'])}"),
        parameters={
            "month": f"2026-{number % 12 + 1:02}",
            "rate": chance.choice([0.1, 0.01, 0.001]),
            "depth": number % 9,
            "shuffle": number % 2 == 0,
        },
        results={} if failed else {"accuracy": chance.random(), "loss": chance.expovariate(1), "rows": number * 7},
        status="error" if failed else "success",
    )
