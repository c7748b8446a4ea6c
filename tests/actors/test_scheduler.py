"""Schedulers on a clock that tests move: what is begun, once, whoever is killed, late or beside another."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.actors.scheduler import Scheduler
from quire.connection import memory_workspace
from quire.core import events as e
from quire.core.errors import BadInput, Conflict, QuireError, Refused
from quire.core.events import Draft, RunRequested, RunSource, ScheduleAdded, SchedulePlan
from quire.core.ids import WORKSPACE_LOG, EventId, LogId, RuntimeId, due_key, due_run
from quire.core.notebook.directory import Schedule
from quire.workspace.clock import new_id, stamp
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace
from quire.workspace.log.process_id import this_process

from ..conftest import examples

START = datetime(2026, 3, 27, 12, tzinfo=UTC)
KILLED = "the process was killed"


class SetClock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.at = START

    def now(self) -> datetime:
        return self.at

    async def wait(self, until: datetime | None, woken: asyncio.Event) -> None:
        await woken.wait()


class World:
    """A workspace, a clock, and any number of schedulers, each of which may be killed at some step."""

    def __init__(self, workspace: LocalWorkspace, clock: SetClock) -> None:
        self.workspace, self.clock = workspace, clock
        self.system = workspace.acting_as(identities.system())
        self.began: list[tuple[str, str, int]] = []
        self.killed_before: set[int] = set()
        self.killed_after: set[int] = set()
        self.refuses = ""
        self.steps = 0
        self.delivered: list[LogId] = []

    def scheduler(self) -> Scheduler:
        """A new process, that knows nothing but what is in the store."""
        return Scheduler(self.system, self.begin, self.deliver, ZoneInfo, lambda message: None, self.clock)

    async def begin(self, name: str, schedule: Schedule, due: e.DueRun, run: LogId) -> None:
        self.steps += 1
        if self.refuses:
            raise BadInput(self.refuses)
        if self.steps in self.killed_before:
            raise KeyboardInterrupt(KILLED)
        acting = await self.system.as_schedule(name)
        event = RunRequested(name=name, source=RunSource(path="x.py"), runtime=None, due=due)
        draft = Draft(id=new_id(), event=event, key=due_key(name, due.due, due.attempt))
        entry = await acting.submit_once(run, draft)
        if entry.id != draft.id:
            raise Conflict("There is one already.")
        self.began.append((name, due.due, due.attempt))
        if self.steps in self.killed_after:
            raise KeyboardInterrupt(KILLED)

    async def deliver(self, name: str, schedule: Schedule, run: LogId) -> None:
        self.delivered.append(run)

    async def look(self, *schedulers: Scheduler) -> None:
        """Have all of them look at once; one that is killed looks no more."""
        await asyncio.gather(*(self._look(each) for each in schedulers))

    async def _look(self, scheduler: Scheduler) -> None:
        with contextlib.suppress(KeyboardInterrupt):
            await scheduler.look()

    async def add(self, name: str = "fleet", **plan: object) -> None:
        made = SchedulePlan(**{"when": "0 6 * * *", "path": "x.py", "timezone": "Europe/Zurich", **plan})  # type: ignore[arg-type]
        await self.say(ScheduleAdded(schedule=name, plan=made))

    async def say(self, event: e.ScheduleEvent) -> e.Entry:
        (entry,) = await self.workspace.submit(WORKSPACE_LOG, [Draft(id=new_id(), event=event)])
        return entry

    async def end(self, status: e.RunStatus = "success") -> None:
        """Have all runs end."""
        for info in await self.workspace.logs("run"):
            run = (await self.system.read(info.log)).run
            if run is None or not run.is_open:
                continue
            name = f"live-{info.log[-8:].lower()}"
            runtime = self.workspace.acting_as(identities.runtime(name))
            claim = e.RunClaimed(runtime=RuntimeId(f"runtime:{name}"))
            (claimed,) = await runtime.submit(info.log, [Draft(id=new_id(), event=claim)])
            assert isinstance(claimed.event, e.RunClaimed) and claimed.event.epoch is not None
            finished = e.RunFinished(epoch=claimed.event.epoch, status=status)
            await runtime.submit(info.log, [Draft(id=new_id(), event=finished)])

    async def skipped(self) -> list[e.ScheduleSkipped]:
        entries = await self.workspace.entries(WORKSPACE_LOG)
        return [entry.event for entry in entries if isinstance(entry.event, e.ScheduleSkipped)]


def at(day: int, hour: int, minute: int = 0) -> str:
    return stamp(datetime(2026, 3, day, hour, minute, tzinfo=UTC))


def make_world() -> World:
    clock = SetClock()
    made = memory_workspace()
    # What is recorded is stamped by the same clock.
    workspace = LocalWorkspace(
        made._shared.store,  # pyright: ignore[reportPrivateUsage]
        made._shared.blobs,  # pyright: ignore[reportPrivateUsage]
        now=lambda: stamp(clock.at),
    )
    return World(workspace, clock)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = make_world()
    yield made
    await made.workspace.close()


async def test_runs_begin_at_six_by_the_clock_of_zurich_also_when_it_changes(world: World) -> None:
    await world.add()
    scheduler = world.scheduler()
    for _ in range(3 * 24):
        world.clock.at += timedelta(hours=1)
        await world.look(scheduler)
        await world.end()
    assert [due for _, due, _ in world.began] == [at(28, 5), at(29, 4), at(30, 4)]
    numbers = [(await world.system.read(info.log)).run for info in await world.workspace.logs("run")]
    assert sorted(run.due.number for run in numbers if run and run.due) == [1, 2, 3]
    assert {run.by for run in numbers if run} == {"schedule:fleet"}


async def test_many_schedulers_come_to_one_run(world: World) -> None:
    await world.add()
    schedulers = [world.scheduler() for _ in range(5)]
    world.clock.at = START + timedelta(days=1)
    await world.look(*schedulers)
    await world.look(*schedulers, world.scheduler())
    assert len(world.began) == len(await world.workspace.logs("run")) == 1


@examples(12)
@given(
    st.sets(st.integers(1, 20), max_size=8),
    st.sets(st.integers(1, 20), max_size=8),
    st.lists(st.tuples(st.integers(-20, 100), st.booleans(), st.booleans()), min_size=3, max_size=10),
)
async def test_each_due_time_has_one_run_whoever_is_killed(
    before: set[int], after: set[int], looks: list[tuple[int, bool, bool]]
) -> None:
    """Rule 10: two schedulers, killed before and after the request, started again, on a clock that jumps."""
    world = make_world()
    await world.add(when="0 * * * *", missed="all", overlap="queue")
    world.killed_before, world.killed_after = before, after
    schedulers = [world.scheduler(), world.scheduler()]
    latest = START
    for minutes, restarts, ends in looks:
        world.clock.at += timedelta(minutes=minutes)
        latest = max(latest, world.clock.at)
        if restarts:
            schedulers[0] = world.scheduler()
        await world.look(*schedulers)
        if ends:
            await world.end()
    world.killed_before, world.killed_after = set(), set()
    world.clock.at = latest + timedelta(minutes=5)
    hours = int((world.clock.at - START).total_seconds() // 3600)
    last = world.scheduler()
    for _ in range(hours + 1):  # whoever comes next does what is left
        await world.look(last)
        await world.end()
    due = [due for _, due, _ in world.began]
    assert due == [stamp(START + timedelta(hours=number + 1)) for number in range(hours)]
    await world.workspace.close()


async def test_missed_times_are_on_record(world: World) -> None:
    await world.add(missed="skip")
    await world.add("daily", missed="once")
    world.clock.at = START + timedelta(days=4)
    await world.look(world.scheduler())
    assert [name for name, _, _ in world.began] == ["daily"] and world.began[0][1] == at(31, 4)
    said = {each.schedule: (each.due, each.until, each.count, each.reason) for each in await world.skipped()}
    assert said["fleet"] == (at(28, 5), at(31, 4), 4, "missed")
    assert said["daily"] == (at(28, 5), at(30, 4), 3, "missed")
    await world.look(world.scheduler())
    assert len(world.began) == 1 and len(await world.skipped()) == 2


async def test_what_is_due_while_a_run_goes_on_is_skipped_once_by_all(world: World) -> None:
    await world.add(when="*/10 * * * *")
    one, other = world.scheduler(), world.scheduler()
    for minutes in (10, 21, 22):
        world.clock.at = START + timedelta(minutes=minutes)
        await world.look(one, other)
    assert len(world.began) == 1
    assert [(each.reason, each.count) for each in await world.skipped()] == [("overlap", 1)]


async def test_a_run_in_the_way_is_cancelled_where_that_is_wanted(world: World) -> None:
    await world.add(when="*/10 * * * *", overlap="cancel")
    scheduler = world.scheduler()
    for minutes in (10, 20):
        world.clock.at = START + timedelta(minutes=minutes)
        await world.look(scheduler)
    (info,) = await world.workspace.logs("run")
    run = (await world.system.read(info.log)).run
    assert run is not None and run.cancelled_by == "system:quire"
    await world.end("cancelled")
    world.clock.at += timedelta(minutes=3)
    await world.look(scheduler)
    assert [due for _, due, _ in world.began] == [at(27, 12, 10), at(27, 12, 20)]


async def test_a_failed_run_is_tried_again_and_then_delivered(world: World) -> None:
    await world.add(retries=e.RetryRule(times=2, wait_seconds=60))
    scheduler = world.scheduler()
    world.clock.at = START + timedelta(days=1)
    for _ in range(12):
        await world.look(scheduler)
        await world.end("error")
        world.clock.at += timedelta(minutes=1)
    await scheduler.settle()
    assert [attempt for _, _, attempt in world.began] == [1, 2, 3]
    assert len(set(world.delivered)) == 3


async def test_a_run_whose_process_was_killed_before_it_claimed_it_is_lost(world: World) -> None:
    await world.add()
    scheduler = world.scheduler()
    world.clock.at = START + timedelta(days=1)
    directory = await world.workspace.directory()
    schedule = directory.schedules["fleet"]
    due = e.DueRun(schedule="fleet", due=at(28, 5))
    gone = this_process().rpartition("-")[0] + "-1"  # a process of this number that began at another time
    event = RunRequested(name="fleet", source=RunSource(), runtime=f"runtime:{gone}", due=due)
    acting = await world.system.as_schedule("fleet")
    draft = Draft(id=new_id(), event=event, key=due_key("fleet", due.due))
    await acting.submit_once(due_run(schedule.id, due.due), draft)
    await world.look(scheduler)
    run = (await world.system.read(due_run(schedule.id, due.due))).run
    assert run is not None and run.status == "lost" and world.began == []


async def test_a_run_that_was_asked_for_begins_once_also_while_paused(world: World) -> None:
    await world.add()
    await world.say(e.SchedulePaused(schedule="fleet"))
    world.clock.at += timedelta(days=1)
    asked = await world.say(e.ScheduleAsked(schedule="fleet"))
    await world.look(world.scheduler(), world.scheduler())
    assert world.began == [("fleet", asked.at, 1)]
    await world.end()
    await world.say(e.ScheduleResumed(schedule="fleet"))
    await world.look(world.scheduler())
    assert len(world.began) == 1 and await world.skipped() == []


async def test_what_cannot_run_is_skipped_with_the_reason(world: World) -> None:
    await world.add()
    asked = await world.say(e.ScheduleAsked(schedule="fleet"))
    world.refuses = "x.py is not there."
    await world.look(world.scheduler())
    (said,) = await world.skipped()
    assert (said.due, said.reason, said.why) == (asked.at, "refused", "x.py is not there.")
    world.refuses = ""
    world.clock.at += timedelta(days=1)
    await world.look(world.scheduler())
    assert [due for _, due, _ in world.began] == [at(28, 5)]  # it says nothing of when the schedule is due


async def test_a_schedule_that_is_removed_and_added_again_runs_no_time_twice(world: World) -> None:
    await world.add()
    world.clock.at = START + timedelta(days=1)
    await world.look(world.scheduler())
    await world.end()
    await world.say(e.ScheduleRemoved(schedule="fleet"))
    await world.add()
    await world.look(world.scheduler())
    assert len(world.began) == 1
    with pytest.raises(Refused, match="exists already"):
        await world.add()


async def test_who_may_add_and_change_schedules(world: World) -> None:
    owner = world.workspace
    made = await owner.create_token(e.ActorId("human:ada"), ["read", "edit", "run"])
    ada = await owner.bearer(made.secret)
    plan = SchedulePlan(when="0 6 * * *", path="x.py", notify=(e.NotifyRule(command=("mail", "me")),))

    async def add(who: LocalWorkspace, name: str, plan: SchedulePlan) -> QuireError | None:
        event = ScheduleAdded(schedule=name, plan=plan)
        try:
            await who.submit(WORKSPACE_LOG, [Draft(id=new_id(), event=event)])
        except QuireError as error:
            return error
        return None

    assert "names a command" in str(await add(ada, "a", plan))
    assert await add(owner, "a", plan) is None
    assert await add(ada, "b", msgspec.structs.replace(plan, notify=())) is None
    agent = await owner.create_token(e.ActorId("agent:codex"), ["read", "edit", "run"], asks=["run"])
    assert "has to ask" in str(
        await add(await owner.bearer(agent.secret), "c", msgspec.structs.replace(plan, notify=()))
    )
    for event in (e.SchedulePaused(schedule="a"), e.ScheduleRemoved(schedule="a")):
        with pytest.raises(Refused, match="is of human:"):
            await ada.submit(WORKSPACE_LOG, [Draft(id=new_id(), event=event)])
    # It acts for her, and as long as she may.
    acting = await world.system.as_schedule("b")
    assert (acting.identity.actor, acting.identity.on_behalf_of) == ("schedule:b", "human:ada")
    with pytest.raises(Refused):
        await acting.submit(WORKSPACE_LOG, [Draft(id=new_id(), event=ScheduleAdded(schedule="x", plan=plan))])
    revoked = Draft(id=EventId("revoked"), event=e.TokenRevoked(token=made.token))
    await owner.submit(WORKSPACE_LOG, [revoked])
    with pytest.raises(Refused, match="may not run any more"):
        await world.system.as_schedule("b")
