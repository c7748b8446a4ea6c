"""Who may add and change schedules, and as whom their runs are begun.

A schedule acts as `schedule:NAME` on behalf of whoever added it, or changed it last, with the scopes that were given
to it then, and only as far as that one may still go: when their tokens end, it does no more than they.
"""

from __future__ import annotations

from ...core import events as e
from ...core.errors import NotFound, Refused
from ...core.ids import ActorId, actor_kind, schedule_actor
from ...core.notebook.directory import Directory, Schedule
from ...core.rules.schedule_rules import names_command
from . import identities
from .identities import Identity


def check_schedule(identity: Identity, directory: Directory, event: e.ScheduleEvent, *, administers: bool) -> None:
    """Refuse what somebody may not say of a schedule."""
    if isinstance(event, e.ScheduleSkipped):
        return  # the rules say by whom
    if "run" in identity.asks:
        raise Refused(
            f"{identity.actor} has to ask before it may run, and a schedule cannot be proposed. Ask a person."
        )
    if identity.notebooks is not None:
        told = f"{identity.actor} may not schedule anything: the token is for some notebooks only"
        raise Refused(f"{told}, and a schedule runs files of the workspace's folder.")
    known = directory.schedules.get(event.schedule)
    if known is not None and known.removed is None and not administers and owner_of(known) != _whose(identity):
        told = f"Schedule {event.schedule!r} is of {owner_of(known)}"
        raise Refused(f"{told}: to change it takes the scope 'admin', or to be them.")
    if isinstance(event, e.ScheduleAdded):
        _check_given(identity, event)
    if isinstance(event, e.ScheduleChanged) and known is not None:
        _check_scopes(identity, known.scopes)
    if isinstance(event, e.ScheduleAdded | e.ScheduleChanged) and names_command(event.plan):
        _check_command(identity, event.schedule, administers=administers)


def owner_of(schedule: Schedule) -> ActorId:
    """Return for whom a schedule acts."""
    return schedule.on_behalf_of or schedule.by


def schedule_identity(directory: Directory, name: str, at: str) -> Identity:
    """Return as whom runs of a schedule are begun; Refused where whoever added it may no longer run."""
    schedule = directory.schedules.get(name)
    if schedule is None:
        raise NotFound(f"There is no schedule {name!r}.")
    adder = identities.acting_now(directory, schedule.by, schedule.on_behalf_of, at)
    scopes = frozenset(schedule.scopes) & adder.scopes
    if "run" not in scopes:
        told = f"{schedule.by}, who added schedule {name!r}, may not run any more"
        raise Refused(
            f"{told}: their tokens have ended. `quire schedule sync`, or a change of it, makes it somebody else's."
        )
    return Identity(
        actor=schedule_actor(name),
        scopes=scopes,
        on_behalf_of=owner_of(schedule),
        notebooks=adder.notebooks,
        asks=frozenset(schedule.asks),
        owns=adder.owns,
    )


def _whose(identity: Identity) -> ActorId:
    return identity.on_behalf_of or identity.actor


def _check_given(identity: Identity, event: e.ScheduleAdded) -> None:
    _check_scopes(identity, event.scopes)
    unasked = sorted((identity.asks & set(event.scopes)) - set(event.asks))
    if unasked:
        told = f"{identity.actor} asks before it may {unasked[0]}, and so does a schedule that it adds"
        raise Refused(f"{told}: --ask {unasked[0]}.")


def _check_scopes(identity: Identity, scopes: tuple[e.Scope, ...]) -> None:
    more = sorted(set(scopes) - identity.scopes)
    if more:
        raise Refused(f"{identity.actor} cannot give a schedule {', '.join(more)}: there is no such scope to give.")


def _check_command(identity: Identity, name: str, *, administers: bool) -> None:
    """A program is started with the rights of the scheduler's process: only who administers the workspace says which."""
    if actor_kind(identity.actor) != "human" or not administers:
        told = f"Schedule {name!r} names a command, and that is taken only from a human with the scope 'admin'"
        raise Refused(f"{told}; {identity.actor} is not. Name a webhook instead, or ask one.")
