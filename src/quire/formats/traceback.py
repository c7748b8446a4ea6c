"""What a traceback says of the code that a person wrote: the line of the cell, and the frames that are not a library's.

Python's kernel gives one text per frame, in colours. Of other kernels' tracebacks nothing is
known but that they are text: those are shown as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ..core.visible import visible
from .terminal_safe import plain

_CELL = re.compile(r"\s*(?:Cell In\s?\[\d+\]|Input In \[\d+\]), line (\d+)")
_FILE = re.compile(r"\s*File ([^\n]+?):(\d+)")
_OLD_FILE = re.compile(r'\s*File "([^\n"]+)", line (\d+)')
_LIBRARY = re.compile(r"(?:^|/)(?:site-packages|dist-packages|lib/python3[^/]*)/|^<frozen |\.pyx$")


_HEADS = re.compile(r"^(?=[ \t]*(?:Cell In\s?\[\d+\]|Input In \[\d+\]|File [^\n]+?[:,] ?(?:line )?\d+))", re.MULTILINE)
_COUNT = re.compile(r"\s*(?:Cell In\s?|Input In )\[(\d+)\]")
_FUNCTION = re.compile(r"[^\n]*?, in ([^\n(]{1,100})")
_POINTED = re.compile(r"^-+> ?(\d+) ?([^\n]*)", re.MULTILINE)
_NUMBERED = re.compile(r"^(-+>)? *(\d+) ?([^\n]*)$", re.MULTILINE)


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """A traceback, without what only says where a library went."""

    frames: tuple[str, ...]
    """Plain text, from the cell inwards; empty when there is nothing to show."""
    left_out: int = 0
    """How many frames of libraries."""
    lines: tuple[int, ...] = ()
    """The lines of the cell that was running, from 1."""


class FrameLocation(msgspec.Struct, frozen=True, kw_only=True):
    """Where a frame was: in a cell or in a file."""

    count: int | None = None
    """The number that the kernel gave the execution, of a cell's frame."""
    file: str | None = None
    line: int
    function: str = ""
    code: str = ""
    around: tuple[tuple[int, str], ...] = ()
    """The lines that the kernel shows of it, with their numbers."""


def place(frame: str) -> FrameLocation | None:
    """What the plain text of a frame says of where it was; None of what is no frame."""
    cell, file = _CELL.match(frame), _OLD_FILE.match(frame) or _FILE.match(frame)
    found = cell or file
    if found is None:
        return None
    count, function, pointed = _COUNT.match(frame), _FUNCTION.match(frame), _POINTED.search(frame)
    return FrameLocation(
        count=int(count[1]) if count is not None else None,
        file=file[1] if file is not None and cell is None else None,
        line=int(cell[1] if cell is not None else file[2] if file is not None else 0),
        function=function[1].strip() if function is not None else "",
        code=pointed[2].strip() if pointed is not None else "",
        around=tuple((int(each[2]), each[3]) for each in _NUMBERED.finditer(frame)),
    )


def trace(traceback: Sequence[str]) -> Trace:
    """Read a kernel's traceback. The first frame that is a cell's is that of the one that failed."""
    # A traceback that is long was joined, and cut in its middle.
    parts = (part for entry in traceback for part in _HEADS.split(plain(entry)))
    entries = [text for text in (part.strip("\n") for part in parts) if text.strip()]
    frames = [text for text in entries if _CELL.match(text) or _file(text) is not None]
    if not frames:
        return Trace(frames=tuple(entries))
    kept = [frame for frame in frames if not _is_library(frame)]
    lines = [int(found[1]) for frame in frames if (found := _CELL.match(frame))]
    return Trace(frames=tuple(kept), left_out=len(frames) - len(kept), lines=tuple(lines[:1]))


def source_lines(source: str, lines: Sequence[int]) -> list[str]:
    """These lines of a source with their numbers, visible; none where the source has no such line."""
    text = visible(source).split("\n")
    return [f"line {number}: {text[number - 1].strip()}" for number in lines if 0 < number <= len(text)]


def _file(frame: str) -> str | None:
    found = _OLD_FILE.match(frame) or _FILE.match(frame)
    return found[1] if found is not None else None


def _is_library(frame: str) -> bool:
    path = _file(frame)
    return path is not None and _LIBRARY.search(path) is not None
