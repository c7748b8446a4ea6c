"""Runs that an agent with nothing but files made by hand: checked, and recorded."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from ..command import as_json, run
from .template_texts import write_template

UUID = str(uuid.UUID("01a1f5ed-7bc6-4a11-9cf9-9b5dd647f93e"))
RUN = f"""\
---
parameters:
  name: World
uuid: {UUID}
user_request: Greet the world, extra friendly.
executed_at: 2026-11-19T22:29:06+01:00
template:
  path: logbooks/templates/greet.md
actor: agent:codex
---

# Greet somebody

## Greet

> **Deviates from the template**: it was to be extra friendly. The template has:
>
> ```python
> print("Hello, World!")
> ```

```python
print("Dear World!")
```

Results:

```text
Dear World!
```

> **Added**: to be sure

```python
print(1)
```

Results:

```text
1
```

## Judge

Say whether World is
pleased.

> **Done**: Asked.
>
> Evidence: It smiled.
"""


def write_run(root: Path, text: str = RUN, name: str = UUID) -> Path:
    file = root / "logbooks" / "runs" / "2026-11-19" / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_template(tmp_path)
    return tmp_path


def test_a_run_made_by_hand_is_recorded_with_each_of_its_steps_under_its_uuid(root: Path) -> None:
    file = write_run(root)
    adopted = as_json("logbook", "adopt", file, at=root)
    assert adopted["tally"] == {"steps": 3, "open": 0, "deviated": 2, "skipped": 0, "failed": 0}
    shown: Any = as_json("logbook", "show", UUID, at=root)
    assert shown["status"] == "success"
    assert (shown["logbook"]["mode"], shown["logbook"]["actor"]) == ("adopted", "agent:codex")
    first, added, prose = shown["steps"]
    assert (first["deviated"], first["why"]) == (True, "it was to be extra friendly.")
    assert (added["added"], added["why"], added["state"]) == (True, "to be sure", "done")
    assert (prose["did"], prose["evidence"]) == ("Asked.", "It smiled.")
    rendered = run("logbook", "show", adopted["run"], at=root).stdout
    assert '> print("Hello, World!")' in rendered and "```text\nDear World!\n```" in rendered
    assert file.read_text() == RUN
    (listed,) = as_json("runs", "list", at=root)
    assert listed["template"] == "logbooks/templates/greet.md"
    again = run("logbook", "adopt", file, at=root)
    assert (again.returncode, "is recorded already" in again.stderr) == (3, True)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("uuid: ", "uid: ", "has no `uuid`"),
        ("user_request: Greet the world, extra friendly.\n", "", "has no `user_request`"),
        ("+01:00", "", "local time with its offset"),
        ("  name: World", "  nam: World", "does not take"),
        (UUID, "7", "is no UUID"),
        ("> **Deviates from the template**: it was to be extra friendly. The template has:", "> Changed:", "Step 1 is not answered"),
        (": it was to be extra friendly. The template has:", ":", "nothing says why"),
        ("Results:\n\n```text\nDear World!\n```\n", "", "Step 1 has no results"),
        ("> **Added**: to be sure\n", "", "not the template's"),
        ("> **Done**: Asked.\n>\n> Evidence: It smiled.\n", "", "Step 2 is prose"),
        ("Say whether World is\npleased.", "", "Step 2 is not answered"),
        ("greet.md", "gret.md", "There is no template"),
    ],
)
def test_what_a_run_made_by_hand_lacks_is_named_and_nothing_is_recorded(root: Path, old: str, new: str, told: str) -> None:
    file = write_run(root, RUN.replace(old, new, 1))
    done = run("logbook", "adopt", file, "--json", at=root)
    assert done.returncode == 2, done.stderr
    assert told in json.loads(done.stdout)["error"]["message"]
    assert as_json("runs", "list", at=root) == []


def test_the_file_that_a_run_leaves_is_one_that_could_be_adopted(root: Path) -> None:
    told = as_json("logbook", "run", "greet", "-p", "name=World", "--request", "Hello", at=root)
    text = (root / told["file"]).read_text()
    other = str(uuid.uuid4())
    file = write_run(root, text.replace(Path(told["file"]).stem, other).replace("pleased.", "pleased.\n\n> **Skipped**: no time"), other)
    adopted = as_json("logbook", "adopt", file, at=root)
    assert adopted["tally"] == {"steps": 2, "open": 0, "deviated": 0, "skipped": 1, "failed": 0}
