"""Whether readers of a notebook may start runs of it, as its owner decided, and what that means for whoever asks."""

from __future__ import annotations

import msgspec

from ...core.errors import Refused
from ...core.ids import ActorId

MOST_OPEN = 3
"""How many runs somebody who may only read has going at once: each has a kernel of its own."""

BEGIN_SECONDS = 120.0
"""A run that has no log after so long never began."""


class RunPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Who may start runs of a notebook."""

    viewers_may_run: bool
    """Whether everybody who may read the notebook may start runs of it with other parameters."""
    may_run: bool
    """Whether the bearer may start one, by their role or by this."""
    may_change: bool
    """Whether the bearer decides this: its owner does."""


def check_open(actor: ActorId, count: int) -> None:
    """Refuse one more run while so many of theirs are going on."""
    if count >= MOST_OPEN:
        raise Refused(
            f"{actor} has {count} runs going on, and who may only read a notebook has {MOST_OPEN} at most at once. "
            "Wait until one has ended, or stop it."
        )
