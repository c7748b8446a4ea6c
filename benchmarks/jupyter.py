"""A Jupyter Server to be measured beside, in a process of its own, as it installs itself."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
import urllib.error
import urllib.request
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncGenerator
from pathlib import Path

from .fanout import Server
from .peers import environ, peers

SECRET = "measured"


@contextlib.asynccontextmanager
async def jupyter(folder: Path, *flags: str, peer: str = "serve") -> AsyncGenerator[Server]:
    """A server on a folder, that answers; of the environment of these peers."""
    port = free_port()
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    process = await asyncio.create_subprocess_exec(
        peers(peer) / "jupyter-server",
        "--no-browser",
        "--allow-root",
        "--log-level=CRITICAL",
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.port={port}",
        f"--IdentityProvider.token={SECRET}",
        *flags,
        cwd=folder,
        env=environ() | own,
        stdout=DEVNULL,
        stderr=DEVNULL,
    )
    server = Server(port=port, secret=SECRET, process=process)
    try:
        await _wait_until_up(server)
        yield server
    finally:
        process.kill()  # asked to end, it takes its time
        await process.wait()


async def _wait_until_up(server: Server) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            await asked(f"http://127.0.0.1:{server.port}/api/status", f"token {server.secret}")
            return
        await asyncio.sleep(0.2)
    raise RuntimeError("Jupyter Server did not start.")


def free_port() -> int:
    """A port that nobody uses at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


async def asked(url: str, authorization: str, method: str = "GET", body: bytes | None = None) -> bytes:
    """Ask a server for something; what it answers."""
    headers = {"Authorization": authorization, **({"Content-Type": "application/json"} if body is not None else {})}
    request = urllib.request.Request(url, body, headers, method=method)

    def ask() -> bytes:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    return await asyncio.to_thread(ask)
