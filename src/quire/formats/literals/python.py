"""Values in Python: every one of them, exactly."""

from __future__ import annotations

import datetime as dt
import keyword
import re
from collections.abc import Iterable
from typing import Any

from .translate import LiteralWriter, Unfit

_QUOTES = re.compile(r'\\.|"')


class Python(LiteralWriter):
    """What is imported has names of its own: `import datetime` would hide a `datetime` of the notebook's."""

    language = "Python"
    words = ("None", "True", "False")
    reserved = frozenset((*keyword.kwlist, "__debug__"))

    def __init__(self, taken: Iterable[str] = ()) -> None:
        super().__init__(frozenset(taken))
        self._imported: dict[str, str] = {}

    def is_name(self, name: str) -> bool:
        """As Python has it."""
        return name.isidentifier() and name not in self.reserved

    def imports(self) -> Iterable[str]:
        """One line for each module."""
        return [f"import {module} as {alias}" for module, alias in sorted(self._imported.items())]

    def _of(self, module: str, name: str) -> str:
        alias = {"datetime": "_dt"}.get(module, f"_{module}")
        while alias in self.taken:
            alias = f"_{alias}"
        self._imported[module] = alias
        return f"{alias}.{name}"

    def _builtin(self, name: str) -> str:
        return self._of("builtins", name) if name in self.taken else name

    def not_finite(self, value: float) -> str:
        """As papermill writes them."""
        return f"{self._builtin('float')}('{value!r}')"

    def text(self, value: str) -> str:
        """A string in double quotes."""
        # With a double quote in it, repr always takes single ones.
        inside = repr(f'"{value}')[2:-1]
        return f'"{_QUOTES.sub(_requoted, inside)}"'

    def path(self, value: str) -> str:
        """A path of pathlib's."""
        return f"{self._of('pathlib', 'Path')}({self.text(value)})"

    def binary(self, value: bytes) -> str:
        """Bytes, as Python shows them."""
        return repr(value)

    def listed(self, value: list[Any]) -> str:
        """A list."""
        return f"[{self.all(value)}]"

    def tupled(self, value: tuple[Any, ...]) -> str:
        """A tuple, also of one."""
        return f"({self.all(value)}{',' * (len(value) == 1)})"

    def set_of(self, members: list[Any], *, frozen: bool) -> str:
        """A set or a frozenset."""
        inner = f"{{{self.all(members)}}}" if members else ""
        if frozen:
            return f"{self._builtin('frozenset')}({inner})"
        return inner or f"{self._builtin('set')}()"

    def mapping(self, value: dict[Any, Any]) -> str:
        """A dict, with any keys."""
        return f"{{{', '.join(f'{self.write(key)}: {self.write(each)}' for key, each in value.items())}}}"

    def date(self, value: dt.date) -> str:
        """A date."""
        return f"{self._of('datetime', 'date')}({value.year}, {value.month}, {value.day})"

    def datetime(self, value: dt.datetime) -> str:
        """A datetime; a zone keeps its rules if it has a name."""
        parts = [value.year, value.month, value.day, *_clock(value)]
        return f"{self._of('datetime', 'datetime')}({', '.join([*map(str, parts), *self._zone(value)])})"

    def time(self, value: dt.time) -> str:
        """A time of day."""
        return f"{self._of('datetime', 'time')}({', '.join([*map(str, _clock(value)), *self._zone(value)])})"

    def duration(self, value: dt.timedelta) -> str:
        """A timedelta, by the parts that it is kept in."""
        parts = {"days": value.days, "seconds": value.seconds, "microseconds": value.microseconds}
        said = [f"{name}={part}" for name, part in parts.items() if part] or ["0"]
        return f"{self._of('datetime', 'timedelta')}({', '.join(said)})"

    def _zone(self, value: dt.datetime | dt.time) -> list[str]:
        fold = ["fold=1"] if value.fold else []
        zone = value.tzinfo
        if zone is None:
            return fold
        if zone == dt.UTC and repr(zone) == "datetime.timezone.utc":
            return [f"tzinfo={self._of('datetime', 'timezone.utc')}", *fold]
        if type(zone) is dt.timezone:
            return [f"tzinfo={self._offset(zone)}", *fold]
        key: Any = getattr(zone, "key", None)
        if type(zone).__module__.partition(".")[0] == "zoneinfo" and isinstance(key, str):
            return [f"tzinfo={self._of('zoneinfo', 'ZoneInfo')}({self.text(key)})", *fold]
        raise Unfit(value, f"its zone is a {type(zone).__name__}, which nothing says how to write")

    def _offset(self, zone: dt.timezone) -> str:
        offset = zone.utcoffset(None)
        name = zone.tzname(None)
        named = f", {self.text(name)}" if name != dt.timezone(offset).tzname(None) else ""
        return f"{self._of('datetime', 'timezone')}({self.duration(offset)}{named})"


def _requoted(match: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(match[0], match[0])


def _clock(value: dt.datetime | dt.time) -> list[int]:
    """Hours and minutes, and no more than is there."""
    parts = [value.hour, value.minute, value.second, value.microsecond]
    return parts if parts[3] else parts[:3] if parts[2] else parts[:2]
