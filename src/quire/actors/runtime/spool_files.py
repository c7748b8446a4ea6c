"""Files for what could not be sent yet: segments of lines, in order, and blobs beside them.

A line is one submission, whole or not there. What was sent is taken away by whole segments: who comes after a crash
sends a segment again, and the same ids are answered with the first events. One process has the folder at a time.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from ...core.errors import Conflict, Unavailable
from ...core.events import BlobRef, Draft
from ...core.ids import ActorId, ExecutionId, LogId
from ...kernels.process.connection_dir import lock_file

SEGMENT_BYTES = 4_000_000
_ABOUT, _LOCK = "about.json", "lock"
_PIECE = 1 << 20


class SpoolInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Whose a spool is, and of which log."""

    actor: ActorId
    log: LogId


class Unit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is sent at once: drafts of an execution, or a blob that drafts after it name."""

    execution: ExecutionId
    drafts: tuple[Draft, ...] = ()
    blob: BlobRef | None = None
    file: str = ""
    """The file with the bytes of the blob."""


class Unreadable(Exception):
    """A line is not what was written: somebody else was at it, or the disk."""


class _SpoolLine(msgspec.Struct, frozen=True):
    segment: int
    start: int
    size: int


class SpoolFiles:
    """Units on disk: added at the end, taken from the beginning."""

    def __init__(self, folder: Path, about: SpoolInfo) -> None:
        self.folder = folder
        self._lock, self._segment, self._end = -1, -1, 0
        self._lines: deque[_SpoolLine] = deque()
        self._blobs = self._number = 0
        try:
            _make(folder.parent)
            _make(folder)
            self._lock = lock_file(folder / _LOCK)
            _write(folder / _ABOUT, [msgspec.json.encode(about)])
            self._find()
        except BlockingIOError:
            raise Conflict(
                f"Another process is {about.actor} in {about.log}: {folder} is in use. End that one."
            ) from None
        except OSError as error:
            self.close()
            told = f"{folder}: what cannot be sent could not be kept there: {error.strerror or error}"
            raise Unavailable(f"{told}. Mend that, or set XDG_STATE_HOME to another folder.") from error

    @property
    def is_empty(self) -> bool:
        """Whether all of it was sent."""
        return not self._lines

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, unit: Unit, pieces: Iterable[bytes] = ()) -> None:
        """Keep a unit, with the bytes of its blob. OSError when there is no room: then nothing of it is here."""
        if unit.blob is not None:
            self._blobs += 1
            unit = msgspec.structs.replace(unit, file=f"{self._blobs:08d}-{unit.blob.hash[:64]}.blob")
            _write(self.folder / unit.file, pieces)
        try:
            self._append(msgspec.json.encode(unit) + b"\n")
        except OSError:
            self._remove_blob(unit)
            raise

    def _append(self, line: bytes) -> None:
        if self._segment < 0 or self._end > SEGMENT_BYTES:
            self._begin_segment()
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._segment, rest) :]
        except OSError:
            # Half a line would be the end of all that comes after it.
            os.ftruncate(self._segment, self._end)
            raise
        self._lines.append(_SpoolLine(self._number, self._end, len(line)))
        self._end += len(line)

    def _begin_segment(self) -> None:
        self._end_segment()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        self._segment = os.open(self._path(self._number + 1), flags, 0o600)
        self._number, self._end = self._number + 1, 0

    def _end_segment(self) -> None:
        if self._segment >= 0:
            os.close(self._segment)
            self._segment = -1

    def first(self) -> Unit:
        """Read what is to be sent next."""
        line = self._lines[0]
        try:
            with self._path(line.segment).open("rb") as file:
                file.seek(line.start)
                unit = msgspec.json.decode(file.read(line.size), type=Unit)
        except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise Unreadable(f"{self._path(line.segment)}, byte {line.start}: {error}") from error
        if unit.file != Path(unit.file).name or (unit.blob is not None) != bool(unit.file):
            raise Unreadable(f"{self._path(line.segment)}, byte {line.start}: {unit.file[:80]!r} is no blob of it")
        return unit

    def pieces(self, unit: Unit) -> Iterator[bytes]:
        """Yield the bytes of a unit's blob."""
        with (self.folder / unit.file).open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece

    def pop(self, unit: Unit | None) -> None:
        """Forget the first, which was sent."""
        segment = self._lines.popleft().segment
        if unit is not None:
            self._remove_blob(unit)
        if not self._lines or self._lines[0].segment != segment:
            if segment == self._number:
                self._end_segment()
            self._path(segment).unlink(missing_ok=True)

    def _remove_blob(self, unit: Unit) -> None:
        if unit.file:
            (self.folder / unit.file).unlink(missing_ok=True)

    def _find(self) -> None:
        """Take up what a process before this one left."""
        for path in sorted(self.folder.glob("*.lines")):
            self._number, start = int(path.stem), 0
            with path.open("rb") as file:
                for line in file:
                    if line.endswith(b"\n"):  # the last may have been cut off
                        self._lines.append(_SpoolLine(self._number, start, len(line)))
                    start += len(line)
        for path in self.folder.glob("*.blob"):
            self._blobs = max(self._blobs, int(path.name.partition("-")[0]))

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:08d}.lines"

    def close(self) -> None:
        """Let go of it. If all was sent, nothing stays behind."""
        self._end_segment()
        if self._lock < 0:
            return
        if self.is_empty:
            for path in self.folder.iterdir():
                path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                self.folder.rmdir()
        os.close(self._lock)
        self._lock = -1


def left_behind(parent: Path) -> list[SpoolInfo]:
    """Whose spools are in a folder."""
    found: list[SpoolInfo] = []
    for path in sorted(parent.glob(f"*/{_ABOUT}")):
        with contextlib.suppress(OSError, msgspec.MsgspecError, UnicodeError):
            found.append(msgspec.json.decode(path.read_bytes(), type=SpoolInfo))
    return found


def _make(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file, whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
