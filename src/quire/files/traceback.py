"""What a traceback says of the code that a person wrote: the line of the cell, and the frames that are not a library's.

Python's kernel gives one text per frame, in colours. Of other kernels' tracebacks nothing is
known but that they are text: those are shown as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from .plain import plain

_CELL = re.compile(r"\s*(?:Cell In\s?\[\d+\]|Input In \[\d+\]), line (\d+)")
_FILE = re.compile(r"\s*File ([^\n]+?):(\d+)")
_OLD_FILE = re.compile(r'\s*File "([^\n"]+)", line (\d+)')
_LIBRARY = re.compile(r"(?:^|/)(?:site-packages|dist-packages|lib/python3[^/]*)/|^<frozen |\.pyx$")


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """A traceback, without what only says where a library went."""

    frames: tuple[str, ...]
    """Plain text, from the cell inwards; empty when there is nothing to show."""
    left_out: int = 0
    """How many frames of libraries."""
    lines: tuple[int, ...] = ()
    """The lines of the cell that was running, from 1."""


def trace(traceback: Sequence[str]) -> Trace:
    """Read a kernel's traceback. The first frame that is a cell's is that of the one that failed."""
    entries = [text for text in (plain(entry).strip("\n") for entry in traceback) if text]
    frames = [text for text in entries if _CELL.match(text) or _file(text) is not None]
    if not frames:
        return Trace(frames=tuple(entries))
    kept = [frame for frame in frames if not _is_library(frame)]
    lines = [int(found[1]) for frame in frames if (found := _CELL.match(frame))]
    return Trace(frames=tuple(kept), left_out=len(frames) - len(kept), lines=tuple(lines[:1]))


def source_lines(source: str, lines: Sequence[int]) -> list[str]:
    """These lines of a source with their numbers, safe to show; none where the source has no such line."""
    text = plain(source).split("\n")
    return [f"line {number}: {text[number - 1].strip()}" for number in lines if 0 < number <= len(text)]


def _file(frame: str) -> str | None:
    found = _OLD_FILE.match(frame) or _FILE.match(frame)
    return found[1] if found is not None else None


def _is_library(frame: str) -> bool:
    path = _file(frame)
    return path is not None and _LIBRARY.search(path) is not None
