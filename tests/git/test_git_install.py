"""Installing what git needs for notebooks, taking it away again, and the hooks."""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from quire.git.config_block import with_block, without_block
from quire.git.install import ATTRIBUTES

from .repository import Repo, everything, notebook, sources

# ---- Installing


def test_uninstall_leaves_no_trace_and_installing_twice_is_installing_once(bare: Repo) -> None:
    hooks = bare.top / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    hook = bare.write(".git/hooks/post-merge", "#!/usr/bin/env bash\necho theirs\nexit 0")
    hook.chmod(0o755)
    bare.write(".git/info/attributes", "*.png binary")
    bare.git("config", "diff.other.textconv", "cat")
    before = everything(bare.top / ".git")
    assert bare.quire("git", "install").returncode == 0
    once = everything(bare.top / ".git")
    bare.install(generate=True)
    assert everything(bare.top / ".git") == once
    assert once != before
    assert once[".git/hooks/post-merge".removeprefix(".git/")][0] == before["hooks/post-merge"][0]
    assert bare.quire("git", "uninstall").returncode == 0
    assert everything(bare.top / ".git") == before


def test_uninstall_removes_the_files_and_folders_that_were_made_for_it(bare: Repo) -> None:
    for name in ("info", "hooks"):
        shutil.rmtree(bare.top / ".git" / name, ignore_errors=True)
    before = everything(bare.top)
    bare.install(generate=True)
    moved = Repo(bare.top.with_name("moved"), Path(bare.env["HOME"]))
    bare.top.rename(moved.top)
    assert moved.quire("git", "uninstall").returncode == 0
    assert everything(moved.top) == before


def test_attributes_go_where_they_are_wanted_and_stay_there(bare: Repo) -> None:
    before = everything(bare.top)
    bare.install(generate=False)
    assert bare.quire("git", "install", "--attributes", "deep/down/.gitattributes").returncode == 0
    bare.install(generate=False)
    assert not (bare.top / ".git" / "info" / "attributes").exists()
    assert "filter: quire" in bare.git("check-attr", "filter", "deep/down/a.ipynb")
    assert bare.quire("git", "uninstall").returncode == 0
    assert everything(bare.top) == before


def test_attributes_that_were_committed_for_all_are_used_and_left(bare: Repo) -> None:
    shared = bare.write(".gitattributes", with_block("", ATTRIBUTES))
    told = json.loads(bare.quire("git", "install", "--json").stdout)
    assert told["attributes"] == [str(shared)]
    assert not (bare.top / ".git" / "info" / "attributes").exists()
    assert bare.quire("git", "uninstall").returncode == 0
    assert shared.read_text() == with_block("", ATTRIBUTES)


def test_global_settings_serve_every_repository_and_can_be_taken_back(bare: Repo) -> None:
    home = Path(bare.env["HOME"])
    done = bare.quire("git", "install", "--global", "--json")
    told = json.loads(done.stdout)
    assert told["attributes"] == [str(home / ".config" / "git" / "attributes")]
    assert told["hooks"] == []
    assert "in each" in told["notes"][0]
    bare.commit(a=notebook("1", runs=1))
    assert "secret" not in json.dumps(bare.recorded())
    outside = Repo(home, home)
    assert json.loads(outside.quire("git", "status", "--json").stdout)["works"] is True
    assert bare.quire("git", "uninstall", "--global").returncode == 0
    assert everything(home) == {}


def test_lines_of_nbstripout_and_nbdime_are_named_with_what_removes_them(bare: Repo) -> None:
    nbstripout: Any = import_module("nbstripout")
    with bare.here():
        assert nbstripout.install(["git", "config", "--local"], attrfile=".gitattributes") == 0
    # What `nbdime config-git --enable` writes; to load it takes longer than all these tests.
    bare.git("config", "diff.jupyternotebook.command", "git-nbdiffdriver diff")
    bare.git("config", "merge.jupyternotebook.driver", "git-nbmergedriver merge %O %A %B %L %P")
    with (bare.top / ".gitattributes").open("a") as file:
        file.write("\n*.ipynb\tdiff=jupyternotebook\n\n*.ipynb\tmerge=jupyternotebook\n")
    before = (bare.top / ".gitattributes").read_text()
    done = bare.quire("git", "install", "--no-generate")
    assert done.returncode == 0
    for removal in ("nbstripout --uninstall", "nbdime config-git --disable", "delete the line from"):
        assert f"To remove it: {removal}" in done.stderr
    assert (bare.top / ".gitattributes").read_text() == before
    status = json.loads(bare.quire("git", "status", "--json").stdout)
    assert status["works"] is True, "attributes of the clone come before those of the repository"
    assert {other["tool"] for other in status["others"]} == {"nbstripout", "nbdime"}


def test_status_finds_an_attribute_that_is_in_the_way(repo: Repo) -> None:
    with (repo.top / ".git" / "info" / "attributes").open("a") as file:
        file.write("*.ipynb filter=lfs\n")
    done = repo.quire("git", "status")
    assert done.returncode == 1
    assert "The `filter` attribute of notebooks is 'lfs'" in done.stderr
    assert "lfs is here too" in done.stderr


def test_status_finds_a_filter_that_does_not_work(repo: Repo) -> None:
    repo.git("config", "filter.quire.process", "/not/there/python -m quire.git filter")
    done = repo.quire("git", "status", "--json")
    assert done.returncode == 1
    status = json.loads(done.stdout)
    assert (status["installed"], status["works"]) == (True, False)
    assert "/not/there/python" in status["faults"][0]


def test_outside_a_repository_install_says_what_to_do(bare: Repo) -> None:
    outside = Repo(Path(bare.env["HOME"]), Path(bare.env["HOME"]))
    done = outside.quire("git", "install")
    assert done.returncode == 2
    assert "is in no git repository with a work tree. Go into one, run `git init`, or pass --global." in done.stderr
    assert "not a git repository" in done.stderr
    assert outside.quire("git", "status").returncode == 1


@pytest.mark.parametrize(
    "text", ["", "a", "a\n", "a\n\n", "a\r\n", "a\n# >>> quire >>>\nnot closed\n", "# <<< quire <<<\n"]
)
@pytest.mark.parametrize("below", [False, True])
def test_lines_of_ours_come_out_as_they_went_in(text: str, below: bool) -> None:
    first = text[: text.find("\n") + 1] or text if below else ""
    once = with_block(text, "x\ny\n", below=first)
    assert "\nx\ny\n" in once
    assert with_block(once, "x\ny\n", below=first) == once
    assert without_block(once) == text


# ---- Hooks


ONE, TWO = "# %%\nx = 1\n\n# %%\ny = 1\n", "# %%\nx = 1\n\n# %%\ny = 2\n"


@pytest.fixture(scope="module")
def ready_scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a repository that has a script under notebooks/ on two branches, and quire with its hooks."""
    place = tmp_path_factory.mktemp("scripts")
    (place / "repo").mkdir()
    repo = Repo(place / "repo", place)
    repo.git("init", "--quiet", "--initial-branch", "main")
    repo.write(".gitignore", "*.ipynb\n")
    repo.write("notebooks/deep/a.py", ONE)
    repo.write("notebooks/module.py", "x = 1\n")
    repo.write("elsewhere/a.py", ONE)
    repo.commit("one")
    repo.git("switch", "--quiet", "--create", "two")
    repo.write("notebooks/deep/a.py", TWO)
    repo.commit("two")
    repo.install(generate=True)
    return place


@pytest.fixture
def scripts(ready_scripts: Path, tmp_path: Path) -> Repo:
    """A copy of it, for one test."""
    shutil.copytree(ready_scripts, tmp_path / "copy")
    return Repo(tmp_path / "copy" / "repo", tmp_path / "copy")


def test_a_checkout_writes_the_notebook_of_each_script_that_changed(scripts: Repo) -> None:
    done = scripts.run("git", "checkout", "main")
    assert done.returncode == 0
    assert "quire: wrote notebooks/deep/a.ipynb from notebooks/deep/a.py" in done.stderr
    path = scripts.top / "notebooks" / "deep" / "a.ipynb"
    assert [str(found.relative_to(scripts.top)) for found in scripts.top.rglob("*.ipynb")] == ["notebooks/deep/a.ipynb"]
    # As if it was run: the outputs of what stays the same stay.
    book = json.loads(path.read_text())
    for cell in book["cells"]:
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["kept\n"]}]
    path.write_text(json.dumps(book))
    scripts.git("checkout", "--quiet", "two")
    after = json.loads(path.read_text())
    assert sources(after) == ["x = 1", "y = 2"]
    assert [bool(cell["outputs"]) for cell in after["cells"]] == [True, False]
    assert [cell["id"] for cell in after["cells"]] == [cell["id"] for cell in book["cells"]]


def test_a_merge_and_a_rebase_write_it_too(scripts: Repo) -> None:
    path = scripts.top / "notebooks" / "deep" / "a.ipynb"
    scripts.git("checkout", "--quiet", "main")
    scripts.git("merge", "--quiet", "two")
    assert sources(json.loads(path.read_text())) == ["x = 1", "y = 2"]
    scripts.git("checkout", "--quiet", "-b", "three", "HEAD~1")
    scripts.write("notebooks/deep/a.py", "# %%\nimport os\n\n# %%\nx = 1\n\n# %%\ny = 1\n")
    scripts.commit("three")
    scripts.git("checkout", "--quiet", "main")
    scripts.git("checkout", "--quiet", "three")
    assert sources(json.loads(path.read_text())) == ["import os", "x = 1", "y = 1"]
    scripts.git("rebase", "--quiet", "main")
    assert sources(json.loads(path.read_text())) == ["import os", "x = 1", "y = 2"]


def test_a_squashed_merge_writes_it_before_there_is_a_commit(scripts: Repo) -> None:
    path = scripts.top / "notebooks" / "deep" / "a.ipynb"
    scripts.git("checkout", "--quiet", "main")
    assert sources(json.loads(path.read_text())) == ["x = 1", "y = 1"]
    done = scripts.run("git", "merge", "--squash", "two")
    assert "quire: wrote notebooks/deep/a.ipynb from notebooks/deep/a.py" in done.stderr
    assert sources(json.loads(path.read_text())) == ["x = 1", "y = 2"]


def test_a_squashed_merge_with_a_conflict_leaves_it(scripts: Repo) -> None:
    path = scripts.top / "notebooks" / "deep" / "a.ipynb"
    scripts.git("checkout", "--quiet", "main")
    scripts.write("notebooks/deep/a.py", ONE.replace("y = 1", "y = 7"))
    scripts.commit("seven")
    before = path.read_bytes()
    assert scripts.run("git", "merge", "--squash", "two").returncode == 1
    assert path.read_bytes() == before


def test_a_notebook_with_edits_of_its_own_is_left_and_so_is_one_that_leads_elsewhere(scripts: Repo) -> None:
    path = scripts.write("notebooks/deep/a.ipynb", notebook("x = 1", "my own"))
    done = scripts.run("git", "checkout", "main")
    assert done.returncode == 0
    assert "has changes that notebooks/deep/a.py never had, and stays" in done.stderr
    assert sources(json.loads(path.read_text())) == ["x = 1", "my own"]
    path.unlink()
    path.symlink_to(scripts.top.parent / "outside")
    scripts.git("checkout", "--quiet", "two")
    assert not (scripts.top.parent / "outside").exists()


def test_a_script_that_cannot_be_read_never_stops_a_checkout(scripts: Repo) -> None:
    (scripts.top / "notebooks" / "c.py").write_bytes(b"# %%\n\xff\n")
    scripts.commit("broken")
    scripts.git("checkout", "--quiet", "main")
    done = scripts.run("git", "checkout", "two")
    assert done.returncode == 0
    assert "quire: notebooks/c.py: line 2, byte 5 is not UTF-8" in done.stderr
    assert (scripts.top / "notebooks" / "deep" / "a.ipynb").exists()


def committed(repo: Repo, path: str) -> list[str]:
    """The cells of a notebook as the last commit has them."""
    return sources(json.loads(repo.git("show", f"HEAD:{path}")))


def test_a_commit_takes_along_the_notebook_of_a_script_it_changes(bare: Repo) -> None:
    bare.install(generate=True)
    bare.write("notebooks/a.py", ONE)
    bare.git("add", "notebooks/a.py")
    first = bare.run("git", "commit", "-m", "the first of all")
    assert "quire: wrote notebooks/a.ipynb from notebooks/a.py" in first.stderr
    assert committed(bare, "notebooks/a.ipynb") == sources(json.loads((bare.top / "notebooks/a.ipynb").read_text()))
    bare.write("notebooks/a.py", TWO)
    bare.git("commit", "--quiet", "--all", "-m", "changed")
    assert "y = 2" in "".join(committed(bare, "notebooks/a.ipynb"))
    assert bare.git("status", "--short") == ""


def test_a_script_that_is_staged_in_part_takes_along_what_is_staged(bare: Repo) -> None:
    bare.install(generate=True)
    bare.write("notebooks/a.py", ONE)
    bare.git("add", "notebooks/a.py")
    bare.git("commit", "--quiet", "-m", "one")
    on_disk = (bare.top / "notebooks/a.ipynb").read_text()
    bare.write("notebooks/a.py", TWO)
    bare.git("add", "notebooks/a.py")
    bare.write("notebooks/a.py", ONE.replace("y = 1", "y = 77"))
    bare.git("commit", "--quiet", "-m", "two")
    assert "y = 2" in "".join(committed(bare, "notebooks/a.ipynb"))
    assert (bare.top / "notebooks/a.ipynb").read_text() == on_disk


def test_a_commit_of_named_files_says_which_notebook_it_left_out(bare: Repo) -> None:
    bare.install(generate=True)
    bare.write("notebooks/a.py", ONE)
    bare.git("add", "notebooks/a.py")
    bare.git("commit", "--quiet", "-m", "one")
    bare.write("notebooks/a.py", TWO)
    done = bare.run("git", "commit", "-m", "two", "notebooks/a.py")
    assert done.returncode == 0
    assert "To add it: git commit --amend notebooks/a.ipynb" in done.stderr
    bare.git("commit", "--quiet", "--amend", "--no-edit", "notebooks/a.ipynb")
    assert "y = 2" in "".join(committed(bare, "notebooks/a.ipynb"))
    assert bare.git("status", "--short") == ""


def test_an_ignored_notebook_is_written_and_one_with_edits_of_its_own_stays_when_its_script_is_committed(
    bare: Repo,
) -> None:
    bare.install(generate=True)
    bare.write(".gitignore", "notebooks/ignored.ipynb\n")
    bare.write("notebooks/ignored.py", ONE)
    bare.write("notebooks/own.py", ONE)
    bare.write("notebooks/own.ipynb", notebook("x = 1", "my own"))
    bare.git("add", ".gitignore", "notebooks/ignored.py", "notebooks/own.py")
    done = bare.run("git", "commit", "-m", "one")
    assert "notebooks/own.ipynb has changes that notebooks/own.py never had, and stays" in done.stderr
    assert (bare.top / "notebooks/ignored.ipynb").exists()
    tracked = bare.git("ls-tree", "-r", "--name-only", "HEAD").split()
    assert tracked == [".gitignore", "notebooks/ignored.py", "notebooks/own.py"]


def test_hooks_of_others_still_run_and_those_in_another_language_are_left(bare: Repo) -> None:
    shell = bare.write(".git/hooks/post-checkout", "#!/bin/sh\necho theirs $3 >&2\nexit 0\n")
    python = bare.write(".git/hooks/post-merge", "#!/usr/bin/env python3\nprint('theirs')\n")
    off = bare.write(".git/hooks/post-rewrite", "#!/bin/sh\nexit 1\n")
    for hook in (shell, python):
        hook.chmod(0o755)
    off.chmod(0o644)
    told = json.loads(bare.quire("git", "install", "--json").stdout)
    assert [Path(hook).name for hook in told["hooks"]] == ["post-checkout", "pre-commit"]
    assert [("is no shell script" in note, "is not executable" in note) for note in told["notes"]] == [
        (True, False),
        (False, True),
    ]
    assert python.read_text() == "#!/usr/bin/env python3\nprint('theirs')\n"
    bare.write("notebooks/a.py", ONE)
    bare.commit()
    done = bare.run("git", "worktree", "add", "../tree")
    assert "theirs 1" in done.stderr
    assert (bare.top.parent / "tree" / "notebooks" / "a.ipynb").exists()


def test_hooks_that_serve_other_repositories_are_left_alone(bare: Repo) -> None:
    shared = bare.top.parent / "shared hooks"
    shared.mkdir()
    bare.git("config", "core.hooksPath", str(shared))
    done = bare.quire("git", "install")
    assert done.returncode == 0
    assert "serves other repositories too" in done.stderr
    assert list(shared.iterdir()) == []
    bare.git("config", "core.hooksPath", ".githooks")
    bare.install(generate=True)
    assert (bare.top / ".githooks" / "post-checkout").exists()
    assert bare.quire("git", "uninstall").returncode == 0
    assert not (bare.top / ".githooks").exists()
