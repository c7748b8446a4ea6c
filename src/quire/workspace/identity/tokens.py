"""Tokens: how one is made, how long it is good for, and how much one that makes others may give away."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from ...core import events as e
from ...core.errors import BadInput, Refused
from ...core.ids import WORKSPACE_LOG, ActorId, LogId, TokenId, actor_kind, check_actor
from ...core.notebook.directory import Directory, Pause, Token, ended_by, pause_of
from .. import clock
from ..clock import stamp
from .identities import Identity

TOKEN_PREFIX = "quire_"  # noqa: S105 - so that a leaked token is recognised as one
VERSION = 1
"""What `token_created.version` says of a token that is made now."""
RUNTIMES = "30d"
"""How long a runtime's token is good for."""
TokenState: TypeAlias = Literal["valid", "expired", "revoked", "ended"]

_DURATION = re.compile(r"([0-9]{1,6})([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}


class NewToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token just created. `secret` is shown now and never again."""

    token: TokenId
    secret: str
    expires_at: str | None = None


class ListedToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token without its secret, as it is now."""

    token: TokenId
    state: TokenState
    """`ended`: with a token above it, see `ended_with`."""
    allows: Token
    ended_with: TokenId | None = None
    """The token by whose end this one opens nothing: the one that it was made with, or one above that."""
    paused: Pause | None = None
    """The pause that holds it: its own, its actor's, that of the person it acts for, or of a token above it."""


def new_secret() -> str:
    """What the bearer of a token keeps. Shown once; only its hash is stored."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def secret_digest(secret: str) -> str:
    """The hash under which a store finds a token. The secret is random, so it needs no salt."""
    return sha256(secret.encode()).hexdigest()


def listed(directory: Directory, at: str) -> list[ListedToken]:
    """All tokens, the newest first."""
    return [_listed(directory, each, at) for each in reversed(directory.tokens)]


def _listed(directory: Directory, token: TokenId, at: str) -> ListedToken:
    allows, ended = directory.tokens[token], ended_by(directory, token, at)
    state: TokenState = "valid" if ended is None else "ended"
    if ended == token:
        state = "revoked" if allows.revoked_by is not None else "expired"
    held = pause_of(directory, allows.actor, allows.on_behalf_of, token)
    return ListedToken(
        token=token,
        state=state,
        allows=allows,
        ended_with=ended if state == "ended" else None,
        paused=held[1] if held is not None else None,
    )


def tokens_of(actor: ActorId, tokens: Iterable[ListedToken]) -> list[TokenId]:
    """What is revoked with an actor: its own tokens, and those of whoever acts on its behalf."""
    return [each.token for each in tokens if actor in (each.allows.actor, each.allows.on_behalf_of)]


def ending(text: str, now: str) -> str:
    """When a token ends that is good for `text`: so long from `now` on (30d, 8h), or until a time (ISO 8601)."""
    try:
        if (lasts := _DURATION.fullmatch(text)) is not None:
            end = datetime.fromisoformat(now) + timedelta(seconds=int(lasts[1]) * _SECONDS[lasts[2]])
        else:
            end = datetime.fromisoformat(text)
            end = end.replace(tzinfo=UTC) if end.tzinfo is None else end
        return stamp(end.astimezone(UTC))
    except (ValueError, OverflowError):
        raise BadInput(
            f"{text[:40]!r} is not when a token ends: write a duration (30d, 8h, 45m) or a time (2026-12-31T18:00Z)."
        ) from None


def completed(event: e.TokenCreated, maker: Identity, now: str) -> e.TokenCreated:
    """The event as it is to be recorded: an agent acts on somebody's behalf, and an end is a time.

    So does a runtime, unless the owner of the files makes its token: it gets into no notebook that its maker may not.
    """
    behalf, kind = event.on_behalf_of, actor_kind(event.actor)
    if behalf is None and (kind == "agent" or (kind == "runtime" and not _may_give_all(maker))):
        behalf = maker.on_behalf_of or maker.actor
    ends = ending(event.expires_at, now) if event.expires_at is not None else None
    made = replace(event, on_behalf_of=behalf, expires_at=ends, version=VERSION)
    check_grant(maker, made)
    return made


def for_runtime(maker: Identity, name: str, log: LogId, now: str) -> e.TokenCreated:
    """A token for a runtime that serves one log for whoever makes it, with their roles, for no longer than their own is good."""
    if log == WORKSPACE_LOG:
        raise BadInput("The workspace log is no notebook: nothing runs in it. Name the notebook or run to serve.")
    _check_asks_nothing(maker)
    behalf = maker.on_behalf_of or maker.actor
    until = ending(RUNTIMES, now)
    return e.TokenCreated(
        token=TokenId(clock.new_id()),
        actor=check_actor(f"runtime:{name}"),
        scopes=("read", "serve"),
        on_behalf_of=None if _may_give_all(maker) else behalf,
        notebooks=(log,),
        expires_at=min(until, maker.expires_at) if maker.expires_at is not None else until,
        version=VERSION,
    )


def _check_asks_nothing(maker: Identity) -> None:
    if "run" in maker.asks:
        raise Refused(
            f"{maker.actor} has to ask before it may run, so no runtime acts for it. Propose the run instead."
        )


def _may_give_all(maker: Identity) -> bool:
    return maker.owns or actor_kind(maker.actor) == "system"


def check_is_theirs(event: e.TokenCreated, directory: Directory, at_work: Collection[str], now: str) -> None:
    """A runtime that is at work for somebody else, or for the owner of the files, is nobody's to pass for."""
    theirs = [(id, each) for id, each in directory.tokens.items() if each.actor == event.actor]
    made = [each for id, each in theirs if ended_by(directory, id, now) is None]
    others = any(each.on_behalf_of != event.on_behalf_of for each in made)
    if others or (not made and event.actor in at_work):
        raise Refused(f"{event.actor} is at work for somebody else. Choose another name for the runtime.")


def check_grant(maker: Identity, event: e.TokenCreated) -> None:
    """Nobody gives away more than they have. Who owns the files may make any token: they could anyway (rule 3)."""
    if _may_give_all(maker):
        return
    # Who may run may let a runtime serve: what it runs is what they, or others who may, ask for.
    more = sorted({"run" if scope == "serve" else scope for scope in event.scopes} - maker.scopes)
    if more:
        raise Refused(f"{maker.actor} cannot make a token with {', '.join(more)}: there is no such scope to give.")
    if "serve" in event.scopes:
        _check_asks_nothing(maker)
    if actor_kind(event.actor) == "runtime" and event.on_behalf_of is None:
        raise Refused(
            f"{event.actor} needs somebody on whose behalf it serves: only the owner of the files is nobody's."
        )
    unasked = sorted((maker.asks & set(event.scopes)) - set(event.asks))
    if unasked:
        raise Refused(f"{maker.actor} asks before it may {unasked[0]}, and so does every token that it makes: --ask.")
    ends = event.then_until if event.once else event.expires_at
    if maker.expires_at is not None and (ends is None or ends > maker.expires_at):
        raise Refused(f"{maker.actor}'s own token ends at {maker.expires_at}: one that it makes cannot last longer.")
    if actor_kind(maker.actor) != "human" and (
        actor_kind(event.actor) == "human" or event.on_behalf_of != maker.on_behalf_of
    ):
        whom = maker.on_behalf_of or "nobody"
        raise Refused(f"{maker.actor} acts for {whom} and can make tokens only for others that do, not for humans.")
