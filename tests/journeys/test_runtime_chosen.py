"""Several runtimes on one notebook: chosen by name and by language, and racing for what is for anybody."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from quire.core import events as e
from quire.core.errors import Conflict
from quire.core.events import Draft
from quire.core.ids import CellId, ExecutionId, LogId, RuntimeId
from quire.core.text import source_hash
from quire.workspace.clock import new_id
from quire.workspace.remote.remote_workspace import RemoteWorkspace

from .live_runtimes import end_runtimes, runtime_of
from .remote_runtime import Far, ended, far, request, token_of_runtime
from .server import Folder, Server, events, printed, until
from .watcher import Watcher

__all__ = ["far"]  # fixtures


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    made = Folder(tmp_path_factory.mktemp("here"))
    yield made
    made.close()
    end_runtimes(made.path)


@pytest.fixture(scope="module")
def server(folder: Folder) -> Iterator[Server]:
    """One for all: nobody here does it any harm."""
    made = folder.start()
    yield made
    assert made.end() == 0


@pytest.mark.parametrize("with_r", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["python", "and R"])
def test_a_request_goes_to_the_runtime_of_that_name_or_language(
    folder: Folder, server: Server, far: list[Far], tmp_path: Path, with_r: bool
) -> None:
    python = "import os\\nprint(os.getpid())"
    cells = [f'# %% name="c{number}"\n{python.replace(chr(92) + "n", chr(10))}\n' for number in range(4)]
    cells.append('# %% name="r"\ncat(R.version$language, 6 * 7, "\\n")\n')
    log = folder.notebook(f"mixed-{with_r}.py", "\n".join(cells))
    wanted = [("gpu",), ("cpu",), *([("stats", "--language", "R")] if with_r else [])]
    for name, *flags in wanted:
        secret = token_of_runtime(folder, name, log)
        far.append(Far(tmp_path / name, server.url, secret, "--for", log, "--name", name, *flags))
    with server.client(folder.token("read", "edit", "run")) as client:
        until(
            lambda: len(client.get(f"/api/notebooks/{log}").json().get("runtimes", ())) == len(wanted),
            "not all are there",
        )
        on_gpu, again, by_id = (
            ended(client, log, request(client, log, cell, wants))
            for cell, wants in (("c0", "gpu"), ("c1", "gpu"), ("c2", "runtime:gpu"))
        )
        assert on_gpu["runtime"] == again["runtime"] == by_id["runtime"] == "runtime:gpu"
        assert printed(on_gpu) == printed(again) == printed(by_id), "one kernel"
        on_cpu = ended(client, log, request(client, log, "c0", "cpu"))
        assert on_cpu["runtime"] == "runtime:cpu" and printed(on_cpu) != printed(on_gpu)
        for wants in ("R", "stats") if with_r else ():
            in_r = ended(client, log, request(client, log, "r", wants))
            assert (in_r["runtime"], printed(in_r)) == ("runtime:stats", "R 42 \n")
        for wants in ("python", None):
            found = ended(client, log, request(client, log, "c3", wants))
            assert found["runtime"] in ("runtime:gpu", "runtime:cpu") and found["state"] == "ok"
        nobody = request(client, log, "c0", "cluster")
        assert ended(client, log, request(client, log, "c1", "cpu"))["state"] == "ok"
        assert client.get(f"/api/notebooks/{log}/executions/{nobody}").json()["execution"]["state"] == "queued"
    assert runtime_of(folder.path, log) is None, "none was started here for what they take"
    assert [each.end() for each in far] == [0] * len(wanted)


def test_people_bring_a_runtime_with_their_own_token_or_their_own_files(
    folder: Folder, server: Server, far: list[Far], tmp_path: Path
) -> None:
    log = folder.notebook("two.py", '# %% name="one"\nprint("here")\n')
    token = folder.token("read", "edit", "run")
    far.append(Far(tmp_path / "ada", server.url, token, "--name", "laptop"))
    far.append(Far(tmp_path / "owner", str(folder.path), None, "--name", "beside"))
    with server.client(token) as client:
        for name in ("laptop", "beside"):
            assert printed(ended(client, log, request(client, log, "one", name))) == "here\n"
        claims = events(client, log, "execution_claimed")
        assert claims[0]["actor"] == "runtime:laptop" and claims[0]["on_behalf_of"] == "human:ada"
        assert claims[1]["actor"].startswith("runtime:run-"), "called after its process, which can be seen to be gone"
    assert [each.end() for each in far] == [0, 0]


def test_one_process_serves_several_notebooks_and_no_more_than_it_may(
    folder: Folder, server: Server, far: list[Far], tmp_path: Path
) -> None:
    logs: list[str] = []
    for name in ("a", "b", "c"):
        (folder.path / f"{name}.py").write_text(f'# %% name="one"\nimport os\nprint("{name}", os.getpid())\n')
        logs.append(folder.imported(f"{name}.py"))
    flags = ("--name", "gpu", "--most", "2", "--idle", "0.01")
    far.append(Far(tmp_path / "far", server.url, token_of_runtime(folder, "gpu", *logs), *flags))
    with server.client(folder.token("read", "edit", "run")) as client:
        executions = [request(client, log, "one", "gpu") for log in logs]
        said = [printed(ended(client, log, execution)) for log, execution in zip(logs, executions, strict=True)]
    assert [each.split()[0] for each in said] == ["a", "b", "c"]
    assert len({each.split()[1] for each in said}) == 3, "a kernel each; the third waited until one had nothing to do"
    assert far[0].end() == 0


@pytest.mark.parametrize(
    ("count", "rounds"),
    [(20, 1), pytest.param(100, 1, marks=pytest.mark.slow), pytest.param(100, 10, marks=pytest.mark.torture)],
)
def test_of_two_runtimes_exactly_one_runs_each_execution(
    folder: Folder, server: Server, far: list[Far], tmp_path: Path, count: int, rounds: int
) -> None:
    """Rule 10. Two runtimes with a kernel each, and so many requests a round that both would take."""
    cells = [f'# %% name="c{number}"\nprint({number})\n' for number in range(count)]
    log = folder.notebook(f"race-{count}-{rounds}.py", "\n".join(cells))
    for name in ("one", "two"):
        far.append(Far(tmp_path / name, server.url, token_of_runtime(folder, name, log), "--for", log, "--name", name))
    with server.client(folder.token("read", "edit", "run")) as client:
        until(lambda: len(client.get(f"/api/notebooks/{log}").json().get("runtimes", ())) == 2, "not both are there")
        for _ in range(rounds):
            wanted = {"cells": [{"cell": f"c{number}"} for number in range(count)]}
            asked = client.post(f"/api/notebooks/{log}/executions", json=wanted)
            assert asked.status_code == 200, asked.text
            until(lambda: not client.get(f"/api/notebooks/{log}").json().get("executions"), "not all came to their end")
        watcher = Watcher(server, folder.token("read"), log)
        head = client.get(f"/api/notebooks/{log}").json()["seq"]
        until(lambda: watcher.numbers and watcher.numbers[-1] >= head, "it does not catch up")
        watcher.close()
    for kind in (e.ExecutionClaimed, e.ExecutionStarted, e.ExecutionFinished):
        found = [entry.event.execution for entry in watcher.entries if isinstance(entry.event, kind)]
        assert len(found) == len(set(found)) == rounds * count, f"{kind.__name__}: each once"
    assert all(cell.state == "ok" for cell in watcher.notebook.live_cells)
    assert [each.end() for each in far] == [0, 0]


async def claimed_by_both(server: Server, secrets: list[str], owner: str, rounds: int) -> list[list[bool]]:
    """Two runtimes that claim the same execution in the same moment, again and again; who got it."""
    log = LogId(new_id())
    ada, *both = [await RemoteWorkspace.open(server.url, secret) for secret in (owner, *secrets)]
    cell = CellId("a")
    await ada.submit(
        log, [draft(e.NotebookCreated(name="race")), draft(e.CellAdded(cell=cell, after=None, source="1"))]
    )
    for each in both:  # under one name: what is asked of it is for neither of them alone, and for nobody else
        await each.submit(log, [draft(e.RuntimeAttached(runtime=RuntimeId(each.identity.actor), name="racer"))])
    won: list[list[bool]] = []
    for _ in range(rounds):
        execution = ExecutionId(new_id())
        hash = source_hash("1")
        wanted = e.ExecutionRequested(execution=execution, cell=cell, source_hash=hash, runtime="racer")
        await ada.submit(log, [draft(wanted)])
        claims = [
            each.submit(log, [draft(e.ExecutionClaimed(execution=execution, runtime=RuntimeId(each.identity.actor)))])
            for each in both
        ]
        answers = await asyncio.gather(*claims, return_exceptions=True)
        won.append([isinstance(answer, list) for answer in answers])
        assert all(isinstance(answer, Conflict | list) for answer in answers), answers
        assert sum(won[-1]) == 1, answers
        (entry,) = next(answer for answer in answers if isinstance(answer, list))
        claim = entry.event
        assert isinstance(claim, e.ExecutionClaimed) and claim.epoch is not None
        winner = next(each for each in both if each.identity.actor == claim.runtime)
        finished = e.ExecutionFinished(execution=execution, epoch=claim.epoch, status="ok")
        await winner.submit(log, [draft(finished)])
        await winner.release(log, claim)
    for each in (ada, *both):
        await each.close()
    return won


def draft(event: e.KnownEvent) -> Draft:
    return Draft(id=new_id(), event=event)


@pytest.mark.parametrize("rounds", [30, pytest.param(1000, marks=pytest.mark.torture)])
def test_of_two_claims_in_the_same_moment_exactly_one_wins(folder: Folder, server: Server, rounds: int) -> None:
    """Rule 10."""
    secrets = [token_of_runtime(folder, name) for name in ("one", "two")]
    won = asyncio.run(claimed_by_both(server, secrets, folder.token("read", "edit", "run"), rounds))
    assert [sum(each) for each in won] == [1] * rounds


@pytest.mark.slow
def test_a_follower_that_is_ten_thousand_events_behind_catches_up_while_more_comes(
    folder: Folder, server: Server
) -> None:
    cell = '# %% name="count"\nimport pathlib, time\ni = 0\nwhile not pathlib.Path("enough").exists():\n'
    log = folder.notebook("many.py", f"{cell}    print(i)\n    i += 1\n    time.sleep(0.002)\n")
    token = folder.token("read", "edit", "run")
    with server.client(token) as client:
        for start in range(0, 10_000, 1000):
            named = [
                {"id": new_id(), "event": {"type": "metadata_set", "values": {"number": number}}}
                for number in range(start, start + 1000)
            ]
            answer = client.post(f"/api/logs/{log}/events", json={"drafts": named})
            assert answer.status_code == 200, answer.text
        execution = request(client, log, "count")
        until(lambda: events(client, log, "stream_appended"), "it does not print")
        watcher = Watcher(server, token, log)
        until(lambda: len(watcher.numbers) > 10_000, "it does not catch up")
        until(lambda: "5\n" in watcher.printed(execution), "it does not see what comes")
        (folder.path / "enough").touch()
        found = ended(client, log, execution)
        until(lambda: any(isinstance(each.event, e.ExecutionFinished) for each in watcher.entries[10_000:]), "no end")
        watcher.close()
    assert watcher.numbers == list(range(1, len(watcher.numbers) + 1)), "no gap, nothing twice"
    assert watcher.printed(execution) == printed(found)
