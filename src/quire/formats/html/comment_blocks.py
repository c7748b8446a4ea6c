"""Comments on a page: each thread after the cell that it is about, and at the end those about the notebook.

What somebody wrote is text: nothing in it becomes markup or a link. Resolved threads are folded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ...core.ids import ActorId, CellId, CommentId
from ...core.notebook.comments import CommentThread, threads
from ...core.notebook.notebook import Comment
from .escape import escape, escape_output


class PageComments:
    """The comments of a notebook, by the cells that a page shows."""

    def __init__(self, comments: Mapping[CommentId, Comment], cells: Collection[CellId]) -> None:
        self._by_cell: dict[CellId, list[CommentThread]] = {}
        self._others: list[CommentThread] = []
        for thread in threads(comments):
            if thread.cell is not None and thread.cell in cells:
                self._by_cell.setdefault(thread.cell, []).append(thread)
            else:
                self._others.append(thread)

    def below(self, cell: CellId) -> str:
        """Return the threads about a cell as HTML, or nothing."""
        return "\n".join(map(_thread, self._by_cell.get(cell, ())))

    def others(self) -> str:
        """Return the threads about the notebook, or about cells that were removed, as a section; or nothing."""
        if not self._others:
            return ""
        shown = "\n".join(map(_thread, self._others))
        return (
            f'<section class="cell talk" aria-label="Comments on the notebook">\n<h2>Comments</h2>\n{shown}\n</section>'
        )


def _thread(thread: CommentThread) -> str:
    count = f"{len(thread.comments)} comment{'s' * (len(thread.comments) > 1)}"
    resolved = "" if thread.is_open else f", resolved by {escape(_name(thread.first.resolved_by or ActorId('')))}"
    items = "\n".join(_items(thread.comments.values()))
    return (
        f'<details class="comments"{" open" * thread.is_open}>\n<summary>{count}{resolved}</summary>\n'
        f"<ol>\n{items}\n</ol>\n</details>"
    )


def _items(comments: Iterable[Comment]) -> Iterable[str]:
    for comment in comments:
        behalf = comment.on_behalf_of
        who = f"{_name(comment.by)} for {_name(behalf)}" if behalf not in (None, comment.by) else _name(comment.by)
        edited = ", edited" if comment.edited else ""
        when = f'<time datetime="{escape(comment.at)}">{escape(comment.at[:16].replace("T", " "))} UTC</time>'
        head = f'<p class="label"><b>{escape(who)}</b> <span>{when}{edited}</span></p>'
        yield f'<li>{head}<p dir="auto">{escape_output(comment.text)}</p></li>'


def _name(actor: ActorId | None) -> str:
    """`codex (agent)`, `ada`: a name without its kind could pass for a person's."""
    kind, _, name = (actor or "").rpartition(":")
    return name if kind == "human" else f"{name} ({kind})"
