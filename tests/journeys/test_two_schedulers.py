"""Schedules with real runs: two schedulers that are killed again and again, a file of schedules, what becomes of outputs."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from quire.connection import connect_store
from quire.core.events import RunFinished
from quire.core.ids import LogId
from quire.verbs.schedules.run_scheduler import make_scheduler
from quire.verbs.schedules.schedule_history import history_of
from quire.workspace.local import LocalWorkspace

from ..command import QUIRE, as_json, clean_environ, run

DEADLINE_SECONDS = 120
NOTEBOOK = """\
# %% tags=["parameters"]
run_id = ""
last = 0.0
# %%
from quire.kernel import result
result("health_score", 0.9 + last / 100)
"""
COUNTING = """\
# %% tags=["parameters"]
number = 0
# %%
with open("ran.txt", "a") as file:
    print(number, file=file)
"""
FILE = """\
fleet_health:
  schedule: "0 6 * * *"
  type: notebook
  path: notebooks/fleet.py
  parameters:
    run_id: "{{date}}"
    last: "{{previous.results.health_score or 0.0}}"
  output_path: runs/fleet_health_{{date}}.ipynb
  timezone: Europe/Zurich
  results: [health_score]
  commit: results
  notify:
    - webhook: ADDRESS
      when: health_score > 0.5
    - webhook: env:QUIRE_WEBHOOK_NOWHERE
      when: health_score > 0.5
"""


class _Posts(BaseHTTPRequestHandler):
    """Keeps what is posted."""

    received: list[dict[str, Any]]

    def do_POST(self) -> None:
        size = int(self.headers["content-length"])
        self.received.append(json.loads(self.rfile.read(size)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def webhook() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    received: list[dict[str, Any]] = []
    handler = type("Posts", (_Posts,), {"received": received})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook?token=secret", received
    server.shutdown()
    thread.join()
    server.server_close()


class SetClock:
    """A clock that stands still until it is set."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    async def wait(self, until: datetime | None, woken: asyncio.Event) -> None:
        await woken.wait()


async def _ended(workspace: LocalWorkspace, run: LogId) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        async for page in workspace.follow(run):
            if any(isinstance(entry.event, RunFinished) for entry in page):
                return


def _git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")
    command = ["git", *who, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


async def test_a_schedule_of_the_file_leaves_its_output_in_a_commit_of_its_own(
    tmp_path: Path, webhook: tuple[str, list[dict[str, Any]]]
) -> None:
    address, received = webhook
    await asyncio.to_thread(_git, tmp_path, "init", "-q", "-b", "main")
    await asyncio.to_thread(_git, tmp_path, "commit", "-q", "--allow-empty", "-m", "begin")
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "fleet.py").write_text(NOTEBOOK)
    (tmp_path / "schedules.yaml").write_text(FILE.replace("ADDRESS", address))
    planned = await asyncio.to_thread(as_json, "schedule", "sync", "--dry-run", at=tmp_path)
    assert planned == [{"schedule": "fleet_health", "action": "added"}]
    assert await asyncio.to_thread(as_json, "schedule", "list", at=tmp_path) == []
    assert await asyncio.to_thread(as_json, "schedule", "sync", at=tmp_path) == planned
    again = await asyncio.to_thread(as_json, "schedule", "sync", at=tmp_path)
    assert again == [{"schedule": "fleet_health", "action": "unchanged"}]
    (entry,) = await asyncio.to_thread(as_json, "schedule", "list", at=tmp_path)

    workspace = await connect_store(str(tmp_path))
    told: list[str] = []
    due = [datetime.fromisoformat(each) for each in entry["next"][:2]]
    for moment in due:
        scheduler = make_scheduler(workspace, tmp_path, told.append, SetClock(moment + timedelta(seconds=1)))
        await scheduler.look()
        assert told == []
        (newest, *_) = await history_of(workspace, "fleet_health", 1)
        await _ended(workspace, LogId(newest.run))
        await scheduler.look()
        await scheduler.settle()
    runs = await history_of(workspace, "fleet_health", 10)
    await workspace.close()

    days = [f"{moment.astimezone(UTC).date()}" for moment in due]
    assert [run.status for run in runs] == ["success", "success"]
    assert [run.results["health_score"] for run in reversed(runs)] == [0.9, 0.909]  # the second one knew the first
    assert [(each.kind, each.delivered) for each in runs[0].deliveries] == [
        ("commit", True),
        ("webhook", True),
        ("webhook", False),
    ]
    log = await asyncio.to_thread(_git, tmp_path, "log", "--format=%an", "--name-only", "results")
    assert log.split() == [
        "schedule:fleet_health",
        f"runs/fleet_health_{days[1]}.ipynb",
        "schedule:fleet_health",
        f"runs/fleet_health_{days[0]}.ipynb",
        "ada",
    ]
    written = json.loads((tmp_path / "runs" / f"fleet_health_{days[0]}.ipynb").read_text())
    assert written["metadata"]["papermill"]["parameters"]["run_id"] == days[0]
    assert [(each["schedule"], each["reason"], each["status"]) for each in received] == [
        ("fleet_health", "threshold", "success")
    ] * 2
    assert "secret" not in json.dumps([each.target for each in runs[0].deliveries])
    line = await asyncio.to_thread(run, "verify", at=tmp_path)
    assert line.returncode == 0


def _begun(folder: Path) -> list[tuple[str, int]]:
    rows = as_json("sql", "SELECT due, attempt FROM runs ORDER BY due", at=folder)
    return [(row["due"], row["attempt"]) for row in rows]


@pytest.mark.slow
def test_two_schedulers_that_are_killed_again_and_again_run_each_time_once(tmp_path: Path) -> None:
    (tmp_path / "count.py").write_text(COUNTING)
    added = ("schedule", "add", "every 2s", "count.py", "-p", "number", "{{run_number}}")
    done = run(*added, "--missed", "all", "--overlap", "queue", at=tmp_path)
    assert done.returncode == 0, done.stderr

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen([QUIRE, "scheduler"], cwd=tmp_path, env=clean_environ(), stderr=subprocess.DEVNULL)

    drawn = random.Random(7)  # a seed, so that it is the same each time
    living = [start(), start()]
    try:
        for _ in range(6):
            before = len(_begun(tmp_path))
            while len(_begun(tmp_path)) < before + drawn.randint(1, 2):
                pass  # the query itself takes a while
            victim = drawn.randrange(2)
            living[victim].kill()
            living[victim].wait()
            living[victim] = start()
    finally:
        for process in living:
            process.kill()
            process.wait()
    assert run("schedule", "pause", "count", at=tmp_path).returncode == 0
    # What was under way goes on without them.
    while any(each["status"] in ("queued", "claimed", "running") for each in as_json("runs", "list", at=tmp_path)):
        pass
    begun = _begun(tmp_path)
    times = [datetime.fromisoformat(due) for due, _ in begun]
    assert all(later - earlier == timedelta(seconds=2) for earlier, later in pairwise(times)), times
    assert {attempt for _, attempt in begun} == {1} and len(begun) >= 6
    ran = [int(line) for line in (tmp_path / "ran.txt").read_text().split()]
    assert sorted(ran) == sorted(set(ran)) == list(range(1, len(begun) + 1))
