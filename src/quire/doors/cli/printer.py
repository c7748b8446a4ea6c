"""What verbs print: JSON for programs, text for people, and colour only on a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import click
import msgspec

from ...core.values import Json
from ...formats.terminal_safe import plain
from ...formats.value_text import value_text

CELL_WIDTH = 60


def print_json(value: Any) -> None:
    """Print one JSON value on stdout."""
    click.echo(msgspec.json.encode(value))


def tell(message: str, *, as_json: bool = False) -> None:
    """Tell something on stderr while a verb goes on; with `as_json`, as a line of JSON on stdout."""
    with contextlib.suppress(OSError):  # nobody reads it any more, or the disk is full: no reason to stop
        if as_json:
            print_json({"told": message})
        else:
            click.echo(f"quire: {plain(message)}", err=True)


def counted(count: int, thing: str) -> str:
    """`1 log`, `2,000 logs`."""
    return f"{count:,} {thing}{'s' * (count != 1)}"


def sized(size: int) -> str:
    """`512 bytes`, `12.3 kB`, `4,096.0 MB`."""
    if size < 1000:
        return counted(size, "byte")
    return f"{size / 1e3:,.1f} kB" if size < 1_000_000 else f"{size / 1e6:,.1f} MB"


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return rows as aligned text, wide values cut."""
    shown = [[_cell(value) for value in row] for row in rows]
    widths = [max([len(column), *(len(row[number]) for row in shown)]) for number, column in enumerate(columns)]
    lines = ["  ".join(column.ljust(width) for column, width in zip(columns, widths, strict=True)).rstrip()]
    lines.append("  ".join("─" * width for width in widths))
    for row in shown:
        lines.append("  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True)).rstrip())
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = plain(str(value)).replace("\n", "⏎")
    return text if len(text) <= CELL_WIDTH else text[: CELL_WIDTH - 1] + "…"


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
