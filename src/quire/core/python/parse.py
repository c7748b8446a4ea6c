"""Whether a kernel could read a cell of Python at all, told before anybody records or runs it.

What IPython takes beside Python is let pass unread: magics, shell lines, questions. So is what
it would strip (prompts that were pasted). In doubt there is no fault: a cell that a kernel would
run must never be refused here, and what slips through, the kernel tells.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import NamedTuple

from .cell_names import MAGIC, SHELL

_MOST = 1_000_000
_PROMPT = re.compile(r"\s*(?:>>> |In ?\[\d*\]:)")
_PYTHON_INSIDE = re.compile(r"%%(?:time|timeit|capture|prun)\b")
# Without their %, IPython knows these too, as long as no name of the notebook hides them.
_AUTOMAGIC = re.compile(
    r"[ \t]*(?:alias|cat|cd|clear|conda|cp|env|history|ls|man|mkdir|more|mv|pip|pwd|rm|rmdir|run|time|timeit|uv|who|whos)"
    r"(?:[ \t]+[^=,(\[\s].*)?"
)
# A question takes as much of a statement with it as IPython likes.
_QUESTION = re.compile(r"^[^#\n]*\?;?[ \t\r]*$|^[ \t]*\?", re.MULTILINE)
_ESCAPED = re.compile(r"[ \t]*[!%].*")
_AUTOCALL = re.compile(r"[ \t]*[/,;][ \t]*[^\W\d].*")
_PIECES = re.compile(r"\\.|\"{3}|'{3}|[\"'#()\[\]{}]", re.DOTALL)


class PythonFault(NamedTuple):
    """Where a source stops being Python, counted from 1, and why."""

    line: int
    column: int
    message: str


def fault_in(source: str) -> PythonFault | None:
    """Return the first thing that no kernel could read in a cell; None if there is none, or nobody can say."""
    if len(source) > _MOST or _PROMPT.match(source):
        return None
    first = source.lstrip()
    if first.startswith("%%"):
        # What a magic hands to Python is read as a cell of its own.
        before, rest = source[: len(source) - len(first)], first[len(first.partition("\n")[0]) :]
        return fault_in(before + rest) if _PYTHON_INSIDE.match(first) else None
    # IPython takes a cell that is indented as a whole.
    indent = re.match(r"(?:[ \t]*\r?\n)*([ \t]*)", source)
    margin = indent[1] if indent is not None else ""
    text = re.sub(rf"^{margin}", "", source, flags=re.MULTILINE) if margin else source
    if _parsed(text) is None or _QUESTION.search(text):
        return None
    found = _parsed(_without_magics(text))
    return None if found is None else found._replace(column=found.column + len(margin))


def _parsed(source: str) -> PythonFault | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except SyntaxError as error:
        return PythonFault(max(error.lineno or 1, 1), max(error.offset or 1, 1), error.msg)
    except ValueError as error:
        return PythonFault(1, 1, str(error))
    except (RecursionError, MemoryError):
        return None
    return None


def _without_magics(source: str) -> str:
    """Return a source with a plain statement in the place of each line that is IPython's; lines keep their numbers."""
    reader, goes_on = _StatementLines(), False
    lines: list[str] = []
    for line in source.split("\n"):
        plain = "" if goes_on else _plain(line) if reader.begins_statement else None
        goes_on = plain is not None and line.rstrip().endswith("\\")
        if plain is None:
            reader.read(line)
        lines.append(line if plain is None else plain)
    return "\n".join(lines)


def _plain(line: str) -> str | None:
    """What may stand for one of IPython's lines; None for any other."""
    line = line.rstrip("\r")
    if line.startswith("%%"):
        return ""
    for pattern in (SHELL, MAGIC):
        if (found := pattern.fullmatch(line)) is not None:
            return f"{found['indent']}{found['target'] or ''}None"
    if any(pattern.fullmatch(line) for pattern in (_ESCAPED, _AUTOMAGIC, _AUTOCALL)):
        return f"{line[: len(line) - len(line.lstrip())]}pass"
    return None


class _StatementLines:
    """Follows a source line by line, and knows whether a statement can begin with the next one."""

    def __init__(self) -> None:
        self._string = ""
        self._quote = ""
        """Of a string that a backslash carries on."""
        self._depth = 0
        self._goes_on = False

    @property
    def begins_statement(self) -> bool:
        return not (self._string or self._depth or self._goes_on)

    def read(self, line: str) -> None:
        quote = self._quote
        for found in _PIECES.finditer(line):
            piece: str = found[0]
            if self._string:
                self._string = "" if piece == self._string else self._string
            elif quote:
                quote = "" if piece[0] == quote else quote
            elif piece == "#":
                break
            elif len(piece) == 3:
                self._string = piece
            elif piece in "\"'":
                quote = piece
            elif piece in "([{":
                self._depth += 1
            elif piece in ")]}":
                self._depth = max(self._depth - 1, 0)
        self._goes_on = not self._string and line.rstrip("\r").endswith("\\")
        self._quote = quote if self._goes_on else ""
