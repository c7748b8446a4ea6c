"""What was done in a notebook, what is new in it for the bearer, and how far they have seen it."""

from __future__ import annotations

from typing import Annotated

from litestar.params import FromPath
from msgspec import Meta

from ....core.ids import ActorId, LogId
from ....core.notebook.activity import ActivityKind
from ....verbs.overviews.recent_activity import LINES_SHOWN, MOST_LINES, ActivityPage, Since
from ....verbs.overviews.recent_activity import activity as read_activity
from ....verbs.overviews.recent_activity import since as sum_up
from ....workspace.wire.bodies import Body, Number, SeenFound, SeenUpTo
from ..auth import Asked
from ..response_stream import while_there
from ..route import Asking, body_of, checked, query_of, route


class ActivityAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which lines: those before a number, of some kinds, by or for an actor."""

    before: Annotated[int, Meta(ge=1, le=2**53 - 1)] | None = None
    limit: Annotated[int, Meta(ge=1, le=MOST_LINES)] = LINES_SHOWN
    kinds: tuple[ActivityKind, ...] = ()
    """Only these; with commas, or the parameter more than once."""
    who: ActorId | None = None


class SinceAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The number that the bearer has seen."""

    seq: Number


@route("GET", "/api/notebooks/{log}/seen", "seen", tag="notebooks", answer=SeenFound)
async def seen(log: FromPath[str], workspace: Asked) -> SeenFound:
    """How far the bearer has seen a notebook. It is kept beside the log, and only the bearer is told."""
    found = await workspace.seen(LogId(checked(log, "Log")))
    return SeenFound() if found is None else SeenFound(seq=found.seq, at=found.at)


@route("PUT", "/api/notebooks/{log}/seen", "mark_seen", tag="notebooks", body=SeenUpTo, answer=SeenFound)
async def mark_seen(request: Asking, log: FromPath[str], workspace: Asked) -> SeenFound:
    """Keep that the bearer has seen a notebook up to a number. A smaller number than the one that is kept changes nothing."""
    id = LogId(checked(log, "Log"))
    kept = await workspace.mark_seen(id, (await body_of(request, SeenUpTo)).seq)
    return SeenFound(seq=kept.seq, at=kept.at)


@route("GET", "/api/notebooks/{log}/since", "since", tag="notebooks", query=SinceAsked, answer=Since)
async def since(request: Asking, log: FromPath[str], workspace: Asked) -> Since:
    """Sum up what others than the bearer did after a number: by actor, and by cell.

    What a runtime did counts as done by whoever asked for it. A cell that was added and removed again is left out.
    """
    id, asked = LogId(checked(log, "Log")), query_of(request, SinceAsked)
    return await while_there(request, sum_up(workspace, id, asked.seq))


@route("GET", "/api/notebooks/{log}/activity", "activity", tag="notebooks", query=ActivityAsked, answer=ActivityPage)
async def activity(request: Asking, log: FromPath[str], workspace: Asked) -> ActivityPage:
    """List what was done in a notebook or a run, the newest first, grouped by who did it.

    Acts of one actor on behalf of one person with one cause, or with short pauses, are one line. Ask again with `before` as
    long as there is one, also where no lines were found: an answer looks at 20,000 events at most.
    """
    id, asked = LogId(checked(log, "Log")), query_of(request, ActivityAsked)
    kinds = asked.kinds or None
    lines = read_activity(workspace, id, before=asked.before, limit=asked.limit, kinds=kinds, who=asked.who)
    return await while_there(request, lines)


ROUTES = [seen, mark_seen, since, activity]
