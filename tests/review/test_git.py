"""Git with notebooks, in real repositories: what is recorded, shown, merged and written."""

from __future__ import annotations

import io
import json
import shutil
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from quire.files.strip import Rules
from quire.review.blocks import with_block, without_block
from quire.review.filter import clean, serve
from quire.review.install import ATTRIBUTES
from quire.review.textconv import as_text

from .repository import Repo, everything, notebook, sources

THREE = ("import math\n", "x = 1\ny = 2\n", "print(x)\n")
GIT_RULES = Rules(keep_kernel=False)


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home and a repository in which quire is installed and one notebook is committed."""
    place = tmp_path_factory.mktemp("a place's name")
    (place / "home").mkdir()
    (place / "it is 100%").mkdir()
    repo = Repo(place / "it is 100%", place / "home")
    repo.git("init", "--quiet", "--initial-branch", "main")
    repo.install(generate=False)
    repo.commit(a=notebook(*THREE, runs=1))
    return place


@pytest.fixture
def repo(ready: Path, tmp_path: Path) -> Repo:
    """A copy of it, for one test."""
    shutil.copytree(ready, tmp_path / "copy")
    return Repo(tmp_path / "copy" / "it is 100%", tmp_path / "copy" / "home")


@pytest.fixture
def bare(tmp_path: Path) -> Repo:
    """A repository that has never heard of quire."""
    (tmp_path / "home").mkdir()
    (tmp_path / "bare").mkdir()
    repo = Repo(tmp_path / "bare", tmp_path / "home")
    repo.git("init", "--quiet", "--initial-branch", "main")
    return repo


def changed_lines(shown: str) -> list[str]:
    """The lines with a sign in front, of what git shows."""
    return [line for line in shown.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---") and line]


# ---- What is recorded


def test_a_notebook_is_recorded_without_outputs_and_stays_as_it_is_on_disk(repo: Repo) -> None:
    recorded = repo.recorded(revision="HEAD")
    assert sources(recorded) == list(THREE)
    assert "secret" not in json.dumps(recorded)
    assert "secret 1" in (repo.top / "a.ipynb").read_text()
    assert repo.status() == ""


def test_running_a_notebook_again_with_nbclient_is_no_change(repo: Repo) -> None:
    nbclient: Any = import_module("nbclient")
    nbformat: Any = import_module("nbformat")
    path = repo.top / "b.ipynb"
    # Never run, and not written the way nbformat writes: neither is a difference.
    book = json.loads(notebook("print(6 * 7)"))
    path.write_text(json.dumps(dict(reversed(book.items())), indent=4))
    repo.commit()
    before = path.read_text()
    book = nbformat.read(path, as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        nbclient.NotebookClient(book, kernel_name="python3").execute()
    nbformat.write(book, path)
    assert path.read_text() != before
    assert "42" in path.read_text()
    assert repo.git("diff", "--exit-code") == ""
    assert repo.to_commit() == ""


def test_a_notebook_with_nothing_to_strip_is_recorded_byte_for_byte(repo: Repo) -> None:
    text = json.dumps({"nbformat_minor": 2, "metadata": {"é": 1.0}, "cells": [], "nbformat": 4})
    repo.commit(b=text)
    assert repo.git("cat-file", "blob", "HEAD:b.ipynb") == text


def test_what_a_colleague_committed_with_outputs_looks_changed_only_once_it_is(repo: Repo) -> None:
    text = notebook(*THREE, runs=3)
    repo.write("b.ipynb", text)
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{_blob(repo, text)},b.ipynb")
    repo.git("commit", "--quiet", "-m", "theirs")
    assert repo.status() == ""
    repo.write("b.ipynb", text.replace("y = 2", "y = 3"))
    assert repo.status() == " M b.ipynb\n"
    repo.git("add", "b.ipynb")
    assert "secret" not in json.dumps(repo.recorded("b.ipynb"))


def _blob(repo: Repo, text: str) -> str:
    return repo.git("hash-object", "-w", "--no-filters", "--stdin", stdin=text).strip()


def test_runs_and_outputs_keep_what_is_in_them_at_any_depth(repo: Repo) -> None:
    text = notebook("1", runs=1)
    kept = [
        "runs/a.ipynb",
        "runs/2026/01/a.ipynb",
        "deep/down/runs/x/a.ipynb",
        "outputs/a.ipynb",
        "a/outputs/b/c.ipynb",
    ]
    for name in (*kept, "reruns/a.ipynb"):
        repo.write(name, text)
    repo.git("add", "--all")
    assert [name for name in kept if repo.git("cat-file", "blob", f":{name}") != text] == []
    assert "secret" not in repo.git("cat-file", "blob", ":reruns/a.ipynb")


def test_a_notebook_that_cannot_be_read_is_not_added_and_the_reason_is_told(repo: Repo) -> None:
    repo.write("b.ipynb", notebook("1", runs=1)[:-30])
    repo.write("ok.ipynb", notebook("1", runs=1))
    done = repo.run("git", "add", "b.ipynb")
    assert done.returncode != 0
    assert "quire: b.ipynb ends too early" in done.stderr
    assert "clean filter 'quire' failed" in done.stderr
    repo.git("add", "ok.ipynb")


def test_the_options_of_install_are_those_of_strip(bare: Repo) -> None:
    done = bare.quire(
        "git", "install", "--no-generate", "--keep-count", "--extra-keys", "metadata.it's cell.metadata.x"
    )
    assert done.returncode == 0, done.stderr
    bare.commit(a=notebook("1", runs=4, metadata={"it's": 1, "other": 2}))
    recorded = bare.recorded()
    assert recorded["metadata"] == {"other": 2}
    assert recorded["cells"][0]["execution_count"] == 4
    assert recorded["cells"][0]["outputs"] == []


# ---- The filter, without git


def packets(*groups: list[bytes]) -> bytes:
    """Groups of packets as git sends them."""
    return b"".join(b"".join(b"%04x" % (len(each) + 4) + each for each in group) + b"0000" for group in groups)


HELLO = (
    [b"git-filter-client\n", b"version=2\n"],
    [b"capability=clean\n", b"capability=smudge\n", b"capability=delay\n"],
)
WELCOME = packets([b"git-filter-server\n", b"version=2\n"], [b"capability=clean\n", b"capability=smudge\n"])


def served(*groups: list[bytes]) -> bytes:
    sink = io.BytesIO()
    serve(io.BytesIO(packets(*HELLO, *groups)), sink, GIT_RULES)
    answer = sink.getvalue()
    assert answer.startswith(WELCOME)
    return answer.removeprefix(WELCOME)


def test_one_process_answers_for_many_files_also_after_one_it_could_not_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    none: list[bytes] = []

    def ask(command: bytes, path: bytes, *data: bytes) -> tuple[list[bytes], list[bytes]]:
        return [b"command=" + command + b"\n", b"pathname=" + path + b"\n"], list(data)

    answer = served(
        *ask(b"smudge", b"a.ipynb", b"{ any", b" bytes \xff"),
        *ask(b"clean", b"b.ipynb", b"{"),
        *ask(b"clean", b"c.ipynb", notebook("1").encode()),
        *ask(b"clean", b"empty.ipynb"),
        *ask(b"clean", b"d\xff.txt", b"\xff\x00"),
    )
    good = [b"status=success\n"]
    assert answer == packets(
        *(good, [b"{ any bytes \xff"], none),
        *([b"status=error\n"],),
        *(good, [notebook("1").encode()], none),
        *(good, none, none),
        *(good, [b"\xff\x00"], none),
    )
    assert "quire: b.ipynb ends too early" in capsys.readouterr().err


def test_a_large_file_goes_in_packets_of_the_size_that_git_takes() -> None:
    data = bytes(200_000)
    pieces = [data[start : start + 65516] for start in range(0, len(data), 65516)]
    ask = [b"command=smudge\n", b"pathname=a.ipynb\n"]
    assert served(ask, pieces) == packets([b"status=success\n"], pieces, [])


def test_bytes_that_are_no_text_are_refused_with_the_place() -> None:
    with pytest.raises(Exception, match=r"a\.ipynb: line 2, byte 2 is not UTF-8"):
        clean(b"{\n\xff}", "a.ipynb", GIT_RULES)


# ---- What is shown


def test_an_edit_shows_source_lines_only_wherever_git_shows_it(repo: Repo) -> None:
    repo.write("a.ipynb", notebook(THREE[0], "x = 1\ny = 3\n", THREE[2], runs=2))
    edit = ["-y = 2", "+y = 3"]
    assert changed_lines(repo.git("diff")) == edit
    assert changed_lines(repo.git("diff", "--no-ext-diff")) == edit
    repo.git("commit", "--quiet", "--all", "-m", "edit")
    assert changed_lines(repo.git("show")) == edit
    assert changed_lines(repo.git("log", "-p", "-1")) == edit
    assert "@@ # %%" in repo.git("show"), "a hunk names the cell it is in"


def test_git_blame_names_the_commit_of_each_line_with_and_without_an_edit(repo: Repo) -> None:
    clean_one = repo.git("blame", "-s", "a.ipynb").splitlines()
    assert [line.partition(") ")[2] for line in clean_one] == as_text(notebook(*THREE).encode(), "a").splitlines()
    assert not [line for line in clean_one if line.startswith("00000000")]
    repo.write("a.ipynb", notebook(THREE[0], "x = 1\ny = 3\n", THREE[2], runs=2))
    edited = repo.git("blame", "-s", "a.ipynb").splitlines()
    assert [line.partition(") ")[2] for line in edited if line.startswith("00000000")] == ["y = 3"]
    repo.write("b.ipynb", notebook("other\n"))
    assert "other" in repo.git("blame", "--contents", "b.ipynb", "a.ipynb")


def test_a_script_that_was_saved_as_a_notebook_is_not_added(repo: Repo) -> None:
    repo.write("a.ipynb", "# %%\nx = 1\n")
    done = repo.run("git", "add", "a.ipynb")
    assert done.returncode != 0
    assert "quire: a.ipynb is not JSON" in done.stderr


def test_git_diff_tells_of_modes_and_names_as_git_does(repo: Repo) -> None:
    (repo.top / "a.ipynb").chmod(0o755)
    assert repo.git("diff") == repo.git("diff", "--no-ext-diff") != ""
    repo.git("mv", "a.ipynb", "z.ipynb")
    moved = "similarity index 100%\nrename from a.ipynb\nrename to z.ipynb\n"
    assert repo.git("diff", "--cached") == f"diff --git a/a.ipynb b/z.ipynb\n{moved}"
    repo.write("z.ipynb", notebook(THREE[0], "x = 1\ny = 3\n", THREE[2], runs=2))
    repo.git("add", "--all")
    shown = repo.git("diff", "--cached").splitlines()
    assert shown[:3] == ["diff --git a/a.ipynb b/z.ipynb", "old mode 100644", "new mode 100755"]
    assert shown[3].startswith("similarity index ")
    assert shown[4:8] == ["rename from a.ipynb", "rename to z.ipynb", "--- a/a.ipynb", "+++ b/z.ipynb"]
    assert changed_lines("\n".join(shown)) == ["-y = 2", "+y = 3"]


def test_git_diff_tells_of_notebooks_that_came_and_went_as_git_does(repo: Repo) -> None:
    repo.git("mv", "a.ipynb", "z.ipynb")
    shown = repo.git("diff", "--cached", "--no-renames")
    assert "diff --git a/a.ipynb b/a.ipynb\ndeleted file mode 100644\n--- a/a.ipynb\n+++ /dev/null\n@@" in shown
    assert "diff --git a/z.ipynb b/z.ipynb\nnew file mode 100644\n--- /dev/null\n+++ b/z.ipynb\n@@" in shown


def test_two_files_that_differ_in_their_outputs_alone_are_no_change(repo: Repo) -> None:
    repo.write("b.ipynb", notebook(*THREE, runs=7))
    assert repo.run("git", "diff", "--no-index", "a.ipynb", "b.ipynb").stdout == ""


def test_git_diff_shows_a_link_as_git_does(repo: Repo) -> None:
    link = repo.top / "link.ipynb"
    link.symlink_to("a.ipynb")
    repo.commit()
    link.unlink()
    link.symlink_to("elsewhere.ipynb")
    shown = repo.git("diff")
    plainly = repo.git("diff", "--no-ext-diff", "--no-textconv")
    assert shown.splitlines() == [line for line in plainly.splitlines() if not line.startswith("index ")]
    assert "elsewhere.ipynb" in repo.git("blame", "-s", "link.ipynb")
    assert "-a.ipynb\n\\ No newline at end of file\n+elsewhere.ipynb\n" in shown


def test_git_diff_shows_cells_that_came_went_and_moved_by_their_number(repo: Repo) -> None:
    text = notebook(
        "print(x)\n", "import math\n", "new\n", ids=["cell-2", "cell-0", "n"], metadata={"kernelspec": {"name": "k"}}
    )
    repo.write("a.ipynb", text)
    shown = repo.git("diff")
    assert '@@ notebook @@\n+metadata.kernelspec.name: "k"\n' in shown
    assert "@@ cell 3 · code · added @@\n+new\n" in shown
    assert "@@ cell 2 · code · removed @@\n-x = 1\n" in shown
    assert "moved from" in shown


def test_git_diff_goes_on_after_a_notebook_that_cannot_be_read(repo: Repo) -> None:
    repo.write("z.ipynb", notebook("1"))
    repo.commit()
    repo.write("a.ipynb", "{ broken")
    repo.write("z.ipynb", notebook("2"))
    # Git itself cleans what it compares, so only commits can hold something that cannot be read.
    blob = _blob(repo, "{ broken")
    repo.git("update-index", "--cacheinfo", f"100644,{blob},a.ipynb")
    shown = repo.git("diff", "--cached")
    assert "quire: a.ipynb is not JSON" in shown
    assert "\ndiff --git a/a.ipynb b/a.ipynb\n--- a/a.ipynb\n+++ b/a.ipynb\n@@ -1," in shown
    assert "+{ broken" in shown
    assert changed_lines(repo.git("diff", "z.ipynb")) == ["-1", "+2"]


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", ""),
        (b"no notebook\n", "no notebook\n"),
        (b"\xff\n", "\\xff\n"),
        (b'{"nbformat": 4}', '{"nbformat": 4}'),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code"}]}', '{"nbformat": 4, "cells": [{"cell_type": "code"}]}'),
        (b'{"nbformat": 4, "cells": [7]}', '{"nbformat": 4, "cells": [7]}'),
        (notebook("a", "", "b\n").encode(), "# %%\na\n# %%\n# %%\nb\n\n"),
        (
            b'{"nbformat": 3, "metadata": {}, "worksheets": [{"cells": [{"cell_type": "heading", "level": 2, "source": "Hi"}]}]}',
            "# %% [markdown]\n## Hi\n",
        ),
        (
            b'{"nbformat": 4, "cells": [{"cell_type": "raw", "source": "q", '
            b'"metadata": {"name": "n", "tags": ["t"], "quire": {"kind": "prompt"}}}]}',
            '# %% [prompt] name="n" tags=["t"]\nq\n',
        ),
    ],
)
def test_the_text_of_a_notebook_is_its_sources_and_of_anything_else_what_it_says(data: bytes, shown: str) -> None:
    assert as_text(data, "a") == shown


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
    driver = (sys.executable, "-P", "-m", "quire.review", "merge", "base", "ours", "theirs", "7", "a.ipynb")
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
    repo.git("config", "filter.quire.process", "/not/there/python -m quire.review filter")
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
    before = path.read_bytes()
    scripts.write("notebooks/deep/a.py", ONE.replace("y = 1", "y = 7"))
    scripts.commit("seven")
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


def test_hooks_of_others_still_run_and_those_in_another_language_are_left(bare: Repo) -> None:
    shell = bare.write(".git/hooks/post-checkout", "#!/bin/sh\necho theirs $3 >&2\nexit 0\n")
    python = bare.write(".git/hooks/post-merge", "#!/usr/bin/env python3\nprint('theirs')\n")
    off = bare.write(".git/hooks/post-rewrite", "#!/bin/sh\nexit 1\n")
    for hook in (shell, python):
        hook.chmod(0o755)
    off.chmod(0o644)
    told = json.loads(bare.quire("git", "install", "--json").stdout)
    assert [Path(hook).name for hook in told["hooks"]] == ["post-checkout"]
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
