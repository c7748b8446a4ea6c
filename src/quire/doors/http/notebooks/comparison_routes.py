"""Two moments side by side."""

from __future__ import annotations

import re
from typing import Annotated

from msgspec import Meta

from ....core.ids import LogId
from ....verbs.overviews.comparison import MomentsCompared, compare
from ....workspace.wire.bodies import MAX_NUMBER, Body
from ..auth import Asked
from ..response_stream import while_there
from ..route import Asking, checked, misshapen, query_of, route

_AT = re.compile(r"(.+)@([0-9]+)")


class MomentsAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which two: `LOG` is a notebook or run as it is, `LOG@SEQ` as it was at that number."""

    a: Annotated[str, Meta(min_length=1, max_length=100)]
    b: Annotated[str, Meta(min_length=1, max_length=100)]


@route("GET", "/api/diff", "diff", tag="notebooks", query=MomentsAsked, answer=MomentsCompared)
async def diff(request: Asking, workspace: Asked) -> MomentsCompared:
    """Compare two notebooks or runs, or one at two moments, cell by cell: the rows of `quire diff`, in the same order.

    Of each cell: what became of it, its source line by line with the words that differ (every second part of a line), names, tags and
    metadata that changed, and on both sides the execution whose outputs it showed.
    """
    asked = query_of(request, MomentsAsked)
    return await while_there(request, compare(workspace, _side(asked.a), _side(asked.b)))


def _side(text: str) -> tuple[LogId, int | None]:
    # An id may have an @ in it, so the last one counts.
    found = _AT.fullmatch(text)
    log, seq = (found[1], int(found[2])) if found is not None else (text, None)
    if seq is not None and seq > MAX_NUMBER:
        raise misshapen(f"`{text[:40]}…` is no moment: the number after @ is {MAX_NUMBER} at most")
    return LogId(checked(log, "Log")), seq


ROUTES = [diff]
