"""What is shown is what runs: a line that escape sequences hide is seen at every door. Rule 9."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest

from ..doors.mcp.agents import over_http, over_stdio
from .live_runtimes import end_runtimes
from .server import Folder, Server

# A terminal takes what is between ESC ] and BEL for the title of its window, and shows nothing of it.
SOURCE = "print('tidy up') # \x1b]0;\nimport shutil; shutil.rmtree('data')\n# \x07\nprint('\u202eenod\u2069', '⟨')\r"
SHOWN = [
    "print('tidy up') # ⟨U+001B⟩]0;",
    "import shutil; shutil.rmtree('data')",
    "# ⟨U+0007⟩",
    "print('⟨U+202E⟩enod⟨U+2069⟩', '⟨U+27E8⟩')⟨U+000D⟩",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    made = Folder(tmp_path_factory.mktemp("visible"))
    made.quire("init")
    yield made
    made.close()
    end_runtimes(made.path)


@pytest.fixture(scope="module")
def server(folder: Folder) -> Server:
    return folder.start()


@pytest.fixture(scope="module")
def proposal(folder: Folder, server: Server) -> dict[str, Any]:
    """An agent that has to ask proposes a cell, over MCP."""
    words = ("--actor", "bot", "--kind", "agent", "--scope", "read,edit,run", "--ask", "edit,run")
    secret = folder.quire("token", "new", *words, "--json")["secret"]
    with server.client(folder.token("read", "edit")) as ada:
        log = ada.post("/api/notebooks", json={"name": "sales"}).json()["log"]
    with over_http(server.url, secret) as agent:
        change = {"op": "insert", "after": "end", "source": SOURCE}
        return agent.facts("propose", notebook=log, edits=[change], why="tidy\n   2  run all (code)")


def test_a_proposal_shows_every_line_at_each_door(folder: Folder, server: Server, proposal: dict[str, Any]) -> None:
    log, id = proposal["notebook"], proposal["proposal"]
    shown = folder.quire("proposals", "show", id).stdout
    assert [line.removeprefix("        + ") for line in shown.split("\n") if line.startswith("        + ")] == SHOWN
    assert not set(shown) & set("\x1b\x07\r\u202e\u2069")
    assert "\n   2 " not in shown, "a reason with line ends passes for no part of the proposal"

    secret = folder.token("read", "edit", "run", "approve")
    with server.client(secret) as ada:
        # The API carries the source as it is: a client shows it as spec/cases/visible.json has it.
        (change,) = ada.get(f"/api/notebooks/{log}/proposals/{id}").json()["changes"]
        assert change["source"] == SOURCE
        accepted = ada.post(f"/api/notebooks/{log}/proposals/{id}/accept", json={})
        assert accepted.status_code == 200, accepted.text


def test_a_notebook_shows_every_line_at_each_door(folder: Folder, server: Server) -> None:
    secret = folder.token("read", "edit", "run")
    with server.client(secret) as ada:
        log = ada.post("/api/notebooks", json={"name": "report"}).json()["log"]
    with over_stdio(folder.path, "--as", "bot") as agent:
        made = agent.facts("edit", notebook=log, edits=[{"op": "insert", "after": "end", "source": SOURCE}])
        in_order(agent.told("read", notebook=log, view="source"))
        source = f"{made['inserted'][0]}@{made['cursor']}"
        in_order(agent.told("output", notebook=log, of=source))
        assert SHOWN[0] in agent.told("output", notebook=log, of=source, find="tidy")
        assert SHOWN[0] in agent.told("find", query="tidy")
        fault = agent.refused(
            "edit", notebook=log, edits=[{"op": "insert", "after": "end", "source": "x = \x1b]0;\x07("}]
        )
        assert "x = ⟨U+001B⟩]0;⟨U+0007⟩(" in fault
    in_order(folder.quire("show", log, "--view", "source").stdout)
    assert SHOWN[0] in folder.quire("log", log).stdout
    folder.quire("export", log, "report.ipynb")
    folder.quire("convert", "report.ipynb", "report.html")
    page = unescape((folder.path / "report.html").read_text()).replace('<span class="invisible">', "")
    assert not set(page) & set("\x1b\x07\r\u202e\u2069")
    assert "⟨U+001B⟩" in page and "⟨U+27E8⟩" in page and "⟨U+000D⟩" in page and "⟨U+202E⟩" in page
    (folder.path / "empty.py").write_text("")
    in_order(folder.quire("diff", "empty.py", "report.ipynb", status=1).stdout)
    assert "⟨U+001B⟩" in folder.quire("diff", "empty.py", "report.ipynb", "--html", status=1).stdout


def in_order(text: str) -> None:
    """Every line is there, one after the other, and nothing that steers the reader."""
    assert not set(text) & set("\x1b\x07\r\u202e\u2069"), text
    at = 0
    for line in SHOWN:
        assert line in text[at:], (line, text)
        at = text.index(line, at)
