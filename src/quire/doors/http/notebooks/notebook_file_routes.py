"""Files of the server's folder: which notebooks lie there, opening one, and putting a file there.

A path is relative to the folder and stays in it, links followed. Hidden files, settings of the host and what programs
installed are out of reach (core/bound_paths). Who may look at files is decided as for the tools of agents.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated
from urllib.parse import unquote

import msgspec
from litestar.params import FromPath
from msgspec import Meta

from ....core.bound_paths import check_bound_path
from ....core.errors import BadInput, Conflict, NotFound, Refused
from ....core.ids import LogId
from ....verbs.answers.answer import Here
from ....verbs.notebook_walk import notebook_files
from ....verbs.resolve import opened
from ....workspace.bound_files import place_of
from ....workspace.identity.identities import check_scope
from ....workspace.local import LocalWorkspace
from ....workspace.wire.bodies import Body
from ..auth import Asked, door_of
from ..response_stream import while_there
from ..route import BYTES, Asking, body_of, query_of, route, upload_of


class NotebookFile(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook file in the folder."""

    path: str
    name: str
    """Without the folders."""
    notebook: LogId | None
    """The notebook that is bound to it, if the bearer may read it."""
    modified: str


class FileWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of the folder."""

    path: Annotated[str, Meta(min_length=1, max_length=400)]


class FileOpened(msgspec.Struct, frozen=True, kw_only=True):
    """The notebook that is bound to a file."""

    log: LogId
    name: str


class UploadAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether a file that is there may be replaced."""

    overwrite: bool = False


class FileUploaded(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was put into the folder."""

    path: str
    size: int


@route("GET", "/api/files", "files", tag="files", answer=list[NotebookFile])
async def files(request: Asking, workspace: Asked) -> list[NotebookFile]:
    """List the notebook files of the server's folder. Needs `bind` or `run`, and a token for all notebooks."""
    folder = _folder(request, workspace)
    bound = await workspace.bound_files()
    return await while_there(request, asyncio.to_thread(_listed, folder, bound))


def _listed(folder: Path, bound: dict[str, LogId]) -> list[NotebookFile]:
    found: list[NotebookFile] = []
    for path in notebook_files(folder):
        try:
            seconds = (folder / path).stat().st_mtime
        except OSError:  # it went meanwhile
            continue
        modified = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        found.append(NotebookFile(path=path, name=path.rpartition("/")[2], notebook=bound.get(path), modified=modified))
    return found


@route("POST", "/api/files", "open_file", tag="files", body=FileWanted, answer=FileOpened)
async def open_file(request: Asking, workspace: Asked) -> FileOpened:
    """Open a notebook file: the notebook that is bound to it, or a new one that is made of it and bound to it. Needs `bind`."""
    folder = _folder(request, workspace)
    path = (await body_of(request, FileWanted)).path
    await asyncio.to_thread(place_of, folder, path)
    log = await opened(Here(workspace=workspace, folder=folder), path)
    return FileOpened(log=log, name=(await workspace.read(log)).name)


@route("PUT", "/api/files/{name}", "upload_file", tag="files", query=UploadAsked, body=BYTES, answer=FileUploaded)
async def upload_file(request: Asking, name: FromPath[str], workspace: Asked) -> FileUploaded:
    """Put a file into the server's folder: data for a notebook, or a notebook file to open. Needs `bind`, or `edit` and `run`.

    The name is a path relative to the folder, with each slash as %2F; folders have to be there. A file that is there is a
    conflict unless `overwrite` is true; one that a notebook is bound to is never replaced, because its notebook says what is in it.
    """
    path = unquote(request.scope["raw_path"].decode("latin-1").rpartition("/")[2])
    check_bound_path(path)
    folder = _folder(request, workspace)
    _check_may_write(workspace)
    target = await asyncio.to_thread(place_of, folder, path)
    if await workspace.bound_to(path) is not None:
        raise Conflict(f"{path} is bound to a notebook. Edit that, or choose another name.")
    await asyncio.to_thread(_check_free, target, path, query_of(request, UploadAsked).overwrite)
    return FileUploaded(path=path, size=await _write(request, target, path))


def _folder(request: Asking, workspace: LocalWorkspace) -> Path:
    folder = door_of(request).folder
    if folder is None:
        raise Refused("This server leaves files alone (`--no-mirror`). Import the notebook instead: POST /api/imports.")
    if not Here(workspace=workspace, folder=folder).may_read_files:
        actor = workspace.identity.actor
        told = f"{actor} may not look at files: that needs the scope 'bind' or 'run', and a token for all notebooks"
        raise Refused(f"{told}. Ask somebody who may.")
    return folder


def _check_may_write(workspace: LocalWorkspace) -> None:
    identity = workspace.identity
    if "bind" in identity.scopes and "bind" not in identity.asks:
        return
    for scope in ("edit", "run"):  # who edits and runs cells writes files anyway
        check_scope(identity, scope)
        if scope in identity.asks:
            raise Refused(f"{identity.actor} has to ask before it may {scope}, and a file cannot be proposed.")


def _check_free(target: Path, path: str, overwrite: bool) -> None:
    if target.is_dir():
        raise Conflict(f"{path} is a folder. Choose another name.")
    if target.exists() and not overwrite:
        raise Conflict(f"{path} is there already. Choose another name, or replace it: `overwrite`.")
    if not target.parent.is_dir():
        raise NotFound(f"There is no folder {path.rpartition('/')[0]!r}. Choose one that is there.")


async def _write(request: Asking, target: Path, path: str) -> int:
    """Write the body beside its place, and move it there when all of it has come."""
    file: IO[bytes] = await asyncio.to_thread(
        tempfile.NamedTemporaryFile, dir=target.parent, prefix=".quire-", delete=False
    )
    part = Path(file.name)
    overwrite, size = query_of(request, UploadAsked).overwrite, 0
    try:
        with file:
            async for chunk in upload_of(request):
                size += len(chunk)
                await asyncio.to_thread(file.write, chunk)
            await asyncio.to_thread(_sync, file)
        await asyncio.to_thread(_place, part, target, path, overwrite)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}. Choose another place.") from error
    finally:
        await asyncio.to_thread(part.unlink, missing_ok=True)
    return size


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _place(part: Path, target: Path, path: str, overwrite: bool) -> None:
    part.chmod(0o666 & ~_umask())
    if overwrite:
        part.replace(target)
        return
    try:
        os.link(part, target)  # fails where somebody else was faster
    except FileExistsError:
        raise Conflict(f"{path} is there already. Choose another name, or replace it: `overwrite`.") from None


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


ROUTES = [files, open_file, upload_file]
