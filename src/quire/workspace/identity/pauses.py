"""Pauses: who is paused, and how what a paused actor had asked for is stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from ...core import events as e
from ...core.errors import NotFound, QuireError, Refused
from ...core.events import Draft, Entry
from ...core.ids import WORKSPACE_LOG, ActorId, LogId, TokenId
from ...core.notebook.directory import Directory
from ..clock import new_id
from ..lanes.runtime_info import open_executions, stop_execution
from ..protocol import Workspace

MOST_LOGS = 10_000


class PausedActor(msgspec.Struct, frozen=True, kw_only=True):
    """An actor, or the token of an actor, that is refused everything for now."""

    actor: ActorId
    token: TokenId | None = None
    """Set where only this token is paused."""
    by: ActorId
    at: str
    why: str = ""


class PausesFound(msgspec.Struct, frozen=True, kw_only=True):
    """Who is paused, as the workspace log says at `seq`."""

    seq: int
    paused: list[PausedActor]


def paused_in(directory: Directory) -> PausesFound:
    """Return who is paused, in the order of the pauses."""
    found: list[PausedActor] = []
    for name, pause in directory.paused.items():
        token = TokenId(name) if name in directory.tokens else None
        actor = directory.tokens[token].actor if token is not None else ActorId(name)
        found.append(PausedActor(actor=actor, token=token, by=pause.by, at=pause.at, why=pause.why))
    return PausesFound(seq=directory.seq, paused=found)


async def pause(workspace: Workspace, target: ActorId | TokenId, why: str = "") -> Entry:
    """Refuse everything to an actor or a token until it is resumed."""
    is_actor = ":" in target
    event = e.ActorPaused(
        actor=ActorId(target) if is_actor else None, token=None if is_actor else TokenId(target), why=why
    )
    (entry,) = await workspace.submit(WORKSPACE_LOG, [Draft(id=new_id(), event=event)])
    return entry


async def resume(workspace: Workspace, target: ActorId | TokenId) -> Entry:
    """Let an actor or a token go on."""
    is_actor = ":" in target
    event = e.ActorResumed(actor=ActorId(target) if is_actor else None, token=None if is_actor else TokenId(target))
    (entry,) = await workspace.submit(WORKSPACE_LOG, [Draft(id=new_id(), event=event)])
    return entry


async def stop_work(workspace: Workspace, actor: ActorId) -> list[Entry]:
    """Interrupt what an actor had asked to run, take back what waits, and cancel its runs, wherever one may."""
    stopped: list[Entry] = []
    async for log in _logs_at_work(workspace, actor):
        try:
            stopped += await _stop_in(workspace, log, actor)
        except Refused:
            continue  # whoever pauses may not run there: others of its logs may be open to them
    return stopped


async def _stop_in(workspace: Workspace, log: LogId, actor: ActorId) -> list[Entry]:
    now = await workspace.read(log)
    if now.run is not None and now.run.is_open:
        if now.run.by != actor:
            return []
        return await workspace.submit(log, [Draft(id=new_id(), event=e.RunCancelRequested(why=f"{actor} was paused"))])
    stopped: list[Entry] = []
    for execution in open_executions(now):
        if execution.by == actor:
            try:
                stopped.append(await stop_execution(workspace, log, execution.id))
            except NotFound:
                continue  # it ended by itself
    return stopped


async def _logs_at_work(workspace: Workspace, actor: ActorId) -> AsyncIterator[LogId]:
    """Yield the logs in which something that an actor asked for runs or waits; all of them where nobody can tell."""
    name = actor.replace("'", "''")
    sql = (
        f"SELECT log FROM executions WHERE actor = '{name}' AND state IN ('queued', 'claimed', 'running') "  # noqa: S608
        f"UNION SELECT run FROM runs WHERE actor = '{name}' AND status IN ('queued', 'claimed', 'running')"
    )
    try:
        answer = await workspace.query(sql, limit=MOST_LOGS)
        logs = [LogId(str(row[0])) for row in answer.rows]
    except QuireError:  # who may not read everything looks at what they may read
        logs = [info.log for info in await workspace.logs() if info.kind != "workspace"]
    for log in logs:
        yield log
