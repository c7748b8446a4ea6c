"""Durations and values as a person would write them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from ..core.values import Json

_WORD = re.compile(r"[\w.:/@+~-]+")


def spent(seconds: float | None) -> str:
    """A duration for people: `0.02 s`, `12.3 s`, `3 min 05 s`, `2 h 10 min`."""
    if seconds is None:
        return ""
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"


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


def parameters_text(parameters: Mapping[str, Json]) -> str:
    """Parameters in short: `month=2026-10 top=5`."""
    return " ".join(f"{name}={value_text(value)}" for name, value in parameters.items())
