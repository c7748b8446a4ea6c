"""A workspace that an older Quire wrote opens, and what was bound in it goes on: see old/README.md."""

from __future__ import annotations

import asyncio
import pwd
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from quire.actors.mirror import mirror_once
from quire.connection import connect_store
from quire.core import events as e
from quire.core.errors import BadInput, Refused
from quire.core.events import Draft
from quire.core.ids import MIRROR, LogId
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from .old import old_workspace


class Old:
    """The old workspace, opened by its owner."""

    def __init__(self, folder: Path, workspace: LocalWorkspace, secrets: dict[str, str]) -> None:
        self.folder, self.workspace, self._secrets = folder, workspace, secrets
        self.told: list[str] = []

    async def bearer(self, name: str) -> LocalWorkspace:
        return await self.workspace.bearer(self._secrets[name])

    async def mirror(self, log: str) -> None:
        await mirror_once(self.workspace, self.folder.resolve(), LogId(log), tell=self.told.append)

    async def sources(self, log: str) -> list[str]:
        return [cell.source for cell in (await self.workspace.read(LogId(log))).live_cells]


@pytest.fixture
async def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Old]:
    known: dict[str, Any] = old_workspace(tmp_path)
    monkeypatch.delenv("QUIRE_TOKEN", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_name="owner"))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    workspace = await connect_store(tmp_path)
    assert workspace.identity.actor == known["owner"]
    yield Old(tmp_path, workspace, known["secrets"])
    await workspace.close()


async def bind(workspace: LocalWorkspace, log: str, path: str) -> None:
    await workspace.submit(LogId(log), [Draft(id=new_id(), event=e.FileBound(path=path, format="percent"))])


async def test_every_log_is_as_it_was_recorded(old: Old) -> None:
    flaws = [found.flaw async for found in old.workspace.verify()]
    assert len(flaws) == 9
    assert not any(flaws)
    sales = await old.workspace.read(LogId("sales"))
    assert [each.state for each in sales.proposals.values()] == ["open"]
    assert (await old.workspace.read(LogId("run1"))).run is not None
    assert [cell.author for cell in sales.live_cells] == ["human:owner"]


@pytest.mark.parametrize(
    ("log", "path", "binder"),
    [
        ("sales", "sales.py", "human:owner"),
        ("payroll", "payroll.py", "human:ada"),
        ("plan", "notes/plan.py", "human:bob"),
        ("draft", "draft.py", "human:ada"),
    ],
)
async def test_its_bindings_go_on_for_whoever_made_them(old: Old, log: str, path: str, binder: str) -> None:
    """Also for those whose tokens are older than the scope: what they bound, they may still edit."""
    (old.folder / path).write_text("# %%\nafterwards = 1\n")
    await old.mirror(log)
    assert await old.sources(log) == ["afterwards = 1"]
    last = (await old.workspace.entries(LogId(log), types=("file_merged",)))[-1]
    assert (last.actor, last.on_behalf_of) == (MIRROR, binder)
    cell = next(iter((await old.workspace.read(LogId(log))).live_cells))
    edited = e.SourceEdited(cell=cell.id, base=last.seq, edit=())
    await old.workspace.submit(LogId(log), [Draft(id=new_id(), event=edited)])
    await old.mirror(log)
    assert old.told == []


@pytest.mark.parametrize(
    ("log", "why"),
    [("copy", "bound to 'payroll' already"), ("hidden", "hidden"), ("brought", "elsewhere, before it was imported")],
)
async def test_a_binding_that_would_be_refused_today_does_nothing(old: Old, log: str, why: str) -> None:
    """It was recorded, and stays so; but no file is read or written for it."""
    before = {file: file.read_bytes() for file in old.folder.rglob("*.py")}
    sources = await old.sources(log)
    with pytest.raises((Refused, BadInput), match=why):
        await old.mirror(log)
    assert {file: file.read_bytes() for file in old.folder.rglob("*.py")} == before
    assert await old.sources(log) == sources


async def test_of_its_tokens_only_the_owners_bind(old: Old) -> None:
    for name in ("ada", "bob", "eve", "agent", "limited", "ada_browser"):
        somebody = await old.bearer(name)
        with pytest.raises(Refused, match="needs the scope 'bind'"):
            await bind(somebody, "sales", "other.py")
    await bind(await old.bearer("browser"), "sales", "other.py")
    binding = (await old.workspace.read(LogId("sales"))).binding
    assert binding is not None
    assert binding.path == "other.py"


async def test_a_new_token_of_the_owner_without_the_scope_does_not_bind(old: Old) -> None:
    """Only what is older than the scope has it by being the owner's."""
    made = await old.workspace.create_token(old.workspace.identity.actor, ["read", "edit", "run", "approve", "admin"])
    somebody = await old.workspace.bearer(made.secret)
    browser = await old.workspace.bearer((await somebody.sign_in((await somebody.create_sign_in()).secret)).secret)
    for each in (somebody, browser):
        with pytest.raises(Refused, match="needs the scope 'bind'"):
            await bind(each, "sales", "other.py")


async def test_several_processes_open_it_at_once(old: Old) -> None:
    others = await asyncio.gather(*(connect_store(old.folder) for _ in range(3)))
    assert [await other.bound_to("payroll.py") for other in others] == ["payroll"] * 3
    await asyncio.gather(*(other.close() for other in others))
