"""convert, and export and import of notebook files, as a person types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from quire.formats.convert import convert
from tests.corpus import many_cells

from ...command import as_json, run

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def cells(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text())["cells"]


def test_a_script_becomes_a_notebook_that_keeps_outputs_and_ids_when_it_is_generated_again(tmp_path: Path) -> None:
    script, notebook = tmp_path / "a.py", tmp_path / "a.ipynb"
    script.write_text("# %%\nx = 1\n\n# %%\nx + 1\n")
    assert run("convert", "--to", "ipynb", script, at=tmp_path).returncode == 0
    executed = json.loads(notebook.read_text())
    for count, cell in enumerate(executed["cells"], 1):
        cell["execution_count"] = count
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": [f"{count}\n"]}]
    executed["metadata"] = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook.write_text(json.dumps(executed, indent=1))
    script.write_text("# %% [markdown]\n# New\n\n# %%\nx = 1\n\n# %%\nx + 2\n")
    assert run("convert", "--to", "ipynb", script, at=tmp_path).returncode == 0
    new, kept, edited = cells(notebook)
    assert new["cell_type"] == "markdown"
    assert kept == executed["cells"][0]
    assert (edited["id"], edited["outputs"]) == (executed["cells"][1]["id"], [])
    assert json.loads(notebook.read_text())["metadata"] == executed["metadata"]


@pytest.mark.parametrize("ending", ["py", "md"])
@pytest.mark.parametrize("name", ["plots", "attachments", "hidden", "tables", "jupytext-paired", "papermill", "vscode"])
def test_a_notebook_that_went_to_text_and_back_has_lost_nothing(name: str, ending: str) -> None:
    """What the text does not say stays: outputs, counts, attachments, metadata, tags."""
    text = (NOTEBOOKS / f"{name}.ipynb").read_text()
    there = convert(text, "a.ipynb", f"a.{ending}")
    assert convert(there, f"a.{ending}", "a.ipynb", existing=text) == text


def test_what_is_taken_out_of_the_text_is_gone(tmp_path: Path) -> None:
    front = "---\nparameters:\n  a: 1\n---\n\n"
    body = '```python name="load" tags=["x"]\ny = 1\n```\n'
    first = convert(front + body, "p.md", "p.ipynb")
    second = json.loads(convert("```python\ny = 1\n```\n", "p.md", "p.ipynb", existing=first))
    assert second["metadata"].keys() == {"kernelspec"}
    assert second["cells"][0]["metadata"] == {}


def test_an_attachment_that_is_still_mentioned_stays_with_a_cell_that_changed() -> None:
    cell: dict[str, Any] = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "![a](attachment:a%20b.png)"}
    cell["attachments"] = {"a b.png": {"image/png": "aGk="}, "gone.png": {"image/png": "aGk="}}
    book: dict[str, Any] = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    whole = json.dumps(book)
    text = "# %% [markdown]\n# Look: ![a](attachment:a%20b.png)\n"
    made = json.loads(convert(text, "a.py", "a.ipynb", existing=whole))
    assert set(made["cells"][0]["attachments"]) == {"a b.png"}


def test_what_is_up_to_date_is_not_written_again(tmp_path: Path) -> None:
    script = tmp_path / "a.py"
    script.write_text("# %%\nx = 1\n")
    assert run("convert", "--to", "ipynb", "--check", script, at=tmp_path).returncode == 1
    assert not (tmp_path / "a.ipynb").exists()
    run("convert", "--to", "ipynb", script, at=tmp_path)
    before = (tmp_path / "a.ipynb").stat().st_ino
    assert as_json("convert", "--to", "ipynb", "--check", script, at=tmp_path) == [
        {"source": str(script), "output": str(tmp_path / "a.ipynb"), "changed": False}
    ]
    run("convert", "--to", "ipynb", script, at=tmp_path)
    assert (tmp_path / "a.ipynb").stat().st_ino == before  # another file would be another inode


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["a.py"], "Name two files"),
        (["--to", "docx", "a.py"], "the ending says the format"),
        (["--to", "py", "a.py"], "has the ending .py already"),
        (["r.ipynb", "r.py"], "Choose the ending .r"),
        (["--to", "ipynb", "a.py", "-o", "-", "--json"], "Leave one out"),
        (["--to", "ipynb", "a.py", "b.py", "-o", "x.ipynb"], "--output takes one FILE"),
        (["--to", "ipynb", "a.py", "a.md"], "would both be written to"),
        (["a.py", "-"], "pass --to"),
        (["a.py", "nowhere/a.ipynb"], "Make it first"),
    ],
)
def test_wrong_usage_says_what_to_do(args: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "r.ipynb").write_bytes((NOTEBOOKS / "r.ipynb").read_bytes())
    before = sorted(tmp_path.iterdir())
    done = run("convert", *args, at=tmp_path)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_a_notebook_goes_to_standard_output(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("# %%\nx = 1\n")
    done = run("convert", "--to", "md", "a.py", "-o", "-", at=tmp_path)
    assert done.stdout == "```python\nx = 1\n```\n"


@pytest.mark.parametrize("name", ["plots", "errors", "attachments", "widgets", "unicode", "sql"])
def test_a_notebook_that_went_through_a_log_is_the_same_notebook(name: str, tmp_path: Path) -> None:
    """Rule 12: the export is a projection of what the log holds, and the log holds what the file said."""
    source = NOTEBOOKS / f"{name}.ipynb"
    imported = as_json("import", source, at=tmp_path)
    assert imported["name"] == name
    assert run("export", name, "out.ipynb", at=tmp_path).returncode == 0
    nbformat.validate(nbformat.read(tmp_path / "out.ipynb", as_version=4))  # pyright: ignore[reportUnknownMemberType]
    assert run("diff", source, "out.ipynb", at=tmp_path).returncode == 0
    assert run("verify", at=tmp_path).returncode == 0
    again = run("import", source, at=tmp_path)
    assert (again.returncode, "--name" in again.stderr) == (3, True)


def test_an_imported_notebook_says_so_and_is_exported_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("# %%\nx = 1\n\n# %%\nx + 1\n")
    run("convert", "a.py", "a.ipynb", at=tmp_path)
    notebook = json.loads((tmp_path / "a.ipynb").read_text())
    notebook["cells"][0] |= {"execution_count": 3, "outputs": []}
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook))
    imported = as_json("import", "a.ipynb", "--name", "b", at=tmp_path)
    assert imported["events"] == 4
    assert "ok imported" in run("show", "b", at=tmp_path).stdout
    run("export", "b", "then.py", "--seq", "2", at=tmp_path)
    assert (tmp_path / "then.py").read_text() == "# %%\nx = 1\n"
    assert run("export", "b", "then.py", at=tmp_path).returncode == 3
    assert run("export", "b", "then.quire", "--seq", "2", at=tmp_path).returncode == 2


def test_five_thousand_cells_come_in_and_go_out(tmp_path: Path) -> None:
    (tmp_path / "many.ipynb").write_text(many_cells(5_000))
    assert as_json("import", "many.ipynb", at=tmp_path)["events"] > 5_000
    run("export", "many", "out.ipynb", at=tmp_path)
    assert run("diff", "many.ipynb", "out.ipynb", at=tmp_path).returncode == 0
