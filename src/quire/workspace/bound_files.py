"""Where a bound file lies on the disk, and whether two paths mean one file.

`core/bound_paths` says what a path may look like; here the disk is asked, where the workspace has a folder: a link may lead
to a file that no notebook is bound to, two names may be one file, and an environment is told by what is in it.

A file has one notebook, in the whole workspace. Which one is kept in memory, made from the logs: the first look reads the
bindings of every notebook, each later one only what was added since. Whoever binds a notebook holds a lease of the store
from the look to the record, so that of two who bind the same file at once, in whatever processes, one comes first and the
other is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from ..core import codec
from ..core.bound_paths import check_bound_path, check_is_for_notebooks, folded
from ..core.errors import BadInput, Conflict
from ..core.events import Entry, FileBound
from ..core.ids import MIRROR, EventId, LogId
from ..stores.store import Lease, Store
from .log.process_id import is_gone, this_process

_ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")
"""What a folder holds that is an environment of Python."""


def place_of(folder: Path, path: str) -> Path:
    """The file that a path of a binding means, links followed; BadInput where that is no place for notebooks."""
    check_bound_path(path)
    root = folder.resolve()
    try:
        target = (root / path).resolve()
    except (OSError, RuntimeError) as error:  # links that lead in a circle
        raise BadInput(f"{path} leads nowhere: {error}. Bind the notebook to another file.") from error
    if not target.is_relative_to(root) or target == root:
        raise BadInput(f"{path} does not lie inside {root}. Bind the notebook to a file in that folder.")
    check_is_for_notebooks(target.relative_to(root).as_posix(), path)
    for place in (target, root / path):
        _check_environment(root, place, path)
    return target


def _check_environment(root: Path, place: Path, path: str) -> None:
    for parent in place.parents:
        if parent == root or not parent.is_relative_to(root):
            return
        if any((parent / mark).exists() for mark in _ENVIRONMENTS):
            told = f"{path} lies in {parent.relative_to(root)}, an environment of Python"
            raise BadInput(f"{told}: that is not a place for notebooks. Choose another file.")


def is_same_file(folder: Path | None, one: str, other: str) -> bool:
    """Whether two paths mean one file. Where the disk cannot tell, a difference in case alone is none."""
    if one == other:
        return True
    if folder is not None:
        try:
            first, second = (folder / one).resolve(), (folder / other).resolve()
            return first == second or first.samefile(second)
        except (OSError, RuntimeError):
            pass  # one of them is not there yet
    return folded(one) == folded(other)


LEASE = "binding:files"
"""No name that anybody could hold by asking for it: those begin with `hold:`."""
LEASE_SECONDS = 30.0
ATTEMPTS = 1500
WAIT_SECONDS = 0.02


class FileBinding(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook that is bound to a file here."""

    log: LogId
    path: str
    since: tuple[str, EventId]
    """When it was bound to this file, and by which event: who came first holds it."""
    by: Entry
    """The last binding that was not made by the mirror, which only follows a file that was renamed."""


class Bindings:
    """The bindings of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._position: int | None = None
        self._bound: dict[LogId, FileBinding] = {}
        self._looking, self._deciding = asyncio.Lock(), asyncio.Lock()

    async def of(self, log: LogId) -> FileBinding | None:
        """The file that a notebook is bound to, as of now. What was bound elsewhere, before an import, is bound to none."""
        async with self._looking:
            await self._catch_up()
            return self._bound.get(log)

    async def all(self) -> list[FileBinding]:
        """Return every binding, as of now."""
        async with self._looking:
            await self._catch_up()
            return list(self._bound.values())

    async def holder(self, path: str, folder: Path | None) -> FileBinding | None:
        """The notebook that holds a file, as of now: the first that was bound to it."""
        async with self._looking:
            await self._catch_up()
            found = [each for each in self._bound.values() if is_same_file(folder, each.path, path)]
            return min(found, key=lambda each: each.since, default=None)

    async def _catch_up(self) -> None:
        position = await self._store.position()
        if self._position is None:
            for info in await self._store.logs("notebook"):
                await self._note(info.log, 0, None)
            self._position = position
        if self._position >= position:
            return
        async for page in self._store.feed(self._position):
            for growth in page:
                await self._note(growth.log, growth.first - 1, growth.seq)
            self._position = max(growth.position for growth in page)
            if self._position >= position:
                return

    async def _note(self, log: LogId, since: int, until: int | None) -> None:
        while records := await self._store.read(log, since, until, types=("file_bound",)):
            for record in records:
                self._add(log, codec.entry(record))
            since = records[-1].seq

    def _add(self, log: LogId, entry: Entry) -> None:
        before = self._bound.pop(log, None)
        if not isinstance(entry.event, FileBound) or entry.event.path is None or entry.imported:
            return
        stays = before is not None and before.path == entry.event.path
        self._bound[log] = FileBinding(
            log=log,
            path=entry.event.path,
            since=before.since if before is not None and stays else (entry.at, entry.id),
            by=before.by if before is not None and entry.actor == MIRROR else entry,
        )

    # ---- One after the other

    @asynccontextmanager
    async def deciding(self) -> AsyncGenerator[Lease]:
        """Be the only one who binds a notebook to a file, in all processes."""
        async with self._deciding:
            lease = await self._taken()
            try:
                yield lease
            finally:
                await asyncio.shield(self._store.release(lease))

    async def is_lost(self, lease: Lease) -> bool:
        """Whether it took so long that others may have been let in."""
        return await self._store.renew(lease, LEASE_SECONDS) is None

    async def _taken(self) -> Lease:
        holder = f"runtime:{this_process()}"
        for _ in range(ATTEMPTS):
            # Shielded: who goes away in between must not leave a lease that nobody knows of.
            asking = asyncio.ensure_future(self._store.acquire(LEASE, holder, LEASE_SECONDS))
            try:
                lease = await asyncio.shield(asking)
            except asyncio.CancelledError:
                if (lease := await asking) is not None:
                    await self._store.release(lease)
                raise
            if lease is not None:
                return lease
            held = await self._store.lease(LEASE)
            if held is not None and is_gone(held.holder):
                await self._store.release(held)
            else:
                await asyncio.sleep(
                    WAIT_SECONDS
                )  # another process holds it: no event of this loop tells when it lets go
        raise Conflict("Somebody else has been binding a file for half a minute. Try again.")
