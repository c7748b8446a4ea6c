"""Asking SQLite a question that can change nothing and see nothing else.

The connection is opened read-only, and an authorizer lets through only SELECTs over the
documented views: no write, no ATTACH, no PRAGMA, no other table, no function that
reaches outside. A statement that runs too long is stopped.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable
from functools import partial

from ...core.chain import Record
from ...core.errors import BadInput, Refused, Unavailable
from ..index import TABLES, IndexRows
from ..seal import COLUMNS
from ..store import LogInfo, PrunedLog, Table
from .database_file import index_schema

VIEWS: dict[str, str] = {
    "events": """SELECT log, seq, id, key, cause, at,
        CASE imported WHEN 0 THEN actor ELSE 'imported:' || actor END AS actor,
        CASE imported WHEN 0 THEN on_behalf_of ELSE 'imported:' || on_behalf_of END AS on_behalf_of,
        type, payload, imported, redacted, hash FROM main.events""",
    "notebooks": """SELECT log, name, archived, seq AS events, created_at, created_by, at AS updated_at
        FROM main.logs WHERE kind = 'notebook'""",
    "pruned": """SELECT log, kind, name, seq AS events, hash, created_at, at AS updated_at, pruned_at
        FROM main.pruned""",
    **{name: f"SELECT * FROM main.index_{name}" for name in TABLES if name != "names"},
    "actors": """SELECT e.actor, substr(e.actor, 1, instr(e.actor, ':') - 1) AS kind, n.name, e.events, e.first_at, e.last_at
        FROM (SELECT CASE imported WHEN 0 THEN actor ELSE 'imported:' || actor END AS actor,
              count(*) AS events, min(at) AS first_at, max(at) AS last_at FROM main.events GROUP BY 1) e
        LEFT JOIN main.index_names n ON n.actor = e.actor""",
}

MAX_VALUE_BYTES = 64 * 1024 * 1024
"""The largest value that a query may make up: one `zeroblob` must not take all the memory."""
_COUNTED = {"events", "logs", "pruned", *(f"index_{name}" for name in TABLES)}
_FORBIDDEN_FUNCTIONS = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"}


def _create_views(connection: sqlite3.Connection) -> str:
    """Make the documented views, for this connection only, and return what opens the tables.

    SQLite tells the authorizer through which view a table is read, but a common table
    expression of the same name looks just alike. So tables are open only to views with names
    that nobody can guess, and the documented ones read those.
    """
    secret = f"q{secrets.token_hex(16)}_"
    for name, select in VIEWS.items():
        connection.execute(f"CREATE TEMP VIEW {secret}{name} AS {select}")
        connection.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM {secret}{name}")
    return secret


def ask(
    connection: sqlite3.Connection, sql: str, *, limit: int, seconds: float, stopped: Callable[[], bool] = bool
) -> Table:
    """Answer `sql` on a connection that is used for nothing else; at most `limit` rows, until `stopped`."""
    secret = _create_views(connection)
    deadline = time.monotonic() + seconds
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    connection.set_authorizer(partial(_authorize, secret))
    connection.set_progress_handler(lambda: int(time.monotonic() > deadline or stopped()), 10_000)
    try:
        cursor = connection.execute(sql)
        rows = cursor.fetchmany(limit + 1)
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        raise _explain(error, sql, seconds) from error
    finally:
        connection.set_authorizer(None)
        connection.set_progress_handler(None, 0)
    columns = tuple(column[0] for column in cursor.description or ())
    return Table(columns, tuple(rows[:limit]), truncated=len(rows) > limit)


def _authorize(
    secret: str, action: int, first: str | None, second: str | None, database: str | None, inside: str | None
) -> int:
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if second in _FORBIDDEN_FUNCTIONS else sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ and (_is_view(secret, first, database) or (inside or "").startswith(secret)):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ and second == "" and first in _COUNTED:
        return sqlite3.SQLITE_OK  # count(*) reads no column, and SQLite does not say through which view
    return sqlite3.SQLITE_DENY


def _is_view(secret: str, table: str | None, database: str | None) -> bool:
    """Whether a name is one of our views, or a table that the query made up itself."""
    return not database or (database == "temp" and (table in VIEWS or (table or "").startswith(secret)))


def _explain(error: Exception, sql: str, seconds: float) -> Exception:
    told = str(error)
    if "interrupted" in told:
        return Unavailable(
            f"The query took longer than {seconds:g} s and was stopped. Ask for less, or raise --timeout."
        )
    if "not authorized" in told or "prohibited" in told or "readonly" in told or "cannot modify" in told:
        return Refused(f"`quire sql` only reads, and only the views {', '.join(VIEWS)} ({told}).")
    if "one statement" in told:
        return BadInput("`quire sql` takes one statement. Ask them one after the other.")
    return BadInput(
        f"The query cannot be answered: {told}. The views are {', '.join(VIEWS)}; see docs/reference/sql.md."
    )


def ask_rows(
    rows: IndexRows,
    records: Iterable[Record],
    logs: Iterable[LogInfo],
    sql: str,
    *,
    limit: int,
    seconds: float,
    pruned: Iterable[PrunedLog] = (),
) -> Table:
    """Answer `sql` for a store that has no database: through one in memory."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(
            f"CREATE TABLE events ({COLUMNS});"
            "CREATE TABLE logs (log, kind, seq, at, name, archived, created_at, created_by);"
            "CREATE TABLE pruned (log, kind, seq, hash, at, name, created_at, pruned_at);" + index_schema()
        )
        kept = [tuple(getattr(record, name) for name in record.__struct_fields__) for record in records]
        lines = [
            (
                each.log,
                each.kind,
                each.head.seq,
                each.head.at,
                each.name,
                each.archived,
                each.created_at,
                each.created_by,
            )
            for each in logs
        ]
        gone = [
            (
                each.log,
                each.kind,
                each.head.seq,
                each.head.hash,
                each.head.at,
                each.name,
                each.created_at,
                each.pruned_at,
            )
            for each in pruned
        ]
        for name, table in {
            "pruned": gone,
            "events": kept,
            "logs": lines,
            **{f"index_{name}": rows.table(name) for name in TABLES},
        }.items():
            for row in table:
                connection.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
        return ask(connection, sql, limit=limit, seconds=seconds)
    finally:
        connection.close()
