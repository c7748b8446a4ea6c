"""Figures with their floors, and how they are printed."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Awaitable, Callable
from statistics import median

import msgspec

Measured = Callable[[], Awaitable[float]]
"""Does the work once and returns the figure: a rate, or seconds."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table."""

    name: str
    ours: float
    unit: str
    floor: float | None = None
    floor_name: str = ""
    target: str = ""
    good: bool | None = None


async def alternately(rounds: int, *works: Measured) -> list[float]:
    """Measure several things in turn, so that a noisy moment hits all of them; return their medians."""
    results: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, result in zip(works, results, strict=True):
            result.append(await work())
    return [median(result) for result in results]


async def seconds(work: Callable[[], Awaitable[object]]) -> float:
    """How long the work takes, once."""
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start


def rate_figure(name: str, ours: float, floor: float, floor_name: str, at_least: float) -> Figure:
    """A rate that has to reach a part of its floor's."""
    return Figure(
        name=name,
        ours=ours,
        unit="/s",
        floor=floor,
        floor_name=floor_name,
        target=f"≥ {at_least:g} × floor",
        good=ours >= at_least * floor,
    )


def show_heading() -> None:
    """Print what the columns are, and of what machine."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    sys.stdout.write(f"{machine}\n\n{'':<52} {'ours':>14}  {'floor':<34} {'ratio':>8}  target\n")


def show(figure: Figure) -> None:
    """Print one line."""
    ours = _number(figure.ours, figure.unit)
    floor = f"{figure.floor_name} {_number(figure.floor, figure.unit)}" if figure.floor is not None else ""
    ratio = f"{figure.ours / figure.floor:.2f} ×" if figure.floor else ""
    mark = {True: "ok", False: "MISSED", None: ""}[figure.good]
    sys.stdout.write(f"{figure.name:<52} {ours:>14}  {floor:<34} {ratio:>8}  {figure.target:<18} {mark}\n")
    sys.stdout.flush()


def _number(value: float, unit: str) -> str:
    if unit == "s":
        return f"{value * 1000:,.2f} ms"
    return f"{value:,.1f}{unit}" if unit in (" ×", " %") else f"{value:,.0f}{unit}"
