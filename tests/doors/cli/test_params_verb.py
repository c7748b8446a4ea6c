"""`quire params`, as a person types it, on real files."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from ...command import run

LOGBOOK = """---
title: Sales
parameters:
  month:
    type: str
    help: which month
  top: 5
  day: 2026-01-31
  note: null
  region: {choices: [north, south], default: north, help: where}
---

# Sales of {month}
"""
CELL = """# How many rows to keep.
top: int = 5
path = Path("data") / "x.csv"
month: str  # which month
"""


def test_a_logbook_is_listed_as_a_table(tmp_path: Path) -> None:
    (tmp_path / "sales.md").write_text(LOGBOOK)
    done = run("params", "sales.md", at=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "name    type  default     help\n"
        "──────  ────  ──────────  ────────────────────────────\n"
        "month   str   required    which month\n"
        "top     int   5\n"
        "day     date  2026-01-31\n"
        "note          null\n"
        "region  str   north       where (one of: north, south)\n"
    )
    assert not (tmp_path / ".quire").exists(), "no workspace is needed, and none is made"


@pytest.mark.parametrize("name", ["sales.py", "sales.ipynb"])
def test_a_tagged_cell_is_listed_as_json_in_every_format(tmp_path: Path, name: str) -> None:
    if name.endswith(".py"):
        text = f'# %% tags=["parameters"]\n{CELL}'
    else:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL, metadata={"tags": ["parameters"]})])  # pyright: ignore[reportUnknownMemberType]
        text = nbformat.writes(notebook)  # pyright: ignore[reportUnknownMemberType]
    (tmp_path / name).write_text(text)
    done = run("params", name, "--json", at=tmp_path)
    assert done.returncode == 0, done.stderr
    rest = {"choices": None, "required": False}
    assert json.loads(done.stdout) == [
        {"name": "top", "type": "int", "default": 5, "help": "How many rows to keep.", **rest},
        {"name": "path", "type": None, "default": None, "help": "", **rest, "expression": 'Path("data") / "x.csv"'},
        {"name": "month", "type": "str", "default": None, "help": "which month", "choices": None, "required": True},
    ]


def test_a_notebook_without_parameters_says_so_and_is_fine(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Nothing to choose\n")
    done = run("params", "a.md", at=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("quire: a.md takes no parameters. ")
    assert run("params", "a.md", "--json", at=tmp_path).stdout == "[]\n"


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.md", "---\nparameters:\n  top: {type: integral}\n---\n", "a.md: parameter 'top': the type 'integral' is not known."),
        ("a.md", "---\nparameters: [top]\n---\n", "a.md: `parameters` has no names"),
        ("a.md", "---\na: [\n---\n", "a.md: line 3: the frontmatter is not YAML"),
        ("a.py", '# %% tags=["parameters"]\nx = = 1\n', "a.py: The cell tagged `parameters` cannot be read: line 1 is not Python"),
        ("a.txt", "x", "a.txt: the ending says the format"),
        ("a.md", None, "a.md is not there."),
    ],
)  # fmt: skip
def test_a_wrong_declaration_is_told_with_the_file(tmp_path: Path, name: str, text: str | None, told: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    done = run("params", name, "--json", at=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert told in json.loads(done.stdout)["error"]["message"]


def test_what_an_author_wrote_does_not_steer_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text('---\nparameters:\n  x: "\\e]0;owned\\a"\n---\n')
    done = run("params", "a.md", at=tmp_path)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
