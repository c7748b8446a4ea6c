"""Comments as conversations: who a comment addresses, and which comments belong together.

`@codex` addresses the person and the agent of that name, `@agent:codex` that agent alone; a reply addresses whoever
wrote what it answers. All of it is derived from the comments and stored nowhere. web/src/core/comments.ts is the same
in TypeScript; spec/cases/mentions.json and spec/cases/threads.json hold both to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from ..ids import ActorId, CellId, CommentId
from .notebook import Comment

# Listed rather than asked of `\w` and `\s`: those differ between languages and versions of Unicode. A name may hold any
# letter; of ASCII's punctuation it holds `_ . + -`, and it does not end with one of the last three.
_NOT_NAME = (
    r"\x00-\x2a\x2c\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\xa0\xab\xad\xbb\u061c\u1680\u2000-\u206f\u2190-\u2bff"
    r"\u3000-\u303f\ud800-\udfff\ufe00-\ufe0f\ufeff\uff00-\uff0f\uff1a-\uff20\U0001f000-\U0001faff"
)
_MENTION = re.compile(rf"(?<![^{_NOT_NAME}])(?<![@/:])@((?:human|agent):)?([^{_NOT_NAME}]*[^{_NOT_NAME}.+\-])")
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_ADDRESSED = ("human", "agent")


class Mention(msgspec.Struct, frozen=True, kw_only=True):
    """An `@name` in a text, at code points `start` to `end`."""

    start: int
    end: int
    kind: str | None
    """`human` or `agent`, where the text says which."""
    name: str

    def means(self, actor: ActorId) -> bool:
        """Return whether it addresses an actor. Letters A to Z and a to z count alike."""
        kind, _, name = actor.partition(":")
        return kind in _ADDRESSED and self.kind in (None, kind) and _folded(self.name) == _folded(name)


def mentions(text: str) -> list[Mention]:
    """Return each `@name` of a text, in its order."""
    return [
        Mention(start=found.start(), end=found.end(), kind=(found[1] or ":")[:-1] or None, name=found[2])
        for found in _MENTION.finditer(text)
    ]


def is_mentioned(text: str, actor: ActorId) -> bool:
    """Return whether a text addresses an actor by name."""
    return "@" in text and any(mention.means(actor) for mention in mentions(text))


def _folded(name: str) -> str:
    return name.translate(_ASCII_LOWER)


# ---- Threads


class CommentThread(msgspec.Struct, frozen=True, kw_only=True):
    """A comment and all answers to it, in the order in which they were written."""

    id: CommentId
    """Of the first comment."""
    comments: dict[CommentId, Comment]

    @property
    def first(self) -> Comment:
        """The comment that began it."""
        return self.comments[self.id]

    @property
    def cell(self) -> CellId | None:
        """What it is about; None: the notebook as a whole."""
        return self.first.cell

    @property
    def is_open(self) -> bool:
        """Whether it is not resolved. Only the first comment counts."""
        return self.first.resolved_by is None

    def awaits(self, actor: ActorId) -> bool:
        """Return whether somebody addressed an actor in it, and the actor has not answered since."""
        waits = False
        for comment in self.comments.values():
            if comment.by == actor:
                waits = False
            elif not waits:
                waits = is_mentioned(comment.text, actor) or self._answers(comment, actor)
        return waits

    def _answers(self, comment: Comment, actor: ActorId) -> bool:
        answered = self.comments.get(comment.reply_to) if comment.reply_to is not None else None
        return answered is not None and answered.by == actor


def threads(comments: Mapping[CommentId, Comment]) -> list[CommentThread]:
    """Return the conversations, in the order in which they began."""
    roots: dict[CommentId, CommentId] = {}
    found: dict[CommentId, dict[CommentId, Comment]] = {}
    for id, comment in comments.items():
        # What is answered stands before its answer in every log; an answer to nothing begins a thread of its own.
        root = roots.get(comment.reply_to, id) if comment.reply_to is not None else id
        roots[id] = root
        found.setdefault(root, {})[id] = comment
    return [CommentThread(id=root, comments=each) for root, each in found.items()]


def open_threads(comments: Mapping[CommentId, Comment], reader: ActorId | None = None) -> list[CommentThread]:
    """Return the threads that are not resolved; those that await `reader` first."""
    found = [thread for thread in threads(comments) if thread.is_open]
    return found if reader is None else sorted(found, key=lambda thread: not thread.awaits(reader))


def thread_of(comments: Mapping[CommentId, Comment], comment: CommentId) -> CommentThread:
    """Return the thread that a known comment stands in."""
    return next(thread for thread in threads(comments) if comment in thread.comments)


def awaiting(comments: Mapping[CommentId, Comment], actor: ActorId) -> Iterator[CommentThread]:
    """Yield the open threads in which an actor is addressed and has not answered."""
    return (thread for thread in threads(comments) if thread.is_open and thread.awaits(actor))
