"""What may happen in the workspace log."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from .. import events as e
from ..errors import BadInput, NotFound, Refused
from ..ids import ActorId, actor_kind, check_actor, check_id, check_time
from ..notebook.directory import RUNTIME_SCOPES, Directory
from . import schedule_rules
from .context import SubmissionContext

MOST_WHY = 500
"""Characters of the reason of a pause: every refusal tells it."""


def accept_in_directory(now: Directory, event: e.WorkspaceEvent, asking: SubmissionContext) -> e.WorkspaceEvent:
    """Return `event` as it is to be recorded in the workspace log, or raise what speaks against it."""
    match event:
        case e.ActorKnown() | e.RoleSet():
            check_actor(event.actor)
        case e.PolicySet():
            if event.actor is not None:
                check_actor(event.actor)
        case e.TokenCreated():
            _check_token(now, event)
            return replace(event, parent=asking.token)
        case e.TokenRevoked():
            if event.token not in now.tokens:
                raise NotFound(f"There is no token {event.token!r}.")
            if now.tokens[event.token].revoked_by is not None:
                raise Refused(f"Token {event.token!r} was revoked already, by {now.tokens[event.token].revoked_by}.")
        case e.ActorPaused() | e.ActorResumed():
            _check_pause(now, event)
        case (
            e.ScheduleAdded()
            | e.ScheduleChanged()
            | e.SchedulePaused()
            | e.ScheduleResumed()
            | e.ScheduleRemoved()
            | e.ScheduleAsked()
            | e.ScheduleSkipped()
        ):
            schedule_rules.check(now, event, asking)
        case e.LogImported():
            check_id(event.log, "Log")
            if event.log in now.imports:
                raise Refused(f"Log {event.log!r} was imported already, at {now.imports[event.log].at}.")
        case e.LogPruned():
            told = "log_pruned is recorded by who removes the log, together with that"
            raise Refused(f"{told}: `quire runs prune`. Nobody says it of a log that is there.")
        case _:
            assert_never(event)
    return event


def _check_pause(now: Directory, event: e.PauseEvent) -> None:
    """A pause names an actor or a token, that is not paused yet; what ends one, somebody who is."""
    name = event.actor or event.token
    if name is None or None not in (event.actor, event.token):
        raise BadInput("A pause is of an actor or of a token: name one of the two.")
    if event.actor is not None:
        check_actor(event.actor)
    if event.token is not None and event.token not in now.tokens:
        raise NotFound(f"There is no token {event.token!r}.")
    pause = now.paused.get(name)
    if isinstance(event, e.ActorResumed):
        if pause is None:
            raise NotFound(f"{name} is not paused.")
        return
    if pause is not None:
        raise Refused(f"{name} was paused already, by {pause.by}.")
    if len(event.why) > MOST_WHY:
        raise BadInput(f"The reason of a pause has at most {MOST_WHY} characters, not {len(event.why):,}.")


def _check_token(now: Directory, event: e.TokenCreated) -> None:
    check_id(event.token, "Token")
    check_actor(event.actor)
    if actor_kind(event.actor) == "system":
        raise Refused("Nobody gets a token for the system itself: it acts from within.")
    if event.on_behalf_of is not None:
        _check_behalf(event.actor, event.on_behalf_of)
    if event.expires_at is not None:
        check_time(event.expires_at, "A token's end")
    _check_once(event)
    if event.token in now.tokens:
        raise Refused(f"Token {event.token!r} exists already. Choose another id.")
    if not event.scopes:
        raise BadInput("A token needs at least one scope: read, edit, run, serve, approve or admin.")
    _check_scopes(event)
    for scope in event.asks:
        if scope not in ("edit", "run"):
            raise BadInput(f"A token asks before it edits or runs; {scope!r} cannot be asked for. Leave it out.")
        if scope not in event.scopes:
            raise BadInput(f"A token that asks before it may {scope} needs the scope {scope!r} as well. Add it.")


def _check_scopes(event: e.TokenCreated) -> None:
    """A runtime serves what others ask for, and only a human says yes."""
    kind, actor = actor_kind(event.actor), event.actor
    more = [scope for scope in event.scopes if scope not in RUNTIME_SCOPES]
    if kind == "runtime" and more:
        told = f"A runtime serves what others ask for: {actor} cannot have {', '.join(more)}, only read and serve."
        raise Refused(f"{told} To change or run something, too, it holds a second token, of kind agent.")
    if kind != "runtime" and "serve" in event.scopes:
        told = f"Only a runtime serves, and {actor} is none: leave 'serve' out."
        raise Refused(f"{told} Who may run can start a runtime of their own (`quire runtime`, `quire run`).")
    if kind != "human" and "approve" in event.scopes:
        told = f"Only a human says yes to what was proposed, and {actor} is none: leave 'approve' out."
        raise Refused(f"{told} A yes is given by the person for whom it acts, or by another with that scope.")


def _check_once(event: e.TokenCreated) -> None:
    if event.then_until is not None:
        check_time(event.then_until, "A browser's token's end")
    if event.once and event.expires_at is None:
        raise BadInput("A token that is good for one sign-in has to end soon: say when.")
    if event.then_until is not None and not event.once:
        raise BadInput("Only a token that is good for one sign-in says until when another is good. Leave it out.")


def _check_behalf(actor: ActorId, on_behalf_of: ActorId) -> None:
    """Chains have one link: whoever acts for somebody names the one who answers for it."""
    check_actor(on_behalf_of)
    if actor_kind(actor) == "human":
        raise Refused(f"{actor} acts for themselves, not on behalf of {on_behalf_of}. Leave that out.")
    if actor_kind(on_behalf_of) not in ("human", "schedule"):
        raise Refused(
            f"{actor} cannot act on behalf of {on_behalf_of}: name the human or the schedule for whom that one acts."
        )
