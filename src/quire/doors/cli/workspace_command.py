"""What every verb on a workspace has: `--at`, `--json`, a workspace that is open while it works."""

from __future__ import annotations

import asyncio
import functools
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import click

from ...connection import ConnectTimeouts, connect
from ...workspace.protocol import Workspace
from .options import json_option
from .printer import tell

F = TypeVar("F", bound=Callable[..., Any])

at_option = click.option(
    "--at",
    metavar="WHERE",
    envvar="QUIRE_URL",
    help="The workspace: a folder, postgresql://… or https://….  [default: QUIRE_URL, else the nearest .quire/]",
)


WAIT_SECONDS = 60.0
wait_option = click.option(
    "--wait",
    metavar="SECONDS",
    type=click.FloatRange(0, 86_400),
    default=WAIT_SECONDS,
    show_default=True,
    help="How long to wait at the start for a database, or a server, that is not there yet.",
)


def with_workspace(function: Callable[..., Awaitable[int | None]]) -> Callable[..., int | None]:
    """Open the workspace, run the verb in it, and close it whatever happens. One that has `--wait` waits for it."""

    @at_option
    @json_option
    @functools.wraps(function)
    def verb(at: str | None, wait: float = 0, **options: Any) -> int | None:
        patience = ConnectTimeouts(seconds=wait, tell=tell) if wait else ConnectTimeouts()
        try:
            return asyncio.run(_in_workspace(function, at, patience, options))
        except BrokenPipeError:
            # Whoever read us has seen enough. What is left goes nowhere, or Python would complain at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0

    return verb


async def _in_workspace(
    function: Callable[..., Awaitable[int | None]], at: str | None, patience: ConnectTimeouts, options: dict[str, Any]
) -> int | None:
    workspace = await connect(at, patience=patience)
    try:
        return await function(workspace, **options)
    finally:
        await workspace.close()


def names_of_logs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """What a shell offers after a verb that takes a notebook."""
    from click.shell_completion import CompletionItem

    async def names(workspace: Workspace) -> list[Any]:
        logs = await workspace.logs()
        return [CompletionItem(info.name, help=info.log) for info in logs if info.name.startswith(incomplete)]

    async def ask() -> list[Any]:
        workspace = await connect(ctx.params.get("at"))
        try:
            return await names(workspace)
        finally:
            await workspace.close()

    return asyncio.run(ask())


notebook_argument = click.argument("notebook", shell_complete=names_of_logs)
