"""Removes runs that are older than somebody wants to keep them, once a day, quietly: what `[runs] keep` asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ..core.errors import QuireError
from ..workspace.local import LocalWorkspace

DAY_SECONDS = 86_400.0
FIRST_SECONDS = 60.0
"""What a server has to do when it starts comes first."""
_HOLD = "server:retention"
_HOLD_SECONDS = 3600.0


async def keep_runs(
    system: LocalWorkspace,
    older_than: str,
    keep_last: int,
    tell: Callable[[str], None],
    *,
    first_seconds: float = FIRST_SECONDS,
    every_seconds: float = DAY_SECONDS,
) -> None:
    """Remove old runs again and again. `system` acts as Quire itself."""
    await asyncio.sleep(first_seconds)
    while True:
        try:
            await remove_old(system, older_than, keep_last, tell)
        except QuireError as error:  # a store that is away, or a disk that is full: it can wait for a day
            tell(f"Old runs were not removed: {error}")
        await asyncio.sleep(every_seconds)


async def remove_old(system: LocalWorkspace, older_than: str, keep_last: int, tell: Callable[[str], None]) -> int:
    """Remove old runs once, unless another server of this store is at it; return how many went."""
    hold = await system.hold(_HOLD, _HOLD_SECONDS)
    if hold is None:
        return 0
    runs = blob_bytes = 0
    try:
        async for step in system.prune(older_than, keep_last, fully=False):
            runs += step.pruned is not None
            blob_bytes += step.blob_bytes
    finally:
        await system.let_go(hold)
    if runs or blob_bytes:
        tell(
            f"Removed {runs:,} runs older than {older_than}, and {blob_bytes / 1e6:,.1f} MB of blobs nothing refers to"
        )
    return runs
