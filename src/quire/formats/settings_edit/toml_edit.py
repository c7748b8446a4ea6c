"""One table of a TOML text that somebody else keeps: looked up, set and taken out, and all the rest left as it is.

The table is found by its heading, as people and tools write it. A text that says it otherwise (in one line, with
dots) is not guessed at: what was changed is read again, and if more changed than the table, nothing is given back.

Not tomlkit: with a table it takes out the comment below it, which belongs to the next one, puts a new table between two that
stand there, and does not give back the empty line that it added.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any, cast

from ...core.errors import BadInput
from ...core.values import Json

_HEADING = re.compile(r"^[ \t]*\[")
_NAME = re.compile(r'[ \t]*(?:([A-Za-z0-9_-]+)|"([^"\n]*)"|\'([^\'\n]*)\')[ \t]*')


def table(text: str, path: Sequence[str]) -> dict[str, Any] | None:
    """The table at `path`; None when there is none."""
    value: Any = _read(text)
    for key in path:
        value = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def with_table(text: str, path: Sequence[str], values: dict[str, Json]) -> str:
    """Return `text` with these values in the table at `path`; what else stands there stays."""
    before = table(text, path) or {}
    plain = {key: value for key, value in before.items() if not isinstance(value, dict)}
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(path)}]", *(f"{key} = {_written(value)}" for key, value in {**plain, **values}.items())]
    block = "".join(line + line_end for line in lines)
    found = next((each for each in _blocks(text) if each[0] == tuple(path)), None)
    if found is None:
        space = "" if not text.strip() else line_end if text.endswith("\n") else line_end * 2
        changed = text + space + block
    else:
        changed = text[: found[1]] + block + text[found[2] :]
    return _checked(text, changed, path, {**before, **values})


def without_table(text: str, path: Sequence[str]) -> str:
    """Return `text` without the table at `path` and those in it."""
    if table(text, path) is None:
        return text
    changed = text
    for name, start, end in reversed(_blocks(text)):
        if name[: len(path)] == tuple(path):
            changed = _cut(changed, start, end)
    return _checked(text, changed, path, None)


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"it is no TOML: {error}. Correct it first.") from None
    except RecursionError:
        raise BadInput("it is nested too deeply. Change it by hand.") from None


def _cut(text: str, start: int, end: int) -> str:
    """Take a stretch of lines out, and one of the two empty lines that then meet."""
    head, tail = text[:start], text[end:]
    if re.search(r"(^|\n)\r?\n\Z", head) and re.match(r"\s*$", tail):
        return re.sub(r"\r?\n\Z", "", head) + tail
    return head + re.sub(r"^\r?\n", "", tail)


def _blocks(text: str) -> list[tuple[tuple[str, ...], int, int]]:
    """Each table: its name, where its heading begins, and where its last value ends."""
    found: list[tuple[tuple[str, ...], int, int]] = []
    at = 0
    for line in text.splitlines(keepends=True):
        end = at + len(line)
        if _HEADING.match(line):
            found.append((_names(line), at, end))
        elif found and line.strip() and not line.lstrip().startswith("#"):
            # Comments and empty lines below the last value belong to what follows.
            found[-1] = (found[-1][0], found[-1][1], end)
        at = end
    return found


def _names(line: str) -> tuple[str, ...]:
    """What a heading names; nothing for a list of tables, which is nobody's here."""
    line = line.strip()
    if line.startswith("[["):
        return ()
    names: list[str] = []
    at = 1
    while match := _NAME.match(line, at):
        names.append(match[1] or match[2] or match[3] or "")
        at = match.end() + 1
        if line[match.end() : at] != ".":
            break
    return tuple(names)


def _checked(before: str, after: str, path: Sequence[str], wanted: dict[str, Any] | None) -> str:
    """What was changed, if it is what was meant and nothing else."""
    try:
        found = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        found = None
    if found is None or _without(found, path) != _without(_read(before), path) or table(after, path) != wanted:
        named = ".".join(path)
        raise BadInput(f"{named} is written there in a way that is changed only by hand. Take it out, and try again.")
    return after


def _without(value: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """The same without what is at `path`, and without tables that this leaves empty."""
    inner = value.get(path[0])
    rest = {key: each for key, each in value.items() if key != path[0]}
    if len(path) == 1 or not isinstance(inner, dict):
        return rest if len(path) == 1 else value
    left = _without(cast("dict[str, Any]", inner), path[1:])
    return {**rest, path[0]: left} if left else rest


def _written(value: Any) -> str:
    """Strings of JSON are strings of TOML."""
    if isinstance(value, list):
        return f"[{', '.join(map(_written, cast('list[Any]', value)))}]"
    if isinstance(value, (str, bool, int, float)):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
