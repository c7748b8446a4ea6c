"""What agents get wrong: a clear answer that says what to do, and nothing is done."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from ...journeys.server import Folder, Server
from .agents import Agent, over_http

NAME = "sales"
SOURCE = "rows = [1, 2, 3]"
CELLS = [
    {"op": "insert", "after": "top", "source": SOURCE, "name": "load"},
    {"op": "insert", "after": "load", "source": "total = sum(rows)", "name": "total"},
]
NEVER = "0123456789ab"


@pytest.fixture(scope="module")
def agent(server: Server, secret: str) -> Iterator[Agent]:
    with over_http(server.url, secret) as made:
        made.told("edit", notebook=NAME, edits=CELLS)
        yield made


@pytest.fixture(autouse=True)
def nothing_is_done(folder: Folder, agent: Agent) -> Iterator[None]:
    before = state(folder)
    yield
    assert state(folder) == before


def state(folder: Folder) -> Any:
    """How long each log is, and which files there are."""
    with contextlib.closing(sqlite3.connect(folder.path / ".quire" / "quire.db")) as connection:
        logs = connection.execute("SELECT log, max(seq) FROM events GROUP BY log ORDER BY log").fetchall()
    return logs, sorted(folder.path.rglob("*.py")), sorted(folder.path.parent.glob("*.py"))


def edit(agent: Agent, *edits: dict[str, Any], **more: Any) -> str:
    return agent.refused("edit", notebook=NAME, edits=list(edits), **more)


def test_a_notebook_that_is_none_is_answered_with_the_nearest(agent: Agent):
    for tool, more in (("read", {}), ("run", {}), ("wait", {}), ("execute", {"code": "1"}), ("output", {"of": "load"})):
        told = agent.refused(tool, notebook="salse", **more)
        assert "salse" in told
        assert NAME in told


def test_a_cell_that_is_none_is_answered_with_the_nearest(agent: Agent):
    for tool, more in (("read", {"cells": ["lod"]}), ("run", {"cells": ["lod"]}), ("output", {"of": "lod"})):
        told = agent.refused(tool, notebook=NAME, **more)
        assert "lod" in told
        assert "load" in told
    assert "load" in edit(agent, {"op": "patch", "cell": "lod", "old": "1", "new": "2"})


def test_a_run_and_a_handle_that_are_none_are_said_to_be_none(agent: Agent):
    assert "01ZZZZ" in agent.refused("read", notebook="01ZZZZZZZZZZZZZZZZZZZZZZZZ")
    assert "01ZZZZ" in agent.refused("control", notebook="01ZZZZZZZZZZZZZZZZZZZZZZZZ", action="cancel")
    for handle in ("load.0@999999", "load.7", "load.0@1:text/nothing", "@", "load.0@-1", "x" * 300):
        assert len(agent.refused("output", notebook=NAME, of=handle)) > 20


def test_types_that_are_wrong_are_named_with_an_example(agent: Agent):
    assert "Expected `int`, got `str` at `budget`" in agent.refused("read", notebook=NAME, budget="many")
    assert "Example: {" in agent.refused("run", notebook=NAME, cells={"all": True})
    assert "`edits[0]`" in edit(agent, {"op": "delete", "cell": "load"})
    assert "edits" in agent.refused("edit", notebook=NAME, edits=[])


def test_a_base_that_never_was_is_answered_with_what_is(agent: Agent):
    told = edit(agent, {"op": "replace", "cell": "load", "base": NEVER, "source": "rows = []"})
    assert NEVER in told
    assert SOURCE in told


def test_ten_megabytes_of_source_are_too_much(agent: Agent):
    large = "x = 1\n" * 1_700_000
    assert "10,200,000 characters" in edit(agent, {"op": "insert", "after": "end", "source": large})
    assert len(agent.refused("execute", notebook=NAME, code=large)) < 10_000


def test_code_that_does_not_parse_is_shown_where_it_does_not(agent: Agent):
    told = edit(agent, {"op": "insert", "after": "end", "source": "x = 1\ny = (2"})
    assert "y = (2" in told
    assert "line 2" in told


def test_a_batch_that_contradicts_itself_is_refused_as_a_whole(agent: Agent):
    (cell,) = agent.facts("read", notebook=NAME, cells=["load"])["cells"]
    told = edit(
        agent,
        {"op": "insert", "after": "end", "source": "fine = True"},
        {"op": "delete", "cell": "load", "base": cell["hash"]},
        {"op": "patch", "cell": "load", "old": "1", "new": "2"},
    )
    assert "2" in told
    assert "3" in told


def test_a_new_notebook_takes_inserts_and_nothing_else(agent: Agent):
    told = agent.refused("edit", notebook="brand new", edits=[{"op": "move", "cell": "load", "after": "top"}])
    assert "brand new" in told


def test_paths_lead_nowhere_else(agent: Agent):
    for path in ("../outside.py", "/etc/passwd", "/etc/hosts.py", "a\0b.py", "x" * 501):
        agent.refused("read", notebook=path)
    inserts = [{"op": "insert", "after": "end", "source": "1"}]
    for path in ("../outside.py", "/tmp/outside.py", ".quire/inside.py"):
        agent.refused("edit", notebook=path, edits=inserts)


def test_controls_without_what_they_need_say_what_that_is(agent: Agent):
    for action in ("comment", "resolve", "answer", "withdraw"):
        assert agent.refused("control", notebook=NAME, action=action)
    for id in ("01ZZZZZZZZZZZZZZZZZZZZZZZZ", "", "x" * 1000):
        assert agent.refused("control", notebook=NAME, action="resolve", id=id)
        assert agent.refused("control", notebook=NAME, action="withdraw", id=id)
        assert agent.refused("wait", notebook=NAME, proposal=id or "?")


def test_a_proposal_of_nothing_is_none(agent: Agent):
    assert agent.refused("propose", notebook=NAME, why="Because.")
    assert agent.refused("propose", notebook=NAME, why="", edits=[{"op": "move", "cell": "load", "after": "end"}])
