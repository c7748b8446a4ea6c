"""Which workspace a server is for, where its files are, and that there is one server for it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from .... import __version__
from ....actors.keeper import SERVER_GRACE_SECONDS
from ....connection import FOLDER, ConnectTimeouts, connect_store, find_folder, make_folder, new_folder, shown_address
from ....core.errors import BadInput, Conflict, NotFound, Refused, Unavailable
from ....core.hosts import is_loopback
from ....workspace import clock, server_file
from ....workspace.identity import identities
from ....workspace.local import LocalWorkspace
from ....workspace.log.leases import LEASE_SECONDS
from ....workspace.log.lock_renewal import KeptHold
from ....workspace.log.locks import Hold
from ....workspace.log.process_id import process_of, this_process
from ....workspace.server_file import Whereabouts
from ...http.server.ports import in_url, is_everywhere, names_of_this_machine

if TYPE_CHECKING:
    from ...http.server.server import ServerEnding
    from ...http.server_settings import ServerSettings
    from ..settings import ServeSettings, Settings

AGAIN_SECONDS = 0.5
"""How often a database that is away at the start is asked again."""
TAKE_OVER_SECONDS = 30.0
"""How long the other server has to end."""


class ServerWorkspace(msgspec.Struct, frozen=True, kw_only=True):
    """A workspace, and the folder of this machine that belongs to it."""

    where: str
    """What `connect` takes."""
    home: Path
    """The folder that paths of files are relative to."""
    is_embedded: bool
    """Whether the store is in that folder: then one server is enough for it."""

    @property
    def state(self) -> Path:
        """The `.quire/` in which a server keeps its own things."""
        return self.home / FOLDER

    @property
    def shown(self) -> str:
        """How it is called, without what may be secret."""
        return str(self.home) if self.is_embedded else shown_address(self.where)


def place_of(at: str | None, *, make: bool = True) -> ServerWorkspace:
    """The workspace at a folder or an address; without one, the nearest `.quire/`, or a new one."""
    given = at or os.environ.get("QUIRE_URL", "")
    if "://" in given:
        if given.partition("://")[0] in ("http", "https"):
            raise BadInput(f"{shown_address(given)} is a server already. Name a folder, or postgresql://….")
        home = _home("")
        place = ServerWorkspace(where=given, home=home, is_embedded=False)
    else:
        home = _home(given)
        place = ServerWorkspace(where=str(home), home=home, is_embedded=True)
    if make:
        make_folder(place.state)
    return place


def _home(given: str) -> Path:
    here = Path(given).absolute() if given else Path.cwd()
    if given:
        if not here.is_dir():
            raise NotFound(f"{here} is not a folder. Make it first, or name another.")
        return here.parent if here.name == FOLDER else here
    return (find_folder(here) or new_folder(here)).parent


async def opened(place: ServerWorkspace, patience: ConnectTimeouts) -> LocalWorkspace:
    """The workspace, for whoever owns its files."""
    workspace = await connect_store(place.where, identities.owner(), SERVER_GRACE_SECONDS, patience)
    try:
        if secret := os.environ.get("QUIRE_TOKEN"):
            identity = (await workspace.bearer(secret)).identity
            if "admin" not in identity.scopes:
                told = f"QUIRE_TOKEN is a token of {identity.actor}, who may not administer this workspace."
                raise Refused(f"{told} Unset it, or set one with the scope 'admin'.")
    except BaseException:
        await workspace.close()
        raise
    return workspace


# ---- One server for a folder


@asynccontextmanager
async def only_one(
    workspace: LocalWorkspace,
    place: ServerWorkspace,
    ending: ServerEnding,
    tell: Callable[[str], None],
    *,
    take_over: bool,
    wait_seconds: float = 0,
    lease_seconds: float = LEASE_SECONDS,
) -> AsyncGenerator[Whereabouts | None]:
    """Be the server of the folder. Gives what the one before left, if it was killed or its place was taken.

    A database that goes away in this moment is waited for, `wait_seconds` at most.
    """
    from ...background_task import keep_running

    former = server_file.read(place.state)
    name = _hold_name(place)
    hold = await _held(workspace, name, lease_seconds, 0 if place.is_embedded else wait_seconds)
    if hold is None:
        if not take_over:
            raise Conflict(_told(place, former))
        hold = await _taken_over(workspace, name, place, former)

    def lost(other: str) -> None:
        tell(f"This process stood still for so long that another server took its place: {_name_of(place, other)}")
        ending.ask(3)

    kept = KeptHold(workspace, name, hold, lease_seconds)
    try:
        async with keep_running("Holding", lambda: kept.keep(lost), tell):
            yield former
    finally:
        await kept.let_go()


async def _held(workspace: LocalWorkspace, name: str, lease_seconds: float, wait_seconds: float) -> Hold | None:
    ends = asyncio.get_running_loop().time() + wait_seconds
    while True:
        try:
            return await workspace.hold(name, lease_seconds)
        except Unavailable:
            if asyncio.get_running_loop().time() >= ends:
                raise
        await asyncio.sleep(AGAIN_SECONDS)


def _name_of(place: ServerWorkspace, holder: str) -> str:
    """Who has the place of this server, as precisely as can be said."""
    known = server_file.read(place.state)
    if known is not None and holder.endswith(known.process):
        return f"{known.url} (process {known.pid})"
    process = process_of(holder)
    return f"process {process}" if process is not None else holder


def _hold_name(place: ServerWorkspace) -> str:
    if place.is_embedded:
        return "server"
    # Several servers may work on one database; each has a folder of its own.
    machine = this_process().split("-")[1]
    return f"server:{sha256(f'{machine} {place.home}'.encode()).hexdigest()[:16]}"


def _told(place: ServerWorkspace, former: Whereabouts | None) -> str:
    known = f" at {former.url} (process {former.pid})" if former is not None and not former.is_gone else ""
    told = f"{place.shown} is served already{known}."
    return f"{told} `quire open` opens it; `quire serve --take-over` ends that server and takes its place."


async def _taken_over(workspace: LocalWorkspace, name: str, place: ServerWorkspace, former: Whereabouts | None) -> Hold:
    """Ask the other server to end, and wait until it has."""
    if former is None or not former.is_here:
        told = f"{place.shown} is served by a process that is not on this machine, or does not say where it is."
        raise Conflict(f"{told} End it there.")
    if not former.is_gone:
        with contextlib.suppress(ProcessLookupError):
            os.kill(former.pid, signal.SIGTERM)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(TAKE_OVER_SECONDS):
            while (hold := await workspace.hold(name, LEASE_SECONDS)) is None:  # noqa: ASYNC110 - of another process
                await asyncio.sleep(0.05)
            return hold
    raise Conflict(f"The server (process {former.pid}) does not end. Look at it: `ps {former.pid}`; then try again.")


# ---- Where it is


def told_of(serve: ServeSettings, port: int) -> Whereabouts:
    """Where this server is."""
    host = names_of_this_machine()[0] if is_everywhere(serve.host) else serve.host
    local = ("[::1]" if ":" in serve.host else "127.0.0.1") if is_everywhere(serve.host) else in_url(serve.host)
    return Whereabouts(
        url=_checked(serve.public_url) if serve.public_url is not None else f"http://{in_url(host)}:{port}",
        address=f"http://{local}:{port}",
        port=port,
        pid=os.getpid(),
        process=this_process(),
        version=__version__,
        started_at=clock.now(),
    )


def door_settings(settings: Settings) -> ServerSettings:
    """What the door believes: the names under which it was said to be, and a proxy on this machine if one was named."""
    serve, door = settings.serve, settings.door
    hosts = list(door.hosts)
    if not is_loopback(serve.host):
        hosts += names_of_this_machine() if is_everywhere(serve.host) else [in_url(serve.host)]
    origins, proxies = list(door.origins), door.proxies
    if serve.public_url is not None:
        url = urlsplit(_checked(serve.public_url))
        hosts.append(in_url(url.hostname or ""))
        origins.append(f"{url.scheme}://{url.netloc}")
        proxies = proxies or ("127.0.0.1", "::1")
    return msgspec.structs.replace(
        door, hosts=tuple(dict.fromkeys(hosts)), origins=tuple(dict.fromkeys(origins)), proxies=proxies
    )


def _checked(url: str) -> str:
    found = urlsplit(url)
    if found.scheme not in ("http", "https") or not found.hostname or found.path not in ("", "/") or found.query:
        raise BadInput(f"{url!r} is not what people can open: write scheme and host, as in https://quire.example.org.")
    return f"{found.scheme}://{found.netloc}"
