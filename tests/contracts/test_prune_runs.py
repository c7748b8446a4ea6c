"""Old runs go, with what only they refer to; whatever anything that stays refers to, stays."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from quire.core import codec
from quire.core import events as e
from quire.core.chain import digest
from quire.core.errors import NotFound, Refused
from quire.core.ids import WORKSPACE_LOG, CellId, CommentId, ExecutionId, LogId, ProposalId
from quire.core.text import Splice, source_hash
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.store import Append, Store, UnsealedRecord
from quire.workspace import prune_runs
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace
from quire.workspace.prune_runs import PrunePlan, PruneStep

from ..conftest import OpenStore
from ..run_logs import RunLog, run_append
from .doors import Place, at_both_doors, bearer
from .identities import ADA, BOB, LOG, A, Clock, give, say

DAY = 24 * 60
NOW = "2026-03-02T00:00:00.000000Z"


def run_id(number: int) -> LogId:
    """An id as they are made, one for each number."""
    return LogId(f"01M7{number:03}".ljust(26, "Z"))


def run_of(number: int, **more: object) -> RunLog:
    return RunLog(log=run_id(number), name=f"run {number}", minute=number, **more)  # pyright: ignore[reportArgumentType]


def local(store: Store, blobs: MemoryBlobs | None = None) -> LocalWorkspace:
    return LocalWorkspace(store, blobs or MemoryBlobs(), identities.owner(), lambda: NOW)


async def pruned(steps: AsyncIterator[PruneStep]) -> list[LogId]:
    return [step.pruned.log async for step in steps if step.pruned is not None]


def going(plan: PrunePlan) -> set[LogId]:
    return {run.log for run in plan.runs}


def why(plan: PrunePlan, number: int) -> str:
    return next(kept.why for kept in plan.kept if kept.log == run_id(number))


async def test_what_anything_that_stays_refers_to_stays_and_is_told_why(store: Store) -> None:
    """Running, claimed, commented, resumed, named in a source that was typed letter by letter, proposed from: all stay."""
    for number, more in {
        1: {},
        2: {"status": "running"},
        3: {"status": "error"},
        4: {},
        5: {},
        6: {},
        7: {},
        8: {},
        9: {"path": "other.py"},
    }.items():
        await store.append([run_append(run_of(number, **more))])
    # A young one resumed 3, which had resumed 4.
    four = run_of(10, notebook=run_id(4), path="train.py")
    await store.append([run_append(RunLog(log=run_id(11), minute=59 * DAY, notebook=run_id(10)))])
    await store.append([run_append(four)])
    workspace = local(store)
    await say(workspace, e.NotebookCreated(name="sales"), e.CellAdded(cell=A, after=None, source="f('')"))
    for at, letter in enumerate(run_id(5)):
        await say(workspace, e.SourceEdited(cell=A, edit=(Splice(3 + at, 0, letter),), base=2 + at))
    await say(workspace, e.CommentAdded(comment=CommentId("c"), text=f"see the result of {run_id(6)[:12]}"))
    changes = (e.CellNamed(cell=A, name="x"),)
    await say(workspace, e.ProposalMade(proposal=ProposalId("p"), why=f"fixed in run {run_id(7)}", changes=changes))
    long_ago = LocalWorkspace(store, MemoryBlobs(), identities.owner(), lambda: "2026-01-02T00:00:00.000000Z")
    await say(long_ago, e.CommentAdded(comment=CommentId("d"), text="keep"), log=run_id(8))
    await store.acquire(f"run:{run_id(1)}", "runtime:r", 30)
    plan = await workspace.plan_prune("30d")
    assert going(plan) == {run_id(3), run_id(9)}
    assert "claimed" in why(plan, 1)
    assert why(plan, 2) == "it is running"
    assert why(plan, 4) == f"run 'run 10' [{run_id(10)}] refers to it"
    assert run_id(11) in why(plan, 10)
    assert all("notebook 'sales' [n1] refers to it" in why(plan, number) for number in (5, 6, 7))
    assert why(plan, 8) == "somebody commented on it"
    assert await pruned(workspace.prune("30d")) == [run_id(3), run_id(9)]
    assert (await workspace.plan_prune("30d")).runs == ()
    # What was printed is no reference, and what was asked for is less than all of it.
    assert going(await workspace.plan_prune("2025-12-31")) == set()


async def test_the_last_runs_of_each_source_stay(store: Store) -> None:
    for number in range(1, 5):
        await store.append([run_append(run_of(number)), run_append(run_of(10 + number, path="other.py"))])
    plan = await local(store).plan_prune("30d", keep_last=3)
    assert going(plan) == {run_id(1), run_id(11)}
    assert why(plan, 2) == "it is one of the last 3 of its source"
    assert going(await local(store).plan_prune("59d", keep_last=0)) == {run_id(n) for n in (1, 2, 3, 4, 11, 12, 13, 14)}


async def test_a_run_that_something_refers_to_since_it_was_looked_at_stays(store: Store) -> None:
    """Also when what refers to it came while others were removed."""
    for number in (1, 2, 3):
        await store.append([run_append(run_of(number))])
    workspace = local(store)
    await say(workspace, e.NotebookCreated(name="sales"))
    plan = await workspace.plan_prune("30d")
    await say(workspace, e.CommentAdded(comment=CommentId("c"), text=f"see {run_id(2)}"))
    await say(workspace, e.CommentAdded(comment=CommentId("d"), text="mine"), log=run_id(3))
    steps = [step async for step in prune_runs.prune(store, identities.owner(), plan)]
    assert [step.pruned.log for step in steps if step.pruned is not None] == [run_id(1)]
    kept = {step.kept.log: step.kept.why for step in steps if step.kept is not None}
    assert "refers to log" in kept[run_id(2)]
    assert "has grown" in kept[run_id(3)]


async def test_what_refers_to_a_run_is_found_also_where_much_was_recorded_meanwhile(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it is looked at once for all that wait, and not again for each of them."""
    monkeypatch.setattr(prune_runs, "LOOKED_AT_ONCE", 0)
    for number in (1, 2, 3):
        await store.append([run_append(run_of(number))])
    workspace = local(store)
    await say(workspace, e.NotebookCreated(name="sales"))
    plan = await workspace.plan_prune("30d")
    await say(workspace, e.CommentAdded(comment=CommentId("c"), text=f"see {run_id(3)}"))
    steps = [step async for step in prune_runs.prune(store, identities.owner(), plan)]
    assert [step.pruned.log for step in steps if step.pruned is not None] == [run_id(1), run_id(2)]
    assert [step.kept.log for step in steps if step.kept is not None] == [run_id(3)]


async def test_a_pruned_run_is_told_of_and_its_ids_stay_used(store: Store, open_store: OpenStore) -> None:
    """Rule 4. Another process that had it in memory finds it gone, too; a client cannot say that a log was pruned."""
    await store.append([run_append(run_of(1)), run_append(run_of(2))])
    workspace, other = local(store), local(await open_store())
    first = (await other.entries(run_id(1)))[0]
    assert (await other.read(run_id(1))).run is not None
    head = (await workspace.find(run_id(1))).head
    assert run_id(1) in await pruned(workspace.prune("30d"))
    for each in (workspace, other):
        for asking in (each.read(run_id(1)), each.find(run_id(1))):
            with pytest.raises(NotFound, match="was pruned at"):
                await asking
        again = e.Draft(id=first.id, event=e.NotebookCreated(name="again"))
        with pytest.raises(Refused, match="pruned"):
            await each.submit(LogId("anew"), [again])
        with pytest.raises(Refused, match="pruned"):
            await say(each, e.RunRequested(name="again", source=e.RunSource(path="x.py")), log=run_id(1))
        with pytest.raises(Refused, match="quire runs prune"):
            await say(each, e.LogPruned(log=LOG, seq=1, hash="0" * 64), log=WORKSPACE_LOG)
        verified = [each.flaw async for each in other.verify()]
        assert verified and not any(verified)
    told = [entry.event for entry in await other.entries(WORKSPACE_LOG, types=("log_pruned",))]
    assert told[0] == e.LogPruned(log=run_id(1), seq=head.seq, hash=head.hash, name="run 1", status="success")


class Hours:
    """A clock for blobs."""

    def __init__(self) -> None:
        self.hour = 0

    def now(self) -> float:
        return self.hour * 3600.0


async def test_blobs_go_that_nothing_refers_to_and_that_nobody_put_lately(store: Store) -> None:
    """Of a pruned run's alone; not those that a notebook shows, too, that were just put, or put again."""
    hours = Hours()
    blobs = MemoryBlobs(hours.now)
    workspace = local(store, blobs)
    refs = {name: await workspace.put_blob(name.encode() * 1000) for name in ("run", "both", "again", "nobody")}
    await store.append([run_append(run_of(1))])
    await say(workspace, e.NotebookCreated(name="sales"), e.CellAdded(cell=A, after=None, source="x"))
    for log, name in ((run_id(1), "run"), (run_id(1), "both"), (run_id(1), "again"), (LOG, "both")):
        shown = e.Display(blobs={"image/png": refs[name]})
        await _show(
            store,
            log,
            imported(ExecutionId(f"{log}-{name}"), A if log == LOG else CellId("c1"), shown),
        )
    plan = await workspace.plan_prune("30d")
    assert (plan.blobs, plan.blob_bytes) == (2, 8000)
    hours.hour = 47
    await workspace.put_blob(b"again" * 1000)
    late = await workspace.put_blob(b"late")
    hours.hour = 49
    assert await pruned(workspace.prune("30d")) == [run_id(1)]
    left = {hash async for hash in blobs.list()}
    assert left == {refs["both"].hash, refs["again"].hash, late.hash}
    hours.hour = 200
    assert await pruned(workspace.prune("30d")) == []
    assert {hash async for hash in blobs.list()} == {refs["both"].hash}


def imported(execution: ExecutionId, cell: CellId, shown: e.Display) -> e.OutputsImported:
    return e.OutputsImported(execution=execution, cell=cell, source_hash=source_hash("x"), outputs=(shown,))


async def _show(store: Store, log: LogId, event: e.KnownEvent) -> None:
    """Record that a cell shows something, as a runtime of long ago did."""
    info = await store.info(log)
    assert info is not None
    payload = codec.encode(event)
    record = UnsealedRecord(
        new_id(), None, None, info.head.at, ADA, None, codec.type_of(event), payload, digest(payload)
    )
    await store.append([Append(log=log, kind=info.kind, expected=info.head.seq, records=(record,))])


@at_both_doors
async def test_pruning_needs_admin_here_and_over_the_network(place: Place, clock: Clock) -> None:
    """Rule 3: who does not own a run, or may not administer the workspace, removes nothing of it."""
    owner = await place.owner(clock.now)
    store = owner._shared.store  # pyright: ignore[reportPrivateUsage] - runs of long ago are put in directly
    await say(owner, e.NotebookCreated(name="closed"))
    await store.append([run_append(run_of(1)), run_append(RunLog(log=run_id(2), minute=0, notebook=LOG, path=None))])
    await give(owner, BOB, "owner")
    ada = await bearer(owner, ADA, "read", "edit", "run", "admin")
    eve = await bearer(owner, ADA, "read", "edit", "run")
    with pytest.raises(Refused, match="admin"):
        await eve.plan_prune("30d")
    with pytest.raises(Refused, match="admin"):
        await pruned(eve.prune("30d"))
    await give(owner, ADA, "owner", None)
    await give(owner, ADA, "viewer", LOG)
    assert going(await ada.plan_prune("30d")) == {run_id(1)}
    assert await pruned(ada.prune("30d", only=[])) == []
    assert await pruned(ada.prune("30d")) == [run_id(1)]
    assert {info.log for info in await owner.logs("run")} == {run_id(2)}
