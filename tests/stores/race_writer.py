"""A process that edits one cell of one notebook together with others, and prints what was acknowledged."""

from __future__ import annotations

import asyncio
import os
import sys

from quire.core import events as e
from quire.core.events import Draft
from quire.core.ids import CellId, EventId, LogId
from quire.core.text import Splice

from ..store_location import workspace_at

LOG, CELL = LogId("shared"), CellId("cell")


async def main(place: str, name: str, count: int) -> None:
    workspace = await workspace_at(place)
    begin = [
        Draft(id=EventId("created"), event=e.NotebookCreated(name="shared")),
        Draft(id=EventId("added"), event=e.CellAdded(cell=CELL, after=None)),
    ]
    await workspace.submit(LOG, begin)
    for number in range(count):
        edit = e.SourceEdited(cell=CELL, base=2, edit=(Splice(0, 0, f"[{name}.{number}]"),))
        (entry,) = await workspace.submit(LOG, [Draft(id=EventId(f"{name}-{number}"), event=edit)])
        os.write(1, f"{entry.log} {entry.seq} {entry.id}\n".encode())
    text = (await workspace.read(LOG)).cells[CELL].source
    assert all(f"[{name}.{number}]" in text for number in range(count))
    await workspace.close()


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
