"""The disk: says that something happened in a folder, never what.

Folders are watched one by one and not with all below them: those on the way to bound files, so that a folder that goes and
comes back is noticed. Where the system gives no word, they are looked at now and then.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Collection
from pathlib import Path
from typing import Any

from ...core.errors import BadInput
from .poll_intervals import NORMAL

_DEBOUNCE_MILLISECONDS = 400
_POLL_MILLISECONDS = 500


class Watch:
    """Watches some folders, from `begin` until `close`."""

    def __init__(self, woken: Callable[[], None], step_milliseconds: int = NORMAL.watch_step_milliseconds) -> None:
        self._woken, self._step_milliseconds = woken, step_milliseconds
        self._stop = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    async def begin(self, folders: Collection[Path]) -> None:
        """Watch these folders: `woken` is called for whatever happens there once this has returned."""
        try:
            await self._begin(folders, polls=_always_polls())
        except OSError:
            if _always_polls():
                raise
            # As many folders are watched as the system allows: then this one looks by itself.
            await self._begin(folders, polls=True)

    async def _begin(self, folders: Collection[Path], *, polls: bool) -> None:
        self._watching = asyncio.ensure_future(
            self._follow(_changes(folders, polls, self._step_milliseconds, self._stop))
        )
        # watchfiles asks the system before it first waits, so after one step of the task it watches, or has failed.
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self._watching.cancel()
            raise
        if self._watching.done():
            self._watching.result()

    async def _follow(self, changes: AsyncIterator[Any]) -> None:
        async for _ in changes:
            self._woken()

    async def close(self) -> None:
        """Stop watching."""
        self._stop.set()
        if self._watching is not None:
            with contextlib.suppress(OSError, RuntimeError):  # it could not go on: then nothing was heard any more
                await self._watching


def _always_polls() -> bool:
    return os.environ.get("WATCHFILES_FORCE_POLLING", "").lower() not in ("", "0", "false", "disable", "disabled")


def _changes(folders: Collection[Path], polls: bool, step_milliseconds: int, stop: asyncio.Event) -> AsyncIterator[Any]:
    try:
        # Its types name trio's event, and trio is not here.
        from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType]
    except ModuleNotFoundError as missing:
        raise BadInput(
            f"{missing.name} is not installed, so no file is watched: pip install 'quire[serve]'."
        ) from missing
    return awatch(
        *folders,
        watch_filter=None,
        debounce=_DEBOUNCE_MILLISECONDS,
        step=step_milliseconds,
        stop_event=stop,
        rust_timeout=0,
        force_polling=polls,
        poll_delay_ms=_POLL_MILLISECONDS,
        recursive=False,
        ignore_permission_denied=True,
    )
