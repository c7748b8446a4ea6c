"""When a schedule is due: a cron line in a time zone, an interval, or a single moment.

A cron line is read by cronsim, and only against a calendar without a time zone; the zone is put to it here, by one rule
for every zone there is (Debian's cron has it for those whose clock changes by an hour):

- A line whose minute and hour are numbers is due once a day at that time: when the clock skips the time, at the first
  moment after it; when the clock shows it twice, the first time.
- A line whose minute or hour is `*`, also `*/15`, is due whenever the clock shows a time that fits.

Due times are in UTC, without seconds for cron lines. The zone is an argument: nothing here knows where zones come from.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import sha256
from itertools import islice
from typing import TypeAlias

import msgspec

from ..errors import BadInput

MOST_BACK = timedelta(hours=4)
"""No clock is set back by more at once: times up to this far apart may change their order."""
SHORTEST_SECONDS = 1.0
LONGEST_SECONDS = 366 * 86_400.0
_BEFORE_ALL = datetime(2000, 1, 1)
_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_UNITS = {
    "s": ("s", "sec", "secs", "second", "seconds"),
    "m": ("m", "min", "mins", "minute", "minutes"),
    "h": ("h", "hour", "hours"),
    "d": ("d", "day", "days"),
    "w": ("w", "week", "weeks"),
}
_UNIT = {word: unit for unit, words in _UNITS.items() for word in words}
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,6})?) ?([a-z]+)")
_FORMS = "a cron line ('0 6 * * *'), 'every 15m', 'in 2 hours' or 'at 2026-12-01T06:00'"


class CronLine(msgspec.Struct, frozen=True):
    """Due at the times that fit five fields: minute, hour, day of the month, month, day of the week."""

    line: str

    @property
    def is_fixed(self) -> bool:
        """Whether it names times of the day, rather than what returns through the day."""
        minute, hour, *_ = self.line.split()
        return not minute.startswith("*") and not hour.startswith("*")


class FixedInterval(msgspec.Struct, frozen=True):
    """Due again and again, so many seconds apart, counted from when the schedule was added."""

    seconds: float


class SingleMoment(msgspec.Struct, frozen=True):
    """Due at one moment. Without an offset it is a time of the schedule's zone."""

    at: datetime


Timetable: TypeAlias = CronLine | FixedInterval | SingleMoment


# ---- Reading


def parse_duration(text: str) -> float:
    """Return the seconds of `90s`, `15m`, `2 hours` or `1.5h`."""
    match = _DURATION.fullmatch(text.strip().lower())
    if match is None or match[2] not in _UNIT:
        raise BadInput(f"{text[:40]!r} is not a duration: write a number and a unit, such as 90s, 15m, 2 hours or 1d.")
    return float(match[1]) * _SECONDS[_UNIT[match[2]]]


def settled(text: str, now: datetime) -> str:
    """Return what was written as it is recorded: `in 2 hours` becomes the moment that it means."""
    kind, _, rest = text.strip().partition(" ")
    if kind.lower() != "in":
        return " ".join(text.split())
    at = now.astimezone(UTC) + timedelta(seconds=_limited(parse_duration(rest)))
    return f"at {at.isoformat(timespec='seconds').replace('+00:00', 'Z')}"


def parse_timetable(text: str) -> Timetable:
    """Read when a schedule is due, or say what is wrong with it: also that a cron line never fits any day."""
    kind, _, rest = text.strip().partition(" ")
    match kind.lower():
        case "every":
            return FixedInterval(_limited(parse_duration(rest)))
        case "at":
            return SingleMoment(_moment(rest.strip()))
        case "in":
            raise BadInput(f"{text[:80]!r} depends on when it is read. Write the moment: at 2026-12-01T06:00.")
        case _:
            return _cron_line(text)


def _limited(seconds: float) -> float:
    if not SHORTEST_SECONDS <= seconds <= LONGEST_SECONDS:
        raise BadInput(f"{seconds:g} s is not 1 second to 366 days. Write a time between the two.")
    return seconds


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{text[:40]!r} is not a moment: write a date and a time, as 2026-12-01T06:00.") from None


def _cron_line(text: str) -> CronLine:
    line = _ALIASES.get(text.strip().lower(), " ".join(text.split()))
    if len(line.split()) != 5:
        told = f"{text[:80]!r} is not when a schedule is due: write {_FORMS}."
        raise BadInput(f"{told} A cron line has five fields: minute, hour, day, month, day of the week.")
    if next(_fitting(line, _BEFORE_ALL), None) is None:
        raise BadInput(f"Cron line {text[:80]!r} never fits: no day is like that. Look at its day and its month.")
    return CronLine(line)


def _fitting(line: str, after: datetime) -> Iterator[datetime]:
    """Yield the times of a calendar without a zone that fit a cron line, for as long as there are some in 50 years."""
    from cronsim import CronSim, CronSimError  # only where a schedule is read: every command imports the rules

    try:
        return CronSim(line, after)
    except CronSimError as error:
        fault = str(error).removeprefix("Bad ")
        told = f"Cron line {line[:80]!r}: the field for the {fault} is not valid, or no month has such a day"
        raise BadInput(f"{told}. Write {_FORMS}.") from None


# ---- Due times


def due_times(timetable: Timetable, zone: tzinfo, anchor: datetime, after: datetime) -> Iterator[datetime]:
    """Yield when it is due after a moment, in order, in UTC. `anchor`: from when on an interval is counted."""
    after = after.astimezone(UTC)
    match timetable:
        case CronLine() if timetable.is_fixed:
            return _fixed_times(timetable.line, zone, after)
        case CronLine():
            return _returning_times(timetable.line, zone, after)
        case FixedInterval(seconds):
            return _interval_times(seconds, anchor.astimezone(UTC), after)
        case SingleMoment(at):
            moment = at if at.tzinfo is not None else first_real(at, zone)
            return iter([moment.astimezone(UTC)] if moment > after else [])


def latest_due(
    timetable: Timetable, zone: tzinfo, anchor: datetime, after: datetime, until: datetime
) -> datetime | None:
    """Return the last due time after a moment and until another, without going through all of them."""
    window = timedelta(hours=1)
    while True:
        start = max(after, until - window)
        found = None
        for due in due_times(timetable, zone, anchor, start):
            if due > until:
                break
            found = due
        if found is not None or start == after:
            return found
        window *= 8


def first_real(wall: datetime, zone: tzinfo) -> datetime:
    """Return a time of the clock as a moment: the first of two, or, where the clock skips it, the first after it."""
    while not _is_shown(wall, zone):
        wall += timedelta(minutes=1)
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC)


def jitter(name: str, due: datetime, seconds: float) -> timedelta:
    """Return how much later than due a run begins: from 0 to `seconds`, the same for whoever asks."""
    if not seconds:
        return timedelta()
    drawn = int.from_bytes(sha256(f"{name}@{due.isoformat()}".encode()).digest()[:8], "big") / 2**64
    return timedelta(milliseconds=int(drawn * seconds * 1000))


def next_times(timetable: Timetable, zone: tzinfo, anchor: datetime, after: datetime, count: int) -> list[datetime]:
    """Return the next so many due times."""
    return list(islice(due_times(timetable, zone, anchor, after), count))


def _is_shown(wall: datetime, zone: tzinfo, fold: int = 0) -> bool:
    """Whether the clock of a zone ever shows this time."""
    moment = wall.replace(tzinfo=zone, fold=fold)
    return moment.astimezone(UTC).astimezone(zone).replace(tzinfo=None, fold=0) == wall.replace(fold=0)


def _wall(moment: datetime, zone: tzinfo) -> datetime:
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def _fixed_times(line: str, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    last = after
    for wall in _fitting(line, _wall(after, zone) - MOST_BACK):
        due = first_real(wall, zone)
        if due > last:  # two that the clock skips come to the same moment
            yield due
            last = due


def _returning_times(line: str, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    # Times of the clock come in order, moments do not: after a clock was set back it shows the same times again.
    waiting: list[tuple[datetime, datetime]] = []
    for wall in _fitting(line, _wall(after, zone) - MOST_BACK):
        while waiting and waiting[0][1] <= wall - MOST_BACK:
            yield heapq.heappop(waiting)[0]
        moments = {
            wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1) if _is_shown(wall, zone, fold)
        }
        for moment in moments:
            if moment > after:
                heapq.heappush(waiting, (moment, wall))
    while waiting:
        yield heapq.heappop(waiting)[0]


def _interval_times(seconds: float, anchor: datetime, after: datetime) -> Iterator[datetime]:
    step = timedelta(seconds=seconds)
    count = max(0, (after - anchor) // step) + 1
    while True:
        yield anchor + count * step
        count += 1
