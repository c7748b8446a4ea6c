"""Masking what was said: which events hold a secret, what becomes of them, and of their blobs.

A mask replaces content in the payload (core/event_fields); the chain stays whole because the mask
is named in it (core/chain). Blobs that an event refers to go with it, unless somebody else
refers to them too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import msgspec
from msgspec.structs import replace

from ..core import codec
from ..core import events as e
from ..core.chain import digest
from ..core.errors import BadInput, NotFound
from ..core.event_fields import blob_refs, content, masked, without_blobs
from ..core.events import Draft, Entry
from ..core.ids import LogId
from ..stores.store import Blobs, Mask, Store
from .identity.blob_access import WITH_BLOBS


async def holding(store: Store, blobs: Blobs, log: LogId, secret: str) -> list[int]:
    """The numbers of the events that hold a secret, in what they say or in a blob."""
    return [
        entry.seq
        async for entry in _entries(store, log)
        if _says(entry, secret) or await _blobs_with(blobs, entry.event, secret)
    ]


async def complete(
    store: Store, blobs: Blobs, log: LogId, drafts: Sequence[Draft], secret: str | None
) -> tuple[list[Draft], list[Mask], set[str]]:
    """The redactions with what they put in place, the masks themselves, and the blobs that go with them."""
    completed: list[Draft] = []
    masks: list[Mask] = []
    gone: set[str] = set()
    for draft in drafts:
        if not isinstance(draft.event, e.PayloadRedacted):
            raise BadInput("Redactions are submitted alone, not together with other events.")
        if not draft.event.why.strip():
            raise BadInput("A redaction says why (--why): it is on record for good.")
        made, blobs_gone = await mask(store, blobs, log, draft.event.seq, secret)
        masks.append(made)
        gone |= blobs_gone
        completed.append(replace(draft, event=replace(draft.event, replacement=digest(made.payload))))
    return completed, masks, gone


async def mask(store: Store, blobs: Blobs, log: LogId, seq: int, secret: str | None) -> tuple[Mask, set[str]]:
    """What to put in the place of an event's payload, and which blobs go with it."""
    records = await store.read(log, seq - 1, seq)
    if not records:
        raise NotFound(f"Log {log} has no event {seq} to redact.")
    event = codec.entry(records[0]).event
    if isinstance(event, e.Unknown):
        # Nobody here knows what is content in it, so all of it is.
        hidden: e.AnyEvent = e.Unknown(type=event.type, raw=msgspec.Raw(msgspec.json.encode({"type": event.type})))
        return Mask(seq, codec.encode(hidden)), set()
    gone = await _blobs_with(blobs, event, secret)
    made = without_blobs(masked(event, secret), gone)
    if made == event:
        raise BadInput(f"Event {seq} ({codec.type_of(event)}) holds no content to mask.")
    return Mask(seq, codec.encode(made)), gone


async def remove_blobs(store: Store, blobs: Blobs, gone: set[str]) -> None:
    """Delete blobs that no event of any log refers to any more."""
    if not gone:
        return
    for info in await store.logs():
        async for entry in _entries(store, info.log, WITH_BLOBS):
            gone = gone - {ref.hash for ref in blob_refs(entry.event)}
    for hash in gone:
        await blobs.delete(hash)


def _says(entry: Entry, secret: str) -> bool:
    if isinstance(entry.event, e.Unknown):
        return secret.encode() in bytes(entry.event.raw)
    return any(secret in text for text in content(entry.event))


async def _blobs_with(blobs: Blobs, event: e.AnyEvent, secret: str | None) -> set[str]:
    """The blobs of an event that hold the secret; all of them when there is none."""
    refs = {ref.hash for ref in blob_refs(event)}
    return {hash for hash in refs if secret is None or await _holds(blobs, hash, secret.encode())}


async def _holds(blobs: Blobs, hash: str, secret: bytes) -> bool:
    end = b""
    try:
        async for chunk in blobs.open(hash):
            if secret in end + chunk:
                return True
            end = chunk[-len(secret) :]  # it may lie across two chunks
    except NotFound:
        pass
    return False


async def _entries(store: Store, log: LogId, types: tuple[str, ...] | None = None) -> AsyncIterator[Entry]:
    since = 0
    while records := await store.read(log, since, types=types):
        for record in records:
            yield codec.entry(record)
        since = records[-1].seq
