"""The file of a logbook's run, as somebody wrote it by hand: its code, its prose and its notes, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from ...core.sheet.sheet import Sheet
from ...core.values import Json
from .reader import LogbookText, take_apart
from .run_notes import RECORD, LogbookNote, read_notes


class RunCode(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of code that stands in the file, with the notes around it."""

    source: str
    line: int
    outputs: list[Json]
    before: tuple[LogbookNote, ...] = ()
    after: tuple[LogbookNote, ...] = ()

    @property
    def template(self) -> str | None:
        """What the template has there; None: it has nothing there."""
        if any(note.kind == "Added" for note in self.before):
            return None
        changed = next((note for note in self.before if note.kind == "Deviates from the template"), None)
        return self.source if changed is None or changed.code is None else changed.code

    def note(self, *kinds: str) -> LogbookNote | None:
        """The first note of one of these kinds."""
        return next((note for note in (*self.before, *self.after) if note.kind in kinds), None)


class RunProse(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of prose, with the notes behind it."""

    text: str
    line: int
    after: tuple[LogbookNote, ...] = ()

    def note(self, *kinds: str) -> LogbookNote | None:
        """The first note of one of these kinds."""
        return next((note for note in self.after if note.kind in kinds), None)


RunPiece: TypeAlias = RunCode | RunProse
_LEADING = ("Deviates from the template", "Added", "Failed before")
"""Notes that stand before the code that they are about."""
_STANDS_FOR = ("Skipped", "Left out")
"""Notes with the code that was not run."""


def read_run(text: str, path: str) -> tuple[Sheet, list[RunPiece]]:
    """Return a run's file as a notebook, and its pieces in order."""
    taken = take_apart(text.removeprefix("\ufeff"), path)
    return taken.sheet, _gathered(list(_loose(taken)))


def _loose(taken: LogbookText) -> Iterator[RunPiece | LogbookNote]:
    """Code, prose and notes, one after the other, each with its line."""
    line = taken.front.text.count("\n") + taken.gap.count("\n") + 1
    for piece in taken.pieces:
        cell = piece.cell
        if cell.kind == "markdown":
            yield from _prose(cell.source, line)
            if RECORD in cell.source:
                return
        else:
            yield RunCode(source=cell.source, line=line, outputs=cell.outputs)
        line += piece.text.count("\n") + piece.gap.count("\n")


def _prose(text: str, line: int) -> Iterator[RunProse | LogbookNote]:
    lines = text.partition(RECORD)[0].split("\n")
    start = 0
    for note in read_notes("\n".join(lines)):
        yield from _stretch(lines[start : note.line - 1], line + start)
        yield msgspec.structs.replace(note, line=line + note.line - 1)
        start = note.end - 1
    yield from _stretch(lines[start:], line + start)


def _stretch(lines: list[str], line: int) -> Iterator[RunProse]:
    text = "\n".join(lines).strip("\n")
    if text.strip():
        yield RunProse(text=text, line=line)


def _gathered(loose: list[RunPiece | LogbookNote]) -> list[RunPiece]:
    """Pieces with their notes."""
    made: list[RunPiece] = []
    leading: list[LogbookNote] = []
    for each in loose:
        match each:
            case LogbookNote(kind=kind) if kind in _LEADING:
                leading.append(each)
            case LogbookNote(kind=kind, code=str(code)) if kind in _STANDS_FOR:
                made.append(RunCode(source=code, line=each.line, outputs=[], before=(*leading, each)))
                leading = []
            case LogbookNote():
                if made:
                    made[-1] = msgspec.structs.replace(made[-1], after=(*made[-1].after, each))
            case RunCode():
                made.append(msgspec.structs.replace(each, before=tuple(leading)))
                leading = []
            case RunProse():
                made.append(each)
    return made
