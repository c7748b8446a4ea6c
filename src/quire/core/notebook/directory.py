"""What is true across notebooks: the fold of the workspace log.

Actors, roles, policies, tokens (without their secrets), schedules and logs that came from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from .. import events as e
from ..events import Entry, Permission, Role, SchedulePlan, Scope
from ..ids import ActorId, EventId, LogId, TokenId, actor_kind

RUNTIME_SCOPES: frozenset[Scope] = frozenset(("read", "serve"))
"""What the token of a runtime can allow."""


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """An actor that was introduced."""

    name: str = ""
    metadata: dict[str, Any] = {}


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """What the bearer of a token may do."""

    actor: ActorId
    scopes: tuple[Scope, ...]
    on_behalf_of: ActorId | None = None
    notebooks: tuple[LogId, ...] | None = None
    expires_at: str | None = None
    asks: tuple[Scope, ...] = ()
    once: bool = False
    then_until: str | None = None
    version: int = 0
    created_by: ActorId
    created_at: str
    revoked_by: ActorId | None = None
    parent: TokenId | None = None

    def is_over(self, at: str) -> bool:
        """Whether it was revoked or has expired, whatever became of the token it was made with."""
        return self.revoked_by is not None or (self.expires_at is not None and at >= self.expires_at)


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a log came from elsewhere."""

    seq: int
    hash: str
    by: ActorId
    at: str


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """Permissions by effect, for a notebook, an actor, both or (None and None) everything."""

    notebook: LogId | None = None
    actor: ActorId | None = None
    effects: dict[str, Permission] = {}


class Pause(msgspec.Struct, frozen=True, kw_only=True):
    """Who paused an actor or a token, when and why."""

    by: ActorId
    at: str
    why: str = ""


class AskedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run of a schedule that somebody wanted out of turn."""

    at: str
    by: ActorId


class SkippedRuns(msgspec.Struct, frozen=True, kw_only=True):
    """Times at which a schedule was due and did not run."""

    due: str
    until: str
    count: int
    reason: str
    why: str
    at: str


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook that runs by the clock."""

    id: EventId
    """Of the event that added it: another schedule of the same name has another."""
    plan: SchedulePlan
    scopes: tuple[Scope, ...]
    asks: tuple[Scope, ...]
    by: ActorId
    """Who added it, or changed it last: it acts for them, and does no more than they may."""
    on_behalf_of: ActorId | None
    added_at: str
    changed_at: str
    """When its plan became what it is: what it wants done with runs counts for those that began since."""
    since: str
    """From when on it is due, and intervals are counted: when it was added, or came to be due at other times."""
    paused: Pause | None
    resumed_at: str | None
    removed: Pause | None
    asked: tuple[AskedRun, ...]
    """The last runs that were asked for out of turn."""
    skipped: SkippedRuns | None
    """The last ones."""
    skipped_until: str | None
    """No run begins any more for a time up to this one."""


MOST_ASKED = 20
"""So many runs that were asked for out of turn are kept of a schedule."""


class Directory(msgspec.Struct, kw_only=True):
    """The fold of the workspace log up to `seq`. Treat it as frozen."""

    seq: int = 0
    actors: dict[ActorId, Known] = {}
    roles: dict[str, Role] = {}
    """By `notebook actor`; the notebook is `*` for a role in all of them."""
    policies: list[Policy] = []
    tokens: dict[TokenId, Token] = {}
    imports: dict[LogId, Imported] = {}
    paused: dict[str, Pause] = {}
    """By the id of an actor or a token."""
    schedules: dict[str, Schedule] = {}
    """By name; also those that were removed."""
    skipped: int = 0


def fold_directory(entries: Iterable[Entry], start: Directory | None = None) -> Directory:
    """Return the directory that `entries` of the workspace log make of `start`."""
    now = replace(start) if start is not None else Directory()
    for name in ("actors", "roles", "policies", "tokens", "imports", "paused", "schedules"):
        setattr(now, name, getattr(now, name).copy())
    for entry in entries:
        now.seq = entry.seq
        _apply(now, entry)
    return now


def role_key(notebook: LogId | None, actor: ActorId) -> str:
    """Where the role of an actor is found in `Directory.roles`."""
    return f"{notebook or '*'} {actor}"


def lineage(now: Directory, token: TokenId) -> Iterator[tuple[TokenId, Token | None]]:
    """Yield a token, the one with which it was made, and so on; None for one that is not known."""
    seen: set[TokenId] = set()
    following: TokenId | None = token
    # Nobody makes a token with one that is younger, so there is no circle; a log that has one must not hang us.
    while following is not None and following not in seen:
        seen.add(following)
        found = now.tokens.get(following)
        yield following, found
        following = found.parent if found is not None else None


def ended_by(now: Directory, token: TokenId, at: str) -> TokenId | None:
    """Return the token whose end is the end of this one, itself or one above it; None while it is valid."""
    return next((each for each, found in lineage(now, token) if found is None or found.is_over(at)), None)


def end_of(now: Directory, token: TokenId) -> str | None:
    """Return when a token expires: no later than the one with which it was made. None: never."""
    ends = (found.expires_at for _, found in lineage(now, token) if found is not None)
    return min((end for end in ends if end is not None), default=None)


def pause_of(
    now: Directory, actor: ActorId, on_behalf_of: ActorId | None = None, token: TokenId | None = None
) -> tuple[str, Pause] | None:
    """Return the pause that holds somebody, and whose it is: theirs, that of whom they act for, or of a token above theirs.

    A runtime is never held: it serves what others asked for, and what runs goes on until it is interrupted.
    """
    if actor_kind(actor) == "runtime" or not now.paused:
        return None
    names: list[str | None] = [token, actor, on_behalf_of]
    for above, found in lineage(now, token) if token is not None else ():
        names += [above] if found is None else [above, found.actor, found.on_behalf_of]
    return next(((name, now.paused[name]) for name in names if name is not None and name in now.paused), None)


def _apply(now: Directory, entry: Entry) -> None:
    match event := entry.event:
        case e.ActorKnown():
            now.actors[event.actor] = Known(name=event.name, metadata=event.metadata)
        case e.RoleSet(role=None):
            now.roles.pop(role_key(event.notebook, event.actor), None)
        case e.RoleSet(role=str(role)):
            now.roles[role_key(event.notebook, event.actor)] = role
        case e.PolicySet():
            _set_policy(now, event)
        case e.TokenCreated():
            _create_token(now, entry, event)
        case e.TokenRevoked():
            now.tokens[event.token] = replace(now.tokens[event.token], revoked_by=entry.by)
        case e.ActorPaused():
            now.paused[event.token or event.actor or ""] = Pause(by=entry.by, at=entry.at, why=event.why)
        case e.ActorResumed():
            now.paused.pop(event.token or event.actor or "", None)
        case e.ScheduleAdded():
            now.schedules[event.schedule] = _added(entry, event)
        case e.ScheduleChanged():
            now.schedules[event.schedule] = _changed(now.schedules[event.schedule], entry, event.plan)
        case e.SchedulePaused():
            pause = Pause(by=entry.by, at=entry.at, why=event.why)
            _change_schedule(now, event.schedule, paused=pause)
        case e.ScheduleResumed():
            _change_schedule(now, event.schedule, paused=None, resumed_at=entry.at)
        case e.ScheduleRemoved():
            _change_schedule(now, event.schedule, removed=Pause(by=entry.by, at=entry.at))
        case e.ScheduleAsked():
            asked = (*now.schedules[event.schedule].asked, AskedRun(at=entry.at, by=entry.by))
            _change_schedule(now, event.schedule, asked=asked[-MOST_ASKED:])
        case e.ScheduleSkipped():
            _skip(now, entry, event)
        case e.LogImported():
            now.imports[event.log] = Imported(seq=event.seq, hash=event.hash, by=entry.by, at=entry.at)
        case e.LogPruned() | e.PayloadRedacted():
            pass  # what was pruned is looked up where it is asked for: there may be very many
        case _:
            now.skipped += 1


def _set_policy(now: Directory, event: e.PolicySet) -> None:
    others = [each for each in now.policies if (each.notebook, each.actor) != (event.notebook, event.actor)]
    made = [Policy(notebook=event.notebook, actor=event.actor, effects=event.effects)] if event.effects else []
    now.policies = [*others, *made]


def _create_token(now: Directory, entry: Entry, event: e.TokenCreated) -> None:
    scopes = _as_today(event.actor, event.scopes)
    now.tokens[event.token] = Token(
        actor=event.actor,
        scopes=scopes,
        on_behalf_of=event.on_behalf_of,
        notebooks=event.notebooks,
        expires_at=event.expires_at,
        asks=tuple(scope for scope in event.asks if scope in scopes),
        once=event.once,
        then_until=event.then_until,
        version=event.version,
        created_by=entry.by,
        created_at=entry.at,
        parent=event.parent,
    )


def _added(entry: Entry, event: e.ScheduleAdded) -> Schedule:
    return Schedule(
        id=entry.id,
        plan=event.plan,
        scopes=event.scopes,
        asks=event.asks,
        by=entry.by,
        on_behalf_of=entry.behalf,
        added_at=entry.at,
        changed_at=entry.at,
        since=entry.at,
        paused=None,
        resumed_at=None,
        removed=None,
        asked=(),
        skipped=None,
        skipped_until=None,
    )


def _changed(before: Schedule, entry: Entry, plan: SchedulePlan) -> Schedule:
    is_same_time = (plan.when, plan.timezone) == (before.plan.when, before.plan.timezone)
    since = before.since if is_same_time else entry.at
    return replace(before, plan=plan, by=entry.by, on_behalf_of=entry.behalf, changed_at=entry.at, since=since)


def _change_schedule(now: Directory, name: str, **fields: Any) -> None:
    now.schedules[name] = replace(now.schedules[name], **fields)


def _skip(now: Directory, entry: Entry, event: e.ScheduleSkipped) -> None:
    before = now.schedules[event.schedule]
    skipped = SkippedRuns(
        due=event.due, until=event.until, count=event.count, reason=event.reason, why=event.why, at=entry.at
    )
    left = tuple(asked for asked in before.asked if asked.at != event.due)
    # What was asked for out of turn says nothing of when it is due by itself.
    is_asked = len(left) < len(before.asked)
    until = before.skipped_until if is_asked else max(event.until, before.skipped_until or "")
    now.schedules[event.schedule] = replace(before, skipped=skipped, skipped_until=until, asked=left)


def _as_today(actor: ActorId, scopes: tuple[Scope, ...]) -> tuple[Scope, ...]:
    """The scopes of a token as they count: old logs hold some that its kind of actor is no longer given.

    `run` of a runtime meant to do what others ask for, which is `serve` now; and only humans say yes.
    """
    kind = actor_kind(actor)
    if kind == "runtime":
        read: list[Scope] = ["serve" if scope == "run" else scope for scope in scopes]
        return tuple(dict.fromkeys(scope for scope in read if scope in RUNTIME_SCOPES))
    return scopes if kind == "human" else tuple(scope for scope in scopes if scope != "approve")
