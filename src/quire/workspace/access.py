"""Who somebody is, and which scope each event needs.

An identity comes from credentials, never from what a sender says (rule 3): the owner of
the files of an embedded workspace, or the bearer of a token. What a role in a notebook
leaves of its scopes is in rights.py. Policy binds doors and tools, not the code in a cell: a
process that owns the files can do what it likes to them, so an agent with a shell belongs
into the sandbox.
"""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Collection

import msgspec

from ..core import events as e
from ..core.directory import Directory, Token
from ..core.errors import BadInput, Refused
from ..core.events import KnownEvent, Scope
from ..core.ids import ActorId, LogId, TokenId, actor_kind, check_actor
from ..core.roles import ALL_SCOPES

SYSTEM = ActorId("system:quire")

# The owner's own hands may do everything but say yes to an agent: that takes a signed-in
# browser or a token with the approve scope, which an agent that borrowed the shell has not.
OWNER_SCOPES: frozenset[Scope] = ALL_SCOPES - {"approve"}
DOES: dict[str, str] = {"read": "read", "edit": "edit", "run": "run", "approve": "approve", "admin": "administer"}
"""What somebody does with a scope, for messages."""
RUNTIME_SCOPES: frozenset[Scope] = frozenset(("read", "run"))
AGENT_SCOPES: frozenset[Scope] = frozenset(("read", "edit", "run"))


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Who somebody is, as their credentials say, and what that allows."""

    actor: ActorId
    scopes: frozenset[Scope]
    on_behalf_of: ActorId | None = None
    notebooks: frozenset[LogId] | None = None
    asks: frozenset[Scope] = frozenset()
    """What they may do only by a proposal."""
    token: TokenId | None = None
    """The token they came with: looked at again whenever they do anything."""
    expires_at: str | None = None
    owns: bool = False
    """Whether the files are theirs: no role in a notebook takes anything from them."""

    @property
    def is_bound(self) -> bool:
        """Whether more than the scopes decides what they may do."""
        works_for_all = actor_kind(self.actor) in ("runtime", "system")
        return not self.owns and (self.token is not None or self.notebooks is not None or not works_for_all)


def owner() -> Identity:
    """Whoever owns the files of an embedded workspace: the user of the operating system."""
    # Not getpass: that believes LOGNAME, and anybody can set that.
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container may run as a user without a name
        name = str(os.getuid())
    actor = check_actor(f"human:{re.sub(r'[^!-9;-~]', '-', name)}")
    return Identity(actor=actor, scopes=OWNER_SCOPES, owns=True)


def agent(name: str, asks: Collection[Scope] = ()) -> Identity:
    """An agent that the owner of the files started. It may not say yes to anything, and the files are not its own."""
    wrong = sorted(set(asks) - {"edit", "run"})
    if wrong:
        raise BadInput(f"An agent can be made to ask before it may edit or run, not before {', '.join(wrong)}.")
    return Identity(
        actor=check_actor(f"agent:{name}"),
        scopes=AGENT_SCOPES,
        on_behalf_of=owner().actor,
        asks=frozenset(asks),
    )


def system() -> Identity:
    """Quire itself, for what follows from the rules: leases that ran out, imports …"""
    return Identity(actor=SYSTEM, scopes=ALL_SCOPES)


def runtime(name: str) -> Identity:
    """A runtime that the owner of the files started."""
    return Identity(actor=check_actor(f"runtime:{name}"), scopes=RUNTIME_SCOPES)


def scope_of(event: KnownEvent) -> Scope:
    """The scope that an event needs."""
    if isinstance(event, e.PayloadRedacted | e.WorkspaceEvent):
        return "admin"
    if isinstance(event, e.ProposalAccepted | e.ProposalDeclined):
        return "approve"
    return "run" if isinstance(event, e.ExecutionEvent | e.RunEvent) else "edit"


def check_scope(identity: Identity, scope: Scope) -> None:
    """Refuse what the credentials do not allow anywhere."""
    if scope in identity.scopes:
        return
    has = ", ".join(sorted(identity.scopes)) or "none"
    told = f"{identity.actor} may not {DOES[scope]} here: that needs the scope {scope!r}, and there is {has}."
    if identity.owns:
        name = identity.actor.partition(":")[2]
        made = f"quire token new --actor {name} --kind human --scope read,{scope}"
        raise Refused(f"{told} Set QUIRE_TOKEN to a token that has it (`{made}`), or use a signed-in browser.")
    raise Refused(f"{told} Ask whoever runs the workspace for a token with it (`quire token new --scope`).")


# ---- Bearers of tokens


def bearer(directory: Directory, token: str | None, at: str) -> Identity:
    """Who the bearer of a token is, if it still opens anything."""
    known = valid_token(directory, TokenId(token or ""), at)
    if known.once:
        raise Refused(f"Token {token} is for signing in with a browser, once, and for nothing else (`quire open`).")
    return Identity(
        actor=known.actor,
        scopes=frozenset(known.scopes),
        on_behalf_of=known.on_behalf_of,
        notebooks=None if known.notebooks is None else frozenset(known.notebooks),
        asks=frozenset(known.asks),
        token=TokenId(token or ""),
        expires_at=known.expires_at,
    )


def valid_token(directory: Directory, token: TokenId, at: str) -> Token:
    """What a token allows, at that time; refused once it was revoked or has expired."""
    known = directory.tokens.get(token)
    if known is None:
        raise Refused("The token is not known in this workspace. Ask whoever runs it for one (`quire token new`).")
    if known.revoked_by is not None:
        raise Refused(f"Token {token} of {known.actor} was revoked by {known.revoked_by}. Ask for a new one.")
    if known.expires_at is not None and at >= known.expires_at:
        raise Refused(f"Token {token} of {known.actor} expired at {known.expires_at}. Ask for a new one.")
    return known
