"""Notebooks as tests, beside nbval: the same notebook of 100 cells, from the shell, kernel and all."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from .figures import Figure, alternately
from .peers import OURS, peers
from .runs import Process

CELLS = 100
ROUNDS = 5
# Our environment has many plugins of pytest, and theirs only nbval: so ours loads no more than it needs either.
_ALONE = (
    "import os, sys\nos.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1'\nimport pytest\n"
    "sys.exit(pytest.main(['-p', 'quire.doors.pytest_plugin.options', *sys.argv[1:]]))"
)


def checked_book(cells: int) -> str:
    """Cells that print, compute and show, with what they showed."""
    made: list[dict[str, Any]] = []
    for number in range(cells):
        if number % 2:
            source = f"x = {number}\nprint(x)"
            output: dict[str, Any] = {"output_type": "stream", "name": "stdout", "text": f"{number}\n"}
        else:
            source, data = f"{number} + 1", {"text/plain": str(number + 1)}
            output = {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": data}
        made.append(
            {
                "cell_type": "code",
                "id": f"c{number}",
                "metadata": {},
                "source": source,
                "execution_count": 1,
                "outputs": [output],
            }
        )
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole: dict[str, Any] = {"cells": made, "metadata": {"kernelspec": kernelspec}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole)


async def check_figures() -> list[Figure]:
    """`quire check` and `pytest --quire`, beside `pytest --nbval`."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "book.ipynb").write_text(checked_book(CELLS))
        options = ("-q", "-p", "no:cacheprovider", "-W", "ignore", "book.ipynb")
        check, plugin, nbval = await alternately(
            ROUNDS,
            Process(folder, OURS, "quire", "check", "--exact", "book.ipynb"),
            Process(folder, OURS, "python", "-c", _ALONE, *options, "--quire"),
            Process(folder, peers(), "python", "-m", "pytest", *options, "--nbval"),
        )
    return [
        _figure(f"quire check, {CELLS} cells", check, nbval, 3),
        _figure("the same as pytest --quire", plugin, nbval, None),
    ]


def _figure(name: str, ours: float, theirs: float, at_least: float | None) -> Figure:
    return Figure(
        name=name,
        ours=ours,
        unit="s",
        floor=theirs,
        floor_name="pytest --nbval, alone",
        target=f"≤ 1/{at_least:g} × floor" if at_least is not None else "",
        good=ours * at_least <= theirs if at_least is not None else None,
    )
