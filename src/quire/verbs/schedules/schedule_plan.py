"""What somebody writes of a schedule, on the command line, in `schedules.yaml` or in a form, as a plan; or what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from ...core.errors import BadInput
from ...core.events import NotifyRule, RetryRule, SchedulePlan
from ...core.ids import nearest
from ...core.rules.schedule_rules import check_plan
from ...core.schedule.timetable import parse_duration
from ...core.values import Json
from .output_path import check_output_template, check_source
from .time_zone import find_zone

KEYS = (
    "schedule",
    "type",
    "path",
    "parameters",
    "output_path",
    "timezone",
    "missed",
    "overlap",
    "retries",
    "jitter",
    "timeout",
    "results",
    "notify",
    "commit",
    "report",
    "keep",
)
"""What a schedule in `schedules.yaml` may have. The first five are those of others, too."""
COMMIT_BRANCH = "runs"
"""Where outputs are committed to that are to be committed, no matter where."""
_RETRIES = ("times", "wait", "most")
_NOTIFY = ("on", "when", "webhook", "command")
T = TypeVar("T")


def plan_of(name: str, fields: Mapping[str, Json], folder: Path) -> SchedulePlan:
    """Return the plan that fields describe; all that can be said against it is said here, with the name."""
    try:
        return _checked(_plan(fields), folder)
    except BadInput as error:
        raise BadInput(f"Schedule {name!r}: {error}", **error.details) from None


def _plan(fields: Mapping[str, Json]) -> SchedulePlan:
    _check_keys(fields, KEYS, "a schedule")
    if (kind := fields.get("type", "notebook")) != "notebook":
        raise BadInput(f"type {kind!r:.40} is not known: a schedule runs a `notebook`.")
    given: dict[str, Any] = {
        "when": _text(fields, "schedule"),
        "path": _text(fields, "path"),
        "timezone": fields.get("timezone"),
        "parameters": fields.get("parameters"),
        "output": fields.get("output_path"),
        "missed": _one_of(fields, "missed", ("skip", "once", "all")),
        "overlap": _one_of(fields, "overlap", ("skip", "queue", "cancel")),
        "retries": _retries(fields.get("retries")),
        "jitter_seconds": _seconds(fields, "jitter"),
        "timeout_seconds": _seconds(fields, "timeout"),
        "results": _texts(fields.get("results"), "results"),
        "notify": tuple(_notify(each) for each in _several(fields.get("notify"))),
        "commit": _branch(fields.get("commit")),
        "report": fields.get("report"),
        "keep_seconds": _seconds(fields, "keep"),
    }
    _check_types(given)
    return SchedulePlan(**{name: value for name, value in given.items() if value is not None and value != ()})


def _checked(plan: SchedulePlan, folder: Path) -> SchedulePlan:
    from msgspec.structs import replace

    find_zone(plan.timezone)
    plan = replace(plan, path=check_source(folder, plan.path))
    check_plan(plan)
    if plan.output is not None:
        check_output_template(folder, plan.output)
    return plan


def _check_keys(fields: Mapping[str, Json], known: tuple[str, ...], what: str) -> None:
    for key in fields:
        if key not in known:
            close = nearest(key, known)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise BadInput(f"{key[:40]!r} is no part of {what}: {', '.join(known)} are.{hint}")


def _check_types(given: dict[str, Any]) -> None:
    for name, kind, told in (
        ("timezone", str, "the name of a zone"),
        ("parameters", dict, "names with values"),
        ("output", str, "a path"),
        ("report", bool, "true or false"),
    ):
        if given[name] is not None and not isinstance(given[name], kind):
            raise BadInput(f"{name} is {told}, not {given[name]!r:.40}.")


def _text(fields: Mapping[str, Json], key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{key} is missing: write it as text.")
    return value


def _one_of(fields: Mapping[str, Json], key: str, known: tuple[str, ...]) -> str | None:
    value = fields.get(key)
    if value is not None and value not in known:
        raise BadInput(f"{key} is {', '.join(known[:-1])} or {known[-1]}, not {value!r:.40}.")
    return value


def _seconds(fields: Mapping[str, Json], key: str) -> float | None:
    return _duration(fields.get(key), key)


def _duration(value: Json, key: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        raise BadInput(f"{key} is a duration such as 30s or 2h, not {value!r:.40}.")
    return parse_duration(value)


def _retries(value: Json) -> RetryRule | None:
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return RetryRule(times=value)
    if not isinstance(value, dict):
        raise BadInput(f"retries is a number, or has {', '.join(_RETRIES)}; it is {value!r:.40}.")
    fields = cast("dict[str, Json]", value)
    _check_keys(fields, _RETRIES, "retries")
    times = fields.get("times", 1)
    if not isinstance(times, int) or isinstance(times, bool):
        raise BadInput(f"retries: times is a number, not {times!r:.40}.")
    wait, most = _duration(fields.get("wait"), "wait"), _duration(fields.get("most"), "most")
    usual = RetryRule()
    return RetryRule(
        times=times,
        wait_seconds=usual.wait_seconds if wait is None else wait,
        most_seconds=usual.most_seconds if most is None else most,
    )


def _several(value: Json) -> list[Json]:
    if value is None:
        return []
    return cast("list[Json]", value) if isinstance(value, list) else [value]


def _texts(value: Json, key: str) -> tuple[str, ...]:
    texts = _several(value)
    if not all(isinstance(each, str) for each in texts):
        raise BadInput(f"{key} is a list of names, not {value!r:.40}.")
    return tuple(cast("list[str]", texts))


def _notify(value: Json) -> NotifyRule:
    if not isinstance(value, dict):
        raise BadInput(f"notify has {', '.join(_NOTIFY)}; it is {value!r:.40}.")
    fields = {
        "on" if key == "True" else key: each for key, each in cast("dict[str, Json]", value).items()
    }  # YAML's own `on`
    _check_keys(fields, _NOTIFY, "notify")
    when, webhook = fields.get("when"), fields.get("webhook")
    on = _texts(fields.get("on"), "on") or (("threshold",) if when is not None else ("failure", "recovery"))
    if wrong := [each for each in on if each not in ("failure", "recovery", "threshold")]:
        raise BadInput(f"on is failure, recovery or threshold, not {wrong[0][:40]!r}.")
    for key, text in (("when", when), ("webhook", webhook)):
        if text is not None and not isinstance(text, str):
            raise BadInput(f"{key} is a text, not {text!r:.40}.")
    command = _texts(fields.get("command"), "command")
    return NotifyRule(on=cast("Any", on), when=when, webhook=webhook, command=command)


def _branch(value: Json) -> str | None:
    if value is None or value is False:
        return None
    if value is True:
        return COMMIT_BRANCH
    if not isinstance(value, str) or not value:
        raise BadInput(f"commit is the name of a branch, or true for {COMMIT_BRANCH!r}; it is {value!r:.40}.")
    return value
