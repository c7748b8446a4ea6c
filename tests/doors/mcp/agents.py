"""Agents with the official client, over both transports, each in a loop of its own: a test calls one tool after the other."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import httpx2  # as the client has it
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ImageContent, TextContent

from ...journeys.faulty_notebook import DEADLINE_SECONDS, QUIRE


class Agent:
    """An agent that is connected."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal, self.client = portal, client

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """What a tool answers, whatever it is."""
        return self.begin(tool, **arguments).result(DEADLINE_SECONDS)

    def begin(self, tool: str, progress: Any = None, **arguments: Any) -> Future[CallToolResult]:
        """Call a tool, and do not wait. Cancelling what is returned cancels the call."""

        async def called() -> CallToolResult:
            return await self.client.call_tool(tool, arguments, progress_callback=progress)

        return self.portal.start_task_soon(called)

    def told(self, tool: str, **arguments: Any) -> str:
        """The text of an answer that is none of an error."""
        result = self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    def facts(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What programs are told."""
        result = self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        assert result.structured_content is not None
        return result.structured_content

    def refused(self, tool: str, **arguments: Any) -> str:
        """The text of an answer that is an error."""
        result = self.call(tool, **arguments)
        assert result.is_error, text_of(result)
        assert "Traceback" not in text_of(result)
        return text_of(result)


def text_of(result: CallToolResult) -> str:
    """What the model reads."""
    return "".join(each.text for each in result.content if isinstance(each, TextContent))


def pictures_of(result: CallToolResult) -> list[ImageContent]:
    """What the model looks at."""
    return [each for each in result.content if isinstance(each, ImageContent)]


@contextlib.contextmanager
def over_stdio(folder: Path, *flags: str, mode: str = "auto", asked: Any = None, **environ: str) -> Generator[Agent]:
    """An agent for which the client starts `quire mcp` in a folder. `asked` answers what the server asks a person."""
    told = {name: value for name, value in os.environ.items() if name not in ("QUIRE_TOKEN", "QUIRE_URL")} | environ
    started = StdioServerParameters(command=QUIRE, args=["mcp", *flags], cwd=folder, env=told)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(started, mode=mode, elicitation_callback=asked)) as client,
    ):
        yield Agent(portal, client)


@contextlib.contextmanager
def over_http(url: str, secret: str, mode: str = "auto") -> Generator[Agent]:
    """An agent with a token at a server."""
    headers = {"Authorization": f"Bearer {secret}"}
    with start_blocking_portal() as portal:
        made = httpx2.AsyncClient(headers=headers, timeout=DEADLINE_SECONDS, trust_env=False)
        with portal.wrap_async_context_manager(made) as http:
            there = streamable_http_client(f"{url}/mcp", http_client=http)
            with portal.wrap_async_context_manager(Client(there, mode=mode)) as client:
                yield Agent(portal, client)
