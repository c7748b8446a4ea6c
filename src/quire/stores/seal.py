"""How waiting appends become records: the part that all stores share.

A store collects what is waiting, takes its write lock, looks up the heads and the ids that
are taken, and asks `seal` what to write. One order, no gaps, each id and key once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from ..core.chain import Head, Record, sealed_hash
from ..core.errors import BadInput, Conflict, QuireError, Refused
from ..core.ids import HOUSE_KEYS, WORKSPACE_LOG, LogId, key_owner
from .store import Append, AppendOutcome, Prune, UnsealedRecord

COLUMNS = "log, seq, id, key, cause, at, actor, on_behalf_of, type, payload, digest, hash, imported, redacted"
"""Of the table of events: what a `Record` holds, in its order."""
LINE = "log, kind, seq, hash, at, name, archived, created_at, created_by"
"""Of the table of logs."""
KEY_OWNER = f"CASE WHEN substr(key, 1, {len(HOUSE_KEYS)}) = '{HOUSE_KEYS}' THEN '' ELSE actor END"
"""`key_owner`, as databases say it. It stands in their unique indexes, so it never changes."""


def record_from(row: Sequence[object]) -> Record:
    """Return a row with COLUMNS as a record. In SQLite its flags are 0 and 1."""
    *fields, imported, redacted = row
    return Record(*fields, bool(imported), bool(redacted))  # pyright: ignore[reportCallIssue, reportArgumentType] - the columns are Record's


class RepeatedRecords(msgspec.Struct, kw_only=True):
    """The records that were sent here before under an id or a key of this batch."""

    ids: dict[str, Record] = {}
    keys: dict[tuple[str, str], Record] = {}
    """By key, and by within whose keys it is unique."""
    gone: set[LogId] = set()
    """Those of the batch's logs that were pruned."""
    gone_ids: dict[str, LogId] = {}
    gone_keys: dict[tuple[str, str], LogId] = {}
    """The same ids and keys where they were used in a log that was pruned, and in which one."""

    def add(self, record: Record) -> None:
        """Note a record that is there now."""
        if record.imported:
            return  # what came from elsewhere blocks no id or key here
        self.ids[record.id] = record
        if record.key is not None:
            self.keys[record.key, key_owner(record.key, record.actor)] = record

    def match(self, one: UnsealedRecord) -> Record | None:
        """The record that was first, if there is one."""
        found = self.ids.get(one.id)
        if found is not None or one.key is None:
            return found
        return self.keys.get((one.key, key_owner(one.key, one.actor)))

    def check(self, append: Append) -> None:
        """Refuse what was used up by a log that is no longer there: its records cannot be answered with."""
        if append.log in self.gone:
            told = f"Log {append.log} was pruned: nothing more is recorded in it, and its id is not used again"
            raise Refused(f"{told}. See `quire verify`.", log=append.log)
        for one in append.records:
            log = self.gone_ids.get(one.id)
            if log is None and one.key is not None:
                log = self.gone_keys.get((one.key, key_owner(one.key, one.actor)))
            if log is not None:
                told = f"Event id {one.id!r}, or its key, was used in log {log}, which was pruned since"
                raise Refused(f"{told}. It was recorded once, and is not recorded again.", log=log)


class SealedBatch(msgspec.Struct, kw_only=True):
    """What a batch comes to: what to write, and what to answer to each request."""

    records: list[Record] = []
    appends: list[Append] = []
    """Those that go in: their masks, kinds and names are the store's to write."""
    answers: list[list[AppendOutcome] | QuireError] = []


def wanted(batch: Sequence[Sequence[Append]]) -> tuple[list[LogId], list[str], list[str]]:
    """The logs, ids and keys that `seal` has to know about."""
    appends = [append for request in batch for append in request]
    records = [record for append in appends for record in append.records]
    return (
        list(dict.fromkeys(append.log for append in appends)),
        [record.id for record in records],
        [record.key for record in records if record.key is not None],
    )


def seal(batch: Sequence[Sequence[Append]], heads: dict[LogId, Head], taken: RepeatedRecords) -> SealedBatch:
    """Decide each request in turn. `heads` and `taken` are brought up to date on the way."""
    done = SealedBatch()
    for request in batch:
        try:
            done.answers.append(_seal_request(request, heads, taken, done))
        except QuireError as error:
            done.answers.append(error)
    return done


def _seal_request(
    request: Sequence[Append], heads: dict[LogId, Head], taken: RepeatedRecords, done: SealedBatch
) -> list[AppendOutcome]:
    first = _recorded_before(request, taken)
    if first is not None:
        return first
    for append in request:
        taken.check(append)
    for append in request:
        _check_expected(append, heads.get(append.log) or Head())
    answers: list[AppendOutcome] = []
    for append in request:
        records = _seal_append(append, heads.get(append.log) or Head())
        if records:
            last = records[-1]
            heads[append.log] = Head(last.seq, last.hash, last.at)
        for record in records:
            taken.add(record)
        done.records += records
        done.appends.append(append)
        answers.append(AppendOutcome(tuple(records)))
    return answers


def check_prune(prune: Prune, head: Head, newer: Iterable[Record]) -> None:
    """Refuse to remove a log that is not as it was looked at, or that something refers to by now."""
    if (prune.head.seq, prune.head.hash) != (head.seq, head.hash):
        raise Conflict(f"Log {prune.log} has grown, or is gone: it was not pruned.", log=prune.log, seq=head.seq)
    for record in newer:
        if record.log != prune.log and prune.refers(record):
            told = f"Event {record.seq} of log {record.log} refers to log {prune.log} by now"
            raise Conflict(f"{told}: it was not pruned.", log=prune.log)


def seal_note(note: UnsealedRecord, head: Head) -> Record:
    """The record at the end of the workspace's log that tells of a log that was removed."""
    (record,) = _seal_append(
        Append(log=WORKSPACE_LOG, kind="workspace", expected=head.seq, records=(note,)),
        head,
    )
    return record


def _check_expected(append: Append, head: Head) -> None:
    if append.expected != head.seq or append.previous not in (None, head.hash):
        raise Conflict(
            f"Log {append.log} is at {head.seq}, and not as it was at {append.expected}: somebody was first. Read on and try again.",
            log=append.log,
            seq=head.seq,
        )


def _recorded_before(request: Sequence[Append], taken: RepeatedRecords) -> list[AppendOutcome] | None:
    if not any(taken.match(one) for append in request for one in append.records):
        return None
    matches = [[taken.match(one) for one in append.records] for append in request]
    found = [record for row in matches for record in row if record is not None]
    if any(record is None for row in matches for record in row):
        raise BadInput(
            f"Event {found[0].id!r} was recorded before, but not together with the others. Send the new ones alone."
        )
    return [AppendOutcome(tuple(record for record in row if record is not None), repeated=True) for row in matches]


def _seal_append(append: Append, head: Head) -> list[Record]:
    sealed = [replace(record, imported=True) for record in append.imported]
    if sealed:
        head = Head(sealed[-1].seq, sealed[-1].hash, sealed[-1].at)
    log, seq, previous, at = append.log, head.seq, head.hash, head.at
    for one in append.records:
        seq += 1
        at = max(one.at, at)  # clocks differ between processes; time in a log never runs backwards
        envelope = (log, seq, one.id, one.key, one.cause, at, one.actor, one.on_behalf_of, one.type)
        previous = sealed_hash(previous, one.digest, envelope)
        sealed.append(Record(*envelope, one.payload, one.digest, previous))
    return sealed
