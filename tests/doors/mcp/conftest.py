"""A folder with a real server, and agents that come to it over both transports, from either era of the protocol."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ...journeys.live_runtimes import end_runtimes
from ...journeys.server import Folder, Server
from ..cli.cli_folder import QuickFolder
from .agents import Agent, over_http, over_stdio

TRANSPORTS = ("stdio", "stdio legacy", "http", "http legacy")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    made = QuickFolder(tmp_path_factory.mktemp("workspace"))
    made.quire("init")
    yield made
    end_runtimes(made.path)
    made.close()


@pytest.fixture(scope="module")
def server(folder: Folder) -> Server:
    return folder.start()


@pytest.fixture(scope="module")
def secret(folder: Folder) -> str:
    """Of an agent that may do all that agents do."""
    words = ("--actor", "claude", "--kind", "agent", "--scope", "read,edit,run,bind", "--json")
    return folder.quire("token", "new", *words)["secret"]


@pytest.fixture(scope="module", params=TRANSPORTS)
def agent(request: pytest.FixtureRequest, folder: Folder, server: Server, secret: str) -> Iterator[Agent]:
    """The same agent, however it comes."""
    transport, _, era = str(request.param).partition(" ")
    mode = era or "auto"
    if transport == "http":
        with over_http(server.url, secret, mode) as made:
            yield made
    else:
        with over_stdio(folder.path, "--as", "claude", mode=mode) as made:
            yield made
