"""The notebooks that agents work on: made up, the same each time, and run for real before anybody looks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

LONG = 160
"""Cells of a notebook that grew over a year."""
LOG_LINES = 500_000
LOG_WIDTH = 105
"""Which makes 50 MB."""
AT = LOG_LINES * 3 // 5
TOTAL = str(sum(number * 7919 % 1000 for number in range(AT + 1)))
"""What somebody wants to know of it: a line far from both ends."""

Cell = tuple[str, str]
"""Its kind, and what it says."""
Outputs = dict[int, tuple[int | None, list[Any]]]
"""The count of a cell and what it showed, by its number."""

LOAD = """\
import numpy as np
import pandas as pd

rng = np.random.default_rng(7)
count = 5000
orders = pd.DataFrame(
    {
        "placed": pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 365, count), unit="D"),
        "region": rng.choice(["north", "south", "east", "west"], count),
        "channel": rng.choice(["web", "shop", "phone"], count),
        "kind": rng.choice(["book", "lamp", "chair", "desk", "pen"], count),
        "days": rng.integers(1, 21, count),
        "price": rng.gamma(3.0, 40.0, count).round(2),
    }
)
orders["currency"] = np.where(rng.random(count) < 0.6, *(name.upper() for name in ("chf", "eur")))
orders.head()"""

LATE = """\
# Flag what took too long to arrive
orders["overdue"] = orders["days"] > longest_days
print(f"{int(orders['overdue'].sum())} orders came late")"""

MONTHLY = """\
# Revenue per month, one column per currency
monthly = orders.pivot_table(index=orders["placed"].dt.month, columns="currency", values="price", aggfunc="sum")
monthly.round(0)"""

BROKEN = """\
# Revenue per region, without the smallest
cleaned = orders[orders["price"] > 5]
regions = cleaned.groupby("region_code").agg(revenue=("price", "sum"), orders=("price", "size"))
regions = regions[regions["orders"] > 10].sort_values("revenue", ascending=False)
print(regions.index[0], "is the best region")"""
WRONG, RIGHT = '"region_code"', '"region"'

FILTERED = """\
# Orders worth a second look
limit = 400
large = orders[orders["price"] > limit]
print(f"{len(large)} orders above {limit}")"""
THEIRS = FILTERED.replace("limit", "limit_chf")
"""What somebody else makes of it meanwhile."""
BOTH = THEIRS.replace("= 400", "= 350")

LOG = f"""\
# Replay of the ledger
total = 0
for number in range({LOG_LINES}):
    total += number * 7919 % 1000
    print(f"entry {{number:07d}} ".ljust({LOG_WIDTH - 1}, "."))
    if number == {AT}:
        print(f"grand total: {{total}}")"""


def long_notebook(*, broken: bool = False) -> list[Cell]:
    """An analysis of 160 cells, step by step."""
    cells: list[Cell] = [
        ("markdown", "# Orders of a year\n\nWhat was sold, where and when. Every step prints what it found.")
    ]
    cells += [("code", "longest_days = 9\ncurrency_shown = 'all'"), ("code", LOAD)]
    special = {12: LATE, 25: MONTHLY, 44: BROKEN if broken else BROKEN.replace(WRONG, RIGHT), 61: FILTERED}
    for number in range(1, (LONG - len(cells)) // 2 + 1):
        title, code = _step(number)
        cells += [("markdown", f"## Step {number}: {title}\n\n{_text(number)}"), ("code", special.get(number, code))]
    return cells + [("markdown", "## End\n\nThat is all.")] * (LONG - len(cells))


def _step(number: int) -> tuple[str, str]:
    group = ("region", "channel", "kind")[number % 3]
    what = ("revenue", "days until arrival", "size of orders", "prices")[number % 4]
    column = "days" if number % 4 == 1 else "price"
    code = f"""\
# {what.capitalize()} by {group}, months {number % 12 + 1} and after
subset_{number} = orders[orders["placed"].dt.month >= {number % 12 + 1}]
grouped_{number} = subset_{number}.groupby("{group}")["{column}"]
table_{number} = grouped_{number}.agg(["size", "mean", "median", "max"]).round({number % 3})
table_{number}["share"] = (table_{number}["size"] / table_{number}["size"].sum()).round(3)
table_{number} = table_{number}.sort_values("mean", ascending=False)
print(f"step {number}: {{len(subset_{number})}} rows; {{table_{number}.index[0]}} first, {{table_{number}.index[-1]}} last")
table_{number}"""
    return f"{what} by {group}", code


def _text(number: int) -> str:
    return (
        f"Here the orders are grouped once more, to see whether what step {max(number - 3, 1)} showed holds for the rest of "
        "the year. Outliers were left in on purpose; see the remark at the top."
    )


def ledger_notebook() -> list[Cell]:
    """A few cells, one of which printed 50 MB."""
    return [
        ("markdown", "# Ledger\n\nThe replay prints each entry."),
        ("code", "from pathlib import Path\n\nfolder = Path.cwd()\nprint(folder.name)"),
        ("code", LOG),
        ("markdown", "## After the replay"),
        ("code", 'print("replayed")'),
    ]


NOTEBOOKS = {"orders": long_notebook(), "broken": long_notebook(broken=True), "ledger": ledger_notebook()}
OF = {"read": "orders", "fix": "broken", "plot": "orders", "output": "ledger", "recover": "orders"}
"""Which notebook a task is about."""


def as_ipynb(cells: list[Cell], outputs: Outputs | None = None) -> bytes:
    """The file, with what cells showed: by their numbers."""
    made = {"cells": list(_cells(cells, outputs or {})), "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return msgspec.json.format(msgspec.json.encode(made), indent=1)


METADATA: dict[str, Any] = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def _id(number: int) -> str:
    """As other tools make them up, but the same each time."""
    return hashlib.sha256(f"cell {number}".encode()).hexdigest()[:8]


def _cells(cells: list[Cell], outputs: Outputs) -> Iterator[dict[str, Any]]:
    for number, (kind, source) in enumerate(cells):
        cell: dict[str, Any] = {"cell_type": kind, "id": _id(number), "metadata": {}, "source": source}
        if kind == "code":
            count, shown = outputs[number] if number in outputs else (None, list[Any]())
            cell |= {"execution_count": count, "outputs": shown}
        yield cell
