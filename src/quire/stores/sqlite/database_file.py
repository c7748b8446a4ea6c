"""The file of a SQLite store: its tables, how it is opened, and what its faults mean.

A file that is damaged, somebody else's or newer than this Quire is left untouched.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TypeAlias

from ...core.errors import QuireError, Refused, Unavailable
from ..index import KEYS, ORDERS, TABLES
from ..seal import KEY_OWNER

APPLICATION_ID = 0x51756972  # "Quir"
SCHEMA = 4
BUSY_SECONDS = 30.0
CHECKPOINT_PAGES = 4000
"""How long the write-ahead log gets before it is folded into the file: 16 MB, four times the default."""

WAL_INDEX_BYTES = 32 * 1024
"""The least that the file beside a write-ahead log takes, with which every process begins."""

_KEYS = f"CREATE UNIQUE INDEX events_key ON events (key, {KEY_OWNER}) WHERE key IS NOT NULL AND imported = 0"
_SEEN = """CREATE TABLE seen (
    log TEXT NOT NULL, actor TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL, PRIMARY KEY (log, actor)
) WITHOUT ROWID, STRICT"""
_PRUNED = (
    """CREATE TABLE pruned (
    number INTEGER PRIMARY KEY, log TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL,
    at TEXT NOT NULL, name TEXT NOT NULL, created_at TEXT NOT NULL, pruned_at TEXT NOT NULL
) STRICT""",
    "CREATE TABLE used (id TEXT PRIMARY KEY, log INTEGER NOT NULL) WITHOUT ROWID, STRICT",
    """CREATE TABLE used_keys (
    key TEXT NOT NULL, owner TEXT NOT NULL, log INTEGER NOT NULL, PRIMARY KEY (key, owner)
) WITHOUT ROWID, STRICT""",
)
"""Logs that were removed; the ids and keys that they had used, with the number of the log."""
_TABLES = f"""
CREATE TABLE logs (
    log TEXT PRIMARY KEY, kind TEXT NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL, at TEXT NOT NULL,
    name TEXT NOT NULL, archived INTEGER NOT NULL, created_at TEXT NOT NULL, created_by TEXT NOT NULL
) WITHOUT ROWID, STRICT;
CREATE TABLE events (
    position INTEGER PRIMARY KEY, log TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, key TEXT, cause TEXT,
    at TEXT NOT NULL, actor TEXT NOT NULL, on_behalf_of TEXT, type TEXT NOT NULL, payload TEXT NOT NULL,
    digest TEXT NOT NULL, hash TEXT NOT NULL, imported INTEGER NOT NULL DEFAULT 0, redacted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX events_seq ON events (log, seq);
CREATE UNIQUE INDEX events_id ON events (id) WHERE imported = 0;
{_KEYS};
CREATE TABLE snapshots (
    log TEXT NOT NULL, version INTEGER NOT NULL, seq INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (log, version, seq)
) STRICT;
CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, epoch INTEGER NOT NULL, ends REAL NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE tokens (digest TEXT PRIMARY KEY, token TEXT NOT NULL) WITHOUT ROWID, STRICT;
{_SEEN};
{";".join(_PRUNED)};
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID, STRICT;
INSERT INTO counters VALUES ('epoch', 0), ('indexed', 0), ('index', 0);
"""
_STEPS = {1: ("DROP INDEX events_key", _KEYS), 2: (_SEEN,), 3: _PRUNED}
"""What brings a file of an older format to the next one. A step that was released is never edited."""


Inode: TypeAlias = tuple[int, int]

# A process loses its locks on a file when it closes any descriptor of it: SQLite's too, and then others may take
# away what it works on. So a file is looked at only while no store of this process uses it.
_opening = threading.Lock()
_in_use: Counter[Inode] = Counter()


def prepare(path: Path) -> Inode:
    """Make the file, or see that it is one of ours. A file that is not is left untouched. `let_go` of what is returned."""
    with _opening:
        _prepare(path)
        inode = _inode(path)
        _in_use[inode] += 1
        return inode


def let_go(inode: Inode) -> None:
    """A store uses the file no more: its connections are closed."""
    with _opening:
        _in_use[inode] -= 1
        if not _in_use[inode]:
            del _in_use[inode]


def _inode(path: Path) -> Inode:
    status = path.stat()
    return status.st_dev, status.st_ino


def is_frozen(path: Path) -> bool:
    """Whether the file is there, and nothing can be written to it or beside it: a read-only disk, or somebody else's."""
    return path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def _check_frozen(path: Path) -> None:
    if _inode(path) not in _in_use:
        check_file(path)
    try:
        with contextlib.closing(connect(path, read_only=True)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.OperationalError as error:
        told = (
            f"{path} was not closed cleanly, and cannot be read whole where nothing can be written beside it ({error})"
        )
        raise Unavailable(f"{told}. Copy it, with its -wal file, to a place where that can be done.") from error
    if version != SCHEMA:
        told = f"{path} is of an older format, and cannot be brought up to date where nothing can be written"
        raise Unavailable(f"{told}. Copy it to a place where that can be done, and open it there.")


def _prepare(path: Path) -> None:
    if is_frozen(path):
        _check_frozen(path)
        return
    try:
        if path.exists() and path.stat().st_size and _inode(path) not in _in_use:
            check_file(path)
        connection = connect(path)
    except (sqlite3.Error, OSError) as error:
        raise explain(error, path) from error
    with contextlib.closing(connection):
        try:
            connection.execute("BEGIN IMMEDIATE")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version == 0:
                for statement in (_TABLES + index_schema()).split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            else:
                for statement in (each for older in range(version, SCHEMA) for each in _STEPS[older]):
                    connection.execute(statement)
            if version != SCHEMA:
                connection.execute(f"PRAGMA user_version = {SCHEMA}")
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise explain(error, path) from error


def check_file(path: Path) -> None:
    """Refuse a file that is damaged, somebody else's, or newer than this Quire."""
    with path.open("rb") as file:
        header = file.read(100)
    size = path.stat().st_size
    page = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    wal = path.with_name(path.name + "-wal")
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0"):
        raise Unavailable(f"{path} is not a database. It was left as it is: move it away, or restore a backup.")
    if size < pages * (page if page > 1 else 65536) and not (wal.exists() and wal.stat().st_size):
        raise Unavailable(
            f"{path} is cut off: {size:,} bytes of {pages * page:,}. It was left as it is: restore a backup."
        )
    application, version = int.from_bytes(header[68:72], "big"), int.from_bytes(header[60:64], "big")
    if application != APPLICATION_ID and (application or version or pages > 1):
        raise Unavailable(f"{path} is a database of another program. Point --at or QUIRE_URL somewhere else.")
    if version > SCHEMA:
        raise Refused(
            f"{path} was written by a newer Quire (format {version}; this one knows {SCHEMA}). Upgrade Quire to open it."
        )


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open the file. Statements are transactions of their own until BEGIN."""
    how = _how_to_read(path) if read_only else "mode=rwc"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{how}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        connection.execute("PRAGMA synchronous = FULL")
        if not read_only:
            # Of a file that is not made yet: its room can be given back page by page. Of others it changes nothing.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            _switch_to_wal(connection)
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    except BaseException:
        connection.close()
        raise
    return connection


def _how_to_read(path: Path) -> str:
    """Where nothing can be written SQLite cannot keep track of readers, and need not, as nobody writes either."""
    if not is_frozen(path):
        return "mode=ro"
    wal = path.with_name(path.name + "-wal")
    if wal.exists() and wal.stat().st_size:
        # What was recorded last is only there, and is read as far as what SQLite keeps beside it allows.
        return "mode=ro"
    return "mode=ro&immutable=1"


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Several processes may open a new file at once; the switch does not wait for its lock by itself."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _has_no_room(path: Path) -> bool:
    """Whether the disk has no room for the index that SQLite keeps beside a write-ahead log; it calls that an I/O error."""
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < WAL_INDEX_BYTES


def explain(error: Exception, path: Path) -> Exception:
    """Say what a fault of the database means for whoever waits. A fault of ours is returned as it is."""
    told = str(error)
    if isinstance(error, QuireError):
        return error
    if "full" in told or ("disk I/O error" in told and _has_no_room(path)):
        return Unavailable(f"{path}: the disk is full. Nothing was recorded; make room and try again.")
    if "locked" in told or "busy" in told:
        return Unavailable(
            f"{path} was locked by another process for {BUSY_SECONDS:g} s. Nothing was recorded; try again."
        )
    if "readonly" in told:
        return Unavailable(f"{path} cannot be written: its disk or folder is read-only. Nothing was recorded.")
    if "malformed" in told or "not a database" in told or "decode" in told:
        return Unavailable(
            f"{path} is damaged ({told}). It was left as it is: restore a backup, or see `quire verify`."
        )
    if isinstance(error, sqlite3.Error | OSError):
        return Unavailable(f"{path} cannot be used: {told}. Nothing was recorded.")
    return error


def index_schema() -> str:
    """The SQL that makes the tables of the index."""
    statements = [
        f"CREATE TABLE index_{name} ({', '.join(f'{column} {_type(kind)}' for column, kind in columns.items())}, "
        f"PRIMARY KEY ({', '.join(KEYS[name])})) WITHOUT ROWID, STRICT;"
        for name, columns in TABLES.items()
    ]
    statements += [f"CREATE INDEX index_{name}_order ON index_{name} ({', '.join(ORDERS[name])});" for name in ORDERS]
    return "\n".join(statements)


def _type(kind: str) -> str:
    return "INTEGER" if kind == "boolean" else kind.upper()
