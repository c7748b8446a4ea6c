"""`quire edit` and `quire execute`, where no kernel is needed; tests/journeys/test_fix_a_run.py has one."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from quire.connection import connect
from quire.core.events import Draft, ExecutionCancelled
from quire.core.ids import ExecutionId
from quire.core.text import source_hash
from quire.workspace.clock import new_id

from ...command import DEADLINE_SECONDS, QUIRE, as_json, run
from ...journeys.server import until
from ...terminal import OnTerminal

SALES = "# %%\nx = 1\n\n# %% [markdown]\n# text\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sales.py").write_text(SALES)
    assert run("import", "sales.py", at=tmp_path).returncode == 0
    return tmp_path


def source(folder: Path, number: int = 0) -> str:
    notebook = as_json("show", "sales", at=folder)["notebook"]
    return notebook["cells"][notebook["order"][number]]["source"]


def asking(folder: Path) -> dict[str, str]:
    words = ("--actor", "claude", "--kind", "agent", "--scope", "read,edit,run", "--ask", "edit,run")
    return {"QUIRE_TOKEN": as_json("token", "new", *words, at=folder)["secret"]}


def test_a_cell_is_changed_from_a_file_or_from_standard_input(folder: Path) -> None:
    (folder / "new.py").write_bytes(b"x = 2\r\ny = 3\r\n")
    told = as_json("edit", "sales", "1", "--file", "new.py", at=folder)
    assert source(folder) == "x = 2\ny = 3" and told["source_hash"] == source_hash("x = 2\ny = 3")
    assert run("edit", "sales", "1", "--file", "-", at=folder, stdin="x = 4").returncode == 0
    assert source(folder) == "x = 4"


def test_what_moved_on_since_it_was_read_is_refused_with_its_text(folder: Path) -> None:
    """Rule 8."""
    done = run("edit", "sales", "1", "--file", "-", "--base", source_hash("x = 0"), at=folder, stdin="x = 4")
    assert done.returncode == 3 and "base_hash=" in done.stderr
    assert source(folder) == "x = 1"


def test_an_editor_opens_where_somebody_can_see_it_and_nowhere_else(folder: Path) -> None:
    done = run("edit", "sales", "1", at=folder)
    assert done.returncode == 2 and "--file" in done.stderr
    editor = folder / "editor"
    editor.write_text('#!/bin/sh\nsed "s/1/7/" "$1" > "$1.new" && mv "$1.new" "$1"\n')
    editor.chmod(0o755)
    with OnTerminal(QUIRE, "edit", "sales", "1", at=folder, env=dict(os.environ) | {"VISUAL": str(editor)}) as terminal:
        terminal.until(lambda screen: "Changed cell" in screen)
    assert source(folder) == "x = 7"


def test_of_who_has_to_ask_it_is_proposed(folder: Path) -> None:
    token = asking(folder)
    done = run("edit", "sales", "1", "--file", "-", at=folder, stdin="x = 9", env=token)
    assert done.returncode == 0 and "Proposed" in done.stderr
    done = run("execute", "sales", "1", "1", at=folder, env=token)
    assert done.returncode == 0 and done.stderr.count("Proposed") == 1
    (first, _) = as_json("proposals", "list", at=folder)
    assert source(folder) == "x = 1" and first["why"] == ""
    listed = run("proposals", "list", at=folder).stdout
    assert listed.count("1 change") == 1 and listed.count("no reason given") == 2
    assert "no reason given\n" in run("proposals", "show", first["proposal"], at=folder).stdout


def test_what_does_not_run_is_told(folder: Path) -> None:
    done = run("execute", "sales", "2", at=folder)
    assert done.returncode == 3 and "markdown" in done.stderr
    done = run("execute", "sales", "nothing", at=folder)
    assert done.returncode == 2 and "no cell 'nothing'" in done.stderr


def test_one_that_is_cancelled_meanwhile_ends_the_waiting(folder: Path) -> None:
    def asked() -> str | None:
        found = as_json("show", "sales", at=folder)["notebook"].get("executions", {})
        return next(iter(found), None)

    words = [QUIRE, "execute", "sales", "1", "--runtime", "nobody", "--json"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True) as waiting:
        try:
            cancel_execution(folder, until(asked, "nothing is asked for"))
            out, _ = waiting.communicate(timeout=DEADLINE_SECONDS)
        finally:
            waiting.kill()
    assert waiting.returncode == 1 and '"cancelled"' in out


def cancel_execution(folder: Path, execution: str) -> None:
    async def cancel() -> None:
        workspace = await connect(folder)
        event = ExecutionCancelled(execution=ExecutionId(execution), why="no need")
        info = await workspace.find("sales")
        await workspace.submit(info.log, [Draft(id=new_id(), event=event)])
        await workspace.close()

    asyncio.run(cancel())


# ---- Several edits at once

PATCH = {"op": "patch", "cell": "1", "old": "1", "new": "2", "base": source_hash("x = 1")[:8]}


def batch(folder: Path, edits: Any, *words: str, notebook: str = "sales", **more: Any) -> Any:
    return run("edit", notebook, "--batch", "-", *words, at=folder, stdin=json.dumps(edits), **more)


def test_a_batch_is_made_as_a_whole_and_says_what_it_made(folder: Path) -> None:
    inserted = {"op": "insert", "after": "end", "source": "y = x", "name": "more"}
    done = batch(folder, {"edits": [PATCH, inserted]}, "--json")
    facts = json.loads(done.stdout)
    assert [cell["hash"] for cell in facts["cells"]] == [source_hash("x = 2"), source_hash("y = x")]
    assert source(folder) == "x = 2" and source(folder, 2) == "y = x"
    (folder / "edits.json").write_text(json.dumps([{**PATCH, "old": "2", "new": "3", "base": source_hash("x = 2")}]))
    done = run("edit", "sales", "--batch", "edits.json", at=folder)
    assert done.returncode == 0 and "1 changed" in done.stdout and source(folder) == "x = 3"


def test_what_is_wrong_with_a_batch_is_told_and_nothing_is_changed(folder: Path) -> None:
    replaced = {"op": "replace", "cell": "1", "source": "x = 9"}
    assert run("edit", "sales", "1", "--file", "-", at=folder, stdin="x = 7").returncode == 0
    done = batch(folder, [{**replaced, "base": source_hash("x = 1")[:8]}])
    assert done.returncode == 3 and "-x = 1" in done.stderr and "+x = 7" in done.stderr
    told = json.loads(batch(folder, [{**replaced, "base": "abcdef"}], "--json").stdout)["error"]
    assert told["kind"] == "BadInput" and told["source"] == "x = 7"
    for edits in ([], [replaced], {"edits": [PATCH], "colour": 1}):
        done = batch(folder, edits)
        assert done.returncode == 2 and "holds no edits" in done.stderr and "Traceback" not in done.stderr
    assert run("edit", "sales", "--batch", "-", at=folder, stdin="[").returncode == 2
    assert run("edit", "sales", at=folder).returncode == 2
    assert batch(folder, [PATCH], "1").returncode == 2
    assert source(folder) == "x = 7"


def test_a_batch_of_inserts_makes_the_notebook_and_its_file(folder: Path) -> None:
    inserted = {"op": "insert", "after": "end", "source": "x = 1"}
    done = batch(folder, [inserted], notebook="notebooks/new.py")
    assert done.returncode == 0 and (folder / "notebooks" / "new.py").read_text() == "# %%\nx = 1\n"
    assert as_json("show", "new", at=folder)["notebook"]["binding"]["path"] == "notebooks/new.py"


def test_a_batch_of_who_has_to_ask_is_proposed_with_its_run(folder: Path) -> None:
    done = batch(folder, [PATCH], "--run", "changed", "--json", env=asking(folder))
    assert done.returncode == 0 and json.loads(done.stdout)["state"] == "proposed" and source(folder) == "x = 1"
    (waiting,) = as_json("proposals", "list", at=folder)
    assert waiting["changes"] and waiting["effects"]
