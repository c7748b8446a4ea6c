"""What agents spend: five tasks through our tools and through jupyter-mcp-server on a real Jupyter Server.

Nobody guesses here: both sides are scripts that do what a good agent would do with the tools as they are described. What
each call is for stands beside it. Counted is what the model has to read: the text of the answers, and images at what one
costs. Whether a task is done is looked up in the notebook, the same for both.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median

from ..figures import Figure
from .on_jupyter import jupyter_side
from .on_quire import quire_side
from .tasks import TASKS, Result, Side, done

THEIRS = "jupyter-mcp-server"
FEWER_CHARACTERS, FEWER_CALLS = 5.0, 2.0


async def agents_figures() -> list[Figure]:
    """Calls and characters of each task, on both sides; and how many characters the tools themselves are."""
    with tempfile.TemporaryDirectory() as folder:
        async with quire_side(_made(Path(folder), "ours")) as side:
            ours, our_list = await _all(side), await side.tools.listed()
        async with jupyter_side(_made(Path(folder), "theirs")) as side:
            theirs, their_list = await _all(side), await side.tools.listed()
    figures = [figure for task in TASKS for figure in _figures(task, ours[task], theirs[task])]
    tools = f"{our_list[0]} tools, before the first call (theirs: {their_list[0]})"
    figures.append(_figure(tools, our_list[1], their_list[1], "characters"))
    return [*figures, *_medians(ours, theirs), _with_tools(ours, theirs, our_list[1], their_list[1])]


def _made(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


async def _all(side: Side) -> dict[str, Result]:
    return {task: await done(side, task) for task in TASKS}


def _figures(task: str, ours: Result, theirs: Result) -> list[Figure]:
    sys.stderr.write(f"{task}: {TASKS[task]}\n")
    succeeded = f"{task}: {'done' if ours.good else 'NOT DONE'}, theirs {'done' if theirs.good else 'not done'}"
    calls = _figure(f"{succeeded}; calls", ours.calls, theirs.calls, "calls", good=ours.good)
    return [calls, _figure(f"{task}: characters", ours.characters, theirs.characters, "characters")]


def _figure(name: str, ours: float, theirs: float, unit: str, good: bool | None = None) -> Figure:
    target = "done" if good is not None else ""
    return Figure(name=name, ours=ours, unit=f" {unit}", floor=theirs, floor_name=THEIRS, target=target, good=good)


def _medians(ours: dict[str, Result], theirs: dict[str, Result]) -> list[Figure]:
    """How many times fewer, in the median of the tasks."""
    characters = median(theirs[task].characters / ours[task].characters for task in TASKS)
    calls = median(theirs[task].calls / ours[task].calls for task in TASKS)
    return [
        _median("characters, median: times fewer than theirs", characters, FEWER_CHARACTERS),
        _median("calls, median: times fewer than theirs", calls, FEWER_CALLS),
    ]


def _with_tools(ours: dict[str, Result], theirs: dict[str, Result], our_tools: int, their_tools: int) -> Figure:
    """The same for who begins anew with each task, and reads what the tools are."""
    both = [(their_tools + theirs[task].characters) / (our_tools + ours[task].characters) for task in TASKS]
    return Figure(name="characters, median, with the tools in each task", ours=median(both), unit=" ×")


def _median(name: str, ours: float, least: float) -> Figure:
    return Figure(name=name, ours=ours, unit=" ×", target=f"≥ {least:g}", good=ours >= least)
