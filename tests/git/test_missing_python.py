"""A clone whose environment was removed: git works on, says what is missing, and takes notebooks for plain files."""

from __future__ import annotations

import sys

import pytest

from .repository import Repo, notebook


@pytest.fixture
def orphan(bare: Repo) -> Repo:
    """A clone in which `quire git install` was run by a Python that is not there any more."""
    bare.install(generate=True)
    bare.commit(a=notebook("x = 1\n", "y = 1\n"))
    settings = bare.top / ".git" / "config"
    settings.write_text(settings.read_text().replace(sys.executable, "/gone/python"))
    return bare


def test_git_records_and_checks_out_what_is_there_and_says_why(orphan: Repo) -> None:
    text = notebook("x = 2\n", "y = 1\n", runs=3)
    large = text.replace("x = 2", f"x = '{'ä€' * 70_000}'")
    orphan.write("a.ipynb", text)
    orphan.write("b.ipynb", large)
    done = orphan.run("git", "add", "--all")
    assert done.returncode == 0
    assert done.stderr.count("/gone/python has no quire any more") == 1
    assert "git config --remove-section filter.quire" in done.stderr
    orphan.git("commit", "--quiet", "-m", "with outputs")
    assert orphan.git("cat-file", "blob", "HEAD:a.ipynb") == text
    assert orphan.git("cat-file", "blob", "HEAD:b.ipynb") == large
    (orphan.top / "b.ipynb").unlink()
    orphan.git("checkout", "--", "b.ipynb")
    assert (orphan.top / "b.ipynb").read_text() == large
    assert orphan.git("status", "--porcelain") == ""


def test_differences_are_shown_by_line_and_merges_made_by_line(orphan: Repo) -> None:
    orphan.git("switch", "--quiet", "--create", "other")
    orphan.commit(a=notebook("x = 1\n", "y = 2\n"))
    orphan.git("switch", "--quiet", "-")
    orphan.commit(a=notebook("x = 2\n", "y = 1\n"))
    shown = orphan.git("diff", "other", "HEAD")
    assert "--- a/a.ipynb" in shown and '+    "x = 2\\n"' in shown
    assert '+    "x = 2\\n"' in orphan.git("diff", "--no-ext-diff", "other", "HEAD")
    orphan.git("merge", "--quiet", "-m", "both", "other")
    merged = orphan.recorded(revision="HEAD")
    assert ["".join(cell["source"]) for cell in merged["cells"]] == ["x = 2\n", "y = 2\n"]


def test_status_of_another_quire_names_it_and_installing_again_mends_it(orphan: Repo) -> None:
    done = orphan.quire("git", "status")
    assert done.returncode == 1
    assert "/gone/python has no quire any more" in done.stderr
    orphan.install(generate=True)
    orphan.write("a.ipynb", notebook("x = 1\n", "y = 1\n", runs=2))
    assert "gone" not in orphan.run("git", "add", "--all").stderr
    assert orphan.git("status", "--porcelain") == ""
