"""What can be said against a submission before anybody looks at who sends it, or at the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ...core.errors import BadInput
from ...core.event_fields import check_unfilled
from ...core.events import Draft
from ...core.ids import LogId, check_client_key, check_id, check_key

MAX_DRAFTS = 10_000
BATCH, BATCH_BYTES = 5000, 4 << 20
"""How many drafts that need not go together go together, and about how large: a server takes 16 MiB at once."""


def check_drafts(log: LogId, drafts: Sequence[Draft], *, house_keys: bool = False) -> None:
    """Refuse ids that are none, too many events at once, and what only the workspace fills.

    `house_keys`: the keys are Quire's own, chosen here and not by a client.
    """
    check_id(log, "Log")
    if not 0 < len(drafts) <= MAX_DRAFTS:
        raise BadInput(f"A submission has 1 to {MAX_DRAFTS:,} events, not {len(drafts):,}. Send them in parts.")
    if len({draft.id for draft in drafts}) < len(drafts):
        raise BadInput("Two events of one submission have the same id. Give each its own.")
    for draft in drafts:
        check_id(draft.id, "Event")
        if draft.key is not None:
            (check_key if house_keys else check_client_key)(draft.key)
        if draft.cause is not None:
            check_id(draft.cause, "Cause")
        check_unfilled(draft)


def batches(drafts: Iterable[Draft], most: int = BATCH) -> Iterator[list[Draft]]:
    """Drafts that may be recorded one after the other, in parts that every workspace takes."""
    batch: list[Draft] = []
    size = 0
    for draft in drafts:
        if batch and (len(batch) >= most or size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(draft)
        size += _size(draft)
    if batch:
        yield batch


def _size(draft: Draft) -> int:
    try:
        return len(msgspec.json.encode(draft.event))
    except (TypeError, ValueError, RecursionError):
        return 0  # whoever records it says what is wrong with it
