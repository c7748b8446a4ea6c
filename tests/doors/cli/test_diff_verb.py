"""`quire diff`, `quire patch` and `quire merge`, as a person types them: real files, a real repository."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

import nbformat
import pytest

from quire.doors.cli.main import main

from ...command import QUIRE
from ...command import run_process as in_a_process

STREAM: dict[str, Any] = {"name": "stdout", "output_type": "stream", "text": ["1\n"]}


def cell(id: str, source: str, **fields: Any) -> dict[str, Any]:
    code: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": None,
        "id": id,
        "metadata": {},
        "outputs": [],
        "source": source,
    }
    return code | fields


def write(path: Path, *cells: dict[str, Any], **metadata: Any) -> Path:
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    return path


def read(path: Path) -> list[tuple[str, str]]:
    return [(cell["id"], "".join(cell["source"])) for cell in json.loads(path.read_text())["cells"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two notebooks that differ in the text of one cell, its output and its tags."""
    load = cell("load", "x = 1\ny = 2\nprint(x)", outputs=[STREAM])
    edited = cell("load", "x = 10\ny = 2\nprint(x)", metadata={"tags": ["keep"]})
    write(tmp_path / "old.ipynb", load, cell("end", "done()"))
    write(tmp_path / "new.ipynb", edited, cell("end", "done()"), cell("more", "more()"))
    return tmp_path


class Said(NamedTuple):
    """What a verb came to."""

    returncode: int
    stdout: str
    stderr: str


class Run(Protocol):
    """Runs a verb in a folder."""

    def __call__(self, *words: str | Path, at: Path) -> Said: ...


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a verb here: a process for each would take longer than all that they do."""

    def call(*words: str | Path, at: Path) -> Said:
        monkeypatch.setattr(sys, "argv", ["quire", *map(str, words)])
        monkeypatch.chdir(at)
        with pytest.raises(SystemExit) as done:
            main()
        said = capsys.readouterr()
        return Said(int(done.value.code or 0), said.out, said.err)

    return call


def git(at: Path, *arguments: str) -> None:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *arguments], cwd=at, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository in which sales.ipynb was changed once; a branch `old` is before that."""
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "nb").mkdir()
    write(tmp_path / "nb" / "sales.ipynb", cell("a", "x = 1"))
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    git(tmp_path, "branch", "old")
    write(tmp_path / "nb" / "sales.ipynb", cell("a", "x = 2"))
    write(tmp_path / "nb" / "later.ipynb", cell("b", "later()"))
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "two")
    return tmp_path


# ---- diff


def test_diff_of_files_prints_what_changed_and_exits_with_1(run: Run, folder: Path) -> None:
    done = in_a_process("diff", "old.ipynb", "new.ipynb", at=folder)
    assert done.returncode == 1
    assert done.stdout.startswith(
        "--- old.ipynb\n+++ new.ipynb\n\ncell 1 · code [keep]\n  - x = 1\n  + x = 10\n    y = 2\n"
    )
    assert "cell 3 · code · added\n  + more()\n" in done.stdout
    same = run("diff", "old.ipynb", "old.ipynb", at=folder)
    assert (same.returncode, same.stdout, same.stderr) == (0, "", "")


def test_diff_of_a_part_looks_at_nothing_else(run: Run, folder: Path) -> None:
    outputs = run("diff", "old.ipynb", "new.ipynb", "--outputs", at=folder).stdout
    assert "  - 1" in outputs
    assert "+ x = 10" not in outputs
    metadata = run("diff", "old.ipynb", "new.ipynb", "--metadata", "--json", at=folder)
    assert [operation["type"] for operation in json.loads(metadata.stdout)] == ["cell_tagged"]
    write(folder / "ran.ipynb", cell("load", "x = 1\ny = 2\nprint(x)"), cell("end", "done()"))
    assert run("diff", "old.ipynb", "ran.ipynb", "--sources", at=folder).returncode == 0
    assert run("diff", "old.ipynb", "ran.ipynb", at=folder).returncode == 1


def test_context_says_how_many_lines_are_around(run: Run, folder: Path) -> None:
    assert "y = 2" not in run("diff", "old.ipynb", "new.ipynb", "-U", "0", at=folder).stdout


def test_diff_is_in_colour_on_a_terminal_only_and_not_against_ones_wish(run: Run, folder: Path) -> None:
    def on_a_terminal(**env: str) -> str:
        ours, theirs = pty.openpty()
        clean = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"} | env
        done = subprocess.Popen([QUIRE, "diff", "old.ipynb", "new.ipynb"], cwd=folder, stdout=theirs, env=clean)
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 65536):
                said += part
        except OSError:  # how Linux says that the other end is closed
            pass
        os.close(ours)
        assert done.wait() == 1
        return said.decode()

    assert "\x1b[31m- x = \x1b[7m1\x1b[27m\x1b[0m" in on_a_terminal()
    assert "\x1b" not in on_a_terminal(NO_COLOR="1")
    assert "\x1b" not in run("diff", "old.ipynb", "new.ipynb", at=folder).stdout


def test_diff_writes_a_page(run: Run, folder: Path) -> None:
    done = run("diff", "old.ipynb", "new.ipynb", "--html", "page.html", at=folder)
    assert (done.returncode, done.stdout) == (1, "")
    page = (folder / "page.html").read_text()
    assert page.startswith("<!doctype html>")
    assert run("diff", "old.ipynb", "new.ipynb", "--html", at=folder).stdout == page
    run("diff", "old.ipynb", "new.ipynb", "--html", "-o", "other.html", at=folder)
    assert (folder / "other.html").read_text() == page


def test_diff_at_revisions(run: Run, repository: Path) -> None:
    at = repository / "nb"
    write(at / "sales.ipynb", cell("a", "x = 3"))
    cases = {
        ("HEAD", "sales.ipynb"): ("x = 2", "x = 3"),
        ("old", "HEAD", "sales.ipynb"): ("x = 1", "x = 2"),
        ("old..main", "sales.ipynb"): ("x = 1", "x = 2"),
        ("main...old", "sales.ipynb"): None,
        ("old...", "../nb/sales.ipynb"): ("x = 1", "x = 2"),
    }
    for words, expected in cases.items():
        done = run("diff", *words, at=at)
        assert done.returncode == (1 if expected else 0), done.stderr
        if expected:
            assert f"  - {expected[0]}\n  + {expected[1]}\n" in done.stdout
    elsewhere = run("diff", "HEAD", at / "sales.ipynb", at=Path("/"))
    assert "  - x = 2\n  + x = 3\n" in elsewhere.stdout


def test_a_notebook_that_is_not_there_at_a_revision_is_empty(run: Run, repository: Path) -> None:
    done = run("diff", "old", "HEAD", "nb/later.ipynb", at=repository)
    assert "cell 1 · code · added\n  + later()" in done.stdout
    (repository / "nb" / "later.ipynb").unlink()
    assert "removed\n  - later()" in run("diff", "HEAD", "nb/later.ipynb", at=repository).stdout
    missing = run("diff", "HEAD", "nb/none.ipynb", at=repository)
    assert missing.returncode == 2
    assert "nb/none.ipynb is not there" in missing.stderr


def test_what_is_a_file_is_a_file_first(run: Run, repository: Path) -> None:
    write(repository / "old", cell("a", "x = 9"))
    assert "  - x = 9\n  + x = 2\n" in run("diff", "old", "nb/sales.ipynb", at=repository).stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nowhere", "nb/sales.ipynb"), "nowhere is neither a file nor a revision"),
        (("--", "--output=x", "nb/sales.ipynb"), "'--output=x' is no revision"),
        (("HEAD",), "Name two notebooks"),
        (("nb", "nb/sales.ipynb"), "nb is neither a file nor a revision"),
        (("nb/sales.ipynb", "nb"), "nb is a folder"),
        (("HEAD", "nb"), "nb is no file at HEAD"),
        (("a", "b", "c", "d"), "Name two notebooks"),
        (("-", "-"), "standard input"),
        (("nb/sales.ipynb", "nb/broken.ipynb"), "nb/broken.ipynb"),
        (("nb/sales.ipynb", "nb/sales.ipynb", "--json", "--html"), "Choose one"),
        (("nb/sales.ipynb", "nb/sales.ipynb", "--nbdime", "--sources"), "come whole"),
        (("nb/sales.ipynb", "nb/sales.ipynb", "-o", "x"), "--output says where --html goes"),
    ],
)
def test_diff_says_what_is_wrong(run: Run, repository: Path, words: tuple[str, ...], told: str) -> None:
    (repository / "nb" / "broken.ipynb").write_text('{"cells": [')
    before = sorted(repository.rglob("*"))
    done = run("diff", *words, at=repository)
    assert done.returncode == 2, done.stdout
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert [path for path in sorted(repository.rglob("*")) if path not in before] == []


def test_diff_outside_of_git_says_so(run: Run, folder: Path) -> None:
    done = run("diff", "HEAD", "old.ipynb", at=folder)
    assert done.returncode == 2
    assert "in no git repository" in done.stderr


def test_diff_takes_standard_input_and_the_null_device(run: Run, folder: Path) -> None:
    done = in_a_process("diff", "-", "new.ipynb", at=folder, stdin=(folder / "old.ipynb").read_text())
    assert done.stdout == run("diff", "old.ipynb", "new.ipynb", at=folder).stdout.replace(
        "--- old.ipynb", "--- standard input"
    )
    assert "cell 1 · code [keep] · added" in run("diff", os.devnull, "new.ipynb", at=folder).stdout


def test_diff_across_formats_goes_by_content(run: Run, folder: Path) -> None:
    run("convert", "old.ipynb", "old.md", at=folder)
    assert run("diff", "--sources", "old.ipynb", "old.md", at=folder).returncode == 0
    assert run("diff", "--sources", "old.md", "old.ipynb", at=folder).returncode == 0
    types = [
        operation["type"] for operation in json.loads(run("diff", "old.md", "new.ipynb", "--json", at=folder).stdout)
    ]
    assert "ids_changed" not in types
    assert types.count("source_edited") == 1


# ---- patch


def test_patch_makes_the_new_notebook_of_the_old_one(run: Run, folder: Path) -> None:
    difference = run("diff", "old.ipynb", "new.ipynb", "--json", at=folder).stdout
    (folder / "change.json").write_text(difference)
    checked = run("patch", "old.ipynb", "change.json", "--check", at=folder)
    assert checked.returncode == 0
    assert run("diff", "old.ipynb", "new.ipynb", at=folder).returncode == 1, "nothing is written yet"
    assert in_a_process("patch", "old.ipynb", "-", "-o", "made.ipynb", at=folder, stdin=difference).returncode == 0
    assert run("diff", "made.ipynb", "new.ipynb", at=folder).returncode == 0
    assert json.loads(run("patch", "old.ipynb", "change.json", "--json", at=folder).stdout)["output"] == "old.ipynb"
    assert (folder / "old.ipynb").read_text() == (folder / "made.ipynb").read_text()


def test_patch_to_standard_output_prints_the_notebook_alone(run: Run, folder: Path) -> None:
    (folder / "change.json").write_text(run("diff", "old.ipynb", "new.ipynb", "--json", at=folder).stdout)
    done = run("patch", "old.ipynb", "change.json", "-o", "-", at=folder)
    assert [cell["id"] for cell in json.loads(done.stdout)["cells"]] == ["load", "end", "more"]
    assert run("patch", "old.ipynb", "change.json", "-o", "-", "--json", at=folder).returncode == 2


def test_patch_that_does_not_fit_names_cell_and_field_and_writes_nothing(run: Run, folder: Path) -> None:
    (folder / "change.json").write_text(run("diff", "old.ipynb", "new.ipynb", "--json", at=folder).stdout)
    other = write(folder / "other.ipynb", cell("load", "x = 7", outputs=[STREAM]), cell("end", "done()"))
    before = other.read_bytes()
    for options in ((), ("--check",)):
        done = run("patch", "other.ipynb", "change.json", *options, at=folder)
        assert done.returncode == 3
        assert "Cell load: its source is not what the diff expects" in done.stderr
    assert other.read_bytes() == before


def test_patch_refuses_what_is_no_diff(run: Run, folder: Path) -> None:
    (folder / "change.json").write_text(run("diff", "old.ipynb", "new.ipynb", "--nbdime", at=folder).stdout)
    done = run("patch", "old.ipynb", "change.json", at=folder)
    assert done.returncode == 2
    assert "change.json is no diff" in done.stderr


# ---- merge


def test_merge_takes_both_sides_and_keeps_the_bytes_of_ours(run: Run, folder: Path) -> None:
    base = write(folder / "base.ipynb", cell("a", "x = 1"), cell("b", "y = 1"), cell("c", "z = 1"))
    odd = base.read_text().replace('"x = 1"', '"x =   2"').replace('"metadata": {}', '"metadata":   {}')
    (folder / "ours.ipynb").write_text(odd)
    write(folder / "theirs.ipynb", cell("a", "x = 1"), cell("b", "y = 1"), cell("c", "z = 3"))
    done = run("merge", "base.ipynb", "ours.ipynb", "theirs.ipynb", "-o", "out.ipynb", at=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "out.ipynb").read_text() == odd.replace("z = 1", "z = 3")


def test_a_conflict_is_written_as_a_notebook_that_is_valid_and_can_be_resolved(run: Run, folder: Path) -> None:
    for name, text in (("base", "x = 1"), ("ours", "x = 2"), ("theirs", "x = 3")):
        write(folder / f"{name}.ipynb", cell("a", text), cell("b", "same()", outputs=[STREAM]))
    words = ("merge", "base.ipynb", "ours.ipynb", "theirs.ipynb", "-o", "out.ipynb")
    done = run(*words, at=folder)
    assert done.returncode == 1
    assert "cell 1 (a): both sides changed the same lines." in done.stderr
    assert read(folder / "out.ipynb")[0] == ("a", "<<<<<<< ours\nx = 2\n=======\nx = 3\n>>>>>>> theirs")
    cast("Any", nbformat).validate(cast("Any", nbformat).read(folder / "out.ipynb", as_version=4))
    (conflict,) = json.loads(run(*words, "--json", at=folder).stdout)["conflicts"]
    assert (conflict["cell"], conflict["field"], conflict["ours"]) == ("a", "source", "x = 2")
    checked = run("merge", "--check", "out.ipynb", "ours.ipynb", at=folder)
    assert checked.returncode == 1
    assert checked.stdout == "out.ipynb: cell 1 (a): x = 2 | x = 3\n"
    (waiting, clean) = json.loads(run("merge", "--check", "out.ipynb", "ours.ipynb", "--json", at=folder).stdout)
    assert waiting["conflicts"] == [{"cell": "a", "number": 1, "ours": "x = 2", "theirs": "x = 3"}]
    assert clean["conflicts"] == []
    write(folder / "out.ipynb", cell("a", "x = 5", metadata={"quire": {"conflict": {"marker": 7}}}))
    assert run("merge", "--check", "out.ipynb", at=folder).returncode == 0


def without_ids(path: Path, *sources: str) -> Path:
    """A notebook of nbformat 4.4, with keys in an order of its own."""
    cells: list[dict[str, Any]] = [
        {"source": text, "outputs": [], "metadata": {}, "execution_count": None, "cell_type": "code"}
        for text in sources
    ]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, indent=2) + "\n")
    return path


def test_merge_goes_by_content_where_a_notebook_has_no_ids(run: Run, folder: Path) -> None:
    base = ("a = 1\nb = 2\nc = 3", "df.head()", "y = 5", "df.head()")
    without_ids(folder / "base.ipynb", *base)
    ours = without_ids(folder / "ours.ipynb", "a = 10\nb = 2\nc = 3", *base[1:]).read_text()
    without_ids(folder / "theirs.ipynb", "a = 1\nb = 2\nc = 30", "df.head()", "y = 6", "df.head()")
    words = ("merge", "base.ipynb", "ours.ipynb", "theirs.ipynb", "-o", "out.ipynb")
    assert run(*words, at=folder).returncode == 0
    assert (folder / "out.ipynb").read_text() == ours.replace("c = 3", "c = 30").replace("y = 5", "y = 6")
    without_ids(folder / "theirs.ipynb", "a = 99\nb = 2\nc = 3", "df.head()", "y = 6", "df.head()")
    done = run(*words, at=folder)
    assert done.returncode == 1
    assert done.stderr.startswith("cell 1 (")
    assert run("merge", "--check", "out.ipynb", at=folder).returncode == 1


def test_merge_of_scripts_leaves_markers_in_the_cell(run: Run, folder: Path) -> None:
    for name, text in (("base", "x = 1"), ("ours", "x = 2"), ("theirs", "x = 3")):
        (folder / f"{name}.py").write_text(f"# %%\n{text}\n\n# %%\ndone()\n")
    assert run("merge", "base.py", "ours.py", "theirs.py", "-o", "out.py", at=folder).returncode == 1
    assert "\n<<<<<<< ours\nx = 2\n=======\nx = 3\n>>>>>>> theirs\n\n# %%\ndone()\n" in (folder / "out.py").read_text()
    assert run("merge", "--check", "out.py", at=folder).returncode == 1


def test_merge_without_a_base_and_into_ours(run: Run, folder: Path) -> None:
    (folder / "empty.ipynb").touch()
    for base in (os.devnull, "none.ipynb", "empty.ipynb"):
        write(folder / "ours.ipynb", cell("a", "x = 1"), cell("b", "same()"))
        write(folder / "theirs.ipynb", cell("b", "same()"), cell("c", "y = 1"))
        assert run("merge", base, "ours.ipynb", "theirs.ipynb", "-o", "ours.ipynb", at=folder).returncode == 0
        assert sorted(read(folder / "ours.ipynb")) == [("a", "x = 1"), ("b", "same()"), ("c", "y = 1")]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("old.ipynb", "new.ipynb", "-o", "out.ipynb"), "Name three notebooks"),
        (("old.ipynb", "new.ipynb", "new.ipynb"), "Name three notebooks"),
        (("old.ipynb", "new.ipynb", "raw.ipynb", "-o", "out.ipynb"), "raw.ipynb has an unresolved merge at line 2"),
        (("old.ipynb", "none.ipynb", "new.ipynb", "-o", "out.ipynb"), "none.ipynb is not there"),
        (("old.ipynb", "new.ipynb", "new.ipynb", "-o", "-", "--json"), "Leave one out"),
        (("old.ipynb", "new.ipynb", "nested.ipynb", "-o", "out.ipynb"), "Cell load holds a conflict"),
        (("old.ipynb", "new.ipynb", "old.ipynb", "-o", "out.unknown"), "out.unknown: the ending says the format"),
    ],
)
def test_merge_says_what_is_wrong_and_leaves_the_target(
    run: Run, folder: Path, words: tuple[str, ...], told: str
) -> None:
    (folder / "raw.ipynb").write_text('{\n<<<<<<< HEAD\n "cells": []\n=======\n "cells": [1]\n>>>>>>> topic\n}\n')
    marked = "<<<<<<< ours\nx = 4\n=======\nx = 5\n>>>>>>> theirs"
    note = {"quire": {"conflict": {"marker": 7, "ours": "ours", "theirs": "theirs"}}}
    write(folder / "nested.ipynb", cell("load", marked, metadata=note), cell("end", "done()"))
    (folder / "out.ipynb").write_text("as it was")
    done = run("merge", *words, at=folder)
    assert done.returncode == 2
    assert told in done.stderr
    assert (folder / "out.ipynb").read_text() == "as it was"


@pytest.mark.parametrize(
    "operation",
    [
        {"type": "extra_set", "values": {"cells": [], "nbformat": 7}},
        {"type": "ids_changed", "ids": {"a": "x y"}},
    ],
)
def test_a_patch_that_would_make_no_notebook_is_refused(operation: dict[str, object], tmp_path: Path) -> None:
    cell: dict[str, Any] = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "source": "x"}
    text = json.dumps({"cells": [cell | {"execution_count": None}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (tmp_path / "a.ipynb").write_text(text)
    (tmp_path / "d.json").write_text(json.dumps([operation]))
    done = in_a_process("patch", "a.ipynb", "d.json", at=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert (tmp_path / "a.ipynb").read_text() == text
