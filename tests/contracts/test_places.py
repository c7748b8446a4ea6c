"""What actors and verbs are told of where a workspace is, so that none of them asks which kind it is."""

from __future__ import annotations

import asyncio

import pytest

from quire.core import events as e
from quire.core.errors import NotFound, Refused
from quire.core.ids import ActorId, LogId, ProposalId, check_actor
from quire.workspace.local import MAX_LEASE_SECONDS, LocalWorkspace
from quire.workspace.protocol import Workspace
from quire.workspace.wire.bodies import RunProposed

from .doors import at_both_doors
from .identities import LOG, say

PATIENCE = 60
PROPOSED = RunProposed(
    run=LOG, log=LogId("src"), name="src", path=None, was_made=False, proposal=ProposalId("p1"), changes=1, seq=1
)


async def test_a_blob_is_read_at_once(ada: Workspace) -> None:
    ref = await ada.put_blob(b"large" * 100_000)
    assert await ada.read_blob(ref.hash) == b"large" * 100_000
    with pytest.raises((NotFound, Refused)):
        await ada.read_blob("0" * 64)


async def test_the_notebook_of_a_file_is_found_by_its_path(ada: Workspace) -> None:
    path = "it's/sales.py"
    assert await ada.bound_to(path) is None
    await say(ada, e.FileBound(path=path, format="percent"))
    assert await ada.bound_to(path) == LOG
    await say(ada, e.FileBound(path=None))
    assert await ada.bound_to(path) is None


@at_both_doors
async def test_only_a_process_beside_the_store_does_what_needs_the_store(ada: Workspace) -> None:
    if isinstance(ada, LocalWorkspace):
        assert ada.beside_store().identity == ada.identity
        return
    assert ada.store_address == "", "no process of this machine could open it"
    with pytest.raises(Refused, match="beside the store"):
        ada.beside_store()


@at_both_doors
async def test_a_runtime_is_given_a_name_a_lease_and_a_place_among_the_others(
    owner: LocalWorkspace, ada: Workspace
) -> None:
    name = ada.runtime_name("the big machine")
    runtime = ActorId(f"runtime:{name}")
    check_actor(runtime)
    assert name == ada.runtime_name("the big machine"), "the same the next time"
    assert 0 < ada.lease_seconds <= MAX_LEASE_SECONDS
    counted = await ada.count_runtime(LOG, runtime)
    known = [each for each in await owner.living_runtimes() if each.brought == runtime]
    assert bool(known) == (counted is not None), "at a server it counts once it says something"
    if counted is not None:
        await counted.let_go()
        assert not await owner.living_runtimes()


@at_both_doors
async def test_lanes_are_carried_until_cancelled_or_need_no_carrying(ada: Workspace) -> None:
    async with asyncio.timeout(PATIENCE):
        if isinstance(ada, LocalWorkspace) and ada.carries_lanes:
            carrying = asyncio.ensure_future(ada.carry_lanes(LOG))
            carrying.cancel()
            await asyncio.gather(carrying, return_exceptions=True)
        else:
            await ada.carry_lanes(LOG)


@at_both_doors
async def test_a_fix_is_proposed_where_the_files_are(ada: Workspace) -> None:
    asked: list[str] = []

    async def here() -> RunProposed:
        asked.append("here")
        return PROPOSED

    if isinstance(ada, LocalWorkspace):
        assert await ada.propose(LOG, "why", here) == PROPOSED
        return
    with pytest.raises(NotFound):  # the server looks: it is no run
        await ada.propose(LogId("nowhere"), "why", here)
    assert not asked, "the files are the server's"
