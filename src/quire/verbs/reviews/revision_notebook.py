"""A file at a revision of git as a notebook, with all that its cells showed inside it.

Nothing of it is in a log, so nobody could fetch a blob of it: outputs stand inline, up to a bound.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ...core.errors import QuireError
from ...core.events import Display, Entry, Output, Stream
from ...core.ids import ActorId, EventId, LogId
from ...core.notebook.notebook import Cell, Notebook
from ...core.notebook.reduce import fold
from ...core.sheet.conversion import Blobs, events_of, is_text
from ...core.sheet.sheet import Sheet
from ...core.values import Json
from ...git.revisions import FileRevision, find_versions, read_both
from ...workspace.clock import new_id

MOST_BYTES = 2_000_000
"""The largest output that stands inline."""
MOST_BYTES_IN_ALL = 24_000_000
_LOG = LogId("file")
_NEVER = "1970-01-01T00:00:00.000000Z"
_NOBODY = ActorId("system:git")


class BothRevisions(msgspec.Struct, frozen=True, kw_only=True):
    """A file at two revisions. The sheets are what the file says, the notebooks what is shown of it."""

    sheets: tuple[Sheet, Sheet]
    notebooks: tuple[Notebook, Notebook]


def both_revisions(folder: Path, path: str, base: str, head: str) -> BothRevisions:
    """Read a file at `head`, and where that left `base`. `path` is inside the folder: the caller has looked."""
    file = str(folder / path)
    try:
        versions = find_versions((f"{base}...{head}", file))
    except QuireError as error:
        raise type(error)(str(error).replace(file, path)) from None  # nobody is told where the folder lies
    sheets = read_both(*(_called(each, path) for each in versions))
    return BothRevisions(sheets=sheets, notebooks=(as_notebook(sheets[0], path), as_notebook(sheets[1], path)))


def _called(version: FileRevision, path: str) -> FileRevision:
    """The same under the name that people know."""
    return replace(version, path=path, label=path)


def as_notebook(sheet: Sheet, name: str) -> Notebook:
    """Return what a file says as a notebook, outputs inline."""
    events, blobs = events_of(sheet, name, new_id)
    notebook = fold(
        Entry(log=_LOG, seq=number, id=EventId(str(number)), at=_NEVER, actor=_NOBODY, event=event)
        for number, event in enumerate(events, 1)
    )
    room = _Room(blobs)
    cells = {id: room.cell(cell) for id, cell in notebook.cells.items()}
    return replace(notebook, cells=cells)


class _Room:
    """Puts outputs inline as long as there is room."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._left = MOST_BYTES_IN_ALL

    def cell(self, cell: Cell) -> Cell:
        """The cell with its outputs inline."""
        if cell.execution is None:
            return cell
        return replace(cell, execution=replace(cell.execution, outputs=list(self._outputs(cell.execution.outputs))))

    def _outputs(self, outputs: Iterable[Output]) -> Iterable[Output]:
        for output in outputs:
            match output:
                case Stream():
                    yield replace(output, blob=None)  # head and tail are there
                case Display():
                    yield self._display(output)
                case _:
                    yield output

    def _display(self, display: Display) -> Display:
        data = dict(display.data)
        for media, ref in display.blobs.items():
            if ref.size <= min(MOST_BYTES, self._left):
                self._left -= ref.size
                data[media] = _inline(media, *self._blobs[ref.hash])
            elif media not in data and "text/plain" not in data:
                data["text/plain"] = f"[{media}, {ref.size:,} bytes: too large to show here]"
        return replace(display, data=data, blobs={})


def _inline(media: str, whole: bytes, kind: str) -> Json:
    if kind == "application/json":
        return json.loads(whole)
    return whole.decode("utf-8", "replace") if is_text(media) or is_text(kind) else base64.b64encode(whole).decode()
