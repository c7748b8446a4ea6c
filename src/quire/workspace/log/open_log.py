"""A log that this process works on: its state, and how events get onto its end.

The state runs ahead of the store: an accepted event counts at once for the rules of the
next one, while its commit is still on the way. That is safe because the store appends only
on the very record that was expected (number and hash): when somebody else was first, all
that was built on the wrong state conflicts, the state is taken back to what was committed,
the other's events are read, and everything is tried again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

import msgspec

from ...core import codec
from ...core import events as e
from ...core.chain import Head, Record, digest, sealed_hash
from ...core.edits.undo_plan import CELL_CHANGES
from ...core.errors import Conflict, QuireError, Refused
from ...core.events import Draft, Entry, KnownEvent
from ...core.ids import CellId, LogId
from ...core.notebook.reduce import REDUCER
from ...core.rules.acceptance import SubmissionContext
from ...core.rules.cell_rules import edits_of
from ...core.text import Edit
from ...stores.store import PAGE_BYTES, Append, AppendOutcome, Mask, Snapshot, Store, UnsealedRecord
from ..identity import identities
from ..identity.identities import Identity
from .log_state import LogReducer

SETTLE_EVERY = 256
SETTLE_BYTES = 4_000_000
"""How many committed entries are kept beside the last settled state, to go back to, and how large they may be."""
SNAPSHOT_EVERY = 1000
"""A snapshot is written after so many events at the earliest."""
LARGE_BYTES = 10_000
"""So large an entry is counted: of smaller ones there are too few to matter."""
ATTEMPTS = 200
"""How often a submission that lost a race is tried again."""
WARY = 20
"""For so many submissions after somebody else wrote, it is looked first whether they did again."""

SNAPSHOT_BYTES_AN_EVENT = 300
"""What an event weighs in the log: a snapshot as large as n of them is not written more often than every n."""

V = TypeVar("V")


class Live(Generic[V]):
    """One log, open in this process."""

    def __init__(
        self, store: Store, log: LogId, fold: Callable[[V | None], LogReducer[V]], clock: Callable[[], str]
    ) -> None:
        self._store = store
        self._log = log
        self._fold = fold
        self._clock = clock
        # Held while the state is read or extended, never while a commit is on its way.
        self._lock = asyncio.Lock()
        self._forget()
        self._sending = 0
        self._sent = asyncio.Event()
        self._taken_back = self._wary = 0
        self._saving: asyncio.Task[None] | None = None

    def _forget(self) -> None:
        self._opened = False
        self._settled: V | None = None
        self._settled_seq = 0
        self._settling: tuple[int, V | None] = (0, None)
        """The state to settle on once everything up to that number is committed."""
        self._since: list[Entry] = []
        """Committed after the settled state."""
        self._weights: dict[int, int] = {}
        """How large those are that are large, by their numbers: committed and pending, after the settled state."""
        self._committed = Head()
        self._pending: list[Entry] = []
        """Sent after that, and not committed yet."""
        self._folding = self._fold(None)
        self._ahead = Head()
        """The end of the log with what is pending."""
        self._behind = True
        self._masked_from = 0
        """The first event whose payload was masked after it was folded here; 0 when there is none."""
        self._snapshot_seq = self._snapshot_size = 0

    @property
    def idle(self) -> bool:
        """Whether nothing is going on that would be lost with it."""
        return not self._sending and not self._lock.locked() and self._saving is None

    # ---- Reading

    async def read(self) -> V:
        """Return the state that is committed now, by whomever."""
        async with self._lock:
            if not self._sending or self._masked_from:
                await self._catch_up()
                return self._folding.value()
            folding = self._refolded(pending=False)
            async for page in self._pages(self._committed.seq):
                for entry in page:
                    folding.add(entry)
            return folding.value()

    async def _pages(self, since: int) -> AsyncIterator[list[Entry]]:
        while records := await self._store.read(self._log, since, most_bytes=PAGE_BYTES):
            for record in records:
                self._weigh(record)
            yield [codec.entry(record) for record in records]
            since = records[-1].seq

    async def _catch_up(self) -> bool:
        """Read what others wrote; say whether there was anything."""
        while self._sending:
            self._sent.clear()
            await self._sent.wait()
        if not self._opened:
            await self._open()
        before = self._committed.seq
        masked_already: set[int] = set()
        async for page in self._pages(before):
            start = self._committed.seq
            for entry in page:
                self._folding.add(entry)
                if entry.redacted:
                    masked_already.add(entry.seq)
                if isinstance(entry.event, e.PayloadRedacted) and entry.event.seq not in masked_already:
                    self._note_masked(entry.event, start)
            self._commit(page)
        if self._masked_from:
            await self._refold_masked()
        self._behind = False
        return self._committed.seq > before

    def _note_masked(self, event: e.PayloadRedacted, folded: int) -> None:
        """What was folded up to there is no longer what the log says: no snapshot of it may be kept."""
        if event.seq <= folded:
            self._masked_from = min(self._masked_from or event.seq, event.seq)
            self._behind = True

    async def _refold_masked(self) -> None:
        """Fold anew, so that what somebody masked is gone from here and from snapshots too."""
        await self._store.drop_snapshots(self._log, self._masked_from)
        self._forget()
        await self._catch_up()

    async def _open(self) -> None:
        """Start from the last snapshot, if there is one of what is in the log."""
        found = await self._store.snapshot(self._log, REDUCER) if self._folding.kind != "workspace" else None
        records = await self._store.read(self._log, found.seq - 1, found.seq) if found is not None else []
        settled = self._restored(found)
        if found is not None and records and settled is not None:
            self._settled = settled
            self._settled_seq = self._snapshot_seq = found.seq
            self._snapshot_size = len(found.data)
            self._committed = self._ahead = Head(found.seq, records[0].hash, records[0].at)
            self._folding = self._fold(self._settled)
        self._opened = True

    def _restored(self, found: Snapshot | None) -> V | None:
        try:
            return self._folding.restored(found.data) if found is not None else None
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None  # only a cache: `quire verify` will tell, and the log has it all

    def _refolded(self, *, pending: bool) -> LogReducer[V]:
        folding = self._fold(self._settled)
        for entry in (*self._since, *(self._pending if pending else ())):
            folding.add(entry)
        return folding

    # ---- Writing

    async def submit(
        self,
        drafts: Sequence[Draft],
        identity: Identity,
        *,
        epoch: int | None = None,
        masks: Sequence[Mask] = (),
        cells_at: int | None = None,
    ) -> list[Entry]:
        """Record the drafts, all or none, after whatever else comes in meanwhile.

        With `cells_at`, Conflict when cells were changed after that number.
        """
        for _ in range(ATTEMPTS):
            async with self._lock:
                await self._look()
                taken_back = self._taken_back
                try:
                    if cells_at is not None:
                        await self._check_cells(cells_at)
                    entries, unsealed = await self._prepare(drafts, identity, epoch)
                except QuireError:
                    # It may be refused because it is there already, or because we have not seen something.
                    if first := await self._recorded(drafts, identity):
                        return _answered(first, identity)
                    is_on_its_way = {draft.id for draft in drafts} & {entry.id for entry in self._pending}
                    if await self._catch_up() or self._taken_back > taken_back:
                        continue
                    # Sent before by somebody who did not wait for the answer: it has arrived meanwhile.
                    if is_on_its_way and (first := await self._recorded(drafts, identity)):
                        return _answered(first, identity)
                    raise
                sent = self._send(entries, unsealed, masks)
            try:
                # Shielded: who asked may go away, what was sent is recorded all the same.
                (appended,) = await asyncio.shield(sent)
            except Conflict:
                continue
            if appended.repeated:
                return _answered([codec.entry(record) for record in appended.records], identity)
            return entries
        raise Conflict(f"Log {self._log} is too busy: {ATTEMPTS} attempts lost against others. Try again.")

    async def _look(self) -> None:
        """Read what others wrote, where that is likely: a conflict costs more, for all is folded again after it."""
        if self._behind or (self._wary and not self._sending):
            self._wary = WARY if await self._catch_up() else max(0, self._wary - 1)

    async def _prepare(
        self, drafts: Sequence[Draft], identity: Identity, epoch: int | None
    ) -> tuple[list[Entry], list[UnsealedRecord]]:
        """Put the drafts through the rules, each after the one before, and fold them."""
        taken_back, earlier = self._taken_back, await self._earlier(drafts)
        if self._taken_back > taken_back:
            raise Conflict(f"Log {self._log}: what this was built on was not recorded.")
        # No await from here to `_send`: a commit that arrives in between would take our drafts for its own.
        at = max(self._clock(), self._ahead.at)
        asking = SubmissionContext(
            actor=identity.actor,
            on_behalf_of=identity.on_behalf_of,
            token=identity.token,
            at=at,
            seq=self._folding.seq,
            epoch=epoch,
            earlier=earlier,
        )
        entries: list[Entry] = []
        unsealed: list[UnsealedRecord] = []
        try:
            for draft in drafts:
                record = self._seal(draft, self._folding.accept(draft.event, asking), identity, at)
                # What is folded is what is stored: JSON makes a list of a tuple and nothing of NaN.
                entry = codec.entry(record)
                self._folding.add(entry)
                entries.append(entry)
                self._weigh(record)
                unsealed.append(_unsealed(record))
                self._ahead = Head(record.seq, record.hash, record.at)
        except BaseException:
            if entries:
                self._folding = self._refolded(pending=True)
                last = self._pending[-1] if self._pending else None
                self._ahead = Head(last.seq, last.hash, last.at) if last is not None else self._committed
            raise
        return entries, unsealed

    async def _check_cells(self, since: int) -> None:
        recent = (entry.event for entry in (*self._since, *self._pending) if entry.seq > since)
        older = since < self._settled_seq and await self._store.read(
            self._log, since, self._settled_seq, limit=1, types=CELL_CHANGES
        )
        if older or any(codec.type_of(event) in CELL_CHANGES for event in recent):
            raise Conflict(f"Cells of {self._log} were changed after event {since}. Look at it again, then repeat it.")

    async def _earlier(self, drafts: Sequence[Draft]) -> dict[tuple[CellId, int], list[Edit]]:
        """The edits that the drafts' own edits are to be rebased over."""
        wanted = {place for draft in drafts for place in self._folding.bases(draft.event)}
        return {(cell, base): await self._edits_since(cell, base) for cell, base in wanted}

    async def _edits_since(self, cell: CellId, base: int) -> list[Edit]:
        """What others did to the text of a cell after `base`; the submission on its way does not count."""
        known = [entry for entry in (*self._since, *self._pending) if entry.seq > base]
        older: list[Entry] = []
        since, until = base, self._settled_seq
        while since < until and (records := await self._store.read(self._log, since, until, types=_TYPES_WITH_TEXT)):
            older += [codec.entry(record) for record in records]
            since = records[-1].seq
        return [edit for entry in (*older, *known) if _may_edit(entry.event, cell) for edit in edits_of(entry, cell)]

    def _seal(self, draft: Draft, event: KnownEvent, identity: Identity, at: str) -> Record:
        payload = codec.encode(event)
        hash_of_payload = digest(payload)
        envelope = (
            self._log,
            self._ahead.seq + 1,
            draft.id,
            draft.key,
            draft.cause,
            at,
            identity.actor,
            identity.on_behalf_of,
            codec.type_of(event),
        )
        return Record(*envelope, payload, hash_of_payload, sealed_hash(self._ahead.hash, hash_of_payload, envelope))

    async def recorded(self, drafts: Sequence[Draft], identity: Identity) -> list[Entry]:
        """The answer to drafts that were recorded before; nothing when they are new."""
        return _answered(await self._recorded(drafts, identity), identity)

    async def _recorded(self, drafts: Sequence[Draft], identity: Identity) -> list[Entry]:
        """The events that the same ids or keys were first used for, if all were."""
        found: list[Entry] = []
        for draft in drafts:
            record = await self._store.find(draft.id)
            if record is None and draft.key is not None:
                record = await self._store.find_key(draft.key, identity.actor)
            if record is None:
                return []
            found.append(codec.entry(record))
        return found

    def _send(
        self, entries: list[Entry], unsealed: list[UnsealedRecord], masks: Sequence[Mask]
    ) -> asyncio.Future[list[AppendOutcome]]:
        """Put the entries on their way. The books are kept when they arrive, whoever still waits for that."""
        first = entries[0].seq - 1
        previous = self._pending[-1].hash if self._pending else self._committed.hash
        append = Append(
            log=self._log,
            kind=self._folding.kind,
            expected=first,
            previous=previous,
            records=tuple(unsealed),
            about=self._folding.about() if any(isinstance(each.event, _NAMING) for each in entries) else None,
            masks=tuple(masks),
        )
        self._pending += entries
        self._sending += 1
        for entry in entries:
            if isinstance(entry.event, e.PayloadRedacted):
                self._note_masked(entry.event, first)
        settling = max(self._settled_seq, self._settling[0])
        if self._ahead.seq - settling >= SETTLE_EVERY or self._weight(settling) > SETTLE_BYTES:
            self._settling = (self._ahead.seq, self._folding.value())
        sent = asyncio.ensure_future(self._store.append([append]))
        sent.add_done_callback(partial(self._arrived, entries))
        return sent

    def _arrived(self, entries: list[Entry], sent: asyncio.Future[list[AppendOutcome]]) -> None:
        self._sending -= 1
        self._sent.set()
        if sent.cancelled() or sent.exception() is not None or sent.result()[0].repeated:
            self._take_back()
        else:
            del self._pending[: len(entries)]
            self._commit(entries)

    def _take_back(self) -> None:
        """Go back to what is committed. All that is pending stands on what failed, and fails too."""
        self._pending = []
        self._settling = (0, None)
        self._folding = self._refolded(pending=False)
        self._ahead = self._committed
        self._behind = True
        self._taken_back += 1

    def _commit(self, entries: list[Entry]) -> None:
        last = entries[-1]
        self._committed = Head(last.seq, last.hash, last.at)
        if not self._pending:
            self._ahead = self._committed
        self._since += entries
        if not self._pending and (len(self._since) >= SETTLE_EVERY or self._weight(self._settled_seq) > SETTLE_BYTES):
            self._settling = (last.seq, self._folding.value())
        seq, value = self._settling
        if self._settled_seq < seq <= last.seq:
            self._settled, self._settled_seq = value, seq
            self._since = [entry for entry in self._since if entry.seq > seq]
            self._weights = {number: size for number, size in self._weights.items() if number > seq}
            self._save_snapshot()

    def _weigh(self, record: Record) -> None:
        if len(record.payload) > LARGE_BYTES:
            self._weights[record.seq] = len(record.payload)

    def _weight(self, since: int) -> int:
        """How large the large entries after a number are."""
        return sum(size for number, size in self._weights.items() if number > since)

    # ---- Snapshots

    def _save_snapshot(self) -> None:
        """Write one now and then: so rarely that it costs less than the events it covers."""
        due = self._settled_seq - self._snapshot_seq >= max(
            SNAPSHOT_EVERY, self._snapshot_size // SNAPSHOT_BYTES_AN_EVENT
        )
        data = (
            self._folding.stored(self._settled) if due and self._saving is None and self._settled is not None else None
        )
        if data is None or self._masked_from:
            return
        self._snapshot_seq, self._snapshot_size = self._settled_seq, len(data)
        self._saving = asyncio.create_task(
            self._store.save_snapshot(Snapshot(self._log, self._settled_seq, REDUCER, data))
        )
        self._saving.add_done_callback(self._saved)

    def _saved(self, saving: asyncio.Task[None]) -> None:
        self._saving = None
        if not saving.cancelled():
            saving.exception()  # looked at, and let go: a snapshot that failed is only a cache that is missing

    async def reload(self) -> None:
        """Forget the state; it is read again when it is needed."""
        async with self._lock:
            while self._sending:
                self._sent.clear()
                await self._sent.wait()
            self._forget()

    async def close(self) -> None:
        """Wait for what is on its way."""
        async with self._lock:
            while self._sending:
                self._sent.clear()
                await self._sent.wait()
        if self._saving is not None:
            await asyncio.wait([self._saving])


_NAMING = e.NotebookCreated | e.NotebookRenamed | e.NotebookArchived | e.RunRequested | e.ReviewOpened
_TYPES_WITH_TEXT = ("source_edited", "cell_added", "file_merged", "proposal_accepted")


def _may_edit(event: e.AnyEvent, cell: CellId) -> bool:
    """Whether to look closer: in a busy notebook, most of what comes is typed into other cells."""
    return not isinstance(event, e.SourceEdited) or event.cell == cell


def _answered(first: list[Entry], identity: Identity) -> list[Entry]:
    """The first events of these ids or keys, for whoever sent them: to others they are only taken."""
    for entry in first:
        if entry.actor != identity.actor:
            raise Refused(f"Event id {entry.id!r}, or its key, was used by {entry.actor} already. Choose another.")
    identities.check_scope(identity, "read")  # whether in that log, too, is looked at by whoever called us
    return first


def _unsealed(record: Record) -> UnsealedRecord:
    return UnsealedRecord(
        record.id,
        record.key,
        record.cause,
        record.at,
        record.actor,
        record.on_behalf_of,
        record.type,
        record.payload,
        record.digest,
    )
