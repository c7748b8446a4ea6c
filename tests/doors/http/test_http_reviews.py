"""Reviews over HTTP: what is reviewed, as what, by whom; and what becomes of it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from quire.core import events as e
from quire.core.diff.align import carry
from quire.core.diff.diff import diff
from quire.core.events import Draft
from quire.core.ids import CellId, EventId, LogId, ProposalId
from quire.core.notebook.comments import is_mentioned
from quire.core.notebook.reviews import review_log
from quire.core.text import source_hash
from quire.formats import registry
from quire.formats.diff_view.change_rows import rows
from quire.formats.diff_view.diff_html import render_page
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from ...http_server import served
from .http_clients import ADA, AGENT, ALL, BOB, NOTEBOOK, OTHER, Client, client_of, drafts, say

PATH = "notebooks/sales report.py"
BEFORE = """\
# %% [markdown]
# # Sales

# %% name="load"
x = 1
y = 2

# %% name="show"
print(x)
"""
AFTER = """\
# %% [markdown]
# # Sales

# %% name="load"
x = 1
y = 3

# %% name="plot"
import seaborn as sns
sns.lineplot(x)
"""


def _git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in which a branch changes a notebook, and main goes on elsewhere."""
    home = tmp_path_factory.mktemp("repository")
    file = home / PATH
    file.parent.mkdir(parents=True)
    _git(home, "init", "-q", "-b", "main")
    file.write_text(BEFORE)
    _git(home, "add", ".")
    _git(home, "commit", "-qm", "one")
    _git(home, "checkout", "-qb", "feature")
    file.write_text(AFTER)
    _git(home, "commit", "-qam", "two")
    _git(home, "checkout", "-q", "main")
    file.write_text(BEFORE + "# main went on\n")
    _git(home, "commit", "-qam", "three")
    return home


@pytest.fixture
def folder(repository: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    return shutil.copytree(repository, tmp_path / "home")


@pytest.fixture
async def url(workspace: LocalWorkspace, folder: Path) -> AsyncIterator[str]:
    async with served(workspace, folder=folder) as running:
        yield running.url


@pytest.fixture
async def here(workspace: LocalWorkspace, url: str) -> AsyncIterator[Client]:
    token = await workspace.create_token(ADA, ALL)
    async with client_of(url, token.secret) as client:
        yield client


async def _as(workspace: LocalWorkspace, url: str, who: e.ActorId, *scopes: e.Scope, **limits: Any) -> Client:
    return client_of(url, (await workspace.create_token(who, scopes, **limits)).secret)


def _subject(**changed: str) -> dict[str, Any]:
    return {"kind": "revisions", "path": PATH, "base": "main", "head": "feature", **changed}


async def _proposed(workspace: LocalWorkspace, *changes: e.CellChange, by: e.ActorId = AGENT) -> ProposalId:
    token = await workspace.create_token(by, ("read", "edit"), on_behalf_of=ADA)
    agent = await workspace.bearer(token.secret)
    made = e.ProposalMade(proposal=ProposalId(new_id()), why="a sum is clearer", changes=changes)
    await agent.submit(NOTEBOOK, [Draft(id=EventId(new_id()), event=made)])
    return made.proposal


def _edit(cell: str, old: str, new: str) -> e.SourceEdited:
    return e.SourceEdited(cell=CellId(cell), base_hash=source_hash(old), text=new)


# ---- Two revisions of a file


async def test_rows_of_a_review_are_those_of_the_page_that_diff_writes_in_the_same_order(here: Client) -> None:
    log = (await here.ask("POST", "/api/reviews", json={"subject": _subject()}))["log"]
    found = await here.ask("GET", f"/api/reviews/{log}")
    old, new = (registry.read(text, PATH) for text in (BEFORE, AFTER))
    new = carry(old, new)
    differs = diff(old, new)
    expected = [(row.cell.id, row.cell.name) for row in rows(differs, old, new) if row.operations]
    shown = [row for row in found["rows"] if row["state"] != "same"]
    assert [(row["cell"], row["name"]) for row in shown] == expected
    assert [row["name"] for row in shown] == ["load", "show", "plot"]
    page = render_page(differs, old, new, ("main", "feature"))
    assert page.index("print(x)") < page.index("sns.lineplot(x)")
    assert [bool(version) for version in found["versions"]] == [row["state"] != "same" for row in found["rows"]]
    # What main did since is no part of it: the two are compared from where they parted.
    assert "main went on" not in str(found)
    assert found["labels"] == ["at main", "at feature"]


async def test_the_first_changes_of_many_come_whole_and_all_can_be_counted(here: Client) -> None:
    log = (await here.ask("POST", "/api/reviews", json={"subject": _subject()}))["log"]
    whole = await here.ask("GET", f"/api/reviews/{log}")
    part = await here.ask("GET", f"/api/reviews/{log}", params={"first": 2})
    assert (whole["is_partial"], part["is_partial"]) == (False, True)
    assert part["rows"][:3] == whole["rows"][:3]
    assert [(row["cell"], row["state"]) for row in part["rows"]] == [
        (row["cell"], row["state"]) for row in whole["rows"]
    ]
    assert part["versions"] == whole["versions"]
    assert (part["rows"][3]["lines"], part["rows"][3]["new"]["source"]) == ([], "")
    assert (await here.ask("GET", f"/api/reviews/{log}", params={"first": 3})) == whole


async def test_the_same_subject_opens_the_same_review_and_keeps_its_title(
    here: Client, workspace: LocalWorkspace
) -> None:
    first = await here.ask("POST", "/api/reviews", json={"subject": _subject(), "name": "Pull request 7"})
    again = await here.ask("POST", "/api/reviews", json={"subject": _subject(), "name": "another"})
    assert (first["was_made"], again["was_made"]) == (True, False)
    assert again["log"] == first["log"]
    assert again["name"] == "Pull request 7"
    other = await here.ask("POST", "/api/reviews", json={"subject": _subject(base="feature", head="main")})
    assert other["log"] != first["log"]
    assert {info.log for info in await workspace.logs("review")} == {first["log"], other["log"]}


async def test_a_branch_that_moves_on_keeps_its_review_and_asks_to_look_again(here: Client, folder: Path) -> None:
    log = (await here.ask("POST", "/api/reviews", json={"subject": _subject()}))["log"]
    before = await here.ask("GET", f"/api/reviews/{log}")
    _git(folder, "checkout", "-q", "feature")
    (folder / PATH).write_text(AFTER.replace("y = 3", "y = 4"))
    _git(folder, "commit", "-qam", "four")
    assert (await here.ask("POST", "/api/reviews", json={"subject": _subject()}))["log"] == log
    after = await here.ask("GET", f"/api/reviews/{log}")
    versions = [
        dict(zip([row["name"] for row in each["rows"]], each["versions"], strict=True)) for each in (before, after)
    ]
    assert {cell for cell in versions[0] if versions[0][cell] != versions[1][cell]} == {"load"}


async def test_outputs_and_results_stand_inline_on_both_sides(here: Client, folder: Path) -> None:
    picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    large = "A" * 4000
    for name, value, image in (("main", "1", picture), ("change", "2", large)):
        text = registry.write(_with_output(value, image), "a.ipynb")
        _git(folder, "checkout", "-qB", name, "main")
        (folder / "a.ipynb").write_text(text)
        _git(folder, "add", ".")
        _git(folder, "commit", "-qm", value)
    log = (await here.ask("POST", "/api/reviews", json={"subject": _subject(path="a.ipynb", head="change")}))["log"]
    found = await here.ask("GET", f"/api/reviews/{log}")
    (row,) = found["rows"]
    assert row["outputs_differ"]
    shown = [row[side]["execution"]["outputs"][0] for side in ("old", "new")]
    assert [each["data"]["image/png"] for each in shown] == [picture, large]
    assert not any(each.get("blobs") for each in shown)
    assert found["outputs_log"] is None
    assert found["results"] == [{"name": "score", "old": 1, "new": 2, "same": False}]


def _with_output(value: str, image: str) -> Any:
    text = (
        '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "id": "a1", "metadata": {},'
        ' "execution_count": 1, "source": "show()", "outputs": [{"output_type": "display_data", "metadata": {},'
        ' "data": {"image/png": "%s"}}, {"output_type": "display_data", "metadata": {"scrapbook": {"name": "score", "data": true}},'
        ' "data": {"application/scrapbook.scrap.json+json": {"name": "score", "data": %s, "encoder": "json", "version": 1}}}]}]}'
    )
    return registry.read(text % (image, value), "a.ipynb")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"path": "../secrets.py"}, "does not lie inside"),
        ({"path": ".quire/config.py"}, "hidden"),
        ({"base": "--output=x"}, "is not a revision"),
        ({"head": "a..b"}, "is not a revision"),
        ({"head": "nowhere"}, "neither a file nor a revision"),
        ({"path": "missing.py"}, "is not there"),
    ],
)
async def test_what_is_no_revision_of_a_notebook_opens_nothing(
    here: Client, workspace: LocalWorkspace, folder: Path, changed: dict[str, str], said: str
) -> None:
    answer = await here.request("POST", "/api/reviews", json={"subject": _subject(**changed)})
    assert answer.status_code in (404, 422), answer.text
    assert said in answer.json()["error"]["message"]
    assert str(folder) not in answer.text
    assert await workspace.logs("review") == []


async def test_a_review_is_as_closed_as_what_it_is_of(
    here: Client, workspace: LocalWorkspace, url: str, folder: Path
) -> None:
    await workspace.submit(NOTEBOOK, [Draft(id=EventId(new_id()), event=e.FileBound(path=PATH))])
    log = (await here.ask("POST", "/api/reviews", json={"subject": _subject()}))["log"]
    async with await _as(workspace, url, BOB, "read", "edit") as bob:
        await bob.ask("GET", f"/api/reviews/{log}")
        await say(
            workspace.acting_as(workspace.identity),
            LogId("workspace"),
            e.RoleSet(actor=ADA, role="owner", notebook=NOTEBOOK),
        )
        for path in (f"/api/reviews/{log}", f"/api/notebooks/{log}"):
            assert "has no role" in await bob.ask("GET", path, 403)
        assert "has no role" in await bob.ask("POST", "/api/reviews", 403, json={"subject": _subject(head="main")})
        assert await bob.ask("GET", "/api/reviews") == []


async def test_files_are_not_read_by_a_token_that_may_not_look_at_them(workspace: LocalWorkspace, url: str) -> None:
    async with await _as(workspace, url, BOB, "read", "edit") as bob:
        said = await bob.ask("POST", "/api/reviews", 403, json={"subject": _subject()})
        assert "takes the scope bind or run" in said


async def test_nobody_chooses_the_log_or_the_rights_of_a_review(workspace: LocalWorkspace, here: Client) -> None:
    subject = {"kind": "proposal", "log": NOTEBOOK, "proposal": "p1"}
    opened = drafts({"type": "review_opened", "name": "mine", "subject": subject})
    assert "The review of this subject is log review-" in await here.ask(
        "POST", "/api/logs/mine/events", 422, json=opened
    )
    await workspace.submit(NOTEBOOK, [Draft(id=EventId(new_id()), event=e.FileBound(path=PATH))])
    free = e.RevisionsSubject(path=PATH, base="main", head="feature")
    sent = drafts({"type": "review_opened", "name": "x", "subject": _subject()})
    assert f"bound to notebook {NOTEBOOK}" in await here.ask(
        "POST", f"/api/logs/{review_log(free)}/events", 403, json=sent
    )


# ---- A branch


@pytest.fixture
def branch(folder: Path) -> Path:
    """The branch changes two more notebooks: it adds one, and one is for nobody but Quire itself."""
    _git(folder, "checkout", "-q", "feature")
    (folder / "a.py").write_text("# %%\nprint(unknown)\n")
    (folder / ".hidden.py").write_text("# %%\n1\n")
    (folder / "README.md").write_text("Nothing to run.\n")
    _git(folder, "add", ".")
    _git(folder, "commit", "-qm", "more")
    return folder


async def test_a_branch_has_a_review_with_one_for_each_of_its_notebooks(here: Client, branch: Path) -> None:
    opened = await here.ask("POST", "/api/reviews", json={"subject": _subject(path=""), "name": "Pull request 7"})
    found = await here.ask("GET", f"/api/reviews/{opened['log']}")
    assert (found["name"], found["rows"]) == ("Pull request 7", [])
    first, second = found["files"]
    assert (first["path"], first["added"], first["cells"]) == ("a.py", 1, 1)
    assert (second["path"], second["changed"], second["added"], second["removed"]) == (PATH, 1, 1, 1)
    of_file = (await here.ask("POST", "/api/reviews", json={"subject": _subject()}))["log"]
    assert second["log"] == of_file
    # How far it is, for whoever looks; on the home page the branch stands for its notebooks.
    content = await here.ask("GET", f"/api/reviews/{of_file}")
    version = content["versions"][1]
    await here.ask(
        "POST",
        f"/api/logs/{of_file}/events",
        json=drafts(
            {"type": "cell_reviewed", "cell": content["rows"][1]["cell"], "version": version},
            {"type": "comment_added", "comment": "c1", "text": "why?"},
        ),
    )
    await here.ask("POST", f"/api/reviews/{first['log']}/answer", json={"answer": "accepted"})
    first, second = (await here.ask("GET", f"/api/reviews/{opened['log']}"))["files"]
    assert (first["answer"], first["answered_by"]) == ("accepted", ADA)
    assert (second["looked_at"], second["comments"], second["answer"]) == (1, 1, "open")
    assert [each["log"] for each in await here.ask("GET", "/api/reviews")] == [opened["log"]]
    beside = await here.ask("GET", f"/api/reviews/{of_file}/branch")
    assert beside["log"] == opened["log"]
    assert [(each["path"], each["log"]) for each in beside["files"]] == [("a.py", first["log"]), (PATH, of_file)]


async def test_of_a_branch_only_those_notebooks_are_told_that_may_be_read(
    here: Client, workspace: LocalWorkspace, url: str, branch: Path
) -> None:
    await workspace.submit(NOTEBOOK, [Draft(id=EventId(new_id()), event=e.FileBound(path=PATH))])
    await say(
        workspace.acting_as(workspace.identity),
        LogId("workspace"),
        e.RoleSet(actor=ADA, role="owner", notebook=NOTEBOOK),
    )
    log = (await here.ask("POST", "/api/reviews", json={"subject": _subject(path="")}))["log"]
    assert len((await here.ask("GET", f"/api/reviews/{log}"))["files"]) == 2
    async with await _as(workspace, url, BOB, "read", "edit", "bind") as bob:
        assert [each["path"] for each in (await bob.ask("GET", f"/api/reviews/{log}"))["files"]] == ["a.py"]
    async with await _as(workspace, url, BOB, "read", "edit") as bob:
        assert (await bob.ask("GET", f"/api/reviews/{log}"))["files"] == []
        assert "that you may read" in await bob.ask("POST", "/api/reviews", 404, json={"subject": _subject(path="")})
    said = await here.ask("POST", "/api/reviews", 404, json={"subject": _subject(path="", base="feature")})
    assert "changes no notebook" in said


# ---- Checks


async def test_a_review_has_the_checks_of_what_is_proposed(
    here: Client, workspace: LocalWorkspace, branch: Path
) -> None:
    log = (await here.ask("POST", "/api/reviews", json={"subject": _subject(path="a.py")}))["log"]
    found = (await here.ask("GET", f"/api/reviews/{log}/checks"))["checks"]
    failed = [each for each in found if each["status"] == "failed"]
    assert [each["name"] for each in failed] == ["Names are defined before they are used"]
    assert failed[0]["text"] == "cell 1, line 1: unknown is used, and no cell defines it."
    assert failed[0]["cell"] is not None
    (run,) = [each for each in found if each["status"] == "skipped"]
    assert "no run of this commit is recorded here. `quire review main...feature` makes one" in run["text"]
    proposal = await _proposed(workspace, _edit("a1", "x = 1", 'password = "correct-horse-battery"'))
    subject = {"kind": "proposal", "log": NOTEBOOK, "proposal": proposal}
    of_proposal = (await here.ask("POST", "/api/reviews", json={"subject": subject}))["log"]
    found = (await here.ask("GET", f"/api/reviews/{of_proposal}/checks"))["checks"]
    assert {each["name"]: each["status"] for each in found}["No secret is written"] == "failed"
    assert "correct-horse" not in str(found)


# ---- Proposals


async def test_a_proposal_is_accepted_in_part_and_its_review_is_over(here: Client, workspace: LocalWorkspace) -> None:
    proposal = await _proposed(workspace, _edit("a1", "x = 1", "x = 10"), _edit("a2", "print(x)", "print(x, x)"))
    subject = {"kind": "proposal", "log": NOTEBOOK, "proposal": proposal}
    log = (await here.ask("POST", "/api/reviews", json={"subject": subject}))["log"]
    found = await here.ask("GET", f"/api/reviews/{log}")
    assert [row["cell"] for row in found["rows"]] == ["a1", "a2"]
    assert found["parts"] == [[0], [1]]
    assert found["proposal"]["by"] == AGENT
    assert found["labels"] == ["now", "proposed"]
    (listed,) = await here.ask("GET", "/api/reviews")
    assert (listed["log"], listed["kind"], listed["answer"]) == (log, "proposal", "open")
    await here.ask("POST", f"/api/reviews/{log}/answer", json={"answer": "accepted", "selection": [1]})
    now = await workspace.read(NOTEBOOK)
    assert [cell.source for cell in now.live_cells] == ["x = 1", "print(x, x)"]
    assert now.proposals[proposal].state == "accepted"
    review = (await workspace.read(LogId(log))).review
    assert review is not None
    assert (review.answer, review.answered_by) == ("accepted", ADA)
    assert await here.ask("GET", "/api/reviews") == []
    # It can still be read: as it was when it was proposed.
    after = await here.ask("GET", f"/api/reviews/{log}")
    assert [row["cell"] for row in after["rows"] if row["state"] != "same"] == ["a1", "a2"]


async def test_a_proposal_is_shown_over_what_was_typed_since(here: Client, workspace: LocalWorkspace) -> None:
    proposal = await _proposed(workspace, _edit("a1", "x = 1", "x = 10"))
    await say(
        workspace, NOTEBOOK, e.SourceEdited(cell=CellId("a1"), base_hash=source_hash("x = 1"), text="# note\nx = 1")
    )
    subject = {"kind": "proposal", "log": NOTEBOOK, "proposal": proposal}
    log = (await here.ask("POST", "/api/reviews", json={"subject": subject}))["log"]
    found = await here.ask("GET", f"/api/reviews/{log}")
    assert found["rows"][0]["new"]["source"] == "# note\nx = 10"
    assert found["problem"] == ""
    await say(workspace, NOTEBOOK, e.CellRemoved(cell=CellId("a1")))
    gone = await here.ask("GET", f"/api/reviews/{log}")
    assert gone["labels"] == ["when it was proposed", "proposed"]
    assert "a1" in gone["problem"]


async def test_a_proposal_that_was_declined_elsewhere_waits_for_nobody(here: Client, workspace: LocalWorkspace) -> None:
    proposal = await _proposed(workspace, _edit("a1", "x = 1", "x = 10"))
    await here.ask(
        "POST", "/api/reviews", json={"subject": {"kind": "proposal", "log": NOTEBOOK, "proposal": proposal}}
    )
    await here.ask("POST", f"/api/notebooks/{NOTEBOOK}/proposals/{proposal}/decline", json={"why": "no"})
    assert await here.ask("GET", "/api/reviews") == []


async def test_only_a_human_with_the_right_accepts_and_never_their_own(
    here: Client, workspace: LocalWorkspace, url: str
) -> None:
    proposal = await _proposed(workspace, _edit("a1", "x = 1", "x = 10"))
    subject = {"kind": "proposal", "log": NOTEBOOK, "proposal": proposal}
    log = (await here.ask("POST", "/api/reviews", json={"subject": subject}))["log"]
    async with await _as(workspace, url, AGENT, "read", "edit", "run", on_behalf_of=ADA) as agent:
        await agent.ask("POST", f"/api/reviews/{log}/answer", 403, json={"answer": "accepted"})
    async with await _as(workspace, url, BOB, "read", "edit") as bob:
        await bob.ask("POST", f"/api/reviews/{log}/answer", 403, json={"answer": "accepted"})
        await bob.ask("POST", f"/api/reviews/{log}/answer", 403, json={"answer": "declined"})
    review = (await workspace.read(LogId(log))).review
    assert review is not None
    assert review.answer == "open"


async def test_a_change_is_asked_for_with_a_comment_that_addresses_the_author(
    here: Client, workspace: LocalWorkspace
) -> None:
    proposal = await _proposed(workspace, _edit("a1", "x = 1", "x = 10"))
    subject = {"kind": "proposal", "log": NOTEBOOK, "proposal": proposal}
    log = (await here.ask("POST", "/api/reviews", json={"subject": subject}))["log"]
    assert "`why` is empty" in await here.ask(
        "POST", f"/api/reviews/{log}/answer", 422, json={"answer": "change_asked"}
    )
    told = await here.ask("POST", f"/api/reviews/{log}/answer", json={"answer": "change_asked", "why": "Say ten."})
    now = await workspace.read(NOTEBOOK)
    said = now.comments[told["comment"]]
    assert is_mentioned(said.text, AGENT)
    assert now.proposals[proposal].state == "open"
    (listed,) = await here.ask("GET", "/api/reviews")
    assert listed["answer"] == "change_asked"
    await here.ask("POST", f"/api/reviews/{log}/answer", json={"answer": "open"})
    assert (await here.ask("GET", "/api/reviews"))[0]["answer"] == "open"


# ---- What was fixed in a run


async def test_what_was_changed_in_a_run_is_reviewed_and_proposed_to_its_source(
    here: Client, workspace: LocalWorkspace
) -> None:
    run, cell = LogId("r1"), CellId("a1")
    source = e.RunSource(notebook=NOTEBOOK, seq=3)
    laid_out = e.CellAdded(cell=cell, after=None, source="x = 1")
    await say(workspace, run, e.RunRequested(name="sales", source=source), laid_out)
    assert "once it is over" in await here.ask(
        "POST", "/api/reviews", 403, json={"subject": {"kind": "run", "log": run}}
    )
    await say(workspace, run, e.RunFinished(status="cancelled"), _edit("a1", "x = 1", "x = 2"))
    log = (await here.ask("POST", "/api/reviews", json={"subject": {"kind": "run", "log": run}}))["log"]
    found = await here.ask("GET", f"/api/reviews/{log}")
    assert [(row["state"], row["old"]["source"], row["new"]["source"]) for row in found["rows"]] == [
        ("changed", "x = 1", "x = 2")
    ]
    assert (found["labels"], found["outputs_log"]) == (["as it ran", "now"], run)
    told = await here.ask("POST", f"/api/reviews/{log}/answer", json={"answer": "accepted"})
    assert told["proposed"]["log"] == NOTEBOOK
    assert [each.state for each in (await workspace.read(NOTEBOOK)).proposals.values()] == ["open"]


# ---- The log


async def test_a_review_holds_comments_on_lines_and_what_was_looked_at_and_nothing_of_a_notebook(
    here: Client, workspace: LocalWorkspace
) -> None:
    log = (await here.ask("POST", "/api/reviews", json={"subject": _subject()}))["log"]
    version = (await here.ask("GET", f"/api/reviews/{log}"))["versions"][1]
    on_line = {"type": "comment_added", "comment": "c1", "text": "why?", "cell": "load", "line": 2}
    hash = source_hash("x = 1\ny = 3")
    await here.ask("POST", f"/api/logs/{log}/events", json=drafts({**on_line, "source_hash": hash}))
    await here.ask(
        "POST", f"/api/logs/{log}/events", json=drafts({"type": "cell_reviewed", "cell": "load", "version": version})
    )
    now = await workspace.read(LogId(log))
    assert now.review is not None
    assert now.review.reviewed == {ADA: {"load": version}}
    assert (now.comments[e.CommentId("c1")].line, now.comments[e.CommentId("c1")].source_hash) == (2, hash)
    for wrong, said in (
        ({**on_line, "comment": "c2"}, "needs all of them"),
        ({**on_line, "comment": "c2", "line": 0, "source_hash": hash}, "lines count from 1"),
        ({**on_line, "comment": "c2", "source_hash": "x"}, "SHA-256"),
        ({"type": "cell_reviewed", "cell": "load", "version": "1"}, "SHA-256"),
        ({"type": "cell_added", "cell": "b", "after": None}, "is a review, not a notebook"),
        ({"type": "execution_requested", "execution": "x", "cell": "load", "source_hash": hash}, "is a review"),
        ({"type": "review_answered", "answer": "open"}, "is open"),
    ):
        answer = await here.request("POST", f"/api/logs/{log}/events", json=drafts(wrong))
        assert answer.status_code in (403, 422), answer.text
        assert said in answer.json()["error"]["message"]
    assert "is no review" in await here.ask(
        "POST", f"/api/logs/{OTHER}/events", 403, json=drafts({"type": "review_answered", "answer": "declined"})
    )
