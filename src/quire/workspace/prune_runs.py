"""Removing old runs: which may go, what keeps the others, and what is collected behind them.

A run goes whole or not at all (stores: `prune`), and the workspace's log tells of it. It stays when it is not over, when
somebody works in it, or when anything that stays refers to it (workspace/log/run_mentions.py). What referred to it at the moment of its
removal is asked of the store once more, while nobody can write. docs/adr/0016-pruning.md says what is promised.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Collection, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from ..core import codec
from ..core import events as e
from ..core.chain import Flaw, Head, digest
from ..core.errors import BadInput, Conflict, Unavailable
from ..core.event_fields import blob_refs
from ..core.events import RunStatus
from ..core.ids import WORKSPACE_LOG, LogId
from ..core.notebook.notebook import Notebook
from ..core.notebook.reduce import Fold
from ..stores.store import Blobs, LogInfo, Prune, Sizes, Store, UnsealedRecord
from . import clock
from .identity.blob_access import References
from .identity.identities import Identity
from .identity.tokens import ending
from .log.leases import held_for
from .log.run_mentions import REFERRING, Mentions, mentions_in_log
from .protocol import LogVerification

__all__ = ["Sizes"]  # for doors, which know no stores

GRACE_SECONDS = 2 * 86_400.0
"""A blob that was put here, or put again, in this time is left alone: whoever did so may be about to refer to it."""
COLLECTED_AT_ONCE = 50
"""So many blobs are removed while nobody can record anything."""
LOOKED_AT_ONCE = 200
"""The store looks through no more events than about so many, while nobody can write, for what refers to a run."""
EVENT_BYTES = 350
"""What an event takes beside what it says: its envelope, and its place in indexes."""
SHOWN_KEPT = 1000
"""So many runs that are old and stay are told of, with the reason."""


class PrunableRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that may go."""

    log: LogId
    name: str
    status: RunStatus
    at: str
    """When something last happened in it."""
    head: Head
    bytes: int
    """About how much room its events take in the database."""


class KeptRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is old and stays."""

    log: LogId
    name: str
    why: str


class PrunePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What would go, and what is old and stays."""

    before: str
    keep_last: int
    position: int
    """How far the store was looked at for what refers to runs."""
    runs: tuple[PrunableRun, ...]
    kept: tuple[KeptRun, ...]
    kept_count: int
    events: int
    bytes: int
    blobs: int
    """Blobs that nothing would refer to any more."""
    blob_bytes: int


class PruneStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was done: a run went or stayed after all, blobs were collected, the database was compacted."""

    pruned: PrunableRun | None = None
    kept: KeptRun | None = None
    blobs: int | None = None
    blob_bytes: int = 0
    database_before: int | None = None
    database_after: int = 0
    not_compacted: str = ""


class _Old(msgspec.Struct, frozen=True, kw_only=True):
    run: PrunableRun
    blobs: dict[str, int]


def before_of(age: str, now: str) -> str:
    """The time before which runs are old, for an age (30d, 8h), or as it was given."""
    try:
        lasts = ending(age, now)
    except BadInput:
        raise BadInput(f"{age[:40]!r} is neither an age nor a time: write 30d, 8h, or 2026-01-31T00:00Z.") from None
    is_time = lasts == ending(age, "2000-01-01T00:00:00.000000Z")
    return lasts if is_time else clock.earlier(now, lasts)


async def plan(
    store: Store, references: References, logs: Sequence[LogInfo], before: str, keep_last: int = 0
) -> PrunePlan:
    """Look which of the runs in `logs` may go."""
    position = await store.position()
    old, kept = await _old_runs(store, logs, before, keep_last)
    mentions = Mentions(old.keys())
    going = set(old)
    # Whatever stays may refer to a run, which then stays, and may refer to another.
    looking: list[LogInfo] = [info for info in await store.logs() if info.log not in going]
    infos = {info.log: info for info in logs}
    while looking and going:
        info = looking.pop()
        async for mentioned in mentions_in_log(store, info, mentions):
            if mentioned in going:
                going.discard(mentioned)
                run = old[mentioned].run
                kept.append(KeptRun(log=mentioned, name=run.name, why=f"{_told(info)} refers to it"))
                looking.append(infos[mentioned])
    runs = tuple(old[log].run for log in old if log in going)
    freed = await _only_theirs(references, [old[run.log] for run in runs])
    return PrunePlan(
        before=before,
        keep_last=keep_last,
        position=position,
        runs=runs,
        kept=tuple(kept[:SHOWN_KEPT]),
        kept_count=len(kept),
        events=sum(run.head.seq for run in runs),
        bytes=sum(run.bytes for run in runs),
        blobs=len(freed),
        blob_bytes=sum(freed.values()),
    )


def _told(info: LogInfo) -> str:
    return f"{info.kind} {info.log}" if info.kind == "workspace" else f"{info.kind} {info.name!r} [{info.log}]"


async def _old_runs(
    store: Store, logs: Sequence[LogInfo], before: str, keep_last: int
) -> tuple[dict[LogId, _Old], list[KeptRun]]:
    """The runs that are old and over, the oldest first; and those that are old and stay by themselves."""
    runs = [info for info in logs if info.kind == "run"]
    last = await _last_of_each(store, runs, keep_last) if keep_last else set[LogId]()
    at_work = await _at_work(store)
    found: dict[LogId, _Old] = {}
    kept: list[KeptRun] = []
    for info in sorted((info for info in runs if info.head.at < before), key=lambda info: info.head.at):
        why = f"it is one of the last {keep_last} of its source" if info.log in last else at_work.get(info.log)
        old = await _look(store, info) if why is None else why
        if isinstance(old, str):
            kept.append(KeptRun(log=info.log, name=info.name, why=old))
        else:
            found[info.log] = old
    return found, kept


async def _last_of_each(store: Store, runs: Iterable[LogInfo], count: int) -> set[LogId]:
    """The last runs of each file and notebook."""
    of_source: dict[tuple[str | None, str | None], list[LogId]] = {}
    for info in runs:  # the one begun last comes first
        records = await store.read(info.log, 0, 1)
        event = codec.entry(records[0]).event if records else None
        source = event.source if isinstance(event, e.RunRequested) else e.RunSource()
        # With both, the notebook is the run that was resumed.
        of_source.setdefault((source.path, None if source.path else source.notebook), []).append(info.log)
    return {log for each in of_source.values() for log in each[:count]}


async def _at_work(store: Store) -> dict[LogId, str]:
    """The logs in which somebody works, or may go on to."""
    found: dict[LogId, str] = {}
    for lease in await store.leases():
        if (held := held_for(lease)) is not None:
            found[held.log] = f"{lease.holder} has claimed it, and has not given it back"
        elif lease.name.startswith("hold:runtime:") and lease.seconds_left > 0:
            found[LogId(lease.name.removeprefix("hold:runtime:"))] = "a runtime serves it"
    return found


async def _look(store: Store, info: LogInfo) -> _Old | str:
    """What a run comes to, or why it stays."""
    folding, since, size = Fold(), 0, 0
    blobs: dict[str, int] = {}
    try:
        while since < info.head.seq and (records := await store.read(info.log, since, info.head.seq)):
            for record in records:
                entry = codec.entry(record)
                folding.add(entry)
                size += len(record.payload.encode()) + EVENT_BYTES
                blobs |= {ref.hash: ref.size for ref in blob_refs(entry.event)}
            since = records[-1].seq
    except Unavailable:
        return "its log cannot be read: see `quire verify`"
    now = folding.notebook()
    why = _why_open(now)
    if why is not None or now.run is None or now.run.is_open:
        return why or "it is not over"
    run = PrunableRun(
        log=info.log, name=info.name, status=_ended(now.run.status), at=info.head.at, head=info.head, bytes=size
    )
    return _Old(run=run, blobs=blobs)


def _why_open(now: Notebook) -> str | None:
    if now.run is None or now.run.is_open:
        return f"it is {now.run.status}" if now.run is not None else "it is no run"
    if now.executions:
        return "a cell of it waits, or runs"
    if any(proposal.state == "open" for proposal in now.proposals.values()):
        return "a proposal waits in it"
    if now.comments:
        return "somebody commented on it"
    return None


def _ended(status: str) -> RunStatus:
    return msgspec.convert(status, RunStatus)


async def _only_theirs(references: References, runs: Sequence[_Old]) -> dict[str, int]:
    """The blobs that nothing refers to but these runs, with their sizes."""
    found = {hash: size for each in runs for hash, size in each.blobs.items()}
    if not found:
        return {}
    theirs = {each.run.log for each in runs}
    await references.catch_up()
    return {hash: size for hash, size in found.items() if references.known(hash) <= theirs}


async def pruned_logs(store: Store) -> dict[LogId, int]:
    """The logs that the workspace's log says were removed, and in which event."""
    found: dict[LogId, int] = {}
    since = 0
    while records := await store.read(WORKSPACE_LOG, since, types=("log_pruned",)):
        for record in records:
            event = codec.entry(record).event
            if isinstance(event, e.LogPruned):
                found[event.log] = record.seq
        since = records[-1].seq
    return found


def check_gone(verified: LogVerification, pruned: dict[LogId, int]) -> LogVerification:
    """A log that was removed, and is there again, was put there by somebody else than us."""
    if verified.log not in pruned:
        return verified
    what = f"it was pruned (event {pruned[verified.log]} of the workspace's log), and is there again"
    return replace(verified, flaw=Flaw(log=verified.log, seq=1, kind="added", what=what))


# ---- Doing it


async def prune(
    store: Store, identity: Identity, planned: PrunePlan, only: Collection[LogId] | None = None
) -> AsyncIterator[PruneStep]:
    """Remove what was planned, run by run, the oldest first; each is gone, and told of, when it is yielded."""
    waiting = deque(run for run in planned.runs if only is None or run.log in only)
    since, referred = planned.position, set[LogId]()
    while waiting:
        if await store.position() - since > LOOKED_AT_ONCE:
            since, newer = await _newly_mentioned(store, since, [run.log for run in waiting])
            referred |= newer
        run = waiting.popleft()
        if run.log in referred:
            yield PruneStep(kept=KeptRun(log=run.log, name=run.name, why="something refers to it by now"))
            continue
        mentions = Mentions([run.log])
        wanted = Prune(log=run.log, head=run.head, note=_note(identity, run), since=since, refers=mentions.any_in)
        try:
            await store.prune(wanted)
        except Conflict as conflict:
            yield PruneStep(kept=KeptRun(log=run.log, name=run.name, why=str(conflict)))
        else:
            yield PruneStep(pruned=run)


async def _newly_mentioned(store: Store, since: int, runs: Sequence[LogId]) -> tuple[int, set[LogId]]:
    """Which runs what was recorded after a position refers to, and up to which position that was looked at."""
    position, mentions, found = await store.position(), Mentions(runs), set[LogId]()
    async for page in store.feed(since):
        for growth in page:
            records = await store.read(growth.log, growth.first - 1, growth.seq, types=REFERRING)
            found |= {run for record in records for run in mentions.in_text(record.payload) if run != growth.log}
        since = max(growth.position for growth in page)
        if since >= position:
            break
    return since, found


def _note(identity: Identity, run: PrunableRun) -> UnsealedRecord:
    event = e.LogPruned(log=run.log, seq=run.head.seq, hash=run.head.hash, name=run.name, status=run.status)
    payload = codec.encode(event)
    who = (identity.actor, identity.on_behalf_of)
    return UnsealedRecord(clock.new_id(), None, None, clock.now(), *who, codec.type_of(event), payload, digest(payload))


async def collect_blobs(
    store: Store, blobs: Blobs, references: References, grace_seconds: float = GRACE_SECONDS
) -> tuple[int, int]:
    """Remove the blobs that no event refers to, and that nobody put here lately; return how many and how large."""
    await references.catch_up()
    found = [each async for each in blobs.scan() if each.seconds_old >= grace_seconds]
    free = {each.hash: each.size for each in found if not references.known(each.hash)}
    removed: list[int] = []

    async def remove(hashes: Sequence[str]) -> None:
        await references.catch_up()  # nobody can record anything now: this is all there is
        for hash in hashes:
            if not references.known(hash) and await blobs.delete_old(hash, grace_seconds):
                removed.append(free[hash])

    names = list(free)
    for start in range(0, len(names), COLLECTED_AT_ONCE):
        batch = names[start : start + COLLECTED_AT_ONCE]
        await store.while_still(lambda batch=batch: remove(batch))
    return len(removed), sum(removed)
