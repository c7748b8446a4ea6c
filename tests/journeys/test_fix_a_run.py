"""A run is a notebook too: a run fails and its kernel is kept; it is fixed where it stands, and the fix goes to its source."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from quire.core.text import source_hash

from .faulty import wait_until
from .living import end_runtimes, holders
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
    """A folder with a notebook of which the fifth cell fails, and people who look at it."""

    def fails(self, *flags: str, status: int = 1) -> Any:
        """Run it, and return what was printed as JSON."""
        done = self.quire("run", "sales.py", "--keep", "--json", *flags, status=status)
        return done

    def somebody(self, name: str, kind: str, *scopes: str) -> str:
        words = ("token", "new", "--actor", name, "--kind", kind, "--scope", ",".join(scopes), "--json")
        return self.quire(*words)["secret"]

    @property
    def text(self) -> str:
        return (self.path / "sales.py").read_text()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    (tmp_path / "sales.py").write_text(SALES)
    made = Place(tmp_path)
    yield made
    for info in made.quire("runs", "list", "--json"):
        made.quire("cancel", info["run"], status=None)
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
) -> None:
    outcome = place.fails()
    run = outcome["run"]
    assert (outcome["status"], outcome["failed_cell"]["index"], outcome["cells_executed"]) == ("error", 4, 5)
    before = place.quire("runs", "show", run, "--json")
    server = place.start()
    person = place.somebody("ada", "human", "read", "edit", "run")
    agent = place.somebody("fixer", "agent", "read", "edit", "run")
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
        assert (proposed["path"], proposed["changes"], proposed["was_made"]) == ("sales.py", 1, True)
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
    (listed,) = place.quire("runs", "list", "--json")
    assert (listed["status"], listed["cells_executed"], listed["cells"]) == ("error", 5, 7)
    assert "changed after the run" in place.quire("show", run).stdout
    exported = place.quire("export", run, "fixed.ipynb") and json.loads((place.path / "fixed.ipynb").read_text())
    marks = [cell["metadata"].get("quire", {}).get("after_run") for cell in exported["cells"]]
    assert [index for index, mark in enumerate(marks) if mark] == [4]
    place.quire("verify")
    assert server.end() == 0


def test_declined_the_file_stays_as_it_was(place: Place) -> None:
    run = place.fails()["run"]
    server = place.start()
    agent = place.somebody("fixer", "agent", "read", "edit", "run")
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
    assert server.end() == 0


def test_by_the_command_line_also_through_a_server(place: Place) -> None:
    said = place.quire("run", "sales.py", "--keep", status=1).stderr
    (run,) = [each["run"] for each in place.quire("runs", "list", "--json")]
    assert f"quire open {run}" in said and f"quire propose {run}" in said and f"quire cancel {run}" in said
    told = place.quire("propose", run, status=2)
    assert "as it ended" in told.stderr
    server = place.start()
    (place.path / "fixed.txt").write_text(f"{FIXED}\n")
    place.quire("edit", run, "cell-5", "--file", "fixed.txt")
    shown = place.quire("execute", run, "cell-4", "5", "cell-6")
    assert shown.stdout == "so far 41\ntotal 42\n"
    agent = place.somebody("fixer", "agent", "read", "edit", "run")
    failed = place.quire("execute", run, "cell-1", "nothing", "--at", server.url, status=2, QUIRE_TOKEN=agent)
    assert "nothing" in failed.stderr
    far = place.quire("propose", run, "--json", "--at", server.url, QUIRE_TOKEN=agent)
    told = place.quire("propose", run, status=3)
    assert far["proposal"] in told.stderr, "it waits already"
    yes = place.somebody("bob", "human", "read", "approve")
    place.quire("proposals", "accept", far["proposal"], "--at", server.url, QUIRE_TOKEN=yes)
    wait_until(lambda: FIXED in place.text, "the fix does not come into the file")
    assert server.end() == 0


def test_a_secret_that_only_the_run_was_given_is_not_told_afterwards(place: Place) -> None:
    """Rule 16."""
    declared = "# /// script\n# [tool.quire]\n# secrets = [\"API_KEY\"]\n# ///\nimport os\nkey = os.environ['API_KEY']"
    (place.path / "sales.py").write_text(f'# %% name="cell-1"\n{declared}\n\n# %% name="cell-2"\n1 / 0\n')
    run = place.quire("run", "sales.py", "--keep", "--json", status=1, API_KEY="correct-horse-battery")["run"]
    server = place.start()
    with server.client(place.token("read", "edit", "run")) as client:
        # Not even by taking the declaration out of the notebook.
        edit(client, run, "cell-1", "import os")
        edit(client, run, "cell-2", "print('it is', key)")
        said = printed(run_cell(client, run, "cell-2"))
    assert said.startswith("it is ") and "horse" not in said
    assert server.end() == 0
    for file in (place.path / ".quire").rglob("*"):
        assert not file.is_file() or b"correct-horse" not in file.read_bytes(), file


# ---- What stands in the way


def test_where_the_kernel_is_gone_whoever_asks_is_told_and_how_to_go_on(place: Place) -> None:
    run = place.fails()["run"]
    assert "ended" in place.quire("cancel", run).stderr
    server = place.start()
    with server.client(place.token("read", "edit", "run")) as client:
        edit(client, run, "cell-5", FIXED)
        ended = run_cell(client, run, "cell-5")
    assert ended["state"] == "skipped" and "--resume" in ended["why"] and run in ended["why"], ended
    assert not holders(place.path) or until(lambda: not holders(place.path), "a runtime stays that has nothing to do")
    # The fix can be proposed all the same.
    assert place.quire("propose", run, "--json")["changes"] == 1
    assert server.end() == 0


def test_a_run_whose_kernel_was_not_kept_says_so(place: Place) -> None:
    run = place.quire("run", "sales.py", "--json", status=1)["run"]
    server = place.start()
    with server.client(place.token("read", "edit", "run")) as client:
        ended = run_cell(client, run, "cell-4")
    assert ended["state"] == "skipped" and "not kept" in ended["why"], ended
    assert server.end() == 0


def test_a_source_that_was_changed_meanwhile_refuses_the_fix_with_the_difference(place: Place) -> None:
    run = place.fails()["run"]
    server = place.start()
    agent = place.somebody("fixer", "agent", "read", "edit", "run")
    fix(server, agent, run)
    (place.path / "sales.py").write_text(SALES.replace("1 / 0", "1 / 0.1"))
    with server.client(agent) as client:
        refused = client.post(f"/api/runs/{run}/propose", json={})
    assert refused.status_code == 403, refused.text
    assert "+total = y + 1 / 0.1" in refused.json()["error"]["details"]["difference"]
    told = place.quire("propose", run, status=3)
    assert "-total = y + 1 / 0\n" in told.stderr and "by hand" in told.stderr
    assert server.end() == 0


# ---- More than one, and nobody


def test_two_work_in_a_run_at_once_and_each_is_named(place: Place) -> None:
    run = place.fails()["run"]
    server = place.start()
    people = {
        "human:ada": place.somebody("ada", "human", "read", "edit", "run"),
        "agent:fixer": place.somebody("fixer", "agent", "read", "edit", "run"),
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
    assert len(holders(place.path)) == 1, "one kernel, for both"
    assert server.end() == 0


def test_whoever_asks_at_the_moment_in_which_it_is_over_gets_the_kernel(place: Place) -> None:
    server = place.start()
    running = place.run("run", "sales.py", "--keep", "--json")
    with server.client(place.token("read", "edit", "run")) as client:
        (found,) = until(lambda: client.get("/api/runs").json() or None, "nothing runs")
        url = f"/api/notebooks/{found['run']}"
        until(lambda: client.get(url).json()["run"].get("status") == "error" or None, "it does not end")
        assert printed(run_cell(client, found["run"], "cell-4")) == "so far 41\n"
        told = place.quire("cancel", found["run"], status=3)
        assert "works in its kernel" in told.stderr
    assert json.loads(running.communicate()[0])["status"] == "error"
    assert server.end() == 0


def test_a_run_that_succeeded_is_kept_as_well_and_its_kernel_outlives_the_server(place: Place) -> None:
    (place.path / "sales.py").write_text(SALES.replace("1 / 0", "1"))
    run = place.fails(status=0)["run"]
    server = place.start()
    token = place.token("read", "edit", "run")
    with server.client(token) as client:
        edit(client, run, "cell-6", "total += 1\nprint('total', total)")
        assert printed(run_cell(client, run, "cell-6")) == "total 43\n"
    server.end(signal.SIGKILL)
    again = place.start()
    with again.client(token) as client:
        assert printed(run_cell(client, run, "cell-6")) == "total 44\n", "nothing of it is lost"
    assert place.quire("runs", "show", run, "--json")["outcome"]["status"] == "success"
    assert again.end() == 0


def test_a_runtime_that_is_killed_leaves_the_kernel_to_the_next(place: Place) -> None:
    """Rule 11."""
    run = place.fails()["run"]
    server = place.start()
    with server.client(place.token("read", "edit", "run")) as client:
        edit(client, run, "cell-5", FIXED)
        run_cell(client, run, "cell-5")
        (pid,) = holders(place.path).values()
        os.kill(pid, signal.SIGKILL)
        assert printed(run_cell(client, run, "cell-6")) == "total 42\n"
        assert printed(run_cell(client, run, "cell-7")) == "in True\n"
    assert server.end() == 0


def test_without_a_server_a_runtime_of_one_s_own_takes_the_kernel(place: Place) -> None:
    run = place.fails()["run"]
    runtime = place.run("runtime", "--for", run, "--json")
    try:
        assert runtime.stdout is not None and runtime.stdout.readline()
        (place.path / "fixed.txt").write_text(FIXED)
        place.quire("edit", run, "5", "--file", "fixed.txt")
        assert place.quire("execute", run, "5", "6", "7").stdout == "total 42\nin True\n"
        assert place.quire("propose", run, "--json")["changes"] == 1
    finally:
        runtime.send_signal(signal.SIGTERM)
        runtime.communicate()
    assert place.text == SALES


def test_a_kernel_that_nobody_uses_any_more_is_ended(place: Place) -> None:
    (place.path / "quire.toml").write_text("[serve]\nruntime_idle_minutes = 0.02\n")
    run = place.fails()["run"]
    server = place.start()
    with server.client(place.token("read", "edit", "run")) as client:
        assert printed(run_cell(client, run, "cell-4")) == "so far 41\n"
        wait_until(lambda: not holders(place.path), "its runtime does not end")
        ended = run_cell(client, run, "cell-4")
        assert ended["state"] == "skipped" and "--keep" in ended["why"]
        names = [entry["event"]["type"] for entry in events(client, run, "runtime_attached", "runtime_detached")]
        assert names == ["runtime_attached", "runtime_detached"]
    assert server.end() == 0
