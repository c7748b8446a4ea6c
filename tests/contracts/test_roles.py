"""What a role in a notebook leaves, on every store, also while somebody follows, and of blobs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from quire.core import events as e
from quire.core.errors import BadInput, NotFound, QuireError, Refused
from quire.core.ids import (
    WORKSPACE_LOG,
    ActorId,
    ExecutionId,
    LogId,
)
from quire.core.text import source_hash
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace

from .doors import EVERYWHERE, acting, at_both_doors, bearer, bearer_of, in_one_place, on_every_store
from .identities import (
    ADA,
    AGENT,
    AGENTS,
    ALL,
    BOB,
    EVE,
    LOG,
    OTHER,
    RENAMED,
    RUN,
    A,
    Clock,
    OpenOne,
    everything,
    give,
    refused,
    say,
)

# ---- Roles


@at_both_doors
async def test_a_role_leaves_what_it_allows_and_no_more_than_the_token(owner: LocalWorkspace, ada: Workspace) -> None:
    """The lesser of both."""
    bob, reader = await bearer(owner, BOB, *ALL), await bearer(owner, BOB, "read")
    allowed: dict[e.Role, set[e.Scope]] = {
        "viewer": {"read"},
        "editor": {"read", "edit", "run", "approve"},
        "owner": set(ALL),
    }
    for role, scopes in allowed.items():
        await give(ada, BOB, role)
        for scope, ask in everything(bob, LOG):
            if scope == "serve":
                assert "Only a runtime serves" in await refused(ask())
            elif scope not in scopes:
                assert role in await refused(ask())
        await reader.read(LOG)
        await refused(say(reader, RENAMED))
    await say(bob, e.NotebookRenamed(name="by bob"))
    await bob.redact(LOG, [1], "an owner may")


@in_one_place
async def test_who_made_a_notebook_is_its_owner_unless_a_role_says_otherwise(
    owner: LocalWorkspace, ada: Workspace
) -> None:
    await give(ada, BOB, "editor")
    await ada.redact(LOG, [1], "mine")
    await give(owner, ADA, "viewer", None)
    await say(ada, e.NotebookRenamed(name="still mine"))
    await refused(say(ada, e.NotebookCreated(name="new"), log=LogId("n3")))
    await give(owner, ADA, "viewer")
    await refused(say(ada, e.NotebookRenamed(name="no longer")))
    assert (await ada.read(LOG)).name == "still mine"
    await say(owner, e.NotebookRenamed(name="files are files"))


@in_one_place
async def test_a_role_in_a_notebook_goes_before_one_in_all(owner: LocalWorkspace, ada: Workspace) -> None:
    bob = await bearer(owner, BOB, *ALL)
    await give(owner, BOB, "viewer", None)
    await refused(say(bob, RENAMED))
    await give(ada, BOB, "editor")
    await say(bob, RENAMED)
    await refused(say(bob, RENAMED, log=OTHER))
    await give(ada, BOB, None)
    await refused(say(bob, RENAMED))


@at_both_doors
async def test_roles_are_given_by_owners_and_everywhere_only_by_who_is_owner_everywhere(
    owner: LocalWorkspace, ada: Workspace
) -> None:
    eve = await bearer(owner, EVE, *ALL)
    await give(ada, BOB, "editor")
    wanted: list[tuple[e.Role, LogId | None]] = [("owner", LOG), ("viewer", LOG), ("owner", None)]
    for role, notebook in wanted:
        await refused(give(eve, EVE, role, notebook))
    await give(owner, EVE, "owner", None)
    await give(eve, BOB, "viewer")
    await give(eve, BOB, "editor", None)
    with pytest.raises(NotFound):
        await give(owner, BOB, "owner", LogId("nowhere"))
    with pytest.raises(BadInput):
        await say(owner, e.RoleSet(actor=BOB, role="owner", notebook=LOG))
    with pytest.raises(BadInput):
        await give(owner, ActorId("bob"), "owner")


@in_one_place
async def test_who_administers_one_notebook_gives_roles_in_that_one(owner: LocalWorkspace, ada: Workspace) -> None:
    only = await bearer(owner, ADA, "read", "admin", notebooks=[LOG])
    await give(only, BOB, "editor")
    for notebook in (OTHER, None):
        await refused(give(only, BOB, "editor", notebook))
    assert list((await ada.directory()).roles) == ["n1 human:bob"]


@in_one_place
async def test_an_agent_does_no_more_than_the_one_for_whom_it_acts(owner: LocalWorkspace, ada: Workspace) -> None:
    agent = await bearer(owner, AGENT, *AGENTS, on_behalf_of=BOB)
    await say(agent, RENAMED)
    await give(ada, BOB, "viewer")
    assert (await agent.read(LOG)).name == "other"
    await refused(say(agent, e.NotebookRenamed(name="more")))
    await give(ada, AGENT, "owner")
    await refused(say(agent, e.NotebookRenamed(name="more")))
    await give(ada, BOB, "owner")
    await give(ada, AGENT, "viewer")
    await refused(say(agent, e.NotebookRenamed(name="more")))
    await give(ada, AGENT, None)
    await say(agent, e.NotebookRenamed(name="more"))
    await say(agent, e.NotebookCreated(name="his"), log=LogId("n3"))
    await give(owner, EVE, "viewer", LogId("n3"))
    bob = await bearer(owner, BOB, *ALL)
    await say(bob, e.NotebookRenamed(name="made for me"), log=LogId("n3"))


@at_both_doors
async def test_a_run_is_as_closed_as_the_notebook_that_it_is_of(
    owner: LocalWorkspace, ada: Workspace, open_one: OpenOne
) -> None:
    def asked(of: LogId) -> e.RunRequested:
        return e.RunRequested(name="run", source=e.RunSource(notebook=of, seq=3))

    await say(ada, asked(LOG), log=RUN)
    await say(ada, asked(RUN), log=LogId("r2"))
    eve = await bearer(owner, EVE, *ALL)
    only = await bearer(owner, EVE, *ALL, notebooks=[LOG])
    assert {info.log for info in await only.logs()} == {LOG, RUN, "r2"}
    await say(only, asked(LOG), log=LogId("r3"))
    await refused(say(only, asked(OTHER), log=LogId("r4")))
    await refused(say(only, e.RunRequested(name="run", source=e.RunSource(path="x.py")), log=LogId("r4")))
    await give(ada, BOB, "viewer")
    for workspace in (eve, await acting(await open_one(), eve.identity)):
        for log in (RUN, LogId("r2"), LogId("r3")):
            await refused(workspace.read(log))
        await refused(say(workspace, asked(LOG), log=LogId("r4")))
    bob = await bearer(owner, BOB, *ALL)
    assert (await bob.read(RUN)).name == "run"
    await refused(say(bob, e.RunFinished(status="cancelled"), log=RUN))


@in_one_place
async def test_runs_of_each_other_end_nowhere_and_hang_nobody(owner: LocalWorkspace, ada: Workspace) -> None:
    for log, of in ((RUN, "r2"), (LogId("r2"), RUN)):
        await say(ada, e.RunRequested(name="run", source=e.RunSource(notebook=LogId(of))), log=log)
    eve = await bearer(owner, EVE, "read")
    assert (await eve.read(RUN)).name == "run"


@in_one_place
async def test_who_began_a_log_elsewhere_does_not_own_it_here(
    owner: LocalWorkspace, ada: Workspace, tmp_path: Path
) -> None:
    """An imported human:ada is nobody here: who took it in is its owner."""
    there = LocalWorkspace(MemoryStore(), MemoryBlobs(), identities.owner())
    bundle = tmp_path / "bundle"
    with bundle.open("wb") as file:
        await ada.export_bundle(LOG, file)
    bob = await bearer(there, BOB, *ALL)
    with bundle.open("rb") as file:
        await bob.import_bundle(file)
    await give(bob, EVE, "viewer")
    await say(bob, RENAMED)
    stranger = await bearer(there, ADA, *ALL)
    await refused(stranger.read(LOG))


# ---- Following


@asynccontextmanager
async def following(pages: AsyncIterator[list[Any]]) -> AsyncGenerator[tuple[asyncio.Queue[Any], asyncio.Task[None]]]:
    """What a follower gets, as it comes."""
    heard: asyncio.Queue[Any] = asyncio.Queue()

    async def listen() -> None:
        async for page in pages:
            for each in page:
                heard.put_nowait(each)

    task = asyncio.create_task(listen())
    try:
        yield heard, task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, QuireError):
            await task


async def ended(task: asyncio.Task[None]) -> str:
    with pytest.raises(Refused) as error:
        await asyncio.wait_for(task, 120)
    return str(error.value)


@pytest.mark.parametrize(
    ("place", "then"),
    [*((place, "silence") for place in EVERYWHERE), ("sqlite", "more"), ("remote", "more")],
    indirect=["place"],
)
@pytest.mark.parametrize("how", ["revoked", "lowered", "shut out"])
async def test_a_follower_is_shut_out_in_the_midst_of_it(
    owner: LocalWorkspace, ada: Workspace, open_one: OpenOne, how: str, then: str
) -> None:
    """At once, not with the next event; and what comes after it, however soon, is not seen."""
    made = await owner.create_token(EVE, ["read"])
    eve = await bearer_of(await open_one(), made.secret)
    await give(ada, EVE, "viewer")
    async with following(eve.follow(LOG)) as (heard, task), following(eve.feed(0)) as (grown, feeding):
        assert [(await asyncio.wait_for(heard.get(), 120)).seq for _ in range(3)] == [1, 2, 3]
        while (await asyncio.wait_for(grown.get(), 120)).log != LOG:
            pass
        match how:
            case "revoked":
                await say(owner, e.TokenRevoked(token=made.token), log=WORKSPACE_LOG)
            case "lowered":
                await give(owner, BOB, "viewer")
                await give(ada, EVE, None)
            case _:
                await give(ada, BOB, "viewer")
                await give(owner, EVE, None)
        if then == "more":
            await say(ada, e.NotebookRenamed(name="sooner"))
        assert ("revoked" if how == "revoked" else "no role") in await ended(task)
        if how == "revoked":
            assert "revoked" in await ended(feeding)
        await say(ada, e.NotebookRenamed(name="later"))
        assert heard.empty()
        if how != "revoked":
            await say(ada, e.NotebookRenamed(name="seen"), log=OTHER)
            grown_logs = {(await asyncio.wait_for(grown.get(), 120)).log}
            while OTHER not in grown_logs:
                grown_logs.add((await asyncio.wait_for(grown.get(), 120)).log)
            assert LOG not in grown_logs


@at_both_doors
async def test_a_follower_whose_token_runs_out_is_told(owner: LocalWorkspace, ada: Workspace, clock: Clock) -> None:
    eve = await bearer(owner, EVE, "read", expires_at="2h")
    async with following(eve.follow(LOG)) as (heard, task):
        await asyncio.wait_for(heard.get(), 120)
        clock.hour = 3
        await say(ada, RENAMED)
        assert "expired" in await ended(task)


async def test_a_follower_whose_rights_stay_misses_nothing_while_others_change(
    owner: LocalWorkspace, ada: Workspace
) -> None:
    eve = await bearer(owner, EVE, "read")
    async with following(eve.follow(LOG)) as (heard, _):
        for number in range(30):
            await give(owner, BOB, "viewer" if number % 2 else "editor", OTHER)
            await say(ada, e.NotebookRenamed(name=f"name {number}"))
        assert [(await asyncio.wait_for(heard.get(), 120)).seq for _ in range(33)] == list(range(1, 34))


# ---- Blobs


async def shown(workspace: Workspace, hash: str) -> bytes:
    return b"".join([chunk async for chunk in workspace.open_blob(hash)])


def showing(ref: e.BlobRef, execution: str = "o1") -> e.OutputsImported:
    outputs = (e.Display(blobs={"image/png": ref}),)
    return e.OutputsImported(
        execution=ExecutionId(execution), cell=A, source_hash=source_hash("x = 1"), outputs=outputs
    )


@at_both_doors
async def test_a_blob_is_for_who_may_read_a_notebook_that_refers_to_it(
    owner: LocalWorkspace, ada: Workspace, open_one: OpenOne
) -> None:
    ref = await ada.put_blob(b"picture", "image/png")
    eve, only = await bearer(owner, EVE, *ALL), await bearer(owner, EVE, *ALL, notebooks=[OTHER])
    for nobody in (eve, only):
        await refused(shown(nobody, ref.hash))
    await say(ada, showing(ref))
    there = await acting(await open_one(), eve.identity)
    assert await shown(eve, ref.hash) == await shown(there, ref.hash) == b"picture"
    assert await shown(owner, ref.hash) == b"picture"
    await refused(shown(only, ref.hash))
    await give(ada, BOB, "viewer")
    for nobody in (eve, there, only):
        told = await refused(shown(nobody, ref.hash))
        assert told == await refused(shown(nobody, ref.hash)), "whether it exists is not told"
    assert await shown(await bearer(owner, BOB, "read"), ref.hash) == b"picture"
    await say(ada, showing(ref), log=OTHER)
    assert await shown(only, ref.hash) == b"picture", "a notebook that it may read refers to it, too"


@at_both_doors
async def test_nobody_gets_at_a_blob_by_referring_to_it(owner: LocalWorkspace, ada: Workspace) -> None:
    ref = await ada.put_blob(b"picture")
    await say(ada, showing(ref))
    await give(ada, BOB, "viewer")
    eve = await bearer(owner, EVE, *ALL)
    await say(eve, e.NotebookCreated(name="bait"), e.CellAdded(cell=A, after=None, source="x = 1"), log=LogId("n3"))
    assert "blob" in await refused(say(eve, showing(ref), log=LogId("n3")))
    assert (await eve.put_blob(b"picture")).hash == ref.hash, "who has the bytes may"
    await say(eve, showing(ref), log=LogId("n3"))
    assert await shown(eve, ref.hash) == b"picture"


async def test_what_no_notebook_refers_to_yet_is_for_its_uploader_alone(
    owner: LocalWorkspace, ada: Workspace, open_one: OpenOne
) -> None:
    ref = await ada.put_blob(b"picture")
    eve = await bearer(owner, EVE, *ALL)
    await say(eve, e.NotebookCreated(name="bait"), e.CellAdded(cell=A, after=None, source="x = 1"), log=LogId("n3"))
    assert "Send the bytes first" in await refused(say(eve, showing(ref), log=LogId("n3")))
    await refused(shown(eve, ref.hash))
    # Another server, or the next one, knows whose it is.
    there = await acting(await open_one(), ada.identity)
    assert await shown(there, ref.hash) == b"picture"
    await say(there, showing(ref))
    assert await shown(eve, ref.hash) == b"picture", "now a notebook refers to it that she may read"


@in_one_place
async def test_a_bundle_that_leaves_out_a_blob_is_no_way_to_it(
    owner: LocalWorkspace, ada: Workspace, tmp_path: Path
) -> None:
    there = LocalWorkspace(MemoryStore(), MemoryBlobs(), identities.owner())
    ref, n3 = await ada.put_blob(b"picture"), LogId("n3")
    await say(ada, showing(ref))
    await give(ada, BOB, "viewer")
    for event in (e.NotebookCreated(name="bait"), e.CellAdded(cell=A, after=None, source="x = 1"), showing(ref)):
        await say(there, event, log=n3)
    with (tmp_path / "bundle").open("wb") as file:
        assert (await there.export_bundle(n3, file)).missing_blobs == (ref.hash,)
    eve = await bearer(owner, EVE, *ALL)
    with (tmp_path / "bundle").open("rb") as file:
        assert "blob" in await refused(eve.import_bundle(file))
    await refused(shown(eve, ref.hash))
    with (tmp_path / "bundle").open("rb") as file:
        await ada.import_bundle(file)


@on_every_store
async def test_a_blob_that_was_masked_away_in_one_notebook_is_no_longer_seen_through_it(
    owner: LocalWorkspace, ada: Workspace
) -> None:
    ref = await ada.put_blob(b"picture")
    await say(ada, showing(ref))
    await say(ada, showing(ref), log=OTHER)
    only = await bearer(owner, EVE, *ALL, notebooks=[LOG])
    assert await shown(only, ref.hash) == b"picture"
    await ada.redact(LOG, [4], "a face")
    await refused(shown(only, ref.hash))
    assert await shown(ada, ref.hash) == b"picture", "the other notebook still has it"


async def test_the_hold_of_a_mirror_is_for_who_may_bind_the_notebook(owner: LocalWorkspace, ada: Workspace) -> None:
    """Whoever could take it would keep a notebook and its file apart."""
    await give(ada, BOB, "editor")
    few: tuple[e.Scope, ...] = ("read", "edit", "run")
    for actor, scopes in ((EVE, ALL), (BOB, ALL), (ADA, few)):
        await refused((await bearer(owner, actor, *scopes)).hold(f"mirror:{LOG}"))
    assert await (await bearer(owner, ADA, *ALL)).hold(f"mirror:{LOG}") is not None
