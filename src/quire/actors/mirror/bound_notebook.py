"""One notebook and its file: whatever happened to either, one step brings them together.

A step reads both, and needs nothing from the step before but saves work when it knows it:
so it does not matter who woke it, how often, or whether this process did the last one. It
holds a lease while it works, so of several mirrors one works at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from ...core import events as e
from ...core.diff.file_conflicts import decided
from ...core.errors import BadInput, Conflict, NotFound, Refused
from ...core.ids import LogId
from ...core.notebook.notebook import Notebook
from ...core.sheet.equality import sharing
from ...core.sheet.sheet import Sheet
from ...formats import registry
from ...workspace.log.locks import Hold
from ...workspace.protocol import Workspace
from .atomic_swap import SwapFile, left_beside
from .file_merge import in_full, is_unmerged, with_ids_of, with_masks
from .file_paths import inside, moved_to
from .file_watch import NORMAL, FileState, Pace, settled, stamp_of
from .from_file import Pull
from .log_side import Book, Voice
from .merge_base import File, MergeBase, file_merged, from_log, is_told
from .to_file import Push, PushedVersion

ATTEMPTS = 20
"""So often somebody may be faster before a step gives up until the next wake."""
LEASE_SECONDS = 30.0


class BoundNotebook:
    """A notebook that follows its file, and the other way round."""

    def __init__(
        self,
        workspace: Workspace,
        log: LogId,
        folder: Path,
        tell: Callable[[str], None],
        taken: Callable[[str], bool],
        pace: Pace = NORMAL,
    ) -> None:
        self.log = log
        self.path: str | None = None
        """Where the file is, as the log says."""
        self.voice = Voice(tell)
        self._workspace, self._folder, self._taken, self._pace = workspace, folder, taken, pace
        self._book = Book(workspace, log)
        self._pull = Pull(self._book, self.voice)
        self._push = Push(self._book, self.voice, self._pull)
        self._refused = ""
        self._agreed: MergeBase | None = None
        self._seen: FileState | None = None
        """The file as it was last looked at."""
        self._inode: tuple[int, int] | None = None
        self._checked_seq = 0
        self._is_tidy = False
        self._not_given_back: Hold | None = None
        """The lease of a step in which the store went away: nobody else has it, and it would keep us waiting for itself."""

    async def step(self) -> bool:
        """Bring both sides together; False when the notebook is bound to no file any more."""
        for _ in range(ATTEMPTS):
            now = await self._book.now()
            self.path = now.binding.path if now.binding is not None else None
            if self.path is None:
                self.voice.say(f"Notebook {now.name!r} is bound to no file. `quire bind {self.log} FILE` binds it.")
                return False
            if now.archived:
                return True
            try:
                if await self._is_done(now, self.path):
                    return True
            except _Unreadable as error:
                self.voice.say(f"{self.path} is left alone until it can be read. {error}")
                return True
        told = f" {self._refused}" if self._refused else ""
        self.voice.say(f"{self.path} and its notebook wait for the next change: somebody was faster each time.{told}")
        return True

    async def _is_done(self, now: Notebook, path: str) -> bool:
        # Before the lease: somebody may write for as long as they like.
        await self._look(inside(self._folder, path))
        if self._is_settled(now, path):
            self.voice.say("")
            return True
        await self._book.check()
        return await self._alone()

    async def _look(self, target: Path) -> FileState | None:
        """The file once it is whole, and remembered as such."""
        try:
            self._seen = await settled(target, self._seen, quiet_seconds=self._pace.quiet_seconds)
        except BadInput as error:
            raise _Unreadable(str(error)) from error
        return self._seen

    def _is_settled(self, now: Notebook, path: str) -> bool:
        """Whether nothing happened to either side since the last look. Costs no lease."""
        known, seen = self._agreed, self._seen
        if known is None or seen is None or self._checked_seq != now.seq:
            return False
        return (known.path, known.digest) == (path, seen.digest)

    async def _alone(self) -> bool:
        """One try while nobody else works on this notebook; False when somebody was faster."""
        async with self._held():
            try:
                done = await self._together()
            except BaseException as error:
                self._is_tidy, self._push.left = False, []
                if not isinstance(error, _Unreadable):
                    self._agreed = None  # what this process knew may no longer be so; the log knows
                if isinstance(error, Refused | Conflict):
                    self._refused = str(error)
                    return False
                raise
            if done and self._agreed is not None:
                self._push.tidy()
            else:
                # Nothing is on record yet: what stands beside the file is still needed.
                self._is_tidy, self._push.left = False, []
            return done

    @asynccontextmanager
    async def _held(self) -> AsyncGenerator[None]:
        if self._not_given_back is not None:
            await self._let_go(self._not_given_back)
        # Another process may hold it: no event of this loop tells when it lets go.
        while (hold := await self._taken_hold()) is None:  # noqa: ASYNC110
            await asyncio.sleep(self._pace.lease_poll_seconds)
        try:
            yield
        finally:
            await asyncio.shield(self._let_go(hold))

    async def _let_go(self, hold: Hold) -> None:
        self._not_given_back = hold
        await self._workspace.let_go(hold)
        self._not_given_back = None

    async def _taken_hold(self) -> Hold | None:
        """The lease, or None while another mirror works. Whoever is cancelled meanwhile leaves none behind."""
        asking = asyncio.ensure_future(self._workspace.hold(f"mirror:{self.log}", LEASE_SECONDS))
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            if (hold := await asking) is not None:
                await self._workspace.let_go(hold)
            raise

    async def _together(self) -> bool:
        now = await self._book.now()
        if now.binding is None:
            return True
        path = now.binding.path
        target, agreed = inside(self._folder, path), await self._last(now)
        seen = await self._look(target)
        if not self._is_tidy:
            agreed = await self._recovered(path, target, agreed)
        if seen is None or (not seen.text.strip() and agreed is None):
            return await self._absent(now, path, target, agreed, seen)
        if not seen.text.strip() and agreed is not None and agreed.full.cells:
            told = f"{path} is empty, which may be half of a change."
            self.voice.say(f"{told} The notebook is as it was; remove cells there.")
            return True
        try:
            said = registry.read(seen.text, path)
        except BadInput as error:
            raise _Unreadable(str(error)) from error
        file = File(path, target, seen, sharing(said, agreed.full) if agreed is not None else said)
        if is_unmerged(file.said) and not (agreed is not None and is_unmerged(agreed.full)):
            raise _Unreadable(
                f"It has an unresolved merge (<<<<<<<). Resolve it, or take one side: git checkout --ours {path}"
            )
        return await self._both(now, agreed, file)

    async def _recovered(self, path: str, target: Path, agreed: MergeBase | None) -> MergeBase | None:
        found = await _look_beside(self._book, path, target, agreed, quiet_seconds=self._pace.quiet_seconds)
        for file in found.unknown:
            self.voice.say_left(file, path)
        self._push.left += found.done
        self._is_tidy = True
        return found.agreed

    async def _both(self, now: Notebook, agreed: MergeBase | None, file: File) -> bool:
        if agreed is None or agreed.digest != file.seen.digest:
            agreed = await self._pull.take(now, agreed, file, may_be_ours=self._agreed is None)
            now = await self._book.now()
        elif agreed.said is None:
            agreed = _as_read(agreed, file)
        if over := decided(now):
            try:
                await self._book.record(over, None)
            except NotFound as error:
                raise Conflict(str(error)) from error  # a person was faster
            now = await self._book.now()
        self._inode = file.seen.stamp.inode
        return self._remember(await self._push.write_over(now, agreed, file))

    async def _last(self, now: Notebook) -> MergeBase | None:
        known, binding = self._agreed, now.binding
        bound = (binding.path, binding.merged_seq) if binding is not None else None
        if known is not None and (known.path, known.merged_seq) == bound:
            return known
        self._agreed = None
        return await from_log(self._workspace, self.log, now)

    def _remember(self, pushed: PushedVersion | None) -> bool:
        if pushed is None:
            return False
        self._agreed, self._checked_seq = pushed.agreed, pushed.seq
        self._inode = pushed.inode or self._inode
        self.voice.say("")
        return True

    # ---- A file that is not there

    async def _absent(
        self, now: Notebook, path: str, target: Path, agreed: MergeBase | None, seen: FileState | None
    ) -> bool:
        if agreed is None:
            return self._remember(await self._push.write_new(now, path, target, seen))
        await asyncio.sleep(self._pace.gone_seconds)
        if stamp_of(target) is not None:
            return False
        new = await moved_to(self._folder, target, agreed, self._inode, quiet_seconds=self._pace.quiet_seconds)
        if new is not None and not self._taken(new.path):
            await self._follow_to(agreed, new.path, new.seen)
            return False
        self.voice.say(
            f"{path} is gone. The notebook stays as it is, and follows the file when it is back; "
            f"`quire bind {now.name} FILE` writes it anew."
        )
        return True

    async def _follow_to(self, agreed: MergeBase, path: str, seen: FileState) -> None:
        cause, kept = agreed.cause, None
        if not agreed.is_state:
            if seen.digest == agreed.digest:
                kept = await self._book.keep(seen.text)
            else:
                cause = await self._book.id_at(agreed.merged_seq)
        bound = e.FileBound(path=path, format=registry.format_of(path))
        await self._book.record([bound, file_merged(path, agreed.digest, kept=kept)], cause)
        self.voice.say(f"{agreed.path} is {path} now.")
        self._agreed = None


def _as_read(agreed: MergeBase, file: File) -> MergeBase:
    """The agreed version, of which the bytes are at hand now."""
    full = in_full(agreed.full, None, file.said, file.path)
    told = with_ids_of(file.said, full)
    if with_masks(agreed.full, full) is not full:
        return replace(agreed, full=full, said=told)  # it says what was masked since, so it is written anew
    return replace(agreed, said=told)


class _Unreadable(Exception):
    """The file is there, and cannot be read: nothing is done to it, nor to the notebook."""


# ---- What a mirror left that was killed while it wrote: from what stands beside the file, how far it came


class _RecoveredState(NamedTuple):
    """The version that both sides had last, for all that is known now."""

    agreed: MergeBase | None
    done: list[Path]
    """What may go once the next merge is on record."""
    unknown: list[Path]
    """What somebody saved in the instant of a write, and what is nowhere else."""


async def _look_beside(
    book: Book, path: str, target: Path, agreed: MergeBase | None, *, quiet_seconds: float
) -> _RecoveredState:
    """Look at what was left beside a file."""
    found = _RecoveredState(agreed, [], [])
    for each in left_beside(target):
        try:
            left = await settled(each.file, quiet_seconds=quiet_seconds)
        except BadInput:  # no text: it is nothing that we wrote
            found = found._replace(unknown=[*found.unknown, each.file])
            continue
        if left is not None:
            found = await _with_left(found, book, each, left, path, target)
    return found


async def _with_left(
    found: _RecoveredState, book: Book, each: SwapFile, left: FileState, path: str, target: Path
) -> _RecoveredState:
    agreed = found.agreed
    if agreed is not None and agreed.merged_seq > each.seq:
        # That write is on record: this is the file that it replaced.
        return found._replace(done=[*found.done, each.file])
    state = await book.state(each.seq, path)
    is_new = state is not None and _tells(left.text, state, path)
    is_replaced = left.digest == agreed.digest if agreed is not None else is_new and stamp_of(target) is not None
    if state is not None and is_replaced:
        # The new one is at its place. What the file says now was made from it.
        seq, cause = agreed.merged_seq if agreed is not None else 1, await book.id_at(each.seq)
        base = MergeBase(path=path, digest="", full=state, merged_seq=seq, cause=cause, is_state=True)
        return found._replace(agreed=base, done=[*found.done, each.file])
    if is_new:
        return found._replace(done=[*found.done, each.file])
    return found._replace(unknown=[*found.unknown, each.file])


def _tells(text: str, state: Sheet, path: str) -> bool:
    try:
        return is_told(state, registry.read(text, path), path)
    except BadInput:
        return False
