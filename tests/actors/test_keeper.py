"""Work that nobody goes on with is ended by the next who looks."""

from __future__ import annotations

import subprocess
import sys

import pytest

from quire.actors.keeper import Keeper, end_lost, expire_proposals
from quire.core import events as e
from quire.core.errors import NotFound
from quire.core.events import AnyEvent, Draft, KnownEvent, RunSource
from quire.core.ids import CellId, ExecutionId, LogId, ProposalId, RuntimeId
from quire.core.results import outcome_of
from quire.core.text import source_hash
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LEASE_SECONDS, LocalWorkspace
from quire.workspace.log import process_id
from quire.workspace.log.lapse_watch import LapseWatch

LOG = LogId("01M7GFVPH90000000000000000")
SOURCES = ("x = 1", "sleep(100)", "never", "never either")


class Clock:
    """A clock that somebody else turns."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def name_of_a_process_that_has_ended() -> str:
    code = "from quire.workspace.log.process_id import this_process; print(this_process())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return said.stdout.strip()


async def say(workspace: LocalWorkspace, *events: KnownEvent) -> list[AnyEvent]:
    entries = await workspace.submit(LOG, [Draft(id=new_id(), event=event) for event in events])
    return [entry.event for entry in entries]


async def begin(workspace: LocalWorkspace, name: str) -> tuple[LocalWorkspace, int]:
    """A run whose first cell is done and whose second is running, by a runtime of that name."""
    runtime = workspace.acting_as(identities.runtime(name))
    me = RuntimeId(runtime.identity.actor)
    cells = [
        e.CellAdded(cell=CellId(f"c{number}"), after=CellId(f"c{number - 1}") if number else None, source=source)
        for number, source in enumerate(SOURCES)
    ]
    await say(workspace, e.RunRequested(name="night", source=RunSource(path="night.py"), runtime=me), *cells)
    (claimed,) = await say(runtime, e.RunClaimed(runtime=me))
    assert isinstance(claimed, e.RunClaimed) and claimed.epoch is not None
    epoch = claimed.epoch
    first, second = ExecutionId("x0"), ExecutionId("x1")
    await say(
        runtime,
        e.RunStarted(epoch=epoch),
        e.ExecutionStarted(execution=first, cell=CellId("c0"), source_hash=source_hash(SOURCES[0]), epoch=epoch),
        e.ExecutionFinished(execution=first, epoch=epoch, status="ok"),
        e.ExecutionStarted(execution=second, cell=CellId("c1"), source_hash=source_hash(SOURCES[1]), epoch=epoch),
    )
    return runtime, epoch


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def workspace(clock: Clock) -> LocalWorkspace:
    return LocalWorkspace(MemoryStore(clock=clock), MemoryBlobs())


async def keep(workspace: LocalWorkspace) -> list[LogId]:
    return await end_lost(workspace.acting_as(identities.system()))


async def test_a_run_of_a_process_that_is_gone_is_lost_at_once(workspace: LocalWorkspace) -> None:
    """Nobody waits for the lease when the machine can say that nobody will renew it."""
    await begin(workspace, name_of_a_process_that_has_ended())
    assert await keep(workspace) == [LOG]
    notebook = await workspace.read(LOG)
    assert [cell.state for cell in notebook.live_cells] == ["ok", "lost", "skipped", "skipped"]
    outcome = outcome_of(LOG, notebook)
    assert outcome.status == "lost" and outcome.cells_executed == 2
    assert outcome.failed_cell is not None and outcome.failed_cell.id == "c1"
    assert "gone" in outcome.failed_cell.evalue
    assert await keep(workspace) == [] and await workspace.claims() == []


async def test_a_run_that_is_going_on_is_left_alone(workspace: LocalWorkspace) -> None:
    runtime, epoch = await begin(workspace, process_id.this_process())
    assert await keep(workspace) == []
    await say(
        runtime,
        e.ExecutionFinished(execution=ExecutionId("x1"), epoch=epoch, status="ok"),
        e.RunFinished(epoch=epoch, status="success"),
    )


class Watched:
    """A server's keeper, that looks every few seconds of a clock which somebody else turns."""

    def __init__(self, workspace: LocalWorkspace, clock: Clock) -> None:
        self._clock = clock
        self._keeper = Keeper(workspace.acting_as(identities.system()), LapseWatch(LEASE_SECONDS, 15, clock))

    async def look(self, seconds: float = 0) -> list[LogId]:
        """Look every ten seconds, for so long."""
        ended = await self._keeper.look()
        for _ in range(int(seconds / 10)):
            self._clock.now += 10
            ended += await self._keeper.look()
        return ended


async def test_a_lease_that_ran_out_and_was_watched_for_as_long_again_ends_the_run_and_its_holder_is_refused(
    workspace: LocalWorkspace, clock: Clock
) -> None:
    """Rule 10: never stuck."""
    runtime, epoch = await begin(workspace, "on-another-machine")
    keeper = Watched(workspace, clock)
    assert await keeper.look(LEASE_SECONDS + 20) == []
    assert await keeper.look(20) == [LOG]
    failed = outcome_of(LOG, await workspace.read(LOG)).failed_cell
    assert failed is not None and "lease ran out" in failed.evalue, "whether the process is gone, nobody here can know"
    with pytest.raises(NotFound, match="may be over"):
        await say(runtime, e.ExecutionFinished(execution=ExecutionId("x1"), epoch=epoch, status="ok"))


async def test_who_opens_a_workspace_ends_nothing_of_those_whose_lease_only_ran_out(
    workspace: LocalWorkspace, clock: Clock
) -> None:
    """Rule 10: everybody's lease has lapsed after a closed lid, and the first to wake may be `quire show`."""
    runtime, epoch = await begin(workspace, "on-another-machine")
    clock.now += 100 * LEASE_SECONDS
    assert await keep(workspace) == []
    await runtime.renew(LOG, e.RunClaimed(runtime=RuntimeId(runtime.identity.actor), epoch=epoch))
    await say(
        runtime,
        e.ExecutionFinished(execution=ExecutionId("x1"), epoch=epoch, status="ok"),
        e.RunFinished(epoch=epoch, status="success"),
    )


async def test_a_keeper_that_stood_still_itself_begins_to_watch_anew(workspace: LocalWorkspace, clock: Clock) -> None:
    """Rule 10: a closed lid, a clock that jumped, a database that hung."""
    runtime, epoch = await begin(workspace, "on-another-machine")
    claim = e.RunClaimed(runtime=RuntimeId(runtime.identity.actor), epoch=epoch)
    keeper = Watched(workspace, clock)
    clock.now += 10 * LEASE_SECONDS
    assert await keeper.look(LEASE_SECONDS - 10) == [], "it has not watched for long enough"
    clock.now += 10 * LEASE_SECONDS
    assert await keeper.look(LEASE_SECONDS - 10) == [], "nobody can say who was awake meanwhile"
    await runtime.renew(LOG, claim)
    assert await keeper.look(LEASE_SECONDS) == [], "it was renewed"
    assert await keeper.look(LEASE_SECONDS + 10) == [LOG]


async def test_who_could_not_renew_while_no_server_ran_has_a_grace_when_one_starts(
    workspace: LocalWorkspace, clock: Clock
) -> None:
    runtime, epoch = await begin(workspace, "on-another-machine")
    clock.now += 1000
    assert await end_lost(workspace.acting_as(identities.system()), 60) == []
    keeper = Watched(workspace, clock)
    assert await keeper.look(60 + LEASE_SECONDS - 10) == []
    claim = e.RunClaimed(runtime=RuntimeId(runtime.identity.actor), epoch=epoch)
    await runtime.renew(LOG, claim, 180)
    assert await keeper.look(180 + LEASE_SECONDS - 10) == [], "it came back in time"
    assert await keeper.look(20) == [LOG]


async def test_a_process_that_is_gone_has_no_grace(workspace: LocalWorkspace) -> None:
    await begin(workspace, name_of_a_process_that_has_ended())
    assert await end_lost(workspace.acting_as(identities.system()), 60) == [LOG]


async def test_what_ended_without_giving_back_its_lease_stays_as_it_is(workspace: LocalWorkspace, clock: Clock) -> None:
    runtime, epoch = await begin(workspace, "on-another-machine")
    await say(
        runtime,
        e.ExecutionFinished(execution=ExecutionId("x1"), epoch=epoch, status="ok"),
        e.RunFinished(epoch=epoch, status="success"),
    )
    assert await Watched(workspace, clock).look(2 * LEASE_SECONDS + 20) == []
    assert outcome_of(LOG, await workspace.read(LOG)).status == "success"
    assert await workspace.claims() == []


async def test_who_tries_to_take_what_somebody_has_claimed_does_not_break_a_lease_that_lapsed(
    workspace: LocalWorkspace, clock: Clock
) -> None:
    """Rule 10: it can still be renewed, and if it is not, it is lost."""
    one, other = (workspace.acting_as(identities.runtime(name)) for name in ("one", "other"))
    await say(
        workspace,
        e.NotebookCreated(name="n"),
        e.CellAdded(cell=CellId("a"), after=None, source="1"),
        e.ExecutionRequested(execution=ExecutionId("x"), cell=CellId("a"), source_hash=source_hash("1")),
    )
    claim = e.ExecutionClaimed(execution=ExecutionId("x"), runtime=RuntimeId("runtime:one"))
    (claimed,) = await say(one, claim)
    assert isinstance(claimed, e.ExecutionClaimed)
    clock.now += LEASE_SECONDS + 1
    with pytest.raises(Exception, match="is held by"):
        await say(other, e.ExecutionClaimed(execution=ExecutionId("x"), runtime=RuntimeId("runtime:other")))
    await one.renew(LOG, claimed)
    assert await Watched(workspace, clock).look(2 * LEASE_SECONDS + 20) == [LOG]
    assert (await workspace.read(LOG)).cells[CellId("a")].state == "lost"


def test_a_process_is_known_by_more_than_its_number() -> None:
    mine = f"runtime:{process_id.this_process()}"
    assert not process_id.is_gone(mine)
    assert process_id.is_gone(f"{mine}0"), "a later process with the same number"
    assert not process_id.is_gone("runtime:run-000000000000-1-1"), "nobody here can know that"
    assert not process_id.is_gone("runtime:gpu") and not process_id.is_gone("human:ada")


# ---- Proposals


async def test_a_proposal_that_nobody_answered_in_time_expires_once() -> None:
    times = ["2029-06-01T00:00:00.000000Z"]
    workspace = LocalWorkspace(MemoryStore(), MemoryBlobs(), now=lambda: times[-1])
    system = workspace.acting_as(identities.system())
    await say(workspace, e.NotebookCreated(name="sales"), e.CellAdded(cell=CellId("a"), after=None, source="x = 1"))
    removal = (e.CellRemoved(cell=CellId("a")),)
    ends = {"soon": "2030-01-01T00:00:00.000000Z", "late": "2031-01-01T00:00:00.000000Z", "never": None}
    for name, end in ends.items():
        await say(workspace, e.ProposalMade(proposal=ProposalId(name), why=name, changes=removal, expires_at=end))
    assert await expire_proposals(system, times[-1]) == []
    times.append("2030-06-01T00:00:00.000000Z")
    assert await expire_proposals(system, times[-1]) == ["soon"]
    proposals = (await workspace.read(LOG)).proposals
    assert {id: each.state for id, each in proposals.items()} == {"soon": "expired", "late": "open", "never": "open"}
    assert proposals[ProposalId("soon")].decided_at == times[-1]
    assert await expire_proposals(system, times[-1]) == [], "it is recorded once"
