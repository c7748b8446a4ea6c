"""What git records of notebooks, and what it shows of them, in real repositories."""

from __future__ import annotations

import io
import json
import warnings
from importlib import import_module
from typing import Any

import pytest

from quire.git.clean_filter import clean, serve
from quire.git.textconv import as_text

from .repository import GIT_RULES, THREE, Repo, changed_lines, notebook, sources

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
