"""Quire's own tools over stdio, used as their descriptions say: look for words, change and run in one call."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncGenerator
from pathlib import Path

from quire.connection import connect
from quire.core.events import Display, Raised, Stream
from quire.core.notebook.notebook import Cell

from ..peers import OURS
from ..runtimes import end_runtimes
from .notebooks import FILTERED, NOTEBOOKS, OF, THEIRS, as_ipynb
from .tasks import Shown
from .tools import Tools, tools_of


class Quire:
    """The agent with our tools."""

    def __init__(self, tools: Tools, other: Tools, folder: Path) -> None:
        self.tools, self._other, self._folder = tools, other, folder

    async def do(self, task: str) -> str:
        """Do one of the five."""
        return await getattr(self, f"_{task}")(f"{OF[task]}.ipynb")

    async def _read(self, notebook: str) -> str:
        # A cell is found by a word that it says or showed, and comes with both. No need to read on.
        late = await self.tools("find", query="late", kind="cell")
        large = await self.tools("find", query="second look", kind="cell")
        return " ".join((_text(late.text, r"→ (\d+) orders came late"), _text(large.text, r"→ (\d+) orders above")))

    async def _fix(self, notebook: str) -> str:
        # Errors come first, so that a small budget is enough.
        read = (await self.tools("read", notebook=notebook, budget=500)).text
        cell, wrong = _text(read, r"^(\w+) error"), _text(read, r"KeyError: '(\w+)'")
        patch = {"op": "patch", "cell": cell, "old": f'"{wrong}"', "new": '"region"'}
        await self.tools("edit", notebook=notebook, edits=[patch], run="changed")
        return ""

    async def _plot(self, notebook: str) -> str:
        # The first line that the table showed has its columns.
        found = (await self.tools("find", query="revenue month currency", kind="cell")).text
        cell, column = _text(found, r"^cell (\w+) in orders"), _text(found, r"→ currency\s+(\w+)")
        source = f'monthly["{column}"].plot(kind="bar", title="Revenue in {column}")'
        insert = {"op": "insert", "after": cell, "source": source}
        made = await self.tools("edit", notebook=notebook, edits=[insert], run="changed")
        # An image is a line with a handle, until somebody wants to see it.
        handle = _text(made.text, r'\[image/png .*output\(of="([^"]+)"\)')
        seen = await self.tools("output", notebook=notebook, of=handle)
        return "seen" if seen.images else "not seen"

    async def _output(self, notebook: str) -> str:
        # The outline says which cell; then lines are looked for in what it showed, and nothing else is read.
        outline = (await self.tools("read", notebook=notebook)).text
        cell = _text(outline, r"^(\w+) .*Replay")
        found = await self.tools("output", notebook=notebook, of=cell, find="total")
        return _text(found.text, r"grand total: (\d+)")

    async def _recover(self, notebook: str) -> str:
        found = (await self.tools("find", query="limit 400", kind="cell")).text
        cell, line = _text(found, r"^cell (\w+) in orders"), _text(found, r"· (limit = 400)")
        await self._somebody_else(notebook, cell)
        said = await self.tools("edit", notebook=notebook, edits=[_lower(cell, line)], run="changed")
        if said.failed:
            # The answer has the source as it is now, and its hash.
            line, base = _text(said.text, r"^\s+(limit\w* = 400)$"), _text(said.text, r"base (\w+)")
            again = {**_lower(cell, line), "base": base}
            await self.tools("edit", notebook=notebook, edits=[again], run="changed")
        return ""

    async def _somebody_else(self, notebook: str, cell: str) -> None:
        patch = {"op": "patch", "cell": cell, "old": FILTERED, "new": THEIRS}
        await self._other.quietly("edit", notebook=notebook, edits=[patch])

    async def cells(self, task: str) -> list[Shown]:
        """As the log has them."""
        workspace = await connect(self._folder)
        try:
            found = await workspace.find(OF[task])
            return [_shown(cell) for cell in (await workspace.read(found.log)).live_cells]
        finally:
            await workspace.close()


def _lower(cell: str, line: str) -> dict[str, str]:
    return {"op": "patch", "cell": cell, "old": line, "new": line.replace("400", "350")}


def _shown(cell: Cell) -> Shown:
    media: set[str] = set()
    for output in cell.execution.outputs if cell.execution else ():
        match output:
            case Stream():
                media.add("stream")
            case Raised():
                media.add("error")
            case Display():
                media |= {*output.data, *output.blobs}
            case _:
                pass
    return Shown(source=cell.source, media=frozenset(media))


def _text(text: str, pattern: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1] if found else ""


# ---- Setting the table


@contextlib.asynccontextmanager
async def quire_side(folder: Path) -> AsyncGenerator[Quire]:
    """A workspace with the notebooks, as they are after they ran, and with their kernels; two agents before it."""
    for name, cells in NOTEBOOKS.items():
        (folder / f"{name}.ipynb").write_bytes(as_ipynb(cells))
    command = OURS / "quire"
    try:
        async with (
            tools_of(command, "mcp", "--as", "one", at=folder) as tools,
            tools_of(command, "mcp", "--as", "other", at=folder) as other,
        ):
            for name in NOTEBOOKS:
                await _run(other, f"{name}.ipynb")
            yield Quire(tools, other, folder)
    finally:
        await end_runtimes(folder)


async def _run(somebody: Tools, notebook: str) -> None:
    said = await somebody.quietly("run", notebook=notebook, cells="all", seconds=25)
    while said.facts.get("state") in ("running", "queued"):
        said = await somebody.quietly("wait", notebook=notebook, seconds=25)
