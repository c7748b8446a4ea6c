"""Notebooks as hypothesis draws them, and what somebody may do to one."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

from quire.core.events import CellKind
from quire.core.ids import CellId
from quire.core.sheet.sheet import Sheet, SheetCell, with_ids
from quire.core.values import Json

KINDS: tuple[CellKind, ...] = ("code", "markdown", "raw", "sql", "prompt")
SOURCES = st.text("xy=\n\r é🦊", max_size=12) | st.lists(
    st.sampled_from(["a = 1", "b = 2", "c = a + b", "print(c)", "", "=======", "<<<<<<< ours"]), max_size=6
).map("\n".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 0.5]) | st.text("xy", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("kl"), inner, max_size=2),
    max_leaves=4,
)
OBJECTS = st.sampled_from(
    [
        {},
        {"k": 1},
        {"k": True},
        {"k": 1.0, "l": None},
        {"k": {"m": "x", "n": [1]}},
        {"k": {"m": "y"}},
        {"collapsed": True},
    ]
)


def stream(text: str) -> dict[str, Json]:
    """An output as a print gives it."""
    return {"output_type": "stream", "name": "stdout", "text": text}


def display(data: dict[str, Json]) -> dict[str, Json]:
    """An output in several media types."""
    return {"output_type": "display_data", "data": data, "metadata": {}}


OUTPUTS: st.SearchStrategy[list[Json]] = st.lists(
    st.sampled_from([stream("x"), stream("y\n"), display({}), display({"text/plain": "x", "application/json": 1})]),
    max_size=2,
)
IDS = st.integers(0, 12).map(lambda number: CellId(f"cell{number}"))
CELLS = st.builds(
    SheetCell,
    id=IDS | st.just(CellId("")),
    kind=st.sampled_from(KINDS),
    source=SOURCES,
    name=st.none() | st.sampled_from("nm"),
    tags=st.sampled_from([(), ("t",), ("u", "t"), ("v",)]),
    metadata=OBJECTS,
    outputs=OUTPUTS,
    count=st.none() | st.integers(1, 3),
    attachments=OBJECTS,
    extra=OBJECTS,
)


def sheet_of(*cells: SheetCell, metadata: dict[str, Any] | None = None) -> Sheet:
    """A notebook of these cells, each with an id."""
    return Sheet(cells=with_ids(cells), metadata=metadata or {})


def code(source: str, id: str = "", **fields: Any) -> SheetCell:
    """A code cell."""
    return SheetCell(id=CellId(id), source=source, **fields)


SHEETS = st.builds(Sheet, cells=st.lists(CELLS, max_size=5).map(with_ids), metadata=OBJECTS, extra=OBJECTS)


@st.composite
def descendants(draw: st.DrawFn, sheet: Sheet) -> Sheet:
    """The notebook after somebody worked on it: edits, re-runs, moves, cells added and removed."""
    cells = list(sheet.cells)
    for _ in range(draw(st.integers(0, 4))):
        index = draw(st.integers(0, max(0, len(cells) - 1)))
        match draw(st.sampled_from(["add", "remove", "move", "source", "run", "field"])):
            case "add":
                cells.insert(index, draw(CELLS))
            case "remove":
                del cells[index : index + 1]
            case "move" if cells:
                cells.insert(draw(st.integers(0, len(cells) - 1)), cells.pop(index))
            case "source" if cells:
                cells[index] = msgspec.structs.replace(cells[index], source=draw(SOURCES))
            case "run" if cells:
                cells[index] = msgspec.structs.replace(
                    cells[index], outputs=draw(OUTPUTS), count=draw(st.integers(4, 6))
                )
            case "field" if cells:
                name = draw(st.sampled_from(["kind", "name", "tags", "metadata", "attachments", "extra"]))
                cells[index] = msgspec.structs.replace(cells[index], **{name: getattr(draw(CELLS), name)})
            case _:
                pass
    metadata = draw(st.just(sheet.metadata) | OBJECTS)
    return msgspec.structs.replace(sheet, cells=with_ids(cells), metadata=metadata)


@st.composite
def families(draw: st.DrawFn) -> tuple[Sheet, Sheet, Sheet]:
    """A notebook and what became of it on two sides."""
    base = draw(SHEETS)
    return base, draw(descendants(base)), draw(descendants(base))
