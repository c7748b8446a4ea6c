"""Modules in a workspace's folder that are called like Python's or a library's: no process of Quire's imports them.

What cells import is theirs to say: a notebook still finds the modules beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from ..doors.mcp.agents import Agent, over_http, over_stdio
from .live_runtimes import end_runtimes
from .server import Folder, Server, printed, run_cell, until

# Whatever is installed beside Quire, its own name too: kernels, servers and tools of others are among them.
NAMES = sorted({*sys.stdlib_module_names, *packages_distributions(), "quire", "signal", "json", "zmq", "yaml"})
PLANTED = """\
import os
os.close(os.open({marks!r} + "/{name}", os.O_CREAT))
"""
CELL = "import helper\nprint('helped by', helper.NAME)"
SAID = "helped by a module beside the notebook"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    made = Folder(tmp_path_factory.mktemp("planted"))
    marks = tmp_path_factory.mktemp("imported")
    made.environ["MARKS"] = str(marks)
    for name in NAMES:
        if name.isidentifier():
            (made.path / f"{name}.py").write_text(PLANTED.format(marks=str(marks), name=name))
    (made.path / "helper.py").write_text("NAME = 'a module beside the notebook'\n")
    (made.path / "report.py").write_text(f"# %%\n{CELL}\n")
    made.quire("init")
    yield made
    made.close()
    end_runtimes(made.path)


@pytest.fixture(scope="module")
def server(folder: Folder) -> Server:
    return folder.start()


def imported(folder: Folder) -> list[str]:
    """The planted modules that some process has imported."""
    return sorted(each.name for each in Path(folder.environ["MARKS"]).iterdir())


def test_a_kernel_at_a_server_finds_its_own_modules_and_no_process_of_ours_does(folder: Folder, server: Server) -> None:
    """Over HTTP: the server, and the runtime that it starts for the notebook."""
    with server.client(folder.token("read", "edit", "run")) as client:
        made = client.post("/api/notebooks", json={"name": "near", "cells": [{"source": CELL}]}).json()
        execution = run_cell(client, made["log"], made["cells"][0])
        assert SAID in printed(execution), (execution, folder.printed)
        assert SAID in folder.quire("execute", made["log"], "-c", CELL).stdout
    assert imported(folder) == []


def test_nor_does_a_run_from_the_command_line(folder: Folder) -> None:
    folder.quire("run", "report.py", "out.ipynb")
    assert SAID in (folder.path / "out.ipynb").read_text()
    assert imported(folder) == []


def runs_apart_and_in_cells(agent: Agent, notebook: str) -> None:
    insert = {"op": "insert", "after": "end", "source": CELL}
    agent.told("edit", notebook=notebook, edits=[insert], run="changed", seconds=1)
    until(lambda: SAID in agent.told("read", notebook=notebook, view="full"), "the cell does not end")
    run = agent.facts("run", notebook=notebook, fresh=True, seconds=1)["run"]
    until(lambda: SAID in agent.told("read", notebook=run, view="full"), "the run does not end")


def test_nor_does_an_agent_s_server_nor_what_it_starts(folder: Folder, server: Server) -> None:
    """Over MCP, by both transports: a living kernel, and a run as a process of its own."""
    with over_stdio(folder.path, "--as", "bot") as agent:
        runs_apart_and_in_cells(agent, "by stdio")
    words = ("--actor", "bot", "--kind", "agent", "--scope", "read,edit,run")
    with over_http(server.url, folder.quire("token", "new", *words, "--json")["secret"]) as agent:
        runs_apart_and_in_cells(agent, "by http")
    assert imported(folder) == []
