"""Two agents and a person in one notebook: no update is lost, and every refusal is repaired from what it says itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ..doors.mcp.agents import Agent, over_http, over_stdio
from .live_runtimes import end_runtimes
from .server import Folder, Server
from .writers import AgentWriter, Call, PersonWriter, Writer, marks

CELLS = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    made = Folder(tmp_path_factory.mktemp("together"))
    made.quire("init")
    yield made
    made.close()
    end_runtimes(made.path)


@pytest.fixture(scope="module")
def server(folder: Folder) -> Server:
    return folder.start()


def token(folder: Folder, name: str, kind: str) -> str:
    return folder.token("read", "edit", actor=f"{kind}:{name}")


def calling(agent: Agent, notebook: str) -> Call:
    """The tool `edit`, and no other."""

    def call(edits: list[dict[str, Any]]) -> tuple[bool, dict[str, Any]]:
        # Marks and pieces of lines: nobody runs them, and some are no Python.
        result = agent.call("edit", notebook=notebook, edits=edits, check=False)
        assert result.structured_content is not None, result
        return not result.is_error, result.structured_content

    return call


@pytest.mark.parametrize(
    "edits",
    [
        40,
        pytest.param(100, marks=pytest.mark.slow),
        pytest.param(2000, marks=[pytest.mark.torture, pytest.mark.timeout(3600)]),
    ],
)
def test_no_update_is_lost_and_every_refusal_is_repaired_without_a_read(
    folder: Folder, server: Server, edits: int
) -> None:
    """Rule 8."""
    name = f"shared {edits}"
    with (
        over_http(server.url, token(folder, "one", "agent")) as one,
        over_stdio(folder.path, "--as", "two") as two,
        server.client(token(folder, "ada", "human")) as client,
    ):
        inserts = [{"op": "insert", "after": "end", "source": f"# cell {number}"} for number in range(CELLS)]
        made, facts = calling(one, name)(inserts)
        assert made, facts
        known = {cell: f"# cell {number}" for number, cell in enumerate(facts["inserted"])}
        log = facts["notebook"]
        agents = [AgentWriter(edits, calling(one, log), known), AgentWriter(edits + 1, calling(two, log), known)]
        person = PersonWriter(edits + 2, client, log)
        together([agent.step for agent in agents] + [person.step], edits)
        check(client.get(f"/api/notebooks/{log}").json(), [*agents, person])
        assert all(agent.refusals for agent in agents), "nobody was in anybody's way: this has shown nothing"
    folder.quire("verify", log)


def together(steps: list[Callable[[], None]], times: int) -> None:
    """All at once, each in a thread of its own; the first fault is told."""
    faults: list[BaseException] = []

    def work(step: Callable[[], None]) -> None:
        try:
            for _ in range(times):
                if faults:
                    return
                step()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(step,)) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


def check(notebook: Any, writers: list[Writer]) -> None:
    """Each mark that came is there once, but for those that somebody who saw them took out. Of removed cells, too."""
    there = [mark for cell in notebook["cells"].values() for mark in marks(cell.get("source", ""))]
    came = set[str]().union(*(writer.came for writer in writers))
    went = set[str]().union(*(writer.went for writer in writers))
    assert len(there) == len(set(there)), "something is there twice"
    assert set(there) == came - went
    assert all(writer.came for writer in writers)
