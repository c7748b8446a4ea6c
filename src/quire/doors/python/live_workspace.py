"""A workspace as people hold it in Python: where notebooks are made, found and asked about."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any, Generic, Self, TypeVar

from ... import connection
from ...core.ids import ActorId, LogId
from ...verbs.answers.answer import Here
from ...verbs.arguments import EditArguments
from ...verbs.create import check_may_make, made
from ...verbs.resolve import opened
from ...workspace.protocol import LogInfo, Table, Workspace
from ..cli.auto_runtime import folder_beside
from .live_notebook import AnyNotebook, AsyncNotebook, LiveNotebook
from .notebook_client import NotebookClient
from .runtime_starter import RuntimeStarter
from .sync_wrapper import AsyncFace, BlockingFace, Method, wait_for

N = TypeVar("N", bound="AnyNotebook[Any]")


class AnyWorkspace(Generic[N]):
    """A workspace, as one actor."""

    _notebook: type[N]

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._here = Here(workspace=workspace, folder=folder_beside(workspace))
        self._starter = RuntimeStarter(workspace)

    @property
    def actor(self) -> ActorId:
        """Who acts here: the bearer of QUIRE_TOKEN, or the user of the operating system."""
        return self._workspace.identity.actor

    def __repr__(self) -> str:
        return f"<{type(self).__name__} as {self.actor}>"

    @Method
    async def create_notebook(self, name: str) -> N:
        """Make an empty notebook. A name that ends in .py, .md or .ipynb makes a file, too, that it is bound to."""
        check_may_make(self._here, name)
        done = await made(self._here, EditArguments(notebook=name, edits=()))
        return await self._opened(done.log)

    @Method
    async def notebook(self, name: str) -> N:
        """Open a notebook or a run: by its name, its id or the beginning of that, or the path of its file."""
        return await self._opened(await opened(self._here, name))

    @Method
    async def notebooks(self) -> list[LogInfo]:
        """Return the notebooks, the one made last first."""
        return await self._workspace.logs("notebook")

    @Method
    async def query(self, sql: str) -> Table:
        """Answer a SELECT over the documented views."""
        return await self._workspace.query(sql)

    @Method
    async def close(self) -> None:
        """Let go of it. What runs goes on."""
        await self._starter.end()
        await self._workspace.close()

    async def _opened(self, log: LogId) -> N:
        return self._notebook(NotebookClient(self._here, self._starter, log, await self._workspace.read(log)))


class AsyncWorkspace(AnyWorkspace[AsyncNotebook], AsyncFace):
    """A workspace whose methods are awaited."""

    _notebook = AsyncNotebook


class LiveWorkspace(AnyWorkspace[LiveNotebook], BlockingFace):
    """A workspace that is open."""

    _notebook = LiveNotebook

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class AsyncConnection:
    """An address on its way to a workspace: awaited, or the context of `async with`."""

    def __init__(self, url: str | os.PathLike[str] | None) -> None:
        self._url = url
        self._workspace: AsyncWorkspace | None = None

    def __await__(self) -> Generator[Any, Any, AsyncWorkspace]:
        return self._opened().__await__()

    async def _opened(self) -> AsyncWorkspace:
        return AsyncWorkspace(await connection.connect(self._url))

    async def __aenter__(self) -> AsyncWorkspace:
        self._workspace = await self._opened()
        return self._workspace

    async def __aexit__(self, *raised: object) -> None:
        if self._workspace is not None:
            await self._workspace.close()


def connect(url: str | os.PathLike[str] | None = None) -> LiveWorkspace:
    """Open the workspace at `url`: a folder, or the address of a database or of a server.

    Without `url`: QUIRE_URL, else the nearest `.quire/` upwards, else a new one. Methods return when they are done;
    `connect_async` is the same for whoever awaits them.
    """
    return LiveWorkspace(wait_for(connection.connect(url)))


def connect_async(url: str | os.PathLike[str] | None = None) -> AsyncConnection:
    """Open a workspace as `connect` does, with methods that are awaited: `async with quire.connect_async() as workspace`."""
    return AsyncConnection(url)
