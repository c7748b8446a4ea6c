"""Claims that are held while the work goes on (rule 10)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from ...core import events as e
from ...core.errors import Conflict, QuireError, Unavailable
from ...core.events import Draft
from ...core.ids import LogId
from ...workspace.clock import new_id
from ...workspace.workspace import Claim, Workspace

RENEW_SECONDS = 10.0
"""A third of a lease: two renewals may be late before it is lost."""


@asynccontextmanager
async def held(runtime: Workspace, log: LogId, claim: Claim, lost: Callable[[], None]) -> AsyncGenerator[int]:
    """Claim, give the epoch, and renew the lease until the work is over. Conflict when somebody was first.

    `lost` is called when it is ours no longer: the work is to stop.
    """
    (entry,) = await runtime.submit(log, [Draft(id=new_id(), event=claim)])
    taken = entry.event
    if not isinstance(taken, e.RunClaimed | e.ExecutionClaimed) or taken.epoch is None:
        raise Unavailable(f"{log} could not be claimed. Run `quire verify {log}`.")
    renewing = asyncio.ensure_future(_renew(runtime, log, taken, lost))
    try:
        yield taken.epoch
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
    # Not when it raised: the log may not say how the work ended, and whoever looks next is to find the claim.
    with contextlib.suppress(QuireError):
        await runtime.release(log, taken)


async def _renew(runtime: Workspace, log: LogId, claim: Claim, lost: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(RENEW_SECONDS)
        try:
            await runtime.renew(log, claim)
        except Conflict:
            lost()
            return
        except QuireError:
            continue  # a store that is away may be back before the lease runs out
