"""Removing whole logs from a SQLite file, and giving their room back to the disk."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ...core.chain import Head, Record
from ...core.ids import WORKSPACE_LOG, LogId
from ..index import table_of
from ..seal import COLUMNS, KEY_OWNER, LINE, RepeatedRecords, check_prune, record_from, seal_note, wanted
from ..store import Append, CompactionOutcome, Prune, PrunedLog, Sizes
from .database_file import connect

_GONE = "log, kind, seq, hash, at, name, created_at, pruned_at"
PAGES_AT_ONCE = 2000
"""So many pages are given back in one transaction, 8 MB: whoever wants to write waits for milliseconds."""
SPARE_BYTES = 100_000_000
"""What is to be left on a disk while a file is written anew."""


def prune_log(connection: sqlite3.Connection, prune: Prune) -> Record:
    """Remove a log inside the transaction that is open, and record that it was removed."""
    row = connection.execute("SELECT seq, hash, at FROM logs WHERE log = ?", (prune.log,)).fetchone()
    newer = connection.execute(f"SELECT {COLUMNS} FROM events WHERE position > ?", (prune.since,))
    check_prune(prune, Head(*row) if row else Head(), map(record_from, newer))
    record = _note(connection, prune)
    (number,) = connection.execute(
        f"INSERT INTO pruned ({_GONE}) SELECT log, kind, seq, hash, at, name, created_at, ? FROM logs WHERE log = ?"
        " RETURNING number",
        (record.at, prune.log),
    ).fetchone()
    of = "FROM events WHERE log = ? AND imported = 0"
    connection.execute(f"INSERT INTO used SELECT id, ? {of}", (number, prune.log))
    connection.execute(
        f"INSERT INTO used_keys SELECT key, {KEY_OWNER}, ? {of} AND key IS NOT NULL", (number, prune.log)
    )
    columns = dict.fromkeys(("events", "snapshots", "seen", "logs"), "log")
    columns |= {f"index_{name}": column for name, column in table_of(prune.log).items()}
    for table, column in columns.items():
        connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (prune.log,))
    return record


def _note(connection: sqlite3.Connection, prune: Prune) -> Record:
    row = connection.execute("SELECT seq, hash, at FROM logs WHERE log = ?", (WORKSPACE_LOG,)).fetchone()
    record = seal_note(prune.note, Head(*row) if row else Head())
    marks = ", ".join("?" * len(record.__struct_fields__))
    connection.execute(f"INSERT INTO events ({COLUMNS}) VALUES ({marks})", msgspec.structs.astuple(record))
    connection.execute(
        f"INSERT INTO logs ({LINE}) VALUES (?1, 'workspace', ?2, ?3, ?4, 'workspace', 0, ?4, ?5)"
        " ON CONFLICT (log) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, at = excluded.at",
        (WORKSPACE_LOG, record.seq, record.hash, record.at, record.actor),
    )
    return record


def used_before(connection: sqlite3.Connection, batch: list[Sequence[Append]]) -> RepeatedRecords:
    """Which logs, ids and keys of a batch belonged to logs that were removed."""
    logs, ids, keys = wanted(batch)
    of = "JOIN pruned ON pruned.number = {0}.log WHERE {0}.{1} IN (SELECT value FROM json_each(?))"
    found = RepeatedRecords(gone=pruned_of(connection, logs))
    for id, log in connection.execute(f"SELECT id, pruned.log FROM used {of.format('used', 'id')}", (_json(ids),)):
        found.gone_ids[id] = log
    sql = f"SELECT key, owner, pruned.log FROM used_keys {of.format('used_keys', 'key')}"
    for key, owner, log in connection.execute(sql, (_json(keys),)) if keys else ():
        found.gone_keys[key, owner] = log
    return found


def pruned_of(connection: sqlite3.Connection, logs: Sequence[LogId]) -> set[LogId]:
    """Those of these logs that were removed."""
    sql = "SELECT log FROM pruned WHERE log IN (SELECT value FROM json_each(?))"
    return {LogId(log) for (log,) in connection.execute(sql, (_json(logs),))}


def _json(values: Sequence[str]) -> str:
    return msgspec.json.encode(values).decode()


def pruned(connection: sqlite3.Connection, log: LogId | None) -> list[PrunedLog]:
    """The logs that were removed, the last one first, or the one of this id."""
    sql = f"SELECT {_GONE} FROM pruned WHERE ?1 IS NULL OR log = ?1 ORDER BY number DESC"
    return [
        PrunedLog(log=log, kind=kind, head=Head(seq, hash, at), name=name, created_at=created_at, pruned_at=pruned_at)
        for log, kind, seq, hash, at, name, created_at, pruned_at in connection.execute(sql, (log,))
    ]


# ---- Room


def sizes(connection: sqlite3.Connection, before: str) -> Sizes:
    """How much there is in the file."""
    kinds = dict(connection.execute("SELECT kind, count(*) FROM logs GROUP BY kind"))
    measured = "count(*), coalesce(sum(length(CAST(payload AS BLOB))), 0)"
    events, event_bytes = connection.execute(f"SELECT {measured} FROM events").fetchone()
    old = "kind = 'run' AND at < ?"
    (old_runs,) = connection.execute(f"SELECT count(*) FROM logs WHERE {old}", (before,)).fetchone()
    _, old_bytes = connection.execute(
        f"SELECT {measured} FROM events WHERE log IN (SELECT log FROM logs WHERE {old})", (before,)
    ).fetchone()
    page, pages, free = _pages(connection)
    return Sizes(
        notebooks=kinds.get("notebook", 0),
        runs=kinds.get("run", 0),
        pruned=connection.execute("SELECT count(*) FROM pruned").fetchone()[0],
        events=events,
        event_bytes=event_bytes,
        database_bytes=page * pages,
        free_bytes=page * free,
        old_runs=old_runs,
        old_bytes=old_bytes,
    )


def _pages(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """How large a page is, how many there are, and how many of them hold nothing."""
    names = ("page_size", "page_count", "freelist_count")
    page, pages, free = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    return page, pages, free


def compact(path: Path, *, fully: bool) -> CompactionOutcome:
    """Give pages that hold nothing back to the disk.

    A file of an older Quire cannot do that page by page: it is written anew, once, if there is room for that and if
    nobody minds to wait meanwhile.
    """
    with contextlib.closing(connect(path)) as connection:
        page, pages, free = _pages(connection)
        skipped = ""
        if connection.execute("PRAGMA auto_vacuum").fetchone()[0] == 2:
            while (left := _pages(connection)[2]) > 0:
                # As a script: a statement would be taken for done after its first page.
                connection.executescript(f"PRAGMA incremental_vacuum({PAGES_AT_ONCE})")
                if _pages(connection)[2] >= left:
                    break
        elif not fully:
            skipped = "it was made by an older Quire, and would have to be written anew: `quire runs prune` does that"
        elif free:
            skipped = _lack_of_room(path, page * (pages - free))
            if not skipped:
                connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return CompactionOutcome(before=page * pages, after=page * _pages(connection)[1], skipped=skipped)


def _lack_of_room(path: Path, needed: int) -> str:
    """What speaks against writing a file anew: it takes a temporary copy, and as much again beside the file."""
    temporary = Path(os.environ.get("SQLITE_TMPDIR") or tempfile.gettempdir())
    is_same = temporary.stat().st_dev == path.parent.stat().st_dev
    for folder, room in ((path.parent, needed * (1 + is_same)), (temporary, needed)):
        free = shutil.disk_usage(folder).free
        if free < room + SPARE_BYTES:
            return f"{folder} has {free / 1e6:,.0f} MB free, and {(room + SPARE_BYTES) / 1e6:,.0f} MB are needed"
    return ""
