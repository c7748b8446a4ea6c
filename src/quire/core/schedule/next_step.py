"""What is to be done next for a schedule: begin a run, skip times, cancel a run, or wait.

One pure function of what the logs say and what time it is. Whoever asks does the one step and asks again; it does not
matter who asks, how often, or what became of whoever asked before.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from itertools import takewhile
from typing import TypeAlias

import msgspec

from ..events import RetryRule, SkipReason
from ..ids import ActorId, LogId
from ..notebook.directory import AskedRun, Schedule
from .timetable import Timetable, due_times, jitter, latest_due, parse_timetable

GRACE_SECONDS = 60.0
"""A run that begins so late is on time."""
MOST_COUNTED = 1000
MOST_MISSED = 100
"""So many missed times are run one by one where all of them are wanted; older ones are skipped."""
NO_RETRIES = RetryRule()
FAILED = frozenset(("error", "timeout", "dead_kernel", "lost"))
"""The ends of runs that are tried again. One that somebody cancelled is not."""


class BegunRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that a schedule began."""

    run: LogId
    due: datetime
    number: int
    attempt: int
    begun_at: datetime
    status: str
    finished_at: datetime | None
    is_asked: bool = False
    is_cancelled: bool = False
    """Whether somebody asked for its end."""

    @property
    def is_open(self) -> bool:
        """Whether it goes on."""
        return self.finished_at is None


class ScheduleState(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule with what became of it so far."""

    name: str
    schedule: Schedule
    zone: tzinfo
    last: BegunRun | None = None
    """The run that it began last."""
    handled: datetime | None = None
    """The last due time for which it began a run, without those that somebody asked for."""
    asked: tuple[AskedRun, ...] = ()
    """The runs that were asked for and have not begun."""


class Begin(msgspec.Struct, frozen=True, kw_only=True):
    """Begin a run."""

    due: datetime
    number: int
    attempt: int = 1
    asked_by: ActorId | None = None


class Skip(msgspec.Struct, frozen=True, kw_only=True):
    """Record that times are not run."""

    due: datetime
    until: datetime
    count: int
    reason: SkipReason
    why: str


class Cancel(msgspec.Struct, frozen=True, kw_only=True):
    """Ask for the end of a run in whose place another begins."""

    run: LogId


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """There is nothing to do before that time, or before something happens."""

    until: datetime | None = None


Step: TypeAlias = Begin | Skip | Cancel | Wait


def next_step(state: ScheduleState, now: datetime) -> Step:
    """Return what is to be done now."""
    schedule, last = state.schedule, state.last
    if schedule.removed is not None:
        return Wait()
    ready = None if schedule.paused is not None else _Ready(state, now)
    if last is not None and last.is_open:
        return _beside_open(state, last, ready)
    if state.asked:
        asked = state.asked[0]
        return Begin(due=datetime.fromisoformat(asked.at), number=_number(state), asked_by=asked.by)
    if ready is None:
        return Wait()
    if not ready.times:
        return _retry(state, last, ready, now)
    return _of_ready(state, ready, now)


def retry_wait(rule: RetryRule, attempt: int) -> timedelta:
    """Return how long after the end of an attempt the next one begins."""
    return timedelta(seconds=min(rule.wait_seconds * 2.0 ** min(attempt - 1, 30), rule.most_seconds))


def due_after(state: ScheduleState) -> datetime:
    """Return the moment after which due times have not been dealt with."""
    skipped = state.schedule.skipped_until
    known = [_since(state.schedule), *([datetime.fromisoformat(skipped)] if skipped is not None else [])]
    return max([*known, *([state.handled] if state.handled is not None else [])])


def _since(schedule: Schedule) -> datetime:
    """From when on it is due: it was added, or changed, or resumed."""
    return datetime.fromisoformat(max(schedule.since, schedule.resumed_at or ""))


class _Ready:
    """The due times that are to be dealt with now, and when there is the next one."""

    def __init__(self, state: ScheduleState, now: datetime) -> None:
        plan = state.schedule.plan
        self._timetable: Timetable = parse_timetable(plan.when)
        self._zone, self._anchor = state.zone, datetime.fromisoformat(state.schedule.since)
        self._starts: Callable[[datetime], datetime] = lambda due: due + jitter(state.name, due, plan.jitter_seconds)
        coming = due_times(self._timetable, self._zone, self._anchor, due_after(state))
        self.times: list[datetime] = []
        self.next: datetime | None = None
        for due in coming:
            if self._starts(due) > now:
                self.next = self._starts(due)
                break
            self.times.append(due)
            if len(self.times) == MOST_COUNTED:
                # So many that nobody wants to count: of those behind them, only the latest matter.
                self.times += self._latest(due, now - timedelta(seconds=plan.jitter_seconds))
                break

    def _latest(self, after: datetime, until: datetime) -> list[datetime]:
        """The last two that were missed, and those since then that are on time."""
        clock = (self._timetable, self._zone, self._anchor)
        missed = latest_due(*clock, after, until - timedelta(seconds=GRACE_SECONDS, microseconds=1))
        before = latest_due(*clock, after, missed - timedelta(microseconds=1)) if missed is not None else None
        on_time = takewhile(lambda due: due <= until, due_times(*clock, missed or after))
        return [*(each for each in (before, missed) if each is not None), *on_time]

    def starts(self, due: datetime) -> datetime:
        """When a run for a due time begins."""
        return self._starts(due)

    def skip(self, times: list[datetime], reason: SkipReason, why: str) -> Skip:
        """Skip the first of them."""
        count = min(len(times), MOST_COUNTED)
        return Skip(due=times[0], until=times[-1], count=count, reason=reason, why=why)


def _number(state: ScheduleState) -> int:
    return (state.last.number if state.last is not None else 0) + 1


def _beside_open(state: ScheduleState, last: BegunRun, ready: _Ready | None) -> Step:
    """A run goes on: what is due meanwhile is skipped, waits, or ends it."""
    if ready is None or not ready.times:
        return Wait(until=ready.next if ready is not None else None)
    match state.schedule.plan.overlap:
        case "skip":
            return ready.skip(ready.times, "overlap", f"Run {last.run} was going on.")
        case "cancel" if not last.is_cancelled:
            return Cancel(run=last.run)
        case _:
            return Wait()


def _retry(state: ScheduleState, last: BegunRun | None, ready: _Ready, now: datetime) -> Step:
    """Try a run again that failed. Once the next one is due, that takes its place."""
    rule = state.schedule.plan.retries or NO_RETRIES
    if last is None or last.finished_at is None or last.is_asked or last.status not in FAILED:
        return Wait(until=ready.next)
    if last.attempt > rule.times or last.begun_at < _since(state.schedule):
        return Wait(until=ready.next)
    at = last.finished_at + retry_wait(rule, last.attempt)
    if now >= at:
        return Begin(due=last.due, number=last.number, attempt=last.attempt + 1)
    return Wait(until=min(at, ready.next) if ready.next is not None else at)


def _of_ready(state: ScheduleState, ready: _Ready, now: datetime) -> Step:
    plan, last, times = state.schedule.plan, state.last, ready.times
    beside = list(takewhile(lambda due: _was_open(last, due), times))
    if beside and plan.overlap == "skip":
        why = f"Run {last.run if last is not None else ''} was going on."
        return ready.skip(beside, "overlap", why)
    grace = timedelta(seconds=GRACE_SECONDS)
    late = [] if beside else list(takewhile(lambda due: now > ready.starts(due) + grace, times))
    match plan.missed:
        case "skip" if late:
            return ready.skip(late, "missed", "No scheduler was there at that time.")
        case "once" if len(late) > 1 or (late and len(times) > 1):
            kept = late if len(times) > len(late) else late[:-1]
            return ready.skip(kept, "missed", "No scheduler was there at that time. The latest one is run instead.")
        case "all" if len(late) > MOST_MISSED:
            kept = late[:-MOST_MISSED] if len(late) <= MOST_COUNTED else late[:-1]
            return ready.skip(kept, "missed", "No scheduler was there for so long that not all of them are run.")
        case _:
            return Begin(due=times[0], number=_number(state))


def _was_open(last: BegunRun | None, due: datetime) -> bool:
    return last is not None and last.finished_at is not None and last.begun_at <= due <= last.finished_at
