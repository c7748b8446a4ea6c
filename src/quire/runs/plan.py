"""A run as it will be: what was wished for, the part of it, and what an earlier run left to it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from ..workspace.workspace import Workspace
from .asking import Asking
from .partial import in_part
from .wish import Prepared, Wish, prepare


async def plan(
    workspace: Workspace | None, wish: Wish, environ: Mapping[str, str], now: dt.datetime, ask: Asking | None = None
) -> Prepared:
    """Decide everything that a run needs (rule 14), or say what is missing. Only to resume a run takes a workspace."""
    if wish.resume is None or workspace is None:
        return in_part(await prepare(wish, environ, now, ask), wish.start, wish.only)
    from .resume import earlier

    before = await earlier(workspace, wish.resume)
    prepared = in_part(await prepare(before.wish(wish), environ, now, ask), wish.start, wish.only)
    return before.applied(prepared)
