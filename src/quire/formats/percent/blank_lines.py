"""How many blank lines part two cells of a script: two around functions and classes, as PEP 8 has it.

By the look of the lines, as Jupytext counts, so that both write the same file.
"""

from __future__ import annotations

from collections.abc import Sequence

from .magics import Quotes

_DEFINES = ("def ", "async ", "class ")


def blank_lines(lines: Sequence[str], next_has_code: bool, next_defines: bool) -> int:
    """Return how many blank lines part a cell from the next: two around functions and classes (PEP 8)."""
    if _ends_with_definition(lines):
        return 2 if next_has_code else 1
    ends_with_code = bool(lines) and bool(lines[-1].strip()) and not lines[-1].startswith("#")
    return 2 if ends_with_code and next_defines else 1


def _ends_with_definition(lines: Sequence[str]) -> bool:
    if not any(line.startswith(_DEFINES) for line in lines):
        return False
    outside: list[str] = []
    quotes = Quotes()
    for line in lines:
        if quotes.open is None:
            outside.append(line)
        quotes.read(line)
    below = ""
    for index, line in enumerate(reversed(outside)):
        if not line.strip():
            if index and not below.strip():
                return False
        elif not line.startswith(("#", " ", ")")):
            return line.startswith(_DEFINES)
        below = line
    return False


def has_code(lines: Sequence[str]) -> bool | None:
    """Return whether a cell has code near its top; None when the next cell decides."""
    above = "#"
    for line in lines:
        bare = line.strip()
        if not bare:
            if not above:
                return False
        elif not bare.startswith("#"):
            return True
        above = bare
    return None


def defines(lines: Sequence[str]) -> bool | None:
    """Return whether a cell begins with a function or a class; None when the next cell decides."""
    above = "#"
    quotes = Quotes()
    for line in lines:
        inside = quotes.open is not None
        quotes.read(line)
        bare = line.strip()
        if inside:
            pass
        elif not bare:
            if not above:
                return False
        elif line.startswith(_DEFINES):
            return True
        elif not line.startswith(("#", "@", " ", ")")):
            return False
        above = bare
    return None
