"""Signing in: a token that is good once and for minutes, and the browser's token that it is exchanged for.

The first stands in the fragment of an address, which somebody may see or keep; so it is worth nothing once it
was used. Both have the rights of whoever made the first, and the second ends no later than theirs.
"""

from __future__ import annotations

from ..core import events as e
from ..core.directory import Directory, Token
from ..core.errors import Refused
from ..core.ids import TokenId, actor_kind
from ..core.roles import ALL_SCOPES
from . import clock
from .access import Identity, valid_token
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
