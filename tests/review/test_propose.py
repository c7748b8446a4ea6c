"""A change of notebooks becomes one pull request, with results before and after."""

from __future__ import annotations

import asyncio
import json

from quire.connection import connect
from quire.core.events import RevisionsSubject
from quire.verbs.answers.answer import Here
from quire.verbs.reviews.open_review import open_review
from quire.verbs.reviews.review_checks import ReviewChecks, review_checks

from .clone import PATH, Clone
from .forge_server import GiteaStandIn


def test_a_changed_notebook_becomes_a_pull_request_with_results_before_and_after(
    clone: Clone, gitea: GiteaStandIn
) -> None:
    clone.edit()
    made = clone.propose("--title", "Lower the threshold", "--refs", "155")
    assert made["branch"] == "agent/lower-the-threshold"
    assert (made["pull_request"], made["opened"], made["status"]) == (1, True, "success")
    (pull,) = gitea.pulls
    assert (pull["title"], pull["head"], pull["base"]) == ("Lower the threshold", made["branch"], "main")
    assert pull["body"].endswith("\n\nRefs #155")
    rows = [line for line in pull["body"].splitlines() if "`healthy`" in line and line.startswith("|")]
    assert rows == ["| `notebooks/fleet.py` | `healthy` | `2` | `4` | **+2** (+100.0%) |"]
    assert "2 of 5 are healthy" in pull["body"]
    assert "runs/agent-lower-the-threshold/fleet.ipynb" in pull["body"]
    # Source and generated notebook are on the branch, and the work tree is where it was.
    assert "threshold = 0.90" in clone.at(made["commit"])
    book = json.loads(clone.at(made["commit"], "notebooks/fleet.ipynb"))
    assert any("threshold = 0.90" in "".join(cell["source"]) for cell in book["cells"])
    assert clone.git("symbolic-ref", "--short", "HEAD").strip() == "main"
    assert gitea.sha(made["branch"]) == made["commit"]
    assert (gitea.statuses[0]["sha"], gitea.statuses[0]["status"]) == (made["commit"], "success")
    assert (clone.top / "runs/agent-lower-the-threshold/fleet.ipynb").is_file()
    # The page on which it is reviewed knows how it ran, before and after.
    found = asyncio.run(checks_of(clone, RevisionsSubject(path=PATH, base="main", head=made["branch"])))
    assert {check.name: check.status for check in found.checks}["Runs from top to bottom"] == "passed"
    assert [(each.name, each.old, each.new) for each in found.results if not each.same] == [
        ("healthy", 2, 4),
        ("share", 0.4, 0.8),
    ]


async def checks_of(clone: Clone, subject: RevisionsSubject) -> ReviewChecks:
    """What the review of a file shows as its checks."""
    workspace = await connect(str(clone.top))
    try:
        here = Here(workspace=workspace, folder=clone.top)
        return await review_checks(here, (await open_review(here, subject)).log)
    finally:
        await workspace.close()


def test_a_second_call_updates_the_same_pull_request(clone: Clone, gitea: GiteaStandIn) -> None:
    clone.edit()
    first = clone.propose("--branch", "agent/threshold", "--body", "As asked.", "--refs", "155")
    gitea.pulls[0]["body"] = "A person wrote this.\n\n" + gitea.pulls[0]["body"]
    clone.edit("threshold = 0.90", "threshold = 0.92")
    second = clone.propose("--branch", "agent/threshold")
    assert (first["opened"], second["opened"]) == (True, False)
    (pull,) = gitea.pulls
    assert pull["body"].startswith("A person wrote this.\n\nAs asked.\n\n<!--")
    assert pull["body"].endswith("Refs #155")
    assert pull["body"].count("### Checks") == 1
    assert clone.git("rev-list", "--count", f"main..{second['commit']}").strip() == "2"
    assert gitea.sha("agent/threshold") == second["commit"]
    assert "threshold = 0.92" in clone.at(second["commit"])


def test_what_people_wrote_on_a_pull_request_is_printed(clone: Clone, gitea: GiteaStandIn) -> None:
    clone.edit()
    clone.propose("--branch", "agent/threshold")
    read = ("review", "origin/main...agent/threshold", "--comments")
    assert clone.call(*read).stdout == "Nobody has written anything there.\n"
    gitea.write_review("ada", "Too low.\n\x1b[31mUse 0.92.", asks_for_changes=True)
    gitea.write_on_line("ada", "This one.", PATH, 5)
    posted = gitea.asked("POST")
    lines = clone.call(*read).stdout.splitlines()
    assert [line for line in lines if not line.startswith("  ")] == [
        "ada asks for changes, 2026-11-19T00:00:01Z:",
        f"ada on {PATH}:5, 2026-11-19T00:00:02Z:",
    ]
    assert [line for line in lines if line.startswith("  ")] == ["  Too low.", "  Use 0.92.", "  This one."]
    found = json.loads(clone.call(*read, "--json").stdout)
    assert (found["pull"]["number"], found["comments"][0]["verdict"]) == (1, "change_asked")
    assert gitea.asked("POST") == posted
    assert "Leave one of them out" in clone.call(*read, "--local").stderr
    assert "no open pull request of main" in clone.call("review", "origin/main...main", "--comments").stderr


def test_without_the_flag_nothing_leaves_the_machine(clone: Clone, gitea: GiteaStandIn) -> None:
    clone.edit()
    done = clone.call("propose", PATH)
    assert done.returncode == 2
    assert "--pull-request" in done.stderr
    assert gitea.requests == []
    assert clone.git("branch", "--list", "agent/*") == ""
