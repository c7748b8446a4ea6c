"""The runtimes of a log, for whoever works with them: how they are, what their cells ask, and how those are stopped."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from ...core import events as e
from ...core.errors import Conflict, NotFound, Refused, Unavailable
from ...core.events import Draft, Entry
from ...core.ids import HOUSE_KEYS, ExecutionId, LogId, RuntimeId
from ...core.notebook.notebook import Execution, Notebook
from ...core.values import Json
from ..clock import new_id
from . import lane_messages
from .lanes import Lanes
from .runtime_status import Board, PendingPrompt

if TYPE_CHECKING:
    from ..protocol import Workspace

HEARD_SECONDS = 3.0
"""A question is said again every 2 seconds: who has not heard it after this long hears none."""


class RuntimeFound(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A runtime that is attached to a notebook, and what it said last of itself."""

    id: RuntimeId
    name: str = ""
    language: str | None = None
    environment: dict[str, Json] = {}
    kernel: str | None = None
    restarts: int = 0
    health: lane_messages.RuntimeHealth | None = None
    """Null when it has said nothing for a while: it may be gone, or cut off."""
    asks: tuple[lane_messages.Prompt, ...] = ()
    """What its cells want to know."""


def found_in(notebook: Notebook, log: LogId, board: Board) -> list[RuntimeFound]:
    """The runtimes of a log, in the order in which they came."""
    health, waiting = board.health(log), board.waiting(log).values()
    return [
        RuntimeFound(
            id=each.id,
            name=each.name,
            language=each.language,
            environment=each.environment,
            kernel=each.kernel,
            restarts=each.restarts,
            health=health.get(each.id),
            asks=tuple(found.asked for found in waiting if found.by == each.id),
        )
        for each in notebook.runtimes.values()
    ]


# ---- Answering


class PromptAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody answers."""

    answer: str
    prompt: str | None = None
    """To what. Refused if something else is asked by now."""
    password: bool = False
    """Whether it is to be recorded nowhere, also if the cell did not say so."""


async def answer_input(
    workspace: Workspace,
    submit_once: Callable[[LogId, Draft], Awaitable[Entry]],
    lanes: Lanes,
    log: LogId,
    execution: ExecutionId,
    given: PromptAnswer,
) -> Entry:
    """Record an answer under the name of whoever gives it. A password goes to the runtime alone, and into no log."""
    waiting = await _asked(workspace, lanes.board, log, execution)
    asked, lane = waiting.asked, f"{log}/{lane_messages.STDIN}"
    if given.prompt is not None and given.prompt != asked.prompt:
        raise Conflict(f"Execution {execution!r} asks something else by now: {asked.prompt[:200]!r}. Answer that.")
    is_secret = asked.password or given.password
    if is_secret and not (waiting.is_elsewhere or lanes.listens(lane, waiting.by)):
        raise Unavailable(f"{waiting.by} does not listen just now, and what is secret is not kept for it. Try again.")
    event = e.InputAnswered(execution=execution, prompt=asked.prompt, answer=None if is_secret else given.answer)
    # One answer to one question: whoever is second is refused, be it at another server.
    key = answer_key(log, asked)
    entry = await submit_once(log, Draft(id=new_id(), key=key, event=event))
    if entry.event != event:
        raise Conflict(f"Execution {execution!r} was answered already. Wait for what it asks next.")
    if is_secret:
        told = lane_messages.SecretAnswer(execution=execution, question=asked.question, answer=given.answer)
        lanes.say(lane, lane_messages.said(told), workspace.identity.actor, to=waiting.by)
    return entry


def answer_key(log: LogId, asked: lane_messages.Prompt) -> str:
    """By which key the one answer to a question is recorded."""
    return f"{HOUSE_KEYS}input:{log}:{asked.execution}:{asked.question}"


async def _asked(workspace: Workspace, board: Board, log: LogId, execution: ExecutionId) -> PendingPrompt:
    _running(await workspace.read(log), execution)
    waiting = await board.until_asked(log, execution, HEARD_SECONDS)
    now = _running(await workspace.read(log), execution)
    if waiting is None or waiting.by != now.runtime:
        raise Conflict(f"Execution {execution!r} asks for no input. Its output tells what it does.")
    return waiting


def _running(notebook: Notebook, execution: ExecutionId) -> Execution:
    found = notebook.execution(execution)
    if found is None:
        told = f"There is no open execution {execution!r} in notebook {notebook.name!r}"
        raise NotFound(f"{told}, so it asks for no input. It may be over: read its cell.")
    return found


# ---- Stopping


async def stop_execution(workspace: Workspace, log: LogId, execution: ExecutionId) -> Entry:
    """Interrupt what runs; take back what waits."""
    while True:
        notebook = await workspace.read(log)
        found = notebook.execution(execution)
        if found is None:
            raise NotFound(f"There is no open execution {execution!r} in notebook {notebook.name!r}. It may be over.")
        try:
            (entry,) = await workspace.submit(log, [Draft(id=new_id(), event=_stopping(found))])
            return entry
        except (NotFound, Refused):
            # It may have begun, or ended, since it was looked at: there are two such steps, and no way back.
            now = (await workspace.read(log)).execution(execution)
            if now is not None and now.state == found.state:
                raise


async def unheard(workspace: Workspace, log: LogId, executions: Iterable[Execution]) -> dict[ExecutionId, str]:
    """Of what runs, say which runtime does not answer: its lease has lapsed, and it did not take it again."""
    wanted = {execution.id for execution in executions if execution.state != "queued"}
    found: dict[ExecutionId, str] = {}
    for held in await workspace.claims() if wanted else ():
        claim, is_lapsed = held.claim, held.log == log and held.seconds_left <= 0
        if is_lapsed and isinstance(claim, e.ExecutionClaimed) and claim.execution in wanted:
            silent = f"{claim.runtime} does not answer: its lease ran out {-held.seconds_left:.0f} s ago"
            found[claim.execution] = f"{silent}. The cell stops when that runtime is back, or ends as lost"
    return found


def _stopping(execution: Execution) -> e.InterruptRequested | e.ExecutionCancelled:
    """What stops it, as it is."""
    if execution.state == "queued":
        return e.ExecutionCancelled(execution=execution.id, why="taken back")
    return e.InterruptRequested(execution=execution.id)


def open_executions(notebook: Notebook) -> list[Execution]:
    """Return the executions that run or wait, in the order in which they were requested."""
    executions = (notebook.execution(id) for id in notebook.executions)
    return [execution for execution in executions if execution is not None]
