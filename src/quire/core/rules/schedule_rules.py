"""What may happen to schedules: all that can be said against one is said when it is added.

Whether its file is there, its zone is known and its output stays in the folder is looked at by whoever adds it
(verbs/schedules): a log knows no disk.
"""

from __future__ import annotations

import re

from .. import events as e
from ..errors import BadInput, NotFound, Refused
from ..ids import check_schedule_name, check_time, nearest, schedule_actor
from ..notebook.directory import Directory, Schedule
from ..schedule.template import check_templates
from ..schedule.threshold import parse_threshold
from ..schedule.timetable import parse_timetable
from .context import SubmissionContext

SCHEDULE_SCOPES = frozenset(("read", "edit", "run"))
MOST_SECONDS = 366 * 86_400.0
MOST_RETRIES = 100
MOST_NOTIFIED = 10
_ADDRESS = re.compile(r"https?://[^\s/?#]+[^\s]*|env:QUIRE_WEBHOOK_[A-Z0-9_]{1,60}")


def check(now: Directory, event: e.ScheduleEvent, asking: SubmissionContext) -> None:
    """Refuse what cannot be, or what makes no sense as things are."""
    match event:
        case e.ScheduleAdded():
            check_schedule_name(event.schedule)
            known = now.schedules.get(event.schedule)
            if known is not None and known.removed is None:
                raise Refused(
                    f"Schedule {event.schedule!r} exists already, added by {known.by}. Change it, or remove it."
                )
            _check_scopes(event)
            check_plan(event.plan)
        case e.ScheduleChanged():
            _known(now, event.schedule)
            check_plan(event.plan)
        case e.SchedulePaused():
            if (pause := _known(now, event.schedule).paused) is not None:
                raise Refused(f"Schedule {event.schedule!r} was paused already, by {pause.by}.")
        case e.ScheduleResumed():
            if _known(now, event.schedule).paused is None:
                raise NotFound(f"Schedule {event.schedule!r} is not paused.")
        case e.ScheduleRemoved() | e.ScheduleAsked():
            _known(now, event.schedule)
        case e.ScheduleSkipped():
            _check_skipped(now, event, asking)


def check_plan(plan: e.SchedulePlan) -> None:
    """Refuse a plan by which nothing could run, with the reason."""
    parse_timetable(plan.when)
    if not plan.path.strip() or "\0" in plan.path:
        raise BadInput("A schedule runs a notebook file: name its path.")
    check_templates(plan.parameters, "parameters")
    if plan.output is not None:
        check_templates(plan.output, "output", in_path=True)
    _check_numbers(plan)
    if len(plan.notify) > MOST_NOTIFIED:
        raise BadInput(f"A schedule notifies {MOST_NOTIFIED} at most, not {len(plan.notify)}.")
    for rule in plan.notify:
        _check_rule(rule)
    if plan.output is None and (plan.commit is not None or plan.report):
        raise BadInput("What is committed or reported is the output: name one.")


def names_command(plan: e.SchedulePlan) -> bool:
    """Whether a plan starts a program of its own: only a human with `admin` may have that done."""
    return any(rule.command for rule in plan.notify)


def _known(now: Directory, name: str) -> Schedule:
    found = now.schedules.get(name)
    if found is None or found.removed is not None:
        living = [each for each, schedule in now.schedules.items() if schedule.removed is None]
        close = nearest(name, living)
        hint = f" Nearest: {', '.join(close)}." if close else " `quire schedule list` shows those that there are."
        raise NotFound(f"There is no schedule {name[:80]!r}.{hint}")
    return found


def _check_scopes(event: e.ScheduleAdded) -> None:
    if not SCHEDULE_SCOPES.issuperset(event.scopes) or not {"read", "run"} <= set(event.scopes):
        raise BadInput("A schedule has the scopes read and run, and edit if its runs are to change notebooks.")
    if "run" in event.asks:
        raise BadInput("A run of a whole notebook cannot be proposed, so a schedule cannot ask before it runs.")
    if not set(event.asks) <= set(event.scopes):
        raise BadInput("A schedule that asks before it edits needs the scope edit as well.")


def _check_numbers(plan: e.SchedulePlan) -> None:
    retries = plan.retries or e.RetryRule()
    named: dict[str, float | None] = {
        "jitter": plan.jitter_seconds,
        "timeout": plan.timeout_seconds,
        "keep": plan.keep_seconds,
        "the wait of retries": retries.wait_seconds,
        "the longest wait of retries": retries.most_seconds,
    }
    for name, seconds in named.items():
        if seconds is not None and not 0 <= seconds <= MOST_SECONDS:
            raise BadInput(f"{name} is 0 seconds to 366 days, not {seconds:g} s.")
    if plan.timeout_seconds == 0:
        raise BadInput("A timeout of 0 s would end every run. Leave it out for none.")
    if not 0 <= retries.times <= MOST_RETRIES:
        raise BadInput(f"A run is tried again {MOST_RETRIES} times at most, not {retries.times}.")


def _check_rule(rule: e.NotifyRule) -> None:
    if (rule.webhook is None) == (not rule.command):
        raise BadInput("A notification goes to a webhook or to a command: name one of the two.")
    if rule.webhook is not None and not _ADDRESS.fullmatch(rule.webhook):
        raise BadInput(
            f"webhook {rule.webhook[:80]!r} is no address: write https://…, or env:QUIRE_WEBHOOK_NAME for a variable of the scheduler."
        )
    if not rule.on:
        raise BadInput("A notification is sent on failure, recovery or threshold: name at least one.")
    if ("threshold" in rule.on) != (rule.when is not None):
        raise BadInput("A threshold is a comparison: `when: health_score < 0.8`, with `on: [threshold]`.")
    if rule.when is not None:
        parse_threshold(rule.when)


def _check_skipped(now: Directory, event: e.ScheduleSkipped, asking: SubmissionContext) -> None:
    _known(now, event.schedule)
    if not asking.actor.startswith("system:") and asking.actor != schedule_actor(event.schedule):
        raise Refused(f"What schedule {event.schedule!r} skips is said by the scheduler, not by {asking.actor}.")
    for time in (event.due, event.until):
        check_time(time, "A due time")
    if event.count < 1 or event.due > event.until:
        raise BadInput("What is skipped is at least one time, and the last is not before the first.")
