"""The clean filter: what git records of a notebook, by git's protocol for one process and many files.

A notebook with nothing to strip is recorded byte for byte. One that says what the index
says is recorded as the index has it, so that running it, or saving it with another
editor, is no change; and what somebody recorded with its outputs does not look changed
until somebody changes it.

Nothing is done on the way out: `smudge` gives back what it gets.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from ..core.errors import BadInput, QuireError
from ..core.sheet.equality import same_sheet
from ..core.sheet.sheet import Sheet
from ..disk import MOST_BYTES, decode
from ..formats.registry import ENDINGS, ending_of, read, write
from ..formats.strip import Rules, strip
from ..formats.terminal_safe import plain
from .textconv import MARKER

_MOST = 65516
"""The most bytes that fit into one packet."""
_FLUSH = b"0000"


def git_rules(text: str = "{}") -> Rules:
    """The rules of the filter, from the JSON that `install` left in git's settings."""
    try:
        rules = msgspec.json.decode(text, type=Rules)
    except msgspec.DecodeError as error:
        raise BadInput(f"git's settings for quire cannot be read: {error}. Run `quire git install` again.") from None
    # What the kernel said of itself changes with the machine: on the way into git it goes.
    return msgspec.structs.replace(rules, keep_kernel=False)


def clean(data: bytes, path: str, rules: Rules) -> bytes:
    """Return the bytes that git records for the file at `path`, which is told from the top of the work tree."""
    if ENDINGS.get(ending_of(path)) != "ipynb" or not data.strip() or _is_shown(data, path):
        return data
    if len(data) > MOST_BYTES:
        raise BadInput(f"{path} is larger than {MOST_BYTES // 1_000_000} MB. Clear its outputs where it was made.")
    text = decode(data, path)
    sheet = read(text, path)
    stripped = strip(sheet, rules, path)
    if stripped is sheet:
        return data
    recorded = _in_index(path)
    if recorded is not None and (recorded == data or _says(recorded, stripped, path)):
        return recorded
    return write(stripped, path, like=text, was=sheet).encode("utf-8", "surrogatepass")


def _is_shown(data: bytes, path: str) -> bool:
    """Whether git will show this and record nothing.

    `git blame` has cleaned what the textconv made of a file; and where a link leads, which no other command does.
    """
    # Git calls filters in the top folder.
    file = Path(path)
    try:
        if file.is_symlink():
            return os.fsencode(file.readlink()) == data
        # A script that somebody saved as a notebook begins the same, but is what lies there: it is refused.
        return data.startswith(MARKER.encode()) and file.read_bytes() != data
    except (OSError, ValueError):
        return False


def _in_index(path: str) -> bytes | None:
    """The file as it was added or committed last, if it was."""
    # Only notebooks that were run get here: a `git add` of new sources starts no process.
    import subprocess

    command = ["git", "cat-file", "blob", f":0:{path}"]
    try:
        return subprocess.run(command, capture_output=True, check=True).stdout  # noqa: S603  nothing goes through a shell
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None


def _says(recorded: bytes, sheet: Sheet, path: str) -> bool:
    try:
        return same_sheet(read(decode(recorded, path), path), sheet)
    except BadInput:
        return False


def clean_standard(arguments: list[str]) -> int:
    """Clean one file from standard input to standard output, for a git that is older than the protocol."""
    path, *rules = arguments
    sys.stdout.buffer.write(clean(sys.stdin.buffer.read(), path, git_rules(*rules)))
    sys.stdout.buffer.flush()
    return 0


def serve_standard(arguments: list[str]) -> int:
    """Answer git on standard input and output until it has no more files."""
    serve(sys.stdin.buffer, sys.stdout.buffer, git_rules(*arguments))
    return 0


# ---- The protocol: gitattributes(5), "Long Running Filter Process"


def serve(source: IO[bytes], sink: IO[bytes], rules: Rules) -> None:
    """Shake hands, then clean or give back each file that git sends."""
    if list(_packets(source))[:2] != [b"git-filter-client\n", b"version=2\n"]:
        raise BadInput("git speaks a version of the filter protocol that is not known here. Update quire.")
    _answer(sink, (b"git-filter-server\n", b"version=2\n"))
    offered = set(_packets(source))
    _answer(sink, sorted(offered & {b"capability=clean\n", b"capability=smudge\n"}))
    while asked := dict(_fields(_packets(source))):
        data = b"".join(_packets(source))
        path = asked.get(b"pathname", b"").decode("utf-8", "surrogateescape")
        try:
            _give(sink, data if asked.get(b"command") == b"smudge" else clean(data, path, rules))
        except QuireError as error:
            # Git says which file it was, and stops: the filter is required.
            sys.stderr.write(f"quire: {plain(str(error))}\n")
            sys.stderr.flush()
            _answer(sink, (b"status=error\n",))


def _fields(packets: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    for packet in packets:
        name, _, value = packet.removesuffix(b"\n").partition(b"=")
        yield name, value


def _give(sink: IO[bytes], data: bytes) -> None:
    _answer(sink, (b"status=success\n",))
    _answer(sink, (data[start : start + _MOST] for start in range(0, len(data), _MOST)))
    # Nothing more to say: the status is still the one above.
    _answer(sink, ())


def _answer(sink: IO[bytes], packets: Iterable[bytes]) -> None:
    for packet in packets:
        sink.write(b"%04x" % (len(packet) + 4))
        sink.write(packet)
    sink.write(_FLUSH)
    sink.flush()


def _packets(source: IO[bytes]) -> Iterator[bytes]:
    """The packets up to the next flush. None at all when git has closed the pipe."""
    while (head := source.read(4)) not in (_FLUSH, b""):
        yield source.read(int(head, 16) - 4)
