"""An owner may let readers start runs of a notebook: what that gives them, and all that it does not."""

from __future__ import annotations

import pytest

from quire.core import events as e
from quire.core.errors import BadInput, NotFound
from quire.core.ids import WORKSPACE_LOG, ActorId, ExecutionId, LogId, RuntimeId
from quire.core.policies import RUN_WITH_PARAMETERS
from quire.core.text import source_hash
from quire.workspace.identity import identities as access
from quire.workspace.identity.identities import RunGrant
from quire.workspace.identity.run_policy import MOST_OPEN
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace

from . import identities
from .doors import at_both_doors, bearer, in_one_place
from .identities import (
    ADA,
    AGENT,
    ALL,
    BOB,
    EVE,
    LOG,
    OTHER,
    RENAMED,
    REQUESTED,
    RUN,
    A,
    everything,
    give,
    refused,
    say,
)

ALLOWED: dict[str, e.Permission] = {RUN_WITH_PARAMETERS: "allowed"}
RUN_OF_LOG = e.RunRequested(name="r", source=e.RunSource(notebook=LOG), policy=ALLOWED)


async def allow(workspace: Workspace, notebook: LogId = LOG) -> None:
    """Let readers start runs."""
    await say(workspace, e.PolicySet(effects=ALLOWED, notebook=notebook), log=WORKSPACE_LOG)


async def started(viewer: LocalWorkspace, run: LogId = RUN) -> LocalWorkspace:
    """Lay out a run that a viewer was let start, as its process does, and return that process's workspace."""
    process = viewer.acting_as(await viewer.run_identity(LOG, run))
    await say(process, RUN_OF_LOG, e.CellAdded(cell=A, after=None, source="x = 1"), log=run)
    return process


# ---- Who decides


async def test_only_the_owner_of_a_notebook_lets_its_readers_run(owner: LocalWorkspace, ada: Workspace) -> None:
    await give(ada, BOB, "editor")
    await give(ada, EVE, "viewer")
    editor, viewer = await bearer(owner, BOB, *ALL), await bearer(owner, EVE, *ALL)
    agent = await bearer(owner, AGENT, "read", "edit", "run", "admin", on_behalf_of=BOB)
    for who in (editor, viewer, agent, await bearer(owner, ADA, "read", "edit", "run")):
        await refused(allow(who))
    elsewhere = await bearer(owner, ADA, "read", "admin", notebooks=[OTHER])
    await refused(allow(elsewhere))
    assert (await owner.directory()).policies == []
    await allow(ada)
    assert [(each.notebook, each.effects) for each in (await owner.directory()).policies] == [(LOG, ALLOWED)]
    await allow(owner, OTHER)


@at_both_doors
async def test_a_policy_is_for_a_notebook_that_is_there_and_stands_in_the_workspace_log(ada: Workspace) -> None:
    with pytest.raises(NotFound):
        await allow(ada, LogId("nowhere"))
    with pytest.raises(BadInput):
        await say(ada, e.PolicySet(effects=ALLOWED, notebook=LOG))


@in_one_place
async def test_one_effect_is_decided_and_others_of_the_notebook_stay(owner: LocalWorkspace, ada: Workspace) -> None:
    await say(ada, e.PolicySet(effects={"publish": "denied"}, notebook=LOG), log=WORKSPACE_LOG)
    mine = await identities.bearer(owner, ADA, *ALL)
    await mine.let_viewers_run(LOG, allowed=True)
    assert (await owner.directory()).policies[0].effects == {"publish": "denied", **ALLOWED}
    await mine.let_viewers_run(LOG, allowed=False)
    assert (await owner.directory()).policies[0].effects == {"publish": "denied"}


# ---- What it does not give


@at_both_doors
async def test_a_reader_who_may_start_runs_may_do_nothing_else(owner: LocalWorkspace, ada: Workspace) -> None:
    await give(ada, BOB, "viewer")
    await allow(ada)
    for bob in (await bearer(owner, BOB, *ALL), await bearer(owner, BOB, "read")):
        for scope, ask in everything(bob, LOG):
            if scope != "read":
                await refused(ask())
        # A run that they lay out by themselves could have any code in it.
        await refused(say(bob, RUN_OF_LOG, log=LogId("forged")))


@in_one_place
async def test_a_grant_is_for_one_run_of_one_notebook(owner: LocalWorkspace, ada: Workspace) -> None:
    await give(ada, BOB, "viewer")
    await allow(ada)
    bob = await identities.bearer(owner, BOB, *ALL)
    process = bob.acting_as(await bob.run_identity(LOG, RUN))
    assert process.identity.grant == RunGrant(run=RUN, notebook=LOG, is_by_policy=True)
    await refused(say(process, RENAMED))
    await refused(say(process, REQUESTED))
    await refused(say(process, e.NotebookCreated(name="new"), log=LogId("n9")))
    await refused(say(process, RUN_OF_LOG, log=LogId("another")))
    unmarked = e.RunRequested(name="r", source=e.RunSource(notebook=LOG))
    of_other = e.RunRequested(name="r", source=e.RunSource(notebook=OTHER), policy=ALLOWED)
    for wrong in (unmarked, of_other):
        assert "no other" in await refused(say(process, wrong, log=RUN))
    await refused(process.create_token(BOB, ["read"]))
    await refused(process.create_runtime_token("mine", LOG))
    await say(process, RUN_OF_LOG, log=RUN)


@in_one_place
async def test_an_open_notebook_gives_a_grant_no_more(owner: LocalWorkspace, ada: Workspace) -> None:
    """Where nobody has a role the token alone limits: a grant widens it in that run, and nowhere else."""
    await allow(ada)
    bob = await identities.bearer(owner, BOB, "read")
    process = bob.acting_as(await bob.run_identity(LOG, RUN))
    for log in (LOG, OTHER):
        await refused(say(process, RENAMED, log=log))
    await refused(say(process, e.NotebookCreated(name="new"), log=LogId("n9")))


# ---- What it gives


@in_one_place
async def test_who_may_start_a_run_by_the_policy(owner: LocalWorkspace, ada: Workspace) -> None:
    await give(ada, BOB, "viewer")
    await give(ada, EVE, "viewer", OTHER)
    reader, person = await identities.bearer(owner, BOB, "read"), await identities.bearer(owner, BOB, *ALL)
    agent = await identities.bearer(owner, AGENT, "read", "run", on_behalf_of=BOB)
    refusing = (
        await identities.bearer(owner, AGENT, "read", "edit", on_behalf_of=BOB),
        await identities.bearer(owner, AGENT, "read", "run", on_behalf_of=BOB, asks=["run"]),
        await identities.bearer(owner, BOB, "read", "run", asks=["run"]),
        await identities.bearer(owner, BOB, *ALL, notebooks=[OTHER]),
        await identities.bearer(owner, EVE, *ALL),
        await identities.bearer(owner, ActorId("runtime:r"), "read", "serve", on_behalf_of=BOB),
    )
    everybody = (reader, person, agent, *refusing)
    for who in everybody:
        await refused(who.run_identity(LOG, RUN))
    await allow(ada)
    for who in refusing:
        await refused(who.run_identity(LOG, RUN))
    for who in (reader, person, agent):
        identity = await who.run_identity(LOG, LogId(f"run of {len(who.identity.scopes)}"))
        assert (identity.actor, identity.on_behalf_of) == (who.identity.actor, who.identity.on_behalf_of)
    await refused(reader.run_identity(OTHER, RUN))
    mine = await identities.bearer(owner, ADA, *ALL)
    assert (await mine.run_identity(LOG, RUN)) == mine.identity
    await mine.let_viewers_run(LOG, allowed=False)
    await refused(reader.run_identity(LOG, RUN))


@in_one_place
async def test_who_may_run_and_not_edit_starts_a_run_and_gains_no_way_to_edit(
    owner: LocalWorkspace, ada: Workspace
) -> None:
    """No policy is needed: the right is `run`. What lays out the cells is for that one run, and marked by no policy."""
    await give(ada, BOB, "editor")
    runs_only = await identities.bearer(owner, BOB, "read", "run")
    asks = await identities.bearer(owner, AGENT, "read", "edit", "run", on_behalf_of=BOB, asks=["edit"])
    unmarked = e.RunRequested(name="r", source=e.RunSource(notebook=LOG))
    laid_out = (unmarked, e.CellAdded(cell=A, after=None, source="x = 1"))
    for who in (runs_only, asks):
        run = LogId(f"run-{len(who.identity.scopes)}")
        process = who.acting_as(await who.run_identity(LOG, run))
        assert process.identity.grant == RunGrant(run=run, notebook=LOG)
        for log in (LOG, OTHER):
            await refused(say(process, RENAMED, log=log))
        await refused(say(process, REQUESTED))
        await refused(say(process, e.NotebookCreated(name="new"), log=LogId("n9")))
        assert "no other" in await refused(say(process, RUN_OF_LOG, log=run)), "it is by no policy"
        assert "no other" in await refused(say(process, e.RunRequested(name="r", source=e.RunSource()), log=run))
        await refused(say(who, *laid_out, log=LogId(f"forged-{run}")))
        await say(process, *laid_out, log=run)
        runtime = await process.as_runtime("r", run)
        await say(runtime, e.RunClaimed(runtime=RuntimeId("runtime:r")), log=run)
    await refused(say(runs_only, e.CellAdded(cell=identities.B, after=None, source="evil"), log=LogId("run-2")))
    await refused(say(runs_only, RENAMED, log=LogId("run-2")))
    await say(runs_only, e.RunCancelRequested(), log=LogId("run-2"))
    elsewhere = await identities.bearer(owner, BOB, "read", "run", notebooks=[OTHER])
    await refused(elsewhere.run_identity(LOG, RUN))
    await refused(elsewhere.run_identity(None, RUN))
    assert (await runs_only.run_identity(None, RUN)).grant == RunGrant(run=RUN, notebook=None)
    await refused((await identities.bearer(owner, BOB, "read", "run", asks=["run"])).run_identity(LOG, RUN))


@in_one_place
async def test_a_bearer_is_told_what_they_may(owner: LocalWorkspace, ada: Workspace) -> None:
    await give(ada, BOB, "viewer")
    mine, bob = await identities.bearer(owner, ADA, *ALL), await identities.bearer(owner, BOB, "read")
    stranger = await identities.bearer(owner, EVE, *ALL)

    async def told(who: LocalWorkspace) -> tuple[bool, bool, bool]:
        found = await who.run_policy(LOG)
        return found.viewers_may_run, found.may_run, found.may_change

    assert [await told(who) for who in (mine, bob, owner)] == [
        (False, True, True),
        (False, False, False),
        (False, True, True),
    ]
    await mine.let_viewers_run(LOG, allowed=True)
    assert [await told(who) for who in (mine, bob)] == [(True, True, True), (True, True, False)]
    await refused(bob.let_viewers_run(LOG, allowed=False))
    await refused(stranger.run_policy(LOG))


@in_one_place
async def test_who_started_a_run_reads_it_and_stops_it_and_does_not_own_it(
    owner: LocalWorkspace, ada: Workspace
) -> None:
    await give(ada, BOB, "viewer")
    await give(ada, EVE, "viewer")
    await allow(ada)
    bob, eve = await identities.bearer(owner, BOB, *ALL), await identities.bearer(owner, EVE, "read")
    await started(bob)
    now = await bob.read(RUN)
    assert now.run is not None
    assert (now.run.by, now.run.policy) == (BOB, ALLOWED)
    for log in (RUN, LOG):
        for scope, ask in everything(bob, log):
            if scope != "read":
                await refused(ask())
    hash = source_hash("x = 1")
    await refused(say(bob, e.ExecutionRequested(execution=ExecutionId("y"), cell=A, source_hash=hash), log=RUN))
    await eve.read(RUN)
    await refused(say(eve, e.RunCancelRequested(), log=RUN))
    await refused(say(bob, e.RunCancelRequested(), RENAMED, log=RUN))
    await say(bob, e.RunCancelRequested(why="enough"), log=RUN)


@in_one_place
async def test_where_nobody_has_a_role_a_reader_does_not_own_the_run_either(
    owner: LocalWorkspace, ada: Workspace
) -> None:
    """`x began it` makes x the owner of a notebook, but not of a run that a policy let x start."""
    await give(owner, BOB, "viewer", None)
    await allow(ada)
    bob = await identities.bearer(owner, BOB, *ALL)
    await started(bob)
    await refused(say(bob, e.CellAdded(cell=identities.B, after=None, source="evil"), log=RUN))
    await refused(say(bob, REQUESTED, log=RUN))
    await refused(bob.redact(RUN, [1], "mine"))
    await say(bob, e.RunCancelRequested(), log=RUN)


@in_one_place
async def test_the_runtime_of_a_granted_run_serves_that_run_alone(owner: LocalWorkspace, ada: Workspace) -> None:
    await give(ada, BOB, "viewer")
    await allow(ada)
    process = await started(await identities.bearer(owner, BOB, "read"))
    runtime = await process.as_runtime("r", RUN)
    assert runtime.identity.on_behalf_of == BOB
    await say(runtime, e.RunClaimed(runtime=RuntimeId("runtime:r")), log=RUN)
    await refused(say(runtime, e.RuntimeAttached(runtime=RuntimeId("runtime:r"), name="r"), log=LOG))


@in_one_place
async def test_a_reader_has_only_so_many_runs_going(owner: LocalWorkspace, ada: Workspace) -> None:
    await give(ada, BOB, "viewer")
    await allow(ada)
    bob = await identities.bearer(owner, BOB, "read")
    runs = [LogId(f"r{number}") for number in range(MOST_OPEN)]
    for run in runs:
        await started(bob, run)
    assert "at once" in await refused(bob.run_identity(LOG, LogId("one more")))
    ended = e.RunFinished(epoch=0, status="cancelled")
    await say(owner, ended, log=runs[0])
    await bob.run_identity(LOG, LogId("one more"))


def test_no_credentials_say_that_there_is_a_grant() -> None:
    assert access.owner().grant is None
    assert access.runtime("r").grant is None
