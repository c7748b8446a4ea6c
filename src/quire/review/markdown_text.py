"""Text of others inside Markdown of ours: a value stays a value, pings nobody and closes nothing."""

from __future__ import annotations

import re

from ..core.visible import visible

_MOST = 200


def code(text: str, most: int = _MOST) -> str:
    """Return text as a code span of one line: in there forges read no mentions, references or HTML."""
    line = visible(" ".join(text.split("\n")))
    line = line if len(line) <= most else line[: most - 1] + "…"
    # A pipe would end the cell of a table even in a code span.
    line = line.replace("|", "\\|") if line.strip() else " "
    fence = "`" * (1 + max((len(found) for found in re.findall("`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def block(lines: list[str], language: str = "") -> list[str]:
    """Return lines as a fenced block that nothing in them can end."""
    shown = [visible(line) for line in lines]
    fence = "`" * max(3, 1 + max((len(found) for line in shown for found in re.findall("`+", line)), default=0))
    return [f"{fence}{language}", *shown, fence]


def one_line(text: str) -> str:
    """Return prose of others as one line in which nothing is marked up, mentioned or referred to."""
    line = visible(" ".join(text.split()))
    return re.sub(r"([\\`*_{}\[\]<>|~])", r"\\\1", re.sub(r"([@#])(?=\w)", "\\1\u2060", line))


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Return a table; its cells are Markdown already."""
    lines = [head, tuple("---" for _ in head), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]
