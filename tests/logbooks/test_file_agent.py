"""A scripted agent that has nothing but files and an interpreter, and does what logbooks-skill/SKILL.md says."""

from __future__ import annotations

import re
import subprocess
import sys
import uuid
from pathlib import Path

from ..command import as_json
from .template_texts import write_template

TEMPLATE = """\
---
parameters:
  name: {help: whom to greet}
---

# Work

## Count

```python
letters = len("{name}")
print(letters)
```

## Greet

```python
greeting = "Hello, {name}!"
print(greeting)
```

## Check

```python
assert letters > 5, letters
```

## Judge

Say whether {name} is greeted.
"""
_FENCE = re.compile(r"```python\n(.*?)\n```\n", re.DOTALL)
SAID = "> **Done**: It is.\n>\n> Evidence: the greeting above\n"


def by_hand(template: Path, runs: Path, name: str) -> Path:
    """Do the logbook as the skill says: the second step otherwise, the third fails."""
    id = str(uuid.uuid4())
    body = template.read_text().split("---\n", 2)[2].replace("{name}", name)
    done: list[str] = []

    def step(found: re.Match[str]) -> str:
        code, note = found[1], ""
        if "Hello" in code:
            note = "> **Deviates from the template**: friendlier was asked for. The template has:\n>\n> ```python\n"
            note += "".join(f"> {line}\n" for line in code.split("\n")) + "> ```\n\n"
            code = code.replace("Hello", "Dear")
        ran = subprocess.run([sys.executable, "-c", "\n".join([*done, "print('--')", code])], capture_output=True, text=True)
        printed = ran.stdout.rpartition("--\n")[2]
        if not ran.returncode:
            done.append(code)
            return f"{note}```python\n{code}\n```\n\nResults:\n\n```text\n{printed}```\n"
        error = ran.stderr.strip().split("\n")[-1]
        return f"{note}```python\n{code}\n```\n\nResults:\n\n```text\n{ran.stderr}```\n\n> **Failed**: {error}\n"

    body = _FENCE.sub(step, body)
    front = f"parameters:\n  name: {name}\nuuid: {id}\nuser_request: Greet {name}, friendlier.\n"
    front += "executed_at: 2026-11-19T22:29:06+01:00\ntemplate:\n  path: logbooks/templates/greet.md\nactor: agent:files\n"
    file = runs / f"{id}.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"---\n{front}---\n{body}\n{SAID}")
    return file


def test_what_an_agent_with_nothing_but_files_left_is_accepted(tmp_path: Path) -> None:
    template = write_template(tmp_path, TEMPLATE)
    file = by_hand(template, tmp_path / "logbooks" / "runs" / "2026-11-19", "World")
    adopted = as_json("logbook", "adopt", file, at=tmp_path)
    assert adopted["tally"] == {"steps": 4, "open": 0, "deviated": 1, "skipped": 0, "failed": 1}
    shown = as_json("logbook", "show", adopted["run"], at=tmp_path)
    assert [each["state"] for each in shown["steps"]] == ["done", "done", "failed", "done"]
    assert shown["steps"][2]["why"] == "AssertionError: 5"
    (tally,) = (each["runs"] for each in as_json("logbook", "list", at=tmp_path))
    assert (tally["runs"], tally["deviated"], tally["failed"]) == (1, 1, 1)
