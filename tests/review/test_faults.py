"""What goes wrong on the way to a pull request: it is told, and a second call finishes what was begun."""

from __future__ import annotations

from pathlib import Path

import pytest

from .clone import Clone
from .forge_server import TOKEN, GiteaStandIn

DATA = "data/notes.txt"


@pytest.fixture
def changed(clone: Clone) -> Clone:
    """A clone with a change that needs no kernel."""
    clone.write(DATA, "one\n")
    return clone


ARGUMENTS = (DATA, "--branch", "agent/data", "--title", "More data")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/pulls$", 403),
        ("POST", "/pulls$", 404),
        ("POST", "/statuses/", 401),
        ("POST", "/pulls$", 422),
    ],
)
def test_what_the_forge_refuses_is_told_and_a_second_call_finishes(
    changed: Clone, gitea: GiteaStandIn, method: str, path: str, status: int
) -> None:
    gitea.fail(method, path, status)
    done = changed.call("propose", *ARGUMENTS, "--pull-request")
    assert done.returncode in (2, 3)
    assert f"was answered with {status}" in done.stderr
    made = changed.propose(*ARGUMENTS)
    assert (made["pull_request"], made["opened"]) == (1, True)
    assert changed.git("rev-list", "--count", f"main..{made['commit']}").strip() == "1"


def test_an_answer_that_is_lost_halfway_opens_no_second_pull_request(changed: Clone, gitea: GiteaStandIn) -> None:
    gitea.fail("POST", "/pulls$", 500, done=True)
    assert "goes on where it stopped" in changed.refused(*ARGUMENTS, status=4)
    made = changed.propose(*ARGUMENTS)
    assert (made["pull_request"], made["opened"], len(gitea.pulls)) == (1, False, 1)


def test_a_pull_request_that_somebody_opens_at_the_same_time_is_updated(changed: Clone, gitea: GiteaStandIn) -> None:
    changed.propose(*ARGUMENTS)
    changed.write(DATA, "two\n")
    gitea.fail("GET", "/pulls$", 200, answer=[])  # it is not there yet when it is looked for
    made = changed.propose(*ARGUMENTS)
    assert (made["opened"], len(gitea.pulls)) == (False, 1)


@pytest.mark.slow
def test_a_forge_that_is_away_leaves_the_commit_and_the_next_call_goes_on(changed: Clone, gitea: GiteaStandIn) -> None:
    changed.git("config", "quire.forgeApi", "http://127.0.0.1:9/api/v1")
    said = changed.refused(*ARGUMENTS, status=4)
    assert "cannot be reached" in said and "call again" in said
    changed.git("config", "quire.forgeApi", gitea.url + gitea.prefix)
    assert changed.propose(*ARGUMENTS)["pull_request"] == 1


def test_without_a_token_nothing_is_pushed(changed: Clone, gitea: GiteaStandIn) -> None:
    said = changed.refused(*ARGUMENTS, status=2, token="")
    assert "There is no token for 127.0.0.1" in said and "QUIRE_FORGE_TOKEN or GITEA_TOKEN" in said
    assert gitea.sha("agent/data") == ""


def test_a_push_that_a_hook_rejects_is_told(changed: Clone, gitea: GiteaStandIn) -> None:
    hook = gitea.repository / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)
    said = changed.refused(*ARGUMENTS, status=3)
    assert "rejected the push to agent/data" in said and "hook" in said
    hook.unlink()
    assert changed.propose(*ARGUMENTS)["opened"]


def _other(clone: Clone, gitea: GiteaStandIn) -> Clone:
    """Somebody else's clone."""
    top = clone.top.with_name("other")
    clone.git("clone", "--quiet", str(gitea.repository), str(top))
    return Clone(top, Path(clone.env["HOME"]))


def test_what_others_pushed_to_the_branch_stays(changed: Clone, gitea: GiteaStandIn) -> None:
    changed.propose(*ARGUMENTS)
    other = _other(changed, gitea)
    other.git("switch", "--quiet", "agent/data")
    other.write("data/theirs.txt", "theirs\n")
    other.git("add", "--all")
    other.git("commit", "--quiet", "-m", "theirs")
    other.git("push", "--quiet")
    changed.write(DATA, "two\n")
    made = changed.propose(*ARGUMENTS)
    assert changed.at(made["commit"], "data/theirs.txt") == "theirs\n"
    assert changed.at(made["commit"], DATA) == "two\n"


def test_a_file_that_others_changed_on_the_branch_as_well_is_not_overwritten(
    changed: Clone, gitea: GiteaStandIn
) -> None:
    changed.propose(*ARGUMENTS)
    other = _other(changed, gitea)
    other.git("switch", "--quiet", "agent/data")
    other.write(DATA, "theirs\n")
    other.git("commit", "--quiet", "--all", "-m", "theirs")
    other.git("push", "--quiet")
    changed.write(DATA, "two\n")
    assert "was changed on branch agent/data at the remote as well" in changed.refused(*ARGUMENTS, status=3)
    assert "theirs" in gitea.git("show", f"agent/data:{DATA}")


def test_a_branch_that_is_checked_out_is_not_moved_under_its_files(changed: Clone, gitea: GiteaStandIn) -> None:
    changed.git("switch", "--quiet", "--create", "agent/data")
    changed.propose(*ARGUMENTS)
    other = _other(changed, gitea)
    other.git("switch", "--quiet", "agent/data")
    other.write("data/theirs.txt", "theirs\n")
    other.git("add", "--all")
    other.git("commit", "--quiet", "-m", "theirs")
    other.git("push", "--quiet")
    changed.write(DATA, "two\n")
    assert "git pull --rebase --autostash" in changed.refused(*ARGUMENTS, status=3)
    changed.git("pull", "--quiet", "--rebase", "--autostash", "origin", "agent/data")
    assert changed.propose(*ARGUMENTS)["opened"] is False
    assert changed.git("status", "--porcelain") == ""


def test_branches_that_went_apart_are_told(changed: Clone, gitea: GiteaStandIn) -> None:
    changed.propose(*ARGUMENTS)
    tree = gitea.git("rev-parse", "main^{tree}")
    commit = gitea.git(
        "-c", "user.name=a", "-c", "user.email=a@example.org", "commit-tree", tree, "-p", "main", "-m", "x"
    )
    gitea.git("update-ref", "refs/heads/agent/data", commit)
    changed.write(DATA, "two\n")
    said = changed.refused(*ARGUMENTS, status=3)
    assert "has commits here and others at the remote" in said


def test_the_work_tree_and_the_index_stay_as_they_are(changed: Clone, gitea: GiteaStandIn) -> None:
    changed.write("staged.txt", "staged")
    changed.git("add", "staged.txt")
    changed.write("staged.txt", "and changed")
    changed.edit()
    before = changed.git("status", "--porcelain")
    made = changed.propose(*ARGUMENTS)
    assert changed.git("status", "--porcelain") == before
    assert changed.git("show", "--name-only", "--format=", made["commit"]).split() == [DATA]


def test_a_detached_head_is_no_obstacle_with_a_branch_to_go_to(changed: Clone, gitea: GiteaStandIn) -> None:
    changed.git("checkout", "--quiet", "--detach")
    assert changed.propose(*ARGUMENTS)["opened"]


def test_a_shallow_clone_will_do(changed: Clone, gitea: GiteaStandIn) -> None:
    top = changed.top.with_name("shallow")
    for number in range(3):
        changed.git("commit", "--quiet", "--allow-empty", "-m", f"commit {number}")
    changed.git("push", "--quiet", "origin", "main")
    changed.git("clone", "--quiet", "--depth", "1", f"file://{gitea.repository}", str(top))
    shallow = Clone(top, Path(changed.env["HOME"]))
    shallow.connect(gitea)
    shallow.write(DATA, "one\n")
    assert shallow.propose(*ARGUMENTS)["opened"]


def test_a_merge_is_refused_while_a_status_is_red_or_open_and_by_an_agent(changed: Clone, gitea: GiteaStandIn) -> None:
    made = changed.propose(*ARGUMENTS)
    merge = ("propose", "--merge", "--branch", "agent/data")
    gitea.statuses.insert(0, {"id": 99, "sha": made["commit"], "context": "Notebook CI", "status": "failure"})
    refused = changed.call(*merge)
    assert refused.returncode == 3 and "is red (Notebook CI" in refused.stderr
    gitea.statuses[0]["status"] = "pending"
    assert "is not decided" in changed.call(*merge).stderr
    gitea.statuses[0]["status"] = "success"
    token = changed.call("token", "new", "--actor", "claude", "--kind", "agent", "--scope", "read,edit,run", "--json")
    secret = token.stdout.partition('"secret":"')[2].partition('"')[0]
    by_agent = changed.call(*merge, QUIRE_TOKEN=secret)
    assert by_agent.returncode == 3 and "is no person" in by_agent.stderr
    done = changed.call(*merge)
    assert done.returncode == 0, done.stderr
    assert gitea.pulls[0]["merged"]
    assert gitea.git("show", f"main:{DATA}") == "one"
    assert "no open pull request" in changed.call(*merge).stderr


def test_secrets_and_paths_of_the_machine_stay_here(changed: Clone, gitea: GiteaStandIn) -> None:
    secret = "s3cr3t-value-0123456789"
    told = f"Look at {changed.top}/data with {secret}, {TOKEN} and https://ada:hunter22@example.org/x."
    changed.propose(
        DATA, "--branch", "agent/data", "--title", told, "--body", told, "--message", told, DB_PASSWORD=secret
    )
    (pull,) = gitea.pulls
    message = changed.git("log", "-1", "--format=%B", "agent/data")
    for text in (pull["title"], pull["body"], message):
        assert "Look at" in text
        assert not any(each in text for each in (secret, TOKEN, "hunter22", str(changed.top)))
    changed.write(DATA, f"token = {secret}\n")
    assert "holds the value of DB_PASSWORD" in changed.refused(*ARGUMENTS, status=3, DB_PASSWORD=secret)
    changed.write(DATA, f"open('{changed.top}/data/x')\n")
    assert "line 1, names a folder of this machine" in changed.refused(*ARGUMENTS, status=3)
    changed.write(DATA, "ghp_" + "a" * 36 + "\n")
    assert "holds a GitHub token" in changed.refused(*ARGUMENTS, status=3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--branch", "main"), "main is the default branch"),
        (("--branch", "-x"), "cannot be the name of a branch"),
        (("--branch", "a..b"), "cannot be the name of a branch"),
        (("--refs", "x; rm"), "refers to no issue"),
        (("--remote", "nowhere"), "There is no remote 'nowhere'"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_happens(
    changed: Clone, gitea: GiteaStandIn, arguments: tuple[str, ...], said: str
) -> None:
    done = changed.call("propose", DATA, "--pull-request", *arguments)
    assert done.returncode in (2, 3)
    assert said in done.stderr
    assert gitea.git("for-each-ref", "--format=%(refname:short)", "refs/heads") == "main"


def test_a_title_in_any_script_makes_a_branch_that_can_be_typed(changed: Clone, gitea: GiteaStandIn) -> None:
    assert changed.propose(DATA, "--title", "Größere Übersicht | mehr")["branch"] == "agent/groere-ubersicht-mehr"
    assert gitea.pulls[0]["title"] == "Größere Übersicht | mehr"


def test_nothing_that_changed_is_nothing_to_propose(clone: Clone, gitea: GiteaStandIn) -> None:
    assert "nothing to propose" in clone.refused(status=2)
    assert gitea.asked("POST") == 0


def test_a_plain_remote_gets_the_branch_and_a_report(changed: Clone, gitea: GiteaStandIn) -> None:
    changed.git("config", "quire.forge", "none")
    made = changed.propose(*ARGUMENTS, "--refs", "155")
    assert (made["pull_request"], made["report"]) == (None, "reports:proposals/agent-data.md")
    assert gitea.sha("agent/data") == made["commit"]
    report = gitea.git("show", "reports:proposals/agent-data.md")
    assert report.startswith("# More data") and report.endswith("Refs #155")
    assert gitea.requests == []


def test_a_script_and_its_ipynb_that_were_both_edited_are_nobodys_to_choose_from(
    clone: Clone, gitea: GiteaStandIn
) -> None:
    clone.edit()
    book = (clone.top / "notebooks/fleet.ipynb").read_text()
    clone.write("notebooks/fleet.ipynb", book.replace("threshold = 0.95", "threshold = 0.10"))
    assert "were both edited and do not say the same" in clone.refused(status=3)
