"""Who somebody is, and which scope each event needs.

An identity comes from credentials, never from what a sender says (rule 3): the owner of
the files of an embedded workspace, or the bearer of a token. What a role in a notebook
leaves of its scopes is in permissions.py. Policy binds doors and tools, not the code in a cell: a
process that owns the files can do what it likes to them, so an agent with a shell belongs
into the sandbox.
"""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Collection

import msgspec

from ...core import events as e
from ...core.errors import BadInput, Refused
from ...core.events import Entry, KnownEvent, Scope
from ...core.ids import MIRROR, ActorId, LogId, TokenId, actor_kind, check_actor, works_for_all
from ...core.notebook.directory import RUNTIME_SCOPES, Directory, Token, end_of, ended_by, pause_of
from ...core.roles import ALL_SCOPES

SYSTEM = ActorId("system:quire")

# The owner's own hands may do everything but say yes to an agent: that takes a signed-in
# browser or a token with the approve scope, which an agent that borrowed the shell has not.
# Nor do they serve: a runtime that they start is an actor of its own.
OWNER_SCOPES: frozenset[Scope] = ALL_SCOPES - {"approve", "serve"}
DOES: dict[str, str] = {
    "read": "read",
    "edit": "edit",
    "run": "run",
    "serve": "serve",
    "bind": "bind",
    "approve": "approve",
    "admin": "administer",
}
"""What somebody does with a scope, for messages."""
AGENT_SCOPES: frozenset[Scope] = frozenset(("read", "edit", "run", "bind"))
_BEFORE_BIND: frozenset[Scope] = frozenset(("read", "edit", "run", "approve", "admin"))
"""Every scope that there was before `bind`."""


class RunGrant(msgspec.Struct, frozen=True, kw_only=True):
    """The one run that somebody may lay out the cells of, who may not edit, or only by a proposal."""

    run: LogId
    notebook: LogId | None
    """What it is a run of; None: a file that no notebook is bound to."""
    is_by_policy: bool = False
    """Whether the notebook's policy lets them start it, since they may only read there. Without it, they may run."""


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
    """When their token ends, or an earlier one with which it was made."""
    owns: bool = False
    """Whether the files are theirs: no role in a notebook takes anything from them."""
    grant: RunGrant | None = None
    """Set by the workspace for the process of that run, and for nothing else: no credentials say it."""

    @property
    def is_bound(self) -> bool:
        """Whether more than the scopes decides what they may do."""
        is_limited = self.token is not None or self.notebooks is not None
        return not self.owns and (is_limited or not works_for_all(self.actor, self.on_behalf_of))


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


def system(token: TokenId | None = None) -> Identity:
    """Quire itself, for what follows from the rules: leases that ran out, imports …

    With a token, for whoever came with that, and only while it is valid: what is made then ends with it.
    """
    return Identity(actor=SYSTEM, scopes=ALL_SCOPES, token=token)


def mirror(binder: ActorId) -> Identity:
    """The mirror, on behalf of whoever bound a notebook to a file. Only for a caller that has checked their rights."""
    return Identity(actor=MIRROR, scopes=frozenset(("read", "edit", "bind")), on_behalf_of=binder)


def runtime(name: str, starter: Identity | None = None) -> Identity:
    """A runtime on this machine: of the owner of the files, or of somebody who may do less, whose limits it shares."""
    actor = check_actor(f"runtime:{name}")
    if starter is None or not starter.is_bound:
        return Identity(actor=actor, scopes=RUNTIME_SCOPES)
    return Identity(
        actor=actor,
        scopes=RUNTIME_SCOPES if "run" in starter.scopes else RUNTIME_SCOPES & starter.scopes,
        on_behalf_of=starter.on_behalf_of or starter.actor,
        notebooks=starter.notebooks,
        token=starter.token,
        expires_at=starter.expires_at,
        grant=starter.grant,
    )


def granted(starter: Identity, grant: RunGrant) -> Identity:
    """The same actor in one run that they may start: there they may lay out its cells; elsewhere they read.

    Only for a caller that has checked that they may start it.
    """
    scopes: frozenset[Scope] = frozenset(("read", "edit", "run"))
    return msgspec.structs.replace(starter, scopes=scopes, asks=frozenset[Scope](), grant=grant)


def may_use_policies(identity: Identity) -> bool:
    """Whether a policy that allows something to readers is for them: for people; for an agent, if its token lets it run.

    A token for an agent that only reads stays one: whoever made it did not mean it to start anything.
    """
    kind = actor_kind(identity.actor)
    is_trusted = kind == "human" or (kind == "agent" and "run" in identity.scopes)
    return is_trusted and "run" not in identity.asks


def scopes_of(event: KnownEvent, actor: ActorId) -> frozenset[Scope]:
    """The scopes that an event of an actor needs: a file that is bound, or merged, changes the notebook, too."""
    scope = scope_of(event, actor)
    return frozenset(("edit", "bind")) if scope == "bind" else frozenset((scope,))


def scope_of(event: KnownEvent, actor: ActorId) -> Scope:
    """The scope that an event of an actor needs above all."""
    if isinstance(event, e.FileBound | e.FileMerged):
        return "bind"
    if isinstance(event, e.ScheduleEvent):
        return "run"  # and more, as identity/schedule_rights.py has it
    if isinstance(event, e.PayloadRedacted | e.WorkspaceEvent):
        return "admin"
    if isinstance(event, e.ProposalAccepted | e.ProposalDeclined):
        return "approve"
    if isinstance(event, e.ReviewAnswered) and event.answer == "accepted":
        return "approve"
    if isinstance(event, e.ServingEvent) or (isinstance(event, e.SharedEvent) and actor_kind(actor) == "runtime"):
        return "serve"
    return "run" if isinstance(event, e.ExecutionEvent | e.RunEvent) else "edit"


def check_scope(identity: Identity, scope: Scope) -> None:
    """Refuse what the credentials do not allow anywhere."""
    if scope in identity.scopes:
        return
    has = ", ".join(sorted(identity.scopes)) or "none"
    told = f"{identity.actor} may not {DOES[scope]} here: that needs the scope {scope!r}, and there is {has}."
    if identity.owns and scope == "approve":
        name = identity.actor.partition(":")[2]
        made = f"quire token new --actor {name} --kind human --scope read,{scope}"
        raise Refused(f"{told} Set QUIRE_TOKEN to a token that has it (`{made}`), or use a signed-in browser.")
    if actor_kind(identity.actor) == "runtime" and scope not in RUNTIME_SCOPES:
        raise Refused(f"{told} A runtime serves what others ask for; to do more, it holds a token of kind agent, too.")
    if scope == "serve":
        raise Refused(f"{told} Only a runtime serves: use its token (`quire token new --kind runtime`).")
    raise Refused(f"{told} Ask whoever runs the workspace for a token with it (`quire token new --scope`).")


# ---- Pauses


def check_not_paused(directory: Directory, identity: Identity) -> None:
    """Refuse whoever is paused: themselves, the person they act for, or a token above theirs."""
    found = pause_of(directory, identity.actor, identity.on_behalf_of, identity.token)
    if found is None:
        return
    name, pause = found
    whose = (
        f"{_told_paused(directory, identity, name)} is paused by {pause.by} since {pause.at[:16].replace('T', ' ')} UTC"
    )
    why = f": {pause.why.rstrip('.')}" if pause.why else ""
    details = {"name": name, "by": pause.by, "at": pause.at, "why": pause.why}
    raise Refused(f"{whose}{why}. Ask {pause.by}, or wait until it is resumed.", paused=details)


def _told_paused(directory: Directory, identity: Identity, name: str) -> str:
    if name == identity.actor:
        return name
    if name == identity.on_behalf_of:
        return f"{name}, for whom {identity.actor} acts,"
    token = directory.tokens.get(TokenId(name))
    if token is None:
        return f"{name}, with whose token that of {identity.actor} was made,"
    return f"Token {name} of {token.actor}"


def check_pause(identity: Identity, directory: Directory, event: e.PauseEvent, *, administers: bool) -> None:
    """Refuse a pause, or its end, by somebody who may not decide on it.

    A human with `admin` may, and the person for whom an agent acts; what somebody else paused, only the former resumes.
    """
    if actor_kind(identity.actor) != "human":
        raise Refused(f"Only a human pauses or resumes somebody, and {identity.actor} is none. Ask whom it acts for.")
    token = directory.tokens.get(event.token) if event.token is not None else None
    target = event.actor or (token.actor if token is not None else None)
    if target is None:
        return  # the rules say what is wrong with it
    if target == identity.actor and event.token in (None, identity.token):
        raise Refused(f"{identity.actor} cannot pause or resume themselves. Ask somebody else with the scope 'admin'.")
    if actor_kind(target) not in ("agent", "human"):
        told = f"{target} is neither an agent nor a human, and only those are paused"
        raise Refused(f"{told}. Stop what it runs (`quire interrupt`), or revoke its token.")
    if event.actor == owner().actor:
        raise Refused(f"{target} owns the files of this workspace: no pause would hold them. Pause a token instead.")
    if administers:
        return
    if actor_kind(target) != "agent" or not _answers_for(identity.actor, directory, event):
        needs = "that needs the scope 'admin', or to be the person for whom alone it acts"
        raise Refused(f"{identity.actor} may not pause or resume {target}: {needs}.")
    pause = directory.paused.get(event.actor or event.token or "")
    if isinstance(event, e.ActorResumed) and pause is not None and pause.by != identity.actor:
        raise Refused(f"{target} was paused by {pause.by}: ask them, or somebody else with the scope 'admin'.")


def _answers_for(person: ActorId, directory: Directory, event: e.PauseEvent) -> bool:
    """Whether an agent acts for this person alone; without any token, it came by way of the files, for their owner."""
    if event.token is not None:
        return directory.tokens[event.token].on_behalf_of == person
    whom = {token.on_behalf_of for token in directory.tokens.values() if token.actor == event.actor}
    return (whom or {owner().actor}) == {person}


# ---- Bearers of tokens


def bearer(directory: Directory, token: str | None, at: str) -> Identity:
    """Who the bearer of a token is, if it still opens anything."""
    known = valid_token(directory, TokenId(token or ""), at)
    if known.once:
        raise Refused(f"Token {token} is for signing in with a browser, once, and for nothing else (`quire open`).")
    return Identity(
        actor=known.actor,
        scopes=scopes_now(known),
        on_behalf_of=known.on_behalf_of,
        notebooks=None if known.notebooks is None else frozenset(known.notebooks),
        asks=frozenset(known.asks),
        token=TokenId(token or ""),
        expires_at=end_of(directory, TokenId(token or "")),
    )


def scopes_now(token: Token) -> frozenset[Scope]:
    """What a token allows. One of the owner's that is older than the scope `bind` has it, as the owner does."""
    found = frozenset(token.scopes)
    is_owners = token.actor == owner().actor and token.created_by in (SYSTEM, token.actor)
    if token.version or not is_owners or token.notebooks is not None or token.asks or not found >= _BEFORE_BIND:
        return found
    return found | frozenset[Scope](("bind",))


def bound_by(directory: Directory, entry: Entry, at: str) -> Identity:
    """Who bound a notebook to a file, with the credentials that they have now.

    An actor without any token came by way of the files: as their owner, or as an agent that the owner started.
    """
    return acting_now(directory, entry.by, entry.behalf, at)


def acting_now(directory: Directory, actor: ActorId, behalf: ActorId | None, at: str) -> Identity:
    """Return what somebody who acted once may do now, with all the credentials that they have."""
    if actor == owner().actor and behalf is None:
        return owner()
    known = {id: each for id, each in directory.tokens.items() if (each.actor, each.on_behalf_of) == (actor, behalf)}
    if not known:
        is_owners = behalf is None and actor_kind(actor) == "human"
        return Identity(
            actor=actor, scopes=OWNER_SCOPES if is_owners else AGENT_SCOPES, on_behalf_of=behalf, owns=is_owners
        )
    opens = [each for id, each in known.items() if ended_by(directory, id, at) is None]
    valid = [each for each in opens if not each.once and not each.asks]
    edits = [each for each in valid if "edit" in each.scopes]
    everywhere = any(each.notebooks is None for each in edits)
    return Identity(
        actor=actor,
        scopes=frozenset(scope for each in valid for scope in each.scopes),
        on_behalf_of=behalf,
        notebooks=None if everywhere else frozenset(log for each in edits for log in each.notebooks or ()),
    )


def valid_token(directory: Directory, token: TokenId, at: str) -> Token:
    """What a token allows, at that time; refused once it, or one above it, was revoked or has expired."""
    known = directory.tokens.get(token)
    if known is None:
        raise Refused("The token is not known in this workspace. Ask whoever runs it for one (`quire token new`).")
    if (ended := ended_by(directory, token, at)) is None:
        return known
    its = f"Token {token} of {known.actor}"
    above = "" if ended == token else f"{its} ended with the one that it was made with. "
    raise Refused(f"{above}{_told_end(directory, ended)} Ask for a new one.")


def _told_end(directory: Directory, token: TokenId) -> str:
    over = directory.tokens.get(token)
    if over is None:
        return f"Token {token} is not known in this workspace."
    if over.revoked_by is not None:
        return f"Token {token} of {over.actor} was revoked by {over.revoked_by}."
    return f"Token {token} of {over.actor} expired at {over.expires_at}."
