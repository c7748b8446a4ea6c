"""`quire undo`: all that one actor did goes, and what others did stays."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from quire.connection import connect
from quire.core import events as e
from quire.core.events import Draft
from quire.core.ids import ActorId, CellId, LogId
from quire.core.text import Splice
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from ...command import ME, as_json, run

LOG, A, B = LogId("n1"), CellId("aaaa1111"), CellId("bbbb2222")
CODEX = ActorId("agent:codex")


def splice(cell: CellId, at: int, remove: int, insert: str, base: int) -> e.SourceEdited:
    return e.SourceEdited(cell=cell, base=base, edit=(Splice(at, remove, insert),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A notebook in which codex changed one cell and added another, and the owner typed in both."""

    async def filled() -> None:
        owner = await connect(tmp_path)
        assert isinstance(owner, LocalWorkspace)
        codex = await owner.bearer((await owner.create_token(CODEX, ["read", "edit"])).secret)

        async def say(who: LocalWorkspace, *events: e.KnownEvent) -> None:
            await who.submit(LOG, [Draft(id=new_id(), event=event) for event in events])

        await say(owner, e.NotebookCreated(name="sales"), e.CellAdded(cell=A, after=None, source="x = 1\n"))
        await say(codex, splice(A, 4, 1, "2", 2), e.CellAdded(cell=B, after=A, source="print(x)\n"))
        await say(owner, splice(A, 6, 0, "# mine\n", 4), splice(B, 9, 0, "# kept\n", 4))
        await owner.close()

    (tmp_path / ".quire").mkdir()
    asyncio.run(filled())
    return tmp_path


def sources(folder: Path) -> list[str]:
    async def read() -> list[str]:
        workspace = await connect(folder)
        try:
            return [cell.source for cell in (await workspace.read(LOG)).live_cells]
        finally:
            await workspace.close()

    return asyncio.run(read())


def test_an_undo_lists_what_goes_and_what_depends_on_it_and_then_does_it(folder: Path) -> None:
    looked = run("undo", "sales", "--by", "codex", "--dry-run", at=folder)
    assert looked.returncode == 0, looked.stderr
    assert "1 character go, 1 come back" in looked.stdout
    assert f"{ME} wrote in a cell that it added" in looked.stdout
    assert sources(folder) == ["x = 2\n# mine\n", "print(x)\n# kept\n"]

    done = run("undo", "sales", "--by", "agent:codex", "--yes", at=folder)
    assert (done.returncode, done.stderr) == (0, f"Undone, by 2 events of {ME}.\n")
    assert sources(folder) == ["x = 1\n# mine\n", "# kept\n"]
    assert run("verify", at=folder).returncode == 0

    again = run("undo", "sales", "--by", "codex", "--yes", at=folder)
    assert (again.returncode, again.stderr) == (0, "There is nothing of agent:codex to undo in sales.\n")


def test_without_a_terminal_an_undo_needs_a_yes(folder: Path) -> None:
    done = run("undo", "sales", "--by", "codex", at=folder)
    assert (done.returncode, "--yes" in done.stderr) == (2, True)
    assert sources(folder) == ["x = 2\n# mine\n", "print(x)\n# kept\n"]


def test_an_undo_since_an_event_keeps_what_was_done_before(folder: Path) -> None:
    answer: Any = as_json("undo", "sales", "--by", "codex", "--since", "3", "--yes", at=folder)
    assert [entry["event"]["type"] for entry in answer["entries"]] == ["source_edited"]
    assert answer["plan"]["since"] == 3
    assert sources(folder) == ["x = 2\n# mine\n", "# kept\n"]


def test_an_undo_by_somebody_who_has_to_ask_is_a_proposal(folder: Path) -> None:
    made: Any = as_json("token", "new", "--actor", "agent:claude", "--scope", "read,edit", "--ask", "edit", at=folder)
    env = {"QUIRE_TOKEN": made["secret"]}
    answer: Any = as_json("undo", "sales", "--by", "codex", "--yes", at=folder, env=env)
    assert sources(folder) == ["x = 2\n# mine\n", "print(x)\n# kept\n"]
    (proposal,) = as_json("proposals", "list", at=folder)
    assert proposal["proposal"] == answer["proposal"]
    assert proposal["why"] == "Undo of all edits of agent:codex"


def test_an_actor_that_nobody_knows_is_not_found(folder: Path) -> None:
    done = run("undo", "sales", "--by", "codx", at=folder)
    assert (done.returncode, "agent:codex" in done.stderr) == (2, True)
