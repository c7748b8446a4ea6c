"""Who may do what.

An identity comes from credentials, never from what a sender says (rule 3): the owner of
the files of an embedded workspace, or the bearer of a token. Each event needs one scope.
Policy binds doors and tools, not the code in a cell: a process that owns the files can do
what it likes to them, so an agent with a shell belongs into the sandbox.
"""

from __future__ import annotations

import os
import pwd
import re
import secrets
from hashlib import sha256

import msgspec

from ..core import events as e
from ..core.directory import Directory
from ..core.errors import BadInput, Refused
from ..core.events import KnownEvent, Scope
from ..core.ids import ActorId, LogId, TokenId, check_actor

SYSTEM = ActorId("system:quire")
TOKEN_PREFIX = "quire_"  # noqa: S105 - so that a leaked token is recognised as one

# The owner's own hands may do everything but say yes to an agent: that takes a signed-in
# browser or a token with the approve scope, which an agent that borrowed the shell has not.
OWNER_SCOPES: frozenset[Scope] = frozenset(("read", "edit", "run", "admin"))
RUNTIME_SCOPES: frozenset[Scope] = frozenset(("read", "run"))


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Who somebody is, as their credentials say, and what that allows."""

    actor: ActorId
    scopes: frozenset[Scope]
    on_behalf_of: ActorId | None = None
    notebooks: frozenset[LogId] | None = None


def owner() -> Identity:
    """Whoever owns the files of an embedded workspace: the user of the operating system."""
    # Not getpass: that believes LOGNAME, and anybody can set that.
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container may run as a user without a name
        name = str(os.getuid())
    return Identity(actor=check_actor(f"human:{re.sub(r'[^!-9;-~]', '-', name)}"), scopes=OWNER_SCOPES)


def system() -> Identity:
    """Quire itself, for what follows from the rules: leases that ran out, imports …"""
    return Identity(actor=SYSTEM, scopes=frozenset(("read", "edit", "run", "approve", "admin")))


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


def check(identity: Identity, log: LogId, scope: Scope) -> None:
    """Refuse what the credentials do not allow."""
    if scope not in identity.scopes:
        has = ", ".join(sorted(identity.scopes)) or "none"
        raise Refused(f"{identity.actor} may not {scope} here: that needs the scope {scope!r}, and there is {has}.")
    if identity.notebooks is not None and log not in identity.notebooks:
        raise Refused(f"{identity.actor} may not touch log {log}: the token is for other notebooks.")


# ---- Tokens


def new_secret() -> str:
    """What the bearer of a token keeps. Shown once; only its hash is stored."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def secret_digest(secret: str) -> str:
    """The hash under which a store finds a token. The secret is random, so it needs no salt."""
    return sha256(secret.encode()).hexdigest()


def bearer(directory: Directory, token: str | None, at: str) -> Identity:
    """Who the bearer of a token is, if it still opens anything."""
    known = directory.tokens.get(TokenId(token or ""))
    if known is None:
        raise Refused("The token is not known in this workspace. Ask whoever runs it for one (`quire token new`).")
    if known.revoked_by is not None:
        raise Refused(f"Token {token} of {known.actor} was revoked by {known.revoked_by}. Ask for a new one.")
    if known.expires_at is not None and at >= known.expires_at:
        raise Refused(f"Token {token} of {known.actor} expired at {known.expires_at}. Ask for a new one.")
    if not known.scopes:
        raise BadInput(f"Token {token} has no scope.")
    return Identity(
        actor=known.actor,
        scopes=frozenset(known.scopes),
        on_behalf_of=known.on_behalf_of,
        notebooks=None if known.notebooks is None else frozenset(known.notebooks),
    )
