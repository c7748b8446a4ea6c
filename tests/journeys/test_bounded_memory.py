"""What waits is bounded on the way, too: in a runtime whose server is away, and in a server whose watchers do not read."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from websockets.asyncio.client import connect as connect_async
from websockets.sync.client import connect

from .faulty_notebook import wait_until
from .live_runtimes import end_runtimes
from .remote_runtime import Far, request, token_of_runtime
from .server import Folder, Server, events, free_port, until

MOST = 200_000_000
"""What each process may take, however much is shown."""
WATCHERS = 5
SHOWING = """
# %% name="show"
import base64, os, pathlib, time
from IPython.display import display
for number in range(300):
    display({"image/png": base64.b64encode(os.urandom(1_000_000)).decode()}, raw=True)
    if number == 5:
        pathlib.Path("begun").touch()
        while not pathlib.Path("away").exists():
            time.sleep(0.01)
pathlib.Path("said").touch()
"""
TABLES = """
# %% name="show"
import os
from IPython.display import display
for number in range(800):
    display({"text/html": os.urandom(30_000).hex()}, raw=True)
"""
IMAGES = """
# %% name="show"
import base64, os
from IPython.display import display
for number in range(100):
    display({"image/png": base64.b64encode(os.urandom(1_000_000)).decode()}, raw=True)
"""


def peak(pid: int) -> int:
    """The most memory that a process ever had, in bytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


def peaks(pid: int) -> dict[str, int]:
    """The same for a process and all that it started."""
    processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    return {" ".join(each.cmdline())[:200]: peak(each.pid) for each in processes}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    (tmp_path / "here").mkdir()
    made = Folder(tmp_path / "here")
    yield made
    made.close()
    end_runtimes(made.path)


def watch_without_reading(stack: ExitStack, server: Server, token: str, log: str) -> None:
    """Follow a log from its beginning, and take next to nothing of it."""
    headers = {"Authorization": f"Bearer {token}"}
    url = server.url.replace("http", "ws", 1) + "/api/socket"
    for _ in range(WATCHERS):
        client = stack.enter_context(
            connect(url, additional_headers=headers, max_size=None, max_queue=1, proxy=None, close_timeout=0)
        )
        client.send(f'{{"type":"follow","id":"1","log":"{log}","since":0}}')


@pytest.mark.slow
def test_a_runtime_whose_server_is_away_and_a_server_that_nobody_reads_from_stay_small(
    folder: Folder, tmp_path: Path
) -> None:
    """Rule 11: what a cell shows while the server is gone is on disk, and then in the log, and never all in memory."""
    log = folder.notebook("show.py", SHOWING)
    server = folder.start("--port", str(free_port()))
    token = folder.token("read", "edit", "run")
    with ExitStack() as stack:
        runtime = Far(tmp_path / "far", server.url, token_of_runtime(folder), "--name", "gpu")
        stack.callback(runtime.close)
        with server.client(token) as client:
            execution = request(client, log, "show", "gpu")
            wait_until((runtime.work / "begun").exists, "the cell does not begin")
        server.end(signal.SIGKILL)
        (runtime.work / "away").touch()
        wait_until((runtime.work / "said").exists, "the cell does not go on")
        away = peaks(runtime.process.pid)
        again = folder.start("--port", str(server.port))
        watch_without_reading(stack, again, token, log)
        with again.client(token) as client:
            # Not by reading the execution again and again: that would be all of it, each time.
            (finished,) = until(lambda: events(client, log, "execution_finished"), "the cell does not end")
            assert (finished["event"]["execution"], finished["event"]["status"]) == (execution, "ok")
        took = peaks(runtime.process.pid)
        assert {who: most for who, most in (away | took).items() if most >= MOST} == {}
        assert peak(again.process.pid) < MOST


@pytest.mark.slow
def test_a_server_that_is_flooded_with_large_events_stays_small(folder: Folder) -> None:
    """Whoever submits faster than it is recorded waits; what was recorded is not kept by number, but by size."""
    server = folder.start()
    token = folder.token("read", "edit", "run")
    with server.client(token) as client:
        made = client.post(
            "/api/notebooks", json={"name": "flooded", "cells": [{"kind": "code", "source": "1"}]}
        ).json()
        log, cell = made["log"], made["cells"][0]
    with ExitStack() as stack:
        watch_without_reading(stack, server, token, log)
        flooding = [threading.Thread(target=flood, args=(server, token, log, cell, name)) for name in "abcd"]
        for each in flooding:
            each.start()
        for each in flooding:
            each.join()
        assert peak(server.process.pid) < MOST


@pytest.mark.slow
def test_a_cell_that_shows_a_thousand_tables_fills_no_server(folder: Folder, tmp_path: Path) -> None:
    """Each is small enough to stay in the log. All together they are not, and nobody holds them."""
    log = folder.notebook("show.py", TABLES)
    server = folder.start()
    runtime = Far(tmp_path / "far", server.url, token_of_runtime(folder), "--name", "gpu")
    with ExitStack() as stack:
        stack.callback(runtime.close)
        client = stack.enter_context(server.client(folder.token("read", "edit", "run")))
        request(client, log, "show", "gpu")
        (finished,) = until(lambda: events(client, log, "execution_finished"), "the cell does not end")
        assert finished["event"]["status"] == "ok"
        took = peaks(runtime.process.pid) | {"server": peak(server.process.pid)}
        assert {who: most for who, most in took.items() if most >= MOST} == {}


@pytest.mark.slow
def test_a_mirror_writes_as_many_images_into_a_file_as_it_can_hold(folder: Folder) -> None:
    """Of 100 images of 1 MB ten stand in the file, and what the others are. Whoever edits it changes no output."""
    log = folder.notebook("show.py", IMAGES)
    folder.quire("bind", log, "show.ipynb")
    file = folder.path / "show.ipynb"
    server = folder.start()
    with server.client(folder.token("read", "edit", "run")) as client:
        request(client, log, "show", None)
        until(
            lambda: file.exists() and "is not in this file" in file.read_text(), "what the cell showed is not written"
        )
        *_, cell = (told := json.loads(file.read_text()))["cells"]
        shown = [list(output["data"]) for output in cell["outputs"]]
        assert shown == [["image/png"]] * 10 + [["text/plain"]] * 90
        cell["source"].insert(0, "# edited\n")
        file.write_text(json.dumps(told, indent=1))
        until(lambda: "# edited" in client.get(f"/api/notebooks/{log}").text, "the edit does not arrive")
        assert events(client, log, "outputs_imported") == []
        assert peak(server.process.pid) < MOST


def flood(server: Server, token: str, log: str, cell: str, name: str) -> None:
    """Submit 40 events of 1 MB each, and take the answers meanwhile: a server does not read from whoever takes none."""
    asyncio.run(_flood(server.url.replace("http", "ws", 1) + "/api/socket", token, log, cell, name))


async def _flood(url: str, token: str, log: str, cell: str, name: str) -> None:
    # The client without asyncio would not do: it reads nothing while it sends.
    # Without pings: a server that holds senders back answers none, and on a busy machine that takes longer than they wait.
    async with connect_async(
        url,
        additional_headers={"Authorization": f"Bearer {token}"},
        max_size=None,
        max_queue=None,
        proxy=None,
        ping_interval=None,
    ) as client:
        for number in range(40):
            event = {"type": "cell_metadata_set", "cell": cell, "values": {"x": "x" * 1_000_000}}
            draft = {"id": f"{name}{number}", "event": event}
            await client.send(json.dumps({"type": "submit", "id": f"{number}", "log": log, "drafts": [draft]}))
        answers = 0
        while answers < 40:
            answers += json.loads(await client.recv())["type"] == "recorded"
