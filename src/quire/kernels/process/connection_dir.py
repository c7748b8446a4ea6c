"""The folder of a kernel: where it listens, who uses it, what the next process has to know.

Nobody else may read it. In it are the connection file (as Jupyter writes it: `jupyter console
--existing FILE` works), sockets, what the kernel is used for, and a lock that is held by the
process that uses it: a runtime, or the relay beside the kernel.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import socket
import stat
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from ...core.errors import Unavailable
from ...core.ids import ActorId, LogId, RuntimeId
from ..kernel_protocol import Spec
from . import watchdog

CONNECTION = "kernel.json"
SERVES = "serves.json"
_LONGEST_SOCKET = 100
_CHANNELS = ("shell", "iopub", "stdin", "control", "hb")


class Serves(msgspec.Struct, frozen=True, kw_only=True):
    """What a kernel is used for, and by whom: by this the next process of the same runtime finds it."""

    workspace: str
    """A hash of the address: that may hold a password."""
    log: LogId
    actor: ActorId


def all_folders() -> Path:
    """Where the folders of this user's kernels are: on this machine, and for nobody else's eyes."""
    given = os.environ.get("XDG_RUNTIME_DIR")
    if given and Path(given).is_dir() and os.access(given, os.W_OK):
        return Path(given) / "quire"
    return Path(tempfile.gettempdir()) / f"quire-{os.getuid()}"


def new_folder() -> Path:
    """Make one; its name is the kernel's id."""
    parent = all_folders()
    try:
        parent.mkdir(mode=0o700, exist_ok=True)
        if not is_private(parent):
            raise Unavailable(f"{parent} has to be a folder that only you can read. Remove it: it is made anew.")
        folder = parent / secrets.token_hex(6)
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise Unavailable(f"{parent}: no folder for a kernel can be made there: {error.strerror or error}.") from error
    return folder


def is_private(folder: Path) -> bool:
    """Whether nobody else can put anything there, or read it."""
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def lock_of(folder: Path) -> int:
    """Take the kernel for this process; BlockingIOError while another has it."""
    return lock_file(folder / watchdog.LOCK)


def lock_file(path: Path) -> int:
    """Open a file and lock it for this process; BlockingIOError while another has it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise
    return lock


def remove(folder: Path) -> None:
    """Take it away with all that is in it, if it is there. Whoever watches a kernel may do the same at this moment."""
    with contextlib.suppress(FileNotFoundError):
        for path in folder.glob("*"):
            path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        folder.rmdir()


def write_connection(folder: Path, spec: Spec) -> dict[str, Any]:
    """Choose where the kernel listens, and write it into its folder."""
    path = str(folder / "s")
    if spec.is_ours and len(os.fsencode(path)) < _LONGEST_SOCKET:
        # Sockets in a folder that is ours alone: no port to race for, and nobody else can connect.
        place: dict[str, Any] = {"transport": "ipc", "ip": path}
        ports = range(1, len(_CHANNELS) + 1)
    else:
        ip = _address()
        place = {"transport": "tcp", "ip": ip}
        ports = _free_ports(ip)
    place |= {f"{name}_port": port for name, port in zip(_CHANNELS, ports, strict=True)}
    place |= {"key": secrets.token_hex(), "signature_scheme": "hmac-sha256", "kernel_name": spec.name}
    handle = os.open(folder / CONNECTION, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        json.dump(place, file)
    return place


def connection_of(folder: Path) -> dict[str, Any]:
    """Where the kernel of a folder listens. OSError or ValueError when nothing there says so."""
    return msgspec.json.decode((folder / CONNECTION).read_bytes(), type=dict[str, Any])


def hash_of(where: str) -> str:
    """By which a workspace is known here."""
    return sha256(where.encode()).hexdigest()


def write_serves(folder: Path, serves: Serves) -> None:
    """Say what the kernel is used for; whole, or as it was."""
    new = folder / f"{SERVES}.new"
    new.write_bytes(msgspec.json.encode(serves))
    new.replace(folder / SERVES)


def all_serving() -> list[tuple[Path, Serves]]:
    """The folders of this user's kernels that are used for something, the newest first."""
    parent = all_folders()
    if not parent.is_dir() or not is_private(parent):
        return []
    found: list[tuple[float, Path, Serves]] = []
    for file in parent.glob(f"*/{SERVES}"):
        with contextlib.suppress(OSError, msgspec.DecodeError):  # somebody ends it just now
            found.append((file.stat().st_mtime, file.parent, msgspec.json.decode(file.read_bytes(), type=Serves)))
    return [(folder, serves) for _, folder, serves in sorted(found, key=lambda each: each[0], reverse=True)]


def is_kept(log: LogId, runtime: RuntimeId) -> bool:
    """Whether a kernel of this user may live that a runtime used for a log: another process can go on with it."""
    return any((serves.log, serves.actor) == (log, runtime) for _, serves in all_serving())


def _address() -> str:
    """An address of this machine alone that nobody else uses, so that no port on it is taken meanwhile."""
    if sys.platform != "linux":
        return "127.0.0.1"
    first, second, third = (secrets.randbelow(254) + 1 for _ in range(3))
    return f"127.{first}.{second}.{third}"


def _free_ports(ip: str) -> list[int]:
    with contextlib.ExitStack() as opened:
        sockets = [opened.enter_context(socket.socket()) for _ in _CHANNELS]
        for one in sockets:
            one.bind((ip, 0))
        return [one.getsockname()[1] for one in sockets]
