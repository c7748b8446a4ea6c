"""The notebook of a file, and so the source of a run, as a notebook that something can be proposed to.

A run of a notebook has it at hand. A file has one where a notebook is bound to it; where none
is, one is made of the file and bound to it, so that what is changed there comes into the file
(rule 13).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path, PurePath

import msgspec

from ...actors.mirror import path_in
from ...actors.mirror.file_paths import inside
from ...core import events as e
from ...core.errors import BadInput, Conflict, NotFound
from ...core.event_fields import batches
from ...core.events import Draft, FileBound, FileMerged, KnownEvent
from ...core.ids import LogId
from ...core.notebook.notebook import Run
from ...core.sheet.conversion import events_of
from ...core.sheet.sheet import Sheet
from ...disk import check_writable, decode, read_bytes, write_text
from ...formats import registry
from ...workspace.clock import new_id
from ...workspace.protocol import Workspace
from ..locations import is_remote, is_standard

WAIT_SECONDS = 0.05
ATTEMPTS = 600
"""So often to look whether somebody else is done with the same file."""


class RunOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """The notebook that a run was of."""

    log: LogId
    path: str | None = None
    was_made: bool = False
    """Whether it was made of its file just now."""


async def source_of(
    workspace: Workspace, folder: Path | None, log: LogId, run: Run, check: Callable[[Sheet, str], object]
) -> RunOrigin:
    """Return the notebook that a run was of. `check` sees what its file says, before anything is made of that.

    `folder` is the one that paths of files are relative to; None: files are not to be looked at.
    """
    if run.source.path is None:
        if run.source.notebook is None:
            raise BadInput(f"Run {log} was of no file and of no notebook. `quire export {log} FILE` writes what it is.")
        return RunOrigin(log=run.source.notebook)
    if is_standard(run.source.path) or is_remote(run.source.path):
        told = f"Run {log} was of {run.source.path}, which is no file in the workspace's folder"
        raise BadInput(f"{told}: nothing can be proposed to it. `quire export {log} FILE` writes the fixed notebook.")
    path = source_path(folder, log, run, run.source.path)
    async with _alone(workspace, path):
        return await _of_file(workspace, folder, path, check)


async def notebook_of(workspace: Workspace, folder: Path, path: str) -> RunOrigin:
    """Return the notebook that is bound to a file in `folder`; where none is, one is made of it."""
    async with _alone(workspace, path):
        return await _of_file(workspace, folder, path)


async def new_file(workspace: Workspace, folder: Path, path: str, text: str) -> RunOrigin:
    """Write a file that is not there yet, and return the notebook that was made of it and bound to it."""
    async with _alone(workspace, path):
        bound = await workspace.bound_to(path)
        if bound is not None:
            raise Conflict(f"{path} is bound to notebook {bound} already, and the file is away. Edit that notebook.")
        file = inside(folder, path)
        await asyncio.to_thread(_write_new, file, path, text)
        try:
            return RunOrigin(log=await _made(workspace, folder, path), path=path, was_made=True)
        except BaseException:
            file.unlink(missing_ok=True)
            raise


def _write_new(file: Path, path: str, text: str) -> None:
    check_writable(file)
    if file.exists():
        raise Conflict(f"{path} is there already. Read it first, then edit it.")
    write_text(file, text)


async def _of_file(
    workspace: Workspace, folder: Path | None, path: str, check: Callable[[Sheet, str], object] | None = None
) -> RunOrigin:
    """The notebook that is bound to a file, or a new one."""
    bound = await workspace.bound_to(path)
    if bound is not None:
        # Where no mirror runs, the notebook may not know yet what the file says.
        with contextlib.suppress(NotFound, BadInput):  # it is away, or half written: the notebook is what counts
            if folder is not None and check is not None:
                check((await _read(folder, path))[1], path)
        return RunOrigin(log=bound, path=path)
    if folder is None:
        told = f"No notebook is bound to {path}, and this server leaves files alone."
        raise NotFound(f"{told} Import and bind it where the file is: `quire bind NOTEBOOK {path}`.")
    return RunOrigin(log=await _made(workspace, folder, path, check), path=path, was_made=True)


# ---- Which file


def source_path(folder: Path | None, log: LogId, run: Run, path: str) -> str:
    """Return what a binding calls the file that a run was of: a path is meant as it was where the run was asked for."""
    if folder is None:
        return PurePath(path).as_posix()
    found: list[tuple[Path, str]] = []
    fault: BadInput | None = None
    for place in _places(folder, run, path):
        try:
            name = path_in(folder, place)
        except BadInput as error:  # before it is looked at: what lies elsewhere is nobody's business here
            fault = error
            continue
        if place.is_file():
            found.append((place, name))
    if not found:
        raise fault or NotFound(f"Run {log} was of {path}, which is not in {folder}. Put it back, or export the run.")
    for place, name in found:
        if run.source.digest == sha256(read_bytes(place)).hexdigest():
            return name
    return found[0][1]


def _places(folder: Path, run: Run, path: str) -> Iterator[Path]:
    cwd = run.environment.get("cwd")
    if isinstance(cwd, str) and Path(cwd).is_absolute():
        yield Path(cwd) / path
    yield folder / path


# ---- A notebook for it


async def _made(
    workspace: Workspace, folder: Path, path: str, check: Callable[[Sheet, str], object] | None = None
) -> LogId:
    data, sheet = await _read(folder, path)
    if check is not None:
        check(sheet, path)
    events, blobs = events_of(sheet, await _name(workspace, path), new_id)
    for bytes_of_it, media in blobs.values():
        await workspace.put_blob(bytes_of_it, media)
    log = LogId(new_id())
    for batch in batches(_drafts(events, path, sha256(data).hexdigest())):
        await workspace.submit(log, batch)
    return log


async def _read(folder: Path, path: str) -> tuple[bytes, Sheet]:
    data = await asyncio.to_thread(read_bytes, folder / path)
    return data, await asyncio.to_thread(registry.read, decode(data, path), path)


def _drafts(events: list[KnownEvent], path: str, digest: str) -> list[Draft]:
    """The file as a log, bound to it. That they are the same now is on record: what is accepted before a mirror looks stays."""
    bound = FileBound(path=path, format=registry.format_of(path))
    drafts = [Draft(id=new_id(), event=event) for event in (*events, bound)]
    merged: e.KnownEvent = FileMerged(path=path, digest=digest)
    return [*drafts, Draft(id=new_id(), event=merged, cause=drafts[-1].id)]


async def _name(workspace: Workspace, path: str) -> str:
    taken = {info.name for info in await workspace.logs("notebook")}
    for name in (PurePath(path).stem, path, *(f"{path} {number}" for number in range(2, 100))):
        if name not in taken:
            return name
    raise Conflict(f"There are notebooks of every name that {path} would have. Rename one.")


@asynccontextmanager
async def _alone(workspace: Workspace, path: str) -> AsyncGenerator[None]:
    """Be the only one who looks for the notebook of a file, and makes it: two would be bound to one file."""
    for _ in range(ATTEMPTS):
        hold = await workspace.hold(f"bind:{sha256(path.encode('utf-8', 'surrogatepass')).hexdigest()}")
        if hold is not None:
            break
        await asyncio.sleep(WAIT_SECONDS)  # another process may hold it: no event tells when it lets go
    else:
        raise Conflict(f"Somebody else is at work on {path}. Try again in a moment.")
    try:
        yield
    finally:
        await asyncio.shield(workspace.let_go(hold))
