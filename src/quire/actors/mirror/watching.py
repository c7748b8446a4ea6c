"""The disk: says that something happened in a folder, never what.

A thread waits for the system's word and wakes the loop. Folders are watched one by one and
not with all below them: those on the way to bound files, so that a folder that goes and
comes back is noticed. Where the system gives no word, it looks by itself now and then.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from ...core.errors import BadInput
from .pace import NORMAL

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

_DEBOUNCE_MILLISECONDS = 400
_POLL_MILLISECONDS = 500


class Watch:
    """What watches some folders, from when it is made until it is closed."""

    def __init__(
        self,
        folders: Collection[Path],
        woken: Callable[[], None],
        step_milliseconds: int = NORMAL.watch_step_milliseconds,
    ) -> None:
        self._step_milliseconds = step_milliseconds
        self._notify = _notify([str(folder) for folder in folders])
        self._stop = threading.Event()
        self._loop, self._woken = asyncio.get_running_loop(), woken
        self._thread = threading.Thread(target=self._wait, name="quire-mirror", daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        while True:
            try:
                found = self._notify.watch(_DEBOUNCE_MILLISECONDS, self._step_milliseconds, 0, self._stop)
            except RuntimeError:  # closed
                return
            if found == "stop":
                return
            try:
                self._loop.call_soon_threadsafe(self._woken)
            except RuntimeError:  # the loop is gone
                return

    async def close(self) -> None:
        """Stop watching."""
        self._stop.set()
        await asyncio.to_thread(self._thread.join)
        self._notify.close()


def _notify(folders: list[str]) -> RustNotify:
    try:
        from watchfiles._rust_notify import RustNotify
    except ModuleNotFoundError as missing:
        raise BadInput(
            f"{missing.name} is not installed, so no file is watched: pip install 'quire[serve]'."
        ) from missing
    polls = os.environ.get("WATCHFILES_FORCE_POLLING", "").lower() not in ("", "0", "false", "disable", "disabled")
    try:
        return RustNotify(folders, False, polls, _POLL_MILLISECONDS, False, True)
    except OSError:
        if polls:
            raise
        # As many folders are watched as the system allows: then this one looks by itself.
        return RustNotify(folders, False, True, _POLL_MILLISECONDS, False, True)
