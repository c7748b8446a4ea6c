"""A workspace on a store of this process: checks, rebases, appends, wakes.

This file is the door between those who ask and the logs: who may (access), how an event
gets onto a log (live), and what stands beside the logs (blobs, leases, lanes, the index).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Collection, Sequence
from typing import IO, Any, cast

import msgspec
from msgspec.structs import replace

from ..core import codec, shape
from ..core import events as e
from ..core.chain import digest
from ..core.directory import Directory
from ..core.errors import BadInput, Conflict, NotFound, Refused
from ..core.events import BlobRef, Draft, Entry, Scope
from ..core.ids import (
    WORKSPACE_LOG,
    ActorId,
    ExecutionId,
    LogId,
    RuntimeId,
    TokenId,
    check_id,
    check_key,
    nearest,
)
from ..core.notebook import Notebook
from ..core.reduce import REDUCER, fold
from ..stores.store import Blobs, Growth, Lease, LogInfo, LogKind, Mask, Store, Table
from . import access, clock, redacting
from .access import Identity
from .bundle import Carried, read_bundle, write_bundle
from .folding import DirectoryFolding, NotebookFolding
from .lanes import Lanes
from .live import Live
from .verifying import verify_log
from .workspace import Claim, Held, NewToken, Verified

LEASE_SECONDS = 30.0
"""How long a claim holds without being renewed."""
MAX_LEASE_SECONDS = 3600.0
MAX_DRAFTS = 10_000
LIVE_LOGS = 200
"""How many logs stay open in memory; those nobody works on go first."""


class _Shared(msgspec.Struct, kw_only=True):
    """What all identities in one process share."""

    store: Store
    blobs: Blobs
    clock: Callable[[], str]
    lanes: Lanes
    live: dict[LogId, Live[Any]] = {}
    redacting: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)


class LocalWorkspace:
    """A workspace whose store is at hand."""

    def __init__(
        self, store: Store, blobs: Blobs, identity: Identity | None = None, now: Callable[[], str] = clock.now
    ) -> None:
        self._shared = _Shared(store=store, blobs=blobs, clock=now, lanes=Lanes())
        self.identity = identity or access.owner()

    @property
    def lanes(self) -> Lanes:
        """What is said and not kept."""
        return self._shared.lanes

    def acting_as(self, identity: Identity) -> LocalWorkspace:
        """The same workspace for somebody else. Only for a door that has checked their credentials."""
        other = object.__new__(LocalWorkspace)
        other._shared = self._shared
        other.identity = identity
        return other

    async def bearer(self, secret: str) -> LocalWorkspace:
        """The same workspace for whoever holds this token."""
        token = await self._shared.store.token(access.secret_digest(secret))
        directory = await self._live(WORKSPACE_LOG).read()
        return self.acting_as(access.bearer(directory, token, self._shared.clock()))

    # ---- Writing

    async def submit(self, log: LogId, drafts: Sequence[Draft]) -> list[Entry]:
        """Record the drafts in this order, all or none, and return them as recorded."""
        self._check_drafts(log, drafts)
        if any(isinstance(draft.event, e.PayloadRedacted) for draft in drafts):
            return await self._submit_redactions(log, drafts)
        for draft in drafts:
            if isinstance(draft.event, e.ExecutionClaimed | e.RunClaimed):
                return await self._submit_claim(log, drafts, draft.event)
        return await self._live(log).submit(drafts, self.identity)

    def _check_drafts(self, log: LogId, drafts: Sequence[Draft]) -> None:
        check_id(log, "Log")
        if not 0 < len(drafts) <= MAX_DRAFTS:
            raise BadInput(f"A submission has 1 to {MAX_DRAFTS:,} events, not {len(drafts):,}. Send them in parts.")
        if len({draft.id for draft in drafts}) < len(drafts):
            raise BadInput("Two events of one submission have the same id. Give each its own.")
        for draft in drafts:
            check_id(draft.id, "Event")
            if draft.key is not None:
                check_key(draft.key)
            if draft.cause is not None:
                check_id(draft.cause, "Cause")
            access.check(self.identity, log, access.scope_of(draft.event))
            shape.check_unfilled(draft)

    async def _submit_claim(self, log: LogId, drafts: Sequence[Draft], claim: Claim) -> list[Entry]:
        """A claim is a lease first, then an event that carries its epoch (rule 10)."""
        if len(drafts) > 1:
            raise BadInput("A claim is submitted alone: it may be refused because somebody was first.")
        first = await self._live(log).recorded(drafts, self.identity)
        # Shielded: who goes away in between must not leave a lease that nobody knows of.
        return first or await asyncio.shield(self._claim(log, drafts, claim))

    async def _claim(self, log: LogId, drafts: Sequence[Draft], claim: Claim) -> list[Entry]:
        name, store = lease_name(log, claim), self._shared.store
        lease = await store.acquire(name, self.identity.actor, LEASE_SECONDS)
        if lease is None:
            held = await store.lease(name)
            raise Conflict(f"{name} is held by {held.holder if held else 'somebody'}. Take another one.")
        recorded: int | None = None
        try:
            entries = await self._live(log).submit(drafts, self.identity, epoch=lease.epoch)
            recorded = getattr(entries[0].event, "epoch", None)
            return entries
        finally:
            if recorded != lease.epoch:
                # Refused, or answered with an earlier claim. It runs out and is not given back: it may stand
                # where the lease of somebody stood who is gone, and `claims` still has to tell of that.
                await store.renew(lease, 0)

    def _live(self, log: LogId) -> Live[Any]:
        live = self._shared.live
        found = live.pop(log, None)
        if found is None:
            folding = DirectoryFolding if log == WORKSPACE_LOG else NotebookFolding
            found = Live[Any](self._shared.store, log, cast("Any", folding), self._shared.clock)
            for old in [each for each, one in live.items() if one.idle][: max(0, len(live) - LIVE_LOGS)]:
                del live[old]
        live[log] = found  # the last used stands last
        return found

    # ---- Reading

    async def read(self, log: LogId, seq: int | None = None) -> Notebook:
        """Return a notebook or run as it is, or as it was at an earlier number."""
        access.check(self.identity, log, "read")
        if log == WORKSPACE_LOG:
            raise BadInput("The workspace log is not a notebook. `quire log workspace` shows its events.")
        notebook = await self._live(log).read() if seq is None else await self._read_at(log, seq)
        if not notebook.seq:
            raise NotFound(f"There is no notebook or run {log!r}.{await self._similar(log)}")
        return notebook

    async def _read_at(self, log: LogId, seq: int) -> Notebook:
        info = await self._shared.store.info(log)
        if info is not None and not 0 < seq <= info.head.seq:
            raise BadInput(f"{info.name!r} has the numbers 1 to {info.head.seq}, so not {seq}.")
        found = await self._shared.store.snapshot(log, REDUCER, seq)
        notebook = codec.unpack(found.data) if found is not None else Notebook()
        while notebook.seq < seq and (page := await self.entries(log, notebook.seq, seq)):
            notebook = fold(page, notebook)
        return notebook

    async def directory(self) -> Directory:
        """Return what is true across notebooks."""
        access.check(self.identity, WORKSPACE_LOG, "read")
        return await self._live(WORKSPACE_LOG).read()

    async def entries(
        self,
        log: LogId,
        since: int = 0,
        until: int | None = None,
        *,
        limit: int = 2000,
        types: Collection[str] | None = None,
    ) -> list[Entry]:
        """Return entries with since < seq <= until, at most `limit`."""
        access.check(self.identity, log, "read")
        records = await self._shared.store.read(log, since, until, limit=limit, types=types)
        return [codec.entry(record) for record in records]

    async def follow(self, log: LogId, since: int = 0) -> AsyncIterator[list[Entry]]:
        """Yield the entries after `since`, and then whatever comes, for ever."""
        access.check(self.identity, log, "read")
        async for page in self._shared.store.follow(log, since):
            yield [codec.entry(record) for record in page]

    async def feed(self, since: int | None = None) -> AsyncIterator[list[Growth]]:
        """Yield which logs grow, from now or from a position on, for ever."""
        only = self.identity.notebooks
        start = await self._shared.store.position() if since is None else since
        async for page in self._shared.store.feed(start):
            seen = [each for each in page if only is None or each.log in only]
            if seen:
                yield seen

    async def logs(self, kind: LogKind | None = None) -> list[LogInfo]:
        """Return the logs, the one begun last first."""
        only = self.identity.notebooks
        return [info for info in await self._shared.store.logs(kind) if only is None or info.log in only]

    async def find(self, name: str) -> LogInfo:
        """Return the one log of that id, name or beginning of an id."""
        info = await self._shared.store.info(LogId(name))
        if info is not None and (self.identity.notebooks is None or info.log in self.identity.notebooks):
            return info
        logs = await self.logs()
        matching = [each for each in logs if each.name == name] or [
            each for each in logs if name and each.log.startswith(name)
        ]
        if not matching:
            raise NotFound(f"There is no notebook or run {name!r}.{await self._similar(name)}")
        if len(matching) > 1:
            shown = ", ".join(f"{each.log} ({each.name})" for each in matching[:5])
            raise BadInput(f"{name!r} names {len(matching)} logs: {shown}. Use the id.")
        return matching[0]

    async def _similar(self, name: str) -> str:
        logs = await self.logs()
        close = nearest(name, [each.name for each in logs] + [each.log for each in logs])
        return f" Nearest: {', '.join(close)}." if close else " `quire sql 'select * from notebooks'` lists them."

    # ---- Blobs, leases, queries

    async def put_blob(self, data: bytes | AsyncIterable[bytes], media: str | None = None) -> BlobRef:
        """Keep large bytes and return what an event refers to them by."""
        if not self.identity.scopes & {"edit", "run"}:
            raise Refused(f"{self.identity.actor} may not keep blobs here: that needs the scope 'edit' or 'run'.")
        return await self._shared.blobs.put(data, media)

    def open_blob(self, hash: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes of a blob, or a range of them."""
        access.check(self.identity, WORKSPACE_LOG if self.identity.notebooks is None else LogId(""), "read")
        return self._shared.blobs.open(hash, start, end)

    async def renew(self, log: LogId, claim: Claim, seconds: float = LEASE_SECONDS) -> None:
        """Hold on to what was claimed, so many seconds from now; Conflict when it is lost."""
        if not 0 <= seconds <= MAX_LEASE_SECONDS:
            raise BadInput(f"A claim is renewed for 0 to {MAX_LEASE_SECONDS:g} seconds, not for {seconds}.")
        held = await self._shared.store.renew(self._lease(log, claim), seconds)
        if held is None:
            told = f"{lease_name(log, claim)} is no longer held by {self.identity.actor} under epoch {claim.epoch}."
            raise Conflict(f"{told} Stop the work that it was for.")

    async def release(self, log: LogId, claim: Claim) -> None:
        """Give back what was claimed, when the work is over."""
        await self._shared.store.release(self._lease(log, claim))

    async def claims(self) -> list[Held]:
        """Return what is claimed by whomever, and what was and is lost."""
        found = [_held(lease) for lease in await self._shared.store.leases()]
        only = self.identity.notebooks
        return [held for held in found if held is not None and (only is None or held.log in only)]

    def _lease(self, log: LogId, claim: Claim) -> Lease:
        access.check(self.identity, log, "run")
        check_id(log, "Log")
        if isinstance(claim, e.ExecutionClaimed):
            check_id(claim.execution, "Execution")
        if self.identity.actor not in (claim.runtime, access.SYSTEM):
            raise Refused(f"{self.identity.actor} holds no claim of {claim.runtime}.")
        return Lease(lease_name(log, claim), claim.runtime, claim.epoch or 0, 0)

    async def query(self, sql: str, *, limit: int = 10_000, seconds: float = 30) -> Table:
        """Answer a question over the documented views. Cannot change anything."""
        if self.identity.notebooks is not None or "read" not in self.identity.scopes:
            raise Refused(
                f"{self.identity.actor} may not query the whole workspace: the token is for some notebooks only."
            )
        return await self._shared.store.query(sql, limit=limit, seconds=seconds)

    # ---- Trust

    async def verify(self, logs: Sequence[LogId] | None = None) -> AsyncIterator[Verified]:
        """Check the chains of these logs (of all when None), one by one."""
        imports = (await self._live(WORKSPACE_LOG).read()).imports
        for info in await self.logs():
            if logs is None or info.log in logs:
                access.check(self.identity, info.log, "read")
                imported = imports[info.log].seq if info.log in imports else 0
                yield await verify_log(self._shared.store, info, imported)

    async def forget_snapshots(self, log: LogId) -> None:
        """Throw away the snapshots of a log; they are made anew from it."""
        access.check(self.identity, log, "admin")
        await self._shared.store.drop_snapshots(log)
        await self._live(log).reload()

    async def redact(self, log: LogId, seqs: Sequence[int], why: str, *, secret: str | None = None) -> list[Entry]:
        """Mask what events said, all of it or wherever `secret` stands; that they happened stays."""
        drafts = [Draft(id=clock.new_id(), event=e.PayloadRedacted(seq=seq, why=why)) for seq in seqs]
        self._check_drafts(log, drafts)
        return await self._submit_redactions(log, drafts, secret)

    async def holding(self, log: LogId, secret: str) -> list[int]:
        """Return the numbers of the events that hold a secret, in what they say or in a blob."""
        access.check(self.identity, log, "read")
        return await redacting.holding(self._shared.store, self._shared.blobs, log, secret)

    async def _submit_redactions(self, log: LogId, drafts: Sequence[Draft], secret: str | None = None) -> list[Entry]:
        """Mask, and clean up behind it: begun, it is finished, whoever goes away meanwhile."""
        async with self._shared.redacting:  # a mask is made from what is there: one after the other
            return await asyncio.shield(self._redact(log, drafts, secret))

    async def _redact(self, log: LogId, drafts: Sequence[Draft], secret: str | None) -> list[Entry]:
        store, blobs, live = self._shared.store, self._shared.blobs, self._live(log)
        masks: list[Mask] = []
        completed: list[Draft] = []
        gone: set[str] = set()
        for draft in drafts:
            if not isinstance(draft.event, e.PayloadRedacted):
                raise BadInput("Redactions are submitted alone, not together with other events.")
            if not draft.event.why.strip():
                raise BadInput("A redaction says why (--why): it is on record for good.")
            mask, blobs_gone = await redacting.mask(store, blobs, log, draft.event.seq, secret)
            masks.append(mask)
            gone |= blobs_gone
            completed.append(replace(draft, event=replace(draft.event, replacement=digest(mask.payload))))
        entries = await live.submit(completed, self.identity, masks=masks)
        await store.drop_snapshots(log)
        await live.reload()
        await store.forget_index()
        await redacting.remove_blobs(store, blobs, gone)
        return entries

    # ---- Carrying whole logs

    async def export_bundle(self, log: LogId, file: IO[bytes]) -> Carried:
        """Write a log with its blobs as a bundle."""
        access.check(self.identity, log, "read")
        info = await self._shared.store.info(log)
        if info is None or log == WORKSPACE_LOG:
            raise NotFound(f"There is no notebook or run {log!r}.{await self._similar(log)}")
        return await write_bundle(self._shared.store, self._shared.blobs, info, file)

    async def import_bundle(self, file: IO[bytes]) -> Carried:
        """Take in a bundle, verified; what it tells of is shown as imported."""
        access.check(self.identity, WORKSPACE_LOG, "admin")
        return await read_bundle(self._shared.store, self._shared.blobs, self.identity, file)

    # ---- Tokens

    async def create_token(
        self,
        actor: ActorId,
        scopes: Collection[Scope],
        *,
        on_behalf_of: ActorId | None = None,
        notebooks: Collection[LogId] | None = None,
        expires_at: str | None = None,
    ) -> NewToken:
        """Make a token for an actor. Its hash is kept before the log tells of it: neither works alone."""
        access.check(self.identity, WORKSPACE_LOG, "admin")
        made = NewToken(token=TokenId(clock.new_id()), secret=access.new_secret())
        event = e.TokenCreated(
            token=made.token,
            actor=actor,
            scopes=tuple(scopes),
            on_behalf_of=on_behalf_of,
            notebooks=None if notebooks is None else tuple(notebooks),
            expires_at=expires_at,
        )
        await self._shared.store.save_token(access.secret_digest(made.secret), made.token)
        await self.submit(WORKSPACE_LOG, [Draft(id=clock.new_id(), event=event)])
        return made

    async def close(self) -> None:
        """Finish what is going on and let go."""
        for live in list(self._shared.live.values()):
            await live.close()
        await self._shared.store.close()
        await self._shared.blobs.close()


def lease_name(log: LogId, event: Claim) -> str:
    """Under which name a claim is leased."""
    return f"execution:{log}:{event.execution}" if isinstance(event, e.ExecutionClaimed) else f"run:{log}"


def _held(lease: Lease) -> Held | None:
    """What a lease is held for, if it is for a claim."""
    runtime, epoch = RuntimeId(lease.holder), lease.epoch
    match lease.name.split(":"):
        case ["run", log]:
            claim: Claim = e.RunClaimed(runtime=runtime, epoch=epoch)
        case ["execution", log, execution]:
            claim = e.ExecutionClaimed(execution=ExecutionId(execution), runtime=runtime, epoch=epoch)
        case _:
            return None
    return Held(log=LogId(log), claim=claim, seconds_left=lease.seconds_left)
