"""docs/NOTEBOOK_WORKFLOW.md is walked from end to end, in a clone with a remote."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from ..git.repository import settings_of_nobody

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "NOTEBOOK_WORKFLOW.md"


@pytest.mark.slow
def test_every_command_of_the_page_works_in_the_order_in_which_it_stands(tmp_path: Path) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    env = settings_of_nobody(tmp_path) | {"GIT_CONFIG_GLOBAL": str(tmp_path / "gitconfig")}
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    scene = """
        git init --quiet --bare --initial-branch=main ../remote
        git init --quiet --initial-branch=main
        git remote add origin ../remote
        mkdir notebooks && printf '/runs/\\n/.quire/\\n' > .gitignore && git add .gitignore
        git commit --quiet --message first && git push --quiet origin main
    """
    top = tmp_path / "clone"
    top.mkdir()
    walk = "\n".join(("set -eux", scene, *blocks))
    done = subprocess.run(["bash", "-c", walk], cwd=top, env=env, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr

    def git(*arguments: str) -> str:
        told = subprocess.run(["git", *arguments], cwd=top, env=env, capture_output=True, text=True, check=True)
        return told.stdout

    # Generated and committed with the script, without outputs; judged by the remote's branches; kept on another one.
    assert re.search(r"notebooks/disk_report\.ipynb +\| ", done.stdout)
    assert '"outputs": []' in git("show", "HEAD:notebooks/disk_report.ipynb")
    branches = git("ls-remote", "--heads", "origin")
    assert "refs/heads/agent/disk-report" in branches and "refs/heads/reports" in branches
    assert any(name.endswith(".ipynb") for name in git("ls-tree", "-r", "--name-only", "reports").splitlines())
    assert str(tmp_path) not in git("log", "--patch", "--all")


def test_the_workflow_of_this_repository_is_the_one_that_quire_writes() -> None:
    from quire.review.ci.workflow import workflow

    ours = (ROOT / ".gitea" / "workflows" / "notebook-ci.yml").read_text()
    expected = yaml.safe_load(workflow("gitea").replace('"quire[', '".['))
    assert yaml.safe_load(ours) == expected
