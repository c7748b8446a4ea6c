"""Signing in: a token that is good once and for minutes, and the browser's token that it is exchanged for.

The first stands in the fragment of an address, which somebody may see or keep; so it is worth nothing once it
was used. Both have the rights of whoever made the first, and the second ends no later than theirs.
"""

from __future__ import annotations

import msgspec

from ...core import events as e
from ...core.errors import NotFound, Refused
from ...core.ids import TokenId, actor_kind
from ...core.notebook.directory import Directory, Token, end_of, ended_by, lineage
from ...core.roles import ALL_SCOPES
from .. import clock
from .identities import SYSTEM, Identity, valid_token
from .tokens import VERSION, ending

GOOD_FOR = "5m"
"""How long there is to sign in."""
BROWSERS = "30d"
"""How long a browser stays signed in."""


def single_use(maker: Identity, now: str) -> e.TokenCreated:
    """A token that signs a browser in as whoever makes it. Who owns the files owns the browser, too."""
    if actor_kind(maker.actor) == "runtime":
        raise Refused(f"{maker.actor} is a runtime, and no browser signs in as one. Use the token of a human.")
    until = ending(BROWSERS, now)
    return e.TokenCreated(
        token=TokenId(clock.new_id()),
        actor=maker.actor,
        scopes=tuple(sorted(ALL_SCOPES - {"serve"} if maker.owns else maker.scopes)),
        on_behalf_of=maker.on_behalf_of,
        notebooks=None if maker.notebooks is None else tuple(sorted(maker.notebooks)),
        expires_at=ending(GOOD_FOR, now),
        asks=tuple(sorted(maker.asks)),
        once=True,
        then_until=min(until, maker.expires_at) if maker.expires_at is not None else until,
        version=VERSION,
    )


def check(directory: Directory, token: TokenId, at: str) -> Token:
    """What a token allows that somebody signs in with; refused unless it is for that."""
    known = valid_token(directory, token, at)
    if not known.once:
        raise Refused(f"Token {token} is not for signing in: `quire open` makes one that is.")
    return known


def browsers(known: Token, now: str, expires_at: str | None) -> e.TokenCreated:
    """The token that a browser gets: the same rights, for longer."""
    until = known.then_until or ending(BROWSERS, now)
    wanted = ending(expires_at, now) if expires_at is not None else until
    return e.TokenCreated(
        token=TokenId(clock.new_id()),
        actor=known.actor,
        scopes=known.scopes,
        on_behalf_of=known.on_behalf_of,
        notebooks=known.notebooks,
        expires_at=min(wanted, until),
        asks=known.asks,
        version=known.version,
    )


# ---- The browsers of one person


class BrowserSession(msgspec.Struct, frozen=True, kw_only=True):
    """A browser that is signed in as whoever asks."""

    token: TokenId
    signed_in_at: str
    expires_at: str | None
    is_this: bool
    """Whether it is the one that asks."""
    ends_with_it: int
    """How many tokens were made with it and end with it: agents, invited people, other browsers."""


def sessions(directory: Directory, identity: Identity, at: str) -> list[BrowserSession]:
    """Return the browsers that are signed in as somebody, the newest first. Only Quire itself makes their tokens."""
    valid = [token for token in directory.tokens if ended_by(directory, token, at) is None]
    mine = [token for token in valid if _is_session(directory.tokens[token], identity)]
    above = [{each for each, _ in lineage(directory, token)} - {token} for token in valid]
    return [
        BrowserSession(
            token=token,
            signed_in_at=directory.tokens[token].created_at,
            expires_at=end_of(directory, token),
            is_this=token == identity.token,
            ends_with_it=sum(token in each for each in above),
        )
        for token in reversed(mine)
    ]


def _is_session(token: Token, identity: Identity) -> bool:
    is_browsers = token.created_by == SYSTEM and not token.once
    return is_browsers and (token.actor, token.on_behalf_of) == (identity.actor, identity.on_behalf_of)


def own_session(directory: Directory, identity: Identity, token: TokenId, at: str) -> e.TokenRevoked:
    """Return what signs a browser out that is signed in as whoever asks, in a browser themselves."""
    mine = sessions(directory, identity, at)
    if not any(each.is_this for each in mine):
        raise Refused(
            f"Only a signed-in browser of {identity.actor} signs its other browsers out. Use `quire token revoke`."
        )
    if all(each.token != token for each in mine):
        raise NotFound(f"No browser of {identity.actor} is signed in with token {token!r}. Read the list again.")
    return e.TokenRevoked(token=token)
