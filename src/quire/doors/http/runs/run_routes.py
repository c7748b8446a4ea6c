"""Runs and what they came to."""

from __future__ import annotations

from typing import Annotated, Literal

from litestar.params import FromPath
from msgspec import Meta

from ....core.errors import Refused
from ....core.events import Draft, RunCancelRequested
from ....core.ids import LogId
from ....core.notebook.notebook import Result
from ....runs.records.recorded_environment import packages_of
from ....runs.records.run_records import RunEntry, RunRecord, listed, listed_of, listing, record_of, run_of
from ....runs.records.run_snapshot import as_left
from ....verbs.answers.answer import Here
from ....workspace.clock import new_id
from ....workspace.local import LocalWorkspace
from ....workspace.wire import frames
from ....workspace.wire.bodies import Body, Reason, RunProposed, RunStart, RunStartedBody
from ..auth import Asked, door_of
from ..response_stream import while_there
from ..route import Asking, body_of, checked, query_of, route

Status = Literal["queued", "running", "success", "error", "timeout", "cancelled", "dead_kernel", "lost"]


class RunsAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which runs."""

    status: Status | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50


@route("GET", "/api/runs", "runs", tag="runs", query=RunsAsked, answer=list[RunEntry])
async def runs(request: Asking, workspace: Asked) -> list[RunEntry]:
    """List the runs that the bearer may read, the last one first."""
    return await while_there(request, _listed(workspace, query_of(request, RunsAsked)))


async def _listed(workspace: LocalWorkspace, asked: RunsAsked) -> list[RunEntry]:
    try:
        answer = await workspace.query(listing(asked.status, None, asked.limit), limit=asked.limit)
        return list(listed(answer.rows))
    except Refused:  # who may not read everything may read some of it
        return await _one_by_one(workspace, asked)


async def _one_by_one(workspace: LocalWorkspace, asked: RunsAsked) -> list[RunEntry]:
    found: list[RunEntry] = []
    for info in await workspace.logs("run"):
        run = listed_of(info.log, await as_left(workspace, info.log))
        if asked.status in (None, run.status):
            found.append(run)
        if len(found) == asked.limit:
            break
    return found


@route("POST", "/api/runs", "start_run", tag="runs", body=RunStart, answer=RunStartedBody)
async def start_run(request: Asking, workspace: Asked) -> RunStartedBody:
    """Run a notebook as it is, from top to bottom in a new kernel, as a process that outlives this request. Needs `run`.

    A token without `edit`, or one that has to ask before it may edit, changes nothing by it: the server lays out the cells of
    the run's own log, and the token may not change those either.

    Where the owner lets readers start runs (`run-policy`), it is enough to read the notebook; then only parameters that it
    declares can be given.

    The answer comes when the run has begun, or after 15 seconds; follow its log. What keeps it from beginning is answered
    instead: a parameter of another type, a kernel that is not there.
    """
    from ....verbs import run_detached
    from ....verbs.arguments import RunArguments

    wanted = await body_of(request, RunStart)
    log = LogId(checked(wanted.notebook, "Log"))
    here = Here(workspace=workspace, folder=door_of(request).home, may_start=True)
    run, began = await run_detached.start_run(here, RunArguments(notebook=log, parameters=wanted.parameters))
    return RunStartedBody(run=run, warnings=began.warnings if began is not None else ())


@route("GET", "/api/runs/{log}", "run", tag="runs", answer=RunRecord)
async def run(request: Asking, log: FromPath[str], workspace: Asked) -> RunRecord:
    """A run: its outcome, its cells and how each ended. What they showed is in the notebook of the same id.

    All of it as the run left it: what was done in its notebook since then changes nothing here.
    """
    id = LogId(checked(log, "Log"))
    now = await while_there(request, workspace.read(id))
    left = await while_there(request, as_left(workspace, id, now))
    return record_of(id, left, now, await while_there(request, packages_of(workspace, left)))


@route("POST", "/api/runs/{log}/cancel", "cancel", tag="runs", body=Reason, answer=frames.SubmissionOutcome)
async def cancel(request: Asking, log: FromPath[str], workspace: Asked) -> frames.SubmissionOutcome:
    """Ask for a run to be stopped. Its runtime interrupts the kernel and ends it as cancelled."""
    id = LogId(checked(log, "Log"))
    why = (await body_of(request, Reason)).why
    run_of(await workspace.read(id))
    entries = await workspace.submit(id, [Draft(id=new_id(), event=RunCancelRequested(why=why))])
    return frames.SubmissionOutcome(entries=[frames.from_entry(entry) for entry in entries])


@route("POST", "/api/runs/{log}/propose", "propose", tag="runs", body=Reason, answer=RunProposed)
async def propose(request: Asking, log: FromPath[str], workspace: Asked) -> RunProposed:
    """Propose to the source of a run what was changed in its notebook since it ended, for somebody else's yes.

    Where the source is a file that no notebook is bound to, one is made and bound to it. A source whose cells were
    changed as well is refused, with the difference.
    """
    from ....runs.fix import fix_proposal

    id = LogId(checked(log, "Log"))
    why = (await body_of(request, Reason)).why
    return await fix_proposal.propose(workspace, door_of(request).folder, id, why)


@route("GET", "/api/logs/{log}/results", "results", tag="runs", answer=dict[str, Result])
async def results(request: Asking, log: FromPath[str], workspace: Asked) -> dict[str, Result]:
    """The results that a notebook has, or that a run had when it ended, by name; of large ones, the blob."""
    id = LogId(checked(log, "Log"))
    return (await while_there(request, as_left(workspace, id))).results


ROUTES = [runs, start_run, run, cancel, propose, results]
