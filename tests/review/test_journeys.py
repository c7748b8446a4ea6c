"""An agent's change of a notebook, from the first edit to the report, with real git and a stand-in for each forge."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

import quire

from .. import command
from ..doors.mcp.agents import Agent, over_stdio
from ..journeys.live_runtimes import end_runtimes
from ..web.app import chromium
from .clone import PATH, Clone
from .forge_server import TOKEN, GiteaStandIn, GitHubStandIn, StandIn, served

BOOK = "notebooks/fleet.ipynb"


@pytest.fixture(params=[GiteaStandIn, GitHubStandIn])
def forge(request: pytest.FixtureRequest, place: Path) -> Iterator[StandIn]:
    with served(request.param(place / "remote.git")) as made:
        yield made


def proposed(agent: Agent, why: str) -> dict[str, Any]:
    """Propose, and wait for as long as it takes."""
    while (facts := agent.facts("propose", notebook=PATH, why=why, pull_request=True))["state"] == "running":
        pass
    return facts


def row(body: str, name: str = "healthy") -> str:
    return next(line for line in body.splitlines() if line.startswith("|") and f"`{name}`" in line)


@pytest.mark.slow
def test_an_agents_change_is_proposed_reviewed_merged_and_reported(forge: StandIn, place: Path) -> None:
    clone = Clone(place / "clone", place / "home")
    clone.connect(forge)
    command.run("init", at=clone.top, env=clone.env)
    with over_stdio(clone.top, "--as", "claude", **clone.env, QUIRE_FORGE_TOKEN=TOKEN) as agent:
        note = {"op": "insert", "after": "settings", "kind": "markdown", "source": "Fleets are older: 0.90 is healthy."}
        patch = {"op": "patch", "cell": "settings", "old": "0.95", "new": "0.90"}
        agent.told("edit", notebook=PATH, edits=[patch, note])
        first = proposed(agent, "Fleets are older now.")
        assert (first["pull_request"], first["opened"], first["status"]) == (1, True, "success")
        (pull,) = forge.pulls
        assert "Proposed by `agent:claude`, asked by `human:" in pull["body"]
        assert row(pull["body"]) == "| `notebooks/fleet.py` | `healthy` | `2` | `4` | **+2** (+100.0%) |"
        # A person asks for less, there; the agent reads that, and brings the same pull request up to date.
        forge.write_review("ada", "Too low.\nUse `threshold = 0.92`, then I merge it.", asks_for_changes=True)
        asked = agent.facts("wait", notebook=PATH, proposal=f"#{first['pull_request']}")
        (comment,) = asked["comments"]
        assert (comment["author"], comment["verdict"], asked["state"]) == ("ada", "change_asked", "proposed")
        (wanted,) = re.findall(r"threshold = ([\d.]+)", comment["body"])
        agent.told("edit", notebook=PATH, edits=[{"op": "patch", "cell": "settings", "old": "0.90", "new": wanted}])
        second = proposed(agent, "Less, as was asked.")
        # What was read once is no news.
        told = agent.told("wait", notebook=PATH, proposal="#1", since=asked["cursor"], seconds=0)
        assert "nobody has written anything after the cursor" in told
        assert (second["pull_request"], second["opened"], len(forge.pulls)) == (1, False, 1)
        assert row(pull["body"]) == "| `notebooks/fleet.py` | `healthy` | `2` | `3` | **+1** (+50.0%) |"
    end_runtimes(clone.top)
    # CI judges the same change, once and again, in one comment.
    branch = second["branch"]
    for _ in range(2):
        reviewed = clone.call("review", f"origin/main...origin/{branch}", "--json")
        assert reviewed.returncode == 0, reviewed.stderr
        assert json.loads(reviewed.stdout)["posted"]
    (comment,) = forge.comments
    assert row(comment["body"]) == row(pull["body"])
    merged = clone.call("propose", "--merge", "--branch", branch)
    assert merged.returncode == 0, merged.stderr
    # A colleague pulls: script and notebook say the same.
    top = place / "colleague"
    clone.git("clone", "--quiet", str(forge.repository), str(top))
    colleague = Clone(top, place / "home")
    assert "threshold = 0.92" in (top / PATH).read_text()
    assert "threshold = 0.92" in (top / BOOK).read_text()
    assert "Fleets are older: 0.90 is healthy." in (top / BOOK).read_text()
    # What ran is on the branch of reports, and nowhere else.
    report = clone.call("report", f"runs/{branch.replace('/', '-')}/fleet.ipynb", "--json")
    assert report.returncode == 0, report.stderr
    (path,) = json.loads(report.stdout)["paths"]
    colleague.git("fetch", "--quiet", "origin", "reports")
    shown = colleague.git("show", f"origin/reports:{path}")
    assert "3 of 5 are healthy" in shown
    assert str(place) not in shown and TOKEN not in shown
    assert "`healthy = 3`" in colleague.git("show", "origin/reports:README.md")


@pytest.mark.slow
def test_the_seven_steps_as_a_script(clone: Clone, gitea: GiteaStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    clone.enter(monkeypatch)
    branch = "agent/fleet-health-threshold-update"
    # 1 and 2: a branch, and the threshold
    subprocess.run(["git", "switch", "--quiet", "--create", branch], check=True)
    notebooks: Any = nbformat
    book: Any = notebooks.read(BOOK, as_version=4)
    at = next(number for number, cell in enumerate(book.cells) if "threshold = 0.95" in cell.source)
    book.cells[at].source = book.cells[at].source.replace("0.95", "0.90")
    # 3: a note after it
    book.cells.insert(at + 1, notebooks.v4.new_markdown_cell("The threshold is 0.90: fleets are older now."))
    notebooks.write(book, BOOK)
    # 4 and 5: a validation run, and what it recorded
    executor = quire.NotebookExecutor()
    outcome = executor.execute(BOOK, "runs/validation/fleet.ipynb", {"threshold": 0.90}, timeout=300)
    assert (outcome["status"], outcome["scraps"]) == ("success", {"healthy": 4, "share": 0.8})
    assert executor.collect_outputs("runs/validation/fleet.ipynb") == {"healthy": 4, "share": 0.8}
    # 6: the commit, and the pull request
    committed = quire.notebook_commit(BOOK, "feat(fleet): lower the threshold to 0.90")
    assert (committed["branch"], committed["files"]) == (branch, [BOOK, PATH])
    assert "threshold = 0.90" in clone.at(committed["commit"])
    assert clone.git("status", "--porcelain") == ""
    description = "Validation run: `runs/validation/fleet.ipynb`.\n\nRefs #155"
    made = quire.notebook_pr(branch, "Lower the threshold to 0.90", description)
    assert made["status"] == "success"
    assert gitea.pulls[0]["body"].endswith("\n\nRefs #155")
    # 7: the difference, as a person sees it
    page = clone.top / "difference.html"
    done = command.run("diff", "main", branch, BOOK, "--html", "--output", page, at=clone.top, env=clone.env)
    assert done.returncode == 1, done.stderr
    with chromium() as browser:
        shown = browser.new_page()
        shown.goto(page.as_uri())
        assert shown.locator("td.old mark").first.inner_text() == "95"
        assert shown.locator("td.new mark").first.inner_text() == "90"
        assert "fleets are older now" in shown.locator(".change.added").inner_text()
        shown.close()
