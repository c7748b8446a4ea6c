"""The tables of a workspace in PostgreSQL, how they come about, and what a query sees of them.

STEPS is the history of the tables: a change is a step at the end, and a step that was
released is never edited. The tables of the index are a cache: they are made anew after
every step, and whenever INDEX goes up.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...core.errors import Refused, Unavailable
from ..index import INDEX, KEYS, ORDERS, TABLES
from ..seal import KEY_OWNER
from .server_connection import FAULTS, DatabaseSchema, PostgresConnection, explain, is_away, sqlstate

OLDEST_SERVER = 14
STEP_SECONDS = 3600.0
"""How long a step may take; it may have to rewrite a large table."""
_ATTEMPTS = 10

STEPS: tuple[str, ...] = (
    """
    CREATE TABLE logs (
        log text PRIMARY KEY, kind text NOT NULL, seq bigint NOT NULL, hash text NOT NULL, at text NOT NULL,
        name text NOT NULL, archived boolean NOT NULL, created_at text NOT NULL, created_by text NOT NULL
    ) WITH (fillfactor = 70);
    CREATE TABLE events (
        position bigint PRIMARY KEY, log text NOT NULL, seq bigint NOT NULL, id text NOT NULL, key text, cause text,
        at text NOT NULL, actor text NOT NULL, on_behalf_of text, type text NOT NULL, payload text NOT NULL,
        digest text NOT NULL, hash text NOT NULL, imported boolean NOT NULL, redacted boolean NOT NULL
    );
    CREATE UNIQUE INDEX events_seq ON events (log, seq);
    CREATE UNIQUE INDEX events_id ON events (id) WHERE NOT imported;
    CREATE UNIQUE INDEX events_key ON events (key) WHERE key IS NOT NULL AND NOT imported;
    CREATE TABLE snapshots (
        log text NOT NULL, version bigint NOT NULL, seq bigint NOT NULL, data bytea NOT NULL,
        PRIMARY KEY (log, version, seq)
    );
    CREATE SEQUENCE epochs;
    CREATE TABLE leases (name text PRIMARY KEY, holder text NOT NULL, epoch bigint NOT NULL, ends timestamptz NOT NULL);
    CREATE INDEX leases_ends ON leases (ends);
    CREATE TABLE tokens (digest text PRIMARY KEY, token text NOT NULL);
    CREATE TABLE reader (role text PRIMARY KEY, password text NOT NULL);
    CREATE TABLE counters (name text PRIMARY KEY, value bigint NOT NULL) WITH (fillfactor = 10);
    INSERT INTO counters VALUES ('position', 0), ('indexed', 0), ('index', 0);
    """,
    # Clients' keys are unique per actor.
    f"""
    DROP INDEX events_key;
    CREATE UNIQUE INDEX events_key ON events (key, ({KEY_OWNER})) WHERE key IS NOT NULL AND NOT imported;
    """,
    """
    CREATE TABLE seen (
        log text NOT NULL, actor text NOT NULL, seq bigint NOT NULL, at text NOT NULL, PRIMARY KEY (log, actor)
    ) WITH (fillfactor = 70);
    """,
    # The key with which servers seal what they tell each other.
    "CREATE TABLE lanes (one boolean PRIMARY KEY CHECK (one), key text NOT NULL)",
    # Logs that were removed; the ids and keys that they had used, with the number of the log.
    """
    CREATE TABLE pruned (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, log text NOT NULL UNIQUE, kind text NOT NULL,
        seq bigint NOT NULL, hash text NOT NULL, at text NOT NULL, name text NOT NULL, created_at text NOT NULL,
        pruned_at text NOT NULL
    );
    CREATE TABLE used (id text PRIMARY KEY, log bigint NOT NULL);
    CREATE TABLE used_keys (key text NOT NULL, owner text NOT NULL, log bigint NOT NULL, PRIMARY KEY (key, owner));
    """,
)

VIEWS: dict[str, str] = {
    "events": """SELECT log, seq, id, key, cause, at, CASE WHEN imported THEN 'imported:' || actor ELSE actor END AS actor,
        CASE WHEN imported THEN 'imported:' || on_behalf_of ELSE on_behalf_of END AS on_behalf_of,
        type, payload, imported, redacted, hash FROM events""",
    "notebooks": """SELECT log, name, archived, seq AS events, created_at, created_by, at AS updated_at
        FROM logs WHERE kind = 'notebook'""",
    "pruned": """SELECT log, kind, name, seq AS events, hash, created_at, at AS updated_at, pruned_at FROM pruned""",
    **{name: f"SELECT * FROM index_{name}" for name in TABLES if name != "names"},
    "actors": """SELECT e.actor, split_part(e.actor, ':', 1) AS kind, n.name, e.events, e.first_at, e.last_at
        FROM (SELECT CASE WHEN imported THEN 'imported:' || actor ELSE actor END AS actor,
              count(*) AS events, min(at) AS first_at, max(at) AS last_at FROM events GROUP BY 1) e
        LEFT JOIN index_names n ON n.actor = e.actor""",
}
"""What a query sees: the same names and columns as in SQLite (stores/sqlite/query.py), with real booleans."""

# Text sorts and compares by its code points, as in SQLite and in Python, whatever the database's language.
_TEXT = 'text COLLATE "C"'
_TYPES = {"text": _TEXT, "integer": "bigint", "real": "double precision", "boolean": "boolean"}


def _index_statements(place: DatabaseSchema) -> Iterator[str]:
    for name, columns in TABLES.items():
        described = ", ".join(f"{column} {_TYPES[kind]}" for column, kind in columns.items())
        yield f"DROP TABLE IF EXISTS index_{name} CASCADE"
        yield f"CREATE TABLE index_{name} ({described}, PRIMARY KEY ({', '.join(KEYS[name])}))"
        if name in ORDERS:
            yield f"CREATE INDEX index_{name}_order ON index_{name} ({', '.join(ORDERS[name])})"
    for name, select in VIEWS.items():
        yield f'DROP VIEW IF EXISTS "{place.views}".{name}'
        yield f'CREATE VIEW "{place.views}".{name} AS {select}'
    yield f"UPDATE counters SET value = CASE name WHEN 'index' THEN {INDEX} ELSE 0 END WHERE name IN ('index', 'indexed')"


async def make_index(connection: PostgresConnection, place: DatabaseSchema) -> None:
    """Throw the index away, and make its tables and the views as this version of Quire wants them."""
    await connection.execute("; ".join(_index_statements(place)))


async def prepare(connection: PostgresConnection, place: DatabaseSchema) -> None:
    """Make the tables, or bring them up to date, whoever else is doing the same at this moment."""
    await _check_server(connection, place)
    for attempts_left in reversed(range(_ATTEMPTS)):
        try:
            if await _version(connection, place) < len(STEPS):
                async with connection.transaction():
                    await _migrate(connection, place)
            return
        except FAULTS as error:
            if is_away(error) or isinstance(error, TimeoutError):
                raise  # whoever opens it may wait; what was begun was undone
            if not attempts_left or sqlstate(error) not in _RACES:
                raise await _explain(error, connection, place) from error


_RACES = ("23505", "42P06", "42P07", "42710", "40P01")
"""What the slower of two gets that make the same schema or table; the next time, it finds it made."""


async def _check_server(connection: PostgresConnection, place: DatabaseSchema) -> None:
    if connection.get_server_version()[0] < OLDEST_SERVER:
        raise Refused(f"{place.label}: Quire needs PostgreSQL {OLDEST_SERVER} or later.")
    encoding = await connection.fetchval("SHOW server_encoding")
    if encoding != "UTF8":
        raise Refused(f"{place.label}: the database's encoding is {encoding}. Create one with ENCODING 'UTF8'.")


async def _version(connection: PostgresConnection, place: DatabaseSchema) -> int:
    """How many steps were taken; 0 when there is nothing yet."""
    if not await connection.fetchval("SELECT to_regclass($1) IS NOT NULL", f'"{place.schema}".quire_format'):
        return 0
    version: int = await connection.fetchval("SELECT coalesce(max(version), 0) FROM quire_format")
    if version > len(STEPS):
        raise Refused(
            f"{place.label}: schema {place.schema} was written by a newer Quire (format {version}; this one knows "
            f"{len(STEPS)}). Upgrade Quire to open it."
        )
    return version


async def _migrate(connection: PostgresConnection, place: DatabaseSchema) -> None:
    # Not IF NOT EXISTS: that asks for the right to create schemas even when a DBA has made them already.
    for schema in (place.schema, place.views):
        if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", schema):
            await connection.execute(f'CREATE SCHEMA "{schema}"')
    await connection.execute("CREATE TABLE IF NOT EXISTS quire_format (version integer NOT NULL)")
    await connection.execute("LOCK TABLE quire_format IN ACCESS EXCLUSIVE MODE")
    version = await _version(connection, place)
    for number, step in enumerate(STEPS[version:], version + 1):
        await connection.execute(step.replace(" text", f" {_TEXT}"), timeout=STEP_SECONDS)
        await connection.execute("DELETE FROM quire_format")
        await connection.execute("INSERT INTO quire_format VALUES ($1)", number)
    if version < len(STEPS):
        await make_index(connection, place)


async def _explain(error: Exception, connection: PostgresConnection, place: DatabaseSchema) -> Exception:
    if sqlstate(error) in _RACES:
        return Unavailable(
            f"{place.label}: schema {place.schema} holds tables of another program. Nothing was changed; name another schema."
        )
    if sqlstate(error) != "42501":
        return explain(error, place.label, "Nothing was changed.")
    user = await connection.fetchval("SELECT quote_ident(current_user)")
    return Refused(
        f"{place.label}: {user} may not create schemas there. Let a DBA run: "
        f'CREATE SCHEMA "{place.schema}" AUTHORIZATION {user}; CREATE SCHEMA "{place.views}" AUTHORIZATION {user};'
    )
