"""Tokens of a workspace that an older Quire wrote: runtimes' serve and cannot ask, all others are as they were (rule 15)."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quire.connection import connect_store
from quire.core import events as e
from quire.core.errors import Refused
from quire.core.events import Draft, Entry, KnownEvent
from quire.core.ids import WORKSPACE_LOG, ActorId, CommentId, ExecutionId, LogId, RuntimeId
from quire.core.text import source_hash
from quire.workspace.clock import new_id
from quire.workspace.identity.identities import OWNER_SCOPES, Identity
from quire.workspace.local import LocalWorkspace

from .old import old_workspace

SALES, X = LogId("sales"), ExecutionId("x1")
HUMANS = ["ada", "bob", "eve", "limited", "browser", "ada_browser"]
AGENTS = ["agent", "asking"]


class Old:
    """The old workspace, opened by this Quire."""

    def __init__(self, folder: Path, owner: LocalWorkspace, secrets: dict[str, str]) -> None:
        self.folder, self.owner, self._secrets = folder, owner, secrets

    async def bearer(self, name: str) -> LocalWorkspace:
        return await self.owner.bearer(self._secrets[name])

    def recorded(self) -> list[tuple[object, ...]]:
        """The workspace log as it is stored."""
        with sqlite3.connect(self.folder / ".quire" / "quire.db") as connection:
            return connection.execute("SELECT * FROM events WHERE log = 'workspace' ORDER BY seq").fetchall()


@pytest.fixture
async def old(tmp_path: Path) -> AsyncIterator[Old]:
    known = old_workspace(tmp_path)
    identity = Identity(actor=ActorId(known["owner"]), scopes=OWNER_SCOPES, owns=True)
    owner = await connect_store(tmp_path, identity)
    yield Old(tmp_path, owner, known["secrets"])
    await owner.close()


async def say(workspace: LocalWorkspace, *events: KnownEvent, log: LogId = SALES) -> list[Entry]:
    return await workspace.submit(log, [Draft(id=new_id(), event=event) for event in events])


@pytest.mark.parametrize("name", ["worker", "runtime"])
async def test_an_old_token_of_a_runtime_serves_and_cannot_ask(old: Old, name: str) -> None:
    runtime = await old.bearer(name)
    me = RuntimeId(runtime.identity.actor)
    assert runtime.identity.scopes == {"read", "serve"}
    cell, hash = await requested(old)
    for event in (
        e.ExecutionRequested(execution=ExecutionId("x2"), cell=cell, source_hash=hash),
        e.ScratchRequested(execution=ExecutionId("x2"), cell=e.CellId("s"), source="1"),
        e.InterruptRequested(execution=X),
        e.ExecutionCancelled(execution=X),
        e.RestartRequested(),
        e.NotebookRenamed(name="mine"),
    ):
        with pytest.raises(Refused):
            await say(runtime, event)
    with pytest.raises(Refused):
        await runtime.create_sign_in()
    with pytest.raises(Refused):
        await runtime.create_runtime_token("other", SALES)
    await say(runtime, e.RuntimeAttached(runtime=me))
    (claimed,) = await say(runtime, e.ExecutionClaimed(execution=X, runtime=me))
    assert isinstance(claimed.event, e.ExecutionClaimed) and claimed.event.epoch is not None
    epoch = claimed.event.epoch
    await runtime.renew(SALES, claimed.event)
    await say(
        runtime,
        e.ExecutionStarted(execution=X, cell=cell, source_hash=hash, epoch=epoch),
        e.ExecutionFinished(execution=X, epoch=epoch, status="ok"),
    )
    await runtime.release(SALES, claimed.event)


async def requested(old: Old) -> tuple[e.CellId, str]:
    """The cell that waits since then, and the hash of its source."""
    notebook = await old.owner.read(SALES)
    execution = notebook.execution(X)
    assert execution is not None and execution.state == "queued"
    return execution.cell, source_hash(notebook.cells[execution.cell].source)


async def test_an_old_runtime_of_somebody_stays_out_of_what_is_closed_to_them(old: Old) -> None:
    """It was made for ada, and for one notebook; the owner's own serves everywhere, as before."""
    hers, owners = await old.bearer("runtime"), await old.bearer("worker")
    assert (hers.identity.on_behalf_of, owners.identity.on_behalf_of) == ("human:ada", None)
    assert await owners.read(LogId("payroll"))
    await say(old.owner, e.RoleSet(actor=ActorId("human:bob"), role="viewer", notebook=SALES), log=WORKSPACE_LOG)
    with pytest.raises(Refused, match="no role"):
        await hers.read(SALES)
    assert await owners.read(SALES)


@pytest.mark.parametrize("name", [*HUMANS, *AGENTS])
async def test_old_tokens_of_humans_agents_and_browsers_work(old: Old, name: str) -> None:
    who = await old.bearer(name)
    assert (await who.read(SALES)).name
    await say(who, e.CommentAdded(comment=CommentId(new_id()), text="still here"))
    made = (await old.owner.directory()).tokens
    assert who.identity.token is not None and made[who.identity.token].parent is None
    assert "serve" not in who.identity.scopes
    if "run" in who.identity.scopes and not who.identity.asks:
        cell, _ = await requested(old)
        await say(who, e.InterruptRequested(execution=X))
        assert (await old.owner.read(SALES)).cells[cell].queued is not None


async def test_an_old_proposal_is_accepted_by_a_human_with_an_old_token(old: Old) -> None:
    (proposal,) = [id for id, each in (await old.owner.read(SALES)).proposals.items() if each.state == "open"]
    with pytest.raises(Refused):
        await say(await old.bearer("agent"), e.ProposalAccepted(proposal=proposal))
    await say(await old.bearer("browser"), e.ProposalAccepted(proposal=proposal))


async def test_what_was_revoked_stays_so_and_nothing_ends_with_what_had_no_children(old: Old) -> None:
    with pytest.raises(Refused, match="revoked"):
        await old.bearer("revoked")
    ada = await old.bearer("ada")
    assert ada.identity.token is not None
    await say(old.owner, e.TokenRevoked(token=ada.identity.token), log=WORKSPACE_LOG)
    assert (await old.bearer("ada_browser")).identity.actor == "human:ada", (
        "the old log does not say what it was made with"
    )


async def test_the_old_log_is_as_it_was(old: Old) -> None:
    before = old.recorded()
    await old.bearer("worker")
    await old.owner.tokens()
    assert old.recorded() == before
    assert all([found.flaw is None async for found in old.owner.verify()])
    entries = await old.owner.entries(WORKSPACE_LOG, types=("token_created",))
    scopes = [entry.event.scopes for entry in entries if isinstance(entry.event, e.TokenCreated)]
    assert ("read", "run") in scopes, "what was said then is what is said now"
