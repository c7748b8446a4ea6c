"""Queries, verification, and taking back what should never have been said."""

from __future__ import annotations

from litestar.params import FromPath
from litestar.response import Stream

from ...core.ids import LogId
from ...workspace import wire
from ...workspace.bodies import Holding, Looking, Pruning, Question, Redacting, Verifying
from ...workspace.pruning import PrunePlan
from ...workspace.workspace import Table
from .answering import JSON_LINES, json_lines, while_there
from .asking import Asked
from .route import Asking, body_of, checked, route


@route("POST", "/api/query", "query", tag="trust", body=Question, answer=Table)
async def query(request: Asking, workspace: Asked) -> Table:
    """Ask a question in SQL over the documented views. It cannot change anything; who asks may read everything."""
    asked = await body_of(request, Question)
    return await while_there(request, workspace.query(asked.sql, limit=asked.limit, seconds=asked.seconds))


@route("POST", "/api/verify", "verify", tag="trust", body=Verifying, answer=(JSON_LINES,))
async def verify(request: Asking, workspace: Asked) -> Stream:
    """Check the chains of logs. One line of JSON for each, as soon as it was checked; `flaw` is what was found."""
    logs = (await body_of(request, Verifying)).logs
    wanted = [LogId(checked(log, "Log")) for log in logs] if logs is not None else None
    return await while_there(request, json_lines(workspace.verify(wanted)))


@route("POST", "/api/prune/plan", "plan_prune", tag="trust", body=Pruning, answer=PrunePlan)
async def plan_prune(request: Asking, workspace: Asked) -> PrunePlan:
    """Look which old runs could be removed, and what keeps the others. Changes nothing. Needs `admin`."""
    asked = await body_of(request, Pruning)
    return await while_there(request, workspace.plan_prune(asked.older_than, asked.keep_last))


@route("POST", "/api/prune", "prune", tag="trust", body=Pruning, answer=(JSON_LINES,))
async def prune(request: Asking, workspace: Asked) -> Stream:
    """Remove old runs, for good. One line of JSON for each step, as soon as it was done. Needs `admin`."""
    asked = await body_of(request, Pruning)
    steps = workspace.prune(asked.older_than, asked.keep_last, only=asked.only)
    return await while_there(request, json_lines(steps))


@route("POST", "/api/logs/{log}/redactions", "redact", tag="trust", body=Redacting, answer=wire.Submitted)
async def redact(request: Asking, log: FromPath[str], workspace: Asked) -> wire.Submitted:
    """Mask what events said, for good: all of it, or wherever a secret stands. That they happened stays. Needs `admin`."""
    id = LogId(checked(log, "Log"))
    asked = await body_of(request, Redacting)
    entries = await workspace.redact(id, asked.seqs, asked.why, secret=asked.secret)
    return wire.Submitted(entries=[wire.from_entry(entry) for entry in entries])


@route("POST", "/api/logs/{log}/holding", "holding", tag="trust", body=Looking, answer=Holding)
async def holding(request: Asking, log: FromPath[str], workspace: Asked) -> Holding:
    """Find the events that hold a secret, in what they say or in a blob. The secret is in the body: addresses are logged."""
    id = LogId(checked(log, "Log"))
    secret = (await body_of(request, Looking)).secret
    return Holding(seqs=await while_there(request, workspace.holding(id, secret)))


@route("POST", "/api/logs/{log}/forget-snapshots", "forget_snapshots", tag="trust")
async def forget_snapshots(log: FromPath[str], workspace: Asked) -> None:
    """Throw away the snapshots of a log; they are made anew from it. Needs `admin`."""
    await workspace.forget_snapshots(LogId(checked(log, "Log")))


ROUTES = [query, verify, plan_prune, prune, redact, holding, forget_snapshots]
