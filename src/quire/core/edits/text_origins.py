"""The text of a cell by origin: what one actor wrote and removed in a span of the log, among what others wrote.

Every code point of the text is either kept (it was there before the span, or somebody else wrote it) or the actor's.
What the actor removed stays in its place as gone, so that it can come back there. Undone, the text is all that is kept
or gone, in order: nothing that others wrote is touched, whatever the order of edits was.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from ..text import Edit, Splice, apply, difference

Origin: TypeAlias = Literal["kept", "actor", "gone"]


class OriginPiece(msgspec.Struct, frozen=True):
    """Neighbouring code points of one origin."""

    origin: Origin
    text: str


class TextOrigins:
    """The text of a cell on its way through a log, seen from one actor."""

    def __init__(self, text: str = "") -> None:
        self._pieces = [OriginPiece("kept", text)] if text else []

    @property
    def text(self) -> str:
        """The text as it is."""
        return "".join(piece.text for piece in self._pieces if piece.origin != "gone")

    @property
    def undone(self) -> str:
        """The text without what the actor did to it."""
        return "".join(piece.text for piece in self._pieces if piece.origin != "actor")

    @property
    def is_changed(self) -> bool:
        """Whether anything of the actor's is in effect."""
        return any(piece.origin != "kept" for piece in self._pieces)

    def edit(self, edit: Edit, *, by_actor: bool, text: str | None = None) -> bool:
        """Apply an edit, or the whole new `text`; return whether somebody else wrote into the actor's text."""
        old = self.text
        if text is not None and apply(old, edit) != text:
            edit = difference(old, text)
        # From the end, for the positions of all splices count in the text before the edit.
        touched = [self._splice(splice, by_actor=by_actor) for splice in reversed(edit)]
        return True in touched

    def undo(self) -> Edit:
        """Return the edit that takes back what the actor did, made against the text as it is."""
        splices: list[Splice] = []
        position = at = remove = 0
        insert = ""
        for piece in (*self._pieces, OriginPiece("kept", "")):
            if piece.origin == "gone":
                insert += piece.text
            elif piece.origin == "actor":
                remove += len(piece.text)
                position += len(piece.text)
            else:
                if remove or insert:
                    splices.append(Splice(at, remove, insert))
                position += len(piece.text)
                at, remove, insert = position, 0, ""
        return tuple(splices)

    def _splice(self, splice: Splice, *, by_actor: bool) -> bool:
        start = self._index(splice.at)
        end = self._index(splice.at + splice.remove)
        removed = self._pieces[start:end]
        gone = [
            OriginPiece("gone", piece.text)
            for piece in removed
            if piece.origin == "gone" or (by_actor and piece.origin == "kept")
        ]
        while end < len(self._pieces) and self._pieces[end].origin == "gone":
            gone.append(self._pieces[end])
            end += 1
        before, after = self._pieces[:start], self._pieces[end:]
        gap = "".join(piece.text for piece in gone)
        found = gap.find(splice.insert) if splice.insert else -1
        touched = False
        if found >= 0:
            # Somebody brought back what was gone: it is not to come back a second time.
            last = found + len(splice.insert)
            middle = [
                OriginPiece("gone", gap[:found]),
                OriginPiece("kept", splice.insert),
                OriginPiece("gone", gap[last:]),
            ]
        else:
            middle = [OriginPiece("gone", gap), OriginPiece("actor" if by_actor else "kept", splice.insert)]
            into = any(piece.origin == "actor" for piece in removed)
            touched = not by_actor and bool(splice.insert) and (into or _is_beside(before, splice.insert, after))
        self._pieces = _joined([*before, *middle, *after])
        return touched

    def _index(self, position: int) -> int:
        """The index of the first piece behind so many code points of the text; a piece is cut in two where needed."""
        for index, piece in enumerate(self._pieces):
            if position <= 0:
                return index
            if piece.origin == "gone":
                continue
            if position < len(piece.text):
                cut = OriginPiece(piece.origin, piece.text[:position]), OriginPiece(piece.origin, piece.text[position:])
                self._pieces[index : index + 1] = cut
                return index + 1
            position -= len(piece.text)
        return len(self._pieces)


def _is_beside(before: list[OriginPiece], insert: str, after: list[OriginPiece]) -> bool:
    """Whether an insert stands on one line with the actor's text."""
    left, right = before[-1] if before else None, after[0] if after else None
    follows = left is not None and left.origin == "actor" and not left.text.endswith("\n")
    precedes = right is not None and right.origin == "actor" and not right.text.startswith("\n")
    return (follows and not insert.startswith("\n")) or (precedes and not insert.endswith("\n"))


def _joined(pieces: list[OriginPiece]) -> list[OriginPiece]:
    joined: list[OriginPiece] = []
    for piece in pieces:
        if not piece.text:
            continue
        if joined and joined[-1].origin == piece.origin:
            joined[-1] = OriginPiece(piece.origin, joined[-1].text + piece.text)
        else:
            joined.append(piece)
    return joined
