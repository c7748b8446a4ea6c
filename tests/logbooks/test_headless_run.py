"""A logbook run by itself, from the command line: real kernels, real files."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from quire.formats.logbook.frontmatter import read_front
from quire.formats.logbook.run_export import log_of

from ..command import as_json, run
from .template_texts import write_template

MIXED = """\
---
title: Mixed
parameters:
  where: {default: ".", help: a folder}
  top: 2
---

# Mixed

What {where} holds, as JSON: `{"top": {top}}`.

## Look

```bash
echo {where}
```

```python tags=["parameters"]
top = 1  # how many
```

```python
print({"top": top})
```

## Fail

```python
{"a": 1}["b"]
```

```python
print("never")
```

## Read

Say what happened.
"""


def logbook(*words: str, at: Path, status: int = 0) -> Any:
    done = run("logbook", *words, "--json", at=at)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def front_of(text: str) -> dict[str, Any]:
    front: Any = read_front(text, "run.md").metadata["quire"]
    return front


def test_a_run_leaves_a_file_that_reads_well_and_is_run_again(tmp_path: Path) -> None:
    write_template(tmp_path)
    words = "Please greet the world.\nKindly: it's Monday."
    told = logbook("run", "greet", "-p", "name", "World", "--request", words, at=tmp_path)
    text = (tmp_path / told["file"]).read_text()
    front = front_of(text)
    assert list(front) == ["parameters", "uuid", "user_request", "executed_at", "template", "actor"]
    assert (front["parameters"], front["user_request"]) == ({"name": "World"}, words)
    assert Path(told["file"]).stem == front["uuid"]
    assert log_of(front["uuid"]) == told["outcome"]["run"]
    began = datetime.fromisoformat(front["executed_at"])
    assert began.utcoffset() is not None
    assert Path(told["file"]).parts[:2] == ("logbooks", "runs")
    assert Path(told["file"]).parent.name == began.date().isoformat()
    assert front["template"]["path"] == "logbooks/templates/greet.md"
    body = text.partition("\n---\n")[2]
    assert '```python\nprint("Hello, World!")\n```\n\nResults:\n\n```text\nHello, World!\n```\n\n## Judge' in body
    assert "papermill" not in text and "kernelspec" not in text and "# Parameters" not in text
    assert "**success**: 1 step. Run" in body

    again = logbook("run", told["file"], at=tmp_path)
    rerun = (tmp_path / again["file"]).read_text()
    assert rerun.partition("\n---\n")[2].partition("<!--")[0] == body.partition("<!--")[0]
    assert rerun.count("<!-- record of the run -->") == 1
    assert front_of(rerun)["uuid"] != front["uuid"]
    tally = {each["path"]: each["runs"] for each in logbook("list", at=tmp_path)}
    assert tally["logbooks/templates/greet.md"]["succeeded"] == 1
    assert tally[told["file"]]["succeeded"] == 1


def test_languages_braces_and_a_step_that_fails_are_all_in_the_file(tmp_path: Path) -> None:
    write_template(tmp_path, MIXED, "mixed")
    told = logbook("run", "mixed", "-p", "top=3", at=tmp_path, status=1)
    text = (tmp_path / told["file"]).read_text()
    assert 'What . holds, as JSON: `{"top": 3}`.' in text
    assert "```bash\necho .\n```\n\nResults:\n\n```text\n.\n```" in text
    # No cell that nobody wrote; and run again, the values are the same.
    assert '```python\ntop = 1  # how many\n\nwhere = "."\ntop = 3\n```' in text
    assert "{'top': 3}" in text
    assert "> **Failed**: KeyError: 'b'" in text
    assert "> **Skipped**: cell" in text and '```python\nprint("never")\n```' in text
    assert "**error**: 5 steps, 1 skipped, 1 failed." in text
    shown = as_json("logbook", "show", told["outcome"]["run"], at=tmp_path)
    assert [each["state"] for each in shown["steps"]] == ["done", "done", "done", "failed", "skipped"]
    (listed,) = as_json("runs", "list", at=tmp_path)
    assert (listed["template"], listed["status"]) == ("logbooks/templates/mixed.md", "error")
    counted = run("sql", "select template, mode, steps, deviated, skipped, failed from runs", "--json", at=tmp_path)
    assert [list(row.values()) for row in json.loads(counted.stdout)] == [
        ["logbooks/templates/mixed.md", "headless", 5, 0, 1, 1]
    ]
    again = logbook("run", told["file"], at=tmp_path, status=1)
    shown = as_json("logbook", "show", again["outcome"]["run"], at=tmp_path)
    assert [each["state"] for each in shown["steps"]] == ["done", "done", "done", "failed", "skipped"]
    assert (tmp_path / again["file"]).read_text().count("**Failed**") == 1


def test_what_is_missing_is_refused_by_name_and_nothing_is_run(tmp_path: Path) -> None:
    write_template(tmp_path)
    done = run("logbook", "run", "greet", at=tmp_path)
    assert done.returncode == 2
    assert "logbooks/templates/greet.md: parameter 'name' has no value" in done.stderr
    assert as_json("runs", "list", at=tmp_path) == []
    assert not (tmp_path / "logbooks" / "runs").exists()
    assert run("logbook", "run", "gret", at=tmp_path).returncode == 2


@pytest.mark.parametrize("language", ["r", "scala"])
def test_a_cell_that_the_kernel_cannot_run_is_refused_before_anything_runs(tmp_path: Path, language: str) -> None:
    write_template(tmp_path, f"---\nparameters: {{}}\n---\n\n```python\n1\n```\n\n```{language}\n1\n```\n")
    done = run("logbook", "run", "greet", at=tmp_path)
    assert (done.returncode, f" is {language}, and the kernel speaks python" in done.stderr) == (2, True), done.stderr


def test_scratch_files_lie_beside_the_run_and_products_are_listed_with_hash_and_difference(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "old.py").write_text("one = 1\n")
    write_template(
        tmp_path,
        "---\nparameters: {logbook_files: .}\nproduct: [src/**/*.py]\n---\n\n## Make\n\n```python\n"
        "import pathlib\npathlib.Path(logbook_files, 'note.txt').write_text('x')\n"
        "pathlib.Path('src/old.py').write_text('one = 2\\n')\npathlib.Path('src/new.py').write_text('')\n```\n",
    )
    told = logbook("run", "greet", at=tmp_path)
    file = tmp_path / told["file"]
    assert (file.with_suffix("") / "note.txt").read_text() == "x"
    text = file.read_text()
    assert "| `src/new.py` | made | e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 |" in text
    assert "| `src/old.py` | changed |" in text
    assert "```diff\n--- a/src/old.py\n+++ b/src/old.py\n@@ -1 +1 @@\n-one = 1\n+one = 2\n```" in text
    files = as_json("logbook", "show", told["outcome"]["run"], at=tmp_path)["logbook"]["files"]
    assert [(each["path"], each["change"]) for each in files] == [("src/new.py", "made"), ("src/old.py", "changed")]
