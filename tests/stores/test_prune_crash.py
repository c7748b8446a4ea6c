"""`kill -9` while runs are pruned: each is whole or gone, and no blob is missing that anything refers to."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from quire.core import codec
from quire.core import events as e
from quire.core.chain import digest
from quire.core.event_fields import blob_refs
from quire.core.ids import WORKSPACE_LOG, CellId, ExecutionId, LogId
from quire.core.text import source_hash
from quire.stores.blobs.folder_blobs import FolderBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.stores.store import Append, LogSummary, UnsealedRecord
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

from ..run_logs import RunLog, run_append

RUNS, KILLS = 40, 6
NOTEBOOK = LogId("n1")


def shows(cell: str, ref: e.BlobRef) -> e.OutputsImported:
    shown = e.Display(blobs={"image/png": ref})
    x = ExecutionId(f"x{ref.hash[:8]}")
    return e.OutputsImported(execution=x, cell=CellId(cell), source_hash=source_hash(""), outputs=(shown,))


def sealed(event: e.KnownEvent, at: str) -> UnsealedRecord:
    payload = codec.encode(event)
    type = codec.type_of(event)
    return UnsealedRecord(new_id(), None, None, at, identities.owner().actor, None, type, payload, digest(payload))


async def fill(folder: Path) -> None:
    """Runs of long ago, each with a blob of its own and one that a notebook shows, too."""
    store, blobs = SqliteStore(folder / "quire.db"), FolderBlobs(folder / "blobs")
    shared = await blobs.put(b"shared" * 1000)
    begun = [e.NotebookCreated(name="sales"), e.CellAdded(cell=CellId("c1"), after=None), shows("c1", shared)]
    records = tuple(sealed(event, "2026-01-01T00:00:00.000000Z") for event in begun)
    await store.append(
        [Append(log=NOTEBOOK, kind="notebook", expected=0, records=records, about=LogSummary(name="sales"))]
    )
    for number in range(RUNS):
        run = run_append(RunLog(log=LogId(new_id()), minute=number))
        (recorded,) = await store.append([run])
        last = recorded.records[-1]
        more = tuple(
            sealed(shows("c1", ref), last.at) for ref in (shared, await blobs.put(f"{number}".encode() * 2000))
        )
        await store.append([Append(log=run.log, kind="run", expected=last.seq, records=more)])
    await store.close()


async def look(folder: Path) -> tuple[set[LogId], set[LogId]]:
    """Which runs there are and which are gone; everything that is there verifies, and has its blobs."""
    store, blobs = SqliteStore(folder / "quire.db"), FolderBlobs(folder / "blobs")
    workspace = LocalWorkspace(store, blobs, identities.owner())
    verified = [each async for each in workspace.verify()]
    assert [each.flaw for each in verified if each.flaw is not None] == []
    for each in verified:
        for entry in await workspace.entries(each.log):
            for ref in blob_refs(entry.event):
                assert await blobs.size(ref.hash) == ref.size
    told = {
        entry.event.log: (entry.event.seq, entry.event.hash)
        for entry in await workspace.entries(WORKSPACE_LOG, types=("log_pruned",))
        if isinstance(entry.event, e.LogPruned)
    }
    gone = {each.log: (each.head.seq, each.head.hash) for each in await store.pruned()}
    assert told == gone
    there = {each.log for each in verified if each.kind == "run"}
    assert not there & gone.keys()
    await workspace.close()
    return there, set(gone)


def start(folder: Path) -> subprocess.Popen[str]:
    """A process that prunes until it is done."""
    command = [sys.executable, "-m", "tests.stores.prune_runs", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])


@pytest.mark.slow
async def test_a_run_is_whole_or_pruned_whenever_the_process_is_killed(tmp_path: Path) -> None:
    """Rules 4 and 11."""
    moment = random.Random(7)
    await fill(tmp_path)
    acknowledged: set[LogId] = set()
    there, gone = await look(tmp_path)
    assert (len(there), gone) == (RUNS, set())
    for _ in range(KILLS):
        process = start(tmp_path)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        for _ in range(moment.randint(0, 6)):
            acknowledged.add(LogId(process.stdout.readline().strip()))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        there, gone = await look(tmp_path)
        assert len(there) + len(gone) == RUNS
        assert acknowledged <= gone
    process = start(tmp_path)
    process.communicate()
    assert process.returncode == 0
    assert await look(tmp_path) == (set(), {*acknowledged, *gone, *there})
    assert len([hash async for hash in FolderBlobs(tmp_path / "blobs").list()]) == 1
