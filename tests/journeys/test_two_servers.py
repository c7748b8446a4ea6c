"""Two real servers on one PostgreSQL: what is said and not kept at one reaches whoever is at the other (rule 5)."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from quire.core.values import Json
from quire.workspace.lanes.lanes import LaneEntry
from quire.workspace.remote.remote_workspace import RemoteWorkspace

from ..doors.mcp.agents import over_stdio
from .database import OwnPostgres, connected, end_runtimes, folder_on, token_on
from .faulty_notebook import DEADLINE_SECONDS
from .remote_runtime import Far
from .server import Server, printed, until
from .test_lanes import CELLS, PASSWORD, answer, asked, reached, request

pytestmark = pytest.mark.slow  # each starts a database and two servers on it


class Pair:
    """A database, two servers, and somebody who may do everything."""

    def __init__(self, postgres: OwnPostgres, tmp_path: Path) -> None:
        self.postgres = postgres
        self.url = postgres.database("pair")
        self.folders = [folder_on(self.url, tmp_path / name) for name in ("one", "two")]
        self.one, self.two = (folder.start("--look-every", "0.5", "--gone-after", "5") for folder in self.folders)
        self.token = token_on(self.folders[0], "--actor", "ada", "--kind", "human", "--scope", "read,edit,run")
        self.bob = token_on(self.folders[0], "--actor", "bob", "--kind", "human", "--scope", "read")
        cells = [{"name": name, "source": CELLS[name]} for name in ("define", "ask", "secret")]
        with self.one.client(self.token) as client:
            self.log: str = client.post("/api/notebooks", json={"name": "n", "cells": cells}).json()["log"]

    def starter_first(self) -> tuple[Server, Server]:
        """The server that started a runtime for the notebook, if one did, and the other one."""
        has_started = (self.folders[1].path / ".quire" / "runtimes" / f"{self.log}.log").exists()
        return (self.two, self.one) if has_started else (self.one, self.two)

    @property
    def printed(self) -> str:
        return "".join(folder.printed for folder in self.folders)

    def close(self) -> None:
        for folder in self.folders:
            folder.close()
        end_runtimes(self.url)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    postgres = OwnPostgres()
    try:
        made = Pair(postgres, tmp_path)
        yield made
        made.close()
    finally:
        postgres.close()


@asynccontextmanager
async def at(server: Server, token: str) -> AsyncGenerator[RemoteWorkspace]:
    workspace = await RemoteWorkspace.open(server.url, token, allow_http=True)
    try:
        yield workspace
    finally:
        await workspace.close()


@asynccontextmanager
async def hearing(workspace: RemoteWorkspace, lane: str) -> AsyncGenerator[asyncio.Queue[LaneEntry]]:
    """What is said on a lane, as it comes."""
    found: asyncio.Queue[LaneEntry] = asyncio.Queue()

    async def listen() -> None:
        async with aclosing(cast("AsyncGenerator[LaneEntry]", workspace.lanes.hear(lane))) as said:
            async for each in said:
                found.put_nowait(each)

    task = asyncio.ensure_future(listen())
    try:
        yield found
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until_heard(found: asyncio.Queue[LaneEntry], **fields: Json) -> LaneEntry:
    """The first message with these fields."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            heard = await found.get()
            message: Any = heard.message
            if fields.items() <= message.items():
                return heard


async def test_a_person_at_one_server_is_seen_at_the_other_until_the_window_or_the_server_is_gone(
    pair: Pair, tmp_path: Path
) -> None:
    lane = f"{pair.log}/presence"
    async with at(pair.two, pair.bob) as bob, hearing(bob, lane) as seen:
        async with at(pair.one, pair.token) as ada:
            ada.lanes.say(lane, {"kind": "here", "window": "w1", "cell": "define"})
            assert (await until_heard(seen, kind="here", window="w1", cell="define")).by == "human:ada"
            async with at(pair.two, pair.bob) as later, hearing(later, lane) as known:
                await until_heard(known, kind="here", window="w1")
        await until_heard(seen, kind="gone", window="w1")
        with over_stdio(tmp_path, "--as", "claude", "--at", pair.url) as agent:  # on the database, without a server
            await asyncio.to_thread(agent.told, "read", notebook="n")
            here: Any = (await until_heard(seen, kind="here", window="mcp:agent:claude")).message
            assert here["on_behalf_of"].startswith("human:")
        await until_heard(seen, kind="gone", window="mcp:agent:claude")
        await asyncio.to_thread(pair.postgres.stop)
        await asyncio.to_thread(pair.postgres.start)
        async with at(pair.one, pair.token) as ada:
            ada.lanes.say(lane, {"kind": "here", "window": "w2"})
            await until_heard(seen, kind="here", window="w2")
            await asyncio.to_thread(pair.one.end, signal.SIGKILL)
            assert (await until_heard(seen, kind="gone", window="w2")).by == "human:ada"
    assert await asyncio.to_thread(pair.two.end) == 0


@pytest.mark.parametrize("where", ["far", "beside", "alone"])
def test_a_cell_is_answered_and_its_runtime_asked_at_the_server_to_which_it_is_not_connected(
    pair: Pair, tmp_path: Path, where: str
) -> None:
    """`far` is a runtime at server one, `beside` one that a server started, `alone` one on the database itself."""
    set_logging(pair.url)
    far: list[Far] = []
    if where == "far":
        token = token_on(pair.folders[0], "--actor", "gpu", "--kind", "runtime")
        far.append(Far(tmp_path / "gpu", pair.one.url, token, "--name", "gpu"))
    elif where == "alone":
        far.append(Far(tmp_path / "gpu", pair.url, None, "--name", "gpu"))
    named = {"runtime": "gpu"} if far else {}
    try:
        with pair.one.client(pair.token) as one, pair.two.client(pair.token) as two:
            for server, others in ((one, two), (two, one)):
                reached(server, pair.log, request(server, pair.log, "define", **named), "ok")
                execution = request(server, pair.log, "ask", **named)
                assert asked(others, pair.log)["prompt"] == "who? "
                assert answer(others, pair.log, execution, "ada").status_code == 200
                assert printed(reached(server, pair.log, execution, "ok")) == "hello ada\n"
                execution = request(server, pair.log, "secret", **named)
                assert until(lambda others=others: secret_asked(others, pair.log), "no password is asked for")
                given = answer(others, pair.log, execution, PASSWORD)
                assert given.status_code == 200, given.text
                assert printed(reached(server, pair.log, execution, "ok")) == f"{len(PASSWORD)}\n"
                health = until(lambda others=others: health_at(others, pair.log), "nothing is known of its health")
                assert health["state"] in ("idle", "busy") and health["memory_bytes"] > 0
        for server in (pair.one, pair.two):
            asyncio.run(complete(server, pair.token, pair.log))
        kept = pair.postgres.dump(pair.url) + pair.postgres.log + pair.printed
        assert "input_answered" in kept and "pg_notify" in kept, "all that is kept was looked at"
        assert PASSWORD not in kept, "a password is in no table and in no log"
        if where != "far":
            gone, left = pair.starter_first()
            gone.end(signal.SIGKILL)
            with left.client(pair.token) as client:
                execution = request(client, pair.log, "ask", **named)
                assert asked(client, pair.log)["prompt"] == "who? ", "whichever server is gone"
                assert answer(client, pair.log, execution, "bob").status_code == 200
                assert printed(reached(client, pair.log, execution, "ok")) == "hello bob\n"
    finally:
        for each in far:
            each.close()
    assert {server.end() for server in (pair.one, pair.two) if server.process.poll() is None} == {0}
    assert "failed" not in pair.printed


def secret_asked(client: Any, log: str) -> bool:
    runtimes = client.get(f"/api/logs/{log}/runtimes").json()
    return any(each.get("password") for runtime in runtimes for each in runtime.get("asks", ()))


def health_at(client: Any, log: str) -> Any:
    for runtime in client.get(f"/api/logs/{log}/runtimes").json():
        health: dict[str, Any] = runtime.get("health") or {}
        if health.get("memory_bytes"):
            return health
    return None


async def complete(server: Server, token: str, log: str) -> None:
    """Ask the kernel what could stand there."""
    async with at(server, token) as ada, hearing(ada, f"{log}/completion") as said:
        ask = {"kind": "ask", "id": server.url, "code": "collections.Coun", "position": 16}

        async def again_and_again() -> None:
            while True:  # until it is known there that somebody listens here
                ada.lanes.say(f"{log}/completion", ask)
                await asyncio.sleep(1)

        asking = asyncio.ensure_future(again_and_again())
        found: Any = (await until_heard(said, kind="answer", id=server.url)).message
        asking.cancel()
        assert "Counter" in str(found["content"]["matches"])


def set_logging(url: str) -> None:
    """Have the database write down every statement, with its values."""

    async def turned(connection: Any) -> None:
        for setting in ("log_statement = 'all'", "log_min_duration_statement = 0", "log_parameter_max_length = -1"):
            await connection.execute(f"ALTER SYSTEM SET {setting}")
        await connection.execute("SELECT pg_reload_conf()")

    connected(url, turned)
