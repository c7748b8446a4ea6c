"""Three-way merge of texts by line, and of values by key.

Lines that both sides changed, or that touch, conflict, as in git: the text then holds both
between markers. Of values that both changed the greater stays, whichever side it is on, so
that it does not matter who merges whom.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar, cast

from ..sheet.equality import as_text, same
from ..values import Json
from .line_diff import LineChange, changes, lines_of

Value = TypeVar("Value")
MARKER = 7
"""How many signs a marker has at least; it is longer where the text has such lines of its own."""
_SIGNS = re.compile(r"^(<{7,}|={7,}|>{7,}|\|{7,})", re.MULTILINE)
_ABSENT = object()


class Labels(NamedTuple):
    """What the two sides are called."""

    ours: str = "ours"
    theirs: str = "theirs"


class MergedText(NamedTuple):
    """A text of two sides; `marker` is the length of its markers, 0 when there is no conflict."""

    text: str
    marker: int = 0


class Region(NamedTuple):
    """Lines of the base and what became of them on both sides."""

    base: list[str]
    ours: list[str]
    theirs: list[str]


def merge_text(base: str, ours: str, theirs: str, labels: Labels = Labels(), marker: int = MARKER) -> MergedText:  # noqa: B008 - a tuple
    """Merge two descendants of a text by line."""
    if ours == theirs or theirs == base:
        return MergedText(ours)
    if ours == base:
        return MergedText(theirs)
    pieces: list[list[str] | Region] = []
    for region in _regions(lines_of(base), lines_of(ours), lines_of(theirs)):
        pieces.extend(_settled(region))
    if not any(isinstance(piece, Region) for piece in pieces):
        return MergedText(_text(cast("list[list[str]]", pieces)))
    size = marker_size(marker, base, ours, theirs)
    end = "\r" * ("\r\n" in ours or "\r\n" in theirs)
    shown = (_marked(piece, labels, size, end) if isinstance(piece, Region) else piece for piece in pieces)
    return MergedText(_text(shown).removesuffix(end), size)


def whole_conflict(ours: str | None, theirs: str | None, labels: Labels, marker: int = MARKER) -> MergedText:
    """Return two sides that have nothing in common as one text with markers; None is a side that removed it."""
    size = marker_size(marker, ours or "", theirs or "")
    sides = [([] if side is None else lines_of(side)) for side in (ours, theirs)]
    told = Labels(
        *(f"{label} (removed)" if side is None else label for label, side in zip(labels, (ours, theirs), strict=True))
    )
    end = "\r" * ("\r\n" in (ours or "") or "\r\n" in (theirs or ""))
    return MergedText(_text([_marked(Region([], *sides), told, size, end)]).removesuffix(end), size)


def conflict_sides(text: str, marker: int) -> tuple[str, str] | None:
    """Return what each side said in a text with conflict markers of this length; None when no conflict is left."""
    ours: list[str] = []
    theirs: list[str] = []
    into, found = (ours, theirs), False
    for line in lines_of(text):
        sign = _marker_of(line, marker)
        if sign == "<":
            into, found = (ours,), True
        elif sign == "=" and into == (ours,):
            into = (theirs,)
        elif sign == ">":
            into, found = (ours, theirs), True
        else:
            for side in into:
                side.append(line)
    return ("\n".join(ours), "\n".join(theirs)) if found else None


def _marker_of(line: str, marker: int) -> str:
    """The sign of a line that is a marker of this length."""
    sign, rest = line[:1], line[marker:].rstrip("\r")
    if sign in ("<", ">", "=") and line[:marker] == sign * marker and (rest == "" or (rest[0] == " " and sign != "=")):
        return sign
    return ""


def marker_size(least: int, *texts: str) -> int:
    """How long markers have to be so that no line of the texts can be taken for one."""
    longest = max((len(found) for text in texts for found in _SIGNS.findall(text)), default=0)
    return max(least, longest + 1 if longest else 0)


def _text(pieces: Sequence[list[str]] | Iterator[list[str]]) -> str:
    lines = [line for piece in pieces for line in piece]
    return "\n".join(lines)


def _marked(region: Region, labels: Labels, size: int, end: str) -> list[str]:
    return [
        f"{'<' * size} {labels.ours}{end}",
        *(_ended(line, end) for line in region.ours),
        f"{'=' * size}{end}",
        *(_ended(line, end) for line in region.theirs),
        f"{'>' * size} {labels.theirs}{end}",
    ]


def _ended(line: str, end: str) -> str:
    """A last line without an end gets one: a marker follows it now."""
    return line if not end or line.endswith(end) else line + end


def _regions(base: list[str], ours: list[str], theirs: list[str]) -> Iterator[Region]:
    """Cut the three texts at lines that all have; what both left alone is a region, too."""
    ours_at = theirs_at = base_at = 0
    left, right = changes(base, ours), changes(base, theirs)
    while left or right:
        first = min(change.old_start for change in (*left[:1], *right[:1]))
        mine, other = _overlapping(left, right)
        start, end = first, max(change.old_end for change in (*mine, *other))
        same_before = base[base_at:start]
        yield Region(same_before, same_before, same_before)
        ours_start, theirs_start = ours_at + len(same_before), theirs_at + len(same_before)
        ours_at, theirs_at = ours_start + _length(mine, end - start), theirs_start + _length(other, end - start)
        yield Region(base[start:end], ours[ours_start:ours_at], theirs[theirs_start:theirs_at])
        base_at = end
        del left[: len(mine)], right[: len(other)]
    yield Region(base[base_at:], base[base_at:], base[base_at:])


def _overlapping(left: list[LineChange], right: list[LineChange]) -> tuple[list[LineChange], list[LineChange]]:
    """The first changes of both sides that overlap or touch, one through the other."""
    i = j = 0
    end = -1
    while True:
        if i < len(left) and (left[i].old_start <= end or (end < 0 and _is_first(left[i], right, j))):
            end = max(end, left[i].old_end)
            i += 1
        elif j < len(right) and (right[j].old_start <= end or end < 0):
            end = max(end, right[j].old_end)
            j += 1
        else:
            return left[:i], right[:j]


def _is_first(change: LineChange, others: list[LineChange], index: int) -> bool:
    return index >= len(others) or change.old_start <= others[index].old_start


def _length(mine: list[LineChange], span: int) -> int:
    """How many lines a side has for `span` lines of the base that hold these changes."""
    return span + sum((c.new_end - c.new_start) - (c.old_end - c.old_start) for c in mine)


def _settled(region: Region) -> Iterator[list[str] | Region]:
    """The lines to take; where both changed them, a smaller conflict between what both say."""
    base, ours, theirs = region
    if ours == theirs or theirs == base:
        yield ours
    elif ours == base:
        yield theirs
    else:
        start, end = _shared_ends(ours, theirs)
        yield ours[:start]
        yield Region(base, ours[start : len(ours) - end], theirs[start : len(theirs) - end])
        yield ours[len(ours) - end :]


def _shared_ends(one: list[str], other: list[str]) -> tuple[int, int]:
    most = min(len(one), len(other))
    start = end = 0
    while start < most and one[start] == other[start]:
        start += 1
    while end < most - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return start, end


# ---- Values


class KeyConflict(NamedTuple):
    """A value that both sides changed, each in its own way; the greater stays."""

    path: tuple[str, ...]
    base: Json
    ours: Json
    theirs: Json


def pick(base: Value, ours: Value, theirs: Value) -> tuple[Value, bool]:
    """Return the value of the side that changed it, and whether both did."""
    if same(ours, theirs) or same(theirs, base):
        return ours, False
    if same(ours, base):
        return theirs, False
    return greater(ours, theirs), True


def greater(one: Value, other: Value) -> Value:
    """The same of the two, whatever their order: of times and versions the later, mostly."""
    return max(one, other, key=lambda value: as_text(cast("Json", value)))


def merge_keys(
    base: dict[str, Json],
    ours: dict[str, Json],
    theirs: dict[str, Json],
    path: tuple[str, ...] = (),
    whole: frozenset[str] = frozenset(),
) -> tuple[dict[str, Json], list[KeyConflict]]:
    """Merge two descendants of an object key by key, also inside objects; values under `whole` are not mixed."""
    if theirs == base and same(theirs, base):
        return ours, []
    merged: dict[str, Json] = {}
    clashes: list[KeyConflict] = []
    # The same order, whichever side is ours.
    for key in dict.fromkeys((*base, *sorted(ours.keys() | theirs.keys()))):
        values = [each.get(key, _ABSENT) for each in (base, ours, theirs)]
        value, found = _merge_value(values, (*path, key), deep=key not in whole)
        clashes += found
        if value is not _ABSENT:
            merged[key] = value
    return merged, clashes


def _merge_value(values: list[Json], path: tuple[str, ...], *, deep: bool) -> tuple[Json, list[KeyConflict]]:
    base, ours, theirs = values
    # Unchanged sides first: they are nearly all, and then whole values stay as they are.
    if same(ours, theirs) or same(theirs, base):
        return ours, []
    if same(ours, base):
        return theirs, []
    if deep and _is_object(ours) and _is_object(theirs):
        return merge_keys(base if _is_object(base) else {}, ours, theirs, path)
    clash = KeyConflict(path, *(None if value is _ABSENT else value for value in values))
    if ours is _ABSENT or theirs is _ABSENT:
        return (theirs if ours is _ABSENT else ours), [clash]
    return greater(ours, theirs), [clash]


def _is_object(value: Json) -> bool:
    return isinstance(value, dict)


def merge_tags(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...]:
    """Merge tags as the sets they are: what either added is there, what either removed is not."""
    if tuple(theirs) == tuple(base) or tuple(ours) == tuple(theirs):
        return tuple(ours)
    if tuple(ours) == tuple(base):
        return tuple(theirs)
    removed = {tag for tag in base if tag not in ours or tag not in theirs}
    kept = [tag for tag in base if tag not in removed]
    return (*dict.fromkeys(kept), *sorted({tag for tag in (*ours, *theirs) if tag not in base}))
