"""Reaching a PostgreSQL server, and saying what its faults mean.

The one module that knows asyncpg's types (it has none), its errors and PostgreSQL's error
codes. A message never shows a password: not ours, not one that a typo put elsewhere in the
URL, and not the values of a statement.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast
from urllib.parse import parse_qs, urlsplit

import asyncpg  # pyright: ignore[reportMissingTypeStubs]
import msgspec

from ...core.errors import BadInput, QuireError, Refused, Unavailable

if TYPE_CHECKING:
    from .reachability import Reach

CONNECT_SECONDS = 10.0
COMMAND_SECONDS = 60.0
"""A server that answers nothing for so long is gone, whatever the network says."""
LOCK_SECONDS = 30.0
IDLE_SECONDS = 10.0
"""How long a transaction may do nothing: a frozen process must not keep the others from writing."""
KEEP_SECONDS = 30.0
"""A connection that was idle for longer may be dead without our knowing: routers forget those that say nothing."""
CLOSE_SECONDS = 5.0
READERS = 4
PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 1.6)
"""Seconds between attempts to reach a server that was there before: it may be restarting."""

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_HOST = re.compile(r"[A-Za-z0-9_.,:\[\]-]+|/[^@]*")
_DATABASE = re.compile(r"[A-Za-z0-9_. -]*")

T = TypeVar("T")
driver = cast("Any", asyncpg)
FAULTS: tuple[type[Exception], ...] = (
    OSError,  # TimeoutError too
    EOFError,
    driver.PostgresError,
    driver.InterfaceError,
    driver.InternalClientError,
)
"""Whatever asyncpg raises when something is wrong with the server, the way to it, or a statement."""


class Statement(Protocol):
    """What we use of asyncpg's prepared statement; asyncpg documents it."""

    def get_parameters(self) -> Sequence[Any]: ...  # noqa: D102
    def get_attributes(self) -> Sequence[Any]: ...  # noqa: D102
    async def fetch(self, *values: Any) -> list[Any]: ...  # noqa: D102


class PostgresConnection(Protocol):
    """What we use of asyncpg's connection; asyncpg documents it."""

    async def execute(self, sql: str, *values: Any, timeout: float | None = None) -> str: ...  # noqa: ASYNC109, D102
    async def fetch(self, sql: str, *values: Any) -> list[Any]: ...  # noqa: D102
    async def fetchrow(self, sql: str, *values: Any) -> Any: ...  # noqa: D102
    async def fetchval(self, sql: str, *values: Any) -> Any: ...  # noqa: D102
    async def prepare(self, sql: str) -> Statement: ...  # noqa: D102
    async def add_listener(self, channel: str, callback: Callable[..., None]) -> None: ...  # noqa: D102
    async def remove_listener(self, channel: str, callback: Callable[..., None]) -> None: ...  # noqa: D102
    def add_termination_listener(self, callback: Callable[..., None]) -> None: ...  # noqa: D102
    def transaction(self) -> AbstractAsyncContextManager[Any]: ...  # noqa: D102
    def get_server_pid(self) -> int: ...  # noqa: D102
    def get_server_version(self) -> tuple[int, ...]: ...  # noqa: D102
    def is_closed(self) -> bool: ...  # noqa: D102
    def terminate(self) -> None: ...  # noqa: D102
    async def close(self, *, timeout: float) -> None: ...  # noqa: ASYNC109, D102


class DatabaseSchema(msgspec.Struct, frozen=True):
    """A schema of a database: where one workspace lives."""

    url: str
    schema: str
    label: str
    """The URL as messages may show it."""

    @classmethod
    def parse(cls, url: str, schema: str) -> DatabaseSchema:
        """Check what was given, as far as that goes without asking the server."""
        if not _SCHEMA.fullmatch(schema):
            raise BadInput(f"Schema {schema!r} is not valid: 1 to 40 lower-case letters, digits and _ are allowed.")
        return cls(url, schema, _label(url))

    @property
    def views(self) -> str:
        """The schema of what a query can see."""
        return f"{self.schema}_views"

    @property
    def channel(self) -> str:
        """Where commits are announced."""
        return f"{self.schema}_grown"

    def lanes_channel(self, topic: str | None) -> str:
        """Where processes tell each other what is said on lanes, about everything or about a topic alone."""
        return f"{self.schema}_lanes" if topic is None else f"{self.schema}_l_{sha256(topic.encode()).hexdigest()[:16]}"


def _label(url: str) -> str:
    """The URL without user and password; nothing of it when a password may stand in the wrong place."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2] or (parse_qs(parts.query).get("host") or ["localhost"])[0]
    database = parts.path.lstrip("/")
    misplaced = "@" in parts.path + parts.query + parts.fragment
    if misplaced or not _HOST.fullmatch(host) or not _DATABASE.fullmatch(database):
        return "The PostgreSQL server"
    return f"postgresql:///{database}?host={host}" if host.startswith("/") else f"postgresql://{host}/{database}"


# ---- Connecting


async def connect(place: DatabaseSchema, *, pauses: Sequence[float] = ()) -> PostgresConnection:
    """Open a connection as the owner. Waits for a server that is not ready while there are pauses."""
    for pause in (*pauses, None):
        try:
            return await _connect(place)
        except FAULTS as error:
            if pause is None or not is_passing(error):
                raise
        await asyncio.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


async def _connect(place: DatabaseSchema) -> PostgresConnection:
    connection = await sign_in(place.url, owner_settings(place))
    try:
        await make_durable(connection)
    except BaseException:  # cancelled, too: nobody else knows of this connection yet
        connection.terminate()
        raise
    return connection


async def sign_in(url: str, settings: Mapping[str, str], **other: str) -> PostgresConnection:
    """Open a connection; `other` may name another user and password than the URL."""
    try:
        return await driver.connect(
            url,
            timeout=CONNECT_SECONDS,
            command_timeout=COMMAND_SECONDS,
            server_settings=dict(settings),
            **other,
        )
    except ValueError:
        # What asyncpg says of a URL may quote from it, the password too.
        raise BadInput(
            "The URL of the PostgreSQL server cannot be read. Write postgresql://user:password@host:5432/database, "
            "with special characters of the password percent-encoded (@ as %40, / as %2F)."
        ) from None


def owner_settings(place: DatabaseSchema) -> dict[str, str]:
    """How every connection of the owner behaves."""
    return {
        "application_name": "quire",
        "search_path": f'"{place.schema}"',
        "default_transaction_isolation": "read committed",
        "lock_timeout": milliseconds(LOCK_SECONDS),
        "idle_in_transaction_session_timeout": milliseconds(IDLE_SECONDS),
        # All statements go by an index, whatever the values. So plan once; and a plan that was made while
        # a table was small must not scan it once it is big.
        "plan_cache_mode": "force_generic_plan",
        "enable_seqscan": "off",
        "jit": "off",
    }


def milliseconds(seconds: float) -> str:
    """A time limit as PostgreSQL's settings want it; never 0, which would be none at all."""
    return str(max(1, int(seconds * 1000)))


async def make_durable(connection: PostgresConnection) -> None:
    """See to it that a commit is on disk when it is acknowledged, however the server is configured."""
    await connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false)"
        " WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')"
    )


async def hang_up(connection: PostgresConnection | None) -> None:
    """Close a connection, by force when that takes long."""
    if connection is not None and not connection.is_closed():
        with contextlib.suppress(*FAULTS):
            await connection.close(timeout=CLOSE_SECONDS)


class Links:
    """A few connections that whoever needs one takes in turn."""

    def __init__(self, place: DatabaseSchema, pool: Any, reach: Reach) -> None:
        self._place = place
        self._pool = pool
        self._reach = reach
        self._closed = False

    @classmethod
    async def open(cls, place: DatabaseSchema, reach: Reach) -> Links:
        """Make ready; connections are opened when there is something to do."""
        pool = await driver.create_pool(
            place.url,
            min_size=0,
            max_size=READERS,
            init=make_durable,
            reset=_keep_as_is,
            max_inactive_connection_lifetime=KEEP_SECONDS,
            timeout=CONNECT_SECONDS,
            command_timeout=COMMAND_SECONDS,
            server_settings=owner_settings(place),
        )
        return cls(place, pool, reach)

    async def run(self, work: Callable[[PostgresConnection], Awaitable[T]], *, repeat: bool = True) -> T:
        """Do `work` on a connection. When that is lost: again on a new one, unless it must not be done twice."""
        attempt = _Attempt()
        try:
            async with self._reach.limited():
                return await self._try(work, attempt, repeat=repeat)
        except TimeoutError as error:  # also while it waited for a connection, which others use
            unsure = attempt.begun and not repeat
            raise explain(error, self._place.label, _UNSURE if unsure else "") from error

    async def _try(self, work: Callable[[PostgresConnection], Awaitable[T]], attempt: _Attempt, *, repeat: bool) -> T:
        for pause in (*self._reach.pauses, None):
            attempt.begun = False
            try:
                async with self._acquire() as connection:
                    attempt.begun = True
                    answer = await work(connection)
            except FAULTS as error:
                unsure = attempt.begun and not repeat and not is_unsent(error)
                if pause is None and is_away(error):
                    self._reach.lost(error)
                if pause is None or self._closed or unsure or not is_passing(error):
                    raise explain(error, self._place.label, _UNSURE if unsure else "") from error
            else:
                self._reach.found()
                return answer
            await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    @asynccontextmanager
    async def _acquire(self) -> AsyncGenerator[PostgresConnection]:
        if self._closed:
            raise Unavailable(f"{self._place.label}: this store was closed.")
        async with self._pool.acquire() as connection:
            try:
                yield connection
            except (TimeoutError, asyncio.CancelledError):
                connection.terminate()  # or the pool would wait until the server has undone it, for ever if it hangs
                raise

    async def close(self) -> None:
        """Let those who read finish, then let go."""
        self._closed = True
        try:
            await asyncio.wait_for(self._pool.close(), CLOSE_SECONDS)
        except FAULTS:
            self._pool.terminate()


class _Attempt:
    """How far something got on the way to the server."""

    begun = False


_UNSURE = "The change may or may not have been made."


async def _keep_as_is(_connection: PostgresConnection) -> None:
    """Tidy up nothing between two users: no statement of ours leaves anything behind in a connection."""


# ---- Faults

_TOLD: dict[str, tuple[str, str]] = {
    "08": ("the connection was lost", "Try again."),
    "25006": ("the server takes no changes (a standby, or set to read-only)", "Point QUIRE_URL at the primary."),
    "25P03": ("the connection was lost: this process did not answer in time", "Try again."),
    "28": ("the server does not let this user in", "Check the user and the password in the URL, and pg_hba.conf."),
    "3D": ("there is no such database", "Create it with createdb, or correct the URL."),
    "53100": ("the server's disk is full", "Make room there and try again."),
    "53200": ("the server is out of memory", "Try again; the server's log says more."),
    "53300": ("the server has no connection left (too many connections)", "Try again, or raise max_connections there."),
    "55P03": (f"another process held the lock for {LOCK_SECONDS:g} s", "Try again."),
    "57014": ("the statement was stopped by the server", "Try again; the server's log says why."),
    "57P01": ("the connection was lost: the server is stopping or restarting", "Try again."),
    "57P02": ("the connection was lost: the server crashed and is recovering", "Try again."),
    "57P03": ("the server is starting up or shutting down", "Try again in a moment."),
    "58": ("the server cannot use its files", "The server's log says more."),
}
"""What an error code, or a class of them, means; and the next step."""


def sqlstate(error: BaseException) -> str:
    """PostgreSQL's code for an error; empty when it did not come from the server."""
    return str(getattr(error, "sqlstate", None) or "")


def is_lost(error: Exception) -> bool:
    """Whether the connection is gone, so that another has to be opened."""
    if isinstance(error, driver.PostgresError):
        return sqlstate(error).startswith(("08", "57P01", "57P02", "57P04", "57P05", "25P03"))
    return isinstance(error, (ConnectionError, EOFError, driver.InterfaceError, driver.InternalClientError))


def is_unsent(error: Exception) -> bool:
    """Whether asyncpg found the connection lost before it sent anything."""
    refused = isinstance(error, driver.InternalClientError) and "cannot switch to state" in str(error)
    return refused or isinstance(error, driver.InterfaceError)


def is_passing(error: Exception) -> bool:
    """Whether it may well be over in a moment."""
    unreachable = isinstance(error, OSError) and not isinstance(error, TimeoutError)
    return unreachable or is_lost(error) or sqlstate(error) in ("57P03", "53300")


def is_away(error: Exception) -> bool:
    """Whether the server itself is not there, or not yet; not just full."""
    return is_passing(error) and sqlstate(error) != "53300"


def is_about_the_data(error: Exception) -> bool:
    """Whether the server minds just what was sent: text it cannot keep, a limit, a duplicate."""
    return sqlstate(error).startswith(("22", "23", "54"))


def explain(error: Exception, label: str, outcome: str = "") -> QuireError:
    """Say what a fault means for whoever waits; `outcome` is what became of the request."""
    if isinstance(error, QuireError):
        return error
    fault, step = _fault(error)
    told = " ".join(filter(None, (f"{label}: {fault}.", outcome, step)))
    if is_about_the_data(error):
        return BadInput(told)
    return Refused(told) if sqlstate(error) == "42501" else Unavailable(told)


def fault_of(error: Exception) -> str:
    """What is wrong, without whose fault it is."""
    return _fault(error)[0]


def _fault(error: Exception) -> tuple[str, str]:
    state = sqlstate(error)
    for code in (state, state[:2]):
        if code in _TOLD:
            return _TOLD[code]
    if is_about_the_data(error):  # the server's own words may quote the data
        return (
            f"PostgreSQL cannot keep this (error {state}: a NUL character, text too long for an index, or a duplicate)",
            "",
        )
    if state:
        return f"{getattr(error, 'message', None) or error} (error {state})", ""
    if isinstance(error, TimeoutError):
        return "the server did not answer in time", "Check that it runs, then try again."
    if isinstance(error, OSError) and not isinstance(error, ConnectionResetError | BrokenPipeError):
        return f"the server cannot be reached ({error})", "Check that it runs and that the URL names it."
    return _TOLD["08"]
