"""The notebooks under notebooks/: each with its .ipynb, run by Quire and by the tools that others use."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import nbformat
import pytest

import quire
from quire.formats import registry
from quire.formats.convert import convert

FOLDER = Path(__file__).parents[1] / "notebooks"
SCRIPTS = sorted(FOLDER.glob("*.py"))
TASK = ("-p", "threshold", "1.0", "-p", "hostname", "forge-vps-01")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the notebooks in it, where runs may leave what they like."""
    for path in FOLDER.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(tool: str, *arguments: str) -> None:
    command = [str(Path(sys.executable).with_name(tool)), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_each_ipynb_is_what_its_script_says(script: Path) -> None:
    target = script.with_suffix(".ipynb")
    existing = target.read_text()
    assert convert(script.read_text(), script.name, target.name, existing) == existing
    node = cast("Any", nbformat)
    node.validate(node.reads(existing, as_version=4))
    assert json.loads(existing)["metadata"]["kernelspec"]["name"] == "python3"


def test_the_health_of_a_fleet_is_scored_and_recorded(folder: Path) -> None:
    # Nothing listens on this name, which no resolver knows: a machine that is gone.
    hosts = ["localhost", "gone.invalid"]
    outcome = quire.NotebookExecutor().execute(
        "fleet_health_check.py", "fleet.ipynb", {"hosts": hosts, "threshold": 0.9, "run_id": "one"}
    )
    assert outcome["status"] == "success", outcome
    scraps = outcome["scraps"]
    assert scraps["health_score"] == 0.0 and not scraps["healthy"] and scraps["alert_count"] >= 1
    assert list(scraps["host_scores"]) == hosts and scraps["checked"]["run_id"] == "one"


@pytest.mark.slow
def test_the_tools_of_others_run_the_pair_as_it_is_shipped(folder: Path) -> None:
    name = "agent_task_system_health"
    shipped = registry.read((folder / f"{name}.py").read_text(), f"{name}.py")
    call("jupytext", "--to", "py", f"{name}.ipynb")
    back = registry.read((folder / f"{name}.py").read_text(), f"{name}.py")
    assert [cell.source for cell in back.cells] == [cell.source for cell in shipped.cells]
    call("jupytext", "--to", "ipynb", f"{name}.py")
    call("papermill", f"{name}.ipynb", "executed.ipynb", *TASK)
    assert "forge-vps-01 is fit for work" in (folder / "executed.ipynb").read_text()
    call("quire", "run", f"{name}.py", "ours.ipynb", *TASK)
    assert "forge-vps-01 is fit for work" in (folder / "ours.ipynb").read_text()
