"""Comments in an agent's text: a line for each open thread at the top, and whole threads below the cells they are about.

What people and agents wrote is marked as their words: each line of it begins with `@   `, which no line of ours does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from ...core.ids import CellId, CommentId
from ...core.notebook.comments import CommentThread, open_threads
from ...core.notebook.notebook import Comment
from ..terminal_safe import one_line, plain
from .excerpt import Passage, cost, fit, lines_cost

if TYPE_CHECKING:
    from .render_context import Scene

MARK = "@ "
_TEXT_MARK = "@   "
_EXCERPT = 120
_ANY = 10**9


def comment_lines(scene: Scene, below: Collection[CellId] = ()) -> Iterator[tuple[bool, str]]:
    """A line for each open thread, with whether it awaits the reader. Of cells in `below` only those that do."""
    for thread in open_threads(scene.notebook.comments, scene.reader):
        awaits = _awaits(scene, thread)
        if awaits or thread.cell not in below:
            yield awaits, _line(scene, thread, awaits=awaits)


def thread_lines(scene: Scene, thread: CommentThread, most: int | None) -> list[str]:
    """A thread with what was said in it, for no more than this: the first comment, and the last ones that have room."""
    if most is None:
        return [line for id in thread.comments for line in _comment(scene, thread, id, _ANY)]
    first, *rest = thread.comments
    begun = _comment(scene, thread, first, most // 2 if rest else most)
    left = most - lines_cost(begun)
    if not begun or left < 0:
        return []
    blocks: list[list[str]] = []
    for place, id in enumerate(reversed(rest)):
        block = _comment(scene, thread, id, left if place == len(rest) - 1 else left - _left_out_cost(len(rest)))
        if not block or lines_cost(block) > left:
            break
        left -= lines_cost(block)
        blocks.insert(0, block)
    missing = len(rest) - len(blocks)
    note = [_left_out(missing)] if missing and _left_out_cost(missing) <= left else []
    return [*begun, *note, *(line for block in blocks for line in block)]


def _awaits(scene: Scene, thread: CommentThread) -> bool:
    return scene.reader is not None and thread.awaits(scene.reader)


def _line(scene: Scene, thread: CommentThread, *, awaits: bool) -> str:
    said = thread.first
    about = f" on {scene.short(said.cell)}" if said.cell is not None else ""
    to = ", to you" if awaits else ""
    line = f"comment {thread.id} by {_who(said)}{about}{to}: {one_line(said.text, _EXCERPT)}"
    *_, (last, answer) = thread.comments.items()
    if last == thread.id:
        return line
    count = len(thread.comments) - 1
    return f"{line} · {count} repl{'y' if count == 1 else 'ies'}, last {last} by {_who(answer)}: {one_line(answer.text, _EXCERPT)}"


def _comment(scene: Scene, thread: CommentThread, id: CommentId, most: int) -> list[str]:
    said = thread.comments[id]
    kind = "comment" if id == thread.id else "reply"
    to = ", to you" if id == thread.id and _awaits(scene, thread) else ""
    top = f"{MARK}{kind} {id} by {_who(said)}{to} · untrusted text:"
    room = most - cost(top) - 1
    lines = fit(Passage(head=said.text), room, _TEXT_MARK, "read with a larger budget")
    return [top, *lines] if room > 0 and (lines or not said.text) else []


def _who(comment: Comment) -> str:
    behalf = f" for {plain(comment.on_behalf_of)}" if comment.on_behalf_of is not None else ""
    return f"{plain(comment.by)}{behalf}"


def _left_out(count: int) -> str:
    return f"{MARK}[… {count} replies left out: read with a larger budget]"


def _left_out_cost(count: int) -> int:
    return lines_cost([_left_out(count)])
