"""The workflow that `quire ci init` writes: what it says, and what its steps do."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from quire.doors.cli.main import VERBS

from ..command import QUIRE
from .clone import Clone

PATHS = {
    "gitea": ".gitea/workflows/notebook-ci.yml",
    "github": ".github/workflows/notebook-ci.yml",
    "gitlab": ".gitlab-ci.yml",
}


def written(clone: Clone, forge: str) -> dict[Any, Any]:
    done = clone.call("ci", "init", forge)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == PATHS[forge]
    return yaml.safe_load((clone.top / PATHS[forge]).read_text())


@pytest.mark.parametrize("forge", ["gitea", "github"])
def test_the_workflow_runs_on_every_push_and_pull_request_without_a_token(clone: Clone, forge: str) -> None:
    made = written(clone, forge)
    assert made["name"] == "Notebook CI"
    assert set(made[True]) == {"push", "pull_request"}  # YAML 1.1 reads `on` as true
    job = made["jobs"]["notebook-smoke"]
    assert "TOKEN" not in str(job)
    (checkout,) = (step for step in job["steps"] if "checkout" in step.get("uses", ""))
    assert checkout["with"]["persist-credentials"] is False
    report = made["jobs"]["notebook-report"]
    assert "default_branch" in report["if"]
    assert "quire report" in report["steps"][-1]["run"]


def test_the_workflow_of_gitlab_has_the_same_jobs(clone: Clone) -> None:
    made = written(clone, "gitlab")
    assert list(made) == ["notebook-smoke", "notebook-report"]
    assert any("quire run" in line for line in made["notebook-smoke"]["script"])


def test_a_workflow_that_is_there_is_not_replaced_unless_it_is_said(clone: Clone) -> None:
    path = clone.write(PATHS["gitea"], "name: mine\n")
    done = clone.call("ci", "init", "gitea")
    assert done.returncode == 3 and "says something else" in done.stderr
    assert path.read_text() == "name: mine\n"
    assert clone.call("ci", "init", "gitea", "--force").returncode == 0
    assert clone.call("ci", "init", "gitea").returncode == 0
    # GitLab has one file for all: ours goes beside it.
    clone.write(PATHS["gitlab"], "stages: [test]\n")
    done = clone.call("ci", "init", "gitlab")
    assert done.stdout.strip() == ".gitlab/notebook-ci.yml" and "include" in done.stderr


@pytest.mark.slow
def test_the_steps_pass_with_good_notebooks_and_fail_with_a_cell_that_fails(clone: Clone) -> None:
    steps = [step for step in written(clone, "gitea")["jobs"]["notebook-smoke"]["steps"] if "run" in step]
    clone.write("notebooks/helpers.py", "VALUE = 1\n")
    clone.write("notebooks/deep down/it's one.py", "# %%\nprint('deep')\n")
    assert _run(clone, steps) == {}
    assert sorted(path.name for path in (clone.top / "runs/ci").iterdir()) == [
        "deep down-it's one.ipynb",
        "fleet.ipynb",
    ]
    clone.edit("print(", "raise SystemError(")
    assert "Execute notebooks" in _run(clone, steps)


def _run(clone: Clone, steps: list[dict[str, Any]]) -> dict[str, str]:
    """Run the steps as a runner does, and return what those said that failed."""
    failed: dict[str, str] = {}
    env = {**clone.env, "PATH": f"{Path(QUIRE).parent}{os.pathsep}{clone.env['PATH']}"}
    for step in steps:
        # What installs is the machine's business; `quire check` is run as soon as the verb is there.
        if step["name"] == "Install" or ("quire check" in step["run"] and "check" not in VERBS):
            continue
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=clone.top,
            env=env,
            capture_output=True,
            text=True,
            timeout=240,
        )
        if done.returncode:
            failed[step["name"]] = done.stdout + done.stderr
    return failed
