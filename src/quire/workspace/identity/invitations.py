"""Invitations: a role in a notebook for a person, and a link that signs one browser in as them, once.

Nobody invites with more than they have (`tokens.check_grant`), and only the owner of a notebook gives roles in it
(rights). What is decided here is the name: a name that is known already is somebody's.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from ...core import events as e
from ...core.errors import BadInput, Conflict, Refused
from ...core.events import Role, Scope
from ...core.ids import ActorId, LogId, TokenId, actor_kind, check_actor
from ...core.notebook.directory import Directory
from ...core.roles import ROLE_SCOPES
from .. import clock
from ..wire.bodies import Body
from .identities import Identity, owner
from .sign_in import BROWSERS
from .tokens import VERSION, ending

LONGEST = "30d"
"""How long a link can be good for."""


class InvitationWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who is invited into which notebook, and what they may do there."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    """The person's: `grace` comes in as `human:grace`."""
    notebook: LogId
    role: Role
    everywhere: bool = False
    """Whether they also see the notebooks that are open to everybody; else this one and its runs only."""
    expires_at: str = "1d"
    """Until when the link is good: a time (ISO 8601), or for how long (1h, 7d)."""
    existing: bool = False
    """Whether the name may be one that is known here: that person gets the role, and a new link."""


class Invitation(msgspec.Struct, frozen=True, kw_only=True):
    """A person who may come in. `secret` signs one browser in, once; it is shown now and never again."""

    token: TokenId
    secret: str
    actor: ActorId
    role: Role
    notebook: LogId
    expires_at: str
    """When the link ends."""
    signed_in_until: str
    """When the browser that came with it is signed out, at the latest."""
    was_known: bool
    """Whether there was somebody of that name."""


def invited_actor(name: str) -> ActorId:
    """Return the actor of an invited person. A kind is written only by those who mean `human`."""
    kind, _, rest = name.strip().rpartition(":")
    if kind not in ("", "human"):
        raise BadInput(f"{name[:100]!r} is not a person. An agent gets a token of its own (`quire token new`).")
    if not rest or any(character.isspace() for character in rest):
        raise BadInput(f"{name[:100]!r} is not a name here: write one word, such as grace or grace.hopper.")
    return check_actor(f"human:{rest}")


def is_known(directory: Directory, actor: ActorId) -> bool:
    """Whether somebody of that name has or had a token, a role or an introduction, or owns the files."""
    return (
        actor == owner().actor
        or actor in directory.actors
        or any(actor in (token.actor, token.on_behalf_of) for token in directory.tokens.values())
        or any(key.partition(" ")[2] == actor for key in directory.roles)
    )


def agent_refusal(maker: Identity) -> str | None:
    """Return why somebody who is not a person may not invite one."""
    if actor_kind(maker.actor) == "human":
        return None
    return f"{maker.actor} may not invite anybody: only a person invites a person."


def check_name(directory: Directory, maker: Identity, actor: ActorId, *, existing: bool) -> bool:
    """Return whether the person is known already; refused where that was not said, or where it is not theirs to say."""
    name = actor.partition(":")[2]
    if actor == maker.actor:
        raise BadInput(f"{name} is your own name. To sign in another browser of yours, type `quire open`.")
    if (refusal := agent_refusal(maker)) is not None:
        raise Refused(refusal)
    if actor == owner().actor and not maker.owns:
        raise Refused(
            f"{name} owns the files of this workspace, and nobody else signs in as them. Choose another name."
        )
    was_known = is_known(directory, actor)
    if was_known and not existing:
        raise Conflict(
            f"There is somebody called {name} here already. Choose another name, or say that it is the same person.",
            actor=actor,
        )
    return was_known


def invited(maker: Identity, wanted: InvitationWanted, actor: ActorId, now: str) -> e.TokenCreated:
    """Return the token that signs the person's browser in: the scopes of the role, for this notebook alone or for all."""
    until = ending(BROWSERS, now)
    until = min(until, maker.expires_at) if maker.expires_at is not None else until
    ends = ending(wanted.expires_at, now)
    if not now < ends <= ending(LONGEST, now):
        raise BadInput(f"{wanted.expires_at[:40]!r}: a link is good for {LONGEST} at most, and ends in the future.")
    scopes: list[Scope] = sorted(ROLE_SCOPES[wanted.role] - {"serve"})
    return e.TokenCreated(
        token=TokenId(clock.new_id()),
        actor=actor,
        scopes=tuple(scopes),
        notebooks=None if wanted.everywhere else (wanted.notebook,),
        expires_at=min(ends, until),
        asks=tuple(scope for scope in scopes if scope in maker.asks),
        once=True,
        then_until=until,
        version=VERSION,
    )
