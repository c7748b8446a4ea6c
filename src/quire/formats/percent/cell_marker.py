"""The line that begins a cell in a percent file: its title, its kind and its metadata, read and written.

    # %% A title [markdown] tags=["intro"] slideshow={"slide_type": "slide"}

Read as Jupytext reads it, faults included, since that is what a file means to others. What
a line cannot say that way (a title with `=`, a name with blanks, a flag) is written as
`quire.metadata={…}`, which Jupytext keeps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from ...core.values import Json

MARKER = re.compile(r"\s*#\s*%%%*\s")
"""Begins a line that begins a cell, when there is more on it than `%%`."""
BARE_MARKER = re.compile(r"\s*#\s*(?:%%|<codecell>|In\[[0-9 ]*\]:?)\s*$")

HELD = "quire.metadata"
"""Metadata that the line could not say plainly."""
END = "quire.end"
"""The end of a cell that the format cannot carry: blank lines, which it takes for the space between cells."""
CLOSED = "quire.closed"
"""The lines that close a fence which the cell leaves open, added at its end."""
UNREADABLE = "incorrectly_encoded_metadata"
"""Where Jupytext keeps what it cannot parse."""
_OURS = (HELD, END, CLOSED, UNREADABLE)
_KINDS = ("markdown", "raw", "md", "sql", "prompt")
# The lines that most cells begin with.
_KNOWN: dict[str, str | None] = {"# %%": None} | {f"# %% [{kind}]": kind for kind in _KINDS if kind != "md"}
_FLAG = re.compile(r"[a-zA-Z_.]+[a-zA-Z0-9_.]*")
_KEY = re.compile(r"[a-zA-Z0-9_.@/-]+")
# A value that does not parse is tried again with more of the line, once for each `=`.
_MOST_TRIES = 1_000


class Options(NamedTuple):
    """What the line says."""

    kind: str | None
    """`markdown`, `raw`, `sql`, `prompt`, or None: the metadata decides between code and raw."""
    metadata: dict[str, Json]
    held: dict[str, Json]
    """Metadata that means nothing to the format."""


def is_marker(line: str) -> bool:
    """Whether a line begins a cell."""
    if "%%" in line:
        return (MARKER.match(line) or BARE_MARKER.match(line)) is not None
    return ("<codecell>" in line or "In[" in line) and BARE_MARKER.match(line) is not None


def read_options(line: str) -> Options:
    """Return what a line that begins a cell says."""
    if line in _KNOWN:
        return Options(_KNOWN[line], {}, {})
    if not MARKER.match(line):
        return Options(None, {}, {})
    title, metadata = _title_and_metadata(line[line.find("%%") + 2 :])
    title, kind = _without_kind(title, metadata)
    bare = title.lstrip("%")
    if bare != title:
        metadata["cell_depth"] = len(title) - len(bare)
        title = bare.strip()
    if title:
        metadata["title"] = title
    held: Any = metadata.get(HELD)
    if not isinstance(held, dict):
        return Options(kind, metadata, {})
    del metadata[HELD]
    return Options(kind, metadata, cast("dict[str, Json]", held))


def _without_kind(title: str, metadata: dict[str, Json]) -> tuple[str, str | None]:
    for kind in _KINDS:
        mark = f"[{kind}]"
        # Ours stand at an end of the title: to Jupytext they are part of it.
        if mark in title and (kind not in ("sql", "prompt") or title.startswith(mark) or title.endswith(mark)):
            if kind == "md":
                metadata["region_name"] = "md"
            return title.replace(mark, "").strip(), "markdown" if kind == "md" else kind
    return title, None


def _title_and_metadata(text: str) -> tuple[str, dict[str, Json]]:
    text = text.strip()
    brace, equal = text.find("{"), text.find("=")
    if brace >= 0 and not 0 <= equal < brace:
        return text[:brace].strip(), _object(text[brace:])
    words = text[: equal if equal >= 0 else None].split(" ")
    if equal >= 0:
        while words and not words[-1]:
            words.pop()
        # The last word is the name of the first value.
        words = words[:-1]
    while words and (not words[-1].strip() or words[-1].startswith(".")):
        words.pop()
    title = " ".join(words)
    return title, _pairs(text[len(title) :])


def _object(text: str) -> dict[str, Json]:
    try:
        value = _literal(text)
    except ValueError:
        value = None
    return cast("dict[str, Json]", value) if isinstance(value, dict) else {UNREADABLE: text.strip()}


def _pairs(text: str) -> dict[str, Json]:
    """The `name=value` pairs and the flags, from right to left: only a value's end is certain."""
    found: list[tuple[str, Json, bool]] = []
    while text := text.strip():
        last = text[text.rfind(" ") + 1 :]
        if not text.startswith("--") and _FLAG.fullmatch(last):
            found.append((last, None, True))
            text = text[: -len(last)]
            continue
        pair = _last_pair(text)
        if pair is None:
            found.append((UNREADABLE, text, False))
            break
        key, value, start = pair
        found.append((key, value, False))
        text = text[:start]
    metadata: dict[str, Json] = {}
    for key, value, is_flag in reversed(found):
        if not is_flag or key not in metadata:
            metadata[key] = value
    return metadata


def _last_pair(text: str) -> tuple[str, Json, int] | None:
    """The last `name=value` of a line and where it starts; None when nothing there can be read."""
    equal = len(text)
    for _ in range(_MOST_TRIES):
        equal = text.rfind("=", 0, equal)
        if equal < 0:
            return None
        before = text[:equal].rstrip()
        start = before.rfind(" ") + 1
        key = text[start:equal].strip()
        if _KEY.fullmatch(key):
            try:
                return key, _literal(text[equal + 1 :]), start
            except ValueError:
                continue
    return None


def _literal(text: str) -> Json:
    """A value in JSON, or as Python writes it."""
    text = text.strip()
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    except ValueError:
        return _plain(_python_literal(text))


def _python_literal(text: str) -> Any:
    # Nothing that Jupytext writes comes here.
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            # Python warns of a backslash that escapes nothing.
            warnings.simplefilter("ignore")
            return ast.literal_eval(text)
    except (SyntaxError, MemoryError, RecursionError, TypeError) as error:
        raise ValueError(text) from error


def _plain(value: Any) -> Json:
    """The value if JSON can hold it; a tuple as a list."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(each) for each in cast("list[Any]", value)]
    if isinstance(value, dict) and all(isinstance(key, str) for key in cast("dict[Any, Any]", value)):
        return {key: _plain(each) for key, each in cast("dict[str, Any]", value).items()}
    raise ValueError("JSON cannot hold it")


def write_options(
    kind: str | None, metadata: dict[str, Json], words: dict[str, Json] | None = None, *, level: int = 0
) -> str:
    """Return the line that begins a cell of a kind with this metadata.

    `words` are the format's own: `language`, `active`, `quire.end`. At level 1 all of the
    metadata but the tags is held, at level 2 the tags as well.
    """
    if not metadata and not words:
        return f"# %% [{kind}]" if kind else "# %%"
    words = words or {}
    if level == 0:
        held = {key: value for key, value in metadata.items() if not _is_sayable(key, value, kind)}
        said = {key: value for key, value in metadata.items() if key not in held}
        line = _line(kind, said | words, held, json.dumps)
        if read_options(line) == Options(kind, said | words, held):
            return line
    tags = {
        key: value for key, value in metadata.items() if key == "tags" and level < 2 and _is_sayable(key, value, kind)
    }
    held = {key: value for key, value in metadata.items() if key not in tags}
    return _line(kind, tags | words, held, _escaped)


def _is_sayable(key: str, value: Json, kind: str | None) -> bool:
    """Whether the line can say this in Jupytext's own words."""
    match key:
        case "title":
            return isinstance(value, str) and value.isprintable()
        case "region_name":
            return kind == "markdown" and value == "md"
        case "cell_depth":
            return type(value) is int and 0 < value < 100
        case "language" | "magic_args" | "cell_type":
            return False
        case "name":
            return isinstance(value, str) and value != ""
        case "tags":
            # What nbformat refuses, and Jupytext with it.
            tags = cast("list[str]", value)
            return len(set(tags)) == len(tags) and all(tag and "," not in tag for tag in tags)
        case _:
            return value is not None and key not in _OURS and _KEY.fullmatch(key) is not None


def _line(kind: str | None, said: dict[str, Json], held: dict[str, Json], dumps: Callable[[Json], str]) -> str:
    said = dict(said)
    title: Any = said.pop("title", "")
    depth: int = said.pop("cell_depth", 0)
    mark: str | None = said.pop("region_name", kind)
    if held:
        said[HELD] = held
    words = [title] if title else []
    words += [f"[{mark}]"] if mark else []
    words += [f"{key}={dumps(value)}" for key, value in said.items()]
    # Behind more than two of them, a blank: without it, Jupytext would not see a cell here.
    return f"# %%{'%' * depth}{' ' if words or depth else ''}{' '.join(words)}"


def _escaped(value: Json) -> str:
    """JSON in which nothing can be taken for another name, or for the encoding of the file."""
    return json.dumps(value).replace("=", "\\u003d").replace("coding", "c\\u006fding")
