"""Write down what the log of a case comes to, for a person to read before it is committed.

    .venv/bin/python -m spec.fill spec/cases/comments.json

Takes `log` as it stands, and writes `notebook`, `stale` and `states` (or `directory`) anew; of a `visible` case, what
each text looks like.
It knows what the reducer does, not what it should do: read the result against docs/spec.md.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from pathlib import Path
from typing import Any, cast

import msgspec
from tests.core.test_spec_cases import Line, expanded

from quire.core.events import Entry
from quire.core.notebook.directory import fold_directory
from quire.core.notebook.reduce import fold
from quire.core.notebook.staleness import stale_cells
from quire.core.visible import OPENING, visible

WIDTH = 116
"""What fits into a line stays on it."""
LONG = 1000
"""From this length on, a text of one character is written as a `$repeat`."""


def fill(path: Path) -> None:
    """Bring one file up to date."""
    case = json.loads(path.read_text())
    if case["kind"] == "visible":
        case["texts"] = [[text, visible(text)] for text, _ in case["texts"]]
        path.write_text(written(case))
        return
    entries = [line.entry() for line in msgspec.convert(expanded(case["log"]), list[Line])]
    case |= _of_directory(entries) if case["kind"] == "directory" else _of_notebook(entries)
    path.write_text(written(case))


def _of_directory(entries: list[Entry]) -> dict[str, Any]:
    return {"directory": _json(fold_directory(entries))}


def _of_notebook(entries: list[Entry]) -> dict[str, Any]:
    notebook = fold(entries)
    return {
        "notebook": _json(notebook),
        "stale": sorted(stale_cells(notebook)),
        "states": {cell.id: cell.state for cell in notebook.live_cells},
    }


def _json(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


def written(case: dict[str, Any]) -> str:
    """The case as text: one line for each entry of its log, and for whatever else is short."""
    lines = [f"{json.dumps(name)}: {_field(name, value)}" for name, value in case.items()]
    return "{\n  " + ",\n  ".join(lines) + "\n}\n"


def _field(name: str, value: Any) -> str:
    if name == "log":
        return "[\n    " + ",\n    ".join(_line(each) for each in value) + "\n  ]"
    return _text(_folded(value), "  ")


def _line(value: Any) -> str:
    return re.sub(r"[^\x20-\x7e]", _visible, json.dumps(_folded(value), ensure_ascii=False))


def _visible(found: re.Match[str]) -> str:
    """The character, or its escape where an editor would show something else or nothing."""
    char = found[0]
    hidden = unicodedata.combining(char) or unicodedata.category(char)[0] in "CZ" or visible(char) != char
    hidden = hidden and char != OPENING
    return json.dumps(char)[1:-1] if hidden else char


def _folded(value: Any) -> Any:
    if isinstance(value, str) and len(value) >= LONG and len(set(value)) == 1:
        return {"$repeat": [value[0], len(value)]}
    if isinstance(value, list):
        return [_folded(each) for each in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: _folded(each) for name, each in cast("dict[str, Any]", value).items()}
    return value


def _text(value: Any, indent: str) -> str:
    line = _line(value)
    if len(indent) + len(line) <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + "  "
    if isinstance(value, list):
        parts = [_text(each, inner) for each in cast("list[Any]", value)]
        return f"[\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}]"
    named = [f"{_line(name)}: {_text(each, inner)}" for name, each in cast("dict[str, Any]", value).items()]
    return f"{{\n{inner}" + f",\n{inner}".join(named) + f"\n{indent}}}"


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        fill(Path(argument))
