"""`schedules.yaml`: a mapping from names to what each schedule is. Text in, plain values out."""

from __future__ import annotations

import datetime as dt
from typing import Any, cast

from ..core.errors import BadInput
from ..core.ids import check_schedule_name
from ..core.values import Json, tag

MOST_BYTES = 1_000_000
MOST_NESTED = 20


def read_schedules(text: str, path: str) -> dict[str, dict[str, Json]]:
    """Return the schedules of a file by name; a mistake in it is told with its line."""
    import yaml

    if len(text) > MOST_BYTES:
        raise BadInput(f"{path} has more than {MOST_BYTES:,} characters: it is no list of schedules.")
    try:
        read: Any = yaml.load(text, Loader=_loader())  # noqa: S506 - a safe loader, without aliases
    except yaml.YAMLError as error:
        raise BadInput(f"{path} is not YAML: {' '.join(str(error).split())[:300]}") from None
    except RecursionError:
        raise BadInput(f"{path} is nested too deeply.") from None
    if read is None:
        return {}
    if not isinstance(read, dict):
        raise BadInput(f"{path} has no names: write `name:` and below it `schedule:`, `path:` and so on.")
    return {_name(name, path): _fields(name, fields, path) for name, fields in cast("dict[Any, Any]", read).items()}


def _name(name: Any, path: str) -> str:
    try:
        return check_schedule_name(str(name))
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def _fields(name: Any, fields: Any, path: str) -> dict[str, Json]:
    if not isinstance(fields, dict):
        raise BadInput(f"{path}: {name} has no keys: write at least `schedule` and `path` below it.")
    return {str(key): _plain(value, f"{path}: {name}") for key, value in cast("dict[Any, Any]", fields).items()}


def _plain(value: Any, where: str, depth: int = 0) -> Json:
    """A value as JSON carries it: dates become tagged values."""
    if depth > MOST_NESTED:
        raise BadInput(f"{where} is nested too deeply.")
    if isinstance(value, dict):
        return {str(key): _plain(each, where, depth + 1) for key, each in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list):
        return [_plain(each, where, depth + 1) for each in cast("list[Any]", value)]
    if value is None or isinstance(value, str | int | float | bool | dt.date):
        return tag(value)
    raise BadInput(f"{where}: {value!r:.40} is no value that a parameter can have.")


def _loader() -> type[Any]:
    import yaml

    class NoAliases(yaml.SafeLoader):
        """YAML's safe loader, but for aliases: a few of them make a file of gigabytes."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            """Read one node that is no alias."""
            if cast("Any", self).check_event(yaml.AliasEvent):
                raise yaml.YAMLError("aliases (*name) are not for schedules; write it out")
            return super().compose_node(parent, index)

    return NoAliases
