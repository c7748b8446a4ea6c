"""Queries, verification, and taking back what should never have been said."""

from __future__ import annotations

from litestar.params import FromPath
from litestar.response import Stream

from ....core.ids import LogId
from ....workspace.protocol import Table
from ....workspace.prune_runs import PrunePlan
from ....workspace.wire import frames
from ....workspace.wire.bodies import FindSecretBody, PruneBody, Question, RedactBody, SecretEvents, VerifyBody
from ..auth import Asked
from ..response_stream import JSON_LINES, json_lines, while_there
from ..route import Asking, body_of, checked, route


@route("POST", "/api/query", "query", tag="trust", body=Question, answer=Table)
async def query(request: Asking, workspace: Asked) -> Table:
    """Ask a question in SQL over the documented views. It cannot change anything; who asks may read everything."""
    asked = await body_of(request, Question)
    return await while_there(request, workspace.query(asked.sql, limit=asked.limit, seconds=asked.seconds))


@route("POST", "/api/verify", "verify", tag="trust", body=VerifyBody, answer=(JSON_LINES,))
async def verify(request: Asking, workspace: Asked) -> Stream:
    """Check the chains of logs. One line of JSON for each, as soon as it was checked; `flaw` is what was found."""
    logs = (await body_of(request, VerifyBody)).logs
    wanted = [LogId(checked(log, "Log")) for log in logs] if logs is not None else None
    return await while_there(request, json_lines(workspace.verify(wanted)))


@route("POST", "/api/prune/plan", "plan_prune", tag="trust", body=PruneBody, answer=PrunePlan)
async def plan_prune(request: Asking, workspace: Asked) -> PrunePlan:
    """Look which old runs could be removed, and what keeps the others. Changes nothing. Needs `admin`."""
    asked = await body_of(request, PruneBody)
    return await while_there(request, workspace.plan_prune(asked.older_than, asked.keep_last))


@route("POST", "/api/prune", "prune", tag="trust", body=PruneBody, answer=(JSON_LINES,))
async def prune(request: Asking, workspace: Asked) -> Stream:
    """Remove old runs, for good. One line of JSON for each step, as soon as it was done. Needs `admin`."""
    asked = await body_of(request, PruneBody)
    steps = workspace.prune(asked.older_than, asked.keep_last, only=asked.only)
    return await while_there(request, json_lines(steps))


@route("POST", "/api/logs/{log}/redactions", "redact", tag="trust", body=RedactBody, answer=frames.SubmissionOutcome)
async def redact(request: Asking, log: FromPath[str], workspace: Asked) -> frames.SubmissionOutcome:
    """Mask what events said, for good: all of it, or wherever a secret stands. That they happened stays. Needs `admin`."""
    id = LogId(checked(log, "Log"))
    asked = await body_of(request, RedactBody)
    entries = await workspace.redact(id, asked.seqs, asked.why, secret=asked.secret)
    return frames.SubmissionOutcome(entries=[frames.from_entry(entry) for entry in entries])


@route("POST", "/api/logs/{log}/holding", "holding", tag="trust", body=FindSecretBody, answer=SecretEvents)
async def holding(request: Asking, log: FromPath[str], workspace: Asked) -> SecretEvents:
    """Find the events that hold a secret, in what they say or in a blob. The secret is in the body: addresses are logged."""
    id = LogId(checked(log, "Log"))
    secret = (await body_of(request, FindSecretBody)).secret
    return SecretEvents(seqs=await while_there(request, workspace.holding(id, secret)))


@route("POST", "/api/logs/{log}/forget-snapshots", "forget_snapshots", tag="trust")
async def forget_snapshots(log: FromPath[str], workspace: Asked) -> None:
    """Throw away the snapshots of a log; they are made anew from it. Needs `admin`."""
    await workspace.forget_snapshots(LogId(checked(log, "Log")))


ROUTES = [query, verify, plan_prune, prune, redact, holding, forget_snapshots]
