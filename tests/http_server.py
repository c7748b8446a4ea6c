"""A real server for tests: uvicorn on a free port of this machine, in the loop of the test."""

from __future__ import annotations

import asyncio
import contextlib
import io
import socket
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

import msgspec
import uvicorn

from quire.doors.http.app import make_app
from quire.doors.http.server.access_log import AccessLog
from quire.doors.http.server.uvicorn_http import UvicornConfig
from quire.doors.http.server_settings import ServerSettings
from quire.workspace.local import LocalWorkspace


class PromptServer(uvicorn.Server):
    """Signals are pytest's; it ends when told to, where uvicorn looks ten times a second whether it should."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._over = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def end(self) -> None:
        """Have it shut down."""
        self.should_exit = True
        self._over.set()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self._over.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for _ in range(10):  # clients that have just closed their connections are gone by then
            await asyncio.sleep(0)
        if self.server_state.connections or self.server_state.tasks:
            return await super().shutdown(sockets)
        # The same without a pause for those who are connected.
        for listening in (*self.servers, *(sockets or ())):
            listening.close()
        return await self.lifespan.shutdown()


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """A server that is up."""

    url: str
    port: int
    lines: io.StringIO
    """What it wrote about each request."""
    running: PromptServer

    @property
    def origin(self) -> str:
        """What a browser calls it."""
        return self.url

    def told(self) -> list[dict[str, Any]]:
        """The same, read."""
        return [msgspec.json.decode(line) for line in self.lines.getvalue().splitlines()]


@contextlib.asynccontextmanager
async def served(
    workspace: LocalWorkspace, settings: ServerSettings | None = None, folder: Path | None = None, **more: Any
) -> AsyncGenerator[Server]:
    """Serve a workspace, which stays the caller's to close. `more` is for uvicorn: a certificate, for one."""
    chosen = settings or ServerSettings()
    lines = io.StringIO()
    config = UvicornConfig(
        make_app(workspace, chosen, AccessLog(lines), folder), chosen, timeout_graceful_shutdown=5, **more
    )
    running = PromptServer(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        serving = asyncio.create_task(running.serve(sockets=[listening]))
        try:
            await _started(running, serving)
            yield Server(url=f"http://127.0.0.1:{port}", port=port, lines=lines, running=running)
        finally:
            running.end()
            await serving


async def _started(running: uvicorn.Server, serving: asyncio.Task[None]) -> None:
    async with asyncio.timeout(240):
        while not running.started:
            if serving.done():
                serving.result()
                raise RuntimeError("The server ended before it was up.")
            await asyncio.sleep(0)
