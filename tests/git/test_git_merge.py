"""Merging notebooks in real repositories: merge, stash, rebase, checkout, worktrees."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from quire.git.clean_filter import clean

from .repository import GIT_RULES, THREE, Repo, changed_lines, notebook, sources

# ---- Merging


def two_sides(repo: Repo, ours: str, theirs: str, base: str) -> None:
    """Make two branches as commits through the filter would be; ours is checked out."""
    base, ours, theirs = (clean(text.encode(), "a.ipynb", GIT_RULES).decode() for text in (base, ours, theirs))
    repo.history(("base", base, None), ("theirs", theirs, "base"), ("main", ours, "base"))


ABC = ("a = 1\n", "b = 1\n", "c = 1\n")
MERGES: dict[str, tuple[str, str, list[str]]] = {
    "different cells": (
        notebook("a = 2\n", *ABC[1:]),
        notebook(*ABC[:2], "c = 2\n"),
        ["a = 2\n", "b = 1\n", "c = 2\n"],
    ),
    "the same edit": (notebook("a = 2\n", *ABC[1:]), notebook("a = 2\n", *ABC[1:], runs=1), ["a = 2\n", *ABC[1:]]),
    "both insert at one place": (
        notebook(*ABC, "ours\n", ids=["cell-0", "cell-1", "cell-2", "x"]),
        notebook(*ABC, "theirs\n", ids=["cell-0", "cell-1", "cell-2", "y"]),
        [*ABC, "ours\n", "theirs\n"],
    ),
    "both delete one cell": (
        notebook(ABC[0], "c = 2\n", ids=["cell-0", "cell-2"]),
        notebook(ABC[0], ABC[2], ids=["cell-0", "cell-2"]),
        [ABC[0], "c = 2\n"],
    ),
    "both move one cell": (
        notebook(ABC[2], ABC[0], ABC[1], ids=["cell-2", "cell-0", "cell-1"]),
        notebook(ABC[2], ABC[0], "b = 2\n", ids=["cell-2", "cell-0", "cell-1"]),
        [ABC[2], ABC[0], "b = 2\n"],
    ),
}


@pytest.mark.parametrize("name", MERGES)
def test_two_branches_merge_by_themselves(repo: Repo, name: str) -> None:
    ours, theirs, expected = MERGES[name]
    two_sides(repo, ours, theirs, base=notebook(*ABC))
    repo.git("merge", "--quiet", "theirs", "-m", "merged")
    recorded = repo.recorded(revision="HEAD")
    assert sorted(sources(recorded)) == sorted(expected)
    assert sources(recorded)[:2] == expected[:2]
    assert len({cell["id"] for cell in recorded["cells"]}) == len(expected)
    assert repo.to_commit() == ""
    valid(repo.top / "a.ipynb")


def test_notebooks_without_ids_merge_by_cell_too_and_get_none(repo: Repo) -> None:
    """Rule 13: ids are carried across versions by matching, and nothing is forced on the author."""

    def without_ids(*texts: str) -> str:
        book = json.loads(notebook(*texts)) | {"nbformat_minor": 4}
        for cell in book["cells"]:
            del cell["id"]
        return json.dumps(book, indent=1, ensure_ascii=False) + "\n"

    repo.history(
        ("base", without_ids("a = 1", "b = 1", "c = 1"), None),
        ("theirs", without_ids("a = 1", "b = 1", "c = 2", "d = 1"), "base"),
        ("main", without_ids("a = 2", "b = 1", "c = 1"), "base"),
    )
    repo.git("merge", "--quiet", "theirs", "-m", "both")
    text = (repo.top / "a.ipynb").read_text()
    assert text == without_ids("a = 2", "b = 1", "c = 2", "d = 1")


def test_running_everything_on_both_sides_leaves_nothing_to_merge(repo: Repo) -> None:
    base = notebook(*ABC, runs=1)
    two_sides(repo, notebook("a = 2\n", *ABC[1:], runs=7), notebook(*ABC[:2], "c = 2\n", runs=9), base=base)
    # Run once more, and not committed.
    repo.write("a.ipynb", notebook("a = 2\n", *ABC[1:], runs=1000))
    repo.git("add", "--update")
    repo.git("merge", "--quiet", "theirs", "-m", "merged")
    assert sources(repo.recorded(revision="HEAD")) == ["a = 2\n", "b = 1\n", "c = 2\n"]


def test_outputs_that_are_kept_and_were_made_anew_on_both_sides_do_not_conflict(repo: Repo) -> None:
    def kept(runs: int, first: str = "a = 1\n") -> str:
        return notebook(first, *ABC[1:], runs=runs, metadata={"keep_output": True})

    two_sides(repo, kept(7), kept(9, "a = 2\n"), base=kept(1))
    repo.git("merge", "--quiet", "theirs", "-m", "merged")
    recorded = repo.recorded(revision="HEAD")
    assert sources(recorded) == ["a = 2\n", *ABC[1:]]
    assert "secret 9" in json.dumps(recorded["cells"][0]), "outputs go with the source they came from"


def test_the_same_cell_on_both_sides_is_a_conflict_that_opens_and_can_be_resolved(repo: Repo) -> None:
    two_sides(repo, notebook("a = 2\n", *ABC[1:]), notebook("a = 3\n", *ABC[1:]), base=notebook(*ABC))
    done = repo.run("git", "merge", "theirs", "-m", "merged")
    assert done.returncode == 1
    assert "quire: a.ipynb: both sides changed cell 1." in done.stderr
    assert "UU a.ipynb" in repo.git("status", "--porcelain")
    path = repo.top / "a.ipynb"
    valid(path)
    first, *rest = sources(json.loads(path.read_text()))
    assert "a = 2\n" in first
    assert "a = 3\n" in first
    assert rest == list(ABC[1:])
    book = json.loads(path.read_text())
    book["cells"][0]["source"] = ["a = 4\n"]
    path.write_text(json.dumps(book, indent=1) + "\n")
    repo.git("add", "a.ipynb")
    repo.git("commit", "--quiet", "-m", "resolved")
    recorded = repo.recorded(revision="HEAD")
    assert sources(recorded) == ["a = 4\n", *ABC[1:]]
    assert recorded["cells"][0]["metadata"] == {}, "the note about the conflict went with it"


def test_branches_that_merged_each_other_before_merge_again(repo: Repo) -> None:
    """Git makes a base out of two, with a conflict in it that nobody gets to see."""
    a, b, resolved = (notebook(f"a = {value}\n", *ABC[1:]) for value in (2, 3, 4))
    two_sides(repo, a, b, base=notebook(*ABC))
    for branch, other, text in (("main", "theirs", resolved), ("theirs", "main~1", resolved.replace("c = 1", "c = 2"))):
        repo.git("switch", "--quiet", branch)
        assert repo.run("git", "merge", other).returncode == 1
        repo.commit("resolved", a=text)
    done = repo.run("git", "merge", "main", "-m", "merged")
    assert (done.returncode, done.stderr) == (0, "")
    assert sources(repo.recorded(revision="HEAD")) == ["a = 4\n", "b = 1\n", "c = 2\n"]


def test_a_notebook_that_both_added_merges_cell_by_cell(repo: Repo) -> None:
    repo.history(
        ("theirs", notebook("both\n", "theirs\n", ids=["x", "y"]), None),
        ("main", notebook("both\n", "ours\n", ids=["x", "z"]), None),
    )
    repo.git("merge", "--quiet", "--allow-unrelated-histories", "theirs", "-m", "merged")
    assert sorted(sources(repo.recorded(revision="HEAD"))) == ["both\n", "ours\n", "theirs\n"]


def test_what_is_no_notebook_is_merged_by_line_and_no_side_is_lost(repo: Repo) -> None:
    for name, text in (("base", "{\n1\n}\n"), ("ours", "{\n2\n}\n"), ("theirs", "{\n3\n}\n")):
        repo.write(name, text)
    driver = (sys.executable, "-P", "-m", "quire.git", "merge", "base", "ours", "theirs", "7", "a.ipynb")
    done = repo.run(*driver)
    assert done.returncode == 1
    assert "a.ipynb is merged by line" in done.stderr
    assert (repo.top / "ours").read_text() == "{\n<<<<<<< ours\n2\n=======\n3\n>>>>>>> theirs\n}\n"


def valid(path: Path) -> None:
    """Jupyter opens it."""
    nbformat: Any = import_module("nbformat")
    nbformat.validate(nbformat.read(path, as_version=4))


# ---- Stash, rebase, checkout -p, worktrees


def test_stash_puts_an_edit_away_and_brings_it_back(repo: Repo) -> None:
    edited = notebook("import cmath\n", *THREE[1:], runs=5)
    repo.write("a.ipynb", edited)
    repo.git("stash")
    assert repo.status() == ""
    assert sources(json.loads((repo.top / "a.ipynb").read_text())) == list(THREE)
    repo.git("stash", "pop")
    assert sources(json.loads((repo.top / "a.ipynb").read_text())) == ["import cmath\n", *THREE[1:]]
    assert repo.status() == " M a.ipynb\n"


def test_rebase_merges_by_cell(repo: Repo) -> None:
    two_sides(repo, notebook("a = 2\n", *ABC[1:]), notebook(*ABC[:2], "c = 2\n"), base=notebook(*ABC))
    repo.write("a.ipynb", notebook("a = 2\n", *ABC[1:], runs=3))
    # Git looks at sizes before it asks anybody: so it has to be told that this is no change.
    repo.git("add", "--update")
    repo.git("rebase", "--quiet", "theirs")
    assert sources(repo.recorded(revision="HEAD")) == ["a = 2\n", "b = 1\n", "c = 2\n"]
    assert repo.git("log", "--format=%s").split() == ["main", "theirs", "base"]
    assert repo.to_commit() == ""


def test_checkout_p_takes_back_the_hunks_that_are_chosen(repo: Repo) -> None:
    repo.write("a.ipynb", notebook("import cmath\n", THREE[1], "print(x, y)\n", runs=2))
    asked = repo.run("git", "checkout", "-p", "a.ipynb", stdin="y\nn\n")
    assert asked.returncode == 0, asked.stderr
    assert sources(json.loads((repo.top / "a.ipynb").read_text())) == [THREE[0], THREE[1], "print(x, y)\n"]


def test_another_work_tree_records_and_shows_the_same_way(repo: Repo) -> None:
    repo.git("worktree", "add", "--quiet", "../other tree", "-b", "other")
    other = Repo(repo.top.parent / "other tree", Path(repo.env["HOME"]))
    other.write("a.ipynb", notebook("import cmath\n", *THREE[1:], runs=5))
    assert changed_lines(other.git("diff")) == ["-import math", "+import cmath"]
    other.git("commit", "--quiet", "--all", "-m", "other")
    assert "secret" not in json.dumps(other.recorded())
    done = other.quire("git", "status")
    assert done.returncode == 0, done.stderr


def test_a_colleague_without_quire_checks_out_and_commits(repo: Repo, tmp_path: Path) -> None:
    assert repo.quire("git", "install", "--no-generate", "--attributes", ".gitattributes").returncode == 0
    repo.commit("attributes for all")
    (tmp_path / "elsewhere").mkdir()
    colleague = Repo(tmp_path / "theirs", tmp_path / "elsewhere")
    repo.git("clone", "--quiet", repo.top, colleague.top)
    assert "filter: quire" in colleague.git("check-attr", "filter", "a.ipynb")
    assert sources(json.loads((colleague.top / "a.ipynb").read_text())) == list(THREE)
    colleague.commit("mine", a=notebook("mine\n", *THREE[1:], runs=1))
    assert "secret 1" in json.dumps(colleague.recorded())
    assert '+    "mine\\n"' in colleague.git("log", "-p", "-1")
    colleague.git("switch", "--quiet", "--detach", "HEAD~1")
    repo.git("pull", "--quiet", "--ff-only", colleague.top, "main")
    assert repo.status() == ""
