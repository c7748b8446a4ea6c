"""Runtimes serve, they do not ask: what the scopes `run` and `serve` allow, on every store (rule 3)."""

from __future__ import annotations

import msgspec
import pytest

from quire.core import events as e
from quire.core.errors import BadInput
from quire.core.events import KnownEvent
from quire.core.ids import WORKSPACE_LOG, ActorId, CellId, ExecutionId, RuntimeId
from quire.core.text import source_hash
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace

from .doors import bearer, bearer_of
from .identities import ADA, AGENT, ALL, BOB, EVE, LOG, OTHER, REQUESTED, RUN, A, B, X, give, refused, say

GPU = RuntimeId("runtime:gpu")
ATTACHED = e.RuntimeAttached(runtime=GPU)
CLAIMED = e.ExecutionClaimed(execution=X, runtime=GPU)


@pytest.fixture
async def gpu(owner: LocalWorkspace, ada: Workspace) -> Workspace:
    """A runtime of the owner of the files."""
    return await bearer(owner, ActorId(GPU), "read", "serve")


ASKED: list[KnownEvent] = [
    e.ExecutionRequested(execution=ExecutionId("x2"), cell=B, source_hash=source_hash("select 1")),
    e.ScratchRequested(execution=ExecutionId("x2"), cell=CellId("s"), source="print(1)"),
    e.InterruptRequested(execution=X),
    e.ExecutionCancelled(execution=X),
    e.RestartRequested(),
    e.RestartRequested(runtime="runtime:other"),
    e.RunCancelRequested(),
    e.CellAdded(cell=CellId("new"), after=None),
    e.NotebookRenamed(name="mine"),
    e.FileBound(path="a.py"),
    e.PayloadRedacted(seq=1, why="x"),
]


@pytest.mark.parametrize("event", ASKED, ids=lambda event: type(event).__name__)
async def test_a_runtime_asks_for_nothing_and_changes_nothing(
    ada: Workspace, gpu: Workspace, event: KnownEvent
) -> None:
    await say(gpu, ATTACHED)
    await say(ada, REQUESTED)
    before = await ada.entries(LOG)
    await refused(say(gpu, event))
    assert await ada.entries(LOG) == before


async def test_a_runtime_begins_neither_a_run_nor_a_notebook(ada: Workspace, gpu: Workspace) -> None:
    for event in (e.RunRequested(name="r", source=e.RunSource(notebook=LOG)), e.NotebookCreated(name="n")):
        await refused(say(gpu, event, log=RUN))
    await say(ada, e.RunRequested(name="r", source=e.RunSource(notebook=LOG)), log=RUN)
    await refused(say(gpu, e.RunFinished(status="cancelled"), log=RUN))
    await refused(say(gpu, e.RunFinished(status="cancelled", epoch=1), log=RUN))
    await say(ada, e.RunFinished(status="cancelled"), log=RUN)


async def test_a_runtime_makes_no_tokens_and_signs_nobody_in(owner: LocalWorkspace, gpu: Workspace) -> None:
    assert gpu.identity.token is not None
    here = owner.acting_as(gpu.identity)
    for asking in (
        here.create_sign_in(),
        here.create_runtime_token("other", LOG),
        here.create_token(ActorId("runtime:other"), ["read", "serve"]),
        here.create_token(ADA, ["read"]),
        give(here, ActorId(GPU), "owner"),
    ):
        await refused(asking)


async def test_a_runtime_does_what_is_asked_for_and_who_asks_does_not(
    owner: LocalWorkspace, ada: Workspace, gpu: Workspace
) -> None:
    await say(ada, REQUESTED)
    served = [
        ATTACHED,
        e.KernelStarted(runtime=GPU, kernel="k"),
        CLAIMED,
        e.ExecutionStarted(execution=X, cell=A, source_hash=source_hash("x = 1"), epoch=1),
        e.StreamAppended(execution=X, epoch=1, chunk=0, name="stdout", offset=0, text="hi"),
        e.InputAnswered(execution=X, prompt="at a terminal", answer="y"),
        e.ExecutionFinished(execution=X, epoch=1, status="ok"),
        e.KernelRestarted(runtime=GPU, kernel="k2"),
        e.RuntimeDetached(runtime=GPU),
    ]
    for event in served:
        if not isinstance(event, e.InputAnswered):
            assert "'serve'" in await refused(say(ada, event)), "she may run, not serve"
        await say(gpu, event)
        if isinstance(event, e.ExecutionClaimed):
            claim = msgspec.structs.replace(CLAIMED, epoch=1)
            await gpu.renew(LOG, claim)
            await refused(ada.renew(LOG, claim))
    assert (await ada.read(LOG)).cells[A].state == "ok"


async def test_a_runtime_answers_and_takes_back_only_what_is_its_own(
    owner: LocalWorkspace, ada: Workspace, gpu: Workspace
) -> None:
    await say(ada, REQUESTED)
    other = await bearer(owner, ActorId("runtime:other"), "read", "serve")
    await refused(say(other, e.ExecutionCancelled(execution=X)))
    await say(gpu, CLAIMED)
    await refused(say(other, e.ExecutionCancelled(execution=X)))
    await say(gpu, e.ExecutionStarted(execution=X, cell=A, source_hash=source_hash("x = 1"), epoch=1))
    assert GPU in await refused(say(other, e.InputAnswered(execution=X, prompt="?", answer="y")))
    second = ExecutionId("x2")
    await say(ada, e.ExecutionRequested(execution=second, cell=B, source_hash=source_hash("select 1")))
    await say(ada, e.CellRemoved(cell=B))
    await say(other, e.ExecutionCancelled(execution=second, why="its cell was removed"))


# ---- Where it serves


async def test_a_runtime_has_at_most_the_roles_of_who_started_it(owner: LocalWorkspace, ada: Workspace) -> None:
    bob = await owner.create_token(BOB, ["read", "run", "admin"])
    his = await owner.bearer(bob.secret)
    every = await bearer_of(owner, (await his.create_token(ActorId(GPU), ["read", "serve"])).secret)
    one = await bearer_of(owner, (await his.create_runtime_token("one", LOG)).secret)
    mine = await bearer(owner, ActorId("runtime:owners"), "read", "serve")
    assert (every.identity.on_behalf_of, one.identity.on_behalf_of, mine.identity.on_behalf_of) == (BOB, BOB, None)
    for runtime in (every, one, mine):
        assert (await runtime.read(LOG)).seq >= 3
    await give(ada, EVE, "viewer")
    for runtime in (every, one):
        assert "no role" in await refused(runtime.read(LOG))
        await refused(say(runtime, e.RuntimeAttached(runtime=RuntimeId(runtime.identity.actor))))
    assert LOG not in {info.log for info in await every.logs()}
    await give(ada, BOB, "viewer")
    assert (await every.read(LOG)).seq >= 3
    assert "viewer" in await refused(say(every, ATTACHED))
    await give(ada, BOB, "editor")
    await say(every, ATTACHED)
    await say(mine, e.RuntimeAttached(runtime=RuntimeId("runtime:owners")))


async def test_a_runtime_in_this_process_has_the_limits_of_who_started_it(
    owner: LocalWorkspace, ada: Workspace
) -> None:
    made = await owner.create_token(BOB, ["read", "run"], notebooks=[LOG])
    runtime = await (await owner.bearer(made.secret)).as_runtime("here", LOG)
    assert (runtime.identity.on_behalf_of, runtime.identity.scopes) == (BOB, {"read", "serve"})
    await say(runtime, e.RuntimeAttached(runtime=RuntimeId("runtime:here")))
    await refused(runtime.read(OTHER))
    await say(owner, e.TokenRevoked(token=made.token), log=WORKSPACE_LOG)
    assert "revoked" in await refused(runtime.read(LOG))
    poor = await owner.bearer((await owner.create_token(EVE, ["read", "edit"])).secret)
    theirs = await poor.as_runtime("here", LOG)
    assert "'serve'" in await refused(say(theirs, e.RuntimeAttached(runtime=RuntimeId("runtime:here"))))
    assert await (await owner.as_runtime("here", LOG)).read(OTHER)


async def test_a_run_is_filled_by_the_runtime_of_whoever_asked_for_it(owner: LocalWorkspace, ada: Workspace) -> None:
    """What `quire run` does: two actors in one process, of which one asks and the other serves."""
    made = await owner.create_token(AGENT, ["read", "edit", "run"], on_behalf_of=BOB)
    agent = await owner.bearer(made.secret)
    runtime = await agent.as_runtime("process", RUN)
    me = RuntimeId(runtime.identity.actor)
    cell = e.CellAdded(cell=A, after=None, source="x = 1")
    await say(agent, e.RunRequested(name="r", source=e.RunSource(path="r.py"), runtime=me), cell, log=RUN)
    for event in (
        e.RunClaimed(runtime=me),
        e.RunStarted(epoch=1),
        e.ExecutionStarted(execution=X, cell=A, source_hash=source_hash("x = 1"), epoch=1),
        e.ExecutionFinished(execution=X, epoch=1, status="ok"),
        e.RunFinished(epoch=1, status="success"),
    ):
        assert "'serve'" in await refused(say(agent, event, log=RUN)) or isinstance(event, e.RunFinished)
        await say(runtime, event, log=RUN)


# ---- Making tokens


@pytest.mark.parametrize("scope", ["run", "edit", "approve", "admin"])
async def test_a_token_of_a_runtime_is_for_reading_and_serving(
    owner: LocalWorkspace, ada: Workspace, scope: e.Scope
) -> None:
    for maker in (owner, ada):
        told = await refused(maker.create_token(ActorId(GPU), ["read", scope]))
        assert scope in told and "second token, of kind agent" in told


@pytest.mark.parametrize("actor", ["human:bob", "agent:claude", "schedule:nightly"])
async def test_nobody_but_a_runtime_serves(owner: LocalWorkspace, actor: str) -> None:
    assert "Only a runtime serves" in await refused(owner.create_token(ActorId(actor), ["read", "serve"]))


async def test_who_may_not_run_unasked_lets_no_runtime_serve(owner: LocalWorkspace, ada: Workspace) -> None:
    reader = await owner.bearer((await owner.create_token(BOB, ["read", "admin"])).secret)
    asking = await owner.bearer((await owner.create_token(BOB, ["read", "run", "admin"], asks=["run"])).secret)
    for maker in (reader, asking):
        await refused(maker.create_token(ActorId(GPU), ["read", "serve"]))
        await refused(maker.create_runtime_token("gpu", LOG))
    runs = await owner.bearer((await owner.create_token(BOB, ["read", "run", "admin"])).secret)
    forged = e.TokenCreated(token=e.TokenId("t"), actor=ActorId(GPU), scopes=("read", "serve"))
    assert "on whose behalf" in await refused(say(runs, forged, log=WORKSPACE_LOG))


async def test_nothing_is_served_in_the_workspace_log(owner: LocalWorkspace, ada: Workspace) -> None:
    hers = await owner.bearer((await owner.create_token(ADA, ALL)).secret)
    for maker in (owner, hers):
        with pytest.raises(BadInput):
            await maker.create_runtime_token("gpu", WORKSPACE_LOG)


def test_every_event_of_executions_and_runs_is_asked_for_or_served() -> None:
    """A new one has to be decided on: `run` of whoever asks, `serve` of a runtime, or both."""
    asked = {
        e.ExecutionRequested,
        e.ScratchRequested,
        e.InterruptRequested,
        e.RunRequested,
        e.RunCancelRequested,
        e.RunDelivered,  # of the schedule that the run is of, and of nobody else
        e.RestartRequested,
    }
    every = {*e.ExecutionEvent.__args__, *e.RunEvent.__args__}
    assert every == asked | {*e.ServingEvent.__args__, *e.SharedEvent.__args__}
    assert not asked & {*e.ServingEvent.__args__, *e.SharedEvent.__args__}
