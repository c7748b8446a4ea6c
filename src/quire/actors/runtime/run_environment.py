"""What a run finds around it, read in threads while its kernel starts and its first cells run.

Nothing waits for it but the end of the run: no cell, and no kernel.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from ...core.errors import Unavailable
from ...core.events import BlobRef, EnvironmentRecorded, GitRevision, InputFile
from ...disk import in_thread
from ...kernels.requirements import MEDIA, InstalledPackages, KernelPython, as_json
from ...outputs.recorder import Recorder
from ...workspace.protocol import Workspace
from ...workspace.tasks import cancel_and_wait

CHUNK = 1024 * 1024
RevisionReader: TypeAlias = Callable[[], GitRevision | None]
"""How the revision of the source is found: git is not this package's business."""


class InputPath(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a notebook declares to read."""

    place: Path
    name: str
    """What the record calls it: its path from the folder of the project on."""


class EnvironmentRecord:
    """Reads what is around a run and records it, once or, if packages were installed meanwhile, twice."""

    def __init__(
        self,
        workspace: Workspace,
        recorder: Recorder,
        epoch: int,
        inputs: Sequence[InputPath],
        revision: RevisionReader | None,
        interpreter: str | None = None,
    ) -> None:
        self._workspace, self._recorder, self._epoch = workspace, recorder, epoch
        self._stop = threading.Event()
        # From the very beginning: a cell may write into what it read, or commit.
        self._hashes = asyncio.ensure_future(in_thread(_hashed, tuple(inputs), self._stop, stop=self._stop))
        self._revision = asyncio.ensure_future(in_thread(revision) if revision is not None else _nothing())
        self._installed = InstalledPackages()
        ahead = in_thread(self._installed.read_ahead, interpreter) if interpreter is not None else _nothing()
        self._ahead = asyncio.ensure_future(ahead)
        self._task: asyncio.Task[None] | None = None
        self._python: tuple[KernelPython, Path] | None = None
        self._versions: dict[str, str] | None = None
        self._said: EnvironmentRecorded | None = None

    def begin(self, python: KernelPython | None, cwd: Path) -> None:
        """Begin to read, for a kernel that is ready; without `python` its packages are not known."""
        self._python = (python, cwd) if python is not None else None
        self._task = asyncio.ensure_future(self._record())

    async def finish(self) -> None:
        """Wait until it is recorded; read the packages again, if the folders that hold them were changed."""
        if self._task is None:
            return
        await self._task
        packages = await self._read_packages()
        if self._said is not None and packages != self._said.packages:
            self._say(msgspec.structs.replace(self._said, packages=packages))

    async def close(self) -> None:
        """Leave it, however far it came: who stops a run does not wait for a large file."""
        begun = (self._hashes, self._revision, self._ahead, self._task)
        await cancel_and_wait(*(task for task in begun if task is not None))

    async def _record(self) -> None:
        packages, revision, inputs = await asyncio.gather(self._read_packages(), self._revision, self._hashes)
        self._say(EnvironmentRecorded(epoch=self._epoch, packages=packages, revision=revision, inputs=inputs))

    def _say(self, event: EnvironmentRecorded) -> None:
        self._said = event
        self._recorder.say(event)

    async def _read_packages(self) -> BlobRef | None:
        if self._python is None:
            return None
        python, cwd = self._python
        await self._ahead
        versions = await in_thread(self._installed.versions, python.path, cwd)
        if versions == self._versions:
            return self._said.packages if self._said is not None else None
        self._versions = versions
        try:
            return await self._workspace.put_blob(as_json(versions), MEDIA)
        except Unavailable:  # the log, which has no room for it either, is told of by those who write it
            return None


async def _nothing() -> None:
    """There is nobody to ask."""


def _hashed(inputs: Sequence[InputPath], stop: threading.Event) -> tuple[InputFile, ...]:
    return tuple(found for each in inputs if (found := _hash(each, stop)) is not None)


def _hash(input: InputPath, stop: threading.Event) -> InputFile | None:
    """The file as it is; None when it is gone since it was found, which the cell that reads it will tell of."""
    digest, size = hashlib.sha256(), 0
    try:
        with input.place.open("rb") as file:
            while not stop.is_set() and (chunk := file.read(CHUNK)):
                digest.update(chunk)
                size += len(chunk)
    except OSError:
        return None
    return InputFile(path=input.name, digest=digest.hexdigest(), size=size)
