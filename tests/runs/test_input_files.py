"""The files that a notebook declares to read: in each format, found before its run begins."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from quire.core.errors import BadInput
from quire.formats import registry
from quire.runs.input_files import declared_inputs, find_inputs

NOW = dt.datetime(2026, 11, 19, tzinfo=dt.UTC)
SCRIPT = '# %%\n# /// script\n# [tool.quire]\n# inputs = ["a.csv", "data"]\n# ///\n'
HEADER = "# ---\n# jupyter:\n#   quire:\n#     inputs: [a.csv, data]\n# ---\n\n# %%\n1\n"
LOGBOOK = "---\ninputs:\n  - a.csv\n  - data\n---\n\n```python\n1\n```\n"
IPYNB = '{"cells": [], "metadata": {"quire": {"inputs": ["a.csv", "data"]}}, "nbformat": 4, "nbformat_minor": 5}'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / "data" / "more").mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").touch()
    (tmp_path / "project" / "notebooks").mkdir()
    for name in ("a.csv", "data/b.csv", "data/more/c.csv", "data/.hidden"):
        (tmp_path / "project" / name).write_text(name)
    (tmp_path / "outside.csv").touch()
    return tmp_path / "project"


def names(project: Path, *declared: str, at: str = ".", **values: object) -> list[str]:
    return [each.name for each in find_inputs(declared, values, project / at, "run", NOW)]


@pytest.mark.parametrize(("path", "text"), [("n.py", SCRIPT), ("n.py", HEADER), ("n.md", LOGBOOK), ("n.ipynb", IPYNB)])
def test_inputs_are_declared_in_every_format(path: str, text: str) -> None:
    assert declared_inputs(registry.read(text, path)) == ("a.csv", "data")


def test_what_is_no_path_is_refused_by_name() -> None:
    with pytest.raises(BadInput, match=r"`inputs` is a list of paths, .*; 5 is none"):
        declared_inputs(registry.read("---\ninputs: [a.csv, 5]\n---\n", "n.md"))


def test_files_folders_and_patterns_are_recorded_from_the_project_on(project: Path) -> None:
    assert names(project, "a.csv", "data") == ["a.csv", "data/b.csv", "data/more/c.csv"]
    assert names(project, "../data/*.csv", "../a.csv", at="notebooks") == ["a.csv", "data/b.csv"]
    assert names(project, "data/{what}.csv", what="b") == ["data/b.csv"]
    assert names(project) == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("gone.csv", r"'gone.csv', which is not in .*project, where the cells run. Put the file there"),
        ("data/*.txt", r"'data/\*.txt', and no file in .*project is called like that"),
        ("../outside.csv", r"'../outside.csv', which leads out of the project"),
        ("/etc/passwd", r"'/etc/passwd', which leads out of the project"),
        ("link.csv", r"'link.csv', which leads out of the project"),
        ("data/{what}.csv", r"no such parameter"),
        ("data/{up}/a.csv", r"would lead to another folder"),
    ],
)
def test_a_path_that_is_missing_or_outside_is_refused_with_the_next_step(
    project: Path, path: str, message: str
) -> None:
    (project / "link.csv").symlink_to("../outside.csv")
    with pytest.raises(BadInput, match=message):
        names(project, path, up="../..")
