"""What a cell says about its own check: nbval's comments and tags, and three of ours.

A comment counts wherever it stands in a cell, on a line of its own. As in nbval the last of two that
contradict each other counts, and a comment counts more than a tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec

from ...core.errors import BadInput
from ...core.sheet.sheet import SheetCell

_Mark: TypeAlias = tuple[str, bool]

COMMENTS: Mapping[str, _Mark] = {
    "PYTEST_VALIDATE_IGNORE_OUTPUT": ("compares", False),  # nbval's name of the next one, when it was young
    "NBVAL_IGNORE_OUTPUT": ("compares", False),
    "NBVAL_CHECK_OUTPUT": ("compares", True),
    "NBVAL_RAISES_EXCEPTION": ("may_raise", True),
    "NBVAL_SKIP": ("is_skipped", True),
}
TAGS: Mapping[str, _Mark] = {name.lower().replace("_", "-"): mark for name, mark in COMMENTS.items()} | {
    "raises-exception": ("may_raise", True),
}
SKIP_TAG = "skip-execution"
"""nbclient's tag for a cell that does not run. nbval runs it."""
_VALUED = re.compile(r"(NBVAL_TEST_NAME|CHECK_TOLERANCE|CHECK_IMAGE_TOLERANCE|CHECK_EXPECT)\s*:\s*(.+)")
_EXPECT = re.compile(r"(?P<name>.+?)\s*(?P<range>(?:[<>]=?|==|!=)\s*\S.*|between\s+\S.*)")


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """A result, and the range in which it has to be."""

    name: str
    range: str


class CellMarks(msgspec.Struct, frozen=True, kw_only=True):
    """What a cell says about its own check."""

    compares: bool | None = None
    """Whether its outputs are compared; None: the mode decides."""
    may_raise: bool = False
    is_skipped: bool = False
    name: str | None = None
    tolerance: float | None = None
    image_tolerance: float | None = None
    expects: tuple[Expectation, ...] = ()
    warnings: tuple[str, ...] = ()


def marks_of(cell: SheetCell, *, as_nbval: bool = False) -> CellMarks:
    """Read the marks of a cell. With `as_nbval`, those that nbval does not know are passed over."""
    warnings: list[str] = []
    by_tag = _last(((tag, TAGS[tag]) for tag in cell.tags if tag in TAGS), "tags", warnings)
    by_comment = _last(_comments(cell.source), "comments", warnings)
    if both := sorted(by_tag.keys() & by_comment.keys()):
        warnings.append(f"Comments and tags contradict or repeat each other ({', '.join(both)}): the comments count.")
    found = by_tag | by_comment
    if not as_nbval and SKIP_TAG in cell.tags:
        found["is_skipped"] = True
    marks = CellMarks(
        compares=found.get("compares"),
        may_raise=found.get("may_raise", False),
        is_skipped=found.get("is_skipped", False),
        warnings=tuple(warnings),
    )
    return marks if as_nbval else _with_values(marks, cell)


def _last(found: Iterator[tuple[str, _Mark]], what: str, warnings: list[str]) -> dict[str, bool]:
    """Return the last of each kind, and warn of two of one kind."""
    names: dict[str, str] = {}
    values: dict[str, bool] = {}
    for name, (kind, value) in found:
        if kind in names:
            warnings.append(f"Two {what} say the same or opposite things: {names[kind]} and {name}. The last counts.")
        names[kind], values[kind] = name, value
    return values


def _comments(source: str) -> Iterator[tuple[str, _Mark]]:
    for comment in comment_lines(source):
        if comment in COMMENTS:
            yield comment, COMMENTS[comment]


def comment_lines(source: str) -> Iterator[str]:
    """Yield the text of each line that is a comment and nothing else."""
    if "#" not in source:
        return
    for line in source.splitlines():
        stripped = line.strip()
        if stripped.startswith("#"):
            yield stripped.lstrip("#").strip()


# ---- With a value


def _with_values(marks: CellMarks, cell: SheetCell) -> CellMarks:
    if "NBVAL_TEST_NAME" not in cell.source and "CHECK_" not in cell.source:
        return marks
    values: dict[str, str] = {}
    expects: list[Expectation] = []
    for comment in comment_lines(cell.source):
        if (found := _VALUED.fullmatch(comment)) is None:
            continue
        if found[1] == "CHECK_EXPECT":
            expects.append(expectation(found[2]))
        else:
            values[found[1]] = found[2].strip()
    return msgspec.structs.replace(
        marks,
        name=values.get("NBVAL_TEST_NAME"),
        tolerance=_share(values, "CHECK_TOLERANCE"),
        image_tolerance=_share(values, "CHECK_IMAGE_TOLERANCE"),
        expects=tuple(expects),
    )


def expectation(text: str) -> Expectation:
    """Read `accuracy >= 0.9`."""
    found = _EXPECT.fullmatch(text.strip())
    if found is None:
        raise BadInput(f"{text!r} says no range. Write NAME >= NUMBER, or NAME between LOW and HIGH.")
    return Expectation(name=found["name"], range=found["range"])


def _share(values: Mapping[str, str], name: str) -> float | None:
    return tolerance(values[name], name) if name in values else None


def tolerance(given: object, what: str) -> float:
    """Read a tolerance: a number that is not negative."""
    try:
        value = float(str(given))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf") or isinstance(given, bool):
        raise BadInput(f"{what}: {given!r} is no tolerance. Write a number that is 0 or more, such as 1e-6.")
    return value
