"""No kernel sees a variable of Quire's own, however it was started: a cell would print a password into the file."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from quire.doors.cli.settings import VARIABLES

from ..doors.mcp.agents import over_http, over_stdio
from .live_runtimes import end_runtimes
from .server import Folder, Server, printed, run_cell, until

SENTINEL = "hunter2"
# What the cell itself has, and every process above it that is ours.
CELL = """\
import os
found = repr(dict(os.environ))
pid = os.getpid()
count = 0
while pid > 1:
    try:
        about = open(f"/proc/{pid}/environ", "rb").read().decode(errors="replace")
        command = open(f"/proc/{pid}/cmdline", "rb").read().decode(errors="replace")
        status = open(f"/proc/{pid}/status").read()
        where = f"/proc/{pid}/fd/0"
        given = open(where).read() if os.readlink(where).endswith(" (deleted)") else ""
    except OSError:
        break
    if "quire" in command and "pytest" not in command:
        found += about + given
        count += 1
    pid = int(status.split("PPid:")[1].split()[0])
print("QUIRE" + "_ is here" if "QUIRE" + "_" in repr(dict(os.environ)) else "none " + "of ours")
print("a " + "secret" if "hunter" + "2" in found else "all " + "clean", "above:", count)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    made = Folder(tmp_path_factory.mktemp("variables"))
    made.quire("init")
    made.environ |= dict.fromkeys((*VARIABLES, "QUIRE_OF_TOMORROW"), SENTINEL)
    # Those that must be right for anything to work at all hold it where it does no harm.
    made.environ |= {"QUIRE_URL": str(made.path), "QUIRE_BLOBS": f"{made.path}/{SENTINEL}", "QUIRE_MEMORY": "20GB"}
    made.environ["QUIRE_ALLOW_HTTP"] = "1"
    del made.environ["QUIRE_TOKEN"]
    (made.path / ".env").write_text(f"QUIRE_URL={SENTINEL}\nQUIRE_READER_URL={SENTINEL}\n")
    (made.path / "report.py").write_text(f"# %%\n{CELL}")
    yield made
    made.close()
    end_runtimes(made.path)


@pytest.fixture(scope="module")
def server(folder: Folder) -> Server:
    return folder.start()


def check(text: str) -> None:
    assert "none of ours" in text, text
    assert "all clean" in text and "a secret" not in text, text


def test_a_kernel_of_a_server_sees_none(folder: Folder, server: Server) -> None:
    with server.client(folder.token("read", "edit", "run")) as client:
        made = client.post("/api/notebooks", json={"name": "near", "cells": [{"source": CELL}]}).json()
        check(printed(run_cell(client, made["log"], made["cells"][0])))
        check(folder.quire("execute", made["log"], "-c", CELL).stdout)


def test_nor_does_that_of_a_run(folder: Folder) -> None:
    folder.quire("run", "report.py", "out.ipynb")
    check("".join(json.loads((folder.path / "out.ipynb").read_text())["cells"][0]["outputs"][0]["text"]))


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_nor_do_those_that_an_agent_has_started(folder: Folder, server: Server, transport: str) -> None:
    """A living kernel, and a run as a process of its own."""
    words = ("--actor", "bot", "--kind", "agent", "--scope", "read,edit,run")
    secret = folder.quire("token", "new", *words, "--json")["secret"]
    ours = {name: value for name, value in folder.environ.items() if name.startswith("QUIRE_")}
    near = over_stdio(folder.path, "--as", "bot", **ours) if transport == "stdio" else over_http(server.url, secret)
    with near as agent:
        notebook = f"by {transport}"
        agent.told("edit", notebook=notebook, edits=[{"op": "insert", "after": "end", "source": CELL}], run="changed")
        shown = until(lambda: ended(agent.told("read", notebook=notebook, view="full")), "the cell does not end")
        check(shown)
        run = agent.facts("run", notebook=notebook, fresh=True, seconds=1)["run"]
        check(until(lambda: ended(agent.told("read", notebook=run, view="full")), "the run does not end"))


def ended(text: str) -> str:
    return text if "above: " in text.replace('"above:"', "") else ""
