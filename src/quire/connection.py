"""From an address to a workspace: the one module that knows every store.

A folder (the embedded default: SQLite and a folder of blobs under `.quire/`), `postgresql://…`, or
`https://…`, where a server has the store. `QUIRE_URL` and `--at` take the same. Single files at other addresses, such
as `s3://…`, are opened here, too: their client is the stores' business.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from .core.errors import BadInput, NotFound, QuireError, Refused
from .workspace.identity import identities
from .workspace.identity.identities import Identity
from .workspace.local import LocalWorkspace
from .workspace.protocol import Workspace

if TYPE_CHECKING:
    from .stores.remote_file import RemoteFile
    from .stores.sqlite.integrity_check import Checkup
    from .workspace.protocol import HeldClaim

FOLDER = ".quire"
DATABASE = "quire.db"


def find_folder(start: Path) -> Path | None:
    """The nearest `.quire/`, from `start` upwards."""
    for folder in (start, *start.parents):
        if (folder / FOLDER).is_dir():
            return folder / FOLDER
    return None


def new_folder(start: Path) -> Path:
    """Where a `.quire/` would be made: beside `.git` or `pyproject.toml`, else here."""
    for folder in (start, *start.parents):
        if (folder / ".git").exists() or (folder / "pyproject.toml").exists():
            return folder / FOLDER
    return start / FOLDER


def make_folder(folder: Path) -> Path:
    """Make a `.quire/` that git leaves alone and other users cannot read: outputs hold what they hold."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("# Logs and blobs of Quire; not source.\n*\n")
    return folder


class ConnectTimeouts(msgspec.Struct, frozen=True, kw_only=True):
    """How long a database or a server that is not there yet is waited for, and who is told: also when it is away later."""

    seconds: float = 0
    tell: Callable[[str], None] = lambda message: None
    away_seconds: float | None = None
    """How long a request waits for a database that is away; None: as long as usual."""


NONE = ConnectTimeouts()


async def connect(
    url: str | os.PathLike[str] | None = None, identity: Identity | None = None, patience: ConnectTimeouts = NONE
) -> Workspace:
    """Open the workspace at `url`: a folder, or the address of a database or of a server.

    Without `url`: QUIRE_URL, else the nearest `.quire/` upwards, else a new one. The actor
    is the bearer of QUIRE_TOKEN, else the user of the operating system.
    """
    where = _where(url)
    if _scheme(where) in ("http", "https"):
        return await _open_server(where, identity, patience)
    return await connect_store(where, identity, patience=patience)


async def connect_store(
    url: str | os.PathLike[str] | None = None,
    identity: Identity | None = None,
    grace_seconds: float = 0,
    patience: ConnectTimeouts = NONE,
) -> LocalWorkspace:
    """The same for a store that this process opens itself: for a server, for one, which gives silent claims a grace."""
    workspace = await _open_store(_where(url), identity, patience)
    secret = os.environ.get("QUIRE_TOKEN")
    try:
        # What lost its lease is ended by the next who looks; a log that nobody can write tells what it tells.
        with contextlib.suppress(QuireError):
            await _end_lost(workspace.acting_as(identities.system()), grace_seconds)
        return workspace if secret is None or identity is not None else await workspace.bearer(secret)
    except BaseException:
        await workspace.close()
        raise


def memory_workspace() -> LocalWorkspace:
    """A workspace of this process that forgets, for work that needs no record."""
    from .stores.blobs.memory_blobs import MemoryBlobs
    from .stores.memory_store import MemoryStore

    return LocalWorkspace(MemoryStore(), MemoryBlobs(), identities.owner())


async def _end_lost(system: LocalWorkspace, grace_seconds: float) -> None:
    """End what was claimed by a process that is gone. Mostly nothing is claimed, and what ends it is not loaded."""
    if await system.claims():
        from .actors.keeper import end_lost

        await end_lost(system, grace_seconds, kernel_is_left)


def kernel_is_left(held: HeldClaim) -> bool:
    """Whether the kernel of what was claimed may live on this machine, so that another process can go on with it."""
    from .kernels.process.connection_dir import is_kept

    return is_kept(held.log, held.claim.runtime)


def _where(url: str | os.PathLike[str] | None) -> str:
    return os.fspath(url) if url is not None else os.environ.get("QUIRE_URL", "")


def _scheme(where: str) -> str:
    return where.partition("://")[0].lower() if "://" in where else ""


async def _open_server(url: str, identity: Identity | None, patience: ConnectTimeouts) -> Workspace:
    secret = os.environ.get("QUIRE_TOKEN")
    if identity is not None:
        raise BadInput("Who somebody is at a server is what their token says. Set QUIRE_TOKEN, and give no identity.")
    if secret is None:
        made = "quire token new --actor NAME --kind human --scope read,edit,run"
        told = "A server takes nobody without a token, and QUIRE_TOKEN is not set"
        raise Refused(f"{told}. Whoever runs it makes one (`{made}`); then `export QUIRE_TOKEN=…`.")
    try:
        from .workspace.remote.remote_workspace import RemoteWorkspace
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("httpx", "websockets"):
            raise
        raise BadInput(
            f"{missing.name} is not installed, so no server can be asked: pip install 'quire[remote]'."
        ) from missing
    return await RemoteWorkspace.open(
        url, secret, allow_http=_allows_http(os.environ), wait_seconds=patience.seconds, tell=patience.tell
    )


async def _open_store(where: str, identity: Identity | None, patience: ConnectTimeouts) -> LocalWorkspace:
    scheme = _scheme(where)
    if scheme in ("postgresql", "postgres"):
        return await _open_postgres(where, identity, patience)
    if scheme in ("http", "https"):
        raise BadInput("This needs the store itself, and a server has that. Give a folder or postgresql://….")
    if scheme:
        raise BadInput(f"{scheme}:// is not an address of a workspace: give a folder, postgresql://… or https://….")
    return _open_folder(where, identity)


def _open_folder(where: str, identity: Identity | None) -> LocalWorkspace:
    from .stores.blobs.folder_blobs import FolderBlobs
    from .stores.sqlite.sqlite_store import SqliteStore

    here = Path(where).absolute() if where else Path.cwd()
    if not here.is_dir():
        raise NotFound(f"{here} is not a folder. Make it first, or give another address.")
    if here.name == FOLDER:
        folder = here
    elif where:
        folder = here / FOLDER
    else:
        folder = find_folder(here) or new_folder(here)
    make_folder(folder)
    store, blobs = SqliteStore(folder / DATABASE), FolderBlobs(folder / "blobs")
    return LocalWorkspace(store, blobs, identity or identities.owner(), where=str(folder), folder=folder.parent)


async def _open_postgres(url: str, identity: Identity | None, patience: ConnectTimeouts) -> LocalWorkspace:
    from .stores.blobs.blobs import open_blobs

    try:
        from .stores.postgres.postgres_store import PostgresStore
    except ModuleNotFoundError as missing:
        raise BadInput(
            f"{missing.name} is not installed, so PostgreSQL cannot be used: pip install 'quire[postgres]'."
        ) from missing
    where = os.environ.get("QUIRE_BLOBS")
    blobs = open_blobs(where if where is not None else make_folder(new_folder(Path.cwd())) / "blobs")
    times: Any = {} if patience.away_seconds is None else {"away_seconds": patience.away_seconds}
    reader = os.environ.get("QUIRE_READER_URL")
    store = await PostgresStore.open(url, reader_url=reader, wait_seconds=patience.seconds, tell=patience.tell, **times)
    here = Path.cwd()
    folder = (find_folder(here) or new_folder(here)).parent
    return LocalWorkspace(store, blobs, identity or identities.owner(), where=url, folder=folder)


def check_store(folder: Path, before: str = "") -> Checkup | None:
    """Look at the store in a `.quire/` without opening it; None when there is none yet. `before`: when runs are old."""
    from .stores.sqlite.integrity_check import check_store

    path = folder / DATABASE
    return check_store(path, before) if path.exists() and path.stat().st_size else None


# ---- Files at other addresses


def remote_file(url: str, environ: Mapping[str, str]) -> RemoteFile:
    """Open a file at an address: `s3://bucket/name`, also `gs://`, `az://` and `https://`."""
    try:
        from .stores.remote_file import RemoteFile
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "obstore":
            raise
        scheme = url.partition("://")[0]
        raise BadInput(f"{scheme}:// needs the package obstore. Try pip install 'quire[remote]'.") from missing
    return RemoteFile(url, allow_http=_allows_http(environ))


def _allows_http(environ: Mapping[str, str]) -> bool:
    return environ.get("QUIRE_ALLOW_HTTP", "").lower() in ("1", "true", "yes")


def shown_address(url: str) -> str:
    """Return an address without what may be secret in it."""
    from .stores.addresses import shown

    return shown(url)
