"""What verbs print: JSON for programs, text for people, and colour only on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import msgspec

from ...files.plain import plain

CELL_WIDTH = 60


def print_json(value: Any) -> None:
    """Print one JSON value on stdout."""
    click.echo(msgspec.json.encode(value))


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
