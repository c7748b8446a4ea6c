"""Begins what schedules want, when they want it: follows the workspace log and the clock.

Any number of schedulers may live at once, and each may be killed at any point. What keeps them apart is no lock but the
log: the run of a due time has a log of its own, whose id follows from schedule and time, and begins with an event whose key
is of that time; so there is one, whoever began it. What is to be done next is decided by core/schedule/next_step.py from
what the logs say; how a run is begun, and what becomes of it afterwards, is given by whoever makes a scheduler.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Protocol

from ..core import events as e
from ..core.errors import BadInput, Conflict, NotFound, QuireError, Refused, Unavailable
from ..core.events import Draft, Fault
from ..core.ids import HOUSE_KEYS, WORKSPACE_LOG, LogId, due_run, schedule_actor
from ..core.notebook.directory import Schedule
from ..core.notebook.notebook import Run
from ..core.schedule.next_step import Begin, BegunRun, Cancel, ScheduleState, Skip, Step, Wait, next_step
from ..workspace.clock import new_id, stamp
from ..workspace.local import LocalWorkspace
from ..workspace.log.process_id import is_gone
from ..workspace.tasks import cancel_and_wait

LOOK_SECONDS = 30.0
"""A clock that was set is noticed by then."""
BEGIN_SECONDS = 120.0
"""A run that was started and has no log after so long is started again."""
MOST_STEPS = 200
"""So many steps of one schedule before others have their turn."""
RECENT = 10
"""So many of the last runs of a schedule are looked at for what is still to be done with them."""

BeginRun = Callable[[str, Schedule, e.DueRun, LogId], Awaitable[None]]
"""Begins a run under that id; raises what keeps it from beginning."""
DeliverRun = Callable[[str, Schedule, LogId], Awaitable[None]]
"""Does with a run that is over what its schedule wants, unless that was done."""


class SchedulerClock(Protocol):
    """What time it is, and how it is waited for."""

    def now(self) -> datetime:
        """Return the time, in UTC."""
        ...

    async def wait(self, until: datetime | None, woken: asyncio.Event) -> None:
        """Return at that time, when somebody wakes us, or a while later at most."""
        ...


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """Return the time, in UTC."""
        return datetime.now(UTC)

    async def wait(self, until: datetime | None, woken: asyncio.Event) -> None:
        """Return at that time, when somebody wakes us, or after LOOK_SECONDS at most: the clock may be set meanwhile."""
        seconds = LOOK_SECONDS if until is None else (until - self.now()).total_seconds()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, min(seconds, LOOK_SECONDS))):
                await woken.wait()


class Scheduler:
    """Runs what is due. `system` acts as Quire itself; `zone` finds a time zone by its name."""

    def __init__(
        self,
        system: LocalWorkspace,
        begin: BeginRun,
        deliver: DeliverRun,
        zone: Callable[[str], tzinfo],
        tell: Callable[[str], None],
        clock: SchedulerClock | None = None,
    ) -> None:
        self._system, self._begin, self._deliver, self._zone, self._tell = system, begin, deliver, zone, tell
        self._clock = clock or SystemClock()
        self._woken = asyncio.Event()
        self._begun: dict[str, list[LogId]] = {}
        """The last runs of each schedule (by the event that added it), as far as they are known here."""
        self._handled: dict[str, datetime | None] = {}
        """For what time each schedule ran last by itself, as far as it was looked up."""
        self._started: dict[LogId, datetime] = {}
        """The runs whose process was started here and that have no log yet."""
        self._open: set[LogId] = set()
        self._delivering: dict[LogId, asyncio.Task[None]] = {}
        self._delivered: set[LogId] = set()
        self._told: dict[str, str] = {}

    async def run(self) -> None:
        """Look, and look again when something is due or happens, until cancelled."""
        following = asyncio.ensure_future(self._follow())
        try:
            while True:
                self._woken.clear()
                try:
                    until = await self.look()
                except Unavailable as error:  # a store that is away is waited for
                    self._tell_once("", f"Schedules wait: {error}")
                    until = None
                await self._clock.wait(until, self._woken)
        finally:
            await cancel_and_wait(following, *self._delivering.values())

    async def look(self) -> datetime | None:
        """Do all that is to be done now; return when the next thing is due by the clock."""
        directory = await self._system.directory()
        times: list[datetime] = []
        for name, schedule in directory.schedules.items():
            if schedule.removed is not None and schedule.id not in self._begun:
                continue
            try:
                until = await self._work(name, schedule)
            except (BadInput, Conflict, NotFound, Refused) as error:
                self._tell_once(name, f"Schedule {name!r}: {error}")
                continue
            if until is not None:
                times.append(until)
        return min(times, default=None)

    async def settle(self) -> None:
        """Wait until what is being delivered is."""
        while self._delivering:
            await asyncio.wait(list(self._delivering.values()))

    async def look_at(self, name: str) -> None:
        """Do what is to be done now of one schedule."""
        await self._work(name, (await self._system.directory()).schedules[name])

    async def _follow(self) -> None:
        """Notice what others do: add a schedule, ask for a run, end one."""
        while True:
            try:
                async for page in self._system.feed():
                    if any(growth.log == WORKSPACE_LOG or growth.log in self._open for growth in page):
                        self._woken.set()
            except Unavailable:
                await asyncio.sleep(LOOK_SECONDS)

    def _tell_once(self, name: str, message: str) -> None:
        if self._told.get(name) != message:
            self._told[name] = message
            self._tell(message)

    # ---- One schedule

    async def _work(self, name: str, schedule: Schedule) -> datetime | None:
        for _ in range(MOST_STEPS):
            state = await self._state(name, schedule, fresh=schedule.id not in self._begun)
            step = next_step(state, self._clock.now())
            if not isinstance(step, Wait):
                # Others may have been at work while this process stood still: look at all of it before doing anything.
                schedule = (await self._system.directory()).schedules[name]
                state = await self._state(name, schedule, fresh=True)
                step = next_step(state, self._clock.now())
            self._deliver_ended(name, schedule)
            if isinstance(step, Wait):
                return step.until
            if not await self._do(name, schedule, step):
                return self._clock.now() + timedelta(seconds=1)
        return self._clock.now()

    async def _do(self, name: str, schedule: Schedule, step: Step) -> bool:
        """Do one step; return whether the next one can be looked at now."""
        match step:
            case Begin():
                return await self._begin_run(name, schedule, step)
            case Skip():
                await self._skip(name, step)
            case Cancel():
                why = f"Schedule {name!r} is due again."
                drafts = [Draft(id=new_id(), event=e.RunCancelRequested(why=why))]
                with contextlib.suppress(Conflict, Refused):  # it came to its end meanwhile
                    await self._system.submit(step.run, drafts)
            case Wait():
                pass
        return True

    async def _begin_run(self, name: str, schedule: Schedule, step: Begin) -> bool:
        due = e.DueRun(
            schedule=name, due=_stamp(step.due), number=step.number, attempt=step.attempt, asked_by=step.asked_by
        )
        run = due_run(schedule.id, due.due, due.attempt)
        if await self._run(run) is not None:
            self._note(schedule, run)
            return True
        started = self._started.get(run)
        if started is not None and timedelta() <= self._clock.now() - started < timedelta(seconds=BEGIN_SECONDS):
            return False
        self._started[run] = self._clock.now()
        try:
            await self._begin(name, schedule, due, run)
        except (BadInput, Conflict, NotFound, Refused) as error:
            if await self._run(run) is None:  # else another scheduler was first
                self._tell(f"Schedule {name!r} did not run: {error}")
                await self._skip(name, _whole(step, "refused", str(error)))
                return True
        except Unavailable as error:
            self._tell(f"Schedule {name!r} could not run yet: {error}")
            return False
        if await self._run(run) is None:
            return False  # it takes its time
        self._started.pop(run, None)
        self._note(schedule, run)
        return True

    async def _skip(self, name: str, step: Skip) -> None:
        event = e.ScheduleSkipped(
            schedule=name,
            due=_stamp(step.due),
            until=_stamp(step.until),
            count=step.count,
            reason=step.reason,
            why=step.why[:1000],
        )
        key = f"{HOUSE_KEYS}{name}@{event.due}..{event.until}"
        with contextlib.suppress(NotFound):  # it was removed meanwhile
            await self._system.submit_once(WORKSPACE_LOG, Draft(id=new_id(), event=event, key=key))

    # ---- What is known of its runs

    async def _state(self, name: str, schedule: Schedule, *, fresh: bool) -> ScheduleState:
        if fresh:
            await self._look_up(name, schedule)
        runs = [await self._begun_run(run) for run in self._begun[schedule.id][-RECENT:]]
        known = [run for run in runs if run is not None]
        last = max(known, key=lambda run: (run.begun_at, run.attempt), default=None)
        handled = max((run.due for run in known if not run.is_asked), default=self._handled[schedule.id])
        handled = max(handled, self._handled[schedule.id] or handled) if handled is not None else None
        here = {run.run for run in known}
        asked = [each for each in schedule.asked if due_run(schedule.id, each.at) not in here]
        asked = [each for each in asked if await self._run(due_run(schedule.id, each.at)) is None]
        if last is not None and last.is_open:
            self._open.add(last.run)
        return ScheduleState(
            name=name,
            schedule=schedule,
            zone=self._zone(schedule.plan.timezone),
            last=last,
            handled=handled,
            asked=tuple(asked),
        )

    async def _look_up(self, name: str, schedule: Schedule) -> None:
        """Find the last runs of a schedule, the first one first, and for what time it ran last by itself."""
        mine = f"FROM runs WHERE schedule = '{name}' AND actor = '{schedule_actor(name)}'"  # a name holds no quotes
        found = await self._system.query(f"SELECT run {mine} ORDER BY due DESC, attempt DESC LIMIT {RECENT}")
        self._begun[schedule.id] = [LogId(str(run)) for (run,) in reversed(found.rows)]
        latest = await self._system.query(f"SELECT max(due) {mine} AND asked_by IS NULL")
        ((due,),) = latest.rows
        self._handled[schedule.id] = datetime.fromisoformat(str(due)) if due is not None else None

    def _note(self, schedule: Schedule, run: LogId) -> None:
        runs = self._begun.setdefault(schedule.id, [])
        if run not in runs:
            runs.append(run)
        self._open.add(run)

    async def _run(self, run: LogId) -> Run | None:
        try:
            return (await self._system.read(run)).run
        except NotFound:
            return None

    async def _begun_run(self, log: LogId) -> BegunRun | None:
        run = await self._run(log)
        if run is None:
            return None
        if run.status == "queued" and run.wants is not None and is_gone(run.wants):
            run = await self._end_unclaimed(log, run)
        due = run.due
        if due is None:
            return None
        if not run.is_open:
            self._open.discard(log)
        finished = datetime.fromisoformat(run.finished_at) if run.finished_at is not None else None
        return BegunRun(
            run=log,
            due=datetime.fromisoformat(due.due),
            number=due.number,
            attempt=due.attempt,
            begun_at=datetime.fromisoformat(run.at),
            status=run.status,
            finished_at=finished,
            is_asked=due.asked_by is not None,
            is_cancelled=run.cancelled_by is not None,
        )

    async def _end_unclaimed(self, log: LogId, run: Run) -> Run:
        """End a run whose process was killed before it claimed it: no lease tells of it."""
        fault = Fault(ename="Lost", evalue="The process that began it is gone, and did not say how it ended.")
        event = e.RunFinished(epoch=0, status="lost", fault=fault)
        with contextlib.suppress(Conflict, Refused):
            await self._system.submit(log, [Draft(id=new_id(), event=event)])
        return await self._run(log) or run

    # ---- What becomes of them

    def _deliver_ended(self, name: str, schedule: Schedule) -> None:
        for run in self._begun[schedule.id][-RECENT:]:
            if run in self._open or run in self._delivered or run in self._delivering:
                continue
            task = asyncio.ensure_future(self._deliver_run(name, schedule, run))
            self._delivering[run] = task
            task.add_done_callback(lambda _, run=run: self._delivering.pop(run, None))

    async def _deliver_run(self, name: str, schedule: Schedule, run: LogId) -> None:
        try:
            await self._deliver(name, schedule, run)
            self._delivered.add(run)
        except QuireError as error:
            self._tell(f"Schedule {name!r}, run {run}: what became of it could not be told: {error}")


def _stamp(time: datetime) -> str:
    return stamp(time.astimezone(UTC))


def _whole(step: Begin, reason: e.SkipReason, why: str) -> Skip:
    return Skip(due=step.due, until=step.due, count=1, reason=reason, why=why)
