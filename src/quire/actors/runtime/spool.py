"""What a runtime says about executions, kept until the workspace has it (rule 11).

While the workspace answers, all of it goes through at once. As soon as it is away, or takes too long, what is said goes
to disk (spool_files.py), and from there, in order, to the workspace once that is back: the same ids again, so nothing
is recorded twice. The cell goes on meanwhile. What the workspace refuses (the claim was lost) is dropped with all that
its execution still has to say, and told. A disk that is full holds the kernel back, and is told, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from ...core.errors import Conflict, NotFound, QuireError, Refused, Unavailable
from ...core.events import Draft
from ...core.ids import ActorId, ExecutionId, LogId
from ...outputs.streams import Blob
from ...workspace.protocol import Workspace
from ...workspace.tasks import cancel_and_wait
from .retry import pauses
from .spool_files import SpoolFiles, SpoolInfo, Unit, Unreadable

PATIENCE_SECONDS = 5.0
"""How long what is said may take to be recorded before it goes to disk: its kernel is not to wait."""
BYTES_A_SECOND = 1_000_000
"""A blob may take so much longer."""
"""How long to wait before something is sent again, at first and at most."""
ROOM_SECONDS = 1.0
"""How often to look whether a full disk has room again."""


def spools(state: Path | None = None) -> Path:
    """Where spools are: in a workspace's own folder, or in the user's for state."""
    if state is not None:
        return state / "spool"
    given = os.environ.get("XDG_STATE_HOME", "")
    home = Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "state"
    return home / "quire" / "spool"


def folder_of(parent: Path, actor: ActorId, log: LogId) -> Path:
    """The folder for what one runtime says in one log."""
    name = actor.removeprefix("runtime:")
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
    if plain != name:
        plain += "-" + sha256(name.encode()).hexdigest()[:8]
    return parent / f"{plain}-{log}"


class Spool:
    """What one runtime says in one log. Used by one event loop."""

    def __init__(self, workspace: Workspace, log: LogId, parent: Path, tell: Callable[[str], None]) -> None:
        self._workspace, self._log, self._tell = workspace, log, tell
        actor = workspace.identity.actor
        self._files = SpoolFiles(folder_of(parent, actor, log), SpoolInfo(actor=actor, log=log))
        self._one_at_a_time = asyncio.Lock()
        self._dropped: set[ExecutionId] = set()
        self._lost: dict[ExecutionId, Callable[[], None]] = {}
        self._moved = asyncio.Event()
        """Set whenever something was sent from disk."""
        self._sending: asyncio.Task[None] | None = None
        if not self._files.is_empty:
            tell(f"{len(self._files)} submissions of {actor} in {log} were left on disk, and are sent first")
            self._send_from_disk()

    def of(self, execution: ExecutionId, lost: Callable[[], None]) -> SpooledOutlet:
        """For what is said of one execution. `lost` is called when the workspace takes no more of it."""
        self._lost[execution] = lost
        return SpooledOutlet(self, execution)

    def has_dropped(self, execution: ExecutionId) -> bool:
        """Whether the workspace took no more of an execution."""
        return execution in self._dropped

    def drop(self, execution: ExecutionId, why: str) -> None:
        """Say no more of an execution: it is somebody else's by now, or over."""
        if execution not in self._dropped:
            self._dropped.add(execution)
            self._tell(f"What execution {execution} in {self._log} still showed is dropped: {why}")
            self._lost.get(execution, _nothing)()

    async def take(self, unit: Unit, pieces: Callable[[], Iterable[bytes]] = tuple[bytes, ...]) -> None:
        """Have a unit sent after all before it: returns when it was, or when it is on disk."""
        async with self._one_at_a_time:
            is_told = False
            while unit.execution not in self._dropped:
                if self._files.is_empty and await self._sent_at_once(unit, pieces, tells=not is_told):
                    if is_told:
                        self._tell(f"The workspace takes what {self._log} shows again: the kernel goes on")
                    return
                try:
                    self._files.add(unit, pieces())
                except OSError as error:
                    if not is_told:
                        told = f"{self._files.folder}: {error.strerror or error}; the kernel waits until there is room"
                        self._tell(f"{told}, or until the workspace answers")
                    is_told = True
                    await self._room()
                    continue
                self._send_from_disk()
                return

    async def _room(self) -> None:
        self._moved.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ROOM_SECONDS):
                await self._moved.wait()

    async def _sent_at_once(self, unit: Unit, pieces: Callable[[], Iterable[bytes]], *, tells: bool) -> bool:
        seconds = PATIENCE_SECONDS + (unit.blob.size / BYTES_A_SECOND if unit.blob is not None else 0)
        try:
            async with asyncio.timeout(seconds):
                await self._send(unit, pieces)
        except (TimeoutError, Unavailable) as error:
            if tells:
                self._tell(f"The workspace is away ({str(error) or 'it takes too long'}); {self._log} goes on, on disk")
            return False
        return True

    # ---- Sending

    async def _send(self, unit: Unit, pieces: Callable[[], Iterable[bytes]]) -> None:
        """Send a unit, or drop its execution. Raises Unavailable: then it may have arrived, and is sent again."""
        try:
            if unit.blob is not None:
                await self._workspace.put_blob(_in_pieces(pieces()), unit.blob.media)
            else:
                await self._submit(unit.drafts)
        except Unavailable:
            raise
        except QuireError as error:
            self.drop(unit.execution, str(error))

    async def _submit(self, drafts: Sequence[Draft]) -> None:
        try:
            await self._workspace.submit(self._log, drafts)
        except QuireError as error:
            if len(drafts) == 1 or isinstance(error, Unavailable):
                raise
            # Some of them may have been recorded, in another company: each by itself is answered then.
            for draft in drafts:
                await self._workspace.submit(self._log, [draft])

    def _send_from_disk(self) -> None:
        if self._sending is None:
            self._sending = asyncio.ensure_future(self._send_all())

    async def _send_all(self) -> None:
        waits, sent = pauses(), 0
        while not self._files.is_empty:
            unit: Unit | None = None
            try:
                unit = self._files.first()
                if unit.execution not in self._dropped:
                    await self._send(unit, lambda found=unit: self._files.pieces(found))
            except Unavailable:
                await asyncio.sleep(next(waits))
                continue
            except (Unreadable, OSError) as error:
                self._tell(f"A part of what was to be sent cannot be read, and is left out: {error}")
            self._files.pop(unit)
            self._moved.set()
            waits, sent = pauses(), sent + 1
        self._sending = None
        self._tell(f"The workspace is back: {sent} submissions in {self._log} were sent from disk")

    async def drained(self) -> None:
        """Wait until the workspace has all that it takes."""
        while self._sending is not None:
            await asyncio.wait({self._sending})

    def forget(self, execution: ExecutionId) -> None:
        """Nothing more is said of an execution."""
        self._lost.pop(execution, None)

    async def close(self) -> None:
        """Let go. What was not sent stays on disk, which is told."""
        if self._sending is not None:
            await cancel_and_wait(self._sending)
        if not self._files.is_empty:
            told = f"{len(self._files)} submissions in {self._log} were not sent and are in {self._files.folder}"
            self._tell(f"{told}: the next runtime of this actor sends them")
        self._files.close()


class SpooledOutlet:
    """An outlet for one execution, by way of the spool."""

    def __init__(self, spool: Spool, execution: ExecutionId) -> None:
        self._spool, self._execution = spool, execution

    async def submit(self, drafts: Sequence[Draft]) -> None:
        """Record these, in this order."""
        await self._spool.take(Unit(execution=self._execution, drafts=tuple(drafts)))

    async def keep(self, blob: Blob) -> None:
        """Keep a blob that later drafts name."""
        await self._spool.take(Unit(execution=self._execution, blob=blob.ref), blob.pieces)


async def send_left_behind(
    workspace: Workspace,
    left: Iterable[SpoolInfo],
    runtime_of: Callable[[SpoolInfo], Awaitable[Workspace]],
    parent: Path,
    tell: Callable[[str], None],
) -> None:
    """Send what earlier processes could not; what is of another workspace stays where it is."""
    for about in left:
        if not await _is_there(workspace, about.log):
            continue
        with contextlib.suppress(Conflict):  # another process is at it
            spool = Spool(await runtime_of(about), about.log, parent, tell)
            try:
                await spool.drained()
            finally:
                await spool.close()


async def _is_there(workspace: Workspace, log: LogId) -> bool:
    try:
        await workspace.find(log)
    except (NotFound, Refused):
        return False
    return True


async def _in_pieces(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def _nothing() -> None: ...
