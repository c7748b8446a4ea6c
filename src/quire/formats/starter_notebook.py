"""A notebook to begin with, from a few words on a task: title, narrative, parameters, steps, results.

It runs as it is, and does nothing yet. Lines of the task that are items of a list are its steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..core.ids import CellId
from ..core.sheet.sheet import Sheet, SheetCell, with_ids
from .terminal_safe import one_line

_ITEM = re.compile(r"[ \t]*(?:\d{1,3}[.)]|[-*+•])[ \t]+(\S.*)")
_SENTENCE = re.compile(r"(?<=[.!?])\s")
MOST_STEPS = 50
_MOST_TITLE = 80
_MOST_SLUG = 50
_NONE = CellId("")
"""An id that the file gives."""
_PARAMETERS = "# What a run may change, with its default: `name = value  # what it is`."
_RESULTS = 'from quire.kernel import result\n\n# What is to be kept of a run: `result("name", value)`.'


def drafted(task: str) -> Sheet:
    """Return a notebook for a task."""
    steps = [found[1].strip() for line in task.splitlines() if (found := _ITEM.fullmatch(line)) is not None]
    return Sheet(cells=with_ids(list(_cells(task.strip(), steps[:MOST_STEPS]))))


def title_of(task: str) -> str:
    """What the task is called: its first sentence, without the marks of a heading."""
    first = _SENTENCE.split(one_line(task.strip(), 1000).lstrip("# "), maxsplit=1)[0]
    return one_line(first.rstrip(" .:!?") or "Untitled", _MOST_TITLE)


def slug(text: str) -> str:
    """A text as the name of a file or of a cell: `sum-the-sales`."""
    words = re.findall(r"[^\W_]+", text.lower())
    name = ""
    for word in words:
        if name and len(name) + len(word) >= _MOST_SLUG:
            break
        name = f"{name}-{word}".strip("-")
    return name[:_MOST_SLUG] or "notebook"


def _cells(task: str, steps: list[str]) -> Iterator[SheetCell]:
    yield SheetCell(id=_NONE, kind="markdown", source=f"# {title_of(task)}\n\n{task}", name="task")
    yield SheetCell(id=_NONE, source=_PARAMETERS, name="parameters", tags=("parameters",))
    for number, step in enumerate(steps or ["Work"], 1):
        yield SheetCell(id=_NONE, kind="markdown", source=f"## {number}. {step}" if steps else f"## {step}")
        yield SheetCell(id=_NONE, source=f"# {one_line(step, 200)}", name=f"step-{number}")
    yield SheetCell(id=_NONE, kind="markdown", source="## Results")
    yield SheetCell(id=_NONE, source=_RESULTS, name="results")
