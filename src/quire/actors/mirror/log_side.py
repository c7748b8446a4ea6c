"""The log's side of one notebook: what a mirror reads there, how it records a merge, and what it tells a person of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ...core import events as e
from ...core.errors import BadInput, NotFound
from ...core.events import BlobRef, ConflictRaised, Draft, Entry, KnownEvent
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


class Voice:
    """Tells a person of one notebook and its file: each thing once."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told = ""
        self.left: set[Path] = set()
        """What a person was told of that stands beside the file."""

    def say(self, message: str) -> None:
        """Say something once, not with every look at what has not changed."""
        if message and message != self._told:
            self._tell(message)
        self._told = message

    def say_conflicts(self, entries: Iterable[Entry], path: str) -> None:
        """Say which conflicts were raised, and how they end."""
        for conflict in (entry.event for entry in entries):
            if isinstance(conflict, ConflictRaised):
                told = f"{path} and the log changed cell {conflict.cell} in the same lines. The log's text stands"
                self._tell(
                    f"{told}; conflict {conflict.conflict} keeps both: `quire conflicts show {conflict.conflict}`."
                )

    def say_left(self, file: Path, path: str) -> None:
        """Say that something is nowhere but beside the file."""
        if file not in self.left:
            self.left.add(file)
            self._tell(f"{file} was saved while {path} was written. Compare the two, then remove it.")
