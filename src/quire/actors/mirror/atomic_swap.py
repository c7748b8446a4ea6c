"""A file replaced so that whatever somebody saved in that instant comes out, and is not lost.

Looking first and replacing then leaves a moment in between. So the new file and the old
one change places in one step, and what came out is looked at: it may be another than
was expected. Where the system cannot do that in one step, it is done in three.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import stat
import sys
import time
from pathlib import Path
from typing import NamedTuple

from ...core.errors import NotFound, Unavailable
from ...disk import read_bytes, writing
from .file_watch import OPEN_SECONDS, digest_of, is_being_written

_END = ".quire~"
_AT_FDCWD, _EXCHANGE = -100, 2


class SwapFile(NamedTuple):
    """A file that stands beside a bound one while that is written: first the new one, then the old one.

    It goes when the log knows of the write. If a process ends before that, it tells the next one how far it came.
    """

    file: Path
    seq: int
    """The number of the log that the new file shows."""


def beside(target: Path, seq: int) -> SwapFile:
    """Where the new file of a target is made."""
    return SwapFile(target.with_name(f".{target.name[:100]}.{seq}.{os.getpid()}{_END}"), seq)


def left_beside(target: Path) -> list[SwapFile]:
    """What stands beside a file because a process ended while it wrote."""
    if not target.parent.is_dir():
        return []
    named = re.compile(rf"\.{re.escape(target.name[:100])}\.([0-9]{{1,18}})\.[0-9]+{re.escape(_END)}")
    found = ((each, named.fullmatch(each.name)) for each in sorted(target.parent.iterdir()))
    return [SwapFile(each, int(match[1])) for each, match in found if match is not None]


def put(new: SwapFile, target: Path, text: str, expected: str | None) -> bytes | None:
    """Put `text` into the file, leave the old one beside it, and return what that says.

    None when the file is not as `expected` (a digest, None: not there): it is left alone then.
    """
    out: bytes | None = None
    with writing(new.file) as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    try:
        if expected is None:
            out = _put_new(new.file, target)
        else:
            _dress(new.file, target)
            out = _put_over(new.file, target, expected)
    except OSError as error:
        raise Unavailable(f"{target} cannot be written: {error.strerror or error}. It is as it was.") from error
    finally:
        if out is None:
            new.file.unlink(missing_ok=True)
    return out


def _put_new(beside: Path, target: Path) -> bytes | None:
    try:
        target.hardlink_to(beside)
    except FileExistsError:
        return None
    return b""


def _dress(beside: Path, target: Path) -> None:
    """The same permissions and, where we may, the same owner."""
    with contextlib.suppress(OSError):
        was = target.stat()
        beside.chmod(stat.S_IMODE(was.st_mode))
        os.chown(beside, was.st_uid, was.st_gid)


def _put_over(beside: Path, target: Path, expected: str) -> bytes | None:
    if _digest(target) != expected or is_being_written(target) or not _exchange(beside, target):
        return None
    ends = time.monotonic() + OPEN_SECONDS
    while is_being_written(beside) and time.monotonic() < ends:
        time.sleep(0.005)  # somebody had opened it before: what they write goes there
    return read_bytes(beside)


def _digest(path: Path) -> str | None:
    try:
        return digest_of(read_bytes(path))
    except NotFound:
        return None


def _exchange(one: Path, other: Path) -> bool:
    """Let two files change places; False when one of them is gone."""
    if sys.platform == "linux":
        call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        if call is not None:
            if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), ctypes.c_uint(_EXCHANGE)) == 0:
                return True
            code = ctypes.get_errno()
            if code == errno.ENOENT:
                return False
            if code not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
                raise OSError(code, os.strerror(code))
    return _replace_and_keep(one, other)


def _replace_and_keep(one: Path, other: Path) -> bool:
    """The same in three steps, for a disk that cannot do it in one."""
    kept = one.with_name(f"{one.name}~")
    try:
        kept.unlink(missing_ok=True)
        kept.hardlink_to(other)
    except FileNotFoundError:
        return False
    one.replace(other)
    kept.replace(one)
    return True
