"""`git add` of 100 notebooks that were run: with our filter, and with nbstripout as it installs itself."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .figures import Figure, alternately, rate_figure
from .peers import environ, peers

NOTEBOOKS = 100
FEW = 4
"""nbstripout starts a process for each, and takes minutes for all: it is given so many."""
ROUNDS = 3
QUIRE = str(Path(sys.executable).with_name("quire"))
AT_LEAST = 10


def a_notebook(number: int) -> str:
    """Twenty cells that were run: text, a table and a small picture."""
    picture = "iVBORw0KGgo" * 400
    cells: list[dict[str, Any]] = []
    for cell in range(20):
        outputs: list[dict[str, Any]] = [
            {"name": "stdout", "output_type": "stream", "text": [f"line {line}\n" for line in range(20)]},
            {"data": {"image/png": picture, "text/plain": ["<Figure>"]}, "metadata": {}, "output_type": "display_data"},
        ]
        cells.append(
            {
                "cell_type": "code",
                "execution_count": cell + 1,
                "id": f"cell-{cell}",
                "metadata": {},
                "outputs": outputs,
                "source": [f"x = {number}\n", f"plot(x, {cell})"],
            }
        )
    whole: dict[str, Any] = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, sort_keys=True) + "\n"


class Clone:
    """A repository with notebooks, and a filter for them."""

    def __init__(self, folder: Path, notebooks: int, *install: str) -> None:
        self.folder = folder
        self.notebooks = notebooks
        self.folder.mkdir()
        kept = {name: value for name, value in environ().items() if not name.startswith("GIT_")}
        self.env = kept | {"HOME": str(folder.parent), "GIT_CONFIG_NOSYSTEM": "1"}
        self.run("git", "init", "--quiet")
        if install:
            self.run(*install)
        for number in range(notebooks):
            (folder / f"{number}.ipynb").write_text(a_notebook(number))

    def run(self, *command: str) -> None:
        """Run a command in it, with nobody's settings."""
        subprocess.run(command, cwd=self.folder, env=self.env, check=True, capture_output=True)

    async def add(self) -> float:
        """Add all notebooks to an index that knows none of them, and return how many a second."""
        (self.folder / ".git" / "index").unlink(missing_ok=True)
        shutil.rmtree(self.folder / ".git" / "objects")
        (self.folder / ".git" / "objects").mkdir()
        start = time.perf_counter()
        await asyncio.to_thread(self.run, "git", "add", "--all")
        return self.notebooks / (time.perf_counter() - start)


async def git_figures() -> list[Figure]:
    """Our filter beside nbstripout's, and beside none."""
    with tempfile.TemporaryDirectory() as name:
        ours = Clone(Path(name) / "quire", NOTEBOOKS, QUIRE, "git", "install")
        theirs = Clone(Path(name) / "nbstripout", FEW, str(peers() / "python"), "-m", "nbstripout", "--install")
        none = Clone(Path(name) / "none", NOTEBOOKS)
        quick, slow, bare = await alternately(ROUNDS, ours.add, theirs.add, none.add)
    name = f"git add of {NOTEBOOKS} notebooks that were run"
    return [
        rate_figure(name, quick, slow, "nbstripout", AT_LEAST),
        Figure(name="the same beside no filter", ours=quick, unit="/s", floor=bare, floor_name="git alone"),
    ]
