"""Claims that are held while the work goes on (rule 10)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from ...core import events as e
from ...core.errors import Conflict, QuireError, Refused, Unavailable
from ...core.events import Draft
from ...core.ids import LogId, RuntimeId
from ...kernels.relay.execution_state import Flight
from ...workspace.clock import new_id
from ...workspace.log.leases import LEASE_SECONDS
from ...workspace.protocol import Claim, Workspace
from ...workspace.tasks import cancel_and_wait
from .retry import OutageWait

RENEW_SECONDS = 10.0
"""How often a claim is renewed; a third of a lease at most, so that two renewals may be late before it is lost."""


class ClaimLost(Exception):
    """The work under a claim goes on no longer, and the log does not say how it ended."""


@asynccontextmanager
async def held(
    runtime: Workspace,
    log: LogId,
    claim: Claim,
    lost: Callable[[], None],
    seconds: float = LEASE_SECONDS,
    wait: OutageWait | None = None,
) -> AsyncGenerator[int]:
    """Claim, give the epoch, and renew the lease until the work is over. Conflict when somebody was first.

    `lost` is called when it is ours no longer: the work is to stop. Whoever raises `ClaimLost` gives it up as it is.
    """
    drafts = [Draft(id=new_id(), event=claim)]  # the same each time: if the answer was lost, that is the answer
    (entry,) = await (wait or OutageWait(0)).patiently(lambda: runtime.submit(log, drafts, lease_seconds=seconds))
    taken = entry.event
    if not isinstance(taken, e.RunClaimed | e.ExecutionClaimed) or taken.epoch is None:
        raise Unavailable(f"{log} could not be claimed. Run `quire verify {log}`.")
    async with renewed(runtime, log, taken, lost, seconds):
        yield taken.epoch


def claim_of(flight: Flight, runtime: RuntimeId) -> e.ExecutionClaimed:
    """The claim under which an earlier process had an execution under way."""
    return e.ExecutionClaimed(execution=flight.started.execution, runtime=runtime, epoch=flight.started.epoch)


async def renew_adopted(runtime: Workspace, log: LogId, flight: Flight | None, seconds: float) -> None:
    """Renew the claim of what runs in an adopted kernel before anything else: a runtime killed soon after leaves it whole."""
    if flight is not None:
        with contextlib.suppress(QuireError):  # whether it is still ours is asked again when the work goes on
            await runtime.renew(log, claim_of(flight, RuntimeId(runtime.identity.actor)), seconds)


@asynccontextmanager
async def renewed(
    runtime: Workspace,
    log: LogId,
    claim: Claim,
    lost: Callable[[], None],
    seconds: float = LEASE_SECONDS,
    *,
    at_once: bool = False,
) -> AsyncGenerator[None]:
    """Renew the lease of a claim that is ours until the work is over, and give it back then.

    `at_once` where it was not taken just now.
    """
    renewing = asyncio.ensure_future(_renew(runtime, log, claim, lost, seconds, at_once=at_once))
    try:
        yield
    except ClaimLost:
        # Nobody has to wait for the lease to run out.
        with contextlib.suppress(QuireError):
            await runtime.renew(log, claim, 0)
        raise
    finally:
        await cancel_and_wait(renewing)
    # Not when it raised: the log may not say how the work ended, and whoever looks next is to find the claim.
    with contextlib.suppress(QuireError):
        await runtime.release(log, claim)


async def _renew(
    runtime: Workspace, log: LogId, claim: Claim, lost: Callable[[], None], seconds: float, *, at_once: bool
) -> None:
    pause = min(RENEW_SECONDS, seconds / 3)
    await asyncio.sleep(0 if at_once else pause)
    while True:
        try:
            await runtime.renew(log, claim, seconds)
        except (Conflict, Refused):
            lost()
            return
        except QuireError:
            pass  # a store that is away may come back: a lease that lapsed meanwhile is taken again
        await asyncio.sleep(pause)
