"""Who may do what in one notebook: people and agents, each with the rights that they have there now.

Pure: made from the directory, from where the log stands (rights) and from who owns the files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from ...core.events import Role, RoleSet, Scope
from ...core.ids import ActorId, LogId, TokenId, actor_kind
from ...core.notebook.directory import Directory, Token, end_of, ended_by, role_key
from ...core.roles import LogScope, chain, closed_notebooks, scopes_in
from .identities import Identity, owner, scopes_now

RoleSource: TypeAlias = Literal["given", "made", "everywhere", "none"]
"""Where a role comes from: given in this notebook, its maker's, given in all notebooks; or there is none."""
EntryState: TypeAlias = Literal["in", "invited", "out"]
"""Whether somebody can come in: with a token; with a link that was not used yet; not now."""
_Who: TypeAlias = tuple[ActorId, ActorId | None]


class AccessLine(msgspec.Struct, frozen=True, kw_only=True):
    """What a person or an agent may do in a notebook."""

    actor: ActorId
    on_behalf_of: ActorId | None = None
    role: Role | None = None
    source: RoleSource = "none"
    state: EntryState = "in"
    scopes: tuple[Scope, ...] = ()
    """What they may do here with the tokens that they have."""
    asks: tuple[Scope, ...] = ()
    """What of that they may do only by a proposal."""
    until: str | None = None
    """When their last token ends, or the link; null: never, or they need none."""
    is_limited: bool = False
    """Whether their tokens are for chosen notebooks only."""


class NotebookAccess(msgspec.Struct, frozen=True, kw_only=True):
    """Who may do what in a notebook, and whether the bearer may change that."""

    notebook: LogId
    is_open: bool
    """Whether nobody has a role in it: then everybody who can sign in may do there what their token allows."""
    lines: tuple[AccessLine, ...]
    manage_refusal: str | None
    """Why the bearer may not change roles here; null: they may."""
    invite_refusal: str | None
    """Why the bearer may not invite people; null: they may."""


def access_lines(directory: Directory, place: LogScope, at: str) -> tuple[AccessLine, ...]:
    """Return who may do something in a log, or has a role there: people first, owners first."""
    closed = closed_notebooks(directory)
    tokens = _tokens(directory, place, at)
    lines = [
        _line(directory, closed, place, who, tokens.get(who, {}), at) for who in _concerned(directory, place, tokens)
    ]
    shown = [line for line in lines if line.scopes or line.role is not None or line.state == "invited"]
    return tuple(sorted(shown, key=_order))


def is_open(directory: Directory, place: LogScope) -> bool:
    """Whether nobody has a role in a log, or in what it is a run of."""
    return not closed_notebooks(directory) & {each.log for each in chain(place)}


def closing_roles(directory: Directory, place: LogScope, maker: Identity) -> list[RoleSet]:
    """Return the role that keeps whoever gives the first one in a log from shutting themselves out of it."""
    who = maker.on_behalf_of or maker.actor
    closed = closed_notebooks(directory) | {place.log}
    if not maker.is_bound or "admin" in scopes_in(directory, closed, place, who):
        return []
    return [RoleSet(actor=who, role="owner", notebook=place.log)]


def _tokens(directory: Directory, place: LogScope, at: str) -> dict[_Who, dict[TokenId, Token]]:
    """The tokens of people and agents that are valid and reach the log."""
    logs = {each.log for each in chain(place)}
    found: dict[_Who, dict[TokenId, Token]] = {}
    for id, token in directory.tokens.items():
        reaches = token.notebooks is None or logs & set(token.notebooks)
        if actor_kind(token.actor) in ("human", "agent") and reaches and ended_by(directory, id, at) is None:
            found.setdefault((token.actor, token.on_behalf_of), {})[id] = token
    return found


def _concerned(directory: Directory, place: LogScope, tokens: dict[_Who, dict[TokenId, Token]]) -> Iterator[_Who]:
    """Who has a token, a role or made it, each once."""
    logs = [each.log for each in chain(place)]
    named = [actor for actor in sorted(place.made_by) if actor_kind(actor) == "human"]
    for key in directory.roles:
        log, _, actor = key.partition(" ")
        if log == "*" or log in logs:
            named.append(ActorId(actor))
    with_token = {actor for actor, _ in tokens}
    yield from tokens
    for actor in dict.fromkeys(named):
        if actor not in with_token and actor_kind(actor) in ("human", "agent"):
            yield (actor, None)


def _line(
    directory: Directory, closed: frozenset[str], place: LogScope, who: _Who, tokens: dict[TokenId, Token], at: str
) -> AccessLine:
    actor, behalf = who
    allowed = scopes_in(directory, closed, place, actor, behalf)
    role, source = _role(directory, place, actor)
    usable = {id: token for id, token in tokens.items() if not token.once}
    owns = actor == owner().actor
    state: EntryState = "in" if usable or owns else "invited" if tokens else "out"
    counted = usable or tokens
    scopes = frozenset[Scope]().union(*(scopes_now(token) for token in counted.values())) & allowed
    if owns and not usable:
        scopes = allowed - frozenset[Scope](("serve",))
    free = {scope for token in counted.values() for scope in scopes_now(token) if scope not in token.asks}
    ends = [end_of(directory, id) for id in counted]
    return AccessLine(
        actor=actor,
        on_behalf_of=behalf,
        role=role,
        source=source,
        state=state,
        scopes=tuple(sorted(scopes)),
        asks=tuple(sorted(scopes - free)) if counted else (),
        until=None if owns or not ends or None in ends else max(end for end in ends if end is not None),
        is_limited=bool(counted) and all(token.notebooks is not None for token in counted.values()),
    )


def _role(directory: Directory, place: LogScope, actor: ActorId) -> tuple[Role | None, RoleSource]:
    """The role of an actor in a log, and where it comes from, in the order in which roles count."""
    for each in chain(place):
        if (role := directory.roles.get(role_key(each.log, actor))) is not None:
            return role, "given"
    if any(actor in each.made_by for each in chain(place)) and actor_kind(actor) == "human":
        return "owner", "made"
    everywhere = directory.roles.get(role_key(None, actor))
    return everywhere, "everywhere" if everywhere is not None else "none"


def _order(line: AccessLine) -> tuple[bool, int, str]:
    rank = {"owner": 0, "editor": 1, "viewer": 2}
    return actor_kind(line.actor) != "human", rank.get(line.role or "", 3), line.actor
