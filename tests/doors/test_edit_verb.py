"""`quire edit` and `quire execute`, where no kernel is needed; tests/journeys/test_fix_a_run.py has one."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

import quire
from quire.core.events import Draft, ExecutionCancelled
from quire.core.ids import ExecutionId
from quire.core.text import source_hash
from quire.workspace.clock import new_id

from ..journeys.server import until
from ..terminal import OnTerminal
from .test_cli import QUIRE, as_json, run

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
    assert source(folder) == "x = 1" and len(as_json("proposals", "list", at=folder)) == 2


def test_what_does_not_run_is_told(folder: Path) -> None:
    done = run("execute", "sales", "2", at=folder)
    assert done.returncode == 3 and "markdown" in done.stderr
    done = run("execute", "sales", "nothing", at=folder)
    assert done.returncode == 2 and "no cell 'nothing'" in done.stderr


def test_one_that_is_cancelled_meanwhile_ends_the_waiting(folder: Path) -> None:
    def asked() -> str | None:
        found = as_json("show", "sales", at=folder)["notebook"].get("executions", {})
        return next(iter(found), None)

    words = [QUIRE, "execute", "sales", "1", "--json"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True) as waiting:
        try:
            cancel_execution(folder, until(asked, "nothing is asked for"))
            out, _ = waiting.communicate(timeout=60)
        finally:
            waiting.kill()
    assert waiting.returncode == 1 and '"cancelled"' in out


def cancel_execution(folder: Path, execution: str) -> None:
    async def cancel() -> None:
        workspace = await quire.connect(folder)
        event = ExecutionCancelled(execution=ExecutionId(execution), why="no need")
        info = await workspace.find("sales")
        await workspace.submit(info.log, [Draft(id=new_id(), event=event)])
        await workspace.close()

    asyncio.run(cancel())
