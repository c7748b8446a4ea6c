"""Which logs refer to which blob: a blob is for whoever may read a notebook that refers to it, until then for its uploader.

Kept in memory, made from the logs: the feed tells which have grown, and only their new events
are read. So the first look of a process reads the events that can hold blobs once, and each
later one costs a question about the store's position. Those who may read everything
anyway never cause it to be made. Who uploaded what no log refers to yet is a lease in the store, so that another
server, or the next one, knows it too.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from ...core import codec
from ...core.event_fields import blob_refs
from ...core.events import LogPruned
from ...core.ids import WORKSPACE_LOG, ActorId, LogId
from ...stores.store import Growth, Store

WITH_BLOBS = (
    "output_added",
    "display_updated",
    "stream_appended",
    "result_recorded",
    "outputs_imported",
    "file_merged",
    "environment_recorded",
    "run_finished",
)
"""The events that can refer to blobs."""
_MASKED = "payload_redacted"
MOST_KEPT = 10_000
"""How many uploads a process remembers without a look at the store."""
UPLOAD_SECONDS = 86_400.0
"""How long there is to refer to what one uploaded."""


class References:
    """The blobs of one store, by who refers to them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._position = 0
        self._logs: dict[str, set[LogId]] = {}
        self._kept: OrderedDict[tuple[str, ActorId], None] = OrderedDict()
        self._lock = asyncio.Lock()

    async def keep(self, hash: str, actor: ActorId) -> None:
        """Note that somebody had these bytes: they may read them back, and refer to them."""
        await self._store.acquire(_upload(hash, actor), actor, UPLOAD_SECONDS)
        self._kept[hash, actor] = None
        self._kept.move_to_end((hash, actor))
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    async def had(self, hash: str, actor: ActorId) -> bool:
        """Whether somebody put these bytes here themselves."""
        return (hash, actor) in self._kept or await self._store.lease(_upload(hash, actor)) is not None

    async def referred(self, hash: str, actor: ActorId) -> None:
        """Forget an upload: from now on a log tells who may read it."""
        lease = await self._store.lease(_upload(hash, actor))
        if lease is not None:
            await self._store.release(lease)

    async def catch_up(self) -> None:
        """Read what was recorded meanwhile."""
        async with self._lock:
            await self._catch_up()

    def known(self, hash: str) -> set[LogId]:
        """The logs with an event that refers to a blob, as of the last look."""
        return self._logs.get(hash, set())

    async def logs(self, hash: str) -> set[LogId]:
        """The logs with an event that refers to a blob, as of now."""
        async with self._lock:
            await self._catch_up()
            return set(self._logs.get(hash, ()))

    async def _catch_up(self) -> None:
        position = await self._store.position()
        if self._position >= position:
            return
        async for page in self._store.feed(self._position):
            for growth in page:
                await self._note(growth)
            self._forget({log for growth in page if growth.log == WORKSPACE_LOG for log in await self._pruned(growth)})
            self._position = max(growth.position for growth in page)
            if self._position >= position:
                return

    async def _pruned(self, growth: Growth) -> list[LogId]:
        """The logs that were removed, as the workspace's log tells in what it grew by."""
        records = await self._store.read(growth.log, growth.first - 1, growth.seq, types=("log_pruned",))
        events = [codec.entry(record).event for record in records]
        return [event.log for event in events if isinstance(event, LogPruned)]

    def _forget(self, gone: set[LogId]) -> None:
        if gone:
            self._logs = {hash: left for hash, logs in self._logs.items() if (left := logs - gone)}

    async def _note(self, growth: Growth) -> None:
        since = growth.first - 1
        if since and await self._store.read(growth.log, since, growth.seq, limit=1, types=(_MASKED,)):
            for logs in self._logs.values():
                logs.discard(growth.log)
            since = 0
        while records := await self._store.read(growth.log, since, growth.seq, types=WITH_BLOBS):
            # Most of what is printed has no blob, and decoding is what takes long. A key may also stand there escaped.
            for record in [each for each in records if '"hash"' in each.payload or "\\u" in each.payload]:
                for ref in blob_refs(codec.entry(record).event):
                    self._logs.setdefault(ref.hash, set()).add(growth.log)
            since = records[-1].seq


def _upload(hash: str, actor: ActorId) -> str:
    return f"upload:{hash}:{actor}"
