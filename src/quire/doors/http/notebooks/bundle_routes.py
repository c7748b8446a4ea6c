"""Whole notebooks out and in: bundles with the log, and notebooks in any format."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from typing import IO, Annotated, Literal

from litestar.params import FromPath
from litestar.response import Stream
from msgspec import Meta

from ....core.errors import BadInput
from ....core.ids import LogId, check_name
from ....workspace.bundle import BundleContents
from ....workspace.identity.identities import check_scope
from ....workspace.local import LocalWorkspace
from ....workspace.wire.bodies import Body, Number
from ...transfer import export_notebook, import_notebook
from ..auth import Asked, door_of
from ..response_stream import attachment, from_file, while_there
from ..route import BYTES, Asking, checked, query_of, route, upload_of

Format = Literal["quire", "ipynb", "py", "md", "html"]
MEDIA: dict[Format, str] = {
    "quire": "application/zip",
    "ipynb": "application/x-ipynb+json",
    "py": "text/x-python",
    "md": "text/markdown",
    "html": "text/html",
}


_SHOWN = 4
"""A notebook may show so many times as much as may come in as one file."""


class ExportAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """In which format, as it was at which number; and, of `html`, with its comments."""

    format: Format = "quire"
    seq: Number | None = None
    comments: bool = False


class ImportAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which format the body has, and what the notebook is called here."""

    format: Literal["quire", "ipynb", "py", "md"] = "quire"
    name: Annotated[str, Meta(max_length=200)] | None = None


@route("GET", "/api/logs/{log}/export", "export", tag="carrying", query=ExportAsked, answer=tuple(MEDIA.values()))
async def export(request: Asking, log: FromPath[str], workspace: Asked) -> Stream:
    """A notebook or run as a file: a bundle with the whole log and its blobs, or the notebook in a format."""
    id, asked = LogId(checked(log, "Log")), query_of(request, ExportAsked)
    if asked.comments and asked.format != "html":
        raise BadInput("Comments are written into a page only: `format=html`. A bundle always holds them.")
    if asked.format == "quire":
        if asked.seq is not None:
            raise BadInput("A bundle holds the whole log. Leave `seq` out, or choose another format.")
        name, content = await while_there(request, _bundle(workspace, id))
    else:
        most = door_of(request).settings.notebook_bytes * _SHOWN
        name, content = await while_there(request, _text(workspace, id, asked, most))
    return attachment(content, MEDIA[asked.format], f"{name}.{asked.format}")


async def _bundle(workspace: LocalWorkspace, log: LogId) -> tuple[str, AsyncIterator[bytes]]:
    file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it was sent
    try:
        carried = await workspace.export_bundle(log, file)
    except BaseException:
        file.close()
        raise
    return carried.name, from_file(file)


async def _text(
    workspace: LocalWorkspace, log: LogId, asked: ExportAsked, most: int
) -> tuple[str, AsyncIterator[bytes]]:
    info = await workspace.find(log)
    path = f"notebook.{asked.format}"
    text, carried = await export_notebook(workspace, info, path, asked.seq, most_bytes=most, comments=asked.comments)
    return carried.name, _pieces(text)


async def _pieces(text: str) -> AsyncIterator[bytes]:
    yield text.encode("utf-8", "replace")


@route("POST", "/api/imports", "import_notebook", tag="carrying", query=ImportAsked, body=BYTES, answer=BundleContents)
async def take_in(request: Asking, workspace: Asked) -> BundleContents:
    """Take in a bundle, verified and as imported (needs `admin`), or a notebook file, of which the bearer is the author."""
    asked = query_of(request, ImportAsked)
    if asked.format == "quire":
        if asked.name is not None:
            raise BadInput("A bundle brings its name along. Leave `name` out.")
        check_scope(workspace.identity, "admin")  # looked at again, in full, when all of it is here
        return await _take_bundle(request, workspace)
    if asked.name is None:
        raise BadInput("A notebook file does not say what it is called: give a `name`.")
    check_name(asked.name, "A notebook's name")
    return await import_notebook(workspace, await _text_of(request), f"notebook.{asked.format}", asked.name)


async def _take_bundle(request: Asking, workspace: LocalWorkspace) -> BundleContents:
    with tempfile.TemporaryFile() as file:
        async for chunk in upload_of(request):
            await asyncio.to_thread(file.write, chunk)
        file.seek(0)
        return await workspace.import_bundle(file)


async def _text_of(request: Asking) -> str:
    data = bytearray()
    async for chunk in upload_of(request, door_of(request).settings.notebook_bytes):
        data += chunk
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"The file is not text in UTF-8: {error.reason} at byte {error.start}. Nothing was imported."
        ) from None


ROUTES = [export, take_in]
