"""A binding is no way into a closed notebook: over HTTP, for agents, and on the command line, at a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from quire.workspace.clock import new_id

from ..doors.mcp.agents import over_http, over_stdio
from .live_runtimes import end_runtimes
from .server import Folder, Server, events, until

SECRET = "# %%\nsalary = 4000\n"
BOUND = {"type": "file_bound", "path": "payroll.py", "format": "percent"}


class House:
    """A server, a closed notebook that is bound to its file, and people with tokens."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        (folder.path / "payroll.py").write_text(SECRET)
        self.log: str = folder.quire("import", "payroll.py", "--json")["log"]
        folder.quire("bind", self.log, "payroll.py")
        folder.token("read")
        folder.quire("role", "set", "ada", "editor", self.log)
        self.server: Server = folder.start()

    def token(self, name: str, scopes: str, *more: str) -> str:
        words = ("--actor", name, "--scope", scopes, "--json", *more)
        return self.folder.quire("token", "new", *words)["secret"]

    def submit(self, client: httpx.Client, log: str, *sent: dict[str, Any]) -> httpx.Response:
        drafts = [{"id": new_id(), "event": event} for event in sent]
        return client.post(f"/api/logs/{log}/events", json={"drafts": drafts})

    def command(self, secret: str, *words: str) -> str:
        """A verb that is refused."""
        done = self.folder.quire(*words, status=None, QUIRE_TOKEN=secret)
        assert done.returncode in (2, 3), (done.returncode, done.stdout, done.stderr)
        return done.stderr

    @property
    def payroll(self) -> str:
        return (self.folder.path / "payroll.py").read_text()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    folder = Folder(tmp_path)
    folder.quire("init")
    try:
        yield House(folder)
    finally:
        folder.close()
        end_runtimes(tmp_path)


def test_over_http_the_file_of_a_closed_notebook_is_out_of_reach(house: House) -> None:
    """The attack as it was made: a log of one's own, bound to somebody else's file, read by way of the mirror."""
    begun = {"type": "notebook_created", "name": "mine"}
    for scopes, told in (("read,edit,run", "needs the scope 'bind'"), ("read,edit,run,bind", "may not edit")):
        with house.server.client(house.token("eve", scopes, "--kind", "human")) as eve:
            for path in ("payroll.py", "Payroll.py"):
                answer = house.submit(eve, "mine", begun, BOUND | {"path": path})
                assert answer.status_code == 403, answer.text
                assert told in answer.text
                assert house.log not in answer.text
            assert eve.get("/api/notebooks/mine").status_code == 404
    limited = house.token("eve", "read,edit,bind", "--kind", "human", "--notebooks", house.log)
    with house.server.client(limited) as eve:
        assert house.submit(eve, house.log, BOUND | {"path": "other.py"}).status_code == 403
    with house.server.browser() as owner:
        for path in (".env.py", ".venv/x.py", "quire.toml", "pyproject.toml", ".quire/x.py", "../x.py", "venv/x.py"):
            if path.startswith("venv"):
                (house.folder.path / "venv").mkdir()
                (house.folder.path / "venv" / "pyvenv.cfg").touch()
            answer = house.submit(owner, house.log, BOUND | {"path": path})
            assert answer.status_code == 422, (path, answer.text)
        assert events(owner, house.log, "file_bound")[-1]["event"]["path"] == "payroll.py"
    assert house.payroll == SECRET


def test_agents_make_files_where_they_may_bind_and_nowhere_else(house: House) -> None:
    cells = [{"op": "insert", "after": "end", "source": "x = 1"}]
    with over_http(house.server.url, house.token("shy", "read,edit,run", "--kind", "agent")) as agent:
        assert "needs the scope 'bind'" in agent.refused("edit", notebook="new.py", edits=cells)
        agent.told("edit", notebook="in the store", edits=cells)
    assert not (house.folder.path / "new.py").exists()
    house.token("eve", "read", "--kind", "human")
    eve = house.token("claude", "read,edit,run,bind", "--kind", "agent", "--on-behalf-of", "human:eve")
    with over_http(house.server.url, eve) as agent:
        assert "no role" in agent.refused("edit", notebook="payroll.py", edits=cells)
        assert "4000" not in agent.refused("read", notebook="payroll.py")
        agent.told("edit", notebook="new.py", edits=cells)
    # One that the owner of the files started works with them as before, but not with what the host reads.
    with over_stdio(house.folder.path, "--as", "local") as agent:
        agent.told("edit", notebook="made.py", edits=cells)
        agent.told("edit", notebook="made.py", edits=cells)
        for path in (".hidden.py", ".venv/x.py", "../x.py"):
            agent.refused("edit", notebook=path, edits=cells)
    assert "x = 1" in (house.folder.path / "made.py").read_text()
    assert not (house.folder.path / ".hidden.py").exists()
    assert house.payroll == SECRET


def test_the_command_line_binds_what_its_token_may(house: House) -> None:
    (house.folder.path / "mine.py").write_text("# %%\ny = 1\n")
    mine: str = house.folder.quire("import", "mine.py", "--json")["log"]
    edits = house.token("eve", "read,edit", "--kind", "human")
    binds = house.token("eve", "read,edit,bind", "--kind", "human")
    assert "scope 'bind'" in house.command(edits, "bind", mine, "mine.py")
    assert "may not edit" in house.command(binds, "bind", mine, "payroll.py")
    assert "hidden" in house.command(binds, "bind", mine, ".mine.py")
    owner = house.folder.quire("bind", mine, "payroll.py", status=None)
    assert owner.returncode != 0
    assert "bound to 'payroll' already" in owner.stderr
    house.folder.quire("bind", mine, "mine.py", QUIRE_TOKEN=binds)


def test_what_comes_from_a_file_says_so_and_stops_with_the_rights_of_who_bound_it(house: House) -> None:
    """The server's mirror signs for itself, on behalf of the one who bound it, and waits once they lost their right."""
    path = house.folder.path / "plan.py"
    path.write_text("# %%\ndays = 1\n")
    plan: str = house.folder.quire("import", "plan.py", "--json")["log"]
    made = house.folder.quire(
        "token", "new", "--actor", "ada", "--kind", "human", "--scope", "read,edit,bind", "--json"
    )
    house.folder.quire("bind", plan, "plan.py", QUIRE_TOKEN=made["secret"])

    def shown() -> str:
        return house.folder.quire("log", plan).stdout

    until(lambda: "plan.py 0 changes" in shown(), "it is not mirrored")
    path.write_text("# %%\ndays = 2\n")
    until(lambda: "from plan.py: 1 changes" in shown(), "it is not merged")
    assert "system:mirror for human:ada" in shown()
    house.folder.quire("token", "revoke", made["token"])
    path.write_text("# %%\ndays = 3\n")
    until(lambda: "plan.py is not merged on behalf of human:ada" in house.folder.printed, "nobody is told")
    assert path.read_text() == "# %%\ndays = 3\n"
    assert "days = 3" not in json.dumps(house.folder.quire("show", plan, "--json"))
    house.folder.quire("bind", plan, "plan.py")
    until(lambda: "days = 3" in json.dumps(house.folder.quire("show", plan, "--json")), "the owner's is not merged")
