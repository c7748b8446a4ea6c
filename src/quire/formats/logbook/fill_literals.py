"""Values as source code: one expression of a language that is exactly the value.

Nothing in a value can become more than that expression. What a language has no literal
for is refused. A new language is a function and a line in `_WRITERS`.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from ...core.errors import BadInput
from ...core.values import FilePath, tag


def literal(value: Any, language: str) -> str:
    """Return `value` as one expression of the language."""
    return _WRITERS.get(language, _number_only)(value, language)


def text_of(value: Any, language: str = "") -> str:
    """Return a value as text, to stand inside a string or in prose."""
    match value:
        case str():
            return str(value)
        case None | bool():
            return _WORDS.get(language, ("null", "true", "false"))[0 if value is None else 1 if value else 2]
        case int() | float():
            return str(value)
        case dt.date() | dt.time():
            return value.isoformat()
        case bytes():
            return value.decode("utf-8", "replace")
        case _:
            return json.dumps(_jsonable(value), ensure_ascii=False)


def _jsonable(value: Any) -> Any:
    """The value as JSON would have it; a tuple is a list to a reader."""
    match value:
        case tuple() | set() | frozenset() | list():
            return [_jsonable(each) for each in cast("list[Any]", value)]
        case Mapping():
            pairs = cast("Mapping[Any, Any]", value).items()
            return {str(key): _jsonable(each) for key, each in pairs}
        case None | bool() | int() | float() | str():
            return value
        case dt.date() | dt.time():
            return value.isoformat()
        case _:
            return tag(value)


_WORDS = {
    "python": ("None", "True", "False"),
    "r": ("NULL", "TRUE", "FALSE"),
    "julia": ("nothing", "true", "false"),
    "sql": ("NULL", "TRUE", "FALSE"),
    "fsharp": ("null", "true", "false"),
    "powershell": ("$null", "$true", "$false"),
    "ruby": ("nil", "true", "false"),
    "bash": ("", "true", "false"),
}
"""None, true and false."""


def _refused(value: Any, language: str) -> BadInput:
    kind = type(value).__name__
    return BadInput(
        f"a value of type {kind} has no literal in {language} that would be exact. Put it in quotes, as text."
    )


# ---- Python


def _python(value: Any, language: str) -> str:
    match value:
        case FilePath():
            return f"__import__('pathlib').Path({str.__repr__(value)})"
        # The reprs of the types themselves: a subclass may write anything.
        case None | bool():
            return repr(value)
        case int():
            return int.__repr__(value)
        case str():
            return str.__repr__(value)
        case bytes():
            return bytes.__repr__(value)
        case float():
            return float.__repr__(value) if math.isfinite(value) else f"float('{float.__repr__(value)}')"
        case dt.date() | dt.time() | dt.timedelta():
            return _python_date(value, language)
        case list() | tuple() | set() | frozenset():
            return _python_members(cast("list[Any]", value), language)
        case Mapping():
            pairs = cast("Mapping[Any, Any]", value).items()
            return f"{{{', '.join(f'{_python(key, language)}: {_python(each, language)}' for key, each in pairs)}}}"
        case _ if hasattr(value, "__fspath__"):
            return _python(FilePath(value.__fspath__()), language)
        case _:
            raise _refused(value, language)


def _python_date(value: Any, language: str) -> str:
    """An expression that needs no import above it. Only fixed offsets: a zone's rules are not in its repr."""
    zone = getattr(value, "tzinfo", None)
    if zone is not None and not isinstance(zone, dt.timezone):
        raise _refused(value, language)
    return re.sub(r"\bdatetime\.(?=[a-z])", "__import__('datetime').", repr(value))


def _python_members(value: Any, language: str) -> str:
    inner = ", ".join(_python(each, language) for each in value)
    match value:
        case list():
            return f"[{inner}]"
        case tuple():
            return f"({inner},)" if len(cast("tuple[Any, ...]", value)) == 1 else f"({inner})"
        case set():
            return f"{{{inner}}}" if value else "set()"
        case _:
            return f"frozenset({{{inner}}})" if value else "frozenset()"


# ---- The others

_SAFE_INTEGER = 2**53
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BARE = re.compile(r"[A-Za-z0-9_@%+:,./-]+")
_COMMAND = re.compile(r"\$[({]|`")


def escaped(text: str, quote: str, also: str, language: str) -> str:
    """Text with backslashes before what would end it or mean more: for strings of R, Julia and JavaScript."""
    if re.search("[\x00\ud800-\udfff]", text):
        raise BadInput(f"text with a NUL or half a character cannot stand in a string of {language}.")
    marked = re.sub(rf"[\\{re.escape(quote + also)}]", lambda match: f"\\{match[0]}", text)
    return _CONTROL.sub(lambda match: _SHORT.get(match[0], f"\\u{ord(match[0]):04x}"), marked)


def _quoted(value: Any, language: str) -> str:
    return f'"{escaped(text_of(value), chr(34), "$" if language == "julia" else "", language)}"'


def _scalar(value: Any, language: str) -> str | None:
    """Numbers, words and text; None for everything else."""
    match value:
        case None | bool():
            return text_of(value, language)
        case float() if not math.isfinite(value):
            return _special(value, language)
        case int() | float():
            return _number(value, language)
        case str():
            return _quoted(value, language)
        case _:
            return None


def _special(value: float, language: str) -> str:
    names = {"r": ("NaN", "Inf"), "julia": ("NaN", "Inf"), "javascript": ("NaN", "Infinity")}.get(language)
    if names is None:
        raise _refused(value, language)
    return names[0] if math.isnan(value) else names[1] if value > 0 else f"-{names[1]}"


def _number(value: float, language: str) -> str:
    if isinstance(value, int) and language in ("r", "javascript") and abs(value) > _SAFE_INTEGER:
        raise _refused(value, language)
    suffix = "L" if language == "r" and isinstance(value, int) and abs(value) < 2**31 else ""
    return f"{value!r}{suffix}"


def _r(value: Any, language: str) -> str:
    if (found := _scalar(value, "r")) is not None:
        return found
    match value:
        case list() | tuple():
            return f"list({', '.join(_r(each, language) for each in cast('list[Any]', value))})"
        case dt.datetime():
            raise _refused(value, language)
        case dt.date():
            return f'as.Date("{value.isoformat()}")'
        case Mapping():
            pairs = _text_keys(value, language)
            return f"list({', '.join(f'{_quoted(key, language)} = {_r(each, language)}' for key, each in pairs)})"
        case _:
            raise _refused(value, language)


def _julia(value: Any, language: str) -> str:
    if (found := _scalar(value, "julia")) is not None:
        return found
    match value:
        case list():
            return f"[{', '.join(_julia(each, language) for each in cast('list[Any]', value))}]"
        case tuple():
            return f"({''.join(f'{_julia(each, language)}, ' for each in cast('list[Any]', value))})"
        case Mapping():
            pairs = _text_keys(value, language)
            return f"Dict({', '.join(f'{_quoted(key, language)} => {_julia(each, language)}' for key, each in pairs)})"
        case _:
            raise _refused(value, language)


def _javascript(value: Any, language: str) -> str:
    if (found := _scalar(value, "javascript")) is not None:
        return found
    match value:
        case list() | tuple():
            return f"[{', '.join(_javascript(each, language) for each in cast('list[Any]', value))}]"
        case Mapping():
            # In brackets: "__proto__" alone would be no key but what the object inherits.
            pairs = _text_keys(value, language)
            return f"({{{', '.join(f'[{_quoted(key, language)}]: {_javascript(each, language)}' for key, each in pairs)}}})"
        case _:
            raise _refused(value, language)


def _text_keys(value: Any, language: str) -> list[tuple[str, Any]]:
    pairs = list(cast("Mapping[Any, Any]", value).items())
    if not all(isinstance(key, str) for key, _ in pairs):
        raise _refused(value, language)
    return pairs


def _sql(value: Any, language: str) -> str:
    match value:
        case None | bool():
            return text_of(value, "sql")
        case float() if not math.isfinite(value):
            raise _refused(value, language)
        case int() | float():
            return repr(value)
        case str() | dt.date() | dt.time():
            return f"'{sql_text(text_of(value), chr(39))}'"
        case bytes():
            return f"X'{value.hex()}'"
        case list() | tuple() | set() | frozenset():
            members = [_sql(each, language) for each in cast("list[Any]", value)]
            if not members:
                raise BadInput("SQL has no empty list: () is no SQL, and with (NULL) NOT IN is never true.")
            return f"({', '.join(members)})"
        case _:
            raise _refused(value, language)


def sql_text(text: str, quote: str) -> str:
    """Text inside quotes of SQL. Databases do not agree on what a backslash means, so there is none."""
    if re.search("[\\\\\x00\ud800-\udfff]", text):
        raise BadInput("text with a backslash or a NUL cannot stand in SQL: databases read it differently.")
    return text.replace(quote, quote * 2)


def _bash(value: Any, language: str) -> str:
    match value:
        case list() | tuple() | set() | frozenset():
            members = cast("list[Any]", value)
            return " ".join(_bash(each, language) for each in members)
        case Mapping():
            raise _refused(cast("object", value), language)
        case _:
            return shell_word(text_of(value, "bash"))


def shell_word(text: str) -> str:
    """Text as one word of a shell, whatever is in it."""
    if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", text):
        raise BadInput("text with control characters cannot stand in a shell: a terminal would act on them.")
    if holds_command(text):
        raise BadInput("text with a command in brackets cannot stand in a shell: its arithmetic would run it.")
    return shell_quoted(text)


def holds_command(text: str) -> bool:
    """Whether arithmetic runs what is in the text: the first `$((…))`, `let` or `[[ … -eq … ]]` that reads it, in any cell."""
    # Searched behind the first bracket: from each of them, a long text would take the square of its length.
    return _COMMAND.search(text.partition("[")[2]) is not None


def shell_quoted(text: str) -> str:
    """Text without control characters as one word, in quotes unless it needs none."""
    return text if _BARE.fullmatch(text) else "'" + text.replace("'", "'\\''") + "'"


def _number_only(value: Any, language: str) -> str:
    """A language whose strings nobody taught us: numbers, and what the language calls true and false."""
    if isinstance(value, bool) or (isinstance(value, (int, float)) and math.isfinite(value)):
        return text_of(value, language)
    raise _refused(value, language)


_WRITERS: dict[str, Callable[[Any, str], str]] = {
    "python": _python,
    "r": _r,
    "julia": _julia,
    "javascript": _javascript,
    "typescript": _javascript,
    "sql": _sql,
    "bash": _bash,
}
