"""From the shell, on a small notebook: how long until a person sees the answer."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

from .figures import Figure, Measured, alternately
from .peers import OURS, environ, peers

ROUNDS = 5


def command(*args: str | Path, at: Path = OURS) -> Measured:
    """Seconds that a command takes, from its start to its end."""

    async def measured() -> float:
        start = time.perf_counter()
        process = await asyncio.create_subprocess_exec(at / args[0], *args[1:], env=environ(), stdout=PIPE, stderr=PIPE)
        _, said = await process.communicate()
        if process.returncode not in (0, 1):
            raise RuntimeError(said.decode())
        return time.perf_counter() - start

    return measured


def notebook(word: str) -> str:
    """Three cells."""
    cells: list[dict[str, Any]] = [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# Title"}]
    for number, source in enumerate((f"x = '{word}'", "print(x)")):
        code: dict[str, Any] = {"cell_type": "code", "id": f"c{number}", "metadata": {}, "source": source}
        cells.append(code | {"execution_count": None, "outputs": []})
    whole: dict[str, Any] = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole)


async def shell_figures() -> list[Figure]:
    """quire beside nbdiff and jupytext, and beside the interpreter alone."""
    with tempfile.TemporaryDirectory() as folder:
        a, b, script = (Path(folder) / name for name in ("a.ipynb", "b.ipynb", "a.py"))
        a.write_text(notebook("one"))
        b.write_text(notebook("two"))
        bare, ours_diff, nbdiff, ours_convert, jupytext, alone = await alternately(
            ROUNDS,
            command("python", "-c", "pass"),
            command("quire", "diff", a, b),
            command("nbdiff", a, b),
            command("quire", "convert", a, script),
            *(command("jupytext", "--to", "py:percent", "--output", script, a, at=at) for at in (OURS, peers())),
        )
    return [
        _against("quire diff of a small notebook, from the shell", ours_diff, nbdiff, "nbdiff"),
        _against(
            "quire convert of a small notebook, from the shell", ours_convert, jupytext, "jupytext beside Jupyter"
        ),
        Figure(name="the same", ours=ours_convert, unit="s", floor=alone, floor_name="jupytext alone"),
        Figure(name="an interpreter that does nothing", ours=bare, unit="s"),
    ]


def _against(name: str, ours: float, theirs: float, peer: str) -> Figure:
    return Figure(
        name=name,
        ours=ours,
        unit="s",
        floor=theirs,
        floor_name=peer,
        target="≤ 1/5 of it",
        good=ours * 5 <= theirs,
    )
