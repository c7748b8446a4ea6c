"""What agent frameworks call: a notebook committed and pushed, and its pull request."""

from __future__ import annotations

import json

import pytest

import quire

from .clone import PATH, Clone
from .forge_server import GiteaStandIn


@pytest.fixture
def inside(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> Clone:
    """The clone, with this process in it."""
    clone.enter(monkeypatch)
    return clone


def test_a_notebook_is_committed_with_its_ipynb_and_pushed_and_then_proposed(
    inside: Clone, gitea: GiteaStandIn
) -> None:
    inside.edit()
    committed = quire.notebook_commit(PATH, "feat(fleet): lower the threshold", "agent/fleet")
    assert committed["branch"] == "agent/fleet"
    assert gitea.sha("agent/fleet") == committed["commit"]
    assert committed["files"] == ["notebooks/fleet.ipynb", PATH]
    book = json.loads(inside.at(committed["commit"], "notebooks/fleet.ipynb"))
    assert any("threshold = 0.90" in "".join(cell["source"]) for cell in book["cells"])
    assert inside.git("log", "-1", "--format=%s", committed["commit"]).strip() == "feat(fleet): lower the threshold"
    made = quire.notebook_pr("agent/fleet", "Lower the threshold", "Fleets are older now.\n\nRefs #155")
    assert (made["pull_request"], made["status"]) == (1, "success")
    assert made["validations"][0]["results"]["healthy"] == {
        "a": 2,
        "b": 4,
        "same": False,
        "difference": 2.0,
        "relative": 1.0,
    }
    body = gitea.pulls[0]["body"]
    assert body.startswith("Fleets are older now.\n\n<!--") and body.endswith("\n\nRefs #155")


def test_nothing_is_committed_to_the_default_branch_or_to_none(inside: Clone, gitea: GiteaStandIn) -> None:
    inside.edit()
    before = gitea.sha("main")
    with pytest.raises(quire.Refused, match="main is the default branch"):
        quire.notebook_commit(PATH, "feat: x")
    inside.git("checkout", "--quiet", "--detach")
    with pytest.raises(quire.BadInput, match="HEAD is detached"):
        quire.notebook_commit(PATH, "feat: x")
    assert gitea.sha("main") == before


def test_on_a_branch_that_is_checked_out_the_work_tree_is_clean_afterwards(inside: Clone, gitea: GiteaStandIn) -> None:
    inside.git("switch", "--quiet", "--create", "fix-threshold")
    inside.edit()
    inside.write("other.txt", "untracked")
    committed = quire.notebook_commit(PATH, "feat(fleet): lower the threshold")
    assert committed["branch"] == "fix-threshold"
    assert gitea.sha("fix-threshold") == committed["commit"] == inside.git("rev-parse", "HEAD").strip()
    assert inside.git("status", "--porcelain") == "?? other.txt\n"
