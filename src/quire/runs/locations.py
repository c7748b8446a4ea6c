"""Where notebooks come from and go to: a file, standard input or output, or an address.

A place is text: a path, `-`, or `s3://`, `gs://`, `az://`, `https://`. Read whole, and
written whole or not at all. An address may hold what is secret, a password or a signature:
keep and show it as `shown` gives it, which also is the path whose ending says the format.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from ..connection import remote_file, shown_address
from ..core.errors import Unavailable
from ..disk import MOST_BYTES, STANDARD, check_writable, decode, in_thread, read_text, writing


def is_remote(place: str) -> bool:
    """Whether a place is an address, and no file of this machine."""
    return "://" in place


def is_standard(place: str) -> bool:
    """Whether a place is standard input or output."""
    return place == str(STANDARD)


def shown(place: str) -> str:
    """The place as it may be shown and kept: of an address, nothing that may be secret."""
    return shown_address(place) if is_remote(place) else place


async def read_place(place: str) -> str:
    """Return the text at a place, line ends as they are."""
    if not is_remote(place):
        return read_text(Path(place))
    file = remote_file(place, os.environ)
    return decode(await in_thread(file.read, MOST_BYTES), file.name)


async def write_place(place: str, text: str) -> None:
    """Put `text` there, whole or not at all."""
    data = text.encode("utf-8", "surrogatepass")
    async with writing_place(place) as file:
        await in_thread(file.write, data)


async def check_place(place: str) -> None:
    """Raise if it is plain already that nothing can be written there; folders that are missing are made."""
    if is_remote(place):
        await in_thread(remote_file(place, os.environ).check)
    elif not is_standard(place):
        check_writable(Path(place))


@asynccontextmanager
async def writing_place(place: str) -> AsyncGenerator[IO[bytes]]:
    """Open a file that takes the place of what is there once everything was written. Write to it in a thread."""
    if not is_remote(place) and not is_standard(place):
        async with _replacing(Path(place)) as file:
            yield file
        return
    # Elsewhere a file cannot be replaced at the end: it is made here first.
    with tempfile.TemporaryFile() as file:
        yield file
        await in_thread(remote_file(place, os.environ).write if is_remote(place) else _print, file)


@asynccontextmanager
async def _replacing(path: Path) -> AsyncGenerator[IO[bytes]]:
    """`disk.writing`, whose waits for the disk are in a thread."""
    manager = writing(path)
    file = await in_thread(manager.__enter__)
    try:
        yield file
    except BaseException:
        # It raises the same again, or what it makes of it.
        await in_thread(manager.__exit__, *sys.exc_info())
        raise
    await in_thread(manager.__exit__, None, None, None)


def _print(file: IO[bytes]) -> None:
    file.seek(0)
    try:
        shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise  # whoever reads it has seen enough
    except OSError as error:
        raise Unavailable(f"Standard output cannot be written: {error.strerror or error}.") from error
