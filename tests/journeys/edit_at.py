"""Somebody who edits a notebook, again and again, without waiting for the others.

    python edit_at.py WHERE LOG SEED EDITS human|agent

People type at a place in a text as they saw it a while ago; agents replace a whole text that they read.
Prints the ids of all that was acknowledged, and how much was refused.
"""

from __future__ import annotations

import asyncio
import json
import sys
from random import Random

from quire.connection import connect
from quire.core import events as e
from quire.core.errors import QuireError
from quire.core.events import Draft, NotebookEvent
from quire.core.ids import CellId, LogId
from quire.core.notebook.notebook import Cell, Notebook
from quire.core.text import Splice, source_hash
from quire.workspace.clock import new_id

WORDS = ["x", "y = 1\n", "🦊", "print(x)\n", "é", "\n"]


def moved(seen: Notebook, random: Random, kind: str) -> NotebookEvent:
    """What somebody does next, who sees the notebook like this."""
    cells = list(seen.live_cells)
    if not cells:  # all were removed at the same time, each by somebody else
        return e.CellAdded(cell=CellId(new_id()), after=None, source="again")
    cell = random.choice(cells)
    other = random.choice([None, *(each.id for each in cells if each.id != cell.id)])
    match random.randrange(10):
        case 0:
            return e.CellAdded(cell=CellId(new_id()), after=other, source=random.choice(WORDS))
        case 1:
            return e.CellMoved(cell=cell.id, after=other)
        case 2:
            return e.CellTagged(cell=cell.id, tags=tuple(random.sample(["a", "b", "c"], random.randrange(3))))
        case 3 if len(cells) > 3:
            return e.CellRemoved(cell=cell.id)
        case _:
            return _written(seen, cell, random, kind)


def _written(seen: Notebook, cell: Cell, random: Random, kind: str) -> NotebookEvent:
    if kind == "agent":
        text = cell.source + random.choice(WORDS)
        return e.SourceEdited(cell=cell.id, base_hash=source_hash(cell.source), text=text)
    at = random.randint(0, len(cell.source))
    splice = Splice(at, random.randint(0, min(2, len(cell.source) - at)), random.choice(WORDS))
    return e.SourceEdited(cell=cell.id, base=seen.seq, edit=(splice,))


async def main(where: str, log: LogId, seed: int, edits: int, kind: str) -> None:
    random, accepted, refused = Random(seed), list[str](), 0
    workspace = await connect(where)
    try:
        seen = await workspace.read(log)
        for _ in range(edits):
            if random.random() < 0.6:  # else it acts on what it saw before
                seen = await workspace.read(log)
            draft = Draft(id=new_id(), event=moved(seen, random, kind))
            try:
                await workspace.submit(log, [draft])
                accepted.append(draft.id)
            except QuireError:
                refused += 1
    finally:
        await workspace.close()
    sys.stdout.write(json.dumps({"accepted": accepted, "refused": refused}))


if __name__ == "__main__":
    place, name, number, count, actor = sys.argv[1:]
    asyncio.run(main(place, LogId(name), int(number), int(count), actor))
