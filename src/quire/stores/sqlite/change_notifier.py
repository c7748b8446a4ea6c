"""The thread that notices what other processes wrote to a SQLite file, and wakes followers here.

`PRAGMA data_version` tells whether anybody did. When to ask it, file_notify.py says; where that does not work it is asked
again and again, more often for a while after somebody wrote.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from ...core.ids import LogId
from .database_file import connect
from .file_notify import FileListener, folder_of

POLL_SECONDS = 0.01
LIVELY_POLL_SECONDS = 0.002
LIVELY_SECONDS = 1.0
"""How often it is looked where nobody tells, and for how long it is looked more often after something was written."""
UNTOLD_SECONDS = 2.0
"""How often it is looked although nobody told anything: who wrote may have been killed before it could, or be of an older Quire."""


class SqliteNews:
    """Looks for news as long as anybody follows. `wake` is called in the thread, with the logs that grew; None: any may have."""

    def __init__(
        self, path: Path, told: Callable[[], Mapping[LogId, int]], wake: Callable[[list[LogId] | None], None]
    ) -> None:
        self._path, self._told, self._wake = path, told, wake
        self._stopping = threading.Event()
        self._listener: FileListener | None = None
        self._thread: threading.Thread | None = None

    def follow(self, log: LogId | None) -> None:
        """See to it that growth of a log, or of any, is noticed from now on."""
        if self._listener is None:
            self._listener = FileListener(folder_of(self._path))
        self._listener.watch(log)
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._look_on, args=(self._listener,), name="quire-news", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopping.set()
        if self._listener is not None:
            self._listener.interrupt()

    def join(self) -> None:
        """Wait until it looks no more."""
        if self._thread is not None:
            self._thread.join()
        if self._listener is not None:
            self._listener.close()

    def _look_on(self, listener: FileListener) -> None:
        connection = connect(self._path, read_only=True)
        seen: int | None = None
        position, lively_until = 0, 0.0
        while not self._stopping.is_set():
            with contextlib.suppress(sqlite3.Error):
                (version,) = connection.execute("PRAGMA data_version").fetchone()
                if version != seen:
                    position, logs = self._news(connection, position if seen is not None else None)
                    seen = version
                    lively_until = time.monotonic() + LIVELY_SECONDS
                    if logs is None or logs:
                        self._wake(logs)
            is_lively = time.monotonic() < lively_until
            if listener.works:
                # What comes in quick succession is looked at together.
                self._stopping.wait(LIVELY_POLL_SECONDS if is_lively else 0)
                listener.wait(UNTOLD_SECONDS)
            else:
                self._stopping.wait(LIVELY_POLL_SECONDS if is_lively else POLL_SECONDS)
        connection.close()

    def _news(self, connection: sqlite3.Connection, since: int | None) -> tuple[int, list[LogId] | None]:
        """How far events go, and which logs others made grow since; None: whatever came before anybody looked."""
        if since is None:
            return connection.execute("SELECT coalesce(max(position), 0) FROM events").fetchone()[0], None
        sql = "SELECT max(position), log, max(seq) FROM events WHERE position > ? GROUP BY log"
        rows = connection.execute(sql, (since,)).fetchall()
        # Leases change, too, and what was written here has woken everybody already.
        told = self._told()
        logs = [log for _, log, seq in rows if seq > told.get(log, 0)]
        return max([since, *(position for position, _, _ in rows)]), logs
