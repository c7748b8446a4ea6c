"""The workspace that `make run` serves."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .journeys.live_runtimes import end_runtimes
from .journeys.server import Folder, printed, run_cell

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    made = Folder(tmp_path_factory.mktemp("here") / "example")
    make(made.path)
    yield made
    made.close()
    end_runtimes(made.path)


def make(folder: Path) -> None:
    subprocess.run([sys.executable, ROOT / "tools" / "example.py", folder], check=True, capture_output=True)


def test_it_has_its_notebooks_and_a_run_and_is_made_once(example: Folder) -> None:
    make(example.path)
    names = [row["name"] for row in example.quire("sql", "select name from notebooks order by 1", "--json")]
    assert names == ["Start here", "birthdays", "sales"]
    assert [run["status"] for run in example.quire("runs", "list", "--json")] == ["success"]
    assert (example.path / "runs" / "2026-11.ipynb").exists()
    example.quire("verify")
    example.quire("doctor")


def test_its_notebooks_run_when_it_is_served(example: Folder) -> None:
    server = example.start()
    with server.browser() as browser:
        notebooks = {each["name"]: each["log"] for each in browser.get("/api/notebooks").json()}
        for cell in ("chance", "table"):
            told = run_cell(browser, notebooks["birthdays"], cell)
        assert "23 people:  50.7%" in printed(told)
        for cell in ("hello", "parameters", "planets", "record"):
            assert run_cell(browser, notebooks["Start here"], cell)["state"] == "ok"
    assert server.end() == 0
