"""A workspace with an owner, and with bearers of tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quire.core import events as e
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace

from .doors import EVERYWHERE, Place, bearer, opened_place
from .identities import (
    ADA,
    AGENT,
    ALL,
    LOG,
    OTHER,
    A,
    B,
    Clock,
    OpenOne,
    say,
)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=EVERYWHERE)
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    """Where a workspace is: everywhere, unless a test says that less is enough, and why (doors.py)."""
    async with opened_place(request.param, request, tmp_path) as opened:
        yield opened


@pytest.fixture
async def open_one(place: Place, clock: Clock) -> OpenOne:
    """As many processes would open it."""

    async def opened() -> LocalWorkspace:
        return await place.owner(clock.now)

    return opened


@pytest.fixture
async def owner(open_one: OpenOne) -> LocalWorkspace:
    """Who owns the files."""
    return await open_one()


@pytest.fixture
async def ada(owner: LocalWorkspace) -> Workspace:
    """The bearer of a token with every scope, who made two notebooks."""
    made = await bearer(owner, ADA, *ALL)
    for log in (LOG, OTHER):
        await say(
            made,
            e.NotebookCreated(name=f"notebook {log}"),
            e.CellAdded(cell=A, after=None, source="x = 1"),
            e.CellAdded(cell=B, after=A, kind="sql", source="select 1"),
            log=log,
        )
    return made


@pytest.fixture
async def agent(owner: LocalWorkspace, ada: Workspace) -> Workspace:
    return await bearer(owner, AGENT, "read", "edit", "run", "bind", on_behalf_of=ADA, asks=["edit", "run"])
