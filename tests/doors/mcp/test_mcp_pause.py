"""A paused agent reads the reason as the answer of its tools, while its client stays connected."""

from __future__ import annotations

from ...journeys.server import Folder, Server
from .agents import Agent, over_http, over_stdio

TOLD = "is paused by human:"


def paused_and_resumed(folder: Folder, agent: Agent, name: str) -> None:
    agent.told("find")
    folder.quire("token", "pause", name, "--why", "tests first")
    for tool, arguments in (("find", {}), ("read", {"notebook": "held"})):
        told = agent.refused(tool, **arguments)
        assert f"{name} {TOLD}" in told
        assert "tests first" in told
    folder.quire("token", "resume", name)
    agent.told("find")


def test_an_agent_over_stdio_without_a_token_is_told_why(folder: Folder) -> None:
    with over_stdio(folder.path, "--as", "codex") as agent:
        paused_and_resumed(folder, agent, "agent:codex")


def test_an_agent_that_is_paused_before_it_comes_is_told_why(folder: Folder) -> None:
    folder.quire("token", "pause", "agent:early")
    with over_stdio(folder.path, "--as", "early") as agent:
        assert f"agent:early {TOLD}" in agent.refused("find")
    folder.quire("token", "resume", "agent:early")


def test_an_agent_over_http_is_told_why(folder: Folder, server: Server, secret: str) -> None:
    with over_http(server.url, secret) as agent:
        paused_and_resumed(folder, agent, "agent:claude")
