"""Comparing and merging notebooks, beside nbdime: the same notebooks, by turns, in one process."""

from __future__ import annotations

import base64
import gc
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec
import nbdime  # pyright: ignore[reportMissingTypeStubs]
import nbformat

from quire.core.diff.diff import diff
from quire.core.diff.merge import merge
from quire.core.ids import CellId
from quire.core.sheet.sheet import Sheet, SheetCell
from quire.core.values import Json
from quire.disk import read_text, write_text
from quire.formats import registry
from quire.git.revisions import merge_versions, three_files

from .figures import Figure, Measured, alternately

CELLS = 1000
ROUNDS = 3
REPEATS = 10
NBDIME: Any = cast("Any", nbdime)


def notebook(cells: int) -> Sheet:
    """A notebook as people have them: text, code, printed lines, tables and pictures."""
    chance = random.Random(7)
    return Sheet(
        cells=tuple(_cell(number, chance) for number in range(cells)),
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )


def _cell(number: int, chance: random.Random) -> SheetCell:
    id = CellId(f"cell-{number}")
    if number % 5 == 0:
        return SheetCell(
            id=id, kind="markdown", source=f"## Step {number}\n\nWhat the next cells do, and why: {chance.random()}."
        )
    lines = [f"value_{number}_{line} = compute({chance.random():.6f}, {line})" for line in range(chance.randint(2, 12))]
    return SheetCell(id=id, source="\n".join(lines), outputs=_outputs(number, chance), count=number)


def _outputs(number: int, chance: random.Random) -> list[Json]:
    printed = "".join(f"step {line}: {chance.random():.4f}\n" for line in range(chance.randint(1, 20)))
    rows = "".join(f"<tr><td>{chance.random():.4f}</td></tr>\n" for _ in range(10))
    outputs: list[Json] = [{"output_type": "stream", "name": "stdout", "text": printed}]
    if number % 3 == 0:
        data = {"text/plain": "a table", "text/html": f"<table>\n{rows}</table>"}
        outputs.append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data})
    if number % 10 == 1:
        picture = base64.b64encode(chance.randbytes(6000)).decode()
        outputs.append({"output_type": "display_data", "metadata": {}, "data": {"image/png": picture}})
    return outputs


def worked_on(sheet: Sheet, start: int, word: str) -> Sheet:
    """The notebook after a day: every twentieth cell edited, it and the next run, some added, removed and moved."""
    cells = list(sheet.cells)
    for number in range(start, len(cells), 20):
        cells[number] = _run(cells[number], word, f"\n{word}_{number}()")
        cells[number + 1 : number + 5] = [_run(cell, word) for cell in cells[number + 1 : number + 5]]
    for number in range(start + 3, len(cells), 200):
        cells.insert(number, SheetCell(id=CellId(f"{word}-{number}"), source=f"{word} = {number}"))
    del cells[start + 7 :: 300]
    cells.insert(start + 100, cells.pop(start + 15))
    # Decoded anew: two files never share a value in memory.
    return msgspec.json.decode(msgspec.json.encode(Sheet(cells=tuple(cells), metadata=sheet.metadata)), type=Sheet)


def _run(cell: SheetCell, word: str, more: str = "") -> SheetCell:
    """The cell after it was run again: what it printed is another."""
    if not cell.outputs:
        return msgspec.structs.replace(cell, source=cell.source + more)
    printed, *others = cell.outputs
    outputs: list[Json] = [{**printed, "text": f"{printed['text']}{word}\n"}, *others]
    return msgspec.structs.replace(cell, source=cell.source + more, outputs=outputs, count=(cell.count or 0) + 1000)


def as_nbformat(sheet: Sheet) -> Any:
    """The notebook as nbdime takes it."""
    return cast("Any", nbformat).reads(registry.write(sheet, "x.ipynb"), as_version=4)


def timed(work: Callable[[], object], times: int = 1) -> Measured:
    """Seconds that the work takes; what is short is done several times, or a busy machine would hide it."""

    async def measured() -> float:
        start = time.perf_counter()
        for _ in range(times):
            work()
        return (time.perf_counter() - start) / times

    return measured


async def compare_figures() -> list[Figure]:
    """Loaded notebooks, files, and ten times as many cells."""
    base = notebook(CELLS)
    sides = [base, worked_on(base, 1, "ours"), worked_on(base, 11, "theirs")]
    nodes = [as_nbformat(sheet) for sheet in sides]
    loaded = [
        await _against(
            "diff of 1,000 cells, loaded", lambda: diff(*sides[:2]), lambda: NBDIME.diff_notebooks(*nodes[:2]), 50
        ),
        await _against(
            "merge of 1,000 cells, loaded", lambda: merge(*sides), lambda: NBDIME.merge_notebooks(*nodes), 50
        ),
    ]
    with tempfile.TemporaryDirectory() as folder:
        return [*loaded, *await _from_files(Path(folder), sides), *await _growth()]


async def _from_files(folder: Path, sides: list[Sheet]) -> list[Figure]:
    paths = [folder / f"{number}.ipynb" for number in range(3)]
    for path, sheet in zip(paths, sides, strict=True):
        write_text(path, registry.write(sheet, str(path)))
    out = folder / "out.ipynb"

    def read(path: Path) -> Sheet:
        return registry.read(read_text(path), str(path))

    def merged() -> None:
        base, ours, theirs = three_files(paths[0], paths[1], paths[2])
        found = merge_versions(base, ours, theirs).sheet
        write_text(out, registry.write(found, str(out), like=ours.text, was=ours.sheet))

    def read_by_nbdime(path: Path) -> Any:
        return NBDIME.utils.read_notebook(str(path), on_null="empty")

    def merged_by_nbdime() -> None:
        found, _ = NBDIME.merge_notebooks(*map(read_by_nbdime, paths))
        cast("Any", nbformat).write(found, out)

    def compared_by_nbdime() -> None:
        NBDIME.diff_notebooks(*map(read_by_nbdime, paths[:2]))

    return [
        await _against("diff of 1,000 cells, from files", lambda: diff(*map(read, paths[:2])), compared_by_nbdime, 20),
        await _against("merge of 1,000 cells, from files to file", merged, merged_by_nbdime, 20),
    ]


def _settle() -> None:
    """Let the collector forget what was prepared: it would go through all of it again and again."""
    gc.collect()
    gc.freeze()


async def _against(name: str, ours: Callable[[], object], theirs: Callable[[], object], times: int) -> Figure:
    _settle()
    took, nbdime_took = await alternately(ROUNDS, timed(ours, REPEATS), timed(theirs))
    return Figure(
        name=name,
        ours=took,
        unit="s",
        floor=nbdime_took,
        floor_name="nbdime",
        target=f"≤ 1/{times} of nbdime",
        good=took * times <= nbdime_took,
    )


async def _growth() -> list[Figure]:
    """Ten times the cells take ten times as long."""
    small, large = (
        [base, worked_on(base, 1, "ours"), worked_on(base, 11, "theirs")] for base in map(notebook, (CELLS, 10 * CELLS))
    )
    return [
        await _grown("diff of 10,000 cells", lambda: diff(*small[:2]), lambda: diff(*large[:2])),
        await _grown("merge of 10,000 cells", lambda: merge(*small), lambda: merge(*large)),
    ]


async def _grown(name: str, small: Callable[[], object], large: Callable[[], object]) -> Figure:
    _settle()
    few, many = await alternately(7, timed(small, REPEATS), timed(large))
    return Figure(
        name=name,
        ours=many,
        unit="s",
        floor=10 * few,
        floor_name="10 × 1,000 cells",
        target="≤ 1.5 × floor",
        good=many <= 15 * few,
    )
