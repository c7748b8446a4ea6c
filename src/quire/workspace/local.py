"""A workspace on a store of this process: checks, rebases, appends, wakes.

This file is the door between those who ask and the logs: who may (access), how an event
gets onto a log (live), and what stands beside the logs (blobs, leases, lanes, the index).
Every method looks first whether whoever asks may (rights), as things are at that moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import IO, Any, cast
from weakref import WeakValueDictionary

import msgspec

from ..core import codec
from ..core import events as e
from ..core.chain import Record
from ..core.edits.undo_plan import UndoPlan
from ..core.errors import BadInput, Conflict, NotFound, Refused, Unavailable
from ..core.event_fields import check_drafts
from ..core.events import BlobRef, Draft, Entry, KnownEvent, Scope
from ..core.ids import WORKSPACE_LOG, ActorId, ExecutionId, LogId, TokenId, actor_kind, check_id
from ..core.notebook.directory import Directory
from ..core.notebook.logbook_record import logbook_of
from ..core.notebook.notebook import Notebook
from ..core.notebook.reduce import REDUCER, fold
from ..core.policies import RUN_WITH_PARAMETERS, permission, with_permission
from ..stores.store import Blobs, Growth, Lease, LogInfo, LogKind, Outage, ReadMark, Sizes, Store, Table
from . import clock, prune_runs, redaction, undo
from .bundle import BundleContents, read_bundle, write_bundle
from .identity import identities, invitations, notebook_access, run_policy, sign_in, tokens
from .identity.approval import as_proposal, has_to_ask
from .identity.identities import Identity
from .identity.invitations import Invitation, InvitationWanted
from .identity.notebook_access import NotebookAccess
from .identity.permissions import ActorStanding, Rights
from .identity.run_policy import RunPolicy
from .identity.schedule_rights import schedule_identity
from .identity.sign_in import BrowserSession
from .identity.tokens import ListedToken, NewToken
from .lanes import lane_messages
from .lanes.lane_exchange import LaneCarrying
from .lanes.lanes import Lanes, OwnLanes
from .lanes.runtime_info import PromptAnswer, RuntimeFound, answer_input, found_in
from .lanes.runtime_limit import LivingRuntime, living_runtimes, why_waiting
from .log import locks
from .log.leases import LEASE_SECONDS, held_for, lease_name, take
from .log.lock_renewal import KeptHold
from .log.locks import Hold
from .log.log_lookup import pick, similar
from .log.log_state import DirectoryFolding, NotebookFolding
from .log.open_log import Live
from .log.process_id import this_process
from .package_index import index_packages
from .protocol import Claim, HeldClaim, LogVerification, UndoOutcome
from .prune_runs import PrunePlan, PruneStep
from .subscriptions.subscriptions import ConnectionSubscriptions, Watcher, Watchings
from .tasks import SingleFlight
from .verification import derived_line, verify_log
from .wire.bodies import RunProposed

MAX_LEASE_SECONDS = 3600.0
WRITE_SECONDS = 60.0
"""How long a store may take to record something; longer than it waits for a lock, of which it can say more."""
_PROBE = "hold:probe"
AT_ONCE_SECONDS = 2.0
LIVE_LOGS = 200
"""How many logs stay open in memory; those nobody works on go first."""


class _SharedState(msgspec.Struct, kw_only=True):
    """What all identities in one process share."""

    store: Store
    blobs: Blobs
    clock: Callable[[], str]
    lanes: Lanes
    where: str
    write_seconds: float
    watchings: Watchings | None = None
    """Made for the first connection that watches something: most processes watch nothing."""
    live: dict[LogId, Live[Any]] = {}
    granted: dict[ActorId, dict[LogId, float]] = {}
    """The runs that people started whom a policy lets, and when; those that have ended go at the next look."""
    redacting: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    queries: WeakValueDictionary[str, asyncio.Lock] = msgspec.field(
        default_factory=WeakValueDictionary[str, asyncio.Lock]
    )
    """By token: held while it asks a question."""


class LocalWorkspace:
    """A workspace whose store is at hand."""

    def __init__(
        self,
        store: Store,
        blobs: Blobs,
        identity: Identity | None = None,
        now: Callable[[], str] = clock.now,
        *,
        where: str = "",
        folder: Path | None = None,
        write_seconds: float = WRITE_SECONDS,
    ) -> None:
        # Looked up for whatever a bearer does: many who ask at once share one look.
        self._rights = Rights(store, SingleFlight(self._directory), now, folder)
        self._shared = _SharedState(
            store=store,
            blobs=blobs,
            clock=now,
            lanes=Lanes(),
            where=where,
            write_seconds=write_seconds,
        )
        self.identity = identity or identities.owner()

    @property
    def store_address(self) -> str:
        """The address at which another process of this machine opens the same store; empty where none can."""
        return self._shared.where

    @property
    def lease_seconds(self) -> float:
        """How long a runtime here claims for."""
        return LEASE_SECONDS

    @property
    def outage(self) -> Outage | None:
        """Why the store is away, where that is known without asking it."""
        return self._shared.store.outage

    @property
    def lanes(self) -> OwnLanes:
        """What is said and not kept."""
        return OwnLanes(self._shared.lanes, self.identity.actor)

    @property
    def carries_lanes(self) -> bool:
        """Whether other processes hear what is said on lanes here, and the other way round."""
        return self._shared.store.carrier() is not None

    async def carry_lanes(self, log: LogId | None = None, gone_seconds: float | None = None) -> None:
        """Tell other processes of this store what is said on lanes here, and hear them, until cancelled.

        A server does it for all logs, a runtime for what is said to it in its own. Returns where the store carries nothing.
        Another server that is not heard of for `gone_seconds` is gone.
        """
        if (carrier := self._shared.store.carrier(log)) is not None:
            await LaneCarrying(carrier, self._shared.lanes, log, gone_seconds=gone_seconds).run()

    def acting_as(self, identity: Identity) -> LocalWorkspace:
        """The same workspace for somebody else. Only for a door that has checked their credentials."""
        other = object.__new__(LocalWorkspace)
        other._shared = self._shared
        other._rights = self._rights
        other.identity = identity
        return other

    def beside_store(self) -> LocalWorkspace:
        """The same workspace: this process is beside the store."""
        return self

    def runtime_name(self, wanted: str) -> str:
        """Return the name for a runtime of this process: that of the process, by which others see whether it is gone."""
        return this_process()

    async def as_runtime(self, name: str, log: LogId) -> LocalWorkspace:
        """The same workspace for a runtime that this process is: it serves as far as whoever starts it may run."""
        return self.acting_as(identities.runtime(name, self.identity))

    async def as_mirror(self, log: LogId) -> LocalWorkspace:
        """The same workspace for the mirror of a notebook, on behalf of whoever bound it; refused if they may not edit now.

        A mirror of a bearer acts as that bearer, with their own rights.
        """
        if self.identity.is_bound:
            return self
        binder = await self._rights.binder(log)
        return self.acting_as(identities.mirror(binder.on_behalf_of or binder.actor))

    async def bound_to(self, path: str) -> LogId | None:
        """Return the notebook that holds a file: also one that whoever asks may not read, for there is one (rule 13)."""
        holder = await self._rights.bindings.holder(path, self._rights.folder)
        return holder.log if holder is not None else None

    async def bound_files(self) -> dict[str, LogId]:
        """Return the files that notebooks are bound to, of those that they may read."""
        bound = await self._rights.bindings.all()
        mine = await self._readable([each.log for each in bound])
        return {each.path: each.log for each in bound if each.log in mine}

    async def bearer(self, secret: str) -> LocalWorkspace:
        """The same workspace for whoever holds this token."""
        token = await self._shared.store.token(tokens.secret_digest(secret))
        return self.acting_as(identities.bearer(await self._directory(), token, self._shared.clock()))

    async def _directory(self) -> Directory:
        return await self._live(WORKSPACE_LOG).read()

    async def check(self, log: LogId, scope: Scope) -> None:
        """Refuse what they may not do in a log, or have to ask for first: for a door that does it by itself."""
        await self._check(log, scope)
        if scope in self.identity.asks:
            raise Refused(f"{self.identity.actor} has to ask before it may {scope}, and this cannot be proposed.")

    async def _check(self, log: LogId, scope: Scope) -> ActorStanding:
        return await self._rights.check(self.identity, log, scope)

    # ---- Who may start runs

    async def run_identity(self, log: LogId | None, run: LogId) -> Identity:
        """Return who acts in a run of a notebook, or of a file without one, that the caller wants to start; Refused if they may not.

        For a caller who may not edit, that is themselves with a grant for that one run: its cells are laid out, and no other.
        """
        granted = await self._rights.run_grant(self.identity, log, run)
        if granted is None:
            await self.check(run if log is None else log, "run")
            return self.identity
        if granted.grant is not None and not granted.grant.is_by_policy:
            return granted
        now = asyncio.get_running_loop().time()
        mine = self._shared.granted.setdefault(self.identity.actor, {})
        for each in [each for each, since in mine.items() if not await self._is_going(each, now - since)]:
            mine.pop(each, None)
        run_policy.check_open(self.identity.actor, len(mine))
        mine[run] = now
        return granted

    async def _is_going(self, run: LogId, seconds: float) -> bool:
        """Whether a run that was granted so long ago has not ended; one without a log yet is about to begin."""
        found = (await self._live(run).read()).run
        return found.is_open if found is not None else seconds < run_policy.BEGIN_SECONDS

    async def as_schedule(self, name: str) -> LocalWorkspace:
        """The same workspace for the runs of a schedule; refused where whoever added it may no longer run.

        Only for the scheduler: it begins what is due, and nothing else.
        """
        directory = await self._directory()
        return self.acting_as(schedule_identity(directory, name, self._shared.clock()))

    async def run_policy(self, log: LogId) -> RunPolicy:
        """Return who may start runs of a notebook. Needs to read it."""
        await self.read(log)
        directory = await self._directory()
        standing = await self._standing()
        scopes = standing.scopes(await self._rights.place(log, directory))
        granted = await self._rights.run_grant(self.identity, log, log)
        return RunPolicy(
            viewers_may_run=permission(directory, RUN_WITH_PARAMETERS, log) == "allowed",
            may_run=granted is not None or ("run" in scopes and "run" not in self.identity.asks),
            may_change="admin" in scopes,
        )

    async def let_viewers_run(self, log: LogId, *, allowed: bool) -> None:
        """Decide whether everybody who may read a notebook may start runs of it. Needs to own it."""
        event = with_permission(await self._directory(), RUN_WITH_PARAMETERS, log, "allowed" if allowed else None)
        await self.submit(WORKSPACE_LOG, [Draft(id=clock.new_id(), event=event)])

    # ---- Runtimes

    async def count_runtime(self, log: LogId, runtime: ActorId) -> KeptHold | None:
        """Count a runtime that somebody brings, for as long as the hold is kept; None where it is counted already."""
        system, name = self.acting_as(identities.system()), locks.brought_hold(log, runtime)
        hold = await system.hold(name)
        return KeptHold(system, name, hold) if hold is not None else None

    async def runtimes(self, log: LogId) -> list[RuntimeFound]:
        """Return the runtimes that are attached to a log, with what they said last of how they are."""
        return found_in(await self.read(log), log, self._shared.lanes.board)

    async def answer_input(self, log: LogId, execution: ExecutionId, given: PromptAnswer) -> Entry:
        """Answer what a cell asks."""
        await self._check(log, "run")
        return await answer_input(self, self.submit_once, self._shared.lanes, log, execution, given)

    # ---- Writing

    async def submit(self, log: LogId, drafts: Sequence[Draft], *, lease_seconds: float | None = None) -> list[Entry]:
        """Record the drafts in this order, all or none, and return them as recorded.

        Of a bearer who has to ask, they become one proposal, which is returned instead. A claim holds for
        `lease_seconds` without being renewed, or for the usual time.
        """
        check_drafts(log, drafts)
        return await self._submit_checked(log, drafts, lease_seconds)

    async def plan_undo(self, log: LogId, by: ActorId, since: int = 0) -> UndoPlan:
        """Plan the undo of what an actor did to the cells of a notebook after a number."""
        return await undo.plan(self, log, by, since)

    async def undo(self, log: LogId, by: ActorId, since: int = 0, *, seq: int | None = None) -> UndoOutcome:
        """Take back what an actor did to the cells of a notebook after a number, all or none of it.

        With `seq`, Conflict when cells were changed after that number; without, it is planned again.
        """
        attempts = undo.ATTEMPTS if seq is None else 1
        while True:
            made = await undo.plan(self, log, by, since)
            if not made.changes:
                return UndoOutcome(plan=made)
            drafts = undo.drafts_of(made)
            check_drafts(log, drafts)
            try:
                at = made.seq if seq is None else seq
                entries = await self._submit_checked(log, drafts, why=undo.reason(made), cells_at=at)
                return UndoOutcome(plan=made, entries=entries)
            except Conflict:
                attempts -= 1
                if not attempts:
                    raise

    async def submit_once(self, log: LogId, draft: Draft) -> Entry:
        """Record a draft whose key is Quire's own: once in the workspace, whoever is first."""
        check_drafts(log, [draft], house_keys=True)
        (entry,) = await self._submit_checked(log, [draft])
        return entry

    async def _submit_checked(
        self,
        log: LogId,
        drafts: Sequence[Draft],
        lease_seconds: float | None = None,
        *,
        why: str = "",
        cells_at: int | None = None,
    ) -> list[Entry]:
        seconds = self._shared.write_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._submit_allowed(log, drafts, lease_seconds, why, cells_at)
        except TimeoutError as error:
            told = f"The store did not answer for {seconds:g} s, so it is not known whether this was recorded"
            raise Unavailable(f"{told}. Look at its disk or database, then send it again with the same ids.") from error

    async def _submit_allowed(
        self, log: LogId, drafts: Sequence[Draft], lease_seconds: float | None, why: str, cells_at: int | None
    ) -> list[Entry]:
        await self._rights.check_submission(self.identity, log, drafts)
        asking = await self._asking(log)
        if asking.asks and log != WORKSPACE_LOG and has_to_ask(asking, drafts):
            drafts = [as_proposal(asking, drafts, await self._live(log).read(), why)]
        entries = await self._submit(log, drafts, lease_seconds, cells_at)
        await self._rights.forget_uploads(self.identity, drafts)
        for other in {entry.log for entry in entries} - {log}:
            await self._check(other, "read")  # the first event of an id or key may stand in another log
        return entries

    async def _asking(self, log: LogId) -> Identity:
        """Who asks here: in a logbook whose steps a person approves, an agent has to ask before it changes or runs any."""
        identity = self.identity
        if log == WORKSPACE_LOG or actor_kind(identity.actor) != "agent" or await self._shared.store.info(log) is None:
            return identity
        mark = logbook_of(await self._live(log).read())
        if mark is None or not mark.approve:
            return identity
        return msgspec.structs.replace(identity, asks=identity.asks | {"edit", "run"})

    async def _submit(
        self, log: LogId, drafts: Sequence[Draft], lease_seconds: float | None, cells_at: int | None
    ) -> list[Entry]:
        binds = any(isinstance(draft.event, e.FileBound) and draft.event.path is not None for draft in drafts)
        if any(isinstance(draft.event, e.PayloadRedacted) for draft in drafts):
            if binds:
                raise BadInput("A redaction and the binding of a file are submitted apart from each other.")
            return await self._submit_redactions(log, drafts)
        for draft in drafts:
            if isinstance(draft.event, e.ExecutionClaimed | e.RunClaimed):
                return await self._submit_claim(log, drafts, draft.event, _checked_lease(lease_seconds))
        if binds:
            # Shielded: begun, it is finished, whoever goes away meanwhile.
            return await asyncio.shield(self._submit_binding(log, drafts))
        return await self._live(log).submit(drafts, self.identity, cells_at=cells_at)

    async def _submit_claim(
        self, log: LogId, drafts: Sequence[Draft], claim: Claim, lease_seconds: float
    ) -> list[Entry]:
        """A claim is a lease first, then an event that carries its epoch (rule 10)."""
        if len(drafts) > 1:
            raise BadInput("A claim is submitted alone: it may be refused because somebody was first.")
        live = self._live(log)
        first = await live.recorded(drafts, self.identity)
        if first:
            return first
        # Shielded: who goes away in between must not leave a lease that nobody knows of.
        name = lease_name(log, claim)
        return await asyncio.shield(take(self._shared.store, live, name, drafts, self.identity, lease_seconds))

    async def _submit_binding(self, log: LogId, drafts: Sequence[Draft]) -> list[Entry]:
        """A file has one notebook: it is looked up and recorded while nobody else binds one (rule 13)."""
        live, rights = self._live(log), self._rights
        first = await live.recorded(drafts, self.identity)
        if first:
            return first
        paths = [draft.event.path for draft in drafts if isinstance(draft.event, e.FileBound) and draft.event.path]
        async with rights.bindings.deciding() as lease:
            for path in paths:
                await rights.check_holds(self.identity, log, path)
            entries = await live.submit(drafts, self.identity)
            if await rights.bindings.is_lost(lease):
                await self._yield_to_first(log, paths[-1])
            return entries

    async def _yield_to_first(self, log: LogId, path: str) -> None:
        """This process stood still while it had the right to bind: if another one bound the file meanwhile, that counts."""
        try:
            await self._rights.check_holds(self.identity, log, path)
        except (Conflict, Refused):
            ended = Draft(id=clock.new_id(), event=e.FileBound(path=None))
            await self._live(log).submit([ended], identities.system())
            raise

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
        await self._check(log, "read")
        if log == WORKSPACE_LOG:
            raise BadInput("The workspace log is not a notebook. `quire log workspace` shows its events.")
        notebook = await self._live(log).read() if seq is None else await self._read_at(log, seq)
        if notebook.run is not None and not notebook.run.is_open and await self._shared.store.info(log) is None:
            self._shared.live.pop(log, None)  # somebody removed it, and we have kept it in memory
            notebook = Notebook()
        if not notebook.seq:
            await self._check_pruned(log)
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
        await self._check(WORKSPACE_LOG, "read")
        return await self._directory()

    async def entries(
        self,
        log: LogId,
        since: int = 0,
        until: int | None = None,
        *,
        limit: int = 2000,
        types: Collection[str] | None = None,
        newest_first: bool = False,
    ) -> list[Entry]:
        """Return entries with since < seq <= until, in order or the last ones first, at most `limit`."""
        found = await self.records(log, since, until, limit=limit, types=types, newest_first=newest_first)
        return [codec.entry(record) for record in found]

    async def records(
        self,
        log: LogId,
        since: int = 0,
        until: int | None = None,
        *,
        limit: int = 2000,
        types: Collection[str] | None = None,
        newest_first: bool = False,
    ) -> list[Record]:
        """The same as they are stored: for a door, which passes them on as they are."""
        await self._check(log, "read")
        read = self._shared.store.read
        return await read(log, since, until, limit=limit, types=types, newest_first=newest_first)

    async def seen(self, log: LogId) -> ReadMark | None:
        """Return how far whoever asks has seen a log; None when they never said."""
        await self._check(log, "read")
        return await self._shared.store.seen(log, self.identity.actor)

    async def mark_seen(self, log: LogId, seq: int) -> ReadMark:
        """Keep that whoever asks has seen a log up to a number: only forwards, and nobody else is told."""
        await self._check(log, "read")
        info = await self._shared.store.info(log)
        if info is None:
            raise NotFound(f"There is no notebook or run {log!r}.{await self._similar(log)}")
        if not 0 <= seq <= info.head.seq:
            raise BadInput(f"{info.name!r} has the numbers 1 to {info.head.seq}, so {seq} cannot have been seen.")
        return await self._shared.store.save_seen(ReadMark(log, self.identity.actor, seq, self._shared.clock()))

    async def follow(self, log: LogId, since: int = 0) -> AsyncIterator[list[Entry]]:
        """Yield the entries after `since`, and then whatever comes, for ever; Refused once that is no longer allowed."""
        await self._check(log, "read")
        pages = self._shared.store.follow(log, since)
        async for page in self._rights.guarded(self.identity, pages, lambda: self._check(log, "read")):
            yield [codec.entry(record) for record in page]

    async def feed(self, since: int | None = None) -> AsyncIterator[list[Growth]]:
        """Yield which logs grow, from now or from a position on, for ever."""
        await self._standing()
        start = await self._shared.store.position() if since is None else since
        async for page in self._rights.guarded(self.identity, self._shared.store.feed(start), self._standing):
            mine = await self._readable([each.log for each in page])
            if seen := [each for each in page if each.log in mine]:
                yield seen

    async def watch(self, watcher: Watcher, most: int) -> ConnectionSubscriptions:
        """For a door that carries it on: watch logs, the feed and lanes, so many things at most, together with all others."""
        shared = self._shared
        if shared.watchings is None:
            shared.watchings = Watchings(shared.store, self._rights, shared.lanes)
        return await shared.watchings.enter(self.identity, watcher, most)

    @property
    def watched_bytes(self) -> int:
        """How much memory is held for those who watch."""
        watchings = self._shared.watchings
        return watchings.fanout.held_bytes if watchings is not None else 0

    @property
    def watched_logs(self) -> Collection[LogId]:
        """The logs that somebody watches."""
        watchings = self._shared.watchings
        return watchings.fanout.logs if watchings is not None else ()

    async def grown(self, since: int | None = None) -> tuple[list[Growth], int]:
        """Return which logs grew after a position, as far as is known at once, and how far that goes."""
        await self._standing()
        store = self._shared.store
        position = await store.position()
        if since is None or since >= position:
            return [], position if since is None else since
        pages = store.feed(since)
        try:
            async with asyncio.timeout(AT_ONCE_SECONDS):
                page = await anext(pages)
        except TimeoutError:  # a position that nobody took: its commit failed
            return [], since
        finally:
            await cast("AsyncGenerator[Any]", pages).aclose()
        mine = await self._readable([each.log for each in page])
        return [each for each in page if each.log in mine], page[-1].position

    async def _standing(self) -> ActorStanding:
        identities.check_scope(self.identity, "read")
        return await self._rights.standing(self.identity)

    async def _readable(self, logs: Collection[LogId]) -> set[LogId]:
        return await self._rights.readable(await self._standing(), logs)

    async def logs(self, kind: LogKind | None = None) -> list[LogInfo]:
        """Return the logs, the one begun last first."""
        found = await self._shared.store.logs(kind)
        mine = await self._readable([info.log for info in found])
        return [info for info in found if info.log in mine]

    async def scopes(self, logs: Collection[LogId]) -> dict[LogId, frozenset[Scope]]:
        """Return what they may do in these logs."""
        standing = await self._standing()
        return {log: standing.scopes(await self._rights.place(log, standing.directory)) for log in logs}

    def present(self) -> dict[LogId, list[ActorId]]:
        """Return who has which log open, in all of them: a door shows only those that the bearer may read."""
        return self._shared.lanes.presence.actors()

    def questions(self) -> list[tuple[LogId, lane_messages.Prompt]]:
        """Return what cells ask just now, in all logs: a door shows only those that the bearer may read."""
        return self._shared.lanes.board.questions()

    async def find(self, name: str) -> LogInfo:
        """Return the one log of that id, name or beginning of an id."""
        info = await self._shared.store.info(LogId(name))
        if info is not None and await self._readable([info.log]):
            return info
        try:
            return pick(name, await self.logs())
        except NotFound:
            await self._check_pruned(LogId(name))
            raise

    async def _check_pruned(self, log: LogId) -> None:
        """Say of a log that it was removed, to those who may read everything: of what it was nobody else is told."""
        gone = [] if self.identity.is_bound else await self._shared.store.pruned(log)
        if gone:
            told = f"{gone[0].kind} {log} ({gone[0].name!r}) was pruned at {gone[0].pruned_at[:16]} UTC".capitalize()
            raise NotFound(f"{told}. What is left of it is its head: `quire verify`.")

    async def _similar(self, name: str) -> str:
        return similar(name, await self.logs())

    # ---- Blobs, leases, queries

    async def put_blob(self, data: bytes | AsyncIterable[bytes], media: str | None = None) -> BlobRef:
        """Keep large bytes and return what an event refers to them by."""
        if not self.identity.scopes & {"edit", "run", "serve"}:
            told = f"{self.identity.actor} may not keep blobs here"
            raise Refused(f"{told}: that needs one of the scopes 'edit', 'run' and 'serve'.")
        await self._rights.standing(self.identity)
        ref = await self._shared.blobs.put(data, media)
        if self.identity.is_bound:
            await self._rights.references.keep(ref.hash, self.identity.actor)
        return ref

    async def open_blob(self, hash: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes of a blob that a notebook refers to which they may read, or a range of them."""
        await self._check_blob(hash)
        async for chunk in self._shared.blobs.open(hash, start, end):
            yield chunk

    async def read_blob(self, hash: str) -> bytes:
        """Return the bytes of such a blob, all of them."""
        return b"".join([chunk async for chunk in self.open_blob(hash)])

    async def blob_size(self, hash: str) -> int:
        """Return how many bytes a blob has."""
        await self._check_blob(hash)
        size = await self._shared.blobs.size(hash)
        if size is None:
            raise NotFound(f"There is no blob {hash[:80]!r}.")
        return size

    async def _check_blob(self, hash: str) -> None:
        await self._standing()
        if not await self._rights.may_open(self.identity, hash):
            told = f"{self.identity.actor} may not read blob {hash[:80]!r}"
            raise Refused(f"{told}: no notebook that it may read refers to it.")

    async def renew(self, log: LogId, claim: Claim, seconds: float = LEASE_SECONDS) -> None:
        """Hold on to what was claimed, so many seconds from now, also if it lapsed; Conflict when it is lost."""
        _checked_lease(seconds)
        lease = await self._lease(log, claim)
        # Also one that lapsed: as long as nobody took it or ended its work, it is theirs (rule 10).
        if await self._shared.store.revive(lease, seconds) is None:
            told = f"{lease_name(log, claim)} is no longer held by {self.identity.actor} under epoch {claim.epoch}."
            raise Conflict(f"{told} Stop the work that it was for.")

    async def release(self, log: LogId, claim: Claim) -> None:
        """Give back what was claimed, when the work is over."""
        await self._shared.store.release(await self._lease(log, claim))

    async def claims(self) -> list[HeldClaim]:
        """Return what is claimed by whomever, and what was and is lost."""
        found = [held for lease in await self._shared.store.leases() if (held := held_for(lease)) is not None]
        mine = await self._readable([held.log for held in found])
        return [held for held in found if held.log in mine]

    async def _lease(self, log: LogId, claim: Claim) -> Lease:
        await self._check(log, "serve")
        check_id(log, "Log")
        if isinstance(claim, e.ExecutionClaimed):
            check_id(claim.execution, "Execution")
        if self.identity.actor not in (claim.runtime, identities.SYSTEM):
            raise Refused(f"{self.identity.actor} holds no claim of {claim.runtime}.")
        return Lease(lease_name(log, claim), claim.runtime, claim.epoch or 0, 0)

    async def check_query(self) -> None:
        """Refuse who may not read everything: for a door that asks the index in their place."""
        await self._rights.check_everything(self.identity)

    async def query(self, sql: str, *, limit: int = 10_000, seconds: float = 30) -> Table:
        """Answer a question over the documented views. Cannot change anything."""
        await self.check_query()
        asks = self.identity.token or self.identity.actor
        async with self._shared.queries.setdefault(asks, asyncio.Lock()):  # one at a time: no token keeps all busy
            await index_packages(self._shared.store, self._shared.blobs, sql, seconds)
            return await self._shared.store.query(sql, limit=limit, seconds=seconds)

    async def hold(self, name: str, seconds: float = LEASE_SECONDS) -> Hold | None:
        """Be the only process that does what has this name; None while another one does."""
        await self._check_holding()
        locks.check_name(self.identity, name)
        if (mirrored := locks.mirrored_log(name)) is not None:
            await self._check(mirrored, "bind")
        holder = locks.holder_of(self.identity)
        return await locks.take(self._shared.store, name, min(seconds, MAX_LEASE_SECONDS), holder)

    async def holder(self, name: str) -> str | None:
        """Return who holds what has this name, for processes beside the store; also if it lapsed and nobody took it."""
        lease = await self.hold_of(name)
        return lease.holder if lease is not None else None

    async def hold_of(self, name: str) -> Hold | None:
        """Return the hold of this name, lapsed or not, for processes beside the store; None when nobody has it."""
        await self._check_holding()
        locks.check_name(self.identity, name)
        return await locks.find(self._shared.store, name)

    async def living_runtimes(self) -> list[LivingRuntime]:
        """Return the runtimes that live beside the store, and those of elsewhere that speak here."""
        await self._check_holding()
        near = living_runtimes(await self._shared.store.leases())
        known = {(each.log, each.brought) for each in near}
        return near + [
            LivingRuntime(log=log, brought=runtime, holder=runtime, epoch=0)
            for log, runtime in self._shared.lanes.board.runtimes()
            if not locks.is_started(runtime) and (log, runtime) not in known
        ]

    async def why_waiting(self, log: LogId) -> str | None:
        """Return why what waits in a log is not run, if that is for want of room for a runtime."""
        await self._check(log, "read")
        return why_waiting(await self._shared.store.leases(), log)

    async def renew_hold(self, hold: Hold, seconds: float = LEASE_SECONDS) -> Hold | None:
        """Go on holding, so many seconds from now, also if it lapsed; None when it was taken or given back."""
        await self._check_holding(hold)
        return await self._shared.store.revive(hold, min(seconds, MAX_LEASE_SECONDS))

    async def let_go(self, hold: Hold) -> None:
        """Give back what was held."""
        await self._check_holding(hold)
        await self._shared.store.release(hold)

    async def _check_holding(self, hold: Hold | None = None) -> None:
        if not self.identity.scopes & {"edit", "run"}:
            raise Refused(f"{self.identity.actor} may hold nothing here: that needs the scope 'edit' or 'run'.")
        await self._rights.standing(self.identity)
        if hold is not None:
            locks.check(self.identity, hold)

    async def probe(self) -> None:
        """Write a little, for nobody: raises what keeps the store from recording anything."""
        await self._shared.store.acquire(_PROBE, identities.SYSTEM, 0)

    async def propose(self, run: LogId, why: str, here: Callable[[], Awaitable[RunProposed]]) -> RunProposed:
        """Propose to the source of a run what was changed in it: `here` does it, with the files of this process."""
        return await here()

    # ---- Trust

    async def verify(self, logs: Sequence[LogId] | None = None) -> AsyncIterator[LogVerification]:
        """Check the chains of these logs (of all when None), one by one."""
        imports, pruned = (await self._directory()).imports, await prune_runs.pruned_logs(self._shared.store)
        for info in await self.logs():
            if logs is None or info.log in logs:
                imported = imports[info.log].seq if info.log in imports else 0
                yield prune_runs.check_gone(await verify_log(self._shared.store, info, imported), pruned)

    async def forget_snapshots(self, log: LogId) -> None:
        """Throw away what is derived from a log, snapshots, index and its line in lists; it is made anew."""
        await self._check(log, "admin")
        store = self._shared.store
        await store.drop_snapshots(log)
        await store.forget_index()
        if (line := await derived_line(store, log)) is not None:
            await store.save_line(line)
        await self._live(log).reload()

    async def redact(self, log: LogId, seqs: Sequence[int], why: str, *, secret: str | None = None) -> list[Entry]:
        """Mask what events said, all of it or wherever `secret` stands; that they happened stays."""
        drafts = [Draft(id=clock.new_id(), event=e.PayloadRedacted(seq=seq, why=why)) for seq in seqs]
        check_drafts(log, drafts)
        await self._check(log, "admin")
        return await self._submit_redactions(log, drafts, secret)

    async def holding(self, log: LogId, secret: str) -> list[int]:
        """Return the numbers of the events that hold a secret, in what they say or in a blob."""
        await self._check(log, "read")
        return await redaction.holding(self._shared.store, self._shared.blobs, log, secret)

    async def _submit_redactions(self, log: LogId, drafts: Sequence[Draft], secret: str | None = None) -> list[Entry]:
        """Mask, and clean up behind it: begun, it is finished, whoever goes away meanwhile."""
        async with self._shared.redacting:  # a mask is made from what is there: one after the other
            return await asyncio.shield(self._redact(log, drafts, secret))

    async def _redact(self, log: LogId, drafts: Sequence[Draft], secret: str | None) -> list[Entry]:
        store, blobs, live = self._shared.store, self._shared.blobs, self._live(log)
        completed, masks, gone = await redaction.complete(store, blobs, log, drafts, secret)
        entries = await live.submit(completed, self.identity, masks=masks)
        await store.drop_snapshots(log)
        await live.reload()
        await store.forget_index()
        await redaction.remove_blobs(store, blobs, gone)
        return entries

    # ---- Removing old runs

    async def plan_prune(self, older_than: str, keep_last: int = 0) -> PrunePlan:
        """Look which runs that are so old (30d), or from before a time, may go. Needs `admin`."""
        await self._check(WORKSPACE_LOG, "admin")
        if keep_last < 0:
            raise BadInput(f"So many runs cannot be kept: {keep_last}. Give 0 or more.")
        infos = await self.logs("run")
        mine = await self.scopes([info.log for info in infos])
        infos = [info for info in infos if "admin" in mine[info.log]]
        before = prune_runs.before_of(older_than, self._shared.clock())
        return await prune_runs.plan(self._shared.store, self._rights.references, infos, before, keep_last)

    async def prune(
        self, older_than: str, keep_last: int = 0, *, only: Collection[LogId] | None = None, fully: bool = True
    ) -> AsyncIterator[PruneStep]:
        """Remove such runs (of those in `only`), the blobs that nothing refers to then, and their room on disk."""
        store, references = self._shared.store, self._rights.references
        planned = await self.plan_prune(older_than, keep_last)
        async for step in prune_runs.prune(store, self.identity, planned, only):
            if step.pruned is not None:
                self._shared.live.pop(step.pruned.log, None)
            yield step
        blobs, blob_bytes = await prune_runs.collect_blobs(store, self._shared.blobs, references)
        yield PruneStep(blobs=blobs, blob_bytes=blob_bytes)
        done = await store.compact(fully=fully)
        yield PruneStep(database_before=done.before, database_after=done.after, not_compacted=done.skipped)

    async def sizes(self, older_than: str = "30d") -> tuple[Sizes, int, int]:
        """Return how much the store holds, how many blobs there are, and how large they are together."""
        await self.check_query()
        sizes = await self._shared.store.sizes(prune_runs.before_of(older_than, self._shared.clock()))
        blobs = [found.size async for found in self._shared.blobs.scan()]
        return sizes, len(blobs), sum(blobs)

    # ---- Carrying whole logs

    async def export_bundle(self, log: LogId, file: IO[bytes]) -> BundleContents:
        """Write a log with its blobs as a bundle."""
        await self._check(log, "read")
        info = await self._shared.store.info(log)
        if info is None or log == WORKSPACE_LOG:
            raise NotFound(f"There is no notebook or run {log!r}.{await self._similar(log)}")
        return await write_bundle(self._shared.store, self._shared.blobs, info, file)

    async def import_bundle(self, file: IO[bytes]) -> BundleContents:
        """Take in a bundle, verified; what it tells of is shown as imported."""
        await self._check(WORKSPACE_LOG, "admin")

        async def may_refer(hash: str) -> bool:
            return await self._rights.may_open(self.identity, hash) or await self._shared.blobs.size(hash) is None

        return await read_bundle(self._shared.store, self._shared.blobs, self.identity, file, may_refer)

    # ---- Tokens

    async def create_token(
        self,
        actor: ActorId,
        scopes: Collection[Scope],
        *,
        on_behalf_of: ActorId | None = None,
        notebooks: Collection[LogId] | None = None,
        expires_at: str | None = None,
        asks: Collection[Scope] = (),
    ) -> NewToken:
        """Make a token for an actor. Its hash is kept before the log tells of it: neither works alone."""
        await self._check(WORKSPACE_LOG, "admin")
        wanted = e.TokenCreated(
            token=TokenId(clock.new_id()),
            actor=actor,
            scopes=tuple(scopes),
            on_behalf_of=on_behalf_of,
            notebooks=None if notebooks is None else tuple(notebooks),
            expires_at=expires_at,
            asks=tuple(asks),
        )
        event = tokens.completed(wanted, self.identity, self._shared.clock())
        made = NewToken(token=event.token, secret=tokens.new_secret(), expires_at=event.expires_at)
        await self._shared.store.save_token(tokens.secret_digest(made.secret), made.token)
        await self.submit(WORKSPACE_LOG, [Draft(id=clock.new_id(), event=event)])
        return made

    async def create_sign_in(self) -> NewToken:
        """Make a token that signs a browser in as whoever asks: once, and within minutes."""
        await self._rights.standing(self.identity)
        return await self._mint(sign_in.single_use(self.identity, self._shared.clock()), self.identity.token)

    async def sign_in(self, secret: str, *, expires_at: str | None = None) -> NewToken:
        """Exchange a token that is good for one sign-in for a browser's own, good for so long or until a time."""
        at = self._shared.clock()
        token = TokenId(await self._shared.store.token(tokens.secret_digest(secret)) or "")
        known = sign_in.check(await self._directory(), token, at)
        made = sign_in.browsers(known, at, expires_at)
        # Together: a token that was revoked cannot be revoked again, so of two who come with it one is refused. The
        # browser's own ends with the token of whoever made that one.
        return await self._mint(made, known.parent, e.TokenRevoked(token=token))

    async def create_runtime_token(self, name: str, log: LogId) -> NewToken:
        """Make a token for a runtime that serves this log, and nothing else, for whoever asks."""
        await self._check(log, "run")
        at = self._shared.clock()
        event = tokens.for_runtime(self.identity, name, log, at)
        holders = {lease.holder for lease in await self._shared.store.leases()}
        at_work = holders | set((await self._live(log).read()).runtimes)
        tokens.check_is_theirs(event, await self._directory(), at_work, at)
        return await self._mint(event, self.identity.token)

    async def sign_out(self) -> None:
        """Give up the token that whoever asks came with."""
        if self.identity.token is None:
            raise Refused(f"{self.identity.actor} came without a token, so there is none to give up.")
        event = e.TokenRevoked(token=self.identity.token)
        await self.acting_as(identities.system()).submit(WORKSPACE_LOG, [Draft(id=clock.new_id(), event=event)])

    async def _mint(self, event: e.TokenCreated, parent: TokenId | None, *before: KnownEvent) -> NewToken:
        """Make a token that needs nobody's leave: it gives nobody more than they had with its parent."""
        made = NewToken(token=event.token, secret=tokens.new_secret(), expires_at=event.expires_at)
        await self._shared.store.save_token(tokens.secret_digest(made.secret), made.token)
        drafts = [Draft(id=clock.new_id(), event=each) for each in (*before, event)]
        await self.acting_as(identities.system(parent)).submit(WORKSPACE_LOG, drafts)
        return made

    # ---- Sharing

    async def invite(self, wanted: InvitationWanted) -> Invitation:
        """Give a person a role in a notebook, and make a link that signs one browser in as them, once. Needs to own it."""
        await self._check(wanted.notebook, "admin")
        await self._check(WORKSPACE_LOG, "admin")
        actor, now = invitations.invited_actor(wanted.name), self._shared.clock()
        directory = await self._directory()
        place = await self._rights.place(wanted.notebook, directory)
        was_known = invitations.check_name(directory, self.identity, actor, existing=wanted.existing)
        event = invitations.invited(self.identity, wanted, actor, now)
        tokens.check_grant(self.identity, event)
        secret = tokens.new_secret()
        await self._shared.store.save_token(tokens.secret_digest(secret), event.token)
        # Together: nobody has a link and no role, or a role of which nobody was told.
        roles = notebook_access.closing_roles(directory, place, self.identity)
        roles.append(e.RoleSet(actor=actor, role=wanted.role, notebook=wanted.notebook))
        await self.submit(WORKSPACE_LOG, [Draft(id=clock.new_id(), event=each) for each in (*roles, event)])
        return Invitation(
            token=event.token,
            secret=secret,
            actor=actor,
            role=wanted.role,
            notebook=wanted.notebook,
            expires_at=event.expires_at or now,
            signed_in_until=event.then_until or now,
            was_known=was_known,
        )

    async def notebook_access(self, log: LogId) -> NotebookAccess:
        """Return who may do what in a notebook, and whether whoever asks may change it. Needs to read it."""
        await self._check(log, "read")
        if await self._shared.store.info(log) is None or log == WORKSPACE_LOG:
            raise NotFound(f"There is no notebook or run {log!r}.{await self._similar(log)}")
        directory = await self._directory()
        place = await self._rights.place(log, directory)
        manage = await self._refusal(log)
        return NotebookAccess(
            notebook=log,
            is_open=notebook_access.is_open(directory, place),
            lines=notebook_access.access_lines(directory, place, self._shared.clock()),
            manage_refusal=manage,
            invite_refusal=manage or await self._refusal(WORKSPACE_LOG) or invitations.agent_refusal(self.identity),
        )

    async def _refusal(self, log: LogId) -> str | None:
        """Return why whoever asks may not administer a log, None if they may."""
        try:
            await self._check(log, "admin")
        except Refused as refused:
            return str(refused)
        return None

    async def browsers(self) -> list[BrowserSession]:
        """Return the browsers that are signed in as whoever asks, the newest first."""
        await self._rights.standing(self.identity)
        return sign_in.sessions(await self._directory(), self.identity, self._shared.clock())

    async def sign_out_browser(self, token: TokenId) -> None:
        """Sign out a browser that is signed in as whoever asks, and end what was made with it."""
        await self._rights.standing(self.identity)
        event = sign_in.own_session(await self._directory(), self.identity, token, self._shared.clock())
        await self.acting_as(identities.system()).submit(WORKSPACE_LOG, [Draft(id=clock.new_id(), event=event)])

    async def tokens(self) -> list[ListedToken]:
        """Return what was made for whom, without secrets, the newest first."""
        return tokens.listed(await self.directory(), self._shared.clock())

    async def close(self) -> None:
        """Finish what is going on and let go."""
        if self._shared.watchings is not None:
            await self._shared.watchings.close()
        for live in list(self._shared.live.values()):
            await live.close()
        await self._shared.store.close()
        await self._shared.blobs.close()


def _checked_lease(seconds: float | None) -> float:
    """How long a claim is to hold."""
    if seconds is None:
        return LEASE_SECONDS
    if not 0 <= seconds <= MAX_LEASE_SECONDS:
        raise BadInput(f"A claim is taken and renewed for 0 to {MAX_LEASE_SECONDS:g} seconds, not for {seconds}.")
    return seconds
