"""The story: somebody starts a long cell and closes the laptop, the server is restarted meanwhile, others take over."""

from __future__ import annotations

import signal
from pathlib import Path

import httpx
import pytest

from quire.core.codec import type_of
from quire.workspace.clock import new_id

from .faulty_notebook import wait_until
from .owner import new_token
from .remote_runtime import Far, ended, far, folder, interrupt, request, token_of_runtime, until_printed
from .server import Folder, events, free_port, printed, until
from .watcher import Watcher

__all__ = ["far", "folder"]  # fixtures

pytestmark = pytest.mark.slow  # each of its parts has a test of its own beside this one

LONG = """
# %% name="long"
import pathlib, time
for i in range(100):
    print(i)
while not pathlib.Path("away").exists():
    time.sleep(0.01)
for i in range(100, 200):
    print(i)
pathlib.Path("said").touch()
while not pathlib.Path("back").exists():
    time.sleep(0.01)
while True:
    i += 1
    print(i)
    time.sleep(0.01)

# %% name="after"
print("went on to", i)
"""


def story(folder: Folder, work: Path, far: list[Far], *, brought: bool) -> None:
    log = folder.notebook("long.py", LONG)
    ada, bob = (folder.token("read", "edit", "run", actor=f"human:{name}") for name in ("ada", "bob"))
    agent = new_token(folder.path, "agent:claude", "read", "edit", "run", behalf="human:bob")
    server = folder.start("--port", str(free_port()))
    if brought:
        far.append(Far(work.parent, server.url, token_of_runtime(folder, "gpu", log), "--name", "gpu"))
        wait_until(work.exists, "it has no folder")
    # Ada starts a long cell, and closes the laptop.
    with server.client(ada) as client:
        execution = request(client, log, "long", "gpu" if brought else None)
        until_printed(client, log, execution, "99\n")
    # The server is restarted meanwhile: as one does, and as it happens.
    assert server.end() == 0
    (work / "away").touch()
    wait_until((work / "said").exists, "the cell does not go on")
    server = folder.start("--port", str(server.port))
    server.end(signal.SIGKILL)
    server = folder.start("--port", str(server.port))
    # A colleague and an agent open the notebook.
    watchers = [Watcher(server, secret, log) for secret in (bob, agent)]
    for watcher in watchers:
        until(lambda watcher=watcher: "199\n" in watcher.printed(execution), "the output does not arrive")
    (work / "back").touch()
    for watcher in watchers:
        until(lambda watcher=watcher: "220\n" in watcher.printed(execution), "the output does not go on")
    with server.client(bob) as client, server.client(agent) as assistant:
        nobody_signs_for_somebody_else(client, log, execution)
        interrupt(assistant, log, execution)
        found = ended(client, log, execution)
        assert found["state"] == "cancelled" and found["interrupted_by"] == "agent:claude"
        counted = printed(found).split()
        assert counted == [str(number) for number in range(len(counted))] and len(counted) > 220
        after = ended(client, log, request(client, log, "after", "gpu" if brought else None))
        assert printed(after) == f"went on to {counted[-1]}\n"
        head = events(client, log, "execution_finished")[-1]["seq"]
    for watcher in watchers:
        until(lambda watcher=watcher: watcher.numbers[-1] >= head, "the end does not arrive")
        assert watcher.numbers == list(range(1, len(watcher.numbers) + 1)), "no gap, nothing twice"
        assert watcher.printed(execution).split() == counted
        who = {type_of(entry.event): entry for entry in watcher.entries if execution in str(entry.event)}
        assert who["execution_requested"].actor == "human:ada"
        said = {who[each].actor for each in ("execution_claimed", "stream_appended", "execution_finished")}
        assert len(said) == 1 and said.pop().startswith("runtime:")
        assert who["interrupt_requested"].actor == "agent:claude"
        assert who["interrupt_requested"].on_behalf_of == "human:bob"
        watcher.close()
    assert server.end() == 0
    folder.verify()


def nobody_signs_for_somebody_else(client: httpx.Client, log: str, execution: str) -> None:
    """Rule 3: neither for another person nor for the runtime."""
    claimed = events(client, log, "execution_claimed")[-1]
    runtime, epoch = claimed["actor"], claimed["event"]["epoch"]
    printing = {"type": "stream_appended", "execution": execution, "epoch": epoch, "chunk": 10_000, "name": "stdout"}
    ending = {"type": "execution_finished", "execution": execution, "epoch": epoch, "status": "ok"}
    claim = {"type": "execution_claimed", "execution": execution, "runtime": runtime}
    before = client.get(f"/api/notebooks/{log}").json()["seq"]
    for event in (printing | {"offset": 0, "text": "forged"}, ending, claim):
        refused = client.post(f"/api/logs/{log}/events", json={"drafts": [{"id": new_id(), "event": event}]})
        assert refused.status_code in (403, 409), refused.text
    interrupting = {"type": "interrupt_requested", "execution": execution}
    forged = {"id": new_id(), "event": interrupting, "actor": "human:ada"}
    assert client.post(f"/api/logs/{log}/events", json={"drafts": [forged]}).status_code == 422
    release = {"claim": {"type": "execution_claimed", "execution": execution, "runtime": runtime, "epoch": epoch}}
    assert client.post(f"/api/logs/{log}/release", json=release).status_code == 403
    new = client.get(f"/api/logs/{log}/events", params={"since": before}).json()["entries"]
    assert {entry["event"]["type"] for entry in new} <= {"stream_appended"}, "nothing of it is in the log"


def test_the_story_with_a_runtime_that_the_server_started(folder: Folder, far: list[Far]) -> None:
    story(folder, folder.path, far, brought=False)


def test_the_story_with_a_runtime_that_somebody_brought(folder: Folder, far: list[Far], tmp_path: Path) -> None:
    story(folder, tmp_path / "far" / "work", far, brought=True)
