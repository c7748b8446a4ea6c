"""Values in C#, F# and PowerShell: three ways to write what .NET has."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from .translate import HALF, LiteralWriter, Unfit, escaped, microseconds, offset_minutes, one_type, text_keys

_INT = range(-(2**31), 2**31)
_LONG = range(-(2**63), 2**63)
_FARTHEST_MINUTES = 14 * 60


def _day(value: dt.date) -> str:
    return f"{value.year}, {value.month}, {value.day}"


def _clock(value: dt.datetime | dt.time) -> str:
    return f"{value.hour}, {value.minute}, {value.second}"


def _ticks(microseconds: int) -> int:
    """.NET counts in tenths of a microsecond."""
    return microseconds * 10


def _offset(value: dt.datetime) -> int | None:
    minutes = offset_minutes(value)
    if minutes is not None and abs(minutes) > _FARTHEST_MINUTES:
        raise Unfit(value, "an offset is 14 hours at most there")
    return minutes


def _check_day(value: dt.time) -> None:
    if value.tzinfo is not None:
        raise Unfit(value, "its zone has no meaning without a day")


class _DotNet(LiteralWriter):
    """What C# and F# write alike but for a `new`."""

    comment = "// {}"
    special = ("System.Double.NaN", "System.Double.PositiveInfinity", "System.Double.NegativeInfinity")
    new = ""

    def integer(self, value: int) -> str:
        """By the smallest type that holds it."""
        return self._sized(value, wide=value not in _INT)

    def _sized(self, value: int, *, wide: bool) -> str:
        if value not in _LONG:
            return f'System.Numerics.BigInteger.Parse("{value}")'
        return f"{value}L" if wide else str(value)

    def _alike(self, members: list[Any]) -> list[str] | None:
        """Members that are all of one type, written so that they stay it; None if they are not."""
        kind = one_type(members)
        if kind is not int:
            return [self.write(each) for each in members] if kind is not None else None
        large = [each not in _LONG for each in members]
        if any(large) and not all(large):
            return None
        wide = any(each not in _INT for each in members)
        return [self._sized(int(each), wide=wide) for each in members]

    def text(self, value: str) -> str:
        """Text: without a `$` before it, nothing in it is replaced."""
        return f'"{escaped(value)}"'

    def date(self, value: dt.date) -> str:
        """A DateOnly."""
        return f"{self.new}System.DateOnly({_day(value)})"

    def datetime(self, value: dt.datetime) -> str:
        """A DateTime, or with an offset a DateTimeOffset."""
        minutes = _offset(value)
        offset = f", System.TimeSpan.FromMinutes({minutes}.0)" if minutes is not None else ""
        kind = "DateTime" if minutes is None else "DateTimeOffset"
        rest = f".AddTicks({_ticks(value.microsecond)}L)" if value.microsecond else ""
        return f"{self.new}System.{kind}({_day(value)}, {_clock(value)}{offset}){rest}"

    def time(self, value: dt.time) -> str:
        """A TimeOnly."""
        _check_day(value)
        if not value.microsecond:
            return f"{self.new}System.TimeOnly({_clock(value)})"
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        return f"{self.new}System.TimeOnly({_ticks(seconds * 1_000_000 + value.microsecond)}L)"

    def duration(self, value: dt.timedelta) -> str:
        """A TimeSpan."""
        ticks = _ticks(microseconds(value))
        if ticks not in _LONG:
            raise Unfit(value, "it is longer than 29,000 years")
        return f"System.TimeSpan.FromTicks({ticks}L)"


class CSharp(_DotNet):
    """Where the types of members differ, they are objects."""

    language = "C#"
    new = "new "
    reserved = frozenset(
        ("abstract", "as", "base", "bool", "break", "byte", "case", "catch", "char", "checked", "class", "const", "continue",
         "decimal", "default", "delegate", "do", "double", "else", "enum", "event", "explicit", "extern", "false", "finally",
         "fixed", "float", "for", "foreach", "goto", "if", "implicit", "in", "int", "interface", "internal", "is", "lock",
         "long", "namespace", "new", "null", "object", "operator", "out", "override", "params", "private", "protected",
         "public", "readonly", "ref", "return", "sbyte", "sealed", "short", "sizeof", "stackalloc", "static", "string",
         "struct", "switch", "this", "throw", "true", "try", "typeof", "uint", "ulong", "unchecked", "unsafe", "ushort",
         "using", "virtual", "void", "volatile", "while", "_", "await", "var", "System")
    )  # fmt: skip

    def assign(self, name: str, value: Any) -> str:
        """A variable of the value's own type; null has none."""
        return f"{'object' if value is None else 'var'} {name} = {self.write(value)};"

    def binary(self, value: bytes) -> str:
        """An array of bytes."""
        return f"new byte[] {{ {', '.join(map(str, value))} }}"

    def listed(self, value: list[Any]) -> str:
        """An array."""
        alike = self._alike(value)
        return f"new [] {{ {', '.join(alike)} }}" if alike else f"new object[] {{ {self.all(value)} }}"

    def tupled(self, value: tuple[Any, ...]) -> str:
        """A tuple; one with less than two members has no brackets."""
        members = ", ".join("(object)null" if each is None else self.write(each) for each in value)
        return f"({members})" if len(value) > 1 else f"System.ValueTuple.Create({members})"

    def set_of(self, members: list[Any], *, frozen: bool) -> str:
        """A HashSet, which can be changed."""
        if frozen:
            return super().set_of(members, frozen=True)
        return f"new System.Collections.Generic.HashSet<object> {{ {self.all(members)} }}"

    def mapping(self, value: dict[Any, Any]) -> str:
        """A Dictionary of objects."""
        pairs = ", ".join(f"{{ {self.text(key)}, {self.write(each)} }}" for key, each in text_keys(value).items())
        return f"new System.Collections.Generic.Dictionary<string, object> {{ {pairs} }}"


class FSharp(_DotNet):
    """Where the types of members differ, they are boxed."""

    language = "F#"
    comment = "(* {} *)"
    words = ("None", "true", "false")
    reserved = frozenset(
        ("abstract", "and", "as", "assert", "base", "begin", "class", "default", "delegate", "do", "done", "downcast", "downto",
         "elif", "else", "end", "exception", "extern", "false", "finally", "fixed", "for", "fun", "function", "global", "if",
         "in", "inherit", "inline", "interface", "internal", "lazy", "let", "match", "member", "module", "mutable", "namespace",
         "new", "not", "null", "of", "open", "or", "override", "private", "public", "rec", "return", "select", "sig", "static",
         "struct", "then", "to", "true", "try", "type", "upcast", "use", "val", "void", "when", "while", "with", "yield", "_",
         "atomic", "break", "checked", "component", "const", "constraint", "constructor", "continue", "event", "external",
         "include", "mixin", "parallel", "process", "protected", "pure", "sealed", "tailcall", "trait", "virtual",
         "asr", "land", "lor", "lsl", "lsr", "lxor", "mod", "box", "set", "obj", "None", "Map", "System")
    )  # fmt: skip

    def assign(self, name: str, value: Any) -> str:
        """A `let`."""
        return f"let {name} = {self.write(value)}"

    def binary(self, value: bytes) -> str:
        """An array of bytes."""
        return f"[| {'; '.join(f'{byte}uy' for byte in value)} |]"

    def _member(self, value: Any) -> str:
        return "(null: obj)" if value is None else self.write(value)

    def _boxed(self, value: Any) -> str:
        return "(null: obj)" if value is None else f"box ({self.write(value)})"

    def listed(self, value: list[Any]) -> str:
        """A list."""
        members = self._alike(value) or [self._boxed(each) for each in value]
        return f"[ {'; '.join(members)} ]"

    def tupled(self, value: tuple[Any, ...]) -> str:
        """A tuple of two or more."""
        if len(value) < 2:
            raise Unfit(value, "a tuple has two members or more there")
        return f"({', '.join(map(self._member, value))})"

    def set_of(self, members: list[Any], *, frozen: bool) -> str:
        """A set, which never changes and whose members are of one type."""
        alike = self._alike(members)
        if alike is None:
            raise Unfit(frozenset(members) if frozen else set(members), "the members of a set are of one type there")
        return f"set [ {'; '.join(alike)} ]"

    def mapping(self, value: dict[Any, Any]) -> str:
        """A Map of boxed values."""
        pairs = "; ".join(f"({self.text(key)}, {self._boxed(each)})" for key, each in text_keys(value).items())
        return f"Map.ofList [ {pairs} ]" if pairs else "Map.empty<string, obj>"


_SINGLE = re.compile("['\u2018-\u201b]")
_DOUBLE = re.compile('["`$\u201c-\u201e]')
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_BACKTICKS = {"\0": "`0", "\n": "`n", "\r": "`r", "\t": "`t"}


class PowerShell(LiteralWriter):
    """Curly quotes end a string there as straight ones do."""

    language = "PowerShell"
    words = ("$null", "$true", "$false")
    special = ("[double]::NaN", "[double]::PositiveInfinity", "[double]::NegativeInfinity")
    reserved = frozenset(
        ("_", "args", "error", "executioncontext", "false", "foreach", "home", "host", "input", "iscoreclr", "islinux",
         "ismacos", "iswindows", "lastexitcode", "matches", "myinvocation", "nestedpromptlevel", "null", "pid", "profile",
         "psboundparameters", "pscmdlet", "pscommandpath", "psculture", "psdebugcontext", "psedition", "pshome", "psitem",
         "psscriptroot", "pssenderinfo", "psuiculture", "psversiontable", "pwd", "sender", "shellid", "stacktrace",
         "switch", "this", "true")
    )  # fmt: skip

    def is_name(self, name: str) -> bool:
        """Not one that PowerShell itself fills, in upper or lower case."""
        return super().is_name(name) and name.lower() not in self.reserved

    def assign(self, name: str, value: Any) -> str:
        """A variable."""
        return f"${name} = {self.write(value)}"

    def integer(self, value: int) -> str:
        """Its literals end at 64 bits: beyond them they are no longer exact."""
        if value == _LONG[0]:
            return "[long]::MinValue"
        return str(value) if value in _LONG else f"[bigint]::Parse('{value}')"

    def text(self, value: str) -> str:
        """In single quotes nothing is replaced; what cannot be seen needs double ones."""
        if HALF.search(value):
            raise Unfit(value, "it holds half a character")
        if not _HIDDEN.search(value):
            return f"'{_SINGLE.sub(lambda match: match[0] * 2, value)}'"
        marked = _DOUBLE.sub(lambda match: f"`{match[0]}", value)
        return f'"{_HIDDEN.sub(_backticked, marked)}"'

    def binary(self, value: bytes) -> str:
        """An array of bytes."""
        return f"[byte[]]@({', '.join(map(str, value))})"

    def listed(self, value: list[Any]) -> str:
        """An array; a comma keeps an array that stands in it alone."""
        alone = len(value) == 1 and isinstance(value[0], (list, tuple, bytes))
        return f"@({', ' if alone else ''}{self.all(value)})"

    def set_of(self, members: list[Any], *, frozen: bool) -> str:
        """A HashSet, which can be changed."""
        if frozen:
            return super().set_of(members, frozen=True)
        return f"[System.Collections.Generic.HashSet[object]]::new([object[]]{self.listed(members)})"

    def mapping(self, value: dict[Any, Any]) -> str:
        """A hashtable in the order of the dict; its keys are the same in upper and lower case."""
        found = text_keys(value)
        if len({key.casefold() for key in found}) < len(found):
            raise Unfit(value, "two of its keys differ only in case, which is the same there")
        return f"[ordered]@{{{'; '.join(f'{self.text(key)} = {self.write(each)}' for key, each in found.items())}}}"

    def date(self, value: dt.date) -> str:
        """A DateOnly."""
        return f"[System.DateOnly]::new({_day(value)})"

    def datetime(self, value: dt.datetime) -> str:
        """A datetime, or with an offset a datetimeoffset."""
        minutes = _offset(value)
        offset = f", [timespan]::FromMinutes({minutes})" if minutes is not None else ""
        kind = "datetime" if minutes is None else "datetimeoffset"
        rest = f".AddTicks({_ticks(value.microsecond)})" if value.microsecond else ""
        return f"[{kind}]::new({_day(value)}, {_clock(value)}{offset}){rest}"

    def time(self, value: dt.time) -> str:
        """A TimeOnly."""
        _check_day(value)
        rest = f".Add([timespan]::FromTicks({_ticks(value.microsecond)}))" if value.microsecond else ""
        return f"[System.TimeOnly]::new({_clock(value)}){rest}"

    def duration(self, value: dt.timedelta) -> str:
        """A timespan."""
        ticks = _ticks(microseconds(value))
        if ticks not in _LONG:
            raise Unfit(value, "it is longer than 29,000 years")
        return f"[timespan]::FromTicks({ticks})"


def _backticked(match: re.Match[str]) -> str:
    return _BACKTICKS.get(match[0]) or f"`u{{{ord(match[0]):x}}}"
