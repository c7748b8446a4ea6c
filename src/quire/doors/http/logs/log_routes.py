"""Logs: which there are, what stands in them, and writing into them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated
from urllib.parse import unquote

import msgspec
from litestar.params import FromPath
from msgspec import Meta

from ....core import codec
from ....core.chain import Record
from ....core.errors import BadInput, NotFound
from ....core.ids import CellId, LogId
from ....core.notebook.directory import Directory
from ....workspace.identity.approval import proposed
from ....workspace.local import LocalWorkspace
from ....workspace.log.cell_history import CellHistory
from ....workspace.protocol import LogInfo, LogKind
from ....workspace.wire import frames
from ....workspace.wire.bodies import Body, Number
from ..auth import Asked
from ..response_stream import while_there
from ..route import Asking, body_of, checked, query_of, route

PAGE_BYTES = 8 << 20
"""An answer ends with the event that goes past so many bytes."""
_AT_ONCE = 100
_MOST_NAME = 400


class LogsAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which logs."""

    kind: LogKind | None = None


class EventsAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which events: those with since < seq <= until."""

    since: Number = 0
    until: Number | None = None
    limit: Annotated[int, Meta(ge=1, le=2000)] = 2000
    types: tuple[str, ...] = ()
    """Only these; with commas, or the parameter more than once."""
    cell: CellId | None = None
    """Only what happened to this cell; without `types`, not what it showed."""
    newest_first: bool = False
    """The last ones first: ask again with `until` one less than the last number. Not together with `cell`."""


class FeedAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """From where on."""

    since: Number | None = None


@route("GET", "/api/directory", "directory", tag="workspace", answer=Directory)
async def directory(workspace: Asked) -> Directory:
    """What is true across notebooks: actors, roles, policies, tokens without their secrets, imports."""
    return await workspace.directory()


@route("GET", "/api/logs", "logs", tag="logs", query=LogsAsked, answer=list[LogInfo])
async def logs(request: Asking, workspace: Asked) -> list[LogInfo]:
    """List the logs that the bearer may read, the one begun last first."""
    return await workspace.logs(query_of(request, LogsAsked).kind)


@route("GET", "/api/logs/{name}", "find", tag="logs", answer=LogInfo)
async def find(request: Asking, name: FromPath[str], workspace: Asked) -> LogInfo:
    """Find the one log of that id, name or beginning of an id."""
    wanted = unquote(request.scope["raw_path"].decode("latin-1").rpartition("/")[2])  # a name may hold a slash
    if not 0 < len(wanted) <= _MOST_NAME:
        raise NotFound(f"There is no notebook or run {wanted[:80]!r}: names are shorter.")
    return await workspace.find(wanted)


@route("GET", "/api/logs/{log}/events", "events", tag="logs", query=EventsAsked, answer=frames.LogPage)
async def events(request: Asking, log: FromPath[str], workspace: Asked) -> frames.LogPage:
    """Read events of a log, in order and as they are stored.

    Ask again from the last number as long as `more` is true: an answer has 2000 events at most, and some megabytes; with
    `newest_first`, up to the number before the last one. With
    `cell`, only what names the cell, one of its executions, or a proposal about it; what it showed if `types` says so. Then
    `since` leaves out what came before it.
    """
    id, asked = LogId(checked(log, "Log")), query_of(request, EventsAsked)
    if asked.cell is not None:
        checked(asked.cell, "Cell")
        if asked.newest_first:
            raise BadInput("What happened to a cell is read in order: leave out `newest_first` or `cell`.")
    return await while_there(request, _page(workspace, id, asked))


async def _page(workspace: LocalWorkspace, log: LogId, asked: EventsAsked) -> frames.LogPage:
    entries: list[frames.EntryOnWire] = []
    size = 0
    records = _records(workspace, log, asked) if asked.cell is None else _of_cell(workspace, log, asked, asked.cell)
    async for record in records:
        if len(entries) == asked.limit or size > PAGE_BYTES:
            return frames.LogPage(entries=entries, more=True)
        entries.append(frames.from_record(record))
        size += len(record.payload)
    return frames.LogPage(entries=entries)


async def _records(workspace: LocalWorkspace, log: LogId, asked: EventsAsked) -> AsyncIterator[Record]:
    since, until, backwards = asked.since, asked.until, asked.newest_first
    while page := await workspace.records(
        log, since, until, limit=_AT_ONCE, types=asked.types or None, newest_first=backwards
    ):
        for record in page:
            yield record
        last = page[-1].seq
        since, until = (since, last - 1) if backwards else (last, until)


async def _of_cell(workspace: LocalWorkspace, log: LogId, asked: EventsAsked, cell: CellId) -> AsyncIterator[Record]:
    """The records about a cell. From the first on: what an execution or a proposal is about stands where it was made."""
    history = CellHistory(cell)
    wanted = set(asked.types)
    scanned = history.types_of_interest | wanted
    everything = msgspec.structs.replace(asked, since=0, types=tuple(sorted(scanned)))
    async for record in _records(workspace, log, everything):
        if history.concerns(record) and record.seq > asked.since and (not wanted or record.type in wanted):
            yield record


@route("POST", "/api/logs/{log}/events", "submit", tag="logs", body=frames.Submission, answer=frames.SubmissionOutcome)
async def submit(request: Asking, log: FromPath[str], workspace: Asked) -> frames.SubmissionOutcome:
    """Record drafts in a log, in this order, all or none.

    The first event of a new log says what it is: `notebook_created` or `run_requested`. A draft whose id or key was
    used before is answered with the first event. Of a bearer who has to ask, the drafts become one proposal.
    """
    id = LogId(checked(log, "Log"))
    sent = await body_of(request, frames.Submission)
    drafts = [codec.draft_from(each) for each in sent.drafts]
    entries = await workspace.submit(id, drafts, lease_seconds=sent.lease_seconds)
    asked = proposed(drafts, entries) is not None
    return frames.SubmissionOutcome(entries=[frames.from_entry(entry) for entry in entries], proposed=asked)


@route("GET", "/api/feed", "feed", tag="logs", query=FeedAsked, answer=frames.FeedPage)
async def feed(request: Asking, workspace: Asked) -> frames.FeedPage:
    """Tell which logs have grown since a position, at once; without one, only the position. The socket goes on telling."""
    growth, position = await workspace.grown(query_of(request, FeedAsked).since)
    return frames.FeedPage(growth=growth, position=position)


ROUTES = [directory, logs, find, events, submit, feed]
