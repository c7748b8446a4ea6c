"""The file that a run leaves: whole at every moment, and current within a second or so."""

from __future__ import annotations

import time

import msgspec

from ..core.errors import NotFound
from ..core.exchange import blobs_of, sheet_of
from ..disk import write_text
from ..files import formats
from ..files.papermill import executed
from ..workspace.workspace import Workspace
from .wish import Prepared

WRITE_SECONDS = 1.0
"""The output is written at most so often while a run goes on."""
WRITE_SHARE = 10
"""And so that writing takes at most one part in so many of the time: cost does not grow with the square of the cells."""


class Output:
    """Writes the log of one run into its file."""

    def __init__(self, workspace: Workspace, prepared: Prepared) -> None:
        self._workspace, self._prepared = workspace, prepared
        self._blobs: dict[str, bytes] = {}
        self._due = 0.0

    async def write_if_due(self) -> None:
        """Write it, unless that was done a moment ago."""
        if time.monotonic() >= self._due:
            await self.write()

    async def write(self) -> None:
        """Write the run as its log has it now."""
        path = self._prepared.output
        if path is None:
            return
        began = time.monotonic()
        try:
            notebook = await self._workspace.read(self._prepared.order.log)
        except NotFound:
            return  # it never came to a log
        for ref in blobs_of(notebook):
            if ref.hash not in self._blobs:
                pieces = [chunk async for chunk in self._workspace.open_blob(ref.hash)]
                self._blobs[ref.hash] = b"".join(pieces)
        sheet = sheet_of(notebook, self._blobs)
        sheet = msgspec.structs.replace(sheet, metadata=self._prepared.order.metadata | sheet.metadata)
        told = executed(sheet, notebook, input_path=self._prepared.input_path, output_path=str(path))
        write_text(path, formats.write(told, str(path)))
        spent = time.monotonic() - began
        self._due = time.monotonic() + max(WRITE_SECONDS, WRITE_SHARE * spent)
