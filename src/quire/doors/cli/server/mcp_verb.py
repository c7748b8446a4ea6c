"""`quire mcp`."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import click

from ....core.errors import BadInput
from .. import EXIT_STATUS
from ..printer import tell
from ..workspace_command import at_option

if TYPE_CHECKING:
    from ....core.events import Scope
    from ....verbs.answers.answer import Here
    from ....workspace.identity.identities import Identity
    from ....workspace.local import LocalWorkspace
    from .server_workspace import ServerWorkspace

INTERRUPTED = 130
LOOK_SECONDS = 2.0
"""How often to look whether a server has come or gone."""


@click.command("mcp", epilog=EXIT_STATUS)
@click.option("--as", "name", metavar="NAME", help="As which agent to act.  [default: mcp]")
@click.option(
    "--ask", metavar="SCOPES", help="Have it ask first: run, edit, or run,edit. A person then says yes or no."
)
@at_option
def mcp_verb(at: str | None, name: str | None, ask: str | None) -> int:
    """Give an agent the tools for this workspace, over the Model Context Protocol on standard input and output.

    \b
      quire mcp --as claude --ask run
      QUIRE_TOKEN=quire_… quire mcp --at https://notebooks.example.org

    Coding agents start it by themselves: `quire agent install`. Without QUIRE_TOKEN it is an agent that acts for you: it
    reads, edits and runs, and accepts nothing. Stdout belongs to the protocol; what there is to say goes to stderr. It ends
    when stdin is closed; what runs goes on.
    """
    if find_spec("mcp") is None:
        raise BadInput(
            "The package mcp is not installed, without which no agent is answered: pip install 'quire[mcp]'."
        )
    return asyncio.run(_serve(at, name, ask))


async def _serve(at: str | None, name: str | None, ask: str | None) -> int:
    async with _opened(at, name, ask) as here:
        from ...mcp.stdio import serve  # takes a second, which a wrong flag need not wait for

        serving, told = asyncio.ensure_future(serve(here)), _told_to_end()
        await asyncio.wait((serving, told), return_when=asyncio.FIRST_COMPLETED)
    if not serving.done():
        # A thread still waits for a line of stdin, and Python would wait for the thread. What was answered is on disk.
        os._exit(told.result())
    serving.result()
    return 0


def _told_to_end() -> asyncio.Future[int]:
    """Ctrl-C or SIGTERM, as the exit status that it makes."""
    loop = asyncio.get_running_loop()
    told: asyncio.Future[int] = loop.create_future()
    for number, status in ((signal.SIGTERM, 0), (signal.SIGINT, INTERRUPTED)):
        loop.add_signal_handler(number, lambda status=status: None if told.done() else told.set_result(status))
    return told


@asynccontextmanager
async def _opened(at: str | None, name: str | None, ask: str | None) -> AsyncGenerator[Here]:
    """The workspace, as whoever comes; where the store is at hand, with what has to work beside it."""
    from ....connection import connect
    from ....verbs.answers.answer import Here
    from ....workspace.lanes.agent_presence import AgentPresence, LocalPresenceLane, RemotePresenceLane

    identity = _identity(name, ask)
    if (at or "").startswith(("http://", "https://")):
        workspace = await connect(at)
        presence = AgentPresence(workspace.identity.actor, RemotePresenceLane(workspace.lanes))
        try:
            yield Here(workspace=workspace, presence=presence)
        finally:
            presence.close()
            await workspace.close()
        return
    from ....actors.runtime.store_lanes import PresenceBeside
    from ....connection import connect_store
    from .server_workspace import place_of

    place = place_of(at)
    workspace = await connect_store(place.where, identity)
    beside = PresenceBeside(workspace, place.state)
    lane = LocalPresenceLane(workspace) if workspace.carries_lanes else beside
    presence = AgentPresence(workspace.identity.actor, lane)
    try:
        async with _working(workspace, place):
            yield Here(workspace=workspace, folder=place.home, may_start=True, presence=presence)
    finally:
        presence.close()
        await beside.end()
        await workspace.close()


def _identity(name: str | None, ask: str | None) -> Identity | None:
    """Who comes without a token: an agent of whoever started this. With one, the token says who."""
    from ....workspace.identity import identities

    if "QUIRE_TOKEN" not in os.environ:
        asks = [scope.strip() for scope in (ask or "").split(",") if scope.strip()]
        return identities.agent(name or "mcp", cast("list[Scope]", asks))
    if name is not None or ask is not None:
        raise BadInput("QUIRE_TOKEN says who comes, and what has to be asked. Leave --as and --ask out, or unset it.")
    return None


@asynccontextmanager
async def _working(workspace: LocalWorkspace, place: ServerWorkspace) -> AsyncGenerator[None]:
    """What a server does beside its door, while there is none: starts runtimes, which stay, and mirrors files."""
    from ....actors.runtime.start.launcher import start_runtimes
    from ....runs.host.host_launcher import starting_here
    from ....workspace.identity import identities
    from ...background_task import keep_running
    from ..settings import read

    settings = read(place.home, os.environ, {})
    starting = starting_here(
        place.where,
        place.home,
        idle_minutes=settings.serve.runtime_idle_minutes,
        most=settings.serve.most_runtimes,
        memory_bytes=settings.runtime.memory_bytes,
    )
    system, owner = workspace.acting_as(identities.system()), workspace.acting_as(identities.owner())
    works: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
        "Starting runtimes": lambda: start_runtimes(system, starting, tell=tell),
        "Carrying lanes": workspace.carry_lanes,
    }
    if settings.serve.mirror and find_spec("watchfiles") is not None:
        from ....actors.mirror import mirror

        works["The mirror"] = lambda: mirror(owner, place.home, tell=tell)
    async with AsyncExitStack() as stack:
        for what, work in works.items():
            await stack.enter_async_context(keep_running(what, partial(_while_unserved, place, work), tell))
        yield


async def _while_unserved(place: ServerWorkspace, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Do what a server does for as long as there is none here, and again when it has gone."""
    while True:
        await _until(place, served=False)
        try:
            async with asyncio.TaskGroup() as group:
                working = group.create_task(work())
                await _until(place, served=True)
                working.cancel()
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None


async def _until(place: ServerWorkspace, *, served: bool) -> None:
    from ....workspace import server_file

    def is_served() -> bool:
        server = server_file.read(place.state)
        return server is not None and not server.is_gone

    while is_served() is not served:  # noqa: ASYNC110 - another process, which tells nobody
        await asyncio.sleep(LOOK_SECONDS)
