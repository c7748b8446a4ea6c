"""Durations and values as a person would write them."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.values import Json
from ..formats.value_text import value_text


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


def parameters_text(parameters: Mapping[str, Json]) -> str:
    """Parameters in short: `month=2026-10 top=5`."""
    return " ".join(f"{name}={value_text(value)}" for name, value in parameters.items())
