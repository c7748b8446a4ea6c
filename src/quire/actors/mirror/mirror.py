"""The mirror: every notebook that is bound to a file, and what wakes it.

A quiet notebook costs nothing: it is looked at when its log grows or when something
happens in a folder on the way to its file.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection
from pathlib import Path

from ...core.errors import BadInput, QuireError, Unavailable
from ...core.ids import WORKSPACE_LOG, LogId
from ...workspace.protocol import Workspace
from .bound_notebook import BoundNotebook
from .file_paths import folders_to
from .file_watch import NORMAL, Pace, Watch


async def mirror(
    workspace: Workspace,
    folder: Path,
    notebooks: Collection[LogId] | None = None,
    *,
    tell: Callable[[str], None] = lambda message: None,
    ready: Callable[[], None] = lambda: None,
    pace: Pace = NORMAL,
) -> None:
    """Keep notebooks and the files they are bound to the same, until cancelled.

    `notebooks` are those to keep, all that are or will be bound when None; their paths are
    relative to `folder`. Where the store is at hand it acts on behalf of whoever bound each of them, elsewhere
    as whoever `workspace` does. `tell` gets what a person should know; `ready` is called once all of them have been
    looked at; `pace` says how long it waits.
    """
    if workspace.identity.asks:
        raise BadInput(f"{workspace.identity.actor} has to ask for edits, so it cannot mirror. Use another token.")
    house = _Mirror(workspace, folder, notebooks, tell, pace)
    try:
        await house.run(ready)
    except ExceptionGroup as group:
        raise group.exceptions[0] from None  # of several tasks that failed, the first that did
    finally:
        await house.close()


async def mirror_once(
    workspace: Workspace, folder: Path, notebook: LogId, *, tell: Callable[[str], None] = lambda message: None
) -> None:
    """Bring a notebook and its file together as they are now; `folder` without links. Others may mirror it, too."""
    await BoundNotebook(workspace, notebook, folder, tell, lambda path: False).step()


class _Mirror:
    def __init__(
        self,
        workspace: Workspace,
        folder: Path,
        notebooks: Collection[LogId] | None,
        tell: Callable[[str], None],
        pace: Pace,
    ) -> None:
        self._workspace, self._folder, self._tell, self._pace = workspace, folder.resolve(), tell, pace
        self._notebooks = notebooks
        self._following: dict[LogId, _Task] = {}
        self._watch: Watch | None = None
        self._watched: dict[Path, int] = {}
        self._disk = asyncio.Event()

    async def run(self, ready: Callable[[], None]) -> None:
        async with asyncio.TaskGroup() as group:
            if self._notebooks is None:
                for info in await self._workspace.logs("notebook"):
                    await self._follow_if_bound(info.log, 0, group)
                group.create_task(self._find(group))
            for log in self._notebooks or ():
                self._follow(log, group)
            if not self._workspace.identity.is_bound:
                group.create_task(self._hear_of_rights())
            group.create_task(self._first_look(ready))
            await self._look()

    async def close(self) -> None:
        if self._watch is not None:
            await self._watch.close()
            self._watch = None

    def _follow(self, log: LogId, group: asyncio.TaskGroup) -> None:
        if log not in self._following:
            following = BoundNotebook(self._workspace, log, self._folder, self._tell, self._is_taken, self._pace)
            task = self._following[log] = _Task(following, self._disk.set, self._pace)
            group.create_task(task.run())
            group.create_task(task.listen(self._workspace))

    def _is_taken(self, path: str) -> bool:
        return any(task.following.path == path for task in self._following.values())

    async def _follow_if_bound(self, log: LogId, since: int, group: asyncio.TaskGroup) -> None:
        if await self._workspace.entries(log, since, types=("file_bound",), limit=1):
            self._follow(log, group)

    async def _find(self, group: asyncio.TaskGroup) -> None:
        """Follow whatever is bound later. From the first event on, so that none falls in between."""
        known: set[LogId] = set()
        async for page in self._workspace.feed(0):
            firsts: dict[LogId, int] = {}
            for growth in page:
                if growth.log not in self._following:
                    firsts.setdefault(growth.log, growth.first)
            if firsts.keys() - known:
                known = {info.log for info in await self._workspace.logs("notebook")}
            for log in firsts.keys() & known:
                await self._follow_if_bound(log, firsts[log] - 1, group)

    async def _hear_of_rights(self) -> None:
        """Look at all again when tokens or roles change: what waits for the rights of somebody may go on."""
        seq = 0
        while True:
            with contextlib.suppress(Unavailable):
                async for page in self._workspace.follow(WORKSPACE_LOG, seq):
                    seq = page[-1].seq
                    for task in self._following.values():
                        task.wake()
            await asyncio.sleep(self._pace.retry_seconds)

    async def _look(self) -> None:
        """Watch the folders on the way to the files. What is watched from now on is looked at once."""
        while True:
            await self._arm()
            for task in self._following.values():
                task.wake()
            await self._disk.wait()
            self._disk.clear()

    async def _first_look(self, ready: Callable[[], None]) -> None:
        for task in list(self._following.values()):
            await task.looked.wait()
        ready()

    async def _arm(self) -> None:
        """Watch other folders if the files are elsewhere, or if a folder is another one by now."""
        while (wanted := self._wanted()) != self._watched:
            watch = Watch(self._disk.set, self._pace.watch_step_milliseconds)
            try:
                await watch.begin(wanted)
            except FileNotFoundError:
                continue  # a folder went in that instant
            if self._watch is not None:
                await self._watch.close()
            self._watch, self._watched = watch, wanted

    def _wanted(self) -> dict[Path, int]:
        try:
            found = {self._folder: self._folder.stat().st_ino}
        except OSError as error:
            raise Unavailable(f"{self._folder} cannot be watched: {error.strerror or error}.") from error
        for task in self._following.values():
            with contextlib.suppress(QuireError, OSError):
                path = task.following.path or ""
                found |= {folder: folder.stat().st_ino for folder in folders_to(self._folder, path)}
        return found


class _Task:
    """One notebook that is looked at whenever it is woken."""

    def __init__(self, following: BoundNotebook, moved: Callable[[], None], pace: Pace) -> None:
        self.following, self._pace = following, pace
        self.looked = asyncio.Event()
        self._moved = moved
        self._woken = asyncio.Event()
        self._is_cut_off = False
        """Whether the store could not be reached at the last look."""

    def wake(self) -> None:
        """Look soon."""
        self._woken.set()

    async def run(self) -> None:
        while True:
            await self._woken.wait()
            await asyncio.sleep(self._pace.together_seconds)
            self._woken.clear()
            path = self.following.path
            await self._step()
            self.looked.set()
            if self.following.path != path:
                self._moved()  # other folders are to be watched

    async def _step(self) -> None:
        was_cut_off, self._is_cut_off = self._is_cut_off, False
        try:
            await self.following.step()
        except (Unavailable, OSError) as error:
            # A disk may say anything at any moment: that ends no mirror. A connection to the store that was lost in an
            # outage may be found so only after it, and is made anew: once is no news.
            self._is_cut_off = isinstance(error, Unavailable)
            if was_cut_off or not self._is_cut_off:
                self.following.voice.say(str(error))
            await asyncio.sleep(self._pace.retry_seconds)
            self.wake()
        except QuireError as error:
            self.following.voice.say(str(error))

    async def listen(self, workspace: Workspace) -> None:
        """Be woken by the log."""
        seq = 0
        while True:
            try:
                seq = (await workspace.read(self.following.log)).seq if seq == 0 else seq
                self.wake()
                async for page in workspace.follow(self.following.log, seq):
                    seq = page[-1].seq
                    self.wake()
            except Unavailable:
                await asyncio.sleep(self._pace.retry_seconds)
