"""A workspace with files, and runs of them that were written down without a kernel; for tests of what is done with a run."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from hashlib import sha256
from pathlib import Path
from typing import Any

from quire.actors.mirror import mirror
from quire.core import events as e
from quire.core.events import Draft, KnownEvent, RunSource
from quire.core.ids import ActorId, CellId, ExecutionId, LogId, RuntimeId
from quire.core.notebook.notebook import Notebook
from quire.core.sheet.conversion import added
from quire.core.text import source_hash
from quire.formats import registry
from quire.formats.papermill import TAG
from quire.runs.fix.fix_proposal import propose
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.stores.store import Store
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace
from quire.workspace.wire.bodies import RunProposed

SALES = "# %%\nx = 1\n\n# %% [markdown]\n# text\n\n# %%\nx / 0\n\n# %%\nprint(x)\n"
FIXED = SALES.replace("x / 0", "x / 2")


class Place:
    """A workspace with files, and runs of them."""

    def __init__(self, folder: Path, store: Store | None = None) -> None:
        self.folder = folder
        self.owner = LocalWorkspace(store or MemoryStore(), MemoryBlobs())
        self.runtime = self.owner.acting_as(identities.runtime("here"))
        system = identities.system()
        self.other = self.owner.acting_as(identities.Identity(actor=ActorId("human:bob"), scopes=system.scopes))

    async def submit(self, log: LogId, *events: KnownEvent, who: LocalWorkspace | None = None) -> Any:
        return await (who or self.owner).submit(log, [Draft(id=new_id(), event=event) for event in events])

    async def ran(self, text: str, path: str = "sales.py", parameters: str | None = None, **fields: Any) -> LogId:
        """A run of a text whose third cell failed; with `parameters`, that were put in."""
        log = LogId(new_id())
        cells = list(registry.read(text, path).cells)
        source = RunSource(path=path, digest=sha256(text.encode()).hexdigest())
        asked: dict[str, Any] = {"name": "sales", "source": source, "environment": {"cwd": str(self.folder)}}
        events: list[KnownEvent] = [e.RunRequested(runtime="runtime:here", **(asked | fields))]
        after: CellId | None = None
        for cell in cells:
            events.append(added(cell, after))
            after = cell.id
        if parameters is not None:
            events.append(e.CellAdded(cell=CellId("put-in"), after=None, source=parameters, tags=(TAG,)))
        await self.submit(log, *events)
        (claim,) = await self.submit(log, e.RunClaimed(runtime=RuntimeId("runtime:here")), who=self.runtime)
        epoch, failed = claim.event.epoch, cells[2]
        fault = e.Fault(ename="ZeroDivisionError", evalue="division by zero")
        execution, hash = ExecutionId(new_id()), source_hash(failed.source)
        await self.submit(
            log,
            e.RunStarted(epoch=epoch),
            e.ExecutionStarted(execution=execution, cell=failed.id, source_hash=hash, epoch=epoch),
            e.ResultRecorded(execution=execution, epoch=epoch, name="sold", kind="json", value=1),
            e.ExecutionFinished(execution=execution, epoch=epoch, status="error", fault=fault),
            e.RunFinished(epoch=epoch, status="error", failed_cell=failed.id, fault=fault),
            who=self.runtime,
        )
        return log

    async def edit(self, log: LogId, old: str, new: str) -> None:
        """Change the text of the cell that says `old`."""
        cell = self.cell(await self.owner.read(log), old)
        await self.submit(log, e.SourceEdited(cell=cell, text=new, base_hash=source_hash(old)))

    @staticmethod
    def cell(notebook: Notebook, source: str) -> CellId:
        (found,) = [cell.id for cell in notebook.live_cells if cell.source == source]
        return found

    async def propose(self, log: LogId, why: str = "") -> RunProposed:
        return await propose(self.owner, self.folder, log, why)

    async def accept(self, made: RunProposed) -> Notebook:
        await self.submit(made.log, e.ProposalAccepted(proposal=made.proposal), who=self.other)
        return await self.owner.read(made.log)

    @contextlib.asynccontextmanager
    async def mirroring(self) -> AsyncGenerator[None]:
        """A mirror that has looked at everything once."""
        ready, told = asyncio.Event(), list[str]()
        task = asyncio.ensure_future(mirror(self.owner, self.folder, tell=told.append, ready=ready.set))
        try:
            async with asyncio.timeout(120):
                await ready.wait()
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def sources(notebook: Notebook) -> list[str]:
    return [cell.source for cell in notebook.live_cells]


async def until(path: Path, text: str) -> None:
    async with asyncio.timeout(120):
        while path.read_text() != text:  # noqa: ASYNC110, ASYNC240 - the mirror has no event for it
            await asyncio.sleep(0.02)


async def run_again(place: Place, log: LogId, cell: CellId) -> None:
    execution, hash = ExecutionId(new_id()), source_hash((await place.owner.read(log)).cells[cell].source)
    asked = e.ExecutionRequested(execution=execution, cell=cell, source_hash=hash)
    await place.submit(log, asked)
    claim = e.ExecutionClaimed(execution=execution, runtime=RuntimeId("runtime:here"))
    (taken,) = await place.submit(log, claim, who=place.runtime)
    epoch = taken.event.epoch
    await place.submit(
        log,
        e.ExecutionStarted(execution=execution, cell=cell, source_hash=hash, epoch=epoch),
        e.ResultRecorded(execution=execution, epoch=epoch, name="sold", kind="json", value=2),
        e.ExecutionFinished(execution=execution, epoch=epoch, status="ok", count=2),
        who=place.runtime,
    )
