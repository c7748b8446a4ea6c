"""One agent on standard input and output, which belong to the protocol: whatever else there is to say goes to stderr."""

from __future__ import annotations

from mcp.server.stdio import stdio_server

from ...verbs.answers.answer import Here
from .mcp_server import make_server


async def serve(here: Here) -> None:
    """Answer until standard input is closed. What runs then goes on."""
    server = make_server(lambda ctx: here)
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())
