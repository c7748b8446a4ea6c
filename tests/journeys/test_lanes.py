"""People and runtimes on the lanes of a real server: questions, health, interrupts, restarts, limits."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from quire.core.ids import LogId
from quire.core.values import Json
from quire.workspace.remote.remote_workspace import RemoteWorkspace

from .faulty_notebook import DEADLINE_SECONDS
from .live_runtimes import end_runtimes, runtime_of
from .remote_runtime import Far, token_of_runtime
from .server import Folder, Server, events, free_port, printed, run_cell, until

CELLS = {
    "define": "import collections\nx = 41",
    "show": "print('x' in dir())",
    "ask": "name = input('who? ')\nprint('hello', name)",
    "secret": "import getpass\nkey = getpass.getpass('key: ')\nprint(len(key))",
    "loop": "import time\nprint('on', flush=True)\nwhile True: time.sleep(0.05)",
    "eat": "import time\nkept = []\nfor _ in range(400):\n    kept.append(bytearray(b'x' * 5_000_000))\n    time.sleep(0.02)",
    "environment": "import os, json\nprint(json.dumps(dict(os.environ)))",
}
PASSWORD = "correct-horse-battery"


def write_live(folder: Folder, name: str) -> str:
    """A notebook with all of these cells, under a name of its own."""
    cells = "\n\n".join(f'# %% name="{cell}"\n{source}' for cell, source in CELLS.items())
    return folder.notebook(f"{name}.py", cells + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    """A workspace for a test that does something to its server."""
    made = Folder(tmp_path)
    yield made
    made.close()
    end_runtimes(tmp_path)


@pytest.fixture
def log(folder: Folder) -> str:
    return write_live(folder, "live")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    """One that is served for all the others; a notebook of its own is for each."""
    made = Folder(tmp_path_factory.mktemp("lanes"))
    yield made
    made.close()
    end_runtimes(made.path)


@pytest.fixture(scope="module")
def server(shared: Folder) -> Iterator[Server]:
    made = shared.start("--look-every", "0.2")
    yield made
    assert made.end() == 0


@pytest.fixture
def name(tmp_path: Path) -> str:
    return tmp_path.name


@pytest.fixture
def live(shared: Folder, name: str) -> Iterator[str]:
    """A notebook of one's own, and no other runtime than its own."""
    log = write_live(shared, name)
    yield log
    end_runtimes(shared.path, f"hold:runtime:{log}")


def request(client: httpx.Client, log: str, cell: str, **more: str) -> str:
    asked = client.post(f"/api/notebooks/{log}/executions", json={"cells": [{"cell": cell}], **more})
    assert asked.status_code == 200, asked.text
    return asked.json()["executions"][0]


def state(client: httpx.Client, log: str, execution: str) -> Any:
    return client.get(f"/api/notebooks/{log}/executions/{execution}").json()["execution"]


def reached(client: httpx.Client, log: str, execution: str, *states: str) -> Any:
    def look() -> Any:
        found = state(client, log, execution)
        return found if found["state"] in states else None

    return until(look, f"{execution} is not {states}: {state(client, log, execution)}")


def asked(client: httpx.Client, log: str) -> Any:
    """What the runtime asks, once it does."""

    def look() -> Any:
        runtimes = client.get(f"/api/logs/{log}/runtimes").json()
        return next((each["asks"][0] for each in runtimes if each.get("asks")), None)

    return until(look, "nothing is asked")


def answer(client: httpx.Client, log: str, execution: str, text: str) -> httpx.Response:
    return client.post(f"/api/logs/{log}/executions/{execution}/input", json={"answer": text})


# ---- Questions


def test_a_question_survives_the_server_and_is_answered_by_whoever_may(folder: Folder, log: str) -> None:
    """Rules 3 and 11."""
    token, viewer = folder.token("read", "run"), folder.token("read")
    server = folder.start()
    with server.client(token) as ada, server.client(viewer) as bob:
        execution = request(ada, log, "ask")
        assert asked(bob, log)["prompt"] == "who? ", "somebody who comes later hears it too"
        assert answer(bob, log, execution, "mallory").status_code == 403
    server.end(signal.SIGKILL)
    again = folder.start()
    with again.client(token) as ada:
        question = asked(ada, log)
        assert (question["execution"], question["prompt"]) == (execution, "who? ")
        given = answer(ada, log, execution, "ada")
        assert given.status_code == 200, given.text
        assert given.json()["entries"][0]["actor"] == "human:ada"
        assert printed(reached(ada, log, execution, "ok")) == "hello ada\n"
        assert answer(ada, log, execution, "late").status_code == 404
        (entry,) = events(ada, log, "input_answered")
        assert (entry["actor"], entry["event"]["answer"]) == ("human:ada", "ada")
    folder.verify()


def test_an_answer_that_was_given_while_the_runtime_was_gone_is_taken_by_the_next(
    shared: Folder, server: Server, live: str
) -> None:
    """Rule 11."""
    log = live
    with server.client(shared.token("read", "run")) as ada:
        execution = request(ada, log, "ask")
        asked(ada, log)
        pid = runtime_of(shared.path, log)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        given = answer(ada, log, execution, "ada")
        assert given.status_code == 200, given.text
        assert printed(reached(ada, log, execution, "ok")) == "hello ada\n"
        assert len(events(ada, log, "input_answered")) == 1, "nobody is asked twice"


def test_a_password_is_nowhere_but_in_the_kernel(shared: Folder, server: Server, live: str) -> None:
    """Rule 16."""
    log = live
    with server.client(shared.token("read", "run")) as ada:
        execution = request(ada, log, "secret")
        assert asked(ada, log)["password"] is True
        assert PASSWORD not in str(answered(ada, log, execution, PASSWORD))
        assert printed(reached(ada, log, execution, "ok")) == f"{len(PASSWORD)}\n"
        (entry,) = events(ada, log, "input_answered")
        assert entry["actor"] == "human:ada" and "answer" not in entry["event"]
    names: set[str] = set()
    for file in shared.path.rglob("*"):
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):  # of a server that works
            assert PASSWORD.encode() not in file.read_bytes(), file
            names.add(file.name)
    assert {"quire.db", "serve.log", f"{log}.log"} <= names


@pytest.mark.slow  # the same as for one that was started here, and tests/actors/runtime/test_lane_service.py
def test_a_runtime_that_somebody_brings_asks_and_tells_as_well(
    folder: Folder, log: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    token = folder.token("read", "run")
    server = folder.start("--port", str(free_port()))  # the usual one is taken by whoever tests beside this
    far = Far(tmp_path_factory.mktemp("far"), server.url, token_of_runtime(folder), "--name", "gpu", "--memory", "2GB")
    try:
        with server.client(token) as ada:
            execution = request(ada, log, "secret", runtime="gpu")
            assert asked(ada, log)["password"] is True
        server.end(signal.SIGKILL)
        again = folder.start()
        with again.client(token) as ada:
            assert asked(ada, log)["execution"] == execution, "the next server hears it too"
            (runtime,) = [each for each in ada.get(f"/api/logs/{log}/runtimes").json() if each["name"] == "gpu"]
            given = answered(ada, log, execution, PASSWORD)
            assert given["actor"] == "human:ada"
            assert printed(reached(ada, log, execution, "ok")) == f"{len(PASSWORD)}\n"
            health = until(lambda: _health(ada, log, "idle"), "it does not tell that it is idle")
            assert (health["runtime"], health["memory_limit_bytes"]) == (runtime["id"], 2_000_000_000)
        files = [file for file in far.home.rglob("*") if file.is_file()]
        assert [file for file in files if PASSWORD.encode() in file.read_bytes()] == []
    finally:
        far.close()


def _health(client: httpx.Client, log: str, state: str) -> Any:
    runtimes = client.get(f"/api/logs/{log}/runtimes").json()
    told = [each["health"] for each in runtimes if each.get("health")]
    return next((each for each in told if each["state"] == state), None)


def answered(client: httpx.Client, log: str, execution: str, text: str) -> Any:
    """Give an answer, also to a runtime that is on its way back to the lane."""

    def look() -> Any:
        given = answer(client, log, execution, text)
        assert given.status_code in (200, 503), given.text
        return given.json()["entries"][0] if given.status_code == 200 else None

    return until(look, "its runtime does not listen")


# ---- Completion and health


async def test_a_client_of_the_server_reaches_a_runtime_that_was_started_here(
    shared: Folder, server: Server, live: str
) -> None:
    log = live
    token = await asyncio.to_thread(shared.token, "read", "run")
    await asyncio.to_thread(_run, server, token, log, "define")
    ada = await RemoteWorkspace.open(server.url, token, allow_http=True)
    try:
        code = "collections.Ordered"
        ask: dict[str, Json] = {"kind": "ask", "code": code, "position": len(code)}
        found = await _until_answered(ada, f"{log}/completion", ask)
        assert any("OrderedDict" in each for each in found["content"]["matches"])
        found = await _until_answered(ada, f"{log}/inspection", ask | {"code": "collections.OrderedDict"})
        assert "OrderedDict" in found["content"]["data"]["text/plain"]
        async with asyncio.timeout(DEADLINE_SECONDS):
            # It tells of itself every few seconds.
            while (runtime := (await ada.runtimes(LogId(log)))[0]).health is None:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert runtime.health.memory_bytes is not None
    finally:
        await ada.close()


def _run(server: Server, token: str, log: str, cell: str) -> Any:
    with server.client(token) as client:
        return run_cell(client, log, cell)


async def _until_answered(workspace: RemoteWorkspace, lane: str, ask: dict[str, Json]) -> Any:
    """Ask until somebody answers: the runtime, and whoever asks, come to the lane when they come."""

    async def heard() -> Any:
        async for message in workspace.lanes.listen(lane):
            said = cast("dict[str, Any]", message)
            if said["kind"] in ("answer", "failed"):
                return said

    hearing = asyncio.ensure_future(heard())
    async with asyncio.timeout(DEADLINE_SECONDS):
        number = 0
        while not hearing.done():
            workspace.lanes.say(lane, {**ask, "id": str(number := number + 1)})
            await asyncio.wait({hearing}, timeout=0.5)
    return hearing.result()


def test_health_is_listed_with_a_server_and_without(folder: Folder, log: str) -> None:
    token = folder.token("read", "run")
    server = folder.start("--memory", "2GB")
    with server.client(token) as ada:
        execution = request(ada, log, "loop")
        reached(ada, log, execution, "running")

        def busy() -> Any:
            (found,) = ada.get(f"/api/logs/{log}/runtimes").json()
            return found if found.get("health", {}).get("state") == "busy" else None

        found = until(busy, "its health is not told")
        assert found["health"]["execution"] == execution
        assert found["health"]["memory_limit_bytes"] == 2_000_000_000
        listed = folder.quire("runtime", "--list", "live", "--json", QUIRE_URL=server.url, QUIRE_TOKEN=token)
        assert [(each["id"], each["health"]["state"]) for each in listed] == [(found["id"], "busy")]
        assert "busy" in folder.quire("runtime", "--list", QUIRE_URL=server.url, QUIRE_TOKEN=token).stdout
        folder.quire("interrupt", "live")
        reached(ada, log, execution, "cancelled")
    server.end()
    (seen,) = folder.quire("runtime", "--list", "--json")
    assert (seen["id"], seen["health"]["state"]) == (found["id"], "idle")
    assert seen["health"]["memory_bytes"] > 1_000_000


# ---- Stopping


def test_a_restart_by_the_command_line_cancels_what_runs_and_forgets(
    shared: Folder, server: Server, live: str, name: str
) -> None:
    log = live
    with server.client(shared.token("read", "run")) as ada:
        none = shared.quire("restart", name, "--json", status=2)
        assert "No runtime is attached" in none["error"]["message"]
        run_cell(ada, log, "define")
        execution = request(ada, log, "loop")
        waits = request(ada, log, "show")
        reached(ada, log, execution, "running")
        done = shared.quire("restart", name, "--json")
        assert len(done["restarted"]) == 1
        reached(ada, log, execution, "cancelled")
        assert printed(reached(ada, log, waits, "ok")) == "False\n"
        (entry,) = events(ada, log, "kernel_restarted")
        (by,) = events(ada, log, "restart_requested")
        assert entry["event"]["why"] == f"asked by {by['actor']}"


def test_an_interrupt_by_the_command_line_stops_a_cell_and_takes_back_another(
    shared: Folder, server: Server, live: str, name: str
) -> None:
    log = live
    with server.client(shared.token("read", "run")) as ada:
        nothing = shared.quire("interrupt", name, "--json", status=2)
        assert "Nothing runs" in nothing["error"]["message"]
        run_cell(ada, log, "define")
        execution, waits = request(ada, log, "loop"), request(ada, log, "ask")
        reached(ada, log, execution, "running")
        (took,) = shared.quire("interrupt", name, "ask", "--json")
        assert (took["execution"], took["did"]) == (waits, "taken back")
        (stopped,) = shared.quire("interrupt", name, "--json")
        assert (stopped["execution"], stopped["did"]) == (execution, "interrupted")
        reached(ada, log, execution, "cancelled")
        assert reached(ada, log, waits, "cancelled")["why"] == "taken back"
        assert printed(run_cell(ada, log, "show")) == "True\n", "the kernel is the same"


def test_a_kernel_that_eats_memory_is_ended_and_the_next_cell_has_another(folder: Folder, log: str) -> None:
    (folder.path / "quire.toml").write_text('[runtime]\nmemory = "400MB"\n')
    server = folder.start()
    with server.client(folder.token("read", "run")) as ada:
        ended = run_cell(ada, log, "eat")
        assert ended["state"] == "dead_kernel"
        assert "400 MB are allowed" in ended["fault"]["evalue"]
        assert printed(run_cell(ada, log, "show")) == "False\n"


# ---- What a kernel must not know


def test_a_kernel_gets_no_token_and_no_address(shared: Folder, server: Server, live: str) -> None:
    log = live
    token = shared.token("read", "run")
    with server.client(token) as ada:
        found = json.loads(printed(run_cell(ada, log, "environment")))
        runtime = until(
            lambda: next((each for each in ada.get(f"/api/logs/{log}/runtimes").json() if each.get("health")), None),
            "its health is not told",
        )
    told = json.dumps(found)
    assert "quire_" not in told and server.url not in told and str(server.port) not in found.values()
    arguments = Path(f"/proc/{runtime['health']['pid']}/cmdline").read_bytes().decode()
    assert "quire_" not in arguments and server.url not in arguments
    (made,) = _tokens(shared, log)
    assert made["notebooks"] == [log] and sorted(made["scopes"]) == ["read", "serve"], "it opens nothing else"
    end_runtimes(shared.path, f"hold:runtime:{log}")
    assert _tokens(shared, log) == [], "nor anything, once the runtime is gone"


def _tokens(folder: Folder, log: str) -> list[Any]:
    """The tokens of runtimes that open something there."""
    made = folder.quire("token", "list", "--json")
    return [each for each in made if each["actor"].startswith("runtime:") and each["notebooks"] in (None, [log])]
