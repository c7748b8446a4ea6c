"""The tools of a server as an agent has them, over the official client; whatever the model has to read is counted."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import msgspec
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import ImageContent, TextContent

IMAGE = 6_000
"""Characters that an image counts as, whatever its size: models read one for about 1,600 tokens."""
PATIENCE_SECONDS = 600.0


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool answered."""

    text: str
    facts: dict[str, Any]
    images: list[str]
    """As they came, in base64."""
    failed: bool

    @property
    def characters(self) -> int:
        """What the model reads of it."""
        return len(self.text) + IMAGE * len(self.images)


class Tools:
    """A server's tools. While `counting`, calls and characters add up."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session
        self.calls = 0
        self.characters = 0

    async def __call__(self, name: str, **arguments: Any) -> Said:
        """Call one; a fault is an answer, too."""
        said = await self.quietly(name, **arguments)
        self.calls += 1
        self.characters += said.characters
        return said

    async def quietly(self, name: str, **arguments: Any) -> Said:
        """The same for what is no part of the task: setting the table, or somebody else."""
        result = await self._session.call_tool(name, arguments, read_timeout_seconds=PATIENCE_SECONDS)
        texts = [part.text for part in result.content if isinstance(part, TextContent)]
        images = [part.data for part in result.content if isinstance(part, ImageContent)]
        facts = cast("dict[str, Any]", result.structured_content or {})
        return Said(text="\n".join(texts), facts=facts, images=images, failed=bool(result.is_error))

    async def listed(self) -> tuple[int, int]:
        """How many tools there are, and how many characters a model reads of them before it begins."""
        tools = (await self._session.list_tools()).tools
        told = [{"name": tool.name, "description": tool.description, "schema": tool.input_schema} for tool in tools]
        return len(tools), sum(len(json.dumps(each, ensure_ascii=False)) for each in told)


@contextlib.asynccontextmanager
async def tools_of(command: Path, *words: str, at: Path, **more: str) -> AsyncGenerator[Tools]:
    """Start a server over stdio, in a folder, and speak to it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("QUIRE_", "JUPYTER_"))}
    server = StdioServerParameters(command=str(command), args=list(words), cwd=at, env=kept | more)
    with (at / "stderr.log").open("a") as log:
        async with stdio_client(server, errlog=log) as (received, sent), ClientSession(received, sent) as session:
            await session.initialize()
            yield Tools(session)
