"""A run as a process of its own: `python -m quire.runs.detached`, started by whoever wants one and may not wait for it.

It reads what to run from standard input, says on standard output that the run has begun, or why it
does not, and is from there on a run like any other: its log tells of it, and `quire cancel` ends it.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import signal
import sys
from pathlib import Path
from typing import Any

import msgspec

from ..connection import connect_store
from ..core.errors import QuireError, Unavailable
from ..core.events import DueRun, Permission, RunSource
from ..core.ids import LogId
from ..core.policies import RUN_WITH_PARAMETERS
from ..core.values import Json
from ..workspace.identity.identities import Identity


class Apart(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is told when it is started: on its standard input, for an address may hold a password."""

    where: str
    """The address of the workspace."""
    run: LogId
    """The log that it is to have."""
    identity: Identity
    """Whose run it is."""
    path: str | None = None
    """The file that is to be run; or …"""
    notebook: LogId | None = None
    """… the notebook, …"""
    seq: int | None = None
    """… as it is at this number, …"""
    text: str | None = None
    """… written as an .ipynb."""
    name: str = ""
    cwd: str | None = None
    """Where its cells work; None: in the folder of this process."""
    output: str | None = None
    timeout: float | None = None
    results: tuple[str, ...] = ()
    """What it has to record, beside what the notebook declares."""
    keep_failed_seconds: float = 0
    due: DueRun | None = None
    """The schedule that begins it."""
    parameters: dict[str, Json] = {}
    variables: dict[str, str] = {}
    """What else it takes to open the store, of the variables of who started it."""


class Began(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What it says once, on its standard output."""

    warnings: tuple[str, ...] = ()
    error: str | None = None
    """The kind of error that kept it from beginning."""
    message: str = ""
    details: dict[str, Any] = {}


async def main(told: Apart) -> None:
    """Run detached: what was told on standard input, in this process, which then ends."""
    # All that runs needs, loaded here: whoever starts this only writes down what is wanted.
    from ..actors.runtime.run_cell import StopReason
    from .run_file import run_file

    stopping = StopReason()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.signal)
    workspace = await connect_store(told.where, told.identity)
    try:
        plan = await _planned(told)
        await run_file(workspace, plan, stopping, _saying(plan.warnings))
    finally:
        await workspace.close()


async def _planned(told: Apart) -> Any:
    from ..core.params.parameters import Text, declared
    from ..core.results import DeclaredResult
    from .request import RunRequest, plan_run, read_source

    request = RunRequest(
        source=told.path,
        text=told.text,
        output=told.output,
        timeout=told.timeout,
        cwd=Path.cwd() if told.cwd is None else Path(told.cwd),
    )
    takes = {parameter.name for parameter in declared(await read_source(request))}
    # JSON has no dates and no paths: a text is read as the type that is declared.
    values = {
        name: Text(value) if isinstance(value, str) and name in takes else value
        for name, value in told.parameters.items()
    }
    request = msgspec.structs.replace(request, values=values)
    plan = await plan_run(None, request, os.environ, dt.datetime.now().astimezone())
    promised = {each.name for each in plan.declared_results}
    more = tuple(DeclaredResult(name=name) for name in told.results if name not in promised)
    plan = msgspec.structs.replace(
        plan,
        log=told.run,
        declared_results=(*plan.declared_results, *more),
        keep_failed_seconds=told.keep_failed_seconds,
        due=told.due,
    )
    if told.notebook is None:
        return plan
    source = RunSource(notebook=told.notebook, seq=told.seq, digest=plan.source.digest)
    grant = told.identity.grant
    policy: dict[str, Permission] = {RUN_WITH_PARAMETERS: "allowed"} if grant and grant.is_by_policy else {}
    return msgspec.structs.replace(plan, source=source, name=told.name, policy=policy)


def _saying(warnings: tuple[str, ...]) -> Any:
    from ..actors.runtime.run_notebook import RunObserver

    class StartAnnouncer(RunObserver):
        """Says that the run has a log."""

        async def began(self) -> None:
            _say(Began(warnings=warnings))

    return StartAnnouncer()


def _say(began: Began) -> None:
    """Once: nobody listens after that."""
    if not sys.stdout.closed:
        with sys.stdout:
            sys.stdout.write(msgspec.json.encode(began, enc_hook=str).decode() + "\n")


if __name__ == "__main__":
    try:
        told = msgspec.json.decode(sys.stdin.buffer.read(), type=Apart)
        os.environ.update(told.variables)
        # A cell could read it once more: /proc/PID/fd/0 is the file that it stands in.
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        asyncio.run(main(told))
    except QuireError as error:
        _say(Began(error=type(error).__name__, message=str(error), details=error.details))
        sys.exit(1)
    except Exception as error:  # whoever waits is told what it was
        _say(Began(error=Unavailable.__name__, message=f"The run could not begin: {type(error).__name__}: {error}"))
        sys.exit(4)
