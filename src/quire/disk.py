"""Whole files: read with a clear word when that cannot be, written whole or not at all.

The one place that reads and writes notebooks on disk, for everybody above `files/`; and how
to wait for a disk without making others wait (`in_thread`).
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from .core.errors import BadInput, NotFound, Unavailable

if TYPE_CHECKING:
    import threading
    from concurrent.futures import Executor

T = TypeVar("T")

MOST_BYTES = 100_000_000
"""Past this a notebook is refused: nobody can review it, and forges refuse it as well."""
STANDARD = Path("-")
"""Standard input, or standard output."""


def read_text(path: Path) -> str:
    """Return what the file says, line ends as they are. `-` is standard input."""
    return decode(read_bytes(path), str(path))


def read_bytes(path: Path) -> bytes:
    """Return what is in the file. `-` is standard input."""
    try:
        if path == STANDARD:
            return _at_most(sys.stdin.buffer, "Standard input")
        with path.open("rb") as file:
            return _at_most(file, str(path))
    except FileNotFoundError:
        raise NotFound(f"{path} is not there. Look for a typing error, or for the folder you are in.") from None
    except IsADirectoryError:
        raise BadInput(f"{path} is a folder. Name the notebooks in it.") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from error


def _at_most(file: IO[bytes], what: str) -> bytes:
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise BadInput(f"{what} is larger than {MOST_BYTES // 1_000_000} MB. Clear its outputs where it was made.")
    return data


def decode(data: bytes, what: str) -> str:
    """Return bytes as the text they are in UTF-8, or say where they are not."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{what}: line {line}, byte {error.start} is not UTF-8 text. Is it a notebook?") from None
    if "\0" in text:
        raise BadInput(f"{what}: there is a NUL byte at {text.index(chr(0))}: this is no text. Is it a notebook?")
    return text


def write_text(path: Path, text: str) -> None:
    """Put `text` into the file, whole or not at all. `-` is standard output."""
    data = text.encode("utf-8", "surrogatepass")
    if path == STANDARD:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with writing(path) as file:
        file.write(data)


@contextmanager
def writing(path: Path) -> Generator[IO[bytes]]:
    """Open a file that takes the place of `path` once everything was written and is on the disk."""
    # Through a link: what it points to is replaced, not the link.
    target = path.resolve()
    try:
        # As tempfile does it, whose import takes longer than a small notebook.
        name = target.with_name(f".{target.name[:100]}.{os.urandom(8).hex()}")
        handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        raise _no_folder(path, target) from None
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {reason(error)}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), _mode(target))
            os.fsync(file.fileno())
        name.replace(target)
    except OSError as error:
        name.unlink(missing_ok=True)
        if not target.parent.is_dir():  # it was removed meanwhile
            raise _no_folder(path, target) from None
        raise Unavailable(f"{path} cannot be written: {reason(error)} It is as it was.") from error
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def _no_folder(path: Path, target: Path) -> NotFound:
    return NotFound(f"{path} cannot be written: there is no folder {target.parent}. Make it first.")


def check_writable(path: Path) -> None:
    """Make the folders on the way to a file that are missing, and say if it cannot be written there."""
    folder = path.parent
    try:
        if path.is_dir():
            raise BadInput(f"{path} is a folder. Name a file in it.")
        if path.exists() and not path.is_file():
            raise BadInput(f"{path} is a pipe or a device, and would be replaced by a file. Name another place.")
        folder = path.resolve().parent
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return
        read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
        told = "that disk is read-only." if read_only else "this user may not write there."
    except (FileExistsError, NotADirectoryError):
        told = "a file is in the way, where a folder should be."
    except OSError as error:
        told = reason(error)
    except RuntimeError:  # of Path.resolve
        told = "it is a link to itself."
    raise BadInput(f"{path} cannot be written in {folder}: {told} Name another place.")


def reason(error: OSError) -> str:
    """What the disk says, and what to do about it where that is known."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return "the disk is full. Make room, and try again."
        case errno.EFBIG:
            return "a file may not be that large here. See `ulimit -f`."
        case _:
            return f"{error.strerror or error}."


def _mode(path: Path) -> int:
    """The permissions of the file as it was, or those of any new file."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


async def in_thread(
    work: Callable[..., T], *arguments: Any, pool: Executor | None = None, stop: threading.Event | None = None
) -> T:
    """Do `work` in a thread and see it through, even when cancelled; then `stop` is set, for work that looks at it.

    A thread cannot be stopped. If its caller went ahead and closed the file, the thread could
    write to whatever was opened next under the same number.
    """
    import asyncio  # git's filter starts often, and waits for nobody
    import functools

    future = asyncio.get_running_loop().run_in_executor(pool, functools.partial(work, *arguments))
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = error
            if stop is not None:
                stop.set()
    if cancelled is not None:
        future.exception()  # looked at, or asyncio complains that nobody did
        raise cancelled
    return future.result()
