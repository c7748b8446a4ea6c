"""A process that writes until it is killed: four tasks, a line on stdout for each acknowledged event."""

from __future__ import annotations

import asyncio
import os
import sys
from itertools import count

from quire.core.errors import Conflict, Unavailable
from quire.core.events import CommentAdded, Draft, KnownEvent, NotebookCreated
from quire.core.ids import CommentId, EventId, LogId
from quire.workspace.local import LocalWorkspace

from ..store_location import workspace_at


async def write(workspace: LocalWorkspace, name: str, log: LogId) -> None:
    for number in count():
        id = EventId(f"{name}-{number}")
        event: KnownEvent = CommentAdded(comment=CommentId(id), text="x" * (number % 300))
        await send(workspace, log, Draft(id=id, event=event))


async def send(workspace: LocalWorkspace, log: LogId, draft: Draft) -> None:
    """Send a draft until it is acknowledged, as a client does that lost its server."""
    while True:
        try:
            (entry,) = await workspace.submit(log, [draft])
            os.write(1, f"{entry.log} {entry.seq} {entry.id}\n".encode())
            return
        except (Conflict, Unavailable):
            await asyncio.sleep(0.01)  # somebody was first for too long, or the database restarts


async def main(place: str, name: str) -> None:
    workspace = await workspace_at(place)
    logs = [LogId("shared"), LogId("shared"), LogId("shared"), LogId(f"own-{name}")]
    for log in dict.fromkeys(logs):
        created = Draft(id=EventId(f"created-{log}"), key=f"created {log}", event=NotebookCreated(name=log))
        await send(workspace, log, created)
    await asyncio.gather(*(write(workspace, f"{name}-{number}", log) for number, log in enumerate(logs)))


asyncio.run(main(sys.argv[1], sys.argv[2]))
