"""A notebook from and to the text of a file, for every door: what is read and written is the business of files."""

from __future__ import annotations

import asyncio

from ..core.errors import BadInput, Conflict, NotFound
from ..core.event_fields import batches
from ..core.events import Draft
from ..core.ids import CellId, LogId
from ..core.notebook.notebook import Notebook
from ..core.sheet.conversion import blobs_of, events_of, sheet_of, with_marks
from ..formats import registry
from ..formats.html import format as html
from ..workspace.bundle import BundleContents
from ..workspace.clock import new_id
from ..workspace.protocol import LogInfo, Workspace


async def export_notebook(
    workspace: Workspace,
    info: LogInfo,
    path: str,
    seq: int | None = None,
    *,
    most_bytes: int | None = None,
    comments: bool = False,
) -> tuple[str, BundleContents]:
    """The notebook as the text of a file at `path`, whose ending says the format.

    What it shows is read into memory, and refused when that is more than `most_bytes`. `comments` are for a page: left out
    by default, since they are talk among those who may read the notebook, and a page is given to others.
    """
    if registry.format_of(path) != "html" and comments:
        raise BadInput(f"{path}: comments are written into a page (.html) only. A bundle (.quire) always holds them.")
    notebook = await workspace.read(info.log, seq)
    blobs, missing = await _blobs(workspace, notebook, most_bytes)

    def written() -> str:
        sheet = sheet_of(notebook, blobs, info.log)
        # Other formats are somebody's source: they say what is written, and not when.
        sheet = with_marks(sheet, notebook) if registry.format_of(path) == "ipynb" else sheet
        registry.check_language(sheet, path)
        if registry.format_of(path) == "html":
            return html.write(
                sheet, path, imported=_imported(notebook), comments=notebook.comments if comments else None
            )
        return registry.write(sheet, path)

    carried = BundleContents(
        log=info.log,
        kind=info.kind,
        name=notebook.name,
        events=notebook.seq,
        blobs=len(blobs),
        missing_blobs=missing,
    )
    # A large notebook takes a while, and others wait for the loop.
    return await asyncio.to_thread(written), carried


def _imported(notebook: Notebook) -> frozenset[CellId]:
    """The cells whose outputs a file brought along."""
    cells = (cell for cell in notebook.live_cells if cell.execution is not None and cell.execution.imported)
    return frozenset(cell.id for cell in cells)


async def _blobs(
    workspace: Workspace, notebook: Notebook, most_bytes: int | None
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The blobs that a file holds, and the hashes of those that are not there."""
    found: dict[str, bytes] = {}
    missing: dict[str, None] = {}
    size = 0
    for ref in blobs_of(notebook):
        data = bytearray()
        try:
            async for chunk in workspace.open_blob(ref.hash):
                data += chunk
                size += len(chunk)
                if most_bytes is not None and size > most_bytes:
                    raise BadInput(
                        f"{notebook.name!r} shows more than {most_bytes:,} bytes. Export it as a bundle (.quire)."
                    )
            found[ref.hash] = bytes(data)
        except NotFound:
            missing[ref.hash] = None
    return found, tuple(missing)


async def import_notebook(workspace: Workspace, text: str, path: str, name: str) -> BundleContents:
    """Make a notebook of the text of a file at `path`. Whoever asks is its author."""
    sheet = await asyncio.to_thread(registry.read, text, path)
    if any(info.name == name for info in await workspace.logs("notebook")):
        raise Conflict(f"There is a notebook {name!r} already. Choose another name: `--name`, or `name` over HTTP.")
    try:
        events, blobs = await asyncio.to_thread(events_of, sheet, name, new_id)
    except BadInput as error:
        raise BadInput(f"{path}: {error}", **error.details) from None
    for data, media in blobs.values():
        await workspace.put_blob(data, media)
    log = LogId(new_id())
    # Larger notebooks come in parts; only a store that fails in between leaves a part.
    for batch in batches(Draft(id=new_id(), event=event) for event in events):
        await workspace.submit(log, batch)
    return BundleContents(log=log, kind="notebook", name=name, events=len(events), blobs=len(blobs))
