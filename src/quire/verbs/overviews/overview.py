"""What is where in a workspace, for a home page: notebooks with their state, the last runs, what waits for somebody.

All of it is asked of the index, as Quire itself, and cut down to what the bearer may read. So it costs a few queries,
however many notebooks there are and however long their logs.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ...core.events import Scope
from ...core.ids import ActorId, CellId, LogId
from ...core.notebook.comments import awaiting
from ...core.values import Json
from ...formats.terminal_safe import one_line
from ...workspace.clock import now
from ...workspace.identity import identities
from ...workspace.local import LocalWorkspace
from ...workspace.protocol import LogInfo
from ..answers.comment_answer import OPEN_COMMENTS, comments_by_log

RUNS_SHOWN = 20
MOST_ROWS = 100_000
_TEXT = 300
_FAILED = "'error', 'timeout', 'dead_kernel', 'lost'"
_RUNS_READ = 50
"""So many times as many runs are read as are shown: some may be hidden from the bearer."""


class LastChange(msgspec.Struct, frozen=True, kw_only=True):
    """The last thing that somebody did, other than a runtime."""

    actor: ActorId
    on_behalf_of: ActorId | None
    at: str
    type: str
    """The event's tag."""


class NotebookSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook, as one row of a list."""

    log: LogId
    name: str
    file: str | None
    archived: bool
    cells: int
    errors: int
    """Cells that ended in an error, a timeout, a dead kernel, or were lost."""
    running: int
    """Cells that run or wait to run."""
    stale: int
    changed: LastChange
    present: tuple[ActorId, ...]
    """Who has it open now."""


class RunOf(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is of."""

    path: str | None
    notebook: LogId | None


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A run, as one row of a list."""

    log: LogId
    name: str
    status: str
    parameters: dict[str, Json]
    results: dict[str, Json]
    """Values by name, null for what is in a blob."""
    seconds: float | None
    at: str
    actor: ActorId
    on_behalf_of: ActorId | None
    source: RunOf


class WaitingItem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that waits for an answer."""

    kind: Literal["proposal", "question", "conflict", "comment"]
    log: LogId
    name: str
    id: str
    """Of the proposal, the execution that asks, the conflict, or the last comment of the thread."""
    by: ActorId
    on_behalf_of: ActorId | None
    at: str
    text: Annotated[str, Meta(max_length=1000)]
    """Why it is proposed, what is asked, the first line of what the file says, or the comment."""
    cell: CellId | None


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """All that a home page shows."""

    notebooks: list[NotebookSummary]
    runs: list[RunSummary]
    waiting: list[WaitingItem]


async def overview(workspace: LocalWorkspace) -> Overview:
    """Return the notebooks that the bearer may read, the one changed last first, the last runs, and what waits for them."""
    logs = {info.log: info for info in await workspace.logs()}
    return Overview(
        notebooks=await _notebooks(workspace, [info for info in logs.values() if info.kind == "notebook"]),
        runs=await run_summaries(workspace, logs=logs),
        waiting=await waiting(workspace, logs=logs),
    )


async def ask_index(workspace: LocalWorkspace, sql: str) -> list[tuple[Any, ...]]:
    """Ask the index as Quire itself: the caller keeps to itself what the bearer may not read."""
    system = workspace.acting_as(identities.system())
    return list((await system.query(sql, limit=MOST_ROWS)).rows)


# ---- Notebooks


async def _notebooks(workspace: LocalWorkspace, infos: Collection[LogInfo]) -> list[NotebookSummary]:
    counts = {
        row[0]: row[1:]
        for row in await ask_index(
            workspace,
            f"SELECT log, count(*), sum(CASE WHEN state IN ({_FAILED}) THEN 1 ELSE 0 END),"  # noqa: S608 - no foreign text
            " sum(CASE WHEN state IN ('queued', 'running') THEN 1 ELSE 0 END), sum(CASE WHEN stale THEN 1 ELSE 0 END)"
            " FROM cells GROUP BY log",
        )
    }
    changed = {
        row[0]: LastChange(at=row[1], actor=row[2], on_behalf_of=row[3], type=row[4])
        for row in await ask_index(workspace, "SELECT log, at, actor, on_behalf_of, type FROM changes")
    }
    files: dict[str, str] = dict(await ask_index(workspace, "SELECT log, path FROM bindings"))
    present = workspace.present()
    found = [
        _summary(info, counts.get(info.log), changed.get(info.log), files.get(info.log), present.get(info.log, ()))
        for info in infos
    ]
    return sorted(found, key=lambda each: (each.changed.at, each.log), reverse=True)


def _summary(
    info: LogInfo,
    counts: tuple[Any, ...] | None,
    changed: LastChange | None,
    file: str | None,
    present: Iterable[ActorId],
) -> NotebookSummary:
    cells, errors, running, stale = counts or (0, 0, 0, 0)
    begun = LastChange(actor=info.created_by, on_behalf_of=None, at=info.created_at, type="notebook_created")
    return NotebookSummary(
        log=info.log,
        name=info.name,
        file=file,
        archived=info.archived,
        cells=cells,
        errors=errors,
        running=running,
        stale=stale,
        changed=changed or begun,
        present=tuple(present),
    )


# ---- Runs


async def run_summaries(
    workspace: LocalWorkspace,
    notebook: LogId | None = None,
    limit: int = RUNS_SHOWN,
    logs: Collection[LogId] | None = None,
) -> list[RunSummary]:
    """Return the last runs that the bearer may read, the last one first; of one notebook, if it is given."""
    readable = logs if logs is not None else {info.log for info in await workspace.logs("run")}
    of = f"WHERE notebook = {quoted(notebook)}" if notebook is not None else ""
    rows = await ask_index(
        workspace,
        "SELECT run, name, status, parameters, seconds, requested_at, actor, on_behalf_of, path, notebook"  # noqa: S608 - quoted
        f" FROM runs {of} ORDER BY requested_at DESC, run DESC LIMIT {limit * _RUNS_READ}",
    )
    shown = [row for row in rows if row[0] in readable][:limit]
    results = await _results(workspace, [row[0] for row in shown])
    return [_run(row, results.get(row[0], {})) for row in shown]


async def _results(workspace: LocalWorkspace, runs: Collection[str]) -> dict[str, dict[str, Json]]:
    found: dict[str, dict[str, Json]] = {}
    if runs:
        among = ", ".join(map(quoted, runs))
        sql = f"SELECT log, name, value, blob FROM results WHERE log IN ({among}) ORDER BY at"  # noqa: S608 - quoted
        for log, name, value, blob in await ask_index(workspace, sql):
            found.setdefault(log, {})[name] = None if blob is not None else json.loads(value)
    return found


def _run(row: tuple[Any, ...], results: dict[str, Json]) -> RunSummary:
    run, name, status, parameters, seconds, requested_at, actor, on_behalf_of, path, notebook = row
    return RunSummary(
        log=run,
        name=name,
        status=shown_status(status),
        parameters=json.loads(parameters),
        results=results,
        seconds=seconds,
        at=requested_at,
        actor=actor,
        on_behalf_of=on_behalf_of,
        source=RunOf(path=path, notebook=notebook),
    )


def shown_status(status: str) -> str:
    """Return a run's status for readers: what a runtime has claimed runs."""
    return "running" if status == "claimed" else status


def quoted(text: str) -> str:
    """Write a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


# ---- What waits


async def waiting(workspace: LocalWorkspace, logs: dict[LogId, LogInfo] | None = None) -> list[WaitingItem]:
    """Return what waits for the bearer: proposals of others, questions of cells that they ran, file conflicts, comments.

    Only what they may answer: a proposal takes `approve`, a question `run`, a conflict `edit`, and so does a comment.
    """
    known = logs if logs is not None else {info.log: info for info in await workspace.logs()}
    found = [
        *await _proposals(workspace, known),
        *await _conflicts(workspace, known),
        *await _questions(workspace, known),
        *await _comments(workspace, known),
    ]
    needs: dict[str, Scope] = {"proposal": "approve", "question": "run", "conflict": "edit", "comment": "edit"}
    scopes = await workspace.scopes({each.log for each in found})
    mine = [each for each in found if needs[each.kind] in scopes[each.log]]
    return sorted(mine, key=lambda each: (each.at, each.id))


async def _proposals(workspace: LocalWorkspace, logs: dict[LogId, LogInfo]) -> list[WaitingItem]:
    sql = (
        "SELECT log, proposal, actor, on_behalf_of, at, why FROM proposals"  # noqa: S608 - our own time
        f" WHERE state = 'open' AND (expires_at IS NULL OR expires_at > '{now()}')"
    )
    return [
        WaitingItem(
            kind="proposal",
            log=log,
            name=logs[log].name,
            id=proposal,
            by=actor,
            on_behalf_of=on_behalf_of,
            at=at,
            text=one_line(why, _TEXT),
            cell=None,
        )
        for log, proposal, actor, on_behalf_of, at, why in await ask_index(workspace, sql)
        if log in logs and actor != workspace.identity.actor
    ]


async def _conflicts(workspace: LocalWorkspace, logs: dict[LogId, LogInfo]) -> list[WaitingItem]:
    sql = (
        "SELECT c.log, c.conflict, c.cell, c.theirs, e.at, e.actor, e.on_behalf_of"
        " FROM conflicts c JOIN events e ON e.log = c.log AND e.seq = c.seq"
    )
    return [
        WaitingItem(
            kind="conflict",
            log=log,
            name=logs[log].name,
            id=conflict,
            by=actor,
            on_behalf_of=on_behalf_of,
            at=at,
            text=one_line(theirs, _TEXT),
            cell=cell,
        )
        for log, conflict, cell, theirs, at, actor, on_behalf_of in await ask_index(workspace, sql)
        if log in logs
    ]


async def _comments(workspace: LocalWorkspace, logs: dict[LogId, LogInfo]) -> list[WaitingItem]:
    """The threads that address the bearer, each with the last thing that somebody else said in it."""
    said = comments_by_log(await ask_index(workspace, OPEN_COMMENTS))
    me, found = workspace.identity.actor, list[WaitingItem]()
    for log in said.keys() & logs.keys():
        for thread in awaiting(said[log], me):
            id, last = [(id, each) for id, each in thread.comments.items() if each.by != me][-1]
            found.append(
                WaitingItem(
                    kind="comment",
                    log=log,
                    name=logs[log].name,
                    id=id,
                    by=last.by,
                    on_behalf_of=last.on_behalf_of,
                    at=last.at,
                    text=one_line(last.text, _TEXT),
                    cell=thread.cell,
                )
            )
    return found


async def _questions(workspace: LocalWorkspace, logs: dict[LogId, LogInfo]) -> list[WaitingItem]:
    found: list[WaitingItem] = []
    for log, asked in workspace.questions():
        if log not in logs:
            continue
        execution = (await workspace.read(log)).execution(asked.execution)
        me = workspace.identity.actor
        if execution is None or me not in (execution.by, execution.on_behalf_of):
            continue
        found.append(
            WaitingItem(
                kind="question",
                log=log,
                name=logs[log].name,
                id=execution.id,
                by=execution.by,
                on_behalf_of=execution.on_behalf_of,
                at=execution.started_at or execution.at,
                text=one_line(asked.prompt, _TEXT),
                cell=execution.cell,
            )
        )
    return found
