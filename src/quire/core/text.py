"""Editing text together: splices, and how later ones move out of the way of earlier ones.

An edit is a tuple of splices, all in the coordinates of the text before the edit, sorted,
not overlapping. Positions count Unicode code points. The log gives the one order; an edit
made against an older text is *rebased* over the edits that came first (rule 8):

- text that both insert at one place: the earlier in the log stands first
- text that both remove is removed once
- text inserted into a stretch the other removes is kept
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TypeAlias

import msgspec

from .errors import BadInput
from .values import Content


class Splice(msgspec.Struct, frozen=True, array_like=True):
    """At `at`, `remove` code points go and `insert` comes in their place."""

    at: int
    remove: int
    insert: Content


Edit: TypeAlias = tuple[Splice, ...]
MOST_LINES = 100_000
"""Texts whose lines would make more pairs than this are replaced as a whole: comparing them takes too long."""


def source_hash(text: str) -> str:
    """The hash by which a request or an edit names the source it was made against."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def apply(text: str, edit: Edit) -> str:
    """Return `text` after `edit`. Total: what lies past the end is ignored."""
    if len(edit) == 1:
        (splice,) = edit
        return text[: splice.at] + splice.insert + text[splice.at + splice.remove :]
    parts: list[str] = []
    position = 0
    for splice in edit:
        parts += (text[position : splice.at], splice.insert)
        position = splice.at + splice.remove
    return "".join((*parts, text[position:]))


def check_edit(edit: Edit, length: int | None = None) -> None:
    """Refuse an edit that is unsorted, overlapping, negative or reaches past `length`."""
    position = 0
    for splice in edit:
        if splice.at < position or splice.remove < 0:
            raise BadInput(f"Splice at {splice.at} is out of order: splices are sorted and do not overlap.")
        position = splice.at + splice.remove
    if length is not None and position > length:
        raise BadInput(f"An edit reaches position {position} of a text of {length} code points. Read the cell again.")


def rebase(edit: Edit, earlier: Iterable[Edit]) -> tuple[Edit, list[Edit]]:
    """Return `edit` as it reads after `earlier`, and `earlier` as they read after `edit`.

    The second is what the sender's next edit, made on top of this one, is rebased over.
    """
    moved: list[Edit] = []
    for one in earlier:
        edit, other = transform(edit, one)
        moved.append(other)
    return edit, moved


def transform(later: Edit, earlier: Edit) -> tuple[Edit, Edit]:
    """Both were made on one text; return each as it reads after the other.

    apply(apply(text, earlier), result[0]) == apply(apply(text, later), result[1])
    """
    if len(later) == len(earlier) == 1 and (moved := _moved(later[0], earlier[0])) is not None:
        return moved
    left, right = _Cursor(later), _Cursor(earlier)
    later_after, earlier_after = _SpliceWriter(), _SpliceWriter()
    while not (left.done and right.done):
        if text := right.take_insert():
            later_after.keep(len(text))
            earlier_after.insert(text)
        elif text := left.take_insert():
            later_after.insert(text)
            earlier_after.keep(len(text))
        else:
            step = _step(left, right)
            left_removes, right_removes = left.removing, right.removing
            left.advance(step)
            right.advance(step)
            if left_removes and not right_removes:
                later_after.remove(step)
            elif right_removes and not left_removes:
                earlier_after.remove(step)
            elif not left_removes:
                later_after.keep(step)
                earlier_after.keep(step)
    return later_after.edit(), earlier_after.edit()


def _moved(later: Splice, earlier: Splice) -> tuple[Edit, Edit] | None:
    """The same for what people do nearly always: typing in two places. None where both meet, which takes a walk."""
    if not ((later.remove or later.insert) and (earlier.remove or earlier.insert)):
        return None
    both_insert = not later.remove and not earlier.remove
    if earlier.at + earlier.remove < later.at or (both_insert and earlier.at == later.at):
        grown = len(earlier.insert) - earlier.remove
        return (Splice(later.at + grown, later.remove, later.insert),), (earlier,)
    if later.at + later.remove < earlier.at:
        grown = len(later.insert) - later.remove
        return (later,), (Splice(earlier.at + grown, earlier.remove, earlier.insert),)
    return None


def difference(old: str, new: str) -> Edit:
    """Return an edit that turns `old` into `new`, by whole lines inside what differs."""
    start = common_prefix(old, new)
    limit = min(len(old), len(new)) - start
    end = common_prefix(old[::-1][:limit], new[::-1][:limit])
    if start == len(old) == len(new):
        return ()
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    if "\n" not in before or "\n" not in after:
        return (Splice(start, len(before), after),)
    return _line_splices(before.splitlines(keepends=True), after.splitlines(keepends=True), start)


def _line_splices(before: Sequence[str], after: Sequence[str], start: int) -> Edit:
    if len(before) * len(after) > MOST_LINES:
        return (Splice(start, sum(map(len, before)), "".join(after)),)
    offsets = [start]
    for line in before:
        offsets.append(offsets[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return tuple(
        Splice(offsets[i1], offsets[i2] - offsets[i1], "".join(after[j1:j2]))
        for kind, i1, i2, j1, j2 in matcher.get_opcodes()
        if kind != "equal"
    )


def common_prefix(a: str, b: str) -> int:
    """How many code points both begin with; by halving, so that long texts stay in C."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class _Cursor:
    """Walks an edit as inserts and as stretches that are kept or removed."""

    def __init__(self, edit: Edit) -> None:
        self._splices: Iterator[Splice] = iter([splice for splice in edit if splice.remove or splice.insert])
        self._position = 0
        self._next()

    def _next(self) -> None:
        splice = next(self._splices, None)
        self.done = splice is None
        self._insert = splice.insert if splice else ""
        self._keep = splice.at - self._position if splice else 0
        self._remove = splice.remove if splice else 0
        self._position = splice.at + splice.remove if splice else 0

    def take_insert(self) -> str:
        """The text that comes in here, if any. It is given once."""
        if self.done or self._keep:
            return ""
        text, self._insert = self._insert, ""
        if not self._remove:
            self._next()
        return text

    @property
    def removing(self) -> bool:
        return not self.done and not self._keep

    @property
    def stretch(self) -> int | None:
        """How far it goes on like this; None when nothing more changes."""
        return None if self.done else self._keep or self._remove

    def advance(self, count: int) -> None:
        if self.done:
            return
        if self._keep:
            self._keep -= count
        else:
            self._remove -= count
            if not self._remove:
                self._next()


def _step(left: _Cursor, right: _Cursor) -> int:
    return min(stretch for stretch in (left.stretch, right.stretch) if stretch is not None)


class _SpliceWriter:
    """Collects keeps, removes and inserts into splices."""

    def __init__(self) -> None:
        self._splices: list[Splice] = []
        self._at = 0
        self._open = False

    def keep(self, count: int) -> None:
        self._at += count
        self._open = False

    def remove(self, count: int) -> None:
        self._add(count, "")
        self._at += count

    def insert(self, text: str) -> None:
        self._add(0, text)

    def _add(self, remove: int, insert: str) -> None:
        if self._open:
            last = self._splices.pop()
            self._splices.append(Splice(last.at, last.remove + remove, last.insert + insert))
        else:
            self._splices.append(Splice(self._at, remove, insert))
        self._open = True

    def edit(self) -> Edit:
        return tuple(self._splices)
