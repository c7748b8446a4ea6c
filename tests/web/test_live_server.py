"""Windows of the web app on a real server: whatever they do and lose, they end as the log is."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..journeys.server import Folder, free_port
from .node import NODE, WEB, needs_packages

pytestmark = needs_packages


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    made = Folder(tmp_path)
    yield made
    made.close()


def token(folder: Folder, actor: str) -> str:
    """May edit and not run: that requests are refused is a part of the play."""
    scopes = ("--kind", "human", "--scope", "read,edit", "--json")
    return folder.quire("token", "new", "--actor", actor, *scopes)["secret"]


def check(folder: Folder, seeds: range) -> None:
    server = folder.start("--port", str(free_port()), "--no-mirror")
    task = {"url": server.url, "tokens": [token(folder, "ada"), token(folder, "bob")], "seeds": list(seeds)}
    played = subprocess.run(
        [NODE, WEB / "tools" / "live_interleavings.ts"],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    lines = played.stdout.splitlines()
    assert played.returncode == 0, (played.stderr, [line for line in lines if not line.endswith("the same")])
    assert len(lines) == len(seeds)
    assert server.end() == 0
    folder.quire("verify")


@pytest.mark.generated
def test_some_drawn_interleavings_on_a_real_server_end_as_it_says(folder: Folder) -> None:
    """Rules 1, 2 and 8."""
    check(folder, range(12))


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(100, marks=pytest.mark.slow),
        *(pytest.param(each, marks=pytest.mark.torture) for each in range(150, 400, 50)),
    ],
)
def test_many_drawn_interleavings_on_a_real_server_end_as_it_says(folder: Folder, first: int) -> None:
    """Rules 1, 2 and 8; fifty at a time."""
    check(folder, range(first, first + 50))
