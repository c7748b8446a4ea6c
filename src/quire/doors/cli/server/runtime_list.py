"""`quire runtime --list`: the runtimes of notebooks, and how they are."""

from __future__ import annotations

from collections.abc import AsyncIterator

import click
import msgspec

from ....core.errors import Refused
from ....core.ids import LogId
from ....formats.terminal_safe import one_line
from ....workspace.lanes.lane_messages import RuntimeHealth
from ....workspace.lanes.runtime_info import RuntimeFound
from ....workspace.protocol import LogInfo, Workspace
from ..printer import print_json, table

_EVER = "SELECT DISTINCT log FROM events WHERE type = 'runtime_attached'"


class RuntimeEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A runtime, and the notebook that it is attached to."""

    log: LogId
    notebook: str
    runtime: RuntimeFound


async def list_runtimes(workspace: Workspace, notebook: str | None, *, as_json: bool) -> None:
    """Print the runtimes of one notebook, or of all."""
    found = [each async for each in _found(workspace, notebook)]
    if as_json:
        print_json([{"log": each.log, "notebook": each.notebook, **_fields(each.runtime)} for each in found])
    elif found:
        columns = ("notebook", "runtime", "name", "language", "state", "memory", "CPU", "asks")
        click.echo(table(columns, [_row(each) for each in found]))
    else:
        told = "No runtime is attached" + (f" to {notebook}." if notebook is not None else ".")
        click.echo(f"{told} One comes when a cell is to be run.", err=True)


async def _found(workspace: Workspace, notebook: str | None) -> AsyncIterator[RuntimeEntry]:
    for info in [await workspace.find(notebook)] if notebook is not None else await _with_runtimes(workspace):
        for runtime in await workspace.runtimes(info.log):
            yield RuntimeEntry(log=info.log, notebook=info.name, runtime=await _looked_at(workspace, info.log, runtime))


async def _with_runtimes(workspace: Workspace) -> list[LogInfo]:
    """The logs in which a runtime ever was; all, of whoever may not ask across them."""
    logs = await workspace.logs()
    try:
        known = {row[0] for row in (await workspace.query(_EVER)).rows}
    except Refused:
        return logs
    return [info for info in logs if info.log in known]


async def _looked_at(workspace: Workspace, log: LogId, runtime: RuntimeFound) -> RuntimeFound:
    """With what can be seen of it here, where no server tells."""
    if runtime.health is not None:
        return runtime
    from ....actors.runtime.runtime_health import health_here

    return msgspec.structs.replace(runtime, health=health_here(runtime, await workspace.read(log)))


def _fields(runtime: RuntimeFound) -> dict[str, object]:
    """All of them, also those that are empty: whoever reads this looks for names."""
    return {name: getattr(runtime, name) for name in runtime.__struct_fields__}


def _row(listed: RuntimeEntry) -> tuple[str, ...]:
    runtime, health = listed.runtime, listed.runtime.health
    return (
        listed.notebook,
        runtime.id,
        runtime.name,
        runtime.language or "",
        health.state if health is not None else "unheard of",
        _memory(health),
        f"{health.cpu_percent:g} %" if health is not None and health.cpu_percent is not None else "",
        one_line("; ".join(each.prompt for each in runtime.asks), 40),
    )


def _memory(health: RuntimeHealth | None) -> str:
    from ....kernels.memory_limit import in_words

    if health is None or health.memory_bytes is None:
        return ""
    of = f" of {in_words(health.memory_limit_bytes)}" if health.memory_limit_bytes is not None else ""
    return in_words(health.memory_bytes) + of
