"""Asking PostgreSQL a question that can change nothing and see nothing else.

Rights are what holds: the question is asked on a connection of its own, signed in as a role
that may read the views and nothing more. SET ROLE or a read-only transaction on the owner's
connection would not do, since `set_config` inside a SELECT undoes them. On top of that, the
transaction is read-only and always rolled back, the question is one SELECT (the server's own
grammar sees to it: only that can become a cursor), and a time limit stops it.
"""

from __future__ import annotations

import asyncio
import base64
import datetime
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

from ...core.errors import BadInput, QuireError, Refused, Unavailable
from ..store import Table
from .schema import VIEWS
from .server_connection import (
    FAULTS,
    DatabaseSchema,
    Links,
    PostgresConnection,
    driver,
    explain,
    milliseconds,
    sign_in,
    sqlstate,
)

AT_ONCE = 16
"""How many questions are answered at once; each takes a connection."""
GONE_SECONDS = 1.0
"""How often the server looks, while it works on a question, whether whoever asked is still there."""
GRACE_SECONDS = 5.0
"""How much later than the server's time limit we stop waiting ourselves."""

_NO_PYTHON = (ValueError, ArithmeticError, driver.UnsupportedClientFeatureError, driver.InternalClientError)
"""What asyncpg raises for values and types that Python has no equal of: a date in the year 20000, say."""

_CHECK = """
SELECT set_config('statement_timeout', $1, true), rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication
    OR rolbypassrls OR has_schema_privilege(oid, $2, 'USAGE') OR has_database_privilege(oid, current_database(), 'CREATE')
    OR EXISTS (SELECT FROM pg_auth_members WHERE member = pg_roles.oid)
FROM pg_roles WHERE rolname = session_user
"""


class Asker:
    """Answers questions as the reading role, which it makes when it is first needed."""

    def __init__(self, place: DatabaseSchema, owner: Links, reader_url: str | None = None) -> None:
        self._place = place
        self._owner = owner
        self._url = reader_url
        self._sign_in: tuple[str, str] | None = None
        self._free = asyncio.Semaphore(AT_ONCE)

    async def ask(self, sql: str, *, limit: int, seconds: float) -> Table:
        """Answer `sql`, with at most `limit` rows."""
        if re.search("[\0\ud800-\udfff]", sql):
            raise BadInput("The query holds a NUL character or half a surrogate pair: no text that PostgreSQL reads.")
        async with self._free:
            connection = await self._connect()
            try:
                async with asyncio.timeout(seconds + GRACE_SECONDS):
                    return await self._answer(connection, sql, limit, seconds)
            except TimeoutError as error:
                raise _too_long(seconds) from error
            except (*FAULTS, *_NO_PYTHON) as error:
                raise _explain(error, self._place, seconds) from error
            finally:
                connection.terminate()  # ends the transaction, too

    async def _answer(self, connection: PostgresConnection, sql: str, limit: int, seconds: float) -> Table:
        await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        _, mighty = await connection.fetchrow(_CHECK, milliseconds(seconds), self._place.schema)
        if mighty:
            raise Refused(
                f"{self._place.label}: the role for queries may do more than read the views, so nothing was asked. "
                "Take away its attributes, memberships and other rights, or let QUIRE_READER_URL name another."
            )
        question = await connection.prepare(sql)  # says what is wrong with it, in its own terms
        if question.get_parameters():
            raise BadInput("The query has parameters ($1 …), and nobody fills them. Write the values instead.")
        try:
            # `fetch`, for it takes one statement; `execute` would take several.
            await connection.fetch(f"DECLARE answer NO SCROLL CURSOR FOR {sql}")
        except FAULTS as error:
            if sqlstate(error) in ("42601", "0A000", "42P11"):
                raise Refused(f"`quire sql` only reads: ask with SELECT, from the views {', '.join(VIEWS)}.") from error
            raise
        rows = await connection.prepare(f"FETCH {int(limit) + 1} FROM answer")
        columns = tuple(attribute.name for attribute in rows.get_attributes())
        found = [tuple(map(_plain, row)) for row in await rows.fetch()]
        return Table(columns, tuple(found[:limit]), truncated=len(found) > limit)

    # ---- Signing in

    async def _connect(self) -> PostgresConnection:
        if self._url is not None:
            return await self._open(self._url)
        if self._sign_in is None:
            self._sign_in = await self._owner.run(lambda db: make_reader(db, self._place))
        try:
            return await self._open(self._place.url, *self._sign_in)
        except Refused:
            # The password was changed, here or by another server: once more with the one that holds now.
            old, self._sign_in = self._sign_in, None
            self._sign_in = await self._owner.run(lambda db: make_reader(db, self._place, unfit=old))
            return await self._open(self._place.url, *self._sign_in)

    async def _open(self, url: str, role: str | None = None, password: str | None = None) -> PostgresConnection:
        settings = {
            "application_name": "quire sql",
            "search_path": f'"{self._place.views}"',
            "default_transaction_read_only": "on",
            "client_connection_check_interval": milliseconds(GONE_SECONDS),
        }
        other = {"user": role, "password": password} if role and password else {}
        try:
            return await sign_in(url, settings, **other)
        except FAULTS as error:
            if sqlstate(error).startswith("28"):
                raise Refused(
                    f"{self._place.label}: the role for queries{f' ({role})' if role else ''} is not let in. Let "
                    "pg_hba.conf allow it to sign in with its password, or name another with QUIRE_READER_URL."
                ) from error
            raise explain(error, self._place.label) from error


# ---- The reading role


async def make_reader(
    connection: PostgresConnection, place: DatabaseSchema, unfit: tuple[str, str] | None = None
) -> tuple[str, str]:
    """Return the reading role and its password, making it if need be. `unfit`: what could not sign in."""
    role = await reader_role(connection, place)
    password = await _password(connection, place, role)
    if password is not None and (role, password) != unfit:
        return role, password
    async with connection.transaction():
        await connection.execute("LOCK TABLE reader IN EXCLUSIVE MODE")  # several servers may be at this
        password = await _password(connection, place, role)  # one of them was first, perhaps
        if password is None or (role, password) == unfit:
            password = secrets.token_urlsafe(32)
            try:
                async with connection.transaction():
                    await _make_role(connection, place, role, password)
            except FAULTS as error:
                raise await _ask_dba(error, connection, place, role) from error
    return role, password


async def _password(connection: PostgresConnection, place: DatabaseSchema, role: str) -> str | None:
    """The password of a role that is there and may read every view."""
    return await connection.fetchval(
        "SELECT password FROM reader JOIN pg_roles ON rolname = role WHERE role = $1::text"
        " AND has_schema_privilege(pg_roles.oid, $2::text, 'USAGE') AND (SELECT bool_and(has_table_privilege("
        "pg_roles.oid, view.oid, 'SELECT')) FROM pg_class view WHERE relnamespace = $2::text::regnamespace AND relkind = 'v')",
        role,
        place.views,
    )


async def reader_role(connection: PostgresConnection, place: DatabaseSchema) -> str:
    """The name of the reading role. Roles belong to the whole server, so it tells databases and schemas apart."""
    database = await connection.fetchval("SELECT current_database()")
    return "quire_reader_" + hashlib.sha256(f"{database}/{place.schema}".encode()).hexdigest()[:16]


async def _make_role(connection: PostgresConnection, place: DatabaseSchema, role: str, password: str) -> None:
    there = await connection.fetchval("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", role)
    await connection.execute(f"{'ALTER' if there else 'CREATE'} ROLE {role} LOGIN PASSWORD '{_verifier(password)}'")
    if not await connection.fetchval("SELECT has_database_privilege($1::name, current_database(), 'CONNECT')", role):
        database = await connection.fetchval("SELECT quote_ident(current_database())")
        await connection.execute(f"GRANT CONNECT ON DATABASE {database} TO {role}")
    for grant in _grants(place, role):
        await connection.execute(grant)
    await connection.execute(
        "INSERT INTO reader VALUES ($1, $2) ON CONFLICT (role) DO UPDATE SET password = excluded.password",
        role,
        password,
    )


def _verifier(password: str) -> str:
    """The password as PostgreSQL keeps it (RFC 5803), so that it does not appear in the server's log."""
    salt, rounds = os.urandom(16), 4096
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, rounds)
    client, server = (hmac.digest(salted, text, "sha256") for text in (b"Client Key", b"Server Key"))
    parts = [base64.b64encode(each).decode() for each in (salt, hashlib.sha256(client).digest(), server)]
    return f"SCRAM-SHA-256${rounds}:{parts[0]}${parts[1]}:{parts[2]}"


def _grants(place: DatabaseSchema, role: str) -> list[str]:
    return [
        f'GRANT USAGE ON SCHEMA "{place.views}" TO {role}',
        f'GRANT SELECT ON ALL TABLES IN SCHEMA "{place.views}" TO {role}',
        # The views are made anew with a new version of the index.
        f'ALTER DEFAULT PRIVILEGES IN SCHEMA "{place.views}" GRANT SELECT ON TABLES TO {role}',
    ]


async def _ask_dba(error: Exception, connection: PostgresConnection, place: DatabaseSchema, role: str) -> QuireError:
    if sqlstate(error) != "42501":
        return explain(error, place.label)
    owner, database = await connection.fetchrow("SELECT quote_ident(current_user), quote_ident(current_database())")
    statements = [
        f"CREATE ROLE {role} LOGIN PASSWORD '<password>'",
        f"GRANT CONNECT ON DATABASE {database} TO {role}",
        *(each.replace("PRIVILEGES", f"PRIVILEGES FOR ROLE {owner}") for each in _grants(place, role)),
    ]
    return Refused(
        f"{place.label}: queries run as a role that can only read, and {owner} may not create one. Let a DBA run: "
        f"{'; '.join(statements)}; and set QUIRE_READER_URL to the same URL with {role} and its password."
    )


# ---- Answers


def _plain(value: Any) -> Any:
    """A value as JSON can carry it."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Decimal():
            exponent = value.as_tuple().exponent
            return int(value) if isinstance(exponent, int) and exponent >= 0 else float(value)
        case datetime.date() | datetime.time():
            return value.isoformat()
        case bytes():
            return "\\x" + value.hex()
        case list() | tuple():
            return [_plain(each) for each in cast("list[Any]", value)]
        case Mapping():
            return {str(key): _plain(each) for key, each in cast("Mapping[Any, Any]", value).items()}
        case _ if hasattr(value, "items"):  # a row as a value: asyncpg's Record is no Mapping
            return {key: _plain(each) for key, each in value.items()}
        case _:
            return str(value)


def _too_long(seconds: float) -> QuireError:
    return Unavailable(f"The query took longer than {seconds:g} s and was stopped. Ask for less, or raise --timeout.")


def _explain(error: Exception, place: DatabaseSchema, seconds: float) -> Exception:
    state, told = sqlstate(error), str(getattr(error, "message", None) or error)
    if state == "57014":
        return _too_long(seconds)
    if state in ("42501", "25006"):
        return Refused(f"`quire sql` only reads, and only the views {', '.join(VIEWS)} ({told}).")
    if state == "42601" and getattr(error, "server_source_function", None) == "exec_parse_message":
        return BadInput("`quire sql` takes one statement. Ask them one after the other.")
    if isinstance(error, _NO_PYTHON):
        return BadInput("The answer holds a value that cannot be shown as it is. Cast it to text: column::text.")
    if not state or state.startswith(("08", "53", "57", "58", "55P03")):
        return explain(error, place.label)
    return BadInput(
        f"The query cannot be answered: {told}. The views are {', '.join(VIEWS)}; see docs/reference/sql.md."
    )
