"""What cells and notebooks say about their checks, and how stored outputs find their cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quire.core.errors import BadInput
from quire.core.ids import CellId
from quire.core.results import RecordedResult
from quire.core.sheet.sheet import SheetCell
from quire.disk import read_text
from quire.formats import registry
from quire.review.checks.expect import out_of_range
from quire.review.checks.markers import Expectation, expectation, marks_of
from quire.review.checks.plan import CheckOptions, plan_notebook
from quire.review.checks.snapshot import path_of, read_snapshot, write_snapshot


def cell(source: str = "", *tags: str, name: str | None = None) -> SheetCell:
    return SheetCell(id=CellId(f"id-{source[:8]}"), source=source, tags=tags, name=name)


def test_marks_are_read_from_comments_and_tags_and_a_comment_counts_more() -> None:
    assert marks_of(cell("x = 1")) == marks_of(cell("print('NBVAL_SKIP')"))
    assert marks_of(cell("x\n  ## NBVAL_SKIP ")).is_skipped
    assert marks_of(cell("x", "nbval-skip")).is_skipped
    assert marks_of(cell("x", "raises-exception")).may_raise
    assert marks_of(cell("# NBVAL_CHECK_OUTPUT")).compares is True
    both = marks_of(cell("# NBVAL_IGNORE_OUTPUT", "nbval-check-output"))
    assert both.compares is False and len(both.warnings) == 1
    assert marks_of(cell("x", "skip-execution")).is_skipped
    assert not marks_of(cell("x", "skip-execution"), as_nbval=True).is_skipped


def test_marks_with_values() -> None:
    marks = marks_of(cell("# NBVAL_TEST_NAME: load it\n# CHECK_TOLERANCE: 1e-3\n# CHECK_EXPECT: score >= 0.9"))
    assert (marks.name, marks.tolerance, marks.expects) == (
        "load it",
        1e-3,
        (Expectation(name="score", range=">= 0.9"),),
    )
    with pytest.raises(BadInput, match="CHECK_TOLERANCE"):
        marks_of(cell("# CHECK_TOLERANCE: much"))
    with pytest.raises(BadInput, match="says no range"):
        marks_of(cell("# CHECK_EXPECT: score"))


@pytest.mark.parametrize(
    ("said", "value", "is_right"),
    [
        ("x >= 0.9", 0.9, True),
        ("x > 0.9", 0.9, False),
        ("x > 0 and < 1", 0.5, True),
        ("x > 0, < 1", 1, False),
        ("x between 1 and 2", 2, True),
        ("x between 1 and 2", 2.5, False),
        ("x == done", "done", True),
        ("x == 'done'", "undone", False),
        ("x != 0", 1, True),
        ("x == true", True, True),
        ("x > 0", True, False),
        ("x >= 1", "1", False),
        ("x >= 1", None, False),
        ("x >= 1", {"float": "nan"}, False),
    ],
)
def test_a_result_is_in_its_range_or_not(said: str, value: Any, is_right: bool) -> None:
    results = {"x": RecordedResult(name="x", kind="json", value=value)}
    assert (out_of_range([expectation(said)], results) == []) is is_right


def test_a_result_that_is_missing_or_no_value_is_out_of_range() -> None:
    expected = [expectation("x >= 1")]
    assert "nothing recorded it" in out_of_range(expected, {})[0]
    assert "has no order" in out_of_range(expected, {"x": RecordedResult(name="x", kind="frame")})[0]


SETTINGS = {
    "a.md": "---\ncheck:\n  lax: true\n  tolerance: 0.5\n  expect:\n    score: '>= 1'\n---\n\n```python\n1\n```\n",
    "a.py": "# /// script\n# [tool.quire.check]\n# lax = true\n# tolerance = 0.5\n# expect = {score = '>= 1'}\n# ///\n1\n",
    "b.py": "# ---\n# jupyter:\n#   quire:\n#     check: {lax: true, tolerance: 0.5, expect: {score: '>= 1'}}\n# ---\n\n# %%\n1\n",
    "a.ipynb": json.dumps(
        {
            "cells": [
                {"cell_type": "code", "id": "a", "metadata": {}, "source": "1", "outputs": [], "execution_count": 1}
            ],
            "metadata": {"quire": {"check": {"lax": True, "tolerance": 0.5, "expect": {"score": ">= 1"}}}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_notebook_has_settings_in_every_format(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(SETTINGS[name])
    plan = plan_notebook(tmp_path / name, CheckOptions())
    assert plan.expects == (Expectation(name="score", range=">= 1"),)
    assert plan.rules.tolerance == 0.5
    assert [each.compares for each in plan.cells] == [False]


def printed(text: str) -> list[Any]:
    return [{"output_type": "stream", "name": "stdout", "text": text}]


def test_stored_outputs_find_their_cells_by_name_by_content_and_by_their_place(tmp_path: Path) -> None:
    script = tmp_path / "a.py"

    def write(*sources: str) -> Any:
        script.write_text("\n\n".join(f"# %% {source}" for source in sources) + "\n")
        return registry.read(read_text(script), str(script))

    sheet = write('name="load"\nx = 1', "\nx = 2", "\nx = 3")
    nasty = "a  \n\ttab\n\x1b[31mred\x1b[0m\n: - # '\"\n\n\u2028\n"
    assert write_snapshot(script, [(each, printed(f"{number}{nasty}")) for number, each in enumerate(sheet.cells)])
    assert not write_snapshot(script, [(each, printed(f"{number}{nasty}")) for number, each in enumerate(sheet.cells)])

    def stored(sheet: Any) -> list[str | None]:
        found = read_snapshot(script, sheet).outputs
        return [found[each.id][0]["text"][0] if each.id in found else None for each in sheet.cells]

    assert read_snapshot(script, sheet).outputs[sheet.cells[0].id] == printed(f"0{nasty}")
    assert stored(sheet) == ["0", "1", "2"]
    assert stored(write('name="load"\nx = 9', "\nx = 8", "\nx = 3")) == ["0", "1", "2"]  # edited
    assert stored(write("\nx = 2", "\nx = 3", 'name="load"\nx = 1')) == ["1", "2", "0"]  # moved
    assert stored(write('name="load"\nx = 1', "\nx = 2", "\nnew = 1", "\nx = 3")) == ["0", "1", None, "2"]
    assert stored(write('name="load"\nx = 1', "\nx = 3")) == ["0", "2"]  # one was removed


@pytest.mark.parametrize(
    "text", ["", "[]", "version: 1\ncells: [1]", "version: 1\ncells: [{id: a, outputs: [x]}]", "{: x"]
)
def test_a_snapshot_that_cannot_be_read_says_what_to_do(tmp_path: Path, text: str) -> None:
    script = tmp_path / "a.py"
    script.write_text("# %%\n1\n")
    path_of(script).write_text(text)
    with pytest.raises(BadInput, match="quire check --update"):
        plan_notebook(script, CheckOptions())
