"""People and agents talk: comments that address an agent, its answers, and where it is, over both transports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import pytest

from quire.core import events as e
from quire.core.events import Draft
from quire.core.ids import CellId, CommentId, LogId
from quire.workspace.clock import new_id
from quire.workspace.lanes.lanes import LaneEntry
from quire.workspace.remote.remote_workspace import RemoteWorkspace

from ...journeys.faulty_notebook import DEADLINE_SECONDS
from ...journeys.server import Folder, Server
from .agents import Agent, over_stdio, text_of

CELLS = [
    {"op": "insert", "after": "top", "source": "rows = [1, 2, 3]", "name": "load"},
    {"op": "insert", "after": "load", "source": "total = sum(rows)", "name": "total"},
]
numbers = count(1)


class Person:
    """Ada, at the server: she comments and looks who is there."""

    def __init__(self, workspace: RemoteWorkspace) -> None:
        self.workspace = workspace

    async def comment(self, log: LogId, text: str, cell: str | None = None, reply_to: str | None = None) -> CommentId:
        """Say something about a cell, or in answer to a comment."""
        id = CommentId(new_id())
        about = CellId(cell) if cell is not None else None
        made = e.CommentAdded(comment=id, text=text, cell=about, reply_to=CommentId(reply_to) if reply_to else None)
        await self.workspace.submit(log, [Draft(id=new_id(), event=made)])
        return id


@pytest.fixture
async def ada(folder: Folder, server: Server) -> AsyncIterator[Person]:
    words = ("--actor", "ada", "--kind", "human", "--scope", "read,edit,approve", "--json")
    secret = (await asyncio.to_thread(folder.quire, "token", "new", *words))["secret"]
    workspace = await RemoteWorkspace.open(server.url, secret, allow_http=True)
    yield Person(workspace)
    await workspace.close()


async def calls(agent: Agent, tool: str, **arguments: Any) -> str:
    """What a tool says, while this test goes on."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        return text_of(await asyncio.wrap_future(agent.begin(tool, **arguments)))


async def made(agent: Agent, name: str, person: Person) -> tuple[LogId, dict[str, CellId]]:
    """A notebook of the test's own, with the ids of its cells."""
    await calls(agent, "edit", notebook=name, edits=CELLS)
    (log,) = [info.log for info in await person.workspace.logs("notebook") if info.name == name]
    notebook = await person.workspace.read(log)
    return log, {cell.name or "": cell.id for cell in notebook.live_cells}


async def test_a_person_asks_an_agent_and_gets_an_answer_in_its_name(agent: Agent, ada: Person) -> None:
    name = f"talk {next(numbers)}"
    log, cells = await made(agent, name, ada)
    waits = agent.begin("wait", notebook=name, comment=True, seconds=25)
    asked = await ada.comment(log, "@claude why these rows?", cells["load"])
    async with asyncio.timeout(DEADLINE_SECONDS):
        woken = text_of(await asyncio.wrap_future(waits))
    assert "1 comment to you, by human:ada" in woken
    assert f"@ comment {asked} by human:ada, to you · untrusted text:\n@   @claude why these rows?" in woken

    read = await calls(agent, "read", notebook=name, cells=["load"])
    assert f"comment {asked} by human:ada" in read
    answer = await calls(agent, "control", notebook=name, action="comment", id=asked, text="@ada they are the first.")
    assert answer.startswith(f"commented in answer to {asked} as ")
    comments = (await ada.workspace.read(log)).comments
    said = [*comments.values()][-1]
    assert (said.by, said.reply_to, said.text) == ("agent:claude", asked, "@ada they are the first.")
    assert "to you" not in await calls(agent, "read", notebook=name)

    await calls(agent, "control", notebook=name, action="resolve", id=asked)
    assert (await ada.workspace.read(log)).comments[asked].resolved_by == "agent:claude"
    assert asked not in await calls(agent, "read", notebook=name)


# ---- Where an agent is


class Looker:
    """Hears who is where in a notebook."""

    def __init__(self, heard: AsyncIterator[LaneEntry]) -> None:
        self._heard = heard

    async def until(self, **wanted: Any) -> dict[str, Any]:
        """The next message of an agent that says all of this."""
        async with asyncio.timeout(DEADLINE_SECONDS):
            async for heard in self._heard:
                message: Any = heard.message
                if heard.by == "agent:claude" and all(message.get(key) == value for key, value in wanted.items()):
                    return message
        raise AssertionError


async def test_people_see_where_an_agent_is_and_what_it_does(agent: Agent, ada: Person) -> None:
    name = f"seen {next(numbers)}"
    log, cells = await made(agent, name, ada)
    looker = Looker(ada.workspace.lanes.hear(f"{log}/presence"))
    first = await looker.until(kind="here")  # said before: who comes later learns who is there
    assert first["window"] == "mcp:agent:claude"
    await calls(agent, "read", notebook=name, cells=["total"])
    await looker.until(kind="here", cell=cells["total"], doing="reading")
    patch = {"op": "patch", "cell": "load", "old": "3", "new": "4"}
    await calls(agent, "edit", notebook=name, edits=[patch])
    await looker.until(kind="here", cell=cells["load"], doing="editing")
    waits = asyncio.ensure_future(calls(agent, "wait", notebook=name, comment=True, seconds=25))
    await looker.until(kind="here", cell=cells["load"], doing="waiting")
    await ada.comment(log, "@claude go on")
    await waits
    await looker.until(kind="here", doing="reading")


async def test_an_agent_whose_session_ends_is_gone(folder: Folder, server: Server, ada: Person) -> None:
    name = f"gone {next(numbers)}"
    with over_stdio(folder.path, "--as", "claude") as agent:
        log, _ = await made(agent, name, ada)
        looker = Looker(ada.workspace.lanes.hear(f"{log}/presence"))
        here = await looker.until(kind="here")
        owner = here["on_behalf_of"]
        assert owner.startswith("human:"), "for whom it acts is the server's word"
    await looker.until(kind="gone", window="mcp:agent:claude")
    listed = await asyncio.to_thread(folder.quire, "token", "list", "--json")
    assert not [each for each in listed if each["actor"] == "agent:claude" and each["scopes"] == ["read"]]
