"""What a logbook's run says beside its prose, code and results: notes, each a quotation under a word in bold.

A quotation is shown as one by every viewer, and what is in it is never run: the template's version of a step that was
changed stands there beside the one that ran. People and agents who have nothing but files write the same notes by
hand, so they are also read here.

    > **Deviates from the template**: the greeting was to be extra friendly. The template has:
    >
    > ```python
    > print("Hello")
    > ```
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, TypeAlias, cast

import msgspec

from ..terminal_safe import plain

NoteKind: TypeAlias = Literal[
    "Deviates from the template",
    "Added",
    "Skipped",
    "Left out",
    "Failed",
    "Failed before",
    "Done",
    "Not done",
    "Source",
]
NOTES: tuple[NoteKind, ...] = (
    "Deviates from the template",
    "Added",
    "Skipped",
    "Left out",
    "Failed before",
    "Failed",
    "Done",
    "Not done",
    "Source",
)
RECORD = "<!-- record of the run -->"
"""Behind this line a run's file sums itself up: it is no part of what is run again."""
_EVIDENCE = "Evidence: "
_THE_TEMPLATE = " The template has:"
_FIRST = re.compile(
    rf"> ?\*\*(?P<kind>{'|'.join(NOTES)})\*\*(?: of `(?P<name>\w+)`)?(?: by (?P<by>\S+?)(?=: |:?\Z))?(?::(?: (?P<text>.*))?)?"
)
_QUOTE = re.compile(r"(?:^>[^\n]*(?:\n|\Z))+", re.MULTILINE)


class LogbookNote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One note."""

    kind: NoteKind
    text: str = ""
    evidence: str = ""
    by: str = ""
    """Who did it: an actor."""
    name: str = ""
    """Of a source: the parameter's."""
    code: str | None = None
    language: str = "python"
    """Of the code."""
    line: int = 0
    """Where it begins in what it was read from, from 1."""
    end: int = 0
    """The line after it."""


def write_note(note: LogbookNote) -> str:
    """Return a note as Markdown."""
    head = f"**{note.kind}**"
    head += f" of `{note.name}`" if note.name else ""
    head += f" by {note.by}" if note.by else ""
    text = plain(note.text).strip()
    if note.kind == "Deviates from the template" and note.code is not None:
        text = (text if not text or text.endswith((".", "!", "?")) else f"{text}.") + _THE_TEMPLATE
    lines = f"{head}: {text.lstrip()}".split("\n") if text else [head]
    if note.evidence:
        lines += ["", *f"{_EVIDENCE}{plain(note.evidence).strip()}".split("\n")]
    if note.code is not None:
        lines += ["", *_fenced(note.code, note.language)]
    return "\n".join(f"> {line}" if line else ">" for line in lines)


def _fenced(code: str, language: str) -> list[str]:
    longest = max((len(run) for run in re.findall(r"^ {0,3}(`+)", code, re.MULTILINE)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *code.split("\n"), fence]


def read_notes(text: str) -> list[LogbookNote]:
    """Return the notes in a stretch of prose, in order."""
    return [note for match in _QUOTE.finditer(text) for note in _in_quotation(text, match)]


def _in_quotation(text: str, match: re.Match[str]) -> Iterator[LogbookNote]:
    """The notes of one quotation: two that follow each other without a blank line are one quotation to Markdown."""
    first = text.count("\n", 0, match.start()) + 1
    lines = match[0].splitlines()
    starts = [number for number, line in enumerate(lines) if _FIRST.fullmatch(line)]
    for start, end in pairwise([*starts, len(lines)]):
        yield _note(lines[start:end], first + start, first + end)


def _note(lines: list[str], line: int, end: int) -> LogbookNote:
    found = _FIRST.fullmatch(lines[0])
    assert found is not None  # noqa: S101 - it began with this
    rest = [each[1:].removeprefix(" ") for each in lines[1:]]
    said, code, language = _parted([found["text"] or "", *rest])
    text, _, evidence = f"\n{said}".partition(f"\n{_EVIDENCE}")
    return LogbookNote(
        kind=cast("NoteKind", found["kind"]),
        text=text.strip().removesuffix(_THE_TEMPLATE.strip()).strip(),
        evidence=evidence.strip(),
        by=found["by"] or "",
        name=found["name"] or "",
        code=code,
        language=language,
        line=line,
        end=end,
    )


def _parted(lines: list[str]) -> tuple[str, str | None, str]:
    """The words of a note, the code in it, and that code's language."""
    for start, line in enumerate(lines):
        opened = re.fullmatch(r" {0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<label>[^\s`]*)[^`]*", line)
        if opened is None:
            continue
        length = len(opened["fence"])
        closing = re.compile(rf" {{0,3}}{re.escape(opened['fence'][0])}{{{length},}}[ \t]*")
        end = next((n for n in range(start + 1, len(lines)) if closing.fullmatch(lines[n])), len(lines))
        words = [*lines[:start], *lines[end + 1 :]]
        return "\n".join(words), "\n".join(lines[start + 1 : end]), opened["label"] or "python"
    return "\n".join(lines), None, "python"


def without_notes(text: str) -> str:
    """Return prose without the notes in it, and without the record at its end: what a run begins from."""
    text = text.partition(RECORD)[0]
    lines = text.split("\n")
    for note in reversed(read_notes(text)):
        del lines[note.line - 1 : note.end - 1]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
