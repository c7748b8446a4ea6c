"""A run as it was when it ended, whatever was done in its notebook since.

A run that is over is a notebook like any other: people and agents change its cells and execute
them. What the run came to stays what it was, and is read at the number with which it ended.
"""

from __future__ import annotations

from ...core.ids import LogId
from ...core.notebook.notebook import Notebook
from ...workspace.protocol import Workspace


async def as_left(workspace: Workspace, log: LogId, now: Notebook | None = None) -> Notebook:
    """Return the notebook as the run left it; one that goes on, or that is no run, as it is.

    `now` is the notebook as it is, for whoever has read it.
    """
    now = now if now is not None else await workspace.read(log)
    ended = now.run.finished_seq if now.run is not None else None
    return now if ended in (None, now.seq) else await workspace.read(log, ended)
