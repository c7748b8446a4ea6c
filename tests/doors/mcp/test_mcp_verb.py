"""`quire mcp` as a process: what is on its stdout, how it ends, who it is, and where."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import Any

import pytest

from ...journeys.faulty_notebook import DEADLINE_SECONDS, QUIRE
from ...journeys.live_runtimes import holders
from ...journeys.server import Folder, Server, until
from .agents import over_stdio

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class Spoken:
    """A process that is spoken to by hand, line by line."""

    def __init__(self, folder: Folder) -> None:
        self.process = subprocess.Popen(
            [QUIRE, "mcp"],
            cwd=folder.path,
            env=folder.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        self.ask("initialize", HELLO)
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def say(self, message: Any) -> None:
        self._stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
        self._stdin.flush()

    def ask(self, method: str, params: Any) -> Any:
        self.say({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        return self.hear()

    def hear(self) -> Any:
        """The next line, whatever it is about: all are JSON."""
        return json.loads(self._stdout.readline())

    def end(self) -> tuple[str, str]:
        """Close stdin; what was on stdout still, and all that was on stderr."""
        return self.process.communicate(timeout=DEADLINE_SECONDS)


def test_stdout_belongs_to_the_protocol_and_stdin_ends_it(folder: Folder):
    spoken = Spoken(folder)
    edits = [{"op": "insert", "after": "end", "source": "1 + 1"}]
    arguments = {"notebook": "spoken", "edits": edits, "run": "changed", "seconds": 25}
    answer = spoken.ask("tools/call", {"name": "edit", "arguments": arguments})
    assert not answer["result"]["isError"], answer
    until(lambda: holders(folder.path), "no runtime is started")
    spoken.say("this is no message")
    spoken.say({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "find", "arguments": {}}})
    while (heard := spoken.hear()).get("id") != 7:
        assert heard["jsonrpc"] == "2.0"
    assert "spoken" in heard["result"]["content"][0]["text"]
    left, told = spoken.end()
    assert left == ""
    assert "Started a runtime" in told
    assert spoken.process.returncode == 0


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_while_stdin_is_open(folder: Folder, number: signal.Signals, status: int):
    spoken = Spoken(folder)
    spoken.process.send_signal(number)
    assert spoken.process.wait(DEADLINE_SECONDS) == status
    spoken.end()


def test_who_comes_is_said_by_the_flags_or_by_the_token(folder: Folder, secret: str):
    assert "not before approve" in folder.quire("mcp", "--ask", "approve", status=2).stderr
    assert "--as" in folder.quire("mcp", "--as", "me", status=2, QUIRE_TOKEN=secret).stderr
    assert "not known" in folder.quire("mcp", status=3, QUIRE_TOKEN="quire_wrong").stderr
    assert "QUIRE_TOKEN" in folder.quire("mcp", "--at", "https://example.invalid", status=3).stderr
    with over_stdio(folder.path, QUIRE_TOKEN=secret) as agent:
        agent.told("edit", notebook="by token", edits=[{"op": "insert", "after": "end", "source": "1"}])
    assert {entry["actor"] for entry in folder.quire("log", "by token", "--json")} == {"agent:claude"}


def test_without_a_token_an_agent_acts_for_whoever_started_it(folder: Folder):
    with over_stdio(folder.path, "--as", "helpful") as agent:
        agent.told("edit", notebook="on behalf", edits=[{"op": "insert", "after": "end", "source": "1"}])
    for entry in folder.quire("log", "on behalf", "--json"):
        assert entry["actor"] == "agent:helpful"
        assert entry["on_behalf_of"].startswith("human:")


def test_a_workspace_elsewhere_is_reached_with_a_token(
    server: Server, secret: str, tmp_path_factory: pytest.TempPathFactory
):
    far = tmp_path_factory.mktemp("far")
    with over_stdio(far, "--at", server.url, QUIRE_TOKEN=secret) as agent:
        made = agent.facts("edit", notebook="from afar", edits=[{"op": "insert", "after": "end", "source": "x = 7"}])
        assert "x = 7" in agent.told("read", notebook="from afar", view="full")
        assert "from afar" in agent.told("find", query="afar")
        assert made["notebook"] in agent.portal.call(agent.client.list_resources).resources[0].uri
    assert not list(far.iterdir()), "nothing is made here"
