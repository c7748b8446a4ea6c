"""What somebody may do in a log: the lesser of what their credentials and their role allow.

Looked up in the workspace log each time, as it is at that moment, so that a token that is
revoked and a role that is lowered, in whatever process, count from the next call on.
Who owns the files, Quire itself and runtimes started by the owner need no look.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from ...core import codec
from ...core import events as e
from ...core.bound_paths import check_bound_path
from ...core.errors import BadInput, Conflict, NotFound, Refused
from ...core.event_fields import blob_refs
from ...core.events import Draft, KnownEvent, Scope
from ...core.ids import WORKSPACE_LOG, ActorId, LogId, actor_kind
from ...core.notebook.directory import Directory, role_key
from ...core.notebook.reviews import review_log, subject_log
from ...core.policies import RUN_WITH_PARAMETERS, permission
from ...core.roles import ALL_SCOPES, ROLE_SCOPES, LogScope, chain, closed_notebooks, scopes_in
from ...stores.store import Store
from ..bound_files import Bindings, place_of
from . import identities
from .blob_access import References
from .identities import Identity, RunGrant, bound_by
from .schedule_rights import check_schedule
from .tokens import check_grant

T = TypeVar("T")


class ActorStanding(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody, and the directory as it is when they ask."""

    identity: Identity
    directory: Directory
    closed: frozenset[str] = frozenset()

    def scopes(self, place: LogScope) -> frozenset[Scope]:
        """What they may do in a log."""
        who = self.identity
        if not who.is_bound:
            return who.scopes
        if who.grant is not None and who.grant.run == place.log:
            return who.scopes
        if who.notebooks is not None and not any(each.log in who.notebooks for each in chain(place)):
            return frozenset()
        allowed = who.scopes & self._by_role(place)
        return allowed & {"read"} if who.grant is not None else allowed

    def check(self, place: LogScope, scope: Scope) -> None:
        """Refuse what they may not do."""
        identities.check_scope(self.identity, scope)
        if scope in self.scopes(place):
            return
        actor = self.identity.actor
        if self._by_role(place) >= {scope}:
            raise Refused(f"{actor} may not touch log {place.log}: the token is for other notebooks.")
        whose = self.identity.on_behalf_of or actor
        where = "--all" if place.log == WORKSPACE_LOG else place.log
        next_step = f"An owner can change that: `quire role set {whose} ROLE {where}`."
        for role, scopes in ROLE_SCOPES.items():
            if scopes == self._by_role(place):
                raise Refused(
                    f"{actor} may not {identities.DOES[scope]} {place.log}, where the role is {role}. {next_step}"
                )
        raise Refused(f"{actor} has no role in {place.log}, where others have one. {next_step}")

    def _by_role(self, place: LogScope) -> frozenset[Scope]:
        who = self.identity
        if who.owns:
            return ALL_SCOPES
        return scopes_in(self.directory, self.closed, place, who.actor, who.on_behalf_of)

    def check_role(self, event: e.RoleSet) -> None:
        """Roles in all notebooks are given by who has one there, or by who owns the files."""
        who = self.identity
        mine = self.directory.roles.get(role_key(None, who.on_behalf_of or who.actor))
        if event.notebook is None and who.is_bound and mine != "owner":
            raise Refused(
                f"{who.actor} may not give roles in all notebooks: that takes the owner of the files, "
                "or somebody who is owner in all of them. Name a notebook."
            )


class _LogBeginning(msgspec.Struct, frozen=True, kw_only=True):
    """How a log began."""

    made_by: frozenset[ActorId] = frozenset()
    of: LogId | None = None
    started_by: ActorId | None = None
    """Who requested the run, where it is one."""


class Rights:
    """Looks up what is asked about rights. One for all identities of a process."""

    def __init__(
        self,
        store: Store,
        directory: Callable[[], Awaitable[Directory]],
        now: Callable[[], str],
        folder: Path | None = None,
    ) -> None:
        self._store = store
        self.directory = directory
        self.now = now
        self.references = References(store)
        self.bindings = Bindings(store)
        self.folder = folder
        """The folder that paths of files are relative to, where this process has it."""
        self._begun: dict[LogId, _LogBeginning] = {}
        self._closed: tuple[int, frozenset[str]] = (-1, frozenset())

    async def standing(self, identity: Identity, directory: Directory | None = None) -> ActorStanding:
        """Who they are now (or in a directory that was just read); refused if their token no longer opens anything."""
        if not identity.is_bound:
            return ActorStanding(identity=identity, directory=Directory())
        directory = await self.directory() if directory is None else directory
        if identity.token is not None:
            identities.valid_token(directory, identity.token, self.now())
        identities.check_not_paused(directory, identity)
        if self._closed[0] != directory.seq:
            self._closed = (directory.seq, closed_notebooks(directory))
        return ActorStanding(identity=identity, directory=directory, closed=self._closed[1])

    async def check(
        self, identity: Identity, log: LogId, scope: Scope, begins: KnownEvent | None = None
    ) -> ActorStanding:
        """Refuse what they may not do in a log, which may begin with this event."""
        identities.check_scope(identity, scope)
        standing = await self.standing(identity)
        if identity.is_bound:
            standing.check(await self.place(log, standing.directory, begins), scope)
        return standing

    async def readable(self, standing: ActorStanding, logs: Iterable[LogId]) -> set[LogId]:
        """Those of `logs` that they may read."""
        if not standing.identity.is_bound:
            return set(logs) if "read" in standing.identity.scopes else set()
        return {log for log in logs if "read" in standing.scopes(await self.place(log, standing.directory))}

    async def check_everything(self, identity: Identity) -> None:
        """Refuse who may not read all that there is."""
        identities.check_scope(identity, "read")
        told = f"{identity.actor} may not query the whole workspace"
        if identity.notebooks is not None:
            raise Refused(f"{told}: the token is for some notebooks only. Read those one by one.")
        standing = await self.standing(identity)
        logs = {LogId(log) for log in standing.closed}  # what is open is open to all
        if await self.readable(standing, logs) != logs:
            raise Refused(f"{told}: a notebook is closed to it. Read the others one by one.")

    async def place(self, log: LogId, directory: Directory, begins: KnownEvent | None = None) -> LogScope:
        """A log, with who began it and what it is a run or a review of."""
        line = [(log, await self._begin(log, begins))]
        while (of := line[-1][1].of) is not None and of not in [each for each, _ in line]:
            line.append((of, await self._begin(of)))
        return _place(line, directory)

    async def _begin(self, log: LogId, begins: KnownEvent | None = None) -> _LogBeginning:
        """How a log began, or is about to. What is recorded of it never changes, so that is read once."""
        if log in self._begun or log == WORKSPACE_LOG:
            return self._begun.get(log, _LogBeginning())
        records = await self._store.read(log, 0, 1)
        event = codec.entry(records[0]).event if records else begins
        made_by = {who for each in records for who in (each.actor, each.on_behalf_of) if who is not None}
        if isinstance(event, e.RunRequested):
            # Who was let start a run does not own it: its cells are as closed to them as those of its notebook.
            made_by = set[ActorId]() if RUN_WITH_PARAMETERS in event.policy else made_by
            starter = records[0].actor if records else None
            found = _LogBeginning(made_by=frozenset(made_by), of=event.source.notebook, started_by=starter)
        elif isinstance(event, e.ReviewOpened):
            # A review shows its subject: it is as closed as that, and whoever opened it owns nothing more.
            of = subject_log(event.subject)
            found = _LogBeginning(made_by=frozenset() if of is not None else frozenset(made_by), of=of)
        else:
            found = _LogBeginning(made_by=frozenset(made_by))
        if records:
            self._begun[log] = found
        return found

    # ---- What is given away

    async def check_submission(self, identity: Identity, log: LogId, drafts: Sequence[Draft]) -> None:
        """Refuse what they may not say in a log, and what would give away more than they have."""
        needed: set[Scope] = {scope for each in drafts for scope in identities.scopes_of(each.event, identity.actor)}
        if needed == {"run"} and await self._cancels_own_run(identity, log, drafts):
            needed = {"read"}
        for scope in sorted(needed - {"admin"}):
            await self.check(identity, log, scope, drafts[0].event)
        for draft in drafts:
            event = draft.event
            if isinstance(event, e.RoleSet):
                await self._check_role(identity, log, event)
            elif isinstance(event, e.PolicySet) and event.notebook is not None:
                await self._check_policy(identity, log, event.notebook)
            elif isinstance(event, e.PauseEvent):
                await self._check_pause(identity, event)
            elif isinstance(event, e.ScheduleEvent):
                await self._check_schedule(identity, log, event)
            elif identities.scope_of(event, identity.actor) == "admin":
                await self.check(identity, log, "admin")
            if isinstance(event, e.TokenCreated):
                check_grant(identity, event)
            if isinstance(event, e.RunRequested):
                _check_run_grant(identity, log, event)
            if isinstance(event, e.ReviewOpened):
                await self._check_review(identity, log, event)
            if isinstance(event, e.FileBound) and event.path is not None:
                await self._check_place(identity, event.path)
            if isinstance(event, e.FileMerged):
                await self._check_merge(identity, log, event, drafts)
            if identity.is_bound:
                await self._check_references(identity, event)

    async def _check_role(self, identity: Identity, log: LogId, event: e.RoleSet) -> None:
        """A role in a notebook is given by its owner."""
        if log != WORKSPACE_LOG:
            raise BadInput("role_set belongs into the workspace log, not into a notebook's.")
        standing = await self.check(identity, event.notebook or WORKSPACE_LOG, "admin")
        standing.check_role(event)
        if event.notebook is not None and await self._store.info(event.notebook) is None:
            raise NotFound(f"There is no notebook or run {event.notebook!r} to have a role in.")

    async def _check_policy(self, identity: Identity, log: LogId, notebook: LogId) -> None:
        """What is allowed in a notebook is decided by its owner."""
        if log != WORKSPACE_LOG:
            raise BadInput("policy_set belongs into the workspace log, not into a notebook's.")
        await self.check(identity, notebook, "admin")
        if await self._store.info(notebook) is None:
            raise NotFound(f"There is no notebook or run {notebook!r} to have a policy for.")

    async def _check_pause(self, identity: Identity, event: e.PauseEvent) -> None:
        """A pause is decided by who administers the workspace, or by the person for whom an agent acts."""
        standing, directory = await self.standing(identity), await self.directory()
        administers = "admin" in standing.scopes(await self.place(WORKSPACE_LOG, directory))
        identities.check_pause(identity, directory, event, administers=administers)

    async def _check_schedule(self, identity: Identity, log: LogId, event: e.ScheduleEvent) -> None:
        """A schedule is of whoever added it, and of those who administer the workspace."""
        if log != WORKSPACE_LOG:
            raise BadInput("Schedules are of the workspace log, not of a notebook's.")
        standing, directory = await self.standing(identity), await self.directory()
        administers = "admin" in standing.scopes(await self.place(WORKSPACE_LOG, directory))
        check_schedule(identity, directory, event, administers=administers)

    async def _check_review(self, identity: Identity, log: LogId, event: e.ReviewOpened) -> None:
        """A subject has one review, with the rights of what it is of: whoever opens it names neither."""
        if log != review_log(event.subject):
            raise BadInput(f"The review of this subject is log {review_log(event.subject)}, not {log}.")
        of = subject_log(event.subject)
        if isinstance(event.subject, e.RevisionsSubject) and event.subject.path:
            bound = await self.bindings.holder(event.subject.path, self.folder)
            if of != (bound.log if bound is not None else None):
                whose = f"bound to notebook {bound.log}" if bound is not None else "bound to no notebook"
                raise Refused(f"{event.subject.path} is {whose}: name that as the review's `notebook`.")
        if of is not None:
            await self.check(identity, of, "read")
            if await self._store.info(of) is None:
                raise NotFound(f"There is no notebook or run {of!r} to review something of.")

    # ---- Runs

    async def run_grant(self, identity: Identity, log: LogId | None, run: LogId) -> Identity | None:
        """Who somebody is in a run of a notebook (or of a file that none is bound to) whose cells they may not lay out themselves.

        That is who may run and not edit, or edit only by a proposal; and who may only read, where the notebook's policy
        lets readers start runs. None: they need no grant, or get none.
        """
        standing = await self.standing(identity)
        if not identity.is_bound or identity.grant is not None or "run" in identity.asks:
            return None
        scopes = standing.scopes(await self.place(run if log is None else log, standing.directory))
        if "run" in scopes:
            may_lay_out = "edit" in scopes - identity.asks
            return None if may_lay_out else identities.granted(identity, RunGrant(run=run, notebook=log))
        is_allowed = log is not None and permission(standing.directory, RUN_WITH_PARAMETERS, log) == "allowed"
        if "read" not in scopes or not is_allowed or not identities.may_use_policies(identity):
            return None
        return identities.granted(identity, RunGrant(run=run, notebook=log, is_by_policy=True))

    async def _cancels_own_run(self, identity: Identity, log: LogId, drafts: Sequence[Draft]) -> bool:
        """Whether a person only asks for a run to be stopped that they started: for that it is enough to read it."""
        if actor_kind(identity.actor) != "human" or log == WORKSPACE_LOG:
            return False
        if not all(isinstance(draft.event, e.RunCancelRequested) for draft in drafts):
            return False
        is_imported = log in (await self.directory()).imports  # who began it elsewhere is nobody here
        return not is_imported and (await self._begin(log)).started_by == identity.actor

    # ---- Files

    async def _check_place(self, identity: Identity, path: str) -> None:
        """Which file a notebook is bound to is decided for the whole folder; it is none that others rely on."""
        if identity.notebooks is not None:
            told = f"{identity.actor} may not bind a notebook to a file: the token is for some notebooks only"
            raise Refused(f"{told}, and {path!r} may be anybody's. Ask somebody whose token has no such limit.")
        check_bound_path(path)
        if self.folder is not None:
            await asyncio.to_thread(place_of, self.folder, path)

    async def _check_merge(self, identity: Identity, log: LogId, event: e.FileMerged, drafts: Sequence[Draft]) -> None:
        """A file is merged into the notebook that holds it, and into no other that was bound to it, too."""
        if not any(isinstance(draft.event, e.FileBound) for draft in drafts):
            await self.check_holds(identity, log, event.path)

    async def check_holds(self, identity: Identity, log: LogId, path: str) -> None:
        """Refuse what another notebook holds: one log for each file."""
        holder = await self.bindings.holder(path, self.folder)
        if holder is None or holder.log == log:
            return
        standing = await self.standing(identity)
        if "edit" not in standing.scopes(await self.place(holder.log, standing.directory)):
            told = f"{path!r} is the file of a notebook in which {identity.actor} may not edit"
            raise Refused(f"{told}. Choose another file, or ask for a role there.")
        info = await self._store.info(holder.log)
        name = info.name if info is not None else holder.log
        also = "" if holder.path == path else f", as {holder.path!r}"
        raise Conflict(
            f"{path} is bound to {name!r} already{also}. Try `quire bind {holder.log} --off` first.", log=holder.log
        )

    async def binder(self, log: LogId) -> Identity:
        """Whoever bound a notebook to its file, with what they may do now; refused when they may no longer edit it."""
        found = await self.bindings.of(log)
        if found is None:
            told = f"Notebook {log} was bound to its file elsewhere, before it was imported, or is bound to none"
            raise Refused(f"{told}. `quire bind {log} FILE` binds it here; until then both are left alone.")
        who = bound_by(await self.directory(), found.by, self.now())
        try:
            await self.check_holds(identities.system(), log, found.path)
            await self.check(who, log, "edit")
        except (Refused, Conflict) as error:
            next_step = f"Both are left as they are until that is changed, or somebody else binds it: `quire bind {log} {found.path}`."
            raise Refused(
                f"{found.path} is not merged on behalf of {who.actor}, who bound it. {error} {next_step}"
            ) from error
        return who

    async def _check_references(self, identity: Identity, event: KnownEvent) -> None:
        """Who refers to a blob makes it readable in that log: so they must be able to read it themselves."""
        for ref in blob_refs(event):
            if not await self.may_open(identity, ref.hash):
                told = (
                    f"{identity.actor} may not refer to blob {ref.hash}: it neither sent it nor may read it elsewhere."
                )
                raise Refused(f"{told} Send the bytes first.")

    async def forget_uploads(self, identity: Identity, drafts: Sequence[Draft]) -> None:
        """What they uploaded and refer to now is in a log: nothing else has to say that it was theirs."""
        if identity.is_bound:
            for ref in (ref for draft in drafts for ref in blob_refs(draft.event)):
                await self.references.referred(ref.hash, identity.actor)

    async def may_open(self, identity: Identity, hash: str) -> bool:
        """Whether they may read a blob: they put it here, or may read a log that refers to it."""
        if not identity.is_bound or await self.references.had(hash, identity.actor):
            return True
        logs = await self.references.logs(hash)
        return bool(await self.readable(await self.standing(identity), logs))

    # ---- While somebody listens

    async def guarded(
        self, identity: Identity, pages: AsyncIterator[T], check: Callable[[], Awaitable[Any]]
    ) -> AsyncIterator[T]:
        """Yield what comes as long as `check` passes: looked at before each page, and whenever rights change."""
        if not identity.is_bound:
            async for page in pages:
                yield page
            return
        head = await self._store.info(WORKSPACE_LOG)
        changes = self._store.follow(WORKSPACE_LOG, head.head.seq if head is not None else 0)
        page, change = _next(pages), _next(changes)
        try:
            while True:
                await check()
                await asyncio.wait((page, change), timeout=self.left(identity), return_when=asyncio.FIRST_COMPLETED)
                await check()
                if change.done():
                    change.result()
                    change = _next(changes)
                if page.done():
                    found = page.result()
                    page = _next(pages)
                    yield found
        except StopAsyncIteration:
            return
        finally:
            for task in (page, change):
                task.cancel()
            await asyncio.wait((page, change))
            for task in (page, change):
                with contextlib.suppress(BaseException):
                    task.result()

    def left(self, identity: Identity) -> float | None:
        """How many seconds their token is good for; None when it has no end."""
        if identity.expires_at is None:
            return None
        left = datetime.fromisoformat(identity.expires_at) - datetime.fromisoformat(self.now())
        return max(0.0, left.total_seconds())


def _check_run_grant(identity: Identity, log: LogId, event: e.RunRequested) -> None:
    """Who was let start one run of a notebook starts that one, and its log says by which policy, if by one."""
    grant = identity.grant
    if grant is None:
        return
    is_that = (grant.run, grant.notebook) == (log, event.source.notebook)
    if not is_that or (event.policy.get(RUN_WITH_PARAMETERS) == "allowed") != grant.is_by_policy:
        whose = "a file" if grant.notebook is None else f"notebook {grant.notebook}"
        raise Refused(f"{identity.actor} was let start run {grant.run} of {whose}, and no other.")


def _place(line: Sequence[tuple[LogId, _LogBeginning]], directory: Directory) -> LogScope:
    *runs, first = line
    place = _one(*first, directory, None)
    for each in reversed(runs):
        place = _one(*each, directory, place)
    return place


def _one(log: LogId, begun: _LogBeginning, directory: Directory, of: LogScope | None) -> LogScope:
    imported = directory.imports.get(log)  # who began it elsewhere is nobody here
    made_by = begun.made_by if imported is None else frozenset((imported.by,))
    return LogScope(log=log, made_by=made_by, of=of)


def _next(pages: AsyncIterator[T]) -> asyncio.Task[T]:
    return asyncio.ensure_future(cast("Coroutine[Any, Any, T]", anext(pages)))
