"""What tests of the mirror share: a folder, its workspace, a real mirror, and ways to change both sides."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from quire.actors.mirror import mirror
from quire.actors.mirror.file_watch import Pace
from quire.core import events as e
from quire.core.errors import BadInput
from quire.core.events import Draft, Entry, KnownEvent
from quire.core.ids import CellId, LogId
from quire.core.notebook.notebook import Cell, Notebook
from quire.core.sheet.conversion import events_of
from quire.core.sheet.sheet import Sheet, SheetCell, with_ids
from quire.core.text import source_hash
from quire.formats import registry
from quire.stores.blobs.folder_blobs import FolderBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace

PATIENCE = 120.0
"""Seconds after which something does not come any more."""
BRISK = Pace(
    together_seconds=0.005,
    quiet_seconds=0.03,
    gone_seconds=0.1,
    lease_poll_seconds=0.02,
    retry_seconds=0.2,
    watch_step_milliseconds=10,
)
"""What these tests are about does not depend on how long a mirror waits: they wait as little as it can do with."""
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def open_workspace(folder: Path) -> LocalWorkspace:
    """The workspace of a folder, as another process would open it."""
    place = folder / ".quire"
    place.mkdir(exist_ok=True)
    return LocalWorkspace(SqliteStore(place / "quire.db"), FolderBlobs(place / "blobs"))


class Desk:
    """A folder with a notebook that is bound to a file, and mirrors that watch it."""

    def __init__(self, folder: Path, path: str = "sales.py", workspace: LocalWorkspace | None = None) -> None:
        self.folder, self.path = folder, path
        self.log = LogId(new_id())
        self.workspace = workspace or open_workspace(folder)
        self.told: list[str] = []
        self._mirrors: list[asyncio.Task[None]] = []

    @property
    def file(self) -> Path:
        return self.folder / self.path

    # ---- The log's side

    async def write(self, *sources: str) -> None:
        """Begin the notebook, and bind it."""
        cells = with_ids([SheetCell(id=CellId(""), source=source) for source in sources])
        events, _ = events_of(Sheet(cells=cells, metadata=KERNEL), "sales", new_id)
        await self.say(*events, e.FileBound(path=self.path))

    async def say(self, *events: KnownEvent) -> list[Entry]:
        return await self.workspace.submit(self.log, [Draft(id=new_id(), event=event) for event in events])

    async def notebook(self) -> Notebook:
        return await self.workspace.read(self.log)

    async def cells(self) -> list[Cell]:
        return list((await self.notebook()).live_cells)

    async def sources(self) -> list[str]:
        return [cell.source for cell in await self.cells()]

    async def edit(self, number: int, text: str) -> None:
        """Change a cell as an agent does: its whole text."""
        cell = (await self.cells())[number]
        await self.say(e.SourceEdited(cell=cell.id, text=text, base_hash=source_hash(cell.source)))

    async def types(self, since: int = 0) -> list[str]:
        return [str(type(entry.event).__name__) for entry in await self.workspace.entries(self.log, since)]

    # ---- The file's side

    def said(self) -> list[str]:
        """The texts of the cells in the file."""
        return self.said_in(self.file.read_text())

    def said_in(self, text: str) -> list[str]:
        return [cell.source for cell in registry.read(text, self.path).cells]

    def digest(self, text: str) -> str:
        return digest_of(text)

    def rewrite(self, *sources: str) -> None:
        """Save other cells, as an editor does: over the file."""
        self.save(self.text_with(*sources))

    def text_with(self, *sources: str) -> str:
        """The file with these cells: those that stay keep what they have, others are edited or new."""
        text = self.file.read_text()
        sheet = registry.read(text, self.path)
        cells = [next((cell for cell in sheet.cells if cell.source == source), None) for source in sources]
        free = [cell for cell in sheet.cells if cell.source not in sources]
        for number, source in enumerate(sources):
            if cells[number] is None:
                cells[number] = replace(free.pop(0) if free else SheetCell(id=CellId("")), source=source)
        made = with_ids([cell for cell in cells if cell is not None])
        return registry.write(replace(sheet, cells=made), self.path, text)

    def save(self, text: str, how: str = "in place") -> None:
        """Save as editors do."""
        save(self.file, text, how)

    # ---- Mirrors

    async def start(self, *, every: bool = False, workspace: Workspace | None = None) -> asyncio.Task[None]:
        """Start a mirror, as ourselves or as somebody else, and wait until it has looked at everything."""
        ready, logs = asyncio.Event(), None if every else [self.log]
        work = mirror(
            workspace or self.workspace, self.folder, logs, tell=self.told.append, ready=ready.set, pace=BRISK
        )
        task = asyncio.ensure_future(work)
        self._mirrors.append(task)
        waiting = asyncio.ensure_future(ready.wait())
        await asyncio.wait({task, waiting}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if task.done():
            task.result()
        assert ready.is_set()
        return task

    def check_mirrors(self) -> None:
        """Raise what ended a mirror: one that is not there tells nothing and does nothing."""
        for task in self._mirrors:
            if task.done():
                task.result()

    async def stop(self) -> None:
        """Stop the mirrors, as Ctrl-C does."""
        for task in self._mirrors:
            task.cancel()
            await asyncio.wait({task})
        self._mirrors = []

    async def close(self) -> None:
        await self.stop()
        await self.workspace.close()

    # ---- Waiting

    async def agree(self, *sources: str) -> None:
        """Wait until log and file say this, and the log knows the file."""

        async def both() -> object:
            self.check_mirrors()
            text = self.file.read_text() if self.file.exists() else ""
            notebook = await self.notebook()
            known = notebook.binding.digest if notebook.binding is not None else None
            try:
                said = [cell.source for cell in registry.read(text, self.path).cells]
            except BadInput:
                said = []
            return [[cell.source for cell in notebook.live_cells], said, known == digest_of(text)]

        await until(both, [list(sources), list(sources), True])

    async def conflicts_are(self, *sides: tuple[str, str]) -> None:
        """Wait until these conflicts are open, each with what the log said and what the file said, and no others."""

        async def open_ones() -> object:
            return sorted((each.ours, each.theirs) for each in (await self.notebook()).conflicts.values())

        await until(open_ones, sorted(sides))

    async def hear(self, part: str) -> None:
        """Wait until a person was told something."""

        async def heard() -> object:
            self.check_mirrors()
            return any(part in each for each in self.told)

        await until(heard, True)


def digest_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


async def until(ask: Callable[[], Awaitable[object]], wanted: object) -> None:
    """Wait until the answer is the wanted one; with the last answer, when it never is."""
    ends = time.monotonic() + PATIENCE
    while (answer := await ask()) != wanted:
        assert time.monotonic() < ends, f"still {answer!r}, not {wanted!r}"
        await asyncio.sleep(0.02)


FORMATS = ("sales.py", "sales.md", "sales.ipynb")
ONE_FORMAT = ("sales.py", *(pytest.param(path, marks=pytest.mark.slow) for path in FORMATS[1:]))
"""For what a mirror does alike in each format: in one every day, in all when there is time."""
WAYS = ("in place", "rename", "backup", "pieces")


def save(file: Path, text: str, how: str) -> None:
    """Write a file as an editor does."""
    data = text.encode()
    match how:
        case "in place":
            file.write_bytes(data)
        case "rename":
            other = file.with_name(f".{file.name}.swp")
            other.write_bytes(data)
            other.replace(file)
        case "backup":  # vim's way: the old one steps aside, a new one is written, the old one goes
            backup = file.with_name(f"{file.name}~")
            file.rename(backup)
            file.write_bytes(data)
            backup.unlink()
        case "pieces":
            pieces(file, data)
        case _:
            raise AssertionError(how)


def pieces(file: Path, data: bytes, parts: Sequence[float] = (0.1, 0.5, 0.9)) -> None:
    with file.open("wb", buffering=0) as out:
        start = 0
        for part in (*parts, 1.0):
            end = int(len(data) * part)
            out.write(data[start:end])
            os.fsync(out.fileno())
            start = end
