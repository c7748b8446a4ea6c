"""Which notebook somebody means by a name, an id or a path."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import msgspec

from ..core.errors import BadInput, NotFound, Refused
from ..core.events import Entry
from ..core.ids import EventId, LogId, nearest
from ..core.notebook.notebook import Notebook
from ..core.notebook.reduce import fold
from ..core.sheet.conversion import Blobs, events_of
from ..disk import decode, read_bytes
from ..formats import registry
from ..runs.fix.run_source import notebook_of
from ..workspace.clock import new_id
from ..workspace.protocol import LogInfo
from .answers.answer import Here

_FILE = LogId("file")
_NEVER = "1970-01-01T00:00:00.000000Z"


class ResolvedName(msgspec.Struct, frozen=True, kw_only=True):
    """What a name means: a log, or a file that no notebook is bound to yet."""

    log: LogId | None = None
    path: str | None = None
    """Of a file: relative to the folder."""
    info: LogInfo | None = None


class NotebookSource(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook to read, of a log or of a file."""

    log: LogId | None
    notebook: Notebook
    blobs: Blobs = {}
    """Of a file that is not open: what its log would keep apart."""


async def notebook_named(here: Here, name: str) -> ResolvedName:
    """Return what is called so: by id, by name, by the path of its file, or by the beginning of an id."""
    try:
        info = await here.workspace.find(name)
        return ResolvedName(log=info.log, info=info)
    except NotFound:
        found = await _of_path(here, name)
        if found is None:
            raise await _unknown(here, name) from None
        return found


async def opened(here: Here, name: str) -> LogId:
    """Return the notebook that is called so; a file becomes a notebook that is bound to it."""
    found = await notebook_named(here, name)
    if found.log is not None:
        return found.log
    if here.folder is None or found.path is None:
        raise NotFound(f"{name} is a file, and files are left alone here. Import it: `quire import {name}`.")
    return (await notebook_of(here.workspace, here.folder, found.path)).log


async def readable(here: Here, name: str) -> tuple[LogId | None, Notebook]:
    """Return the notebook that is called so. A file that is none yet is read, and stays what it is: no log, None."""
    reading = await reading_of(here, name)
    return reading.log, reading.notebook


async def reading_of(here: Here, name: str) -> NotebookSource:
    """The same with what a file's log would keep apart."""
    found = await notebook_named(here, name)
    if found.log is not None:
        return NotebookSource(log=found.log, notebook=await here.workspace.read(found.log))
    if here.folder is None or found.path is None:
        raise NotFound(f"{name} is a file, and files are left alone here.")
    return await asyncio.to_thread(_read_file, here, here.folder, found.path)


def _read_file(here: Here, folder: Path, path: str) -> NotebookSource:
    sheet = registry.read(decode(read_bytes(folder / path), path), path)
    events, blobs = events_of(sheet, path, new_id)
    actor = here.workspace.identity.actor
    entries = (
        Entry(log=_FILE, seq=number, id=EventId(str(number)), at=_NEVER, actor=actor, event=event)
        for number, event in enumerate(events, 1)
    )
    return NotebookSource(log=None, notebook=fold(entries), blobs=blobs)


# ---- Files


async def _of_path(here: Here, name: str) -> ResolvedName | None:
    """The notebook that is bound to a file, or the file."""
    path = _path(here, name)
    if path is None:
        return None
    log = await here.workspace.bound_to(path)
    if log is not None:
        # Looked for as nobody in particular: whether they may read it is decided when they do.
        return ResolvedName(log=log, path=path)
    return ResolvedName(path=path) if here.folder is not None and _is_file(here.folder / path) else None


def _is_file(path: Path) -> bool:
    with contextlib.suppress(OSError):  # no file can have such a name
        return path.is_file()
    return False


def _path(here: Here, name: str) -> str | None:
    """What a binding would call the file; None where it is none that may be looked at from here."""
    if (
        not here.may_read_files
        or here.folder is None
        or registry.ending_of(name) not in registry.ENDINGS
        or "\0" in name
    ):
        return None
    from ..actors.mirror import path_in

    with contextlib.suppress(BadInput, OSError, Refused):
        return path_in(here.folder, here.folder / name)
    return None


async def _unknown(here: Here, name: str) -> NotFound:
    """What to say of a name that nothing has: what is nearest."""
    known = {info.name: info.log for info in await here.workspace.logs()}
    close = nearest(name, [*known, *known.values()])
    hint = f"Nearest: {', '.join(close)}." if close else "`find` lists what is there."
    return NotFound(f"There is no notebook, run or file {name!r}. {hint}", nearest=close)
