"""People and agents, in several processes and over several doors, in one notebook: all come to see the same."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quire.core.events import Entry
from quire.core.ids import LogId
from quire.core.notebook.notebook import Notebook
from quire.core.notebook.reduce import fold
from quire.workspace.remote.remote_workspace import RemoteWorkspace

from .faulty_notebook import DEADLINE_SECONDS
from .live_runtimes import end_runtimes
from .owner import new_token
from .server import Folder, Server

EDITOR = Path(__file__).with_name("edit_at.py")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    (tmp_path / "shared.py").write_text("# %%\nx = 1\n\n# %%\ny = 2\n\n# %%\nprint(x, y)\n")
    made = Folder(tmp_path)
    yield made
    made.close()
    end_runtimes(tmp_path)


def token(folder: Folder, name: str, kind: str) -> str:
    return new_token(folder.path, f"{kind}:{name}", "read", "edit", behalf="human:ada" if kind == "agent" else None)


class Editors:
    """Processes that edit, each as somebody else: over the network, or on the files themselves."""

    def __init__(self, folder: Folder, log: str, edits: int) -> None:
        self._folder, self._log, self._edits = folder, log, edits
        self._processes: list[subprocess.Popen[str]] = []

    def start(self, where: str, kind: str, secret: str | None = None) -> None:
        environ = self._folder.environ | ({"QUIRE_TOKEN": secret} if secret is not None else {})
        words = [where, self._log, str(len(self._processes)), str(self._edits), kind]
        pipe = subprocess.PIPE
        process = subprocess.Popen([sys.executable, EDITOR, *words], env=environ, stdout=pipe, stderr=pipe, text=True)
        self._processes.append(process)

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.communicate()

    def accepted(self) -> list[list[str]]:
        """The ids of what each had acknowledged, once they have all ended."""
        told: list[list[str]] = []
        for process in self._processes:
            out, said = process.communicate(timeout=DEADLINE_SECONDS)
            assert process.returncode == 0, said
            told.append(json.loads(out)["accepted"])
        return told


async def followed(workspace: RemoteWorkspace, log: LogId, entries: list[Entry]) -> None:
    async for page in workspace.follow(log):
        entries.extend(page)


@pytest.mark.parametrize("edits", [20, pytest.param(40, marks=pytest.mark.torture)])
async def test_all_see_the_same_at_each_number(folder: Folder, edits: int) -> None:
    log = folder.imported("shared.py")
    server = folder.start()
    secrets = {name: token(folder, name, kind) for name, kind in
               (("ada", "human"), ("bob", "human"), ("claude", "agent"), ("gpt", "agent"))}  # fmt: skip
    editors = Editors(folder, log, edits)
    for name, secret in secrets.items():
        editors.start(server.url, "agent" if name in ("claude", "gpt") else "human", secret)
    editors.start(str(folder.path), "human")

    seen: list[list[Entry]] = [[], []]
    watchers = [await RemoteWorkspace.open(server.url, secrets["ada"]) for _ in seen]
    watching = [
        asyncio.ensure_future(followed(each, LogId(log), into)) for each, into in zip(watchers, seen, strict=True)
    ]
    try:
        accepted = await asyncio.to_thread(editors.accepted)
        head = (await watchers[0].read(LogId(log))).seq
        async with asyncio.timeout(DEADLINE_SECONDS):
            for entries in seen:
                while not entries or entries[-1].seq < head:  # noqa: ASYNC110 - those who follow tell nobody
                    await asyncio.sleep(0.01)
    finally:
        editors.close()
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        for each in watchers:
            await each.close()

    for entries in seen:
        assert [entry.seq for entry in entries] == list(range(1, head + 1)), "without a gap, without a repetition"
    recorded = [str(entry.id) for entry in seen[0]]
    assert all(recorded.count(id) == 1 for ids in accepted for id in ids), "all that was acknowledged is there once"
    assert all(len(ids) > edits / 4 for ids in accepted), "everybody got somewhere"
    await asyncio.to_thread(check_states, folder, server, secrets["bob"], log, seen)
    assert server.end() == 0
    folder.verify()


def check_states(folder: Folder, server: Server, secret: str, log: str, seen: list[list[Entry]]) -> None:
    """What the followers make of it is what the API and the command line say, at each number."""
    states: list[Notebook] = [Notebook(), Notebook()]
    with server.client(secret) as client:
        for number, pair in enumerate(zip(*seen, strict=True), start=1):
            states = [fold([entry], state) for entry, state in zip(pair, states, strict=True)]
            folded = [plain(state) for state in states]
            assert folded[0] == folded[1] == client.get(f"/api/notebooks/{log}", params={"seq": number}).json()
            if number % 50 == 1:
                shown = folder.quire("show", log, "--seq", str(number), "--json")
                there = folder.quire(
                    "show", log, "--seq", str(number), "--json", "--at", server.url, QUIRE_TOKEN=secret
                )
                assert shown["notebook"] == there["notebook"] == folded[0]


def plain(notebook: Notebook) -> Any:
    return msgspec.json.decode(msgspec.json.encode(notebook))
