"""What a mirror finds that was killed while it wrote: from what stands beside the file, how far it came."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ...core.errors import BadInput
from ...core.sheet import Sheet
from ...files import formats
from .agreed import Agreed, is_told
from .book import Book
from .reading import Seen, settled, stamp_of
from .swap import Beside, left_beside


class Recovered(NamedTuple):
    """The version that both sides had last, for all that is known now."""

    agreed: Agreed | None
    done: list[Path]
    """What may go once the next merge is on record."""
    unknown: list[Path]
    """What somebody saved in the instant of a write, and what is nowhere else."""


async def recovered(book: Book, path: str, target: Path, agreed: Agreed | None, *, quiet_seconds: float) -> Recovered:
    """Look at what was left beside a file."""
    found = Recovered(agreed, [], [])
    for each in left_beside(target):
        try:
            left = await settled(each.file, quiet_seconds=quiet_seconds)
        except BadInput:  # no text: it is nothing that we wrote
            found = found._replace(unknown=[*found.unknown, each.file])
            continue
        if left is not None:
            found = await _with(found, book, each, left, path, target)
    return found


async def _with(found: Recovered, book: Book, each: Beside, left: Seen, path: str, target: Path) -> Recovered:
    agreed = found.agreed
    if agreed is not None and agreed.merged_seq > each.seq:
        # That write is on record: this is the file that it replaced.
        return found._replace(done=[*found.done, each.file])
    state = await book.state(each.seq, path)
    is_new = state is not None and _tells(left.text, state, path)
    is_replaced = left.digest == agreed.digest if agreed is not None else is_new and stamp_of(target) is not None
    if state is not None and is_replaced:
        # The new one is at its place. What the file says now was made from it.
        seq, cause = agreed.merged_seq if agreed is not None else 1, await book.id_at(each.seq)
        base = Agreed(path=path, digest="", full=state, merged_seq=seq, cause=cause, is_state=True)
        return found._replace(agreed=base, done=[*found.done, each.file])
    if is_new:
        return found._replace(done=[*found.done, each.file])
    return found._replace(unknown=[*found.unknown, each.file])


def _tells(text: str, state: Sheet, path: str) -> bool:
    try:
        return is_told(state, formats.read(text, path), path)
    except BadInput:
        return False
