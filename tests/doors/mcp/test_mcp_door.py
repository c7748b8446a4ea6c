"""The door as the official client sees it: over both transports, and from both eras of the protocol."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import BlobResourceContents, TextResourceContents

from quire import __version__
from quire.doors.mcp.tools import INSTRUCTIONS, TOOLS

from ...journeys.server import Folder
from .agents import Agent, text_of

CELLS = [
    {"op": "insert", "after": "top", "source": "# Sales", "kind": "markdown", "name": "title"},
    {"op": "insert", "after": "title", "source": "rows = [1, 2, 3]", "name": "load"},
    {"op": "insert", "after": "load", "source": "total = sum(rows)", "name": "total", "tags": ["result"]},
]

numbers = count(1)


@pytest.fixture
def notebook(agent: Agent, request: pytest.FixtureRequest) -> str:
    """One of the test's own."""
    name = f"sales {request.node.callspec.id} {next(numbers)}"
    agent.told("edit", notebook=name, edits=CELLS)
    return name


def test_it_says_who_it_is_and_how_to_work(agent: Agent):
    assert agent.client.instructions == INSTRUCTIONS
    assert agent.client.server_info is not None
    assert (agent.client.server_info.name, agent.client.server_info.version) == ("quire", __version__)


def test_what_is_sent_of_the_tools_is_under_twelve_thousand_characters(agent: Agent):
    tools = agent.portal.call(agent.client.list_tools).tools
    assert [tool.name for tool in tools] == list(TOOLS)
    sent = [tool.name + (tool.description or "") + json.dumps(tool.input_schema, ensure_ascii=False) for tool in tools]
    assert sum(map(len, sent)) < 12_000
    for tool in tools:
        assert tool.output_schema is None
        assert tool.input_schema == TOOLS[tool.name].schema


def test_hints_tell_what_only_reads_and_what_may_destroy(agent: Agent):
    hints = {tool.name: tool.annotations for tool in agent.portal.call(agent.client.list_tools).tools}
    assert {name for name, hint in hints.items() if hint and hint.read_only_hint} == {"find", "read", "wait", "output"}
    destroys = {name for name, hint in hints.items() if hint and hint.destructive_hint}
    assert destroys == {"edit", "run", "execute", "control"}
    assert {name for name, hint in hints.items() if hint and hint.open_world_hint} == {"run", "execute"}


def test_a_notebook_is_made_read_changed_and_found(agent: Agent, notebook: str):
    read = agent.call("read", notebook=notebook, cells=["total"])
    assert not read.is_error
    assert read.content[0].annotations is not None
    assert read.content[0].annotations.audience == ["assistant"]
    facts: Any = read.structured_content
    (cell,) = facts["cells"]
    assert f"#{cell['hash'][:8]}" in text_of(read)
    patch = {"op": "replace", "cell": "total", "base": cell["hash"][:8], "source": "grand_total = sum(rows)"}
    changed = agent.facts("edit", notebook=notebook, edits=[patch])
    assert changed["cursor"] > facts["cursor"]
    assert "grand_total" in agent.told("read", notebook=notebook, cells=["total"])
    assert "grand_total" in agent.told("read", notebook=notebook, since=facts["cursor"])
    assert notebook in agent.told("find", query="grand_total", kind="cell", limit=100)


def test_whoever_comes_is_an_agent_and_on_record(agent: Agent, notebook: str, folder: Folder):
    entries = folder.quire("log", notebook, "--json")
    assert {entry["actor"] for entry in entries} == {"agent:claude"}


def test_an_agent_proposes_and_cannot_say_yes(agent: Agent, notebook: str):
    edits = [{"op": "tag", "cell": "load", "add": ["slow"]}]
    made = agent.facts("propose", notebook=notebook, why="It takes long.", edits=edits)
    assert "It takes long." in agent.told("read", notebook=notebook)
    assert agent.facts("wait", notebook=notebook, proposal=made["proposal"], seconds=0)["state"] == "proposed"


# ---- Resources


def test_notebooks_and_cells_are_resources(agent: Agent, notebook: str):
    listed = agent.portal.call(agent.client.list_resources).resources
    (resource,) = [each for each in listed if each.name == notebook]
    assert "rows = [1, 2, 3]" in text_at(agent, resource.uri)
    cell = text_at(agent, f"{resource.uri}/cells/total")
    assert "sum(rows)" in cell
    assert "rows = [1, 2, 3]" not in cell


def test_there_are_templates_for_what_is_not_listed(agent: Agent):
    templates = agent.portal.call(agent.client.list_resource_templates).resource_templates
    assert [each.uri_template for each in templates] == [
        "quire://notebooks/{notebook}",
        "quire://notebooks/{notebook}/cells/{cell}",
        "quire://runs/{run}",
        "quire://blobs/{hash}",
    ]


@pytest.mark.parametrize(
    "uri",
    ["quire://notebooks/nothing", "quire://nowhere/x", "file:///etc/passwd", "quire://blobs/" + "0" * 64, "quire://"],
)
def test_what_is_not_there_is_said_to_be_not_there(agent: Agent, uri: str):
    with pytest.raises(MCPError) as raised:
        text_at(agent, uri)
    assert raised.value.error.message
    assert "Traceback" not in raised.value.error.message


def test_a_cursor_of_the_list_that_is_none_is_refused(agent: Agent):
    async def listed() -> Any:
        return await agent.client.list_resources(cursor="-1; DROP")

    with pytest.raises(MCPError, match="no cursor"):
        agent.portal.call(listed)


def test_a_tool_that_is_none_is_answered_with_those_there_are(agent: Agent):
    with pytest.raises(MCPError, match=r"no tool 'reed'.*read"):
        agent.call("reed", notebook="x")


def text_at(agent: Agent, uri: str) -> str:
    (content,) = agent.portal.call(agent.client.read_resource, uri).contents
    assert not isinstance(content, BlobResourceContents)
    assert isinstance(content, TextResourceContents)
    return content.text
