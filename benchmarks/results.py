"""Results of many notebooks as one frame, beside scrapbook: the same files, by turns, in one process."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from quire.core.ids import CellId
from quire.core.sheet.sheet import Sheet, SheetCell
from quire.core.values import Json
from quire.formats import registry
from quire.runs.records.result_rows import results

from .figures import Figure, Measured, alternately

NOTEBOOKS = 1000
OF_SCRAPBOOK = 100
"""So many are enough for it: each takes as long as the one before."""
RESULTS = 5
ROUNDS = 3
PANDAS: Any = import_module("pandas")


def notebook(number: int) -> Sheet:
    """A small notebook that was run: text, five cells that print, and a result of each."""
    cells = [SheetCell(id=CellId("title"), kind="markdown", source="# Month\n\nWhat is computed here, and why.")]
    for each in range(RESULTS):
        lines = [f"value_{line} = compute({number}, {line})" for line in range(8)]
        printed = {"output_type": "stream", "name": "stdout", "text": "step done\n" * 10}
        outputs: list[Json] = [printed, _recorded(f"result_{each}", number + each / 10)]
        cells.append(SheetCell(id=CellId(f"cell-{each}"), source="\n".join(lines), outputs=outputs, count=each + 1))
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return Sheet(cells=tuple(cells), metadata={"kernelspec": spec, "papermill": {"parameters": {"month": number}}})


def _recorded(name: str, value: float) -> Json:
    """What `result` shows: our form, and scrapbook's."""
    data = {
        "application/vnd.quire.result+json": {"name": name, "kind": "json", "value": value},
        "application/scrapbook.scrap.json+json": {"name": name, "data": value, "encoder": "json", "version": 1},
    }
    return {
        "output_type": "display_data",
        "data": data,
        "metadata": {"scrapbook": {"name": name, "data": True, "display": False}},
    }


async def result_figures() -> list[Figure]:
    """A folder of notebooks as one frame, in notebooks a second."""
    scrapbook = _scrapbook()
    with tempfile.TemporaryDirectory() as folder:
        many, few = (_written(Path(folder, str(count)), count) for count in (NOTEBOOKS, OF_SCRAPBOOK))

        def theirs() -> Any:
            # Its frame over many notebooks calls what pandas has no more: those of each are put together.
            return PANDAS.concat([each.scrap_dataframe for each in scrapbook.read_notebooks(str(few)).notebooks])

        ours_rate, their_rate = await alternately(
            ROUNDS,
            _rate(lambda: results(many).to_pandas(), NOTEBOOKS),
            _rate(theirs, OF_SCRAPBOOK),
        )
    return [
        Figure(
            name=f"results of {NOTEBOOKS:,} notebooks as a frame",
            ours=ours_rate,
            unit="/s",
            floor=their_rate,
            floor_name="scrapbook",
            target="≥ 20 ×",
            good=ours_rate >= 20 * their_rate,
        )
    ]


def _written(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        path = folder / f"{number:04}.ipynb"
        path.write_text(registry.write(notebook(number), str(path)))
    return folder


def _scrapbook() -> Any:
    """It is of 2021, and warns of it when it is imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module("scrapbook")


def _rate(work: Callable[[], Any], notebooks: int) -> Measured:
    async def measured() -> float:
        start = time.perf_counter()
        found = work()
        spent = time.perf_counter() - start
        if len(found) != RESULTS * notebooks:
            raise RuntimeError(f"{len(found)} results of {notebooks} notebooks")
        return notebooks / spent

    return measured
