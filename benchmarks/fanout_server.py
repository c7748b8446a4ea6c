"""A server to be measured, in a process of its own: prints its port and a token, and serves until it is told to end."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import sys
from pathlib import Path

import uvicorn

from quire.core.events import Draft, NotebookCreated
from quire.core.ids import LogId
from quire.doors.http.app import make_app
from quire.doors.http.server.uvicorn_http import UvicornConfig
from quire.doors.http.server_settings import ServerSettings
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

LOG = LogId("shared")
MANY = 1_000_000


async def main(folder: Path) -> None:
    """Serve a workspace with one notebook."""
    workspace = LocalWorkspace(SqliteStore(folder / "quire.db"), MemoryBlobs())
    if not await workspace.logs():
        await workspace.submit(LOG, [Draft(id=new_id(), event=NotebookCreated(name="shared"))])
    made = await workspace.create_token(workspace.identity.actor, ["read", "edit", "admin"])
    settings = ServerSettings(
        connections=10_000, sockets_per_token=10_000, requests_per_second=MANY, request_burst=MANY
    )
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        print(json.dumps({"port": listening.getsockname()[1], "secret": made.secret}), flush=True)
        with open("/dev/null", "w") as nowhere:  # noqa: ASYNC230, PTH123 - once, before anything is served
            sys.stderr = nowhere  # a line for each connection is not what is measured
            app = make_app(workspace, settings)
            await uvicorn.Server(UvicornConfig(app, settings, timeout_graceful_shutdown=1)).serve(sockets=[listening])
    await workspace.close()


if __name__ == "__main__":
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 20_000), most))
    asyncio.run(main(Path(sys.argv[1])))
