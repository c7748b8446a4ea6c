"""The socket that a server listens on: where, on which port, and who has it if it is taken."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
import sys
from collections.abc import Iterable
from pathlib import Path

from ....core.errors import BadInput, Conflict, Refused, Unavailable
from ....core.hosts import is_loopback

DEFAULT_PORT = 8765
TRIED = 100
"""How many ports after the first are tried."""
_LISTENS = "0A"


def check_public(host: str, *, public: bool) -> None:
    """Refuse to listen where others can come, unless somebody said so."""
    if not public and not is_loopback(host):
        told = f"{host} can be reached from other machines, and whoever has a token can run code here."
        raise Refused(f"{told} Say so: --host {host} --public; or leave --host out, and use a proxy or an SSH tunnel.")


def is_everywhere(host: str) -> bool:
    """Whether it means all addresses of this machine."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    return False


def names_of_this_machine() -> list[str]:
    """By which others may call it."""
    found = dict.fromkeys([socket.gethostname(), socket.getfqdn()])
    with contextlib.suppress(OSError):
        for *_, address in socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM):
            found[in_url(str(address[0]).partition("%")[0])] = None
    return list(found)


def in_url(host: str) -> str:
    """A host as it is written in an address."""
    bare = host.strip("[]")
    return f"[{bare}]" if ":" in bare else bare


def listen(host: str, port: int | None, preferred: Iterable[int] = ()) -> socket.socket:
    """Listen on a port that was asked for, or on the first that is free."""
    if port is not None:
        return _asked_for(host, port)
    for number in (*preferred, *range(DEFAULT_PORT, DEFAULT_PORT + TRIED)):
        if (found := _bound(host, number)) is not None:
            return found
    raise Unavailable(f"The ports {DEFAULT_PORT} to {DEFAULT_PORT + TRIED - 1} are all taken. Name one: --port.")


def _asked_for(host: str, port: int) -> socket.socket:
    found = _bound(host, port)
    if found is not None:
        return found
    whom = holder_of(port)
    by = f" by {whom}" if whom is not None else ""
    raise Conflict(f"Port {port} is taken{by}. Name another, or leave --port out: then the next free one is used.")


def _bound(host: str, port: int) -> socket.socket | None:
    """A socket that listens there; None when somebody else does."""
    bare = host.strip("[]")
    family = socket.AF_INET6 if ":" in bare else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((bare, port))
        opened.listen(2048)
    except OSError as error:
        opened.close()
        if error.errno == errno.EADDRINUSE:
            return None
        if error.errno == errno.EACCES:
            raise Unavailable(f"This user may not listen on port {port}. Name one above 1023: --port.") from error
        raise BadInput(
            f"{host} is no address to listen on: {error.strerror or error}. Try --host 127.0.0.1."
        ) from error
    return opened


# ---- Who has a port


def holder_of(port: int) -> str | None:
    """Which program listens on a port of this machine, if its system says so."""
    if sys.platform != "linux":
        return None
    wanted = {f"socket:[{inode}]" for inode in _inodes(port)}
    for process in Path("/proc").glob("[0-9]*") if wanted else ():
        with contextlib.suppress(OSError):  # somebody else's, or gone
            if any(str(each.readlink()) in wanted for each in (process / "fd").iterdir()):
                return f"{(process / 'comm').read_text().strip()} (process {process.name})"
    return None


def _inodes(port: int) -> Iterable[str]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    yield fields[9]
