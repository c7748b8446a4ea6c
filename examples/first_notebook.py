"""Make a notebook, change it, and leave the rest to `quire show` and `quire log`."""

import asyncio

import quire
from quire.core.events import CellAdded, Draft, NotebookCreated, SourceEdited
from quire.core.ids import CellId, LogId
from quire.core.text import Splice
from quire.workspace.clock import new_id


async def main() -> None:
    """Create, add, edit."""
    workspace = await quire.connect()  # the nearest .quire/, or a new one
    log, cell = LogId(new_id()), CellId("greet")

    first = [NotebookCreated(name="hello"), CellAdded(cell=cell, after=None, source="print('hello')")]
    entries = await workspace.submit(log, [Draft(id=new_id(), event=event) for event in first])

    # Made against the log as it was at that number: whatever others do meanwhile, it is rebased.
    edit = SourceEdited(cell=cell, base=entries[-1].seq, edit=(Splice(7, 5, "hello, choir"),))
    await workspace.submit(log, [Draft(id=new_id(), event=edit)])
    await workspace.close()


asyncio.run(main())
