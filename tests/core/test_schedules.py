"""When schedules are due, held against an oracle that looks at every minute; templates; what is to be done next."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from itertools import islice, pairwise, takewhile
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core import events as e
from quire.core.errors import BadInput
from quire.core.ids import ActorId, EventId, LogId, due_run
from quire.core.notebook.directory import Pause, Schedule
from quire.core.schedule.next_step import Begin, BegunRun, Cancel, ScheduleState, Skip, Wait, next_step, retry_wait
from quire.core.schedule.template import MissingValue, check_templates, fill, fill_output, values_at
from quire.core.schedule.threshold import parse_threshold
from quire.core.schedule.timetable import (
    MOST_BACK,
    due_times,
    first_real,
    jitter,
    latest_due,
    next_times,
    parse_duration,
    parse_timetable,
    settled,
)

from ..conftest import examples

# Clocks that change by an hour, by half an hour, at midnight, backwards by three hours, across a date, and never.
ZONES = (
    "UTC",
    "Europe/Zurich",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Havana",
    "Asia/Beirut",
    "America/St_Johns",
    "Antarctica/Casey",
    "Africa/Casablanca",
    "Asia/Kathmandu",
)
NOW = datetime(2026, 3, 1, tzinfo=UTC)


# ---- The oracle


def field(text: str, lowest: int, highest: int) -> set[int]:
    """The numbers that a field of a cron line stands for."""
    numbers: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = (f"{lowest}-{highest}" if span == "*" else span).partition("-")
        end = int(last or (highest if step else first))
        numbers |= set(range(int(first), end + 1, int(step or 1)))
    return numbers


@cache
def fields(line: str) -> tuple[set[int], set[int], set[int], set[int], set[int], bool]:
    """What each field stands for, and whether a day has to fit both of its fields."""
    minute, hour, day, month, weekday = line.split()
    weekdays = {number % 7 for number in field(weekday, 0, 7)}
    both = "*" in (day[0], weekday[0])
    return field(minute, 0, 59), field(hour, 0, 23), field(day, 1, 31), field(month, 1, 12), weekdays, both


def fits(line: str, wall: datetime) -> bool:
    minutes, hours, days, months, weekdays, both = fields(line)
    if wall.minute not in minutes or wall.hour not in hours or wall.month not in months:
        return False
    on_day, on_weekday = wall.day in days, wall.isoweekday() % 7 in weekdays
    return (on_day and on_weekday) if both else (on_day or on_weekday)


def oracle(line: str, zone: tzinfo, start: datetime, end: datetime) -> Iterator[datetime]:
    """Look at the clock every minute, and at what it skipped since the last one."""
    minute, hour, *_ = line.split()
    is_fixed = "*" not in (minute[0], hour[0])
    # A clock shows the same times again within a day, if it does.
    shown: set[datetime] = set()
    moment = start - timedelta(days=1)
    before = moment.astimezone(zone).replace(tzinfo=None)
    while moment < end:
        moment += timedelta(minutes=1)
        wall = moment.astimezone(zone).replace(tzinfo=None, fold=0)
        due = fits(line, wall)
        if is_fixed:
            due = due and wall not in shown
            shown.add(wall)
            skipped = before + timedelta(minutes=1)
            while skipped < wall and wall - skipped < timedelta(hours=5):
                due = due or (fits(line, skipped) and skipped not in shown)
                shown.add(skipped)
                skipped += timedelta(minutes=1)
        if due and start < moment <= end:
            yield moment
        before = wall


@cache
def changes(name: str) -> list[datetime]:
    """The days on which the clock of a zone changes, in 2005 to 2035, and some on which it does not."""
    zone = ZoneInfo(name)
    days = [datetime(2005, 1, 1, tzinfo=UTC) + timedelta(days=number) for number in range(30 * 365)]
    offsets = [day.astimezone(zone).utcoffset() for day in days]
    found = [day for day, (one, other) in zip(days, pairwise(offsets), strict=False) if one != other]
    return [*found, days[100], days[5000]]


@st.composite
def lines(draw: st.DrawFn) -> str:
    """Cron lines that are due around the hours in which clocks change."""
    minute = draw(st.sampled_from(["*", "0", "30", "*/15", "*/7", "5,35", "10-20", "59", "1"]))
    hour = draw(st.sampled_from(["*", "0", "1", "2", "3", "2,3", "0-3", "*/2", "23", "1-3/2"]))
    day = draw(st.sampled_from(["*", "*", "*", "1-7", "*/2", "25-31"]))
    month = draw(st.sampled_from(["*", "*", "3,4,10,11"]))
    return f"{minute} {hour} {day} {month} {draw(st.sampled_from(['*', '*', '0', '1-5', '6,7']))}"


@pytest.mark.generated
@examples(40)
@given(lines(), st.sampled_from(ZONES), st.data())
def test_due_times_are_those_that_a_clock_shows_minute_by_minute(line: str, name: str, data: st.DataObject) -> None:
    zone = ZoneInfo(name)
    start = data.draw(st.sampled_from(changes(name))) - timedelta(hours=data.draw(st.integers(0, 30)))
    end = start + timedelta(days=2)
    due = takewhile(lambda each: each <= end, due_times(parse_timetable(line), zone, NOW, start))
    assert list(due) == list(oracle(line, zone, start, end))


@pytest.mark.parametrize("name", ["Europe/Zurich", "Australia/Lord_Howe"])
@pytest.mark.parametrize("line", ["30 2 * * *", "*/30 * * * *", "15 1 * * 0", "0 0 29 2 *"])
@pytest.mark.torture
def test_years_of_cron_are_those_of_the_oracle(name: str, line: str) -> None:
    zone, start, end = ZoneInfo(name), datetime(2023, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)
    due = takewhile(lambda each: each <= end, due_times(parse_timetable(line), zone, NOW, start))
    assert list(due) == list(oracle(line, zone, start, end))


def test_a_time_that_the_clock_skips_or_shows_twice_is_due_once() -> None:
    zone = ZoneInfo("Europe/Zurich")
    spring, autumn = datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert next_times(parse_timetable("30 2 * * *"), zone, NOW, spring, 2) == [
        datetime(2026, 3, 29, 1, 0, tzinfo=UTC),  # 02:30 is skipped: 03:00, the first moment after it
        datetime(2026, 3, 30, 0, 30, tzinfo=UTC),
    ]
    assert next_times(parse_timetable("30 2 * * *"), zone, NOW, autumn, 2) == [
        datetime(2026, 10, 25, 0, 30, tzinfo=UTC),  # the first of two
        datetime(2026, 10, 26, 1, 30, tzinfo=UTC),
    ]
    hours = next_times(parse_timetable("0 * * * *"), zone, NOW, autumn.replace(hour=23), 4)
    assert [each.hour for each in hours] == [0, 1, 2, 3]  # every hour that passes, also the one that is shown twice


@pytest.mark.torture
def test_no_clock_goes_back_by_more_than_is_reckoned_with() -> None:
    for name in sorted(available_timezones()):
        zone = ZoneInfo(name)
        offsets = [
            (datetime(2000, 1, 1, tzinfo=UTC) + timedelta(days=number)).astimezone(zone).utcoffset() or timedelta()
            for number in range(40 * 365)
        ]
        back = max(one - other for one, other in pairwise(offsets))
        assert back < MOST_BACK or name in ("Pacific/Apia", "Pacific/Fakaofo"), name  # a date line was crossed


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("0 0 30 2 *", "day"),
        ("0 0 31 4,6 *", "day"),
        ("61 * * * *", "minute"),
        ("* * * *", "five fields"),
        ("0 0 6 * * *", "five fields"),
        ("tomorrow", "five fields"),
        ("every 0s", "1 second"),
        ("every fortnight", "duration"),
        ("at noon", "moment"),
        ("in 2 hours", "depends on when"),
        ("0 6 * * MONDAY", "day-of-week"),
    ],
)
def test_what_is_never_due_is_refused_with_the_reason(line: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        parse_timetable(line)


def test_intervals_and_moments() -> None:
    anchor, zone = datetime(2026, 3, 1, 10, 7, tzinfo=UTC), ZoneInfo("Europe/Zurich")
    every = parse_timetable("every 15 minutes")
    assert [f"{each:%H:%M}" for each in next_times(every, zone, anchor, anchor, 3)] == ["10:22", "10:37", "10:52"]
    assert next_times(every, zone, anchor, anchor + timedelta(days=365, minutes=1), 1) == [
        anchor + timedelta(days=365, minutes=15)
    ]
    assert settled("in 2 hours", anchor) == "at 2026-03-01T12:07:00Z"
    assert settled("0  6 * *  *", anchor) == "0 6 * * *"
    once = parse_timetable("at 2026-03-29T02:30")
    assert next_times(once, zone, anchor, anchor, 5) == [datetime(2026, 3, 29, 1, tzinfo=UTC)]
    assert next_times(once, zone, anchor, datetime(2026, 4, 1, tzinfo=UTC), 5) == []
    assert (parse_duration("1.5h"), parse_duration("2 days")) == (5400, 172_800)


@examples(20)
@given(st.integers(0, 2 * 365 * 24), st.sampled_from(["*/10 * * * *", "0 6 * * *", "0 0 29 2 *", "every 7h"]))
def test_the_latest_due_time_is_the_last_of_all(hours: int, line: str) -> None:
    after, zone = datetime(2026, 1, 1, tzinfo=UTC), ZoneInfo("America/New_York")
    until = after + timedelta(hours=hours % (20 * 24) if line.startswith("*") else hours)
    timetable = parse_timetable(line)
    every = list(takewhile(lambda each: each <= until, due_times(timetable, zone, after, after)))
    assert latest_due(timetable, zone, after, after, until) == (every[-1] if every else None)


def test_jitter_is_drawn_from_the_name_and_the_time_alone() -> None:
    assert jitter("fleet", NOW, 0) == timedelta()
    drawn = {jitter("fleet", NOW + timedelta(minutes=number), 600) for number in range(50)}
    assert len(drawn) > 40 and all(timedelta() <= each <= timedelta(seconds=600) for each in drawn)
    assert jitter("fleet", NOW, 600) == jitter("fleet", NOW, 600) != jitter("other", NOW, 600)


def test_a_due_time_has_one_run() -> None:
    one = due_run(EventId("e1"), "2026-03-01T06:00:00.000000Z")
    assert one == due_run(EventId("e1"), "2026-03-01T06:00:00.000000Z") and len(one) == 26
    others = {
        due_run(EventId("e2"), "2026-03-01T06:00:00.000000Z"),
        due_run(EventId("e1"), "2026-03-02T06:00:00.000000Z"),
    }
    assert one not in others | {due_run(EventId("e1"), "2026-03-01T06:00:00.000000Z", 2)}


# ---- Templates


KNOWN = values_at(
    "fleet", datetime(2026, 3, 1, 5, tzinfo=UTC), ZoneInfo("Europe/Zurich"), 7, {"score": 0.9, "who": "a/b"}
)


def test_templates_are_filled_with_their_types() -> None:
    assert fill("{{date}}", KNOWN) == "2026-03-01" and fill("{{ time }}", KNOWN) == "06:00"
    assert fill("{{run_number}}", KNOWN) == 7 and fill("run {{run_number}} of {{schedule}}", KNOWN) == "run 7 of fleet"
    assert fill(["{{previous.results.score}}", {"a": "x{{previous.results.score}}"}], KNOWN) == [0.9, {"a": "x0.9"}]
    assert (
        fill("{{previous.results.none or 0}}", KNOWN) == 0
        and fill("{{previous.results.none or 'x y'}}", KNOWN) == "x y"
    )
    assert isinstance(fill("at {{previous.results.none}}", KNOWN), MissingValue)
    assert fill("{a} {b[c]} 100%", KNOWN) == "{a} {b[c]} 100%"
    assert fill_output("runs/{{date}}/{{time}}_{{run_number}}.ipynb", KNOWN) == "runs/2026-03-01/06-00_7.ipynb"


@pytest.mark.parametrize(
    "text",
    [
        "{{env.HOME}}",
        "{{environ['HOME']}}",
        "{% for x in y %}{% endfor %}",
        "{{date.__class__}}",
        "{{previous}}",
        "{{previous.results.a.b}}",
        "{{open('x')}}",
        "{{date or env.HOME}}",
        "{{1 + 1}}",
        "{{date",
        "{{ }}",
        "{{{{date}}}}",
    ],
)
def test_a_template_that_computes_or_looks_around_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        check_templates({"p": [text]}, "parameters")


def test_a_path_takes_no_result() -> None:
    with pytest.raises(BadInput, match="cannot be part of a path"):
        check_templates("runs/{{previous.results.who}}.ipynb", "output", in_path=True)


def test_thresholds() -> None:
    assert parse_threshold("score < 0.8").is_crossed({"score": 0.5})
    assert not parse_threshold("score < 0.8").is_crossed({"score": 0.8})
    assert not parse_threshold("score<0.8").is_crossed({"score": "0.1"})
    with pytest.raises(BadInput):
        parse_threshold("__import__('os') < 1")


# ---- What is to be done next


def schedule(at: datetime = NOW, paused: bool = False, **plan: object) -> Schedule:
    made = e.SchedulePlan(path="x.py", **{"when": "0 6 * * *", **plan})  # pyright: ignore[reportArgumentType]
    stamp = at.isoformat()
    return Schedule(
        id=EventId("e1"),
        plan=made,
        scopes=("read", "run"),
        asks=(),
        by=ActorId("human:ada"),
        on_behalf_of=None,
        added_at=stamp,
        changed_at=stamp,
        since=stamp,
        paused=Pause(by=ActorId("human:ada"), at=stamp) if paused else None,
        resumed_at=None,
        removed=None,
        asked=(),
        skipped=None,
        skipped_until=None,
    )


def begun(due: datetime, status: str = "success", ended: datetime | None = None, attempt: int = 1) -> BegunRun:
    return BegunRun(run=LogId("r1"), due=due, number=1, attempt=attempt, begun_at=due, status=status, finished_at=ended)


def state(made: Schedule, last: BegunRun | None = None) -> ScheduleState:
    return ScheduleState(name="fleet", schedule=made, zone=UTC, last=last, handled=last.due if last else None)


SIX = NOW.replace(hour=6)
DAY = timedelta(days=1)


def test_a_run_begins_when_it_is_due_and_not_before() -> None:
    assert next_step(state(schedule()), SIX - timedelta(seconds=1)) == Wait(until=SIX)
    assert next_step(state(schedule()), SIX) == Begin(due=SIX, number=1)
    ended = begun(SIX, ended=SIX + timedelta(minutes=5))
    assert next_step(state(schedule(), ended), SIX + timedelta(minutes=6)) == Wait(until=SIX + DAY)
    # A clock that is set back begins nothing again.
    assert next_step(state(schedule(), ended), SIX - timedelta(hours=2)) == Wait(until=SIX + DAY)
    assert next_step(state(schedule(paused=True)), SIX) == Wait()


def test_missed_times_are_skipped_or_run_once_or_each() -> None:
    late = SIX + 3 * DAY + timedelta(hours=1)
    assert next_step(state(schedule(missed="skip")), late) == Skip(
        due=SIX, until=SIX + 3 * DAY, count=4, reason="missed", why="No scheduler was there at that time."
    )
    skipped = next_step(state(schedule()), late)
    assert isinstance(skipped, Skip) and (skipped.until, skipped.count) == (SIX + 2 * DAY, 3)
    assert next_step(state(schedule(missed="all")), late) == Begin(due=SIX, number=1)
    assert next_step(state(schedule(missed="skip")), SIX + timedelta(seconds=59)) == Begin(due=SIX, number=1)
    years = next_step(state(schedule(when="* * * * *")), SIX + 900 * DAY)
    assert isinstance(years, Skip) and years.count == 1000 and years.until > SIX + 899 * DAY


def test_what_is_due_while_a_run_goes_on_is_skipped_or_waits_or_ends_it() -> None:
    going = begun(SIX, "running")
    at = SIX + timedelta(minutes=11)
    often = "*/10 * * * *"
    step = next_step(state(schedule(when=often), going), at)
    assert isinstance(step, Skip) and step.reason == "overlap"
    assert next_step(state(schedule(overlap="queue", when=often), going), at) == Wait()
    assert next_step(state(schedule(overlap="cancel", when=often), going), at) == Cancel(run=LogId("r1"))
    # It waited for longer than a time is missed by: it runs all the same.
    ended = begun(SIX, ended=SIX + timedelta(minutes=19))
    after = next_step(state(schedule(overlap="queue", missed="skip", when=often), ended), SIX + timedelta(minutes=19))
    assert after == Begin(due=SIX + timedelta(minutes=10), number=2)


def test_a_run_that_failed_is_tried_again_later_and_later() -> None:
    rule = e.RetryRule(times=2, wait_seconds=60)
    failed = begun(SIX, "error", ended=SIX + timedelta(minutes=1))
    made = schedule(retries=rule)
    assert next_step(state(made, failed), SIX + timedelta(minutes=1)) == Wait(until=SIX + timedelta(minutes=2))
    assert next_step(state(made, failed), SIX + timedelta(minutes=2)) == Begin(due=SIX, number=1, attempt=2)
    third = begun(SIX, "lost", ended=SIX + timedelta(minutes=9), attempt=3)
    assert next_step(state(made, third), SIX + DAY - timedelta(minutes=1)) == Wait(until=SIX + DAY)
    assert next_step(state(made, begun(SIX, "cancelled", ended=SIX)), SIX + timedelta(hours=1)) == Wait(until=SIX + DAY)
    assert next_step(state(made, failed), SIX + DAY) == Begin(due=SIX + DAY, number=2)
    assert [retry_wait(rule, attempt).total_seconds() for attempt in (1, 2, 3, 9)] == [60, 120, 240, 3600]


@examples(40)
@given(
    st.sampled_from(["*/10 * * * *", "0 * * * *", "every 25m", "30 2 * * *"]),
    st.sampled_from(["skip", "once", "all"]),
    st.sampled_from(["skip", "queue", "cancel"]),
    st.lists(st.tuples(st.integers(0, 4000), st.integers(1, 300)), min_size=1, max_size=25),
)
def test_each_due_time_is_run_once_or_skipped_however_time_passes(
    when: str, missed: e.MissedRule, overlap: e.OverlapRule, looks: list[tuple[int, int]]
) -> None:
    """A scheduler that is away, looks late and sees clocks go back deals with every time once, and in order."""
    zone, now = ZoneInfo("Europe/Zurich"), datetime(2026, 3, 28, tzinfo=UTC)
    made = schedule(now, when=when, missed=missed, overlap=overlap)
    last: BegunRun | None = None
    ran: list[datetime] = []
    skipped: list[datetime] = []
    for minutes, takes in looks:
        now += timedelta(minutes=minutes % 200 if minutes < 3900 else -5)
        if last is not None and last.is_open and last.begun_at + timedelta(minutes=takes) <= now:
            last = begun(last.due, ended=now)
        for _ in range(300):
            current = ScheduleState(name="s", schedule=made, zone=zone, last=last, handled=last.due if last else None)
            step = next_step(current, now)
            if isinstance(step, Begin):
                assert last is None or not last.is_open
                last = BegunRun(
                    run=LogId("r1"),
                    due=step.due,
                    number=step.number,
                    attempt=1,
                    begun_at=now,
                    status="running",
                    finished_at=None,
                )
                ran.append(step.due)
            elif isinstance(step, Skip):
                times = due_times(parse_timetable(when), zone, made_since(made), step.due - timedelta(seconds=1))
                skipped += takewhile(lambda due, until=step.until: due <= until, times)
                made = replaced(made, step.until)
            elif isinstance(step, Cancel):
                assert last is not None
                last = begun(last.due, "cancelled", ended=now)
            else:
                break
    dealt = sorted([*ran, *skipped])
    assert len(set(dealt)) == len(dealt) and ran == sorted(ran)
    every = due_times(parse_timetable(when), zone, made_since(made), made_since(made))
    assert dealt == list(islice(every, len(dealt)))


def made_since(made: Schedule) -> datetime:
    return datetime.fromisoformat(made.since)


def replaced(made: Schedule, until: datetime) -> Schedule:
    from msgspec.structs import replace

    return replace(made, skipped_until=until.isoformat())


def test_a_moment_that_is_skipped_is_the_first_after_it() -> None:
    assert first_real(datetime(2026, 3, 29, 2, 15), ZoneInfo("Europe/Zurich")) == datetime(2026, 3, 29, 1, tzinfo=UTC)
