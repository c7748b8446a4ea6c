"""A tagged value as a person would write it."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from ..core.values import Json

_WORD = re.compile(r"[\w.:/@+~-]+")


def value_text(value: Json, depth: int = 8) -> str:
    """A tagged value as one line of text, as a person would write it; what is nested deeper is left out."""
    match value:
        case dict() | list() if depth == 0:
            return "…"
        case str():
            return value if _WORD.fullmatch(value) else json.dumps(value, ensure_ascii=False)
        case {"blob": str(hash), "media": media} if len(cast("dict[str, Any]", value)) == 2:
            return f"[{media or 'bytes'}, blob {hash[:12]}]"
        case dict():
            return _object_text(cast("dict[str, Json]", value), depth - 1)
        case list():
            return f"[{', '.join(value_text(each, depth - 1) for each in cast('list[Json]', value))}]"
        case _:
            return json.dumps(value)


def _object_text(value: dict[str, Json], depth: int) -> str:
    if len(value) == 1 and (name := next(iter(value))).startswith("$"):
        inner = value[name]
        if name == "$bytes":
            return f"[{len(str(inner)) * 3 // 4} bytes]"
        return inner if isinstance(inner, str) else value_text(inner, depth)
    return "{" + ", ".join(f"{name}: {value_text(each, depth)}" for name, each in value.items()) + "}"
