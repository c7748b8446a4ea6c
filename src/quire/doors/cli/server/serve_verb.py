"""`quire serve`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ....core.errors import BadInput, NotFound
from ....formats.terminal_safe import plain
from .. import EXIT_STATUS
from ..options import json_option
from ..printer import print_json
from ..workspace_command import at_option, wait_option

if TYPE_CHECKING:
    from ....actors.runtime.start.start_requests import RuntimeRequests
    from ....core.ids import LogId
    from ....workspace.identity.tokens import NewToken
    from ....workspace.local import LocalWorkspace
    from ....workspace.server_file import Whereabouts
    from ...http.server.server import ServerEnding
    from ..settings import Settings
    from .server_workspace import ServerWorkspace


@click.command("serve", epilog=EXIT_STATUS)
@click.argument("folder", required=False, metavar="[DIR]", type=click.Path(path_type=Path, file_okay=False))
@click.option("--host", metavar="H", help="Where to listen.  [default: 127.0.0.1, for this machine alone]")
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    help="On which port; 0: any free one.  [default: 8765, or the next]",
)
@click.option("--public", is_flag=True, default=None, help="Let other machines come in; --host says by which address.")
@click.option("--public-url", metavar="URL", help="What people open, where a proxy stands in front.")
@click.option(
    "--memory", metavar="SIZE", help="How much a kernel may use: 8GB.  [default: QUIRE_MEMORY, else no limit]"
)
@click.option("--notebook", metavar="NAME", help="Show this notebook first.  [default: all notebooks]")
@click.option("--no-browser", is_flag=True, help="Open no browser.")
@click.option("--no-mirror", is_flag=True, help="Leave the files alone that notebooks are bound to.")
@click.option("--no-scheduler", is_flag=True, help="Begin no runs of schedules.")
@click.option(
    "--look-every",
    "look_seconds",
    metavar="SECONDS",
    type=click.FloatRange(0.01),
    hidden=True,
    help="How often to look for what lost its lease, and for what waits.  [default: 10, and 2]",
)
@click.option(
    "--others-first",
    "others_seconds",
    metavar="SECONDS",
    type=click.FloatRange(0),
    hidden=True,
    help="How long what waits is left to a runtime that somebody brought.  [default: 10]",
)
@click.option(
    "--lease",
    "lease_seconds",
    metavar="SECONDS",
    type=click.FloatRange(0.1, 3600),
    hidden=True,
    help="How long this server, and runtimes that it starts, hold and claim without being heard of.  [default: 30]",
)
@wait_option
@click.option(
    "--away-after",
    "away_seconds",
    metavar="SECONDS",
    type=click.FloatRange(0.1),
    hidden=True,
    help="How long a request waits for a database that is away.  [default: 5]",
)
@click.option(
    "--gone-after",
    "gone_seconds",
    metavar="SECONDS",
    type=click.FloatRange(0.1),
    hidden=True,
    help="How long another server on the same database may be silent, before it is taken for gone.  [default: 15]",
)
@click.option(
    "--room-after",
    "room_seconds",
    metavar="SECONDS",
    type=click.FloatRange(0),
    hidden=True,
    help="How long a runtime without work lives where another is waited for and there may be no more.  [default: 300]",
)
@click.option("--take-over", is_flag=True, help="Ask the server of this folder to end, and take its place.")
@at_option
@json_option
def serve_verb(folder: Path | None, at: str | None, as_json: bool, **options: Any) -> int:
    """Serve the workspace in DIR: its API, its sockets, a runtime for each notebook that needs one.

    \b
      quire serve
      quire serve ~/work --port 9000 --no-browser

    Prints the address on stdout; it signs one browser in, once, within 5 minutes (`quire open` makes another). What happens
    goes to stderr. Ctrl-C or SIGTERM ends it; runtimes that it started go on until they have had nothing to do for a while.
    """
    _check_installed()
    from .server_workspace import place_of

    if folder is not None and at is not None and not _is_from_environment():
        raise BadInput("DIR and --at say the same. Give one of them.")
    where = place_of(str(folder) if folder is not None else at)
    options["no_browser"] = options["no_browser"] or as_json or not sys.stdout.isatty()
    return asyncio.run(_serve(where, as_json, **options))


def _check_installed() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("litestar", "uvicorn", "websockets", "watchfiles") if find_spec(name) is None]
    if missing:
        raise BadInput(f"{missing[0]} is not installed, without which nothing is served: pip install 'quire[serve]'.")


def _is_from_environment() -> bool:
    source = click.get_current_context().get_parameter_source("at")
    return source is click.core.ParameterSource.ENVIRONMENT


async def _serve(
    place: ServerWorkspace,
    as_json: bool,
    *,
    notebook: str | None,
    no_browser: bool,
    no_mirror: bool,
    no_scheduler: bool,
    take_over: bool,
    look_seconds: float | None,
    others_seconds: float | None,
    lease_seconds: float | None,
    wait: float,
    away_seconds: float | None,
    gone_seconds: float | None,
    room_seconds: float | None,
    **flags: Any,
) -> int:
    from ....actors.runtime.retry import patiently
    from ....actors.runtime.start.start_requests import RuntimeRequests
    from ....connection import ConnectTimeouts
    from ...http.server.server import ServerEnding
    from ..settings import read
    from .server_workspace import only_one, opened

    settings = read(place.home, os.environ, {**flags, "mirror": False if no_mirror else None})
    ending, requests = ServerEnding(), RuntimeRequests()
    async with AsyncExitStack() as stack:
        stack.enter_context(ending.on_signals())
        patience = ConnectTimeouts(seconds=wait, tell=tell, away_seconds=away_seconds)
        workspace = await ending.unless(opened(place, patience))
        if workspace is None:
            return ending.status
        stack.push_async_callback(workspace.close)
        held = {} if lease_seconds is None else {"lease_seconds": lease_seconds}
        former = await stack.enter_async_context(
            only_one(workspace, place, ending, tell, take_over=take_over, wait_seconds=wait, **held)
        )
        told = await stack.enter_async_context(_answering(workspace, place, settings, ending, former, requests))
        often = {"look_seconds": look_seconds, "others_seconds": others_seconds, "room_seconds": room_seconds} | held
        await stack.enter_async_context(
            _working(
                workspace,
                place,
                settings,
                {name: given for name, given in often.items() if given is not None},
                requests,
                gone_seconds,
                schedules=not no_scheduler,
            )
        )
        # It has said that it is well: a database that goes away from now on is waited for.
        shown = await ending.unless(patiently(lambda: _found(workspace, notebook)))
        token = await ending.unless(patiently(workspace.create_sign_in))
        if token is not None:
            _announce(told, token, place, shown, as_json=as_json, no_browser=no_browser)
        await ending.wait()
    return ending.status


@asynccontextmanager
async def _answering(
    workspace: LocalWorkspace,
    place: ServerWorkspace,
    settings: Settings,
    ending: ServerEnding,
    former: Whereabouts | None,
    requests: RuntimeRequests,
) -> AsyncGenerator[Whereabouts]:
    """Listen, answer, and say where."""
    from ....workspace import server_file
    from ...http.server.ports import DEFAULT_PORT, check_public, listen
    from ...http.server.server import answering
    from .server_workspace import door_settings, told_of

    serve = settings.serve
    check_public(serve.host, public=serve.public)
    listening = listen(serve.host, serve.port, [former.port] if former is not None else [])
    with listening:
        port: int = listening.getsockname()[1]
        if serve.port is None and port != DEFAULT_PORT and (former is None or former.port != port):
            tell(f"Port {DEFAULT_PORT} is taken: it is {port} now")
        told = told_of(serve, port)
        folder = place.home if serve.mirror else None
        async with answering(workspace, door_settings(settings), listening, ending, folder, place.home, requests):
            server_file.write(place.state, told)
            try:
                yield told
            finally:
                server_file.remove(place.state, told)


@asynccontextmanager
async def _working(
    workspace: LocalWorkspace,
    place: ServerWorkspace,
    settings: Settings,
    often: dict[str, Any],
    requests: RuntimeRequests,
    gone_seconds: float | None,
    *,
    schedules: bool,
) -> AsyncGenerator[None]:
    """What goes on beside the door; `often` holds the times that are not the usual ones."""
    from ....actors.mirror import mirror
    from ....actors.retention import keep_runs
    from ....actors.runtime.start.launcher import start_runtimes
    from ....connection import kernel_is_left
    from ....logbooks.export_follower import follow_exports
    from ....runs.host.host_launcher import starting_here
    from ....verbs.schedules.run_scheduler import make_scheduler
    from ....workspace.identity import identities
    from ....workspace.log.leases import LEASE_SECONDS
    from ...background_task import keep_running
    from ...http.server.server import KEEP_SECONDS, keep

    starting = starting_here(
        place.where,
        place.home,
        idle_minutes=settings.serve.runtime_idle_minutes,
        most=settings.serve.most_runtimes,
        memory_bytes=settings.runtime.memory_bytes,
        **often,
    )
    system = workspace.acting_as(identities.system())
    tell = _but_for_outages(workspace)
    async with AsyncExitStack() as stack:
        works: dict[str, Any] = {
            "Starting runtimes": lambda: start_runtimes(system, starting, tell=tell, requests=requests),
            "Keeping": lambda: keep(
                workspace,
                often.get("look_seconds", KEEP_SECONDS),
                often.get("lease_seconds", LEASE_SECONDS),
                kernel_is_left,
            ),
        }
        works["Carrying lanes"] = lambda: workspace.carry_lanes(gone_seconds=gone_seconds)
        if (keep_for := settings.runs.keep) is not None:
            # Whoever wants a server to look often, a test, wants this soon, too.
            soon = {"first_seconds": often["look_seconds"]} if "look_seconds" in often else {}
            works["Removing old runs"] = lambda: keep_runs(system, keep_for, settings.runs.keep_last, tell, **soon)
        if schedules:
            works["Schedules"] = lambda: make_scheduler(workspace, place.home, tell).run()
        if settings.serve.mirror:
            works["The mirror"] = lambda: mirror(workspace, place.home, tell=tell)
            works["The files of logbooks"] = lambda: follow_exports(workspace, place.home, tell)
        for what, work in works.items():
            await stack.enter_async_context(keep_running(what, work, tell))
        yield


def _but_for_outages(workspace: LocalWorkspace) -> Callable[[str], None]:
    """Tell what is told, but for that the store is away: that was told once, and each of them would say it again and again."""

    def told(message: str) -> None:
        outage = workspace.outage
        if outage is None or outage.store not in message:
            tell(message)

    return told


async def _found(workspace: LocalWorkspace, notebook: str | None) -> LogId | None:
    """Return the notebook that the address shows. A name that is gone is no reason not to serve the others."""
    if notebook is None:
        return None
    try:
        return (await workspace.find(notebook)).log
    except NotFound as missing:
        tell(f"{missing} The address shows all notebooks.")
        return None


def _announce(
    told: Whereabouts,
    token: NewToken,
    place: ServerWorkspace,
    notebook: LogId | None,
    *,
    as_json: bool,
    no_browser: bool,
) -> None:
    from ..browser import show, sign_in_url

    url = sign_in_url(told.url, token.secret, notebook)
    if as_json:
        print_json({"url": told.url, "sign_in": url, "pid": told.pid, "port": told.port, "workspace": place.shown})
    else:
        click.echo(url)
        click.echo(f"Serving {plain(place.shown)}; Ctrl-C ends it", err=True)
    sys.stdout.flush()
    if not no_browser:
        show(url)


def tell(message: str) -> None:
    """Say on stderr what whoever runs the server should know: a line on a terminal, elsewhere JSON as requests are."""
    import msgspec

    from ....workspace.clock import now

    told = {"at": now(), "told": message}
    with contextlib.suppress(OSError):  # nobody reads it any more: that is no reason to stop
        is_seen = sys.stderr.isatty()
        click.echo(f"quire: {plain(message)}" if is_seen else msgspec.json.encode(told).decode(), err=True)
