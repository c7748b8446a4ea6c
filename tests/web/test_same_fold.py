"""TypeScript folds what Python folds, to the same notebook (rule 1)."""

from __future__ import annotations

import json
import os
import subprocess

import msgspec
import pytest
from hypothesis import given, settings

from quire.core import codec
from quire.core.events import Entry
from quire.core.notebook.reduce import fold
from quire.core.notebook.staleness import stale_cells

from ..random_logs import logs
from .node import NODE, WEB, needs_packages

pytestmark = needs_packages


def in_typescript(drawn: list[list[Entry]]) -> list[dict[str, object]]:
    """What the web app makes of each log."""
    lines = "".join(f"{json.dumps([as_sent(entry) for entry in log])}\n" for log in drawn)
    done = subprocess.run(
        [NODE, WEB / "tools" / "fold_logs.ts"], input=lines, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def as_sent(entry: Entry) -> dict[str, object]:
    """The entry as a browser gets it: its event as the log stores it."""
    return {**msgspec.to_builtins(entry), "event": json.loads(codec.encode(entry.event))}


def in_python(log: list[Entry]) -> dict[str, object]:
    """The same from the reducer of the server."""
    notebook = fold(log)
    return {"notebook": json.loads(msgspec.json.encode(notebook)), "stale": sorted(stale_cells(notebook))}


def drawn_logs(count: int) -> list[list[Entry]]:
    """That many logs. All are drawn before the first is folded: one process of Node serves them."""
    found: list[list[Entry]] = []

    @settings(max_examples=count, database=None)
    @given(logs())
    def draw(log: list[Entry]) -> None:
        found.append(log)

    draw()
    return found


def check(count: int) -> None:
    drawn = drawn_logs(count)
    assert len(drawn) >= count // 2
    for log, folded in zip(drawn, in_typescript(drawn), strict=True):
        assert folded == in_python(log), [codec.encode(entry.event) for entry in log]


@pytest.mark.generated
def test_drawn_logs_fold_to_the_same_notebook_in_both_languages() -> None:
    """Rule 1."""
    check(1000 if os.environ.get("QUIRE_TORTURE") else 100)
