"""The chain: why nobody can change a log without being found out.

Each record keeps the SHA-256 of its payload's bytes (`digest`) and its own `hash`:

    hash = SHA-256( hash of the record before ‖ digest ‖ envelope )

where the hash before the first record is 32 zero bytes and the envelope is the JSON array
[log, seq, id, key, cause, at, actor, on_behalf_of, type] without spaces, in UTF-8. The
head (number and hash of the last record) is kept apart, so that cutting off the end shows.
A payload may be masked later: its digest stays, and a `payload_redacted` event further on
in the chain names the digest of the mask.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Literal, TypeAlias

import msgspec

from .ids import ActorId, EventId, LogId

GENESIS = "0" * 64


class Record(msgspec.Struct, frozen=True):
    """An entry as a store keeps it, its payload still text."""

    log: LogId
    seq: int
    id: EventId
    key: str | None
    cause: EventId | None
    at: str
    actor: ActorId
    on_behalf_of: ActorId | None
    type: str
    payload: str
    digest: str
    hash: str
    imported: bool = False
    redacted: bool = False


class Head(msgspec.Struct, frozen=True):
    """The end of a log."""

    seq: int = 0
    hash: str = GENESIS
    at: str = ""


FlawKind: TypeAlias = Literal["changed", "removed", "added", "moved", "snapshot", "index"]


class Flaw(msgspec.Struct, frozen=True, kw_only=True):
    """The first thing wrong with a log."""

    log: LogId
    seq: int
    kind: FlawKind
    what: str


_encode = msgspec.json.Encoder().encode


class _Redaction(msgspec.Struct):
    seq: int
    replacement: str | None = None


_redaction_decoder = msgspec.json.Decoder(_Redaction)


def digest(payload: str) -> str:
    """The SHA-256 of a payload's bytes as stored."""
    return sha256(payload.encode("utf-8", "surrogateescape")).hexdigest()


def link(record: Record, previous: str, seq: int | None = None) -> str:
    """The hash that `record` has after `previous`, at its own place or at `seq`."""
    return sealed_hash(
        previous,
        record.digest,
        (
            record.log,
            record.seq if seq is None else seq,
            record.id,
            record.key,
            record.cause,
            record.at,
            record.actor,
            record.on_behalf_of,
            record.type,
        ),
    )


def sealed_hash(previous: str, payload_digest: str, envelope: tuple[str | int | None, ...]) -> str:
    """The hash of a record from its parts: log, seq, id, key, cause, at, actor, on_behalf_of, type."""
    return sha256(bytes.fromhex(previous + payload_digest) + _encode(envelope)).hexdigest()


class Verifier:
    """Walks a log, record by record, and names the first that is not what was recorded.

    After the first fault it goes on reading only to tell what happened there: the record
    that belongs in that place may still turn up further on.
    """

    def __init__(self, log: LogId, head: Head, imported: int = 0) -> None:
        self._log = log
        self._head = head
        self._imported = imported
        """Up to this number, the records came from elsewhere."""
        self._at = Head()
        self._flaw: Flaw | None = None
        self._suspect: Record | None = None
        self._masked: dict[int, str] = {}
        self._redacted: dict[int, str | None] = {}
        self._marked: set[int] = set()

    def grow(self, head: Head) -> None:
        """Go by a later head: the log has grown since the first was read."""
        self._head = head

    def add(self, record: Record) -> None:
        """Take the next record, in the order of their numbers."""
        if self._flaw is not None:
            self._explain(record)
        elif record.seq != self._at.seq + 1:
            kind = "removed" if record.seq > self._at.seq else "added"
            self._fault(min(record.seq, self._at.seq + 1), kind)
            self._explain(record)
        elif record.log != self._log or link(record, self._at.hash) != record.hash:
            self._suspect = record
            self._fault(record.seq, "changed", record)
        elif record.seq > self._head.seq:
            self._fault(record.seq, "added", record)
        elif record.imported != (record.seq <= self._imported):
            self._fault(record.seq, "changed", more=": its mark of where it came from is wrong")
        else:
            self._accept(record)

    def _accept(self, record: Record) -> None:
        self._at = Head(record.seq, record.hash, record.at)
        actual = digest(record.payload)
        if record.redacted:
            self._marked.add(record.seq)
        if actual != record.digest:
            self._masked[record.seq] = actual
        if record.type == "payload_redacted" and actual == record.digest:
            named = _redaction_decoder.decode(record.payload)
            self._redacted[named.seq] = named.replacement

    def _fault(self, seq: int, kind: FlawKind, record: Record | None = None, more: str = "") -> None:
        who = f" ({record.type} {record.id} by {record.actor}, {record.at})" if record is not None else ""
        told = {
            "changed": f"is not what was recorded{who}",
            "removed": "is missing",
            "added": f"was never recorded{who}",
            "moved": "is not in its place",
        }
        self._flaw = Flaw(log=self._log, seq=seq, kind=kind, what=f"event {seq} {told.get(kind, kind)}{more}")

    def _explain(self, record: Record) -> None:
        """See whether `record` tells what happened at the place of the flaw."""
        flaw, suspect = self._flaw, self._suspect
        if flaw is None or flaw.kind not in ("changed", "removed"):
            return
        if link(record, self._at.hash, flaw.seq) == record.hash:  # this one belongs there
            pushed = suspect is not None and record.seq == flaw.seq + 1
            if pushed and suspect is not None and link(suspect, record.hash, record.seq) != suspect.hash:
                self._fault(flaw.seq, "added", suspect)
            else:
                self._fault(flaw.seq, "moved", more=f": it is at {record.seq}")
        elif suspect is not None and record.seq == flaw.seq + 1:
            moved_up = link(record, suspect.hash, record.seq + 1) == record.hash
            if moved_up:  # and so did all behind it: one is gone
                self._fault(flaw.seq, "removed")

    def finish(self) -> Flaw | None:
        """The first flaw of the whole log, or None."""
        if self._flaw is None and self._at.seq < self._head.seq:
            self._fault(self._at.seq + 1, "removed")
        if self._flaw is None and self._at.hash != self._head.hash:
            self._flaw = Flaw(
                log=self._log,
                seq=self._at.seq,
                kind="changed",
                what=f"the head is not the hash of event {self._at.seq}",
            )
        masks = sorted(seq for seq in self._masked.keys() | self._redacted.keys() | self._marked if self._untold(seq))
        if masks and (self._flaw is None or masks[0] < self._flaw.seq):
            self._flaw = Flaw(
                log=self._log,
                seq=masks[0],
                kind="changed",
                what=f"the payload of event {masks[0]} is not what was recorded",
            )
        return self._flaw

    def _untold(self, seq: int) -> bool:
        """Whether a payload differs from what was recorded, or masked, without a redaction that says so."""
        return self._masked.get(seq) != self._redacted.get(seq) or (seq in self._marked) != (seq in self._redacted)
