"""The variables that a kernel gets: the caller's, and those of the nearest `.env`.

The caller's win. A `.env` is looked for from the notebook's folder upwards, up to the root of
its repository. It holds `NAME=value` lines, with or without `export`; `#` begins a comment.
In single quotes everything means itself; in double quotes `\\n`, `\\t`, `\\r`, `\\"`, `\\\\` and `\\$`
are escapes; both may go over several lines. Nothing is replaced in values: `$HOME` is five characters.

Not python-dotenv: it keeps the backslash of `\\$`, reads `C=#` as the value `#`, takes names that are none (`1A`) and values with
a NUL, with which no kernel starts, and only its parser's own module says which lines it did not understand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ..core.errors import BadInput
from .kernel_environment import is_trusted, upwards

FILE = ".env"
MOST_BYTES = 1_000_000

_LINE = re.compile(
    r"""[ \t]*(?:
        (?:\#[^\n]*)?                                               # nothing, or a comment
        | (?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*
          (?: '(?P<single>[^']*)'[ \t]*(?:\#[^\n]*)?
            | "(?P<double>(?:[^"\\]|\\.)*)"[ \t]*(?:\#[^\n]*)?
            | (?P<bare>(?!['"])[^\n]*) )
    )(?:\n|\Z)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_COMMENT = re.compile(r"(?:^|[ \t])#")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "$": "$", "\n": ""}


class Variables(msgspec.Struct, frozen=True, kw_only=True):
    """All variables for a kernel, and which of them a file brought."""

    env: dict[str, str]
    path: Path | None = None
    names: tuple[str, ...] = ()
    """Those that came from the file."""
    unread: tuple[int, ...] = ()
    """Lines of the file that say nothing we understand."""


def variables(cwd: Path, environ: Mapping[str, str]) -> Variables:
    """Return the variables for a kernel that works in `cwd`."""
    path = nearest_env_file(cwd)
    if path is None:
        return Variables(env=dict(environ))
    values, unread = parse(_text(path))
    names = tuple(name for name in values if name not in environ)
    return Variables(env=values | dict(environ), path=path, names=names, unread=unread)


def nearest_env_file(cwd: Path) -> Path | None:
    """The `.env` that is nearest to a folder, upwards, at most to the root of its repository."""
    for folder in upwards(cwd):
        path = folder / FILE
        if path.is_file() and is_trusted(path):
            return path
        if (folder / ".git").exists():
            return None
    return None


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadInput(f"{path} is larger than {MOST_BYTES // 1000} kB: that is no list of variables.")
        # A variable may hold bytes that are no text.
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from error


def parse(text: str) -> tuple[dict[str, str], tuple[int, ...]]:
    """Return what the text of a `.env` file sets, and the numbers of lines that set nothing."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    values: dict[str, str] = {}
    unread: list[int] = []
    place, line = 0, 1
    while place < len(text):
        found = _LINE.match(text, place)
        value = _value(found) if found else None
        if found is None or (value is not None and "\0" in value):
            unread.append(line)
        elif value is not None:
            values[found["name"]] = value
        end = found.end() if found else text.find("\n", place) + 1 or len(text)
        line += text.count("\n", place, end)
        place = end
    return values, tuple(unread)


def _value(found: re.Match[str]) -> str | None:
    if found["single"] is not None:
        return found["single"]
    if found["double"] is not None:
        return _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[0]), found["double"])
    if found["bare"] is None:
        return None
    comment = _COMMENT.search(found["bare"])
    return found["bare"][: comment.start() if comment else None].strip()
