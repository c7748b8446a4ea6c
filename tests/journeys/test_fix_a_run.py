"""A run is a notebook too: a run fails and its kernel is kept; it is fixed where it stands, and the fix goes to its source."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from quire.core.events import Scope
from quire.core.text import source_hash

from .faulty_notebook import wait_until
from .live_runtimes import end_runtimes, runtime_of
from .server import Folder, Server, events, printed, run_cell, until

CELLS = (
    "import pathlib, os\nx = 40\npathlib.Path('ran-1').open('a').write('once ')",
    "y = x + 1",
    "pid = os.getpid()",
    "print('so far', y)",
    "total = y + 1 / 0",
    "print('total', total)",
    "print('in', pid == os.getpid())",
)
SALES = "\n".join(f'# %% name="cell-{number}"\n{source}\n' for number, source in enumerate(CELLS, 1))
FIXED = "total = y + 1"


class Place(Folder):
    """A folder with a notebook of which the fifth cell fails, in a workspace of its own or in one that is shared."""

    def __init__(self, path: Path, root: Path | None = None) -> None:
        super().__init__(path)
        self.root = root or path
        self._kept: list[str] = []
        path.mkdir(exist_ok=True)
        (path / "sales.py").write_text(SALES)

    def fails(self, *flags: str, status: int = 1, **environ: str) -> Any:
        """Run it, and return what was printed as JSON."""
        done = self.quire("run", "sales.py", "--keep", "--json", *flags, status=status, **environ)
        self._kept.append(done["run"])
        return done

    def somebody(self, name: str, kind: str, *scopes: Scope) -> str:
        return self.token(*scopes, actor=f"{kind}:{name}")

    @property
    def text(self) -> str:
        return (self.path / "sales.py").read_text()

    def runtime(self, run: str) -> int | None:
        """The process that works in the kernel of a run."""
        return runtime_of(self.root, run)

    def leave(self) -> None:
        """End the kernels that were kept."""
        for run in self._kept:
            if self.runtime(run) is None:
                self.quire("cancel", run, status=None)
            end_runtimes(self.root, f"hold:runtime:{run}")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    made = Folder(tmp_path_factory.mktemp("shared"))
    yield made
    made.verify()
    made.close()
    end_runtimes(made.path)


@pytest.fixture(scope="module")
def server(shared: Folder) -> Iterator[Server]:
    """One server for all tests that do it no harm; it looks often for runtimes that were killed."""
    made = shared.start("--look-every", "0.2")
    yield made
    assert made.end() == 0


@pytest.fixture
def place(shared: Folder, tmp_path: Path) -> Iterator[Place]:
    """A folder of one's own in the workspace that is served."""
    made = Place(shared.path / tmp_path.name, shared.path)
    yield made
    made.leave()


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Place]:
    """A workspace of one's own."""
    made = Place(tmp_path)
    yield made
    made.leave()
    made.close()
    end_runtimes(tmp_path)


def cell_of(client: httpx.Client, log: str, name: str) -> Any:
    notebook = client.get(f"/api/notebooks/{log}").json()
    (found,) = [cell for cell in notebook["cells"].values() if cell.get("name") == name]
    return found


def edit(client: httpx.Client, log: str, name: str, text: str) -> None:
    cell = cell_of(client, log, name)
    event = {"type": "source_edited", "cell": cell["id"], "text": text, "base_hash": source_hash(cell["source"])}
    answer = client.post(f"/api/logs/{log}/events", json={"drafts": [{"id": os.urandom(8).hex(), "event": event}]})
    assert answer.status_code == 200, answer.text


def fix(server: Server, agent: str, run: str) -> None:
    """What an agent does: it repairs the cell that failed, and runs it and those below."""
    with server.client(agent) as client:
        edit(client, run, "cell-5", FIXED)
        for number in (5, 6, 7):
            ended = run_cell(client, run, f"cell-{number}")
            assert ended["state"] == "ok", ended


# ---- The story


def test_a_run_that_failed_is_fixed_in_its_kernel_and_the_fix_is_proposed_accepted_and_in_the_file(
    place: Place,
    server: Server,
) -> None:
    outcome = place.fails()
    run = outcome["run"]
    assert (outcome["status"], outcome["failed_cell"]["index"], outcome["cells_executed"]) == ("error", 4, 5)
    before = place.quire("runs", "show", run, "--json")
    person = place.somebody("ada", "human", "read", "edit", "run", "bind")
    agent = place.somebody("fixer", "agent", "read", "edit", "run", "bind")
    with server.client(person) as ada:
        opened = ada.get(f"/api/notebooks/{run}").json()
        assert opened["run"]["status"] == "error" and len(opened["order"]) == 7
        assert not any(cell.get("after_run") for cell in opened["cells"].values())
    fix(server, agent, run)
    with server.client(person) as ada:
        now = ada.get(f"/api/notebooks/{run}").json()
        cells = {cell["name"]: cell for cell in now["cells"].values()}
        assert cells["cell-5"]["after_run"] and cells["cell-5"]["edited_by"] == "agent:fixer"
        assert [name for name, cell in cells.items() if cell.get("after_run")] == ["cell-5"]
        assert printed(cells["cell-6"]["execution"]) == "total 42\n"
        assert printed(cells["cell-7"]["execution"]) == "in True\n", "it is the kernel of the run"
        assert cells["cell-6"]["execution"]["by"] == "agent:fixer"
        assert (place.path / "ran-1").read_text() == "once ", "what the cells above defined was there"
        proposed = ada.post(f"/api/runs/{run}/propose", json={"why": "divided by nothing"}).json()
        assert (proposed["path"], proposed["changes"], proposed["was_made"]) == (f"{place.path.name}/sales.py", 1, True)
        assert place.text == SALES, "nobody has said yes"
        answer = f"/api/notebooks/{proposed['log']}/proposals/{proposed['proposal']}/accept"
        assert ada.post(answer, json={}).status_code == 403, "not one's own, and not without the scope"
    with server.client(place.somebody("bob", "human", "read", "approve")) as bob:
        assert bob.post(answer, json={}).status_code == 200
    wait_until(lambda: place.text == SALES.replace(CELLS[4], FIXED), "the fix does not come into the file")
    # What the run came to is what it was.
    after = place.quire("runs", "show", run, "--json")
    assert after.pop("changed_since") == [cells["cell-5"]["id"]] and before.pop("changed_since") == []
    assert after == before and after["outcome"] | {"output": None} == outcome
    (listed,) = [each for each in place.quire("runs", "list", "--json") if each["run"] == run]
    assert (listed["status"], listed["cells_executed"], listed["cells"]) == ("error", 5, 7)
    assert "changed after the run" in place.quire("show", run).stdout
    exported = place.quire("export", run, "fixed.ipynb") and json.loads((place.path / "fixed.ipynb").read_text())
    marks = [cell["metadata"].get("quire", {}).get("after_run") for cell in exported["cells"]]
    assert [index for index, mark in enumerate(marks) if mark] == [4]


@pytest.mark.slow  # tests/runs/test_fix_proposal.py has it without a server
def test_declined_the_file_stays_as_it_was(place: Place, server: Server) -> None:
    run = place.fails()["run"]
    agent = place.somebody("fixer", "agent", "read", "edit", "run", "bind")
    fix(server, agent, run)
    with server.client(agent) as client:
        proposed = client.post(f"/api/runs/{run}/propose", json={}).json()
        assert "by agent:fixer" in events(client, proposed["log"], "proposal_made")[0]["event"]["why"]
    no = place.quire("proposals", "decline", proposed["proposal"], status=3)
    assert "approve" in no.stderr
    place.quire(
        "proposals", "decline", proposed["proposal"], QUIRE_TOKEN=place.somebody("bob", "human", "read", "approve")
    )
    # What comes later comes into the file, so what did not come was looked at.
    with server.client(agent) as client:
        edit(client, proposed["log"], "cell-4", "print('so far', y, '.')")
    changed = SALES.replace("'so far', y)", "'so far', y, '.')")
    wait_until(lambda: place.text == changed, "the mirror does not write")


def test_by_the_command_line_also_through_a_server(place: Place, server: Server) -> None:
    said = place.quire("run", "sales.py", "--keep", status=1).stderr
    (run,) = re.findall(r"quire cancel (\S+)", said)
    assert f"quire open {run}" in said and f"quire propose {run}" in said and f"quire cancel {run}" in said
    told = place.quire("propose", run, status=2)
    assert "as it ended" in told.stderr
    (place.path / "fixed.txt").write_text(f"{FIXED}\n")
    place.quire("edit", run, "cell-5", "--file", "fixed.txt")
    shown = place.quire("execute", run, "cell-4", "5", "cell-6")
    assert shown.stdout == "so far 41\ntotal 42\n"
    agent = place.somebody("fixer", "agent", "read", "edit", "run", "bind")
    failed = place.quire("execute", run, "cell-1", "nothing", "--at", server.url, status=2, QUIRE_TOKEN=agent)
    assert "nothing" in failed.stderr
    far = place.quire("propose", run, "--json", "--at", server.url, QUIRE_TOKEN=agent)
    told = place.quire("propose", run, status=3)
    assert far["proposal"] in told.stderr, "it waits already"
    yes = place.somebody("bob", "human", "read", "approve")
    place.quire("proposals", "accept", far["proposal"], "--at", server.url, QUIRE_TOKEN=yes)
    wait_until(lambda: FIXED in place.text, "the fix does not come into the file")


def test_a_secret_that_only_the_run_was_given_is_not_told_afterwards(place: Place, server: Server) -> None:
    """Rule 16."""
    declared = "# /// script\n# [tool.quire]\n# secrets = [\"API_KEY\"]\n# ///\nimport os\nkey = os.environ['API_KEY']"
    (place.path / "sales.py").write_text(f'# %% name="cell-1"\n{declared}\n\n# %% name="cell-2"\n1 / 0\n')
    run = place.fails(API_KEY="correct-horse-battery")["run"]
    with server.client(place.token("read", "edit", "run", "bind")) as client:
        # Not even by taking the declaration out of the notebook.
        edit(client, run, "cell-1", "import os")
        edit(client, run, "cell-2", "print('it is', key)")
        said = printed(run_cell(client, run, "cell-2"))
    assert said.startswith("it is ") and "horse" not in said
    for file in (place.root / ".quire").rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # of a server that works
            assert not file.is_file() or b"correct-horse" not in file.read_bytes(), file


# ---- What stands in the way


def test_where_the_kernel_is_gone_whoever_asks_is_told_and_how_to_go_on(place: Place, server: Server) -> None:
    run = place.fails()["run"]
    assert "ended" in place.quire("cancel", run).stderr
    with server.client(place.token("read", "edit", "run", "bind")) as client:
        edit(client, run, "cell-5", FIXED)
        ended = run_cell(client, run, "cell-5")
    assert ended["state"] == "skipped" and "--resume" in ended["why"] and run in ended["why"], ended
    wait_until(lambda: place.runtime(run) is None, "a runtime stays that has nothing to do")
    # The fix can be proposed all the same.
    assert place.quire("propose", run, "--json")["changes"] == 1


@pytest.mark.slow  # as above, but for the reason
def test_a_run_whose_kernel_was_not_kept_says_so(place: Place, server: Server) -> None:
    run = place.quire("run", "sales.py", "--json", status=1)["run"]
    with server.client(place.token("read", "edit", "run", "bind")) as client:
        ended = run_cell(client, run, "cell-4")
    assert ended["state"] == "skipped" and "not kept" in ended["why"], ended


@pytest.mark.slow  # tests/runs/test_fix_proposal.py has it without a server
def test_a_source_that_was_changed_meanwhile_refuses_the_fix_with_the_difference(place: Place, server: Server) -> None:
    run = place.fails()["run"]
    agent = place.somebody("fixer", "agent", "read", "edit", "run", "bind")
    fix(server, agent, run)
    (place.path / "sales.py").write_text(SALES.replace("1 / 0", "1 / 0.1"))
    with server.client(agent) as client:
        refused = client.post(f"/api/runs/{run}/propose", json={})
    assert refused.status_code == 403, refused.text
    assert "+total = y + 1 / 0.1" in refused.json()["error"]["details"]["difference"]
    told = place.quire("propose", run, status=3)
    assert "-total = y + 1 / 0\n" in told.stderr and "by hand" in told.stderr


# ---- More than one, and nobody


@pytest.mark.slow  # the story and tests/journeys/test_two_agents.py have what it puts together
def test_two_work_in_a_run_at_once_and_each_is_named(place: Place, server: Server) -> None:
    run = place.fails()["run"]
    people = {
        "human:ada": place.somebody("ada", "human", "read", "edit", "run", "bind"),
        "agent:fixer": place.somebody("fixer", "agent", "read", "edit", "run", "bind"),
    }
    names = {"human:ada": ("cell-4", "print('by hand', y)"), "agent:fixer": ("cell-5", FIXED)}
    wrong: list[BaseException] = []

    def work(who: str) -> None:
        try:
            with server.client(people[who]) as client:
                name, text = names[who]
                edit(client, run, name, text)
                assert run_cell(client, run, name)["state"] == "ok"
        except BaseException as error:  # told by the thread that asserts
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(who,)) for who in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    with server.client(people["human:ada"]) as client:
        for who, (name, _) in names.items():
            cell = cell_of(client, run, name)
            assert (cell["edited_by"], cell["execution"]["by"], cell["after_run"]) == (who, who, True)
        proposed = client.post(f"/api/runs/{run}/propose", json={}).json()
        assert proposed["changes"] == 2
    assert place.runtime(run) is not None, "one kernel, for both"


def test_whoever_asks_at_the_moment_in_which_it_is_over_gets_the_kernel(place: Place, server: Server) -> None:
    with server.client(place.token("read", "edit", "run", "bind")) as client:
        before = [each["run"] for each in client.get("/api/runs").json()]
        running = place.run("run", "sales.py", "--keep", "--json")
        runs = until(
            lambda: [each for each in client.get("/api/runs").json() if each["run"] not in before], "nothing runs"
        )
        (found,) = runs
        url = f"/api/notebooks/{found['run']}"
        until(lambda: client.get(url).json()["run"].get("status") == "error" or None, "it does not end")
        assert printed(run_cell(client, found["run"], "cell-4")) == "so far 41\n"
        told = place.quire("cancel", found["run"], status=3)
        assert "works in its kernel" in told.stderr
        end_runtimes(place.root, f"hold:runtime:{found['run']}")
    assert json.loads(running.communicate()[0])["status"] == "error"


@pytest.mark.slow  # that a kernel outlives its server: tests/journeys/test_serve.py
def test_a_run_that_succeeded_is_kept_as_well_and_its_kernel_outlives_the_server(alone: Place) -> None:
    (alone.path / "sales.py").write_text(SALES.replace("1 / 0", "1"))
    run = alone.fails(status=0)["run"]
    server = alone.start()
    token = alone.token("read", "edit", "run", "bind")
    with server.client(token) as client:
        edit(client, run, "cell-6", "total += 1\nprint('total', total)")
        assert printed(run_cell(client, run, "cell-6")) == "total 43\n"
    server.end(signal.SIGKILL)
    again = alone.start()
    with again.client(token) as client:
        assert printed(run_cell(client, run, "cell-6")) == "total 44\n", "nothing of it is lost"
    assert alone.quire("runs", "show", run, "--json")["outcome"]["status"] == "success"
    assert again.end() == 0


def test_a_runtime_that_is_killed_leaves_the_kernel_to_the_next(place: Place, server: Server) -> None:
    """Rule 11."""
    run = place.fails()["run"]
    with server.client(place.token("read", "edit", "run", "bind")) as client:
        edit(client, run, "cell-5", FIXED)
        run_cell(client, run, "cell-5")
        pid = place.runtime(run)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert printed(run_cell(client, run, "cell-6")) == "total 42\n"
        assert printed(run_cell(client, run, "cell-7")) == "in True\n"


def test_without_a_server_a_runtime_of_one_s_own_takes_the_kernel(alone: Place) -> None:
    run = alone.fails()["run"]
    runtime = alone.run("runtime", "--for", run, "--json")
    try:
        assert runtime.stdout is not None and runtime.stdout.readline()
        (alone.path / "fixed.txt").write_text(FIXED)
        alone.quire("edit", run, "5", "--file", "fixed.txt")
        assert alone.quire("execute", run, "5", "6", "7").stdout == "total 42\nin True\n"
        assert alone.quire("propose", run, "--json")["changes"] == 1
    finally:
        runtime.send_signal(signal.SIGTERM)
        runtime.communicate()
    assert alone.text == SALES


def test_a_kernel_that_nobody_uses_any_more_is_ended(alone: Place) -> None:
    (alone.path / "quire.toml").write_text("[serve]\nruntime_idle_minutes = 0.02\n")
    run = alone.fails()["run"]
    server = alone.start()
    with server.client(alone.token("read", "edit", "run", "bind")) as client:
        assert printed(run_cell(client, run, "cell-4")) == "so far 41\n"
        wait_until(lambda: alone.runtime(run) is None, "its runtime does not end")
        ended = run_cell(client, run, "cell-4")
        assert ended["state"] == "skipped" and "--keep" in ended["why"]
        names = [entry["event"]["type"] for entry in events(client, run, "runtime_attached", "runtime_detached")]
        assert names == ["runtime_attached", "runtime_detached"]
    assert server.end() == 0
