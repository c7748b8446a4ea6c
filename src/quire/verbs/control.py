"""What is done beside editing and running: stopping, restarting, commenting, answering, putting away."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias, TypeVar

from ..core import events as e
from ..core.errors import BadInput, NotFound, Refused
from ..core.events import Draft, Entry, KnownEvent
from ..core.ids import CellId, CommentId, LogId, nearest
from ..core.notebook.cell_lookup import find_cell
from ..core.notebook.comments import thread_of
from ..core.notebook.notebook import Execution, Notebook
from ..core.values import Json
from ..formats.agent_text.render_context import short_ids
from ..formats.terminal_safe import one_line, plain
from ..workspace.clock import new_id
from ..workspace.lanes.runtime_info import PromptAnswer, open_executions, stop_execution, unheard
from .answers.answer import Here, VerbAnswer
from .arguments import Action, ControlArguments
from .find import opened


async def control(here: Here, wanted: ControlArguments) -> VerbAnswer:
    """Stop what runs, restart its kernel, cancel what waits; comment, answer, take back, put away."""
    log = await opened(here, wanted.notebook)
    _check(wanted)
    now = await here.workspace.read(log)
    await here.at(log, "reading", _place(now, wanted))
    said, facts = await _ACTIONS[wanted.action](here, log, now, wanted)
    seq = (await here.workspace.read(log)).seq
    text = f"{said} · cursor {seq}"
    return VerbAnswer(text=text, facts={"notebook": log, "name": now.name, "cursor": seq, "did": wanted.action} | facts)


def _place(now: Notebook, wanted: ControlArguments) -> CellId | None:
    """The cell that is named, or that a named comment is about."""
    if wanted.cell is not None:
        return _cell(now, wanted.cell)
    known = CommentId(wanted.id or "")
    return thread_of(now.comments, known).cell if known in now.comments else None


_Id = TypeVar("_Id", bound=str)
_Did: TypeAlias = tuple[str, dict[str, Json]]
"""What was done, in words and for programs."""
_NEEDS: dict[Action, tuple[str, ...]] = {
    "comment": ("text",),
    "resolve": ("id",),
    "answer": ("text",),
    "withdraw": ("id",),
}
_TAKES: dict[Action, tuple[str, ...]] = {
    "interrupt": ("cell", "id"),
    "cancel": ("cell", "id", "text"),
    "restart": (),
    "comment": ("cell", "id", "text"),
    "resolve": ("id", "text"),
    "answer": ("cell", "id", "text"),
    "withdraw": ("id",),
    "archive": (),
    "unarchive": (),
}


def _check(wanted: ControlArguments) -> None:
    for name in _NEEDS.get(wanted.action, ()):
        if getattr(wanted, name) is None:
            raise BadInput(f"{wanted.action} needs `{name}`.")
    for name in ("cell", "id", "text"):
        if getattr(wanted, name) is not None and name not in _TAKES[wanted.action]:
            raise BadInput(f"{wanted.action} takes no `{name}`. Leave it out.")


async def _submitted(here: Here, log: LogId, *events: KnownEvent) -> list[Entry]:
    return await here.workspace.submit(log, [Draft(id=new_id(), event=event) for event in events])


# ---- What runs


async def _interrupt(here: Here, log: LogId, now: Notebook, wanted: ControlArguments) -> _Did:
    if now.run is not None and now.run.is_open:
        raise Refused(f"{now.name!r} is a run that goes on: it is stopped as a whole. Use cancel.")
    meant = [each for each in _meant(now, wanted) if wanted.cell or wanted.id or each.state == "running"]
    return await _stopped(here, log, now, meant, "Nothing runs")


async def _cancel(here: Here, log: LogId, now: Notebook, wanted: ControlArguments) -> _Did:
    if now.run is not None and now.run.is_open:
        why = wanted.text or ""
        queued = now.run.status == "queued"
        await _submitted(here, log, e.RunFinished(status="cancelled") if queued else e.RunCancelRequested(why=why))
        return f"run {log} {'is cancelled' if queued else 'is asked to stop'}", {"run": log}
    meant = [each for each in _meant(now, wanted) if each.state != "running"]
    return await _stopped(here, log, now, meant, "Nothing waits to be run")


def _meant(now: Notebook, wanted: ControlArguments) -> list[Execution]:
    """What is under way: all of it, of one cell, or one execution."""
    found = open_executions(now)
    if wanted.id is not None:
        return [each for each in found if each.id == wanted.id]
    if wanted.cell is not None:
        cell = _cell(now, wanted.cell)
        return [each for each in found if each.cell == cell]
    return found


def _cell(now: Notebook, wanted: str) -> CellId:
    """The cell that is meant; also code that runs without one, by its id."""
    cells = list(now.live_cells)
    try:
        return cells[find_cell(cells, wanted)].id
    except NotFound:
        scratches = [id for id, cell in now.cells.items() if cell.scratch and wanted and id.startswith(wanted)]
        if len(scratches) != 1:
            raise
        return scratches[0]


async def _stopped(here: Here, log: LogId, now: Notebook, meant: Iterable[Execution], none: str) -> _Did:
    ids, stopped = short_ids(now), list[Execution]()
    for execution in meant:
        with contextlib.suppress(NotFound):  # it has ended meanwhile
            await stop_execution(here.workspace, log, execution.id)
            stopped.append(execution)
    if not stopped:
        raise NotFound(f"{none} there in {now.name!r}: it may be over. Read the notebook to see how its cells are.")
    did = {"running": "interrupted"}
    told = ", ".join(f"{did.get(each.state, 'took back')} {ids.get(each.cell, each.cell)}" for each in stopped)
    silent = await unheard(here.workspace, log, stopped)
    told = "; ".join([told, *silent.values()])
    facts: dict[str, Json] = {"executions": [each.id for each in stopped], "cells": [each.cell for each in stopped]}
    return told, facts | ({"unanswered": dict(silent)} if silent else {})


async def _restart(here: Here, log: LogId, now: Notebook, wanted: ControlArguments) -> _Did:
    await _submitted(here, log, e.RestartRequested())
    kernels = ", ".join(plain(each.name or each.id) for each in now.runtimes.values())
    return f"asked {kernels or 'its runtime'} for a new kernel: what cells defined is gone then", {}


async def _answer(here: Here, log: LogId, now: Notebook, wanted: ControlArguments) -> _Did:
    asking = [each for each in _meant(now, wanted) if each.state == "running"]
    if len(asking) != 1:
        told = "Nothing runs that could ask" if not asking else f"{len(asking)} cells run"
        raise NotFound(f"{told} in {now.name!r}. Name the cell that asks.")
    (execution,) = asking
    await here.workspace.answer_input(log, execution.id, PromptAnswer(answer=wanted.text or ""))
    ids = short_ids(now)
    return f"answered {ids.get(execution.cell, execution.cell)}", {"executions": [execution.id]}


# ---- What is said


async def _comment(here: Here, log: LogId, now: Notebook, wanted: ControlArguments) -> _Did:
    reply = _known(now.comments, wanted.id, "comment", now) if wanted.id is not None else None
    cell = _cell(now, wanted.cell) if wanted.cell is not None else None
    made = e.CommentAdded(comment=CommentId(new_id()), text=wanted.text or "", cell=cell, reply_to=reply)
    await _submitted(here, log, made)
    about = f" on {short_ids(now).get(cell, cell)}" if cell is not None else ""
    about = f" in answer to {reply}" if reply is not None else about
    return f"commented{about} as {made.comment}: {one_line(made.text, 80)}", {"comment": made.comment}


async def _resolve(here: Here, log: LogId, now: Notebook, wanted: ControlArguments) -> _Did:
    """Resolve the thread of a comment; with a text, answer it first."""
    comment = _known(now.comments, wanted.id or "", "comment", now)
    thread = thread_of(now.comments, comment).id
    resolved = e.CommentResolved(comment=thread)
    if wanted.text is None:
        await _submitted(here, log, resolved)
        return f"resolved comment {thread}", {"comment": thread}
    answer = e.CommentAdded(comment=CommentId(new_id()), text=wanted.text, reply_to=comment)
    await _submitted(here, log, answer, resolved)
    return f"answered {comment} as {answer.comment} and resolved it", {"comment": thread, "answer": answer.comment}


async def _withdraw(here: Here, log: LogId, now: Notebook, wanted: ControlArguments) -> _Did:
    proposal = _known(now.proposals, wanted.id or "", "proposal", now)
    await _submitted(here, log, e.ProposalWithdrawn(proposal=proposal))
    return f"withdrew proposal {proposal}", {"proposal": proposal}


def _known(ids: Iterable[_Id], wanted: str, what: str, now: Notebook) -> _Id:
    """What is meant by an id, or by the beginning of one."""
    known = list(ids)
    matching = [id for id in known if id == wanted] or [id for id in known if wanted and id.startswith(wanted)]
    if len(matching) == 1:
        return matching[0]
    close = nearest(wanted, known) or known[-3:]
    hint = f"Nearest: {', '.join(close)}." if close else "There is none."
    raise NotFound(f"There is no {what} {wanted[:80]!r} in {now.name!r}. {hint}", nearest=list(close))


# ---- The notebook


async def _archive(here: Here, log: LogId, now: Notebook, wanted: ControlArguments) -> _Did:
    archived = wanted.action == "archive"
    if now.archived != archived:
        await _submitted(here, log, e.NotebookArchived(archived=archived))
    return f"{plain(now.name)} is {'put away' if archived else 'in use again'}", {"archived": archived}


_ACTIONS: dict[Action, Callable[[Here, LogId, Notebook, ControlArguments], Awaitable[_Did]]] = {
    "interrupt": _interrupt,
    "cancel": _cancel,
    "restart": _restart,
    "answer": _answer,
    "comment": _comment,
    "resolve": _resolve,
    "withdraw": _withdraw,
    "archive": _archive,
    "unarchive": _archive,
}
