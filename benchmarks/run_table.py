"""The table of runs in Chromium, with ten thousand of them: from a key that filters, and one that sorts, to what is painted.

The runs are recorded in the store directly, each with its cell, four parameters and three results.
"""

from __future__ import annotations

import random

from tests.run_logs import RunLog, run_append

from quire.core.ids import ActorId, LogId
from quire.stores.store import Store
from quire.workspace.clock import new_id

RUNS = 10_000
TIMES = 20
TARGET_SECONDS = 0.150
_BATCH = 500

# From the key to the first frame that shows other rows, and after it.
_PAINTED = """
() => {
  window.__painted = undefined
  addEventListener("keydown", () => {
    const start = performance.now()
    const rows = document.querySelector("tbody")
    const done = () => {
      observer.disconnect()
      requestAnimationFrame(() => {
        const channel = new MessageChannel()
        channel.port1.onmessage = () => (window.__painted = performance.now() - start)
        channel.port2.postMessage(null)
      })
    }
    const observer = new MutationObserver(done)
    observer.observe(rows.parentElement, { childList: true, subtree: true, characterData: true, attributeFilter: ["data-query"] })
  }, { capture: true, once: true })
}
"""


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
