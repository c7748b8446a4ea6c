"""Keeping the files of logbooks as their logs are, whoever does the steps: a person in the browser, an agent, a verb."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..core.errors import QuireError
from ..core.ids import LogId
from ..core.notebook.logbook_record import logbook_of
from ..workspace.protocol import Workspace
from .export_file import write_export
from .template_files import find_root


async def follow_exports(workspace: Workspace, folder: Path, tell: Callable[[str], None] = lambda message: None) -> None:
    """Rewrite the file of each logbook that is done step by step whenever its log grows, until cancelled."""
    root, others, told = find_root(folder, folder), set[LogId](), set[LogId]()
    async for page in workspace.feed():
        for log in dict.fromkeys(growth.log for growth in page):
            if log in others:
                continue
            try:
                is_logbook = await _write(workspace, log, root)
            except (QuireError, OSError) as error:
                if log not in told:
                    told.add(log)
                    tell(f"The file of logbook {log} cannot be written: {error}")
                continue
            if not is_logbook:
                others.add(log)  # what a log is of is in its first event


async def _write(workspace: Workspace, log: LogId, root: Path) -> bool:
    """Write a logbook's file, and return whether the log is one that is done step by step."""
    now = await workspace.read(log)
    mark = logbook_of(now)
    if mark is None or now.run is not None or mark.mode != "steps":
        return False
    if (root / mark.template).is_file():  # else it was begun in another folder, whose files are not ours
        await write_export(workspace, log, root, now)
    return True
