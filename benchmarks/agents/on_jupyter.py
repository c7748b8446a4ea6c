"""jupyter-mcp-server on a real Jupyter Server, used as its own descriptions say: an overview first, then single cells."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from ..fanout import Server
from ..jupyter import asked, jupyter
from ..peers import peers
from .notebooks import NOTEBOOKS, OF, THEIRS, as_ipynb
from .ran import ran
from .tasks import Shown
from .tools import Said, Tools, tools_of

PEER = "agents"
KERNEL = "measured"


class Jupyter:
    """The agent with their tools."""

    def __init__(self, tools: Tools, other: Tools, folder: Path) -> None:
        self.tools, self._other, self._folder = tools, other, folder

    async def do(self, task: str) -> str:
        """Do one of the five."""
        return await getattr(self, f"_{task}")(OF[task])

    async def _read(self, name: str) -> str:
        overview = await self._overview(name)
        # What cells showed is in no overview, detailed or not: each is read by itself.
        late = await self.tools("read_cell", cell_index=_index(overview, "Flag what took too long"))
        large = await self.tools("read_cell", cell_index=_index(overview, "Orders worth a second look"))
        return " ".join((_text(late, r"(\d+) orders came late"), _text(large, r"(\d+) orders above")))

    async def _fix(self, name: str) -> str:
        overview = await self._overview(name)
        # It does not say which cell failed; below that, no cell has a count.
        index = max(int(row) for row in re.findall(r"^(\d+)\tcode\t\d+\t", overview, re.MULTILINE))
        read = await self.tools("read_cell", cell_index=index)
        wrong = _text(read, r"KeyError: '(\w+)'")
        edit = {"old_string": f'"{wrong}"', "new_string": '"region"'}
        await self.tools("edit_cell_source", cell_index=index, **edit)
        await self.tools("execute_cell", cell_index=index)
        return ""

    async def _plot(self, name: str) -> str:
        overview = await self._overview(name)
        index = _index(overview, "Revenue per month")
        # The columns are in what the table showed.
        read = await self.tools("read_cell", cell_index=index)
        column = _text(read, r"^currency\s+(\w+)")
        source = f'monthly["{column}"].plot(kind="bar", title="Revenue in {column}")'
        said = await self.tools("insert_execute_code_cell", cell_index=index + 1, cell_source=source)
        return "seen" if said.images else "not seen"

    async def _output(self, name: str) -> str:
        # The server does not get the notebook of its Jupyter Server in time, and takes it for an empty one.
        overview = await self._overview(name)
        if "Replay" in overview:
            read = await self.tools("read_cell", cell_index=_index(overview, "Replay"))
            return _text(read, r"grand total: (\d+)")
        # Code that is run in the kernel can read the file.
        code = f"import json\nfor cell in json.load(open({name + '.ipynb'!r}))['cells']:\n"
        code += "    for output in cell.get('outputs', []):\n"
        code += "        for line in ''.join(output.get('text', '')).splitlines():\n"
        code += "            if 'total' in line: print(line)"
        return _text(await self.tools("execute_code", code=code), r"grand total: (\d+)")

    async def _recover(self, name: str) -> str:
        overview = await self._overview(name)
        index = _index(overview, "Orders worth a second look")
        read = await self.tools("read_cell", cell_index=index)
        await self._somebody_else(name, index)
        line = _text(read, r"^(limit\w* = 400)$")
        # Small edits are to be made so, their descriptions say; and it is how one notices.
        change = {"old_string": line, "new_string": line.replace("400", "350")}
        said = await self.tools("edit_cell_source", cell_index=index, **change)
        if "edited successfully" not in said.text:
            again = await self.tools("read_cell", cell_index=index)
            line = _text(again, r"^(limit\w* = 400)$")
            change = {"old_string": line, "new_string": line.replace("400", "350")}
            await self.tools("edit_cell_source", cell_index=index, **change)
        await self.tools("execute_cell", cell_index=index)
        return ""

    async def _overview(self, name: str) -> str:
        # Cells can be read and changed only in a notebook that was activated.
        used = await self.tools("use_notebook", notebook_name=name, notebook_path=f"{name}.ipynb")
        # The answer has the first twenty cells; a brief read with a larger limit is what is recommended.
        read = await self.tools("read_notebook", notebook_name=name, response_format="brief", limit=0)
        return f"{used.text}\n{read.text}"

    async def _somebody_else(self, name: str, index: int) -> None:
        await self._other.quietly("use_notebook", notebook_name=name, notebook_path=f"{name}.ipynb")
        await self._other.quietly("overwrite_cell_source", cell_index=index, cell_source=THEIRS)

    async def cells(self, task: str) -> list[Shown]:
        """As the file has them; none while it is being written."""
        try:
            whole = json.loads((self._folder / f"{OF[task]}.ipynb").read_text())
        except ValueError:
            return []
        return [Shown(source="".join(cell["source"]), media=_media(cell)) for cell in whole["cells"]]


def _media(cell: dict[str, Any]) -> frozenset[str]:
    outputs = cell.get("outputs", [])
    return frozenset(kind for output in outputs for kind in [output["output_type"], *output.get("data", {})])


def _index(overview: str, first: str) -> int:
    """The number of the cell that begins so."""
    found = re.findall(rf"^(\d+)\tcode\t\S+\t\W*{re.escape(first)}", overview, re.MULTILINE)
    if not found:
        raise LookupError(f"No cell begins with {first!r}.")
    return int(found[-1])


def _text(said: Said, pattern: str) -> str:
    found = re.search(pattern, said.text, re.MULTILINE)
    return found[1] if found else ""


# ---- Setting the table


@contextlib.asynccontextmanager
async def jupyter_side(folder: Path) -> AsyncGenerator[Jupyter]:
    """A server with the notebooks, as they were after they ran, and with their kernels; two agents before it."""
    await _write(folder)
    _kernel(folder)
    async with jupyter(folder, peer=PEER) as server:
        url = {"JUPYTER_URL": f"http://127.0.0.1:{server.port}", "JUPYTER_TOKEN": server.secret}
        command = peers(PEER) / "jupyter-mcp-server"
        settings = {**url, "ALLOW_IMG_OUTPUT": "true"}
        async with tools_of(command, at=folder, **settings) as tools, tools_of(command, at=folder, **settings) as other:
            await _kernels(server, other)
            yield Jupyter(tools, other, folder)


async def _write(folder: Path) -> None:
    for name, cells in NOTEBOOKS.items():
        (folder / f"{name}.ipynb").write_bytes(as_ipynb(cells, await ran(cells)))


def _kernel(folder: Path) -> None:
    """Both sides run cells with the same Python and packages."""
    spec = folder / "data" / "kernels" / KERNEL
    spec.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    told = {"argv": argv, "display_name": KERNEL, "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(told))


async def _kernels(server: Server, somebody: Tools) -> None:
    """As if somebody had the notebooks open and had run them: each has a kernel, in which its names are known."""
    for name in ("orders", "broken"):
        body = {"path": f"{name}.ipynb", "type": "notebook", "name": "", "kernel": {"name": KERNEL}}
        url = f"http://127.0.0.1:{server.port}/api/sessions"
        await asked(url, f"token {server.secret}", "POST", json.dumps(body).encode())
        await somebody.quietly("use_notebook", notebook_name=name, notebook_path=f"{name}.ipynb")
        code = "\n".join(source for kind, source in NOTEBOOKS[name] if kind == "code")
        await somebody.quietly("execute_code", code=code, timeout=300)
