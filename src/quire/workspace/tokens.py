"""Tokens: how one is made, how long it is good for, and how much one that makes others may give away."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from ..core import events as e
from ..core.directory import Directory, Token
from ..core.errors import BadInput, Refused
from ..core.ids import LogId, TokenId, actor_kind, check_actor
from . import clock
from .access import Identity
from .clock import stamp

TOKEN_PREFIX = "quire_"  # noqa: S105 - so that a leaked token is recognised as one
RUNTIMES = "30d"
"""How long a runtime's token is good for."""
TokenState: TypeAlias = Literal["valid", "expired", "revoked"]

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
    allows: Token


def new_secret() -> str:
    """What the bearer of a token keeps. Shown once; only its hash is stored."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def secret_digest(secret: str) -> str:
    """The hash under which a store finds a token. The secret is random, so it needs no salt."""
    return sha256(secret.encode()).hexdigest()


def listed(directory: Directory, at: str) -> list[ListedToken]:
    """All tokens, the newest first."""
    found = [ListedToken(token=each, state=_state(token, at), allows=token) for each, token in directory.tokens.items()]
    return found[::-1]


def _state(token: Token, at: str) -> TokenState:
    if token.revoked_by is not None:
        return "revoked"
    return "expired" if token.expires_at is not None and at >= token.expires_at else "valid"


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
    """The event as it is to be recorded: an agent acts on somebody's behalf, and an end is a time."""
    behalf = event.on_behalf_of
    if behalf is None and actor_kind(event.actor) == "agent":
        behalf = maker.on_behalf_of or maker.actor
    ends = ending(event.expires_at, now) if event.expires_at is not None else None
    made = replace(event, on_behalf_of=behalf, expires_at=ends)
    check_grant(maker, made)
    return made


def for_runtime(maker: Identity, name: str, log: LogId, now: str) -> e.TokenCreated:
    """A token for a runtime that runs one log for whoever makes it, and no longer than their own is good."""
    if "run" in maker.asks:
        raise Refused(
            f"{maker.actor} has to ask before it may run, so no runtime acts for it. Propose the run instead."
        )
    behalf = maker.on_behalf_of or maker.actor
    until = ending(RUNTIMES, now)
    return e.TokenCreated(
        token=TokenId(clock.new_id()),
        actor=check_actor(f"runtime:{name}"),
        scopes=("read", "run"),
        on_behalf_of=behalf if actor_kind(behalf) in ("human", "schedule") else None,
        notebooks=(log,),
        expires_at=min(until, maker.expires_at) if maker.expires_at is not None else until,
    )


def check_is_theirs(event: e.TokenCreated, directory: Directory, at_work: Collection[str], now: str) -> None:
    """A runtime that is at work for somebody else, or for the owner of the files, is nobody's to pass for."""
    made = [each for each in directory.tokens.values() if each.actor == event.actor and _state(each, now) == "valid"]
    others = any(each.on_behalf_of != event.on_behalf_of for each in made)
    if others or (not made and event.actor in at_work):
        raise Refused(f"{event.actor} is at work for somebody else. Choose another name for the runtime.")


def check_grant(maker: Identity, event: e.TokenCreated) -> None:
    """Nobody gives away more than they have. Who owns the files may make any token: they could anyway (rule 3)."""
    if maker.owns or actor_kind(maker.actor) == "system":
        return
    more = sorted(set(event.scopes) - maker.scopes)
    if more:
        raise Refused(f"{maker.actor} cannot make a token with {', '.join(more)}: there is no such scope to give.")
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
