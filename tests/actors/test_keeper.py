"""Work that nobody goes on with is ended by the next who looks."""

from __future__ import annotations

import subprocess
import sys

import pytest

from quire.actors.keeper import end_lost, expire_proposals
from quire.core import events as e
from quire.core.errors import NotFound
from quire.core.events import AnyEvent, Draft, KnownEvent, RunSource
from quire.core.ids import CellId, ExecutionId, LogId, ProposalId, RuntimeId
from quire.core.outcome import outcome_of
from quire.core.text import source_hash
from quire.stores.blobs_memory import MemoryBlobs
from quire.stores.memory import MemoryStore
from quire.workspace import access, holders
from quire.workspace.clock import new_id
from quire.workspace.local import LEASE_SECONDS, LocalWorkspace

LOG = LogId("01M7GFVPH90000000000000000")
SOURCES = ("x = 1", "sleep(100)", "never", "never either")


class Clock:
    """A clock that somebody else turns."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def name_of_a_process_that_has_ended() -> str:
    code = "from quire.workspace.holders import this_process; print(this_process())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return said.stdout.strip()


async def say(workspace: LocalWorkspace, *events: KnownEvent) -> list[AnyEvent]:
    entries = await workspace.submit(LOG, [Draft(id=new_id(), event=event) for event in events])
    return [entry.event for entry in entries]


async def begin(workspace: LocalWorkspace, name: str) -> tuple[LocalWorkspace, int]:
    """A run whose first cell is done and whose second is running, by a runtime of that name."""
    runtime = workspace.acting_as(access.runtime(name))
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
    return await end_lost(workspace.acting_as(access.system()))


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
    runtime, epoch = await begin(workspace, holders.this_process())
    assert await keep(workspace) == []
    await say(
        runtime,
        e.ExecutionFinished(execution=ExecutionId("x1"), epoch=epoch, status="ok"),
        e.RunFinished(epoch=epoch, status="success"),
    )


async def test_a_lease_that_ran_out_ends_the_run_and_its_holder_is_refused(
    workspace: LocalWorkspace, clock: Clock
) -> None:
    runtime, epoch = await begin(workspace, "on-another-machine")
    assert await keep(workspace) == []
    clock.now += LEASE_SECONDS + 1
    assert await keep(workspace) == [LOG]
    failed = outcome_of(LOG, await workspace.read(LOG)).failed_cell
    assert failed is not None and "lease ran out" in failed.evalue, "whether the process is gone, nobody here can know"
    with pytest.raises(NotFound, match="may be over"):
        await say(runtime, e.ExecutionFinished(execution=ExecutionId("x1"), epoch=epoch, status="ok"))


async def test_who_could_not_renew_while_no_server_ran_has_a_grace_when_one_starts(
    workspace: LocalWorkspace, clock: Clock
) -> None:
    runtime, epoch = await begin(workspace, "on-another-machine")
    clock.now += 1000
    assert await end_lost(workspace.acting_as(access.system()), 60) == []
    clock.now += 59
    assert await keep(workspace) == []
    claim = e.RunClaimed(runtime=RuntimeId(runtime.identity.actor), epoch=epoch)
    await runtime.renew(LOG, claim, 180)
    clock.now += 179
    assert await keep(workspace) == [], "it came back in time"
    clock.now += 2
    assert await keep(workspace) == [LOG]


async def test_a_process_that_is_gone_has_no_grace(workspace: LocalWorkspace) -> None:
    await begin(workspace, name_of_a_process_that_has_ended())
    assert await end_lost(workspace.acting_as(access.system()), 60) == [LOG]


async def test_what_ended_without_giving_back_its_lease_stays_as_it_is(workspace: LocalWorkspace, clock: Clock) -> None:
    runtime, epoch = await begin(workspace, "on-another-machine")
    await say(
        runtime,
        e.ExecutionFinished(execution=ExecutionId("x1"), epoch=epoch, status="ok"),
        e.RunFinished(epoch=epoch, status="success"),
    )
    clock.now += LEASE_SECONDS + 1
    assert await keep(workspace) == []
    assert outcome_of(LOG, await workspace.read(LOG)).status == "success"
    assert await workspace.claims() == []


async def test_an_execution_of_a_notebook_is_lost_also_when_somebody_tried_to_take_it(
    workspace: LocalWorkspace, clock: Clock
) -> None:
    one, other = (workspace.acting_as(access.runtime(name)) for name in ("one", "other"))
    await say(
        workspace,
        e.NotebookCreated(name="n"),
        e.CellAdded(cell=CellId("a"), after=None, source="1"),
        e.ExecutionRequested(execution=ExecutionId("x"), cell=CellId("a"), source_hash=source_hash("1")),
    )
    await say(one, e.ExecutionClaimed(execution=ExecutionId("x"), runtime=RuntimeId("runtime:one")))
    clock.now += LEASE_SECONDS + 1
    with pytest.raises(Exception, match="claimed by"):
        await say(other, e.ExecutionClaimed(execution=ExecutionId("x"), runtime=RuntimeId("runtime:other")))
    assert await keep(workspace) == [LOG]
    assert (await workspace.read(LOG)).cells[CellId("a")].state == "lost"


def test_a_process_is_known_by_more_than_its_number() -> None:
    mine = f"runtime:{holders.this_process()}"
    assert not holders.is_gone(mine)
    assert holders.is_gone(f"{mine}0"), "a later process with the same number"
    assert not holders.is_gone("runtime:run-000000000000-1-1"), "nobody here can know that"
    assert not holders.is_gone("runtime:gpu") and not holders.is_gone("human:ada")


# ---- Proposals


async def test_a_proposal_that_nobody_answered_in_time_expires_once() -> None:
    times = ["2029-06-01T00:00:00.000000Z"]
    workspace = LocalWorkspace(MemoryStore(), MemoryBlobs(), now=lambda: times[-1])
    system = workspace.acting_as(access.system())
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
