"""Running notebooks, beside papermill and nbclient: each from file to file, in a process of its own, kernel and all."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

from .figures import Figure, alternately
from .peers import OURS, environ, peers

ROUNDS = 3
SHELL_ROUNDS = 5

# All say, at the end, the most memory that their own process took; the kernel's is not in it.
_MEMORY = "\nimport resource\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
_OURS = (
    "import atexit, sys\nfrom quire.doors.cli.start import main\n"
    f"atexit.register(lambda: exec({_MEMORY!r}))\nsys.argv = ['quire', 'run', *sys.argv[1:]]\nmain()"
)
_NBCLIENT = (
    "import sys, nbformat\nfrom nbclient import NotebookClient\nbook = nbformat.read(sys.argv[1], as_version=4)\n"
    "NotebookClient(book, timeout=None).execute()\nnbformat.write(book, sys.argv[2])"
) + _MEMORY
_PAPERMILL = "import sys, papermill\npapermill.execute_notebook(sys.argv[1], sys.argv[2], progress_bar=False)" + _MEMORY


class Process:
    """A command that is run again and again: seconds from its start to its end, and the most memory it said it took."""

    def __init__(self, folder: Path, at: Path, *words: str | Path) -> None:
        self._folder, self._command = folder, (at / words[0], *words[1:])
        self.kilobytes = 0

    async def __call__(self) -> float:
        """Run it once."""
        start = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            *self._command, cwd=self._folder, env=environ(), stdout=PIPE, stderr=PIPE
        )
        out, said = await process.communicate()
        if process.returncode != 0:
            raise RuntimeError(said.decode())
        took = time.perf_counter() - start
        last = out.split()[-1] if out.split() else b""
        if last.isdigit():
            self.kilobytes = max(self.kilobytes, int(last))
        return took


def book(*sources: str) -> str:
    """A notebook of code cells."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": source, "execution_count": None, "outputs": []}
        for n, source in enumerate(sources)
    ]
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole: dict[str, Any] = {"cells": cells, "metadata": {"kernelspec": kernelspec}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole)


def trivial(cells: int) -> str:
    """Cells that do next to nothing, and show it."""
    return book(*(f"x = {n}\nprint(x)" if n % 2 else f"{n} + 1" for n in range(cells)))


def pictures(count: int) -> str:
    """Cells that each show a picture of 1 MB."""
    first = "import os\nfrom IPython.display import Image, display"
    return book(first, *("display(Image(data=os.urandom(1_000_000), format='png'))" for _ in range(count)))


async def runs_figures() -> list[Figure]:
    """Three cells from the shell, a thousand, and five thousand."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name, cells in (("three", 3), ("thousand", 1000), ("five", 5000)):
            (folder / f"{name}.ipynb").write_text(trivial(cells))
        return [await _three(folder), *await _thousand(folder), await _five_thousand(folder)]


async def images_figures() -> list[Figure]:
    """Pictures: how long, and how much memory."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "pictures.ipynb").write_text(pictures(100))
        return await _pictures(folder)


async def _three(folder: Path) -> Figure:
    ours, theirs = await alternately(
        SHELL_ROUNDS,
        Process(folder, OURS, "quire", "run", "three.ipynb", "out.ipynb"),
        Process(folder, peers(), "papermill", "three.ipynb", "theirs.ipynb"),
    )
    return _times("three trivial cells, from the shell", ours, theirs, "papermill", 3)


def _python(folder: Path, code: str, name: str, at: Path | None = None) -> Process:
    at = at or (OURS if code is _OURS else peers())
    return Process(folder, at, "python", "-c", code, f"{name}.ipynb", f"{name}-out.ipynb")


async def _thousand(folder: Path) -> list[Figure]:
    works = [
        _python(folder, _OURS, "thousand"),
        *(_python(folder, _NBCLIENT, "thousand", at) for at in (OURS, peers())),
    ]
    ours, theirs, alone = await alternately(ROUNDS, *works)
    return [
        _times("1,000 trivial cells", ours, theirs, "nbclient beside Jupyter", 2),
        _times("the same", ours, alone, "nbclient alone", None),
    ]


async def _five_thousand(folder: Path) -> Figure:
    few, many = await alternately(ROUNDS, _python(folder, _OURS, "thousand"), _python(folder, _OURS, "five"))
    return Figure(
        name="5,000 trivial cells",
        ours=many,
        unit="s",
        floor=5 * few,
        floor_name="5 × 1,000 cells",
        target="≤ 1.2 × floor",
        good=many <= 6 * few,
    )


async def _pictures(folder: Path) -> list[Figure]:
    ours, nbclient, papermill = (_python(folder, code, "pictures") for code in (_OURS, _NBCLIENT, _PAPERMILL))
    took, client_took = await alternately(ROUNDS, ours, nbclient)
    mill_took = await papermill()  # once: it takes minutes
    least = min(nbclient.kilobytes, papermill.kilobytes)
    return [
        _times("100 images of 1 MB", took, client_took, "nbclient", 1),
        _times("the same beside papermill", took, mill_took, "papermill", 1),
        Figure(
            name="memory of the client, 100 images of 1 MB",
            ours=ours.kilobytes / 1000,
            unit=" MB",
            floor=least / 1000,
            floor_name="the better of both",
            target="< floor",
            good=ours.kilobytes < least,
        ),
    ]


def _times(name: str, ours: float, theirs: float, peer: str, times: int | None) -> Figure:
    if times is None:
        return Figure(name=name, ours=ours, unit="s", floor=theirs, floor_name=peer)
    target = f"≤ 1/{times} of it" if times > 1 else "no slower"
    return Figure(
        name=name, ours=ours, unit="s", floor=theirs, floor_name=peer, target=target, good=ours * times <= theirs
    )
