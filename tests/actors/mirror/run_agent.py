"""An agent as a process of its own, with a token: for each line FOLDER LOG SECRET NUMBER WORD it edits a cell, and says so."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from quire.core import events as e
from quire.core.ids import LogId
from quire.core.text import Splice
from quire.workspace.clock import new_id

from .mirror_desk import open_workspace


async def edit(folder: Path, log: LogId, secret: str, number: int, word: str) -> None:
    """Write a line at the beginning of a cell, as the bearer of the token."""
    owner = open_workspace(folder)
    agent = await owner.bearer(secret)
    notebook = await agent.read(log)
    cells = list(notebook.live_cells)
    change = e.SourceEdited(
        cell=cells[number % len(cells)].id, base=notebook.seq, edit=(Splice(0, 0, f"{word} = {number}\n"),)
    )
    await agent.submit(log, [e.Draft(id=new_id(), event=change)])
    await owner.close()


for line in sys.stdin:
    folder, log, secret, number, word = line.split()
    asyncio.run(edit(Path(folder), LogId(log), secret, int(number), word))
    sys.stdout.write("done\n")
    sys.stdout.flush()
