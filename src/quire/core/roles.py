"""What a role in a notebook allows. docs/reference/identity.md says it in words.

Pure: who began a log, and what it is a run of, is told by whoever asks (workspace/identity/permissions).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import msgspec

from .events import Role, Scope
from .ids import ActorId, LogId, works_for_all
from .notebook.directory import Directory, role_key

ALL_SCOPES: frozenset[Scope] = frozenset(get_args(Scope))
ROLE_SCOPES: dict[Role, frozenset[Scope]] = {
    "viewer": frozenset(("read",)),
    # Not bind: in which file a notebook lies is its owner's business.
    "editor": frozenset(("read", "edit", "run", "serve", "approve")),
    "owner": ALL_SCOPES,
}


class LogScope(msgspec.Struct, frozen=True, kw_only=True):
    """A log, as far as rights in it go."""

    log: LogId
    made_by: frozenset[ActorId] = frozenset()
    """Who began it, and for whom: its owners, unless a role in it says otherwise."""
    of: LogScope | None = None
    """The notebook that a run is of, or what a review is of."""


def chain(place: LogScope) -> Iterator[LogScope]:
    """A log, what it is a run or a review of, and so on."""
    while True:
        yield place
        if place.of is None:
            return
        place = place.of


def closed_notebooks(now: Directory) -> frozenset[str]:
    """The notebooks in which somebody was given a role: from then on, who has none stays outside."""
    return frozenset(key.partition(" ")[0] for key in now.roles) - {"*"}


def scopes_in(
    now: Directory, closed: frozenset[str], place: LogScope, actor: ActorId, on_behalf_of: ActorId | None = None
) -> frozenset[Scope]:
    """What roles leave to an actor in a log. Scopes of a token come on top: the lesser of both counts."""
    if works_for_all(actor, on_behalf_of):
        return ALL_SCOPES
    if on_behalf_of is None:
        return _scopes(now, closed, place, actor)
    # Nobody does more for somebody than they may themselves.
    own = _given(now, place, actor)
    allowed = _scopes(now, closed, place, on_behalf_of)
    return allowed if own is None else allowed & ROLE_SCOPES[own]


def _given(now: Directory, place: LogScope, actor: ActorId) -> Role | None:
    """The role that somebody gave: in this log, in the notebook it is of, else in all."""
    for log in (*(each.log for each in chain(place)), None):
        if (role := now.roles.get(role_key(log, actor))) is not None:
            return role
    return None


def _scopes(now: Directory, closed: frozenset[str], place: LogScope, actor: ActorId) -> frozenset[Scope]:
    # A run is as closed as what it is a run of, until it has roles of its own.
    place = next((each for each in chain(place) if each.log in closed), place)
    role = now.roles.get(role_key(place.log, actor))
    if role is not None:
        return ROLE_SCOPES[role]
    if actor in place.made_by:
        return ROLE_SCOPES["owner"]
    everywhere = now.roles.get(role_key(None, actor))
    if everywhere is not None:
        return ROLE_SCOPES[everywhere]
    return frozenset() if place.log in closed else ALL_SCOPES
