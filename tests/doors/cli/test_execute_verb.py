"""`quire execute -c` and `quire wait`, with a kernel that they start themselves."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path

import pytest

from quire.connection import connect_store
from quire.core.events import Draft, NotebookCreated, RuntimeAttached, RuntimeDetached
from quire.core.ids import LogId, RuntimeId
from quire.workspace.clock import new_id
from quire.workspace.identity import identities

from ...command import QUIRE, as_json, clean_environ, run
from ...journeys.live_runtimes import end_runtimes
from ...journeys.server import until

# A runtime that was started stays for a while: here, not for long.
QUICKLY = {"QUIRE_SERVE_RUNTIME_IDLE_MINUTES": "0.02"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("folder")
    (folder / "sales.py").write_text("# %%\nx = 20\n\n# %%\nprint(x + 22)\n")
    assert run("import", "sales.py", at=folder).returncode == 0
    return folder


def scratches(folder: Path) -> int:
    return sum(each["type"] == "scratch_requested" for each in _log(folder))


def _log(folder: Path) -> list[dict[str, str]]:
    return as_json("sql", "SELECT type FROM events", at=folder)


def test_cells_and_code_run_in_a_kernel_that_is_started_for_them(folder: Path) -> None:
    done = run("execute", "sales", "1", "2", at=folder, env=QUICKLY)
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr
    done = run("execute", "sales", "-c", "x = 20; print(x * 2)", at=folder, env=QUICKLY)
    assert (done.returncode, done.stdout) == (0, "40\n"), done.stderr
    done = run("execute", "sales", "-c", "-", at=folder, stdin="1 / 0", env=QUICKLY)
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr
    assert len(as_json("show", "sales", at=folder)["notebook"]["order"]) == 4, "two cells, and two that are none"
    assert scratches(folder) == 2
    until(lambda: any(each["type"] == "runtime_detached" for each in _log(folder)), "the runtime stays")


def test_what_is_waited_for_is_started_and_shown(folder: Path) -> None:
    words = [QUIRE, "execute", "sales", "-c", "print('late')", "--runtime", "nobody"]
    with subprocess.Popen(words, cwd=folder, env=os.environ | QUICKLY) as waiting:
        until(lambda: scratches(folder) == 3, "nothing is asked for")
        done = run("wait", "sales", "--seconds", "0", at=folder, env=QUICKLY)
        assert done.returncode == 1 and "queued" in done.stdout
        waiting.kill()
    told = as_json("show", "sales", at=folder)["notebook"]
    (execution,) = told["executions"]
    done = run("interrupt", "sales", "--all", at=folder)
    assert done.returncode == 0 and execution in done.stderr
    done = run("wait", "sales", at=folder, env=QUICKLY)
    assert (done.returncode, done.stdout.partition(" · ")[0]) == (0, "nothing runs")


def test_who_waits_for_want_of_room_is_told_why_everywhere(tmp_path: Path) -> None:
    limit = {"QUIRE_SERVE_MOST_RUNTIMES": "1"}
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text("# %%\nprint(1)\n")
        assert run("import", f"{name}.py", at=tmp_path).returncode == 0
    why = (
        "waits: 1 runtime is running, the most that this workspace allows (most_runtimes under [serve]); "
        "idle ones end after 5 minutes"
    )
    assert run("execute", "first", "1", at=tmp_path, env=limit).returncode == 0
    try:
        words = [QUIRE, "execute", "second", "1"]
        with subprocess.Popen(
            words, cwd=tmp_path, env=clean_environ(limit), stderr=subprocess.PIPE, text=True
        ) as waiting:
            assert waiting.stderr is not None
            assert waiting.stderr.readline() == f"quire: {why}\n"
            done = run("wait", "second", "--seconds", "0", at=tmp_path, env=limit)
            assert f"queued: {why}" in done.stdout
            found = json.loads(run("doctor", "--json", at=tmp_path).stdout)
            assert any(f"A cell {why}." in str(finding) for finding in found["findings"]), found
            waiting.kill()
    finally:
        end_runtimes(tmp_path)


def test_why_a_kernel_was_ended_is_shown_and_in_the_log(tmp_path: Path) -> None:
    why = "idle for 12 minutes, it made room for another notebook: 32 at once are the most that this workspace allows"
    runtime = RuntimeId("runtime:live-1")

    async def end() -> None:
        workspace = await connect_store(tmp_path)
        log, actors = LogId(new_id()), [workspace.identity, identities.runtime("live-1"), identities.system()]
        events = [
            NotebookCreated(name="sales"),
            RuntimeAttached(runtime=runtime),
            RuntimeDetached(runtime=runtime, why=why),
        ]
        for actor, event in zip(actors, events, strict=True):
            await workspace.acting_as(actor).submit(log, [Draft(id=new_id(), event=event)])
        await workspace.close()

    asyncio.run(end())
    assert run("show", "sales", at=tmp_path).stdout.endswith(f"\nits kernel ended: {why}\n")
    assert f"runtime_detached {runtime}: {why}" in " ".join(run("log", "sales", at=tmp_path).stdout.split())


def test_a_proposal_is_waited_for(folder: Path) -> None:
    words = ("--actor", "claude", "--kind", "agent", "--scope", "read,run", "--ask", "run")
    agent = {"QUIRE_TOKEN": as_json("token", "new", *words, at=folder)["secret"]}
    told = json.loads(run("execute", "sales", "-c", "print('asked')", "--json", at=folder, env=agent).stdout)
    shown = run("proposals", "show", told["proposal"], at=folder)
    assert "run code without a cell (code)" in shown.stdout and "> print('asked')" in shown.stdout
    done = run("wait", "sales", "--proposal", told["proposal"], "--seconds", "0", at=folder)
    assert done.returncode == 1 and done.stdout.startswith("open: nobody has said yes or no")
    person = ("--actor", "ada", "--kind", "human", "--scope", "read,approve")
    ada = {"QUIRE_TOKEN": as_json("token", "new", *person, at=folder)["secret"]}
    assert run("proposals", "decline", told["proposal"], "--why", "no", at=folder, env=ada).returncode == 0
    done = run("wait", "sales", "--proposal", told["proposal"], at=folder)
    assert done.returncode == 3 and "declined by human:ada: no" in done.stdout


def test_cells_and_code_are_one_or_the_other(folder: Path) -> None:
    for words in ((), ("1", "-c", "1")):
        done = run("execute", "sales", *words, at=folder)
        assert done.returncode == 2 and "-c CODE" in done.stderr
