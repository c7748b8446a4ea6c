"""An execution under way, as the next runtime finds it: what it takes to go on with it under the same ids.

A runtime that is killed has submitted some of what its cell showed, and nobody knows how much.
The next one goes through the same messages, flushes where the first one did, and so makes the
same drafts with the same ids; those that the log has are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from hmac import digest
from itertools import count
from typing import TypeAlias

import msgspec

from ...core import events as e
from ...core.events import Draft, KnownEvent
from ...core.ids import EventId, ExecutionId, LogId, ulid
from ...outputs.recorder import Outlet
from ...outputs.streams import Blob
from ...workspace.clock import new_id
from ...workspace.protocol import Workspace
from ..kernel_protocol import Kernel

_SHOWN = (
    "execution_started",
    "stream_appended",
    "output_added",
    "display_updated",
    "outputs_cleared",
    "result_recorded",
    "execution_finished",
)


class FlushNote(msgspec.Struct, frozen=True, tag="flushed"):
    """A note: what was heard up to this message was on its way into the log."""

    after: int


class StopNote(msgspec.Struct, frozen=True, tag="stopped"):
    """A note: the cell was interrupted, and why."""

    why: str


Note: TypeAlias = FlushNote | StopNote


class ExecutionNote(msgspec.Struct, frozen=True):
    """What the relay is told of an execution when it begins."""

    request: str
    """The id of its execute_request."""
    started: msgspec.Raw
    """The event, as JSON."""


class Flight(msgspec.Struct, frozen=True, kw_only=True):
    """An execution whose runtime is gone."""

    request: str
    """The id of its execute_request."""
    started: e.ExecutionStarted
    notes: tuple[Note, ...] = ()
    answered: int = 0
    """How many of its questions were answered."""
    last: int = 0
    """The number of the last message that is said again; what comes later is new."""
    is_whole: bool = True
    """Whether all of its messages are there."""

    @property
    def stopped(self) -> str | None:
        """Why it was interrupted, if it was."""
        return next((note.why for note in self.notes if isinstance(note, StopNote)), None)

    @property
    def flushes(self) -> list[int]:
        """After which messages something was flushed."""
        return [note.after for note in self.notes if isinstance(note, FlushNote)]


class DraftIds:
    """Ids for what is said of one claimed execution: whoever says the same again says it under the same ids.

    The key of the kernel is in them: nobody can take them first who does not know it.
    """

    def __init__(self, kernel: Kernel, execution: ExecutionId, epoch: int) -> None:
        self._key = str(kernel.connection.get("key", "")).encode()
        self._prefix = f"{execution} {epoch}"
        self._results = count()

    def __call__(self, event: KnownEvent) -> EventId:
        """The id of the draft for an event."""
        match event:
            case e.ExecutionStarted():
                return self._id("started")
            case e.ExecutionFinished():
                return self._id("finished")
            case e.ResultRecorded():
                return self._id(f"result {next(self._results)}")
            case e.StreamAppended() | e.OutputAdded() | e.DisplayUpdated() | e.OutputsCleared():
                return self._id(f"chunk {event.chunk}")
            case _:
                return new_id()  # not said again

    def _id(self, what: str) -> EventId:
        made = digest(self._key or b"-", f"{self._prefix} {what}".encode(), sha256)
        return EventId(ulid(int.from_bytes(made[:6], "big"), lambda size: made[6 : 6 + size]))


class Once:
    """An outlet that leaves out what the log has already."""

    def __init__(self, outlet: Outlet, recorded: Iterable[EventId]) -> None:
        self._outlet, self._recorded = outlet, frozenset(recorded)

    async def submit(self, drafts: Sequence[Draft]) -> None:
        """Record those that are new."""
        if new := [draft for draft in drafts if draft.id not in self._recorded]:
            await self._outlet.submit(new)

    async def keep(self, blob: Blob) -> None:
        """Keep a blob; one that is there is not kept twice."""
        await self._outlet.keep(blob)


async def recorded(workspace: Workspace, log: LogId, execution: ExecutionId) -> set[EventId]:
    """The ids of all that the log says about an execution that is under way."""
    known = (await workspace.read(log)).execution(execution)
    if known is None or known.started_seq is None:
        return set()
    found: set[EventId] = set()
    since = known.started_seq - 1
    while page := await workspace.entries(log, since, types=_SHOWN):
        found.update(entry.id for entry in page if getattr(entry.event, "execution", None) == execution)
        since = page[-1].seq
    return found
