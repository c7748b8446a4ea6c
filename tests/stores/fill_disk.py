"""Run on a small disk: write until it is full, see that nothing is damaged, make room, go on."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from quire.core.errors import Unavailable
from quire.core.events import CommentAdded, Draft, KnownEvent, NotebookCreated
from quire.core.ids import CommentId, LogId
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from ..store_location import workspace_at

LOG = LogId("n1")


async def say(workspace: LocalWorkspace, event: KnownEvent) -> int:
    (entry,) = await workspace.submit(LOG, [Draft(id=new_id(), event=event)])
    return entry.seq


async def fill(workspace: LocalWorkspace) -> int:
    """Write until the disk is full; return the last number that was acknowledged."""
    last = 1
    while True:
        try:
            last = await say(workspace, CommentAdded(comment=CommentId(new_id()), text="x" * 2000))
        except Unavailable as full:
            assert "disk is full" in str(full), full
            return last


async def main(disk: Path) -> None:
    (disk / "something else").write_bytes(b"x" * 500_000)
    workspace = await workspace_at(f"sqlite:{disk / 'quire.db'}")
    await say(workspace, NotebookCreated(name="full"))
    last = await fill(workspace)
    assert last > 10
    notebook = await workspace.read(LOG)
    assert notebook.seq == last, (notebook.seq, last)
    (disk / "something else").unlink()
    assert await say(workspace, CommentAdded(comment=CommentId("after"), text="there is room again")) == last + 1
    await workspace.close()
    again = await workspace_at(f"sqlite:{disk / 'quire.db'}")
    assert (await again.read(LOG)).seq == last + 1
    assert [each.flaw async for each in again.verify()] == [None]
    await again.close()
    sys.stdout.write("went on\n")


asyncio.run(main(Path(sys.argv[1])))
