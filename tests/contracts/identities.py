"""Who takes part in the tests of rights, and what they say."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import count
from typing import Any

import pytest

from quire.core import events as e
from quire.core.errors import Refused
from quire.core.events import Draft, Entry, KnownEvent
from quire.core.ids import (
    WORKSPACE_LOG,
    ActorId,
    CellId,
    CommentId,
    EventId,
    ExecutionId,
    LogId,
    ProposalId,
    RuntimeId,
)
from quire.core.text import source_hash
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace

LOG, OTHER, RUN = LogId("n1"), LogId("n2"), LogId("r1")
A, B = CellId("aaaa1111"), CellId("bbbb2222")
X = ExecutionId("x1")
ADA, BOB, EVE = ActorId("human:ada"), ActorId("human:bob"), ActorId("human:eve")
AGENT = ActorId("agent:claude")
ALL: tuple[e.Scope, ...] = ("read", "edit", "run", "approve", "admin", "bind")
AGENTS: tuple[e.Scope, ...] = ("read", "edit", "run", "admin", "bind")
"""All that an agent can have."""
OpenOne = Callable[[], Awaitable[LocalWorkspace]]


class Clock:
    """A time that only tests move on."""

    def __init__(self) -> None:
        self.hour = 0

    def now(self) -> str:
        return f"2026-03-02T{self.hour:02}:00:00.000000Z"


_numbers = count()


def draft(event: KnownEvent) -> Draft:
    return Draft(id=EventId(f"d{next(_numbers)}"), event=event)


async def say(workspace: Workspace, *events: KnownEvent, log: LogId = LOG) -> list[Entry]:
    return await workspace.submit(log, [draft(event) for event in events])


async def bearer(workspace: LocalWorkspace, actor: ActorId, *scopes: e.Scope, **limits: Any) -> LocalWorkspace:
    return await workspace.bearer((await workspace.create_token(actor, scopes, **limits)).secret)


async def give(workspace: Workspace, actor: ActorId, role: e.Role | None, notebook: LogId | None = LOG) -> None:
    await say(workspace, e.RoleSet(actor=actor, role=role, notebook=notebook), log=WORKSPACE_LOG)


async def refused(asking: Awaitable[Any]) -> str:
    with pytest.raises(Refused) as error:
        await asking
    return str(error.value)


async def drained(pages: AsyncIterator[Any]) -> list[Any]:
    return [page async for page in pages]


RENAMED = e.NotebookRenamed(name="other")
REQUESTED = e.ExecutionRequested(execution=X, cell=A, source_hash=source_hash("x = 1"))


def everything(workspace: Workspace, log: LogId) -> Iterator[tuple[e.Scope, Callable[[], Awaitable[Any]]]]:
    """Each way to see or change something of a log, with the scope it needs."""
    claim = e.ExecutionClaimed(execution=X, runtime=RuntimeId(workspace.identity.actor), epoch=1)
    yield "read", lambda: workspace.read(log)
    yield "read", lambda: workspace.read(log, 1)
    yield "read", lambda: workspace.entries(log)
    yield "read", lambda: drained(workspace.follow(log))
    yield "read", lambda: workspace.holding(log, "secret")
    yield "read", lambda: workspace.export_bundle(log, io.BytesIO())
    yield "edit", lambda: say(workspace, RENAMED, log=log)
    yield "edit", lambda: say(workspace, e.CommentAdded(comment=CommentId("c"), text="x"), log=log)
    yield "run", lambda: say(workspace, REQUESTED, log=log)
    yield "serve", lambda: workspace.renew(log, claim)
    yield "serve", lambda: workspace.release(log, claim)
    yield "approve", lambda: say(workspace, e.ProposalAccepted(proposal=ProposalId("p")), log=log)
    yield "approve", lambda: say(workspace, e.ProposalDeclined(proposal=ProposalId("p")), log=log)
    yield "admin", lambda: say(workspace, e.PayloadRedacted(seq=1, why="x"), log=log)
    yield "admin", lambda: workspace.redact(log, [1], "x")
    yield "admin", lambda: workspace.forget_snapshots(log)
    yield "admin", lambda: give(workspace, EVE, "owner", log)
