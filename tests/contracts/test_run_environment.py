"""What a run found around it, on every store: who may say so and when, and how SQL has it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from quire.core import events as e
from quire.core.errors import Refused
from quire.core.events import BlobRef, Draft, GitRevision, InputFile, RunSource
from quire.core.ids import CellId, LogId, RuntimeId
from quire.runs.records.recorded_environment import packages_of
from quire.runs.records.run_comparison import compare
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.store import Store
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

JOINED = """SELECT r.run, r.revision, r.dirty, p.version FROM runs r
    JOIN packages p ON p.environment = r.packages WHERE p.name = 'pandas' ORDER BY p.version"""


class Runs:
    """Runs that were written down without a kernel."""

    def __init__(self, store: Store) -> None:
        self.owner = LocalWorkspace(store, MemoryBlobs(), identities.owner())
        self.runtime = self.owner.acting_as(identities.runtime("here"))

    async def submit(self, who: LocalWorkspace, log: LogId, *events: e.KnownEvent) -> Any:
        return await who.submit(log, [Draft(id=new_id(), event=event) for event in events])

    async def began(self) -> tuple[LogId, int]:
        log = LogId(new_id())
        asked = e.RunRequested(name="sales", source=RunSource(path="sales.py"), runtime="runtime:here")
        cell = e.CellAdded(cell=CellId("a"), after=None, source="1")
        await self.submit(self.owner, log, asked, cell)
        (claim,) = await self.submit(self.runtime, log, e.RunClaimed(runtime=RuntimeId("runtime:here")))
        await self.submit(self.runtime, log, e.RunStarted(epoch=claim.event.epoch, environment={"python": "3.12.1"}))
        return log, claim.event.epoch

    async def found(self, versions: dict[str, str], digest: str) -> LogId:
        log, epoch = await self.began()
        packages = await self.runtime.put_blob(json.dumps(versions, sort_keys=True).encode(), "application/json")
        said = e.EnvironmentRecorded(
            epoch=epoch,
            packages=packages,
            revision=GitRevision(commit="c" * 40, dirty=True),
            inputs=(InputFile(path="data/a.csv", digest=digest, size=5),),
        )
        await self.submit(self.runtime, log, said, e.RunFinished(epoch=epoch, status="success"))
        return log


@pytest.fixture
def runs(store: Store) -> Runs:
    return Runs(store)


async def test_sql_joins_runs_with_their_packages_and_files(runs: Runs) -> None:
    old = await runs.found({"numpy": "2.0", "pandas": "2.2"}, "1" * 64)
    assert [tuple(row) for row in (await runs.owner.query(JOINED)).rows] == [(old, "c" * 40, True, "2.2")]
    new = await runs.found({"numpy": "2.0", "pandas": "2.3"}, "2" * 64)
    rows = (await runs.owner.query(JOINED)).rows
    assert [(row[0], row[3]) for row in rows] == [(old, "2.2"), (new, "2.3")]
    files = (await runs.owner.query("SELECT log, path, digest FROM inputs ORDER BY digest")).rows
    assert [tuple(row) for row in files] == [(old, "data/a.csv", "1" * 64), (new, "data/a.csv", "2" * 64)]
    assert [found.flaw async for found in runs.owner.verify()] == [None, None]


async def test_two_versions_of_a_package_are_not_the_same_environment(runs: Runs) -> None:
    logs = [await runs.found({"numpy": "2.0", "pandas": version}, "1" * 64) for version in ("2.2", "2.3")]
    old, new = [(log, await runs.owner.read(log)) for log in logs]
    packages = await packages_of(runs.owner, old[1]), await packages_of(runs.owner, new[1])
    found = compare(old, new, packages).comparison
    assert found.same
    assert found.packages is not None
    assert [(name, pair.a, pair.b) for name, pair in found.packages.items()] == [("pandas", "2.2", "2.3")]
    assert [pair.same for pair in found.inputs.values()] == [True]
    assert compare(old, new).comparison.packages is None


async def test_a_blob_that_is_not_there_or_says_something_else_hides_no_other(runs: Runs) -> None:
    """Whoever serves may name any blob of theirs."""
    good = await runs.found({"pandas": "2.2"}, "1" * 64)
    log, epoch = await runs.began()
    odd = await runs.runtime.put_blob(b"[1", "application/json")
    await runs.submit(runs.runtime, log, e.EnvironmentRecorded(epoch=epoch, packages=odd))
    assert [row[0] for row in (await runs.owner.query(JOINED)).rows] == [good]
    assert await packages_of(runs.owner, await runs.owner.read(log)) == {}
    gone = BlobRef(hash="d" * 64, size=5)
    with pytest.raises(Refused):
        await runs.submit(runs.owner, log, e.EnvironmentRecorded(epoch=epoch, packages=gone))


async def test_only_its_runtime_says_it_and_only_while_it_runs(runs: Runs) -> None:
    log, epoch = await runs.began()
    with pytest.raises(Refused):
        await runs.submit(runs.owner, log, e.EnvironmentRecorded(epoch=epoch))
    await runs.submit(runs.runtime, log, e.EnvironmentRecorded(epoch=epoch), e.EnvironmentRecorded(epoch=epoch))
    await runs.submit(runs.runtime, log, e.RunFinished(epoch=epoch, status="success"))
    with pytest.raises(Refused):
        await runs.submit(runs.runtime, log, e.EnvironmentRecorded(epoch=epoch))
