"""An .ipynb file part by part: for a notebook whose outputs together are too large to hold.

The parts together are just what `ipynb.write` would give for all of it.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator
from functools import cache

from msgspec.structs import replace

from ...core.ids import CellId
from ...core.sheet.sheet import Sheet, SheetCell, is_text
from ...core.values import Json
from .format import write

# Each at its own depth: what is nested is indented further, and no text holds a line break as it is.
_CELLS = '\n "cells": ['
_OUTPUTS = '\n   "outputs": ['
_LINES = '\n     "text": ['
_PIECE = 500_000
"""A text longer than this is taken apart: as lines it takes many times its length."""
_BASE64 = (string.ascii_letters + string.digits + "+/=").encode()
_MARK = "@quire.place@"


def parts(around: Sheet, cells: Iterable[tuple[SheetCell, Iterable[Json] | None]], path: str) -> Iterator[str]:
    """Yield the text of a notebook: `around` says what stands around the cells.

    Each cell has an id of its own. It comes with its outputs, which are taken one by one;
    None: as the cell has them.
    """
    opening, closing = _open(write(replace(around, cells=()), path, None), _CELLS)
    yield opening
    between = "\n"
    for cell, outputs in cells:
        yield between
        yield from (_cell(cell, path),) if outputs is None else _cell_parts(cell, outputs, path)
        between = ",\n"
    yield "]" if between == "\n" else "\n ]"
    yield closing


def _cell_parts(cell: SheetCell, outputs: Iterable[Json], path: str) -> Iterator[str]:
    opening, closing = _open(_cell(replace(cell, outputs=[]), path), _OUTPUTS)
    yield opening
    between = "\n"
    for output in outputs:
        yield between
        if output["output_type"] == "stream" and len(output["text"]) > _PIECE:
            yield from _stream_parts(output, path)
        elif large := _large_media(output):
            yield from _media_parts(output, large, path)
        else:
            yield _output(output, path)
        between = ",\n"
    yield "]" if between == "\n" else "\n   ]"
    yield closing


def _stream_parts(output: Json, path: str) -> Iterator[str]:
    opening, closing = _open(_output(output | {"text": ""}, path), _LINES)
    before, after = _around_lines()
    text: str = output["text"]
    yield opening
    between, at = "\n", 0
    while at < len(text):
        end = text.find("\n", at + _PIECE) + 1 or len(text)
        yield between
        yield _output(_stream(text[at:end]), path)[before:after]
        between, at = ",\n", end
    yield "\n     ]"
    yield closing


def _large_media(output: Json) -> dict[str, str]:
    """Media in Base64 that are too large to be written like any text: they need no escapes."""
    bundle: dict[str, Json] = output.get("data") or {}
    return {
        media: value
        for media, value in bundle.items()
        if isinstance(value, str) and len(value) > _PIECE and not is_text(media) and _is_base64(value)
    }


def _is_base64(text: str) -> bool:
    return text.isascii() and not text.encode().translate(None, _BASE64)


def _media_parts(output: Json, large: dict[str, str], path: str) -> Iterator[str]:
    marks = {media: f"{_MARK}{number}{_MARK}" for number, media in enumerate(large)}
    text = _output(output | {"data": output["data"] | marks}, path)
    if any(text.count(mark) != 1 for mark in marks.values()):
        yield _output(output, path)  # somebody writes about us
        return
    # In the order in which they stand there, which is the alphabet's.
    for media, mark in sorted(marks.items()):
        before, _, text = text.partition(mark)
        yield before
        yield large[media]
    yield text


def _open(text: str, list_of: str) -> tuple[str, str]:
    """A text with an empty list in it, up to the list and after it."""
    before, found, after = text.partition(f"{list_of}]")
    return before + found.removesuffix("]"), after


def _cell(cell: SheetCell, path: str) -> str:
    before, after = _around_cells()
    return write(Sheet(cells=(cell,)), path, None)[before:after]


def _output(output: Json, path: str) -> str:
    before, after = _around_outputs()
    return _cell(_plain([output]), path)[before:after]


@cache
def _around_cells() -> tuple[int, int]:
    """Where the cells of a notebook begin, and where they end, counted from its end; all else is the same in each."""
    opening, closing = _open(write(Sheet(), "", None), _CELLS)
    return len(opening) + len("\n"), -len(closing) - len("\n ]")


@cache
def _around_outputs() -> tuple[int, int]:
    opening, closing = _open(_cell(_plain([]), ""), _OUTPUTS)
    return len(opening) + len("\n"), -len(closing) - len("\n   ]")


@cache
def _around_lines() -> tuple[int, int]:
    opening, closing = _open(_output(_stream(""), ""), _LINES)
    return len(opening) + len("\n"), -len(closing) - len("\n     ]")


def _stream(text: str) -> Json:
    return {"output_type": "stream", "name": "stdout", "text": text}


def _plain(outputs: list[Json]) -> SheetCell:
    return SheetCell(id=CellId("a"), outputs=outputs)
