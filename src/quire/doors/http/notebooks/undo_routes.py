"""Undo of all that one actor did to a notebook since a moment, and who can be undone."""

from __future__ import annotations

from typing import Annotated

from litestar.params import FromPath
from msgspec import Meta

from ....core.edits.undo_plan import UndoPlan
from ....core.ids import ActorId, LogId, check_actor, check_time
from ....workspace.undo import Editor, seq_at
from ....workspace.undo import editors as editors_of
from ....workspace.wire import frames
from ....workspace.wire.bodies import Body, Number, UndoDone, UndoWanted
from ..auth import Asked
from ..response_stream import while_there
from ..route import Asking, body_of, checked, query_of, route

PATH = "/api/notebooks/{log}/undo"


class UndoAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose edits, and after which event; or after which time (ISO 8601, in UTC)."""

    by: ActorId
    since: Number = 0
    after: Annotated[str, Meta(min_length=1, max_length=40)] | None = None


@route("GET", PATH, "plan_undo", tag="notebooks", query=UndoAsked, answer=UndoPlan)
async def plan_undo(request: Asking, log: FromPath[str], workspace: Asked) -> UndoPlan:
    """Tell what an undo of all edits of an actor would take back, and what others did that depends on it."""
    id, asked = LogId(checked(log, "Log")), query_of(request, UndoAsked)
    by, since = _actor(asked.by), asked.since
    if asked.after is not None:
        check_time(asked.after, "`after`")
        since = max(since, await while_there(request, seq_at(workspace, id, asked.after)))
    return await while_there(request, workspace.plan_undo(id, by, since))


@route("POST", PATH, "undo", tag="notebooks", body=UndoWanted, answer=UndoDone)
async def undo(request: Asking, log: FromPath[str], workspace: Asked) -> UndoDone:
    """Take back all edits of an actor after an event, in one submission by the bearer. What others typed stays."""
    id, wanted = LogId(checked(log, "Log")), await body_of(request, UndoWanted)
    done = await workspace.undo(id, _actor(wanted.by), wanted.since, seq=wanted.seq)
    entries = [frames.from_entry(entry) for entry in done.entries]
    return UndoDone(plan=done.plan, entries=entries, proposed=done.proposal is not None)


@route("GET", "/api/notebooks/{log}/editors", "editors", tag="notebooks", answer=list[Editor])
async def editors(request: Asking, log: FromPath[str], workspace: Asked) -> list[Editor]:
    """List everyone who changed a cell of a notebook, or proposed to, also where nothing of it is left."""
    return await while_there(request, editors_of(workspace, LogId(checked(log, "Log"))))


def _actor(actor: str) -> ActorId:
    """An actor, also one that is known from an imported log."""
    check_actor(actor.removeprefix("imported:"))
    return ActorId(actor)


ROUTES = [plan_undo, undo, editors]
