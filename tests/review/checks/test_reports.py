"""How verdicts are told to CI, and which notebooks changed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree

from quire.core.ids import CellId
from quire.review.checks.changed_files import changed_since
from quire.review.checks.compare import OutputDifference
from quire.review.checks.find_notebooks import find_notebooks
from quire.review.checks.reports.annotations import code_quality, workflow_commands
from quire.review.checks.reports.junit import junit
from quire.review.checks.reports.text_report import difference_lines, notebook_lines
from quire.review.checks.verdict import CellVerdict, NotebookVerdict

FAILED = CellVerdict(
    cell=CellId("c2"),
    name="50%, or <more>",
    line=7,
    status="failed",
    fault="It shows something else than what is stored.",
    differences=(
        OutputDifference(medium="stdout", fault="it differs", expected="a\n::x\n", actual="a\x1b]0;t\x07\n::error::\n"),
    ),
)
VERDICTS = [
    NotebookVerdict(
        path="sub/a.ipynb",
        status="failed",
        seconds=1.5,
        cells=(
            CellVerdict(cell=CellId("c1"), name="load", line=3, status="passed", seconds=0.25),
            FAILED,
            CellVerdict(cell=CellId("c3"), name="c", line=9, status="skipped"),
        ),
    ),
    NotebookVerdict(path="b.py", status="error", faults=("b.py: no kernel \x00 here",)),
]


def test_junit_has_a_suite_for_each_notebook_and_a_case_for_each_cell() -> None:
    root = ElementTree.fromstring(junit(VERDICTS))
    first, second = root.findall("testsuite")
    assert {name: first.get(name) for name in ("name", "tests", "failures", "errors", "skipped")} == {
        "name": "sub/a.ipynb", "tests": "3", "failures": "1", "errors": "0", "skipped": "1",
    }  # fmt: skip
    load, failed, skipped = first.findall("testcase")
    assert (load.get("name"), load.get("line"), load.get("time")) == ("load", "3", "0.250")
    assert failed.get("name") == FAILED.name and failed[0].tag == "failure"
    assert "sub/a.ipynb:7" in (failed[0].text or "")
    assert skipped[0].tag == "skipped"
    assert second.findall("testcase")[0][0].get("message") == "b.py: no kernel \ufffd here"


def test_a_runner_is_given_one_line_for_each_fault_and_no_command_of_an_output(tmp_path: Path) -> None:
    failed, error = workflow_commands(VERDICTS, Path.cwd())
    assert failed.startswith("::error file=sub/a.ipynb,line=7,title=sub/a.ipynb%3A 50%25%2C or <more>::It shows")
    assert "\n" not in failed and "\x1b" not in failed
    assert error.startswith("::error file=b.py,line=1::b.py: no kernel")
    for verdict in VERDICTS:
        assert not [line for line in notebook_lines(verdict) if line.lstrip().startswith("::")]


def test_gitlab_finds_place_and_a_fingerprint_that_stays(tmp_path: Path) -> None:
    found = json.loads(code_quality(VERDICTS, Path.cwd()))
    assert [each["location"] for each in found] == [
        {"path": "sub/a.ipynb", "lines": {"begin": 7}},
        {"path": "b.py", "lines": {"begin": 1}},
    ]
    assert found[0]["fingerprint"] == json.loads(code_quality(VERDICTS, Path.cwd()))[0]["fingerprint"]
    assert len({each["fingerprint"] for each in found}) == 2


def git(at: Path, *arguments: str) -> None:
    me = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *me, *arguments], cwd=at, check=True, capture_output=True)


def test_only_what_differs_from_a_revision_is_checked(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.py", "d.py"):
        (tmp_path / name).write_text("# %%\nx = 1\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    git(tmp_path, "checkout", "-qb", "work")
    (tmp_path / "a.py").write_text("# %%\nx = 2\n")
    git(tmp_path, "commit", "-qam", "second")
    (tmp_path / "b.py.snapshot.yaml").write_text("version: 1\ncells: []\n")
    (tmp_path / "é.py").write_text("# %%\nx = 3\n")
    git(tmp_path, "checkout", "-q", "main")
    (tmp_path / "d.py").write_text("# %%\nx = 4\n")
    git(tmp_path, "commit", "-qam", "on main")
    git(tmp_path, "checkout", "-q", "work")
    found = changed_since(find_notebooks([tmp_path]), "main")
    assert [Path(path).name for path in found] == ["a.py", "b.py", "é.py"]


def test_in_a_folder_notebooks_are_told_by_their_content(tmp_path: Path) -> None:
    files = {
        "a.ipynb": "{}", "b.py": "# %%\n", "module.py": "x = 1\n", "c.md": "---\nparameters:\n  a: 1\n---\n",
        "README.md": "```python\nraise SystemExit\n```\n", ".hidden/d.ipynb": "{}", "node_modules/e.ipynb": "{}",
        "sub/f.ipynb": "{}", ".ipynb_checkpoints/a.ipynb": "{}",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = [Path(path).relative_to(tmp_path).as_posix() for path in find_notebooks([tmp_path])]
    assert found == ["a.ipynb", "b.py", "c.md", "sub/f.ipynb"]
    assert find_notebooks([tmp_path / "README.md"]) == [str(tmp_path / "README.md")]


def test_of_long_texts_the_first_difference_is_shown() -> None:
    before = "\n".join(str(number % 7) for number in range(200_000))
    after = before.replace("6\n", "x\n", 1)
    lines = difference_lines(OutputDifference(medium="stdout", fault="it differs", expected=before, actual=after))
    assert lines[2:6] == [" 4", " 5", "-6", "+x"]
    assert len(lines) < 10
