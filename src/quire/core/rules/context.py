"""Who submits, and what the rules need to know beside the notebook itself."""

from __future__ import annotations

import msgspec

from ..ids import ActorId, CellId, TokenId
from ..text import Edit


class SubmissionContext(msgspec.Struct, kw_only=True):
    """One submission on its way in."""

    actor: ActorId
    on_behalf_of: ActorId | None = None
    token: TokenId | None = None
    """With which they came."""
    at: str
    seq: int
    """Where the log is when the submission comes in: no edit can be against a later number."""
    epoch: int | None = None
    """Of the lease that a claim has just been given."""
    bases: dict[CellId, int] = {}
    """The number against which this submission edits a cell; there is one for each."""
    earlier: dict[tuple[CellId, int], list[Edit]] = {}
    """The edits of a cell that came after a number, as the sender's next edit will meet them."""
