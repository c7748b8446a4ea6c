"""What becomes of a run of a schedule that is over: its output is committed or reported, and people are told.

How the run ended is in its log already, and stays; here it is added what was delivered and what could not be. Each is
tried a few times. A scheduler that is killed in between is followed by one that does the rest: what was under way at that
moment may be done twice.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ...core import events as e
from ...core.errors import BadInput, QuireError, Unavailable
from ...core.events import Draft, NotifyRule, RunDelivered
from ...core.ids import LogId
from ...core.notebook.directory import Schedule
from ...core.notebook.notebook import Notebook, Run
from ...core.results import outcome_of
from ...core.schedule.next_step import FAILED, NO_RETRIES
from ...core.schedule.threshold import parse_threshold
from ...disk import in_thread
from ...runs.records.run_snapshot import as_left
from ...workspace.clock import new_id
from ...workspace.local import LocalWorkspace
from .commit_output import commit_output, report_output

ATTEMPT_SECONDS: tuple[float, ...] = (0, 2, 10)
"""How long to wait before each attempt."""
ANSWER_SECONDS = 20.0
COMMAND_SECONDS = 60.0
HOLD_SECONDS = 300.0
MOST_DETAIL = 500
VARIABLE = "env:"
"""How a webhook begins whose address stands in a variable of the scheduler, so that no log has it."""


class _Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is to be done with a run."""

    kind: e.DeliveryKind
    target: str
    rule: NotifyRule | None = None
    reason: e.NotifyReason | None = None

    def is_done(self, done: Sequence[RunDelivered]) -> bool:
        """Whether the run's log says what became of it."""
        said = (self.kind, self.target, self.reason)
        return any((each.kind, each.target, each.reason) == said for each in done)


async def deliver_run(
    system: LocalWorkspace,
    folder: Path,
    name: str,
    schedule: Schedule,
    run: LogId,
    *,
    waits: Sequence[float] = ATTEMPT_SECONDS,
) -> None:
    """Do what the schedule wants with a run that is over, and record what became of it."""
    now = await as_left(system, run)
    if now.run is None or now.run.is_open or not await _wanted(system, name, schedule, run, now, now.run):
        return
    hold = await system.hold(f"delivery:{run}", HOLD_SECONDS)
    if hold is None:
        return  # another scheduler is at it
    try:
        said = (await system.read(run)).run
        for wanted in await _wanted(system, name, schedule, run, now, now.run):
            if said is None or not wanted.is_done(said.deliveries):
                await _deliver(system, folder, name, run, now, wanted, waits)
    finally:
        await system.let_go(hold)


async def _wanted(
    system: LocalWorkspace, name: str, schedule: Schedule, run: LogId, now: Notebook, ended: Run
) -> list[_Delivery]:
    plan = schedule.plan
    found: list[_Delivery] = []
    if ended.at < schedule.changed_at:
        return found  # it began when something else was wanted
    if ended.status == "success" and plan.output is not None:
        if plan.commit is not None:
            found.append(_Delivery(kind="commit", target=plan.commit))
        if plan.report:
            found.append(_Delivery(kind="report", target="reports"))
    if plan.notify:
        reasons = await _reasons(system, name, schedule, ended)
        found += [each for rule in plan.notify for each in _notifications(rule, reasons, now)]
    return found


async def _reasons(system: LocalWorkspace, name: str, schedule: Schedule, ended: Run) -> set[e.NotifyReason]:
    """Why somebody may want to be told: it failed for good, or it is well again."""
    due = ended.due
    if due is None:
        return set()
    if ended.status in FAILED:
        is_last = due.asked_by is not None or due.attempt > (schedule.plan.retries or NO_RETRIES).times
        return {"failure"} if is_last else set()
    if ended.status != "success":
        return set()
    before = await system.query(
        f"SELECT status FROM runs WHERE schedule = '{name}' AND actor = 'schedule:{name}' "  # noqa: S608
        f"AND (due < '{due.due}' OR due = '{due.due}' AND attempt < {due.attempt}) AND finished_at IS NOT NULL "
        "ORDER BY due DESC, attempt DESC LIMIT 1"
    )
    # A run that came well in its second attempt was never told as failed.
    has_failed = due.attempt == 1 and bool(before.rows) and before.rows[0][0] in FAILED
    return {"recovery"} if has_failed else set()


def _notifications(rule: NotifyRule, reasons: set[e.NotifyReason], now: Notebook) -> list[_Delivery]:
    given = set(reasons)
    results = {each.name: each.value for each in now.results.values() if each.blob is None}
    if rule.when is not None and parse_threshold(rule.when).is_crossed(results):
        given.add("threshold")
    kind: e.DeliveryKind = "webhook" if rule.webhook is not None else "command"
    target = _host(rule.webhook) if rule.webhook is not None else rule.command[0]
    return [_Delivery(kind=kind, target=target, rule=rule, reason=each) for each in rule.on if each in given]


def _host(webhook: str) -> str:
    """What is shown of an address: the rest of it may be secret."""
    return webhook if webhook.startswith(VARIABLE) else urlsplit(webhook).netloc.rpartition("@")[2]


async def _deliver(
    system: LocalWorkspace,
    folder: Path,
    name: str,
    run: LogId,
    now: Notebook,
    wanted: _Delivery,
    waits: Sequence[float],
) -> None:
    delivered, detail = False, ""
    for seconds in waits:
        await asyncio.sleep(seconds)
        try:
            detail = await _attempt(system, folder, name, run, now, wanted)
            delivered = True
            break
        except (QuireError, OSError) as error:
            detail = str(error)
            if isinstance(error, BadInput):
                break  # the same would be wrong with it the next time
    said = RunDelivered(
        kind=wanted.kind,
        delivered=delivered,
        target=wanted.target,
        reason=wanted.reason,
        detail=detail[:MOST_DETAIL],
    )
    acting = await system.as_schedule(name)
    await acting.submit(run, [Draft(id=new_id(), event=said)])


async def _attempt(
    system: LocalWorkspace, folder: Path, name: str, run: LogId, now: Notebook, wanted: _Delivery
) -> str:
    match wanted.kind:
        case "commit":
            return await commit_output(system, folder, name, run, now, wanted.target)
        case "report":
            return await report_output(system, folder, run)
        case "webhook":
            return await _post(wanted, _message(name, run, now, wanted.reason))
        case "command":
            return await in_thread(partial(_call, wanted, _message(name, run, now, wanted.reason), folder))


def _message(name: str, run: LogId, now: Notebook, reason: e.NotifyReason | None) -> bytes:
    outcome = outcome_of(run, now)
    due = now.run.due if now.run is not None else None
    told = {"schedule": name, "reason": reason, "due": due.due if due is not None else None}
    failed = outcome.failed_cell
    error = f"{failed.ename}: {failed.evalue}" if failed is not None else None
    if error is None and outcome.fault is not None:
        error = f"{outcome.fault.ename}: {outcome.fault.evalue}"
    text = f"Schedule {name}: {outcome.status}" + (f" ({error})" if error else "")
    facts: dict[str, Any] = {
        "status": outcome.status,
        "run": run,
        "duration_seconds": outcome.duration_seconds,
        "error": error,
        "results": outcome.scraps,
        "text": text,
    }
    return msgspec.json.encode(told | facts)


async def _post(wanted: _Delivery, message: bytes) -> str:
    try:
        import httpx
    except ModuleNotFoundError:
        raise BadInput("httpx is not installed, so no webhook can be called: pip install 'quire[remote]'.") from None
    rule = wanted.rule
    address = rule.webhook if rule is not None and rule.webhook is not None else ""
    if address.startswith(VARIABLE):
        variable = address.removeprefix(VARIABLE)
        address = os.environ.get(variable, "")
        if not address:
            raise BadInput(f"The scheduler has no variable {variable}. Set it where it is started.")
    headers = {"content-type": "application/json", "user-agent": "quire-scheduler"}
    try:
        async with httpx.AsyncClient(timeout=ANSWER_SECONDS, follow_redirects=False) as client:
            answer = await client.post(address, content=message, headers=headers)
    except httpx.HTTPError as error:
        raise Unavailable(f"{wanted.target} could not be reached: {type(error).__name__}") from None
    if answer.status_code >= 300:
        raise Unavailable(f"{wanted.target} answered {answer.status_code}")
    return str(answer.status_code)


def _call(wanted: _Delivery, message: bytes, folder: Path) -> str:
    import subprocess

    from ...kernels.kernel_environment import kernel_environment

    command = wanted.rule.command if wanted.rule is not None else ()
    try:
        done = subprocess.run(  # noqa: S603 - named by a human with `admin`, and through no shell
            command,
            input=message,
            capture_output=True,
            cwd=folder,
            timeout=COMMAND_SECONDS,
            check=False,
            env=kernel_environment(os.environ),
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{wanted.target} took longer than {COMMAND_SECONDS:g} s") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()[-200:]
        raise Unavailable(f"{wanted.target} ended with {done.returncode}: {said}")
    return "0"
