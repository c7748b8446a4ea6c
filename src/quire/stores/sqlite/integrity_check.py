"""A look at the file of a SQLite store, for `quire doctor`: nothing is opened for writing, nothing is mended."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from pathlib import Path

import msgspec

from ...core.errors import Unavailable
from ..store import Lease, Sizes
from .database_file import SCHEMA, check_file, connect, explain
from .prune import sizes


class Checkup(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen."""

    sqlite: str
    """The version of the library."""
    path: Path
    size: int
    events: int
    newest_at: str | None
    """When the last event was recorded, as its writer's clock said."""
    fault: str | None
    """What SQLite's own quick check found first."""
    leases: tuple[Lease, ...] = ()
    sizes: Sizes | None = None
    """None: of a file of an older Quire, which nobody has opened since."""


def check_store(path: Path, before: str = "") -> Checkup:
    """Look at the file; `before`: when runs are old. Raises what opening it would raise: that it is damaged, or newer than this Quire."""
    check_file(path)
    try:
        with contextlib.closing(connect(path, read_only=True)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            events, newest = connection.execute("SELECT count(*), max(at) FROM events").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            found_sizes = sizes(connection, before) if version == SCHEMA else None
            rows = connection.execute("SELECT name, holder, epoch, ends - ? FROM leases", (time.time(),)).fetchall()
    except (sqlite3.Error, OSError) as error:
        raised = explain(error, path)
        raise raised if raised is not error else Unavailable(str(error)) from error
    return Checkup(
        sqlite=sqlite3.sqlite_version,
        path=path,
        size=path.stat().st_size,
        events=events,
        newest_at=newest,
        fault=None if found == "ok" else str(found),
        leases=tuple(Lease(*row) for row in rows),
        sizes=found_sizes,
    )
