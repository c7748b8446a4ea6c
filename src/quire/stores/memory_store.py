"""A store that forgets: for tests, and for work that needs no record.

It keeps to the same contract as the others, but for one thing: it lives in one process.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence

from msgspec.structs import replace

from ..core.chain import Head, Record
from ..core.errors import QuireError
from ..core.ids import WORKSPACE_LOG, ActorId, EventId, LogId, key_owner
from .index import TABLES, IndexRows, table_of
from .index_refresh import compare_index, refresh_index
from .seal import RepeatedRecords, check_prune, seal, seal_note
from .sqlite.query import ask_rows
from .store import (
    PAGE,
    PAGE_BYTES,
    Append,
    AppendOutcome,
    CompactionOutcome,
    Growth,
    Lease,
    LogInfo,
    LogKind,
    LogSummary,
    Prune,
    PrunedLog,
    ReadMark,
    Sizes,
    Snapshot,
    Table,
    cut_page,
    is_full,
    merge_by_log,
)
from .wakeups import Wakes


class MemoryStore:
    """Logs in dictionaries."""

    outage = None

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._logs: dict[LogId, list[Record]] = {}
        self._info: dict[LogId, LogInfo] = {}
        self._taken = RepeatedRecords()
        self._feed: list[Growth] = []
        self._snapshots: dict[tuple[LogId, int], list[Snapshot]] = {}
        self._leases: dict[str, tuple[Lease, float]] = {}
        self._epoch = 0
        self._tokens: dict[str, str] = {}
        self._seen: dict[tuple[LogId, ActorId], ReadMark] = {}
        self._index = IndexRows()
        self._indexed = 0
        self._pruned: list[PrunedLog] = []
        self._writing = asyncio.Lock()
        self._wakes = Wakes()

    def carrier(self, topic: str | None = None) -> None:
        """Return nothing: no other process has it."""

    async def append(self, appends: Sequence[Append]) -> list[AppendOutcome]:
        """Record all of it or nothing."""
        async with self._writing:
            return self._append(appends)

    def _append(self, appends: Sequence[Append]) -> list[AppendOutcome]:
        heads = {log: info.head for log, info in self._info.items()}
        done = seal([appends], heads, self._taken)
        answer = done.answers[0]
        if isinstance(answer, QuireError):
            raise answer
        for record in done.records:
            self._logs.setdefault(record.log, []).append(record)
            self._feed.append(Growth(len(self._feed) + 1, record.log, record.seq, record.seq))
        for append in done.appends:
            self._note(append, heads[append.log])
        self._wakes.wake({append.log for append in done.appends})
        return answer

    def _note(self, append: Append, head: Head) -> None:
        records = self._logs[append.log]
        for mask in append.masks:
            records[mask.seq - 1] = replace(records[mask.seq - 1], payload=mask.payload, redacted=True)
        known = self._info.get(append.log)
        about = append.about or (LogSummary(name=known.name, archived=known.archived) if known else LogSummary(name=""))
        self._info[append.log] = LogInfo(
            log=append.log,
            kind=append.kind,
            head=head,
            name=about.name,
            archived=about.archived,
            created_at=records[0].at,
            created_by=records[0].actor,
        )

    async def prune(self, prune: Prune) -> Record:
        """Remove a log, and record that it was removed."""
        async with self._writing:
            info = self._info.get(prune.log)
            newer = self._records(self._feed[prune.since :])
            check_prune(prune, info.head if info is not None else Head(), newer)
            known = self._info.get(WORKSPACE_LOG)
            sealed = seal_note(prune.note, known.head if known is not None else Head())
            self._append(
                [
                    Append(
                        log=WORKSPACE_LOG,
                        kind="workspace",
                        expected=sealed.seq - 1,
                        records=(prune.note,),
                        about=LogSummary(name="workspace"),
                    )
                ]
            )
            self._forget(prune.log, sealed.at)
            return sealed

    def _forget(self, log: LogId, at: str) -> None:
        info, taken = self._info.pop(log), self._taken
        gone = PrunedLog(
            log=log, kind=info.kind, head=info.head, name=info.name, created_at=info.created_at, pruned_at=at
        )
        self._pruned.append(gone)
        taken.gone.add(log)
        for record in self._logs.pop(log):
            if not record.imported:
                taken.ids.pop(record.id, None)
                taken.gone_ids[record.id] = log
            if not record.imported and record.key is not None:
                key = record.key, key_owner(record.key, record.actor)
                taken.keys.pop(key, None)
                taken.gone_keys[key] = log
        self._snapshots = {key: kept for key, kept in self._snapshots.items() if key[0] != log}
        self._seen = {key: seen for key, seen in self._seen.items() if key[0] != log}
        self._index = self._index.without({log})

    async def pruned(self, log: LogId | None = None) -> list[PrunedLog]:
        """Return the logs that were removed."""
        return [each for each in reversed(self._pruned) if log is None or each.log == log]

    async def while_still(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do something while nobody can record anything."""
        async with self._writing:
            await work()

    async def sizes(self, before: str = "") -> Sizes:
        """Return how much there is; nothing of it is in a database."""
        kinds = [info.kind for info in self._info.values()]
        weighed = {log: sum(len(record.payload.encode()) for record in kept) for log, kept in self._logs.items()}
        old = [log for log, info in self._info.items() if info.kind == "run" and info.head.at < before]
        return Sizes(
            notebooks=kinds.count("notebook"),
            runs=kinds.count("run"),
            pruned=len(self._pruned),
            events=sum(map(len, self._logs.values())),
            event_bytes=sum(weighed.values()),
            database_bytes=0,
            old_runs=len(old),
            old_bytes=sum(weighed[log] for log in old),
        )

    async def compact(self, *, fully: bool = True) -> CompactionOutcome:
        """Do nothing: what is removed is gone from memory."""
        return CompactionOutcome(before=0, after=0)

    def _records(self, grown: Iterable[Growth]) -> list[Record]:
        return [self._logs[growth.log][growth.seq - 1] for growth in grown if growth.log in self._logs]

    async def read(
        self,
        log: LogId,
        since: int = 0,
        until: int | None = None,
        *,
        limit: int = PAGE,
        types: Collection[str] | None = None,
        newest_first: bool = False,
        most_bytes: int | None = None,
    ) -> list[Record]:
        """Return the records with since < seq <= until, in order or the last ones first, at most `limit`."""
        found = self._logs.get(log, [])[max(since, 0) : until]
        if newest_first:
            found.reverse()
        wanted = [record for record in found if types is None or record.type in types][:limit]
        return wanted if most_bytes is None else cut_page(wanted, most_bytes)

    async def info(self, log: LogId) -> LogInfo | None:
        """Return the line of a log."""
        return self._info.get(log)

    async def logs(self, kind: LogKind | None = None) -> list[LogInfo]:
        """Return every log, the one begun last first."""
        found = [info for info in self._info.values() if kind is None or info.kind == kind]
        return sorted(found, key=lambda info: (info.created_at, info.log), reverse=True)

    async def find(self, id: EventId) -> Record | None:
        """Return the record that was sent here with this id."""
        return self._now(self._taken.ids.get(id))

    async def find_key(self, key: str, actor: ActorId) -> Record | None:
        """Return the record that this actor sent here with this key; of a key of the house, that of any actor."""
        return self._now(self._taken.keys.get((key, key_owner(key, actor))))

    def _now(self, found: Record | None) -> Record | None:
        return found and self._logs[found.log][found.seq - 1]

    def follow(self, log: LogId, since: int = 0) -> AsyncIterator[list[Record]]:
        """Yield what there is after `since` and then whatever comes."""
        cursor = since

        async def read() -> tuple[list[Record], bool]:
            nonlocal cursor
            page = await self.read(log, cursor, most_bytes=PAGE_BYTES)
            cursor = page[-1].seq if page else cursor
            return page, is_full(page)

        return self._wakes.pages(log, read)

    def feed(self, since: int = 0) -> AsyncIterator[list[Growth]]:
        """Yield which logs grew after position `since`, and then whenever one grows."""
        cursor = since

        async def read() -> tuple[list[Growth], bool]:
            nonlocal cursor
            grown = self._feed[cursor : cursor + PAGE]
            cursor += len(grown)
            return merge_by_log(each for each in grown if each.log in self._logs), len(grown) == PAGE

        return self._wakes.pages(None, read)

    async def position(self) -> int:
        """Return the position of the last record."""
        return len(self._feed)

    async def save_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a snapshot, unless something in it was masked meanwhile."""
        if any(record.type == "payload_redacted" for record in self._logs.get(snapshot.log, [])[snapshot.seq :]):
            return
        if snapshot.log in self._taken.gone:
            return
        self._snapshots.setdefault((snapshot.log, snapshot.version), []).append(snapshot)

    async def snapshot(self, log: LogId, version: int, until: int | None = None) -> Snapshot | None:
        """Return the latest snapshot of that version at or before `until`."""
        kept = self._snapshots.get((log, version), [])
        return max(
            (each for each in kept if until is None or each.seq <= until), key=lambda each: each.seq, default=None
        )

    async def drop_snapshots(self, log: LogId, since: int = 0) -> None:
        """Forget the snapshots of a log from number `since` on."""
        for (of, version), kept in self._snapshots.items():
            if of == log:
                self._snapshots[of, version] = [each for each in kept if each.seq < since]

    async def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take the lease, or return None while somebody holds it."""
        if await self.lease(name) is not None:
            return None
        self._epoch += 1
        return self._hold(Lease(name, holder, self._epoch, seconds))

    def _hold(self, lease: Lease) -> Lease:
        self._leases[lease.name] = (lease, self._clock() + lease.seconds_left)
        return lease

    async def renew(self, lease: Lease, seconds: float) -> Lease | None:
        """Hold on to a lease; None when it is lost."""
        held = await self.lease(lease.name)
        if held is None or (held.epoch, held.holder) != (lease.epoch, lease.holder):
            return None
        return self._hold(replace(lease, seconds_left=seconds))

    async def revive(self, lease: Lease, seconds: float) -> Lease | None:
        """Give a lease more time even if it ran out; None when it was given back, or taken since."""
        held, _ = self._leases.get(lease.name, (None, 0.0))
        if held is None or (held.epoch, held.holder) != (lease.epoch, lease.holder):
            return None
        return self._hold(replace(lease, seconds_left=seconds))

    async def release(self, lease: Lease) -> None:
        """Give a lease back."""
        held = self._leases.get(lease.name)
        if held is not None and (held[0].epoch, held[0].holder) == (lease.epoch, lease.holder):
            del self._leases[lease.name]

    async def lease(self, name: str) -> Lease | None:
        """Return the lease that is held under this name now."""
        lease, ends = self._leases.get(name, (None, 0.0))
        left = ends - self._clock()
        return replace(lease, seconds_left=left) if lease is not None and left > 0 else None

    async def leases(self) -> list[Lease]:
        """Return the leases that were not given back."""
        now = self._clock()
        return [replace(lease, seconds_left=ends - now) for lease, ends in self._leases.values()]

    async def save_token(self, digest: str, token: str) -> None:
        """Keep the hash of a token's secret beside the token's id."""
        self._tokens[digest] = token

    async def token(self, digest: str) -> str | None:
        """Return the id of the token whose secret has this hash."""
        return self._tokens.get(digest)

    async def save_seen(self, seen: ReadMark) -> ReadMark:
        """Keep how far an actor has seen a log: only forwards."""
        key = (seen.log, seen.actor)
        known = self._seen.get(key)
        if known is None or known.seq <= seen.seq:
            self._seen[key] = seen
        return self._seen[key]

    async def seen(self, log: LogId, actor: ActorId) -> ReadMark | None:
        """Return how far an actor has seen a log."""
        return self._seen.get((log, actor))

    async def indexed(self) -> int:
        """Return the position up to which the index was made."""
        return self._indexed

    async def save_index(self, rows: IndexRows, since: int, position: int) -> bool:
        """Bring the index from `since` to `position`."""
        if since != self._indexed:
            return False
        self._index = self._index.replaced(rows.without(self._taken.gone))
        self._indexed = position
        return True

    async def forget_index(self) -> None:
        """Throw the index away."""
        self._index, self._indexed = IndexRows(), -1 - secrets.randbelow(10**15)

    async def index_rows(self, log: LogId) -> IndexRows:
        """Return the rows that the index has of a log, as they are."""
        found = IndexRows()
        for name, column in table_of(log).items():
            at = list(TABLES[name]).index(column) if column else None
            rows = self._index.table(name)
            setattr(found, name, [row for row in rows if at is None or row[at] == log])
        return found

    async def check_index(self, log: LogId) -> str | None:
        """Compare the index with rows made anew from a log; return the first table that differs."""
        return await compare_index(self, log)

    async def save_line(self, line: LogInfo) -> None:
        """Correct what lists show of a log."""
        self._info[line.log] = replace(line, head=self._info[line.log].head)

    async def query(self, sql: str, *, limit: int, seconds: float) -> Table:
        """Answer a question about the index."""
        await refresh_index(self)
        kept = (self._records(self._feed), self._info.values())
        return ask_rows(self._index, *kept, sql, limit=limit, seconds=seconds, pruned=self._pruned)

    async def close(self) -> None:
        """End every follower."""
        self._wakes.close()
