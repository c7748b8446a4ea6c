"""From an address to a workspace."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from quire.connection import connect, connect_store
from quire.core.errors import BadInput, Refused
from quire.core.events import Draft, NotebookCreated
from quire.core.ids import LogId
from quire.workspace.clock import new_id
from quire.workspace.identity import identities

from .conftest import Postgres

QUIRE = Path(sys.executable).with_name("quire")


async def test_postgresql_is_an_address_for_python_and_for_every_verb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres: Postgres
) -> None:
    monkeypatch.setenv("QUIRE_BLOBS", str(tmp_path / "blobs"))
    async with postgres.schema("quire"):  # what an address means that names none
        workspace = await connect(postgres.url)
        await workspace.submit(LogId("n1"), [Draft(id=new_id(), event=NotebookCreated(name="far away"))])
        await workspace.close()
        for verb in (["show", "far away"], ["verify"], ["sql", "select name from notebooks"], ["log", "n1"]):
            command = [QUIRE, *verb, "--at", postgres.url]
            done = await asyncio.to_thread(subprocess.run, command, cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            assert "far away" in done.stdout


@pytest.mark.parametrize("where", ["postgresql://127.0.0.1:1/nowhere", "postgresql://u:hunter2@127.0.0.1:1/x"])
def test_a_server_that_is_not_there_is_unavailable_and_no_password_is_told(where: str, tmp_path: Path) -> None:
    done = subprocess.run([QUIRE, "log", "x", "--at", where], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 4
    assert "127.0.0.1" in done.stderr
    assert "hunter2" not in done.stderr
    assert "Traceback" not in done.stderr


async def test_a_server_is_asked_by_who_has_a_token_and_is_no_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUIRE_TOKEN", raising=False)
    with pytest.raises(Refused, match="quire token new"):
        await connect("https://127.0.0.1:1")
    with pytest.raises(BadInput, match="QUIRE_TOKEN"):
        await connect("https://127.0.0.1:1", identities.owner())
    with pytest.raises(BadInput, match="needs the store itself"):
        await connect_store("https://127.0.0.1:1")
    with pytest.raises(BadInput, match=r"postgresql://… or https://…"):
        await connect("ftp://127.0.0.1")
