"""A notebook with a real kernel, for verbs: a folder, its store, and a runtime beside."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from quire.actors.runtime.live_runtime import serve
from quire.connection import connect_store
from quire.core import events as e
from quire.core.events import Draft, KnownEvent
from quire.core.ids import CellId, LogId
from quire.core.notebook.notebook import Notebook
from quire.runs.host.host_settings import serving_of
from quire.verbs.answers.answer import Here
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.identity.identities import Identity
from quire.workspace.local import LocalWorkspace


class Served:
    """A notebook in a folder."""

    def __init__(self, owner: LocalWorkspace, folder: Path) -> None:
        self.owner, self.folder = owner, folder
        self.log = LogId(new_id())
        self.here = Here(workspace=owner, folder=folder)

    def by(self, identity: Identity) -> Here:
        """The same for somebody else."""
        return Here(workspace=self.owner.acting_as(identity), folder=self.folder)

    async def say(self, *events: KnownEvent) -> None:
        """Record these."""
        await self.owner.submit(self.log, [Draft(id=new_id(), event=event) for event in events])

    async def begin(self, name: str, **sources: str) -> None:
        """Make the notebook with cells of these ids."""
        await self.say(e.NotebookCreated(name=name))
        await self.add(**sources)

    async def add(self, **sources: str) -> None:
        """Add cells at the end."""
        now = await self.owner.read(self.log)
        last = next((cell.id for cell in reversed(list(now.live_cells))), None)
        for id, source in sources.items():
            await self.say(e.CellAdded(cell=CellId(id), after=last, source=source, name=f"{id}-cell"))
            last = CellId(id)

    async def read(self) -> Notebook:
        """The notebook as it is."""
        return await self.owner.read(self.log)


@asynccontextmanager
async def served(folder: Path, name: str, *, with_kernel: bool = True) -> AsyncGenerator[Served]:
    """A notebook, and a runtime that serves it."""
    owner = await connect_store(folder, identities.owner())
    made = Served(owner, folder)
    await made.begin(name)
    over = asyncio.Event()
    tasks: list[asyncio.Task[None]] = []
    if with_kernel:
        variables = {each: os.environ[each] for each in ("PATH", "HOME") if each in os.environ}
        serving = serving_of(made.log, await made.read(), folder, variables, print, name="local", spools=folder / "s")
        tasks.append(asyncio.create_task(serve(owner.acting_as(identities.runtime("local")), serving, over)))
    try:
        yield made
    finally:
        over.set()
        async with asyncio.timeout(240):
            await asyncio.gather(*tasks)
        await owner.close()
