"""The log's side of one notebook: what a mirror reads there, and how it records a merge."""

from __future__ import annotations

from collections.abc import Sequence

from ...core import events as e
from ...core.errors import BadInput, NotFound
from ...core.events import BlobRef, Draft, KnownEvent
from ...core.ids import EventId, LogId
from ...core.notebook.notebook import Notebook
from ...core.sheet.sheet import Sheet
from ...workspace.clock import new_id
from ...workspace.protocol import Workspace
from .merge_base import whole


class Book:
    """One notebook of a workspace."""

    def __init__(self, workspace: Workspace, log: LogId) -> None:
        self.workspace, self.log = workspace, log

    async def now(self) -> Notebook:
        """The notebook as it is."""
        return await self.workspace.read(self.log)

    async def sheet(self, notebook: Notebook, path: str) -> Sheet:
        """The notebook as a file at `path` has it."""
        return await whole(self.workspace, self.log, notebook, path)

    async def state(self, seq: int, path: str) -> Sheet | None:
        """The same as it was at a number; None when the log has no such number."""
        try:
            return await self.sheet(await self.workspace.read(self.log, seq), path)
        except (BadInput, NotFound):
            return None

    async def id_at(self, seq: int) -> EventId:
        """The id of the event of that number."""
        (entry,) = await self.workspace.entries(self.log, seq - 1, seq)
        return entry.id

    async def check(self) -> None:
        """Refuse to go on where whoever bound the notebook may no longer edit it, or another one holds the file."""
        await self.workspace.as_mirror(self.log)

    async def keep(self, text: str) -> BlobRef:
        """Keep a version of the file that the log will not be able to tell."""
        return await self.put_blob(text.encode("utf-8", "surrogatepass"), "text/plain")

    async def put_blob(self, data: bytes, media: str) -> BlobRef:
        """Keep large bytes in the name of who records them: until an event refers to them, nobody else may."""
        return await (await self.workspace.as_mirror(self.log)).put_blob(data, media)

    async def record(self, events: Sequence[KnownEvent], cause: EventId | None) -> list[e.Entry]:
        """Record what belongs together. The cause of a merge is the last event that the file knew; it is that of the rest."""
        merge: EventId | None = None
        drafts: list[Draft] = []
        for event in events:
            if isinstance(event, e.FileMerged):
                merge = new_id()
                drafts.append(Draft(id=merge, event=event, cause=cause))
            else:
                drafts.append(Draft(id=new_id(), event=event, cause=merge))
        return await (await self.workspace.as_mirror(self.log)).submit(self.log, drafts)
