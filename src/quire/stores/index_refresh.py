"""Bringing the index up to date: only the logs that have grown, only from where it was."""

from __future__ import annotations

from collections.abc import AsyncIterator

from ..core import codec
from ..core.events import Entry
from ..core.ids import WORKSPACE_LOG, LogId
from ..core.notebook.directory import fold_directory
from ..core.notebook.notebook import Notebook
from ..core.notebook.reduce import REDUCER, fold
from .index import IndexRows, first_difference, index_directory, index_log
from .store import PAGE_BYTES, Growth, Store

_COMPARISONS = 3
"""How often rows are compared of a log that others write to meanwhile."""


async def refresh_index(store: Store) -> None:
    """Index what was recorded since the last time. Safe to do by several at once."""
    while True:
        since, position = await store.indexed(), await store.position()
        if max(since, 0) >= position:
            return
        async for page in store.feed(max(since, 0)):
            if since > 0 and await _was_masked(store, page):
                await store.forget_index()
                break
            rows = IndexRows()
            for growth in page:
                rows.extend(await _rows(store, growth))
            last = max(growth.position for growth in page)
            if not await store.save_index(rows, since, last):
                break  # somebody else was indexing too: look again where it is now
            since = last
            if since >= position:
                return


async def compare_index(store: Store, log: LogId) -> str | None:
    """Compare the index with rows made anew from a log; return the first table that differs.

    Others may write meanwhile: then the rows are of another moment than the log, and are looked at again.
    """
    for _ in range(_COMPARISONS):
        before = await store.info(log)  # before the index is refreshed: it is to hold all of this, and no more
        if before is None:
            return None
        await refresh_index(store)
        kept = await store.index_rows(log)
        made = await _rows(store, Growth(log=log, first=1, seq=before.head.seq, position=0))
        differs = first_difference(IndexRows().replaced(made), kept)
        if differs is None or await store.info(log) == before:
            return differs
    return None  # it never stood still: the next verification sees


async def _was_masked(store: Store, page: list[Growth]) -> bool:
    """Whether somebody masked what may be indexed already: then all of it is made anew."""
    for growth in page:
        if await store.read(growth.log, growth.first - 1, growth.seq, types=("payload_redacted",), limit=1):
            return True
    return False


async def _rows(store: Store, growth: Growth) -> IndexRows:
    if growth.log == WORKSPACE_LOG:
        return index_directory(fold_directory(await _entries(store, growth.log, growth.seq)))
    state, rows = await _state(store, growth.log, growth.first - 1), IndexRows(logs=[growth.log])
    # Page by page: a log may have grown by more than memory holds.
    async for entries in _pages(store, growth.log, state.seq, growth.seq):
        rows = _joined(rows, index_log(growth.log, state, entries))
        if entries[-1].seq < growth.seq:
            state = fold(entries, state)
    return rows


def _joined(rows: IndexRows, newer: IndexRows) -> IndexRows:
    """The rows of two parts of one log that come after each other."""
    joined = rows.replaced(newer)
    joined.logs, joined.shown = newer.logs, [*rows.shown, *newer.shown]
    return joined


async def _state(store: Store, log: LogId, seq: int) -> Notebook:
    found = await store.snapshot(log, REDUCER, seq)
    notebook = codec.unpack(found.data) if found is not None else Notebook()
    async for entries in _pages(store, log, notebook.seq, seq):
        notebook = fold(entries, notebook)
    return notebook


async def _pages(store: Store, log: LogId, since: int, until: int) -> AsyncIterator[list[Entry]]:
    while since < until and (records := await store.read(log, since, until, most_bytes=PAGE_BYTES)):
        yield [codec.entry(record) for record in records]
        since = records[-1].seq


async def _entries(store: Store, log: LogId, until: int) -> list[Entry]:
    return [entry async for page in _pages(store, log, 0, until) for entry in page]
