"""What is true across notebooks: the fold of the workspace log.

Actors, roles, policies, tokens (without their secrets) and logs that came from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from . import events as e
from .events import Entry, Permission, Role, Scope
from .ids import ActorId, LogId, TokenId


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
    created_by: ActorId
    created_at: str
    revoked_by: ActorId | None = None


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


class Directory(msgspec.Struct, kw_only=True):
    """The fold of the workspace log up to `seq`. Treat it as frozen."""

    seq: int = 0
    actors: dict[ActorId, Known] = {}
    roles: dict[str, Role] = {}
    """By `notebook actor`; the notebook is `*` for a role in all of them."""
    policies: list[Policy] = []
    tokens: dict[TokenId, Token] = {}
    imports: dict[LogId, Imported] = {}
    skipped: int = 0


def fold_directory(entries: Iterable[Entry], start: Directory | None = None) -> Directory:
    """Return the directory that `entries` of the workspace log make of `start`."""
    now = replace(start) if start is not None else Directory()
    for name in ("actors", "roles", "policies", "tokens", "imports"):
        setattr(now, name, getattr(now, name).copy())
    for entry in entries:
        now.seq = entry.seq
        _apply(now, entry)
    return now


def role_key(notebook: LogId | None, actor: ActorId) -> str:
    """Where the role of an actor is found in `Directory.roles`."""
    return f"{notebook or '*'} {actor}"


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
        case e.LogImported():
            now.imports[event.log] = Imported(seq=event.seq, hash=event.hash, by=entry.by, at=entry.at)
        case e.PayloadRedacted():
            pass
        case _:
            now.skipped += 1


def _set_policy(now: Directory, event: e.PolicySet) -> None:
    others = [each for each in now.policies if (each.notebook, each.actor) != (event.notebook, event.actor)]
    made = [Policy(notebook=event.notebook, actor=event.actor, effects=event.effects)] if event.effects else []
    now.policies = [*others, *made]


def _create_token(now: Directory, entry: Entry, event: e.TokenCreated) -> None:
    now.tokens[event.token] = Token(
        actor=event.actor,
        scopes=event.scopes,
        on_behalf_of=event.on_behalf_of,
        notebooks=event.notebooks,
        expires_at=event.expires_at,
        asks=event.asks,
        once=event.once,
        then_until=event.then_until,
        created_by=entry.by,
        created_at=entry.at,
    )
