"""Files that are no notebooks: every verb names the file, the fault and the place, and leaves the target alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ...command import run

GOOD = json.dumps(
    {
        "cells": [
            {"cell_type": "code", "id": "a1", "metadata": {}, "execution_count": 1, "outputs": [], "source": "x = 1"},
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    },
    indent=1,
)


def ipynb(**changed: object) -> str:
    return json.dumps(json.loads(GOOD) | changed)


def _truncated(path: Path) -> Path:
    path.write_text(GOOD[: len(GOOD) // 2])
    return path


def _without_source(path: Path) -> Path:
    bare: dict[str, object] = {"cell_type": "code", "id": "b2", "metadata": {}, "outputs": []}
    path.write_text(ipynb(cells=[json.loads(GOOD)["cells"][0], bare]))
    return path


def _broken_frontmatter(path: Path) -> Path:
    path = path.with_suffix(".md")
    path.write_text("---\ntitle: x\nparameters: [unclosed\n---\n\n```python\nx = 1\n```\n")
    return path


def _broken_header(path: Path) -> Path:
    path = path.with_suffix(".py")
    path.write_text("# ---\n# jupyter:\n#   kernelspec: {name: [\n# ---\n\n# %%\nx = 1\n")
    return path


def _newer(path: Path) -> Path:
    path.write_text(ipynb(nbformat=5))
    return path


def _huge(path: Path) -> Path:
    with path.open("wb") as file:
        file.truncate(200_000_000)
    return path


def _binary(path: Path) -> Path:
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    return path


def _unresolved(path: Path) -> Path:
    half = GOOD.partition('"x = 1"')
    sides = "<<<<<<< ours\n<<<<<<< inner\n{0}\n=======\n{0}\n>>>>>>> inner\n=======\n{0}\n>>>>>>> theirs\n".format(
        '"x"'
    )
    path.write_text(f"{half[0]}\n{sides}{half[2]}")
    return path


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


def _missing(path: Path) -> Path:
    return path


BAD: dict[str, tuple[Callable[[Path], Path], tuple[str, ...]]] = {
    "truncated": (_truncated, ("line", "column")),
    "without source": (_without_source, ("cell 2 (b2)", "'source'")),
    "broken frontmatter": (_broken_frontmatter, ("line 4", "frontmatter")),
    "broken header": (_broken_header, ("line 4",)),
    "nbformat 5": (_newer, ("nbformat 5",)),
    "200 MB": (_huge, ("100 MB",)),
    "binary": (_binary, ("line 1", "byte 0")),
    "conflict markers": (_unresolved, ("unresolved merge", "line")),
    "folder": (_folder, ("folder",)),
    "missing": (_missing, ("not there",)),
}
VERBS: dict[str, Callable[[Path, Path, Path], list[str | Path]]] = {
    "convert": lambda bad, good, out: ["convert", bad, out],
    "strip": lambda bad, good, out: ["strip", bad],
    "diff": lambda bad, good, out: ["diff", good, bad],
    "merge": lambda bad, good, out: ["merge", good, bad, good, "-o", out],
    "patch": lambda bad, good, out: ["patch", bad, good.with_suffix(".json"), "-o", out],
    "params": lambda bad, good, out: ["params", bad],
    "import": lambda bad, good, out: ["import", bad],
}


# Every fault at one verb, every verb with one fault, and what is special to a verb: processes take their time.
CASES = [
    *(("convert", fault) for fault in BAD),
    *((verb, "truncated") for verb in VERBS if verb != "convert"),
    ("strip", "folder"),
    ("diff", "missing"),
    ("merge", "conflict markers"),
    ("import", "folder"),
    ("import", "200 MB"),
]


@pytest.mark.parametrize(("verb", "fault"), CASES)
def test_a_file_that_is_no_notebook_ends_in_a_clear_word(verb: str, fault: str, tmp_path: Path) -> None:
    make, said = BAD[fault]
    good, out = tmp_path / "good.ipynb", tmp_path / "out.ipynb"
    good.write_text(GOOD)
    good.with_suffix(".json").write_text("[]")
    out.write_text(GOOD)
    bad = make(tmp_path / "bad.ipynb")
    before = bad.read_bytes() if bad.is_file() else None
    done = run(*VERBS[verb](bad, good, out), at=tmp_path)
    assert done.returncode == 2, done.stderr
    assert bad.name in done.stderr
    assert all(part in done.stderr for part in said), done.stderr
    assert "Traceback" not in done.stderr
    assert out.read_text() == GOOD
    assert (bad.read_bytes() if bad.is_file() else None) == before
