"""`quire check --static`: what reading a notebook tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quire.review.checks.static.check_static import DEFAULT_CHECKS, check_static

from ...command import run

LOGBOOK = """\
---
parameters:
  month: 2026-10
  unused: 1
environment:
  secrets: [API]
---

# A month

```python
import os
total = price * 2
```

Then, for {month}:

```python
price = 1
print(os.sep, total)
```
"""


def found(path: Path, *checks: str) -> list[tuple[int, str]]:
    """The lines and messages of what is found."""
    verdict = check_static(str(path), frozenset(checks) or DEFAULT_CHECKS)
    return [(cell.line, cell.fault) for cell in verdict.cells] + [(0, fault) for fault in verdict.faults]


def as_ipynb(*sources: str) -> str:
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": s.splitlines(True), "outputs": [], "execution_count": None}
        for n, s in enumerate(sources)
    ]  # fmt: skip
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def test_names_are_told_with_the_line_of_the_file_in_all_three_formats(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(LOGBOOK)
    assert found(tmp_path / "a.md", "names") == [(13, "price is used here and defined below, in cell 4.")]

    (tmp_path / "a.py").write_text("# %%\nx = 1\n\n# %% [markdown]\n# y\n\n# %%\nprint(x)\nprint(y)\n")
    assert found(tmp_path / "a.py", "names") == [(9, "y is used, and no cell defines it.")]

    notebook = tmp_path / "a.ipynb"
    notebook.write_text(as_ipynb("x = 1\n", "print(x)\nprint(y)\n", "y = 2\n"))
    ((line, told),) = found(notebook, "names")
    assert told == "y is used here and defined below, in cell 3."
    assert "print(y)" in notebook.read_text().splitlines()[line - 1]


@pytest.mark.parametrize("above", ["from math import *", "%%capture\nx = 1", "exec('x = 1')", "%run other.py"])
def test_below_a_cell_that_may_define_anything_no_name_is_told(tmp_path: Path, above: str) -> None:
    (tmp_path / "a.ipynb").write_text(as_ipynb(above, "print(x)"))
    assert found(tmp_path / "a.ipynb", "names") == []


def test_a_parameter_that_nothing_uses_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(LOGBOOK)
    assert found(tmp_path / "a.md", "parameters") == [
        (0, "parameters: Parameter 'unused' is declared, and no cell uses it.")
    ]


def test_secrets_are_found_by_their_form_and_by_their_value_and_never_told(tmp_path: Path) -> None:
    secret = "correct-horse-battery"
    (tmp_path / ".env").write_text(f"API={secret}\n")
    (tmp_path / "a.md").write_text(f"{LOGBOOK}\n```python\nuse('{secret}')\n```\n")
    ((line, told),) = found(tmp_path / "a.md", "secrets")
    assert (line, told) == (24, "The value of a secret that the notebook declares stands in the source.")

    sources = [f'key = "AKIA{"A" * 16}"', 'url = "postgresql://ada:hunter22@db/x"', 'password = "hunter2hunter2"']
    fine = ['password = getpass("Password: ")', 'url = f"https://{user}:{password}@db"', 'api_key = "<your key>"']
    (tmp_path / "b.ipynb").write_text(as_ipynb(*sources, *fine))
    assert [told for _, told in found(tmp_path / "b.ipynb", "secrets")] == [
        "A key of AWS stands in the source.",
        "A password in a URL stands in the source.",
        "A password stands in the source.",
    ]


def test_what_cannot_be_read_and_what_declares_nonsense_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text("{")
    assert len(found(tmp_path / "a.ipynb")) == 1
    (tmp_path / "b.md").write_text("---\nresults:\n  score: nonsense\n---\n")
    ((_, told),) = found(tmp_path / "b.md")
    assert "score" in told
    (tmp_path / "c.md").write_text("---\ncheck:\n  tolerence: 1\n---\n")
    ((_, told),) = found(tmp_path / "c.md", "format")
    assert "tolerence" in told


def test_a_generated_notebook_is_what_its_script_says(tmp_path: Path) -> None:
    script, notebook = tmp_path / "a.py", tmp_path / "a.ipynb"
    script.write_text("# %%\nx = 1\n")
    assert run("convert", "a.py", "a.ipynb", at=tmp_path).returncode == 0
    assert found(notebook, "generated") == []
    script.write_text("# %%\nx = 2\n")
    ((_, told),) = found(notebook, "generated")
    assert "It is not what a.py says" in told


def test_outputs_are_looked_for_where_somebody_wants_them_stripped(tmp_path: Path) -> None:
    notebook = tmp_path / "a.ipynb"
    notebook.write_text(as_ipynb("x = 1\n").replace('"execution_count": null', '"execution_count": 3'))
    assert found(notebook) == []
    assert run("check", "--static", "--stripped", "a.ipynb", at=tmp_path).returncode == 1


def test_ruff_speaks_of_the_lines_of_the_notebook(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\n```python\n%time 1\nimport os\n```\n")
    assert found(tmp_path / "a.md", "ruff") == [(5, "F401 `os` imported but unused")]
    (tmp_path / "a.py").write_text("# %%\n# %matplotlib inline\nx = 1\n\n# %%\nimport os\n")
    assert found(tmp_path / "a.py", "ruff") == [(6, "F401 `os` imported but unused")]


def test_nothing_is_executed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("# %%\nopen('made', 'w').close()\n")
    done = run("check", "--static", "a.py", at=tmp_path)
    assert done.returncode == 0, done.stdout
    assert not (tmp_path / "made").exists()
