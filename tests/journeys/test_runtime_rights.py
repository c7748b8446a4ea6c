"""A runtime's token can touch only what it was made for, whoever has it; and its kernel never sees it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from quire.workspace.clock import new_id

from .remote_runtime import COUNTING, Far, ended, far, request, token_of_runtime
from .server import Folder, Server, until

__all__ = ["far"]  # fixtures


class House:
    """A server, two notebooks, and a runtime's token for one of them."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.log = folder.notebook("count.py", COUNTING)
        self.other = folder.notebook("other.py", '# %% name="other"\n"not for everybody"\n')
        self.server: Server = folder.start()
        self.secret = token_of_runtime(folder, "gpu", self.log)
        self.owner = folder.token("read", "edit", "run", "approve")

    def submit(self, client: httpx.Client, log: str, event: dict[str, Any]) -> httpx.Response:
        return client.post(f"/api/logs/{log}/events", json={"drafts": [{"id": new_id(), "event": event}]})


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    made = House(Folder(tmp_path_factory.mktemp("house")))
    yield made
    assert made.server.end() == 0
    made.folder.close()


def test_it_reads_and_runs_its_notebook_and_nothing_else(house: House) -> None:
    log, other = house.log, house.other
    with house.server.client(house.secret) as gpu, house.server.client(house.owner) as ada:
        assert gpu.get("/api/me").json()["actor"] == "runtime:gpu"
        assert [each["log"] for each in gpu.get("/api/notebooks").json()] == [log]
        refused = [
            # Another notebook.
            gpu.get(f"/api/notebooks/{other}"),
            gpu.get(f"/api/logs/{other}/events"),
            gpu.get(f"/api/logs/{other}/export"),
            house.submit(gpu, other, {"type": "runtime_attached", "runtime": "runtime:gpu"}),
            gpu.post("/api/runtimes", json={"name": "gpu", "log": other}),
            # All of them.
            gpu.post("/api/query", json={"sql": "SELECT * FROM events"}),
            gpu.get("/api/directory"),
            # What needs another scope: edit, approve, admin.
            house.submit(gpu, log, {"type": "cell_added", "cell": "forged", "after": None}),
            house.submit(gpu, log, {"type": "proposal_accepted", "proposal": "p"}),
            house.submit(gpu, log, {"type": "payload_redacted", "seq": 1, "why": "mine"}),
            house.submit(gpu, log, {"type": "notebook_archived", "archived": True}),
            gpu.post("/api/tokens", json={"actor": "runtime:gpu", "scopes": ["read", "serve", "edit"]}),
            gpu.post("/api/roles", json={"actor": "runtime:gpu", "role": "owner"}),
            gpu.post(f"/api/logs/{log}/forget-snapshots"),
            gpu.post("/api/notebooks", json={"name": "new"}),
            # What says who serves.
            gpu.post("/api/holds", json={"name": f"runtime:{log}", "seconds": 60}),
            gpu.post("/api/holds", json={"name": "server", "seconds": 60}),
        ]
        assert [answer.status_code for answer in refused] == [403] * len(refused), [each.text for each in refused]
        assert ada.get(f"/api/notebooks/{other}").json()["seq"] == 2, "nothing of it is in the log"


def claim_of(client: httpx.Client, runtime: str) -> Any:
    """What a runtime has claimed, if it has."""
    claims = client.get("/api/claims")
    assert claims.status_code == 200, claims.text
    return next((each for each in claims.json() if each["claim"]["runtime"] == runtime), None)


def test_it_claims_for_itself_and_holds_nobody_elses_claim(house: House, far: list[Far], tmp_path: Path) -> None:
    """Rules 3 and 10."""
    log = house.log
    with house.server.client(house.secret) as gpu, house.server.client(house.owner) as ada:
        execution = request(ada, log, "count", "runtime:other")
        claim = {"type": "execution_claimed", "execution": execution}
        # Before the other one is there: what it has claimed cannot be claimed in its name either, but for that reason.
        assert house.submit(gpu, log, claim | {"runtime": "runtime:other"}).status_code == 403
        other = Far(tmp_path / "far", house.server.url, token_of_runtime(house.folder, "other", log), "--for", log)
        far.append(other)
        held = until(lambda: claim_of(ada, "runtime:other"), "it is not claimed")
        epoch = held["claim"]["epoch"]
        assert house.submit(gpu, log, claim | {"runtime": "runtime:gpu"}).status_code in (403, 409)
        theirs = {"claim": held["claim"]}
        refused = [
            gpu.post(f"/api/logs/{log}/renew", json=theirs | {"seconds": 60}),
            gpu.post(f"/api/logs/{log}/release", json=theirs),
            house.submit(gpu, log, {"type": "runtime_detached", "runtime": "runtime:other"}),
            house.submit(gpu, log, {"type": "runtime_attached", "runtime": "runtime:other"}),
            house.submit(
                gpu, log, {"type": "execution_finished", "execution": execution, "epoch": epoch, "status": "ok"}
            ),
        ]
        assert [answer.status_code for answer in refused] == [403] * len(refused), [each.text for each in refused]
        (other.work / "away").touch()
        (other.work / "back").touch()
        assert ended(ada, log, execution)["state"] == "ok", "it was disturbed by nothing of this"


def test_the_kernel_of_a_runtime_elsewhere_sees_neither_token_nor_address(
    house: House, far: list[Far], tmp_path: Path
) -> None:
    look = """
import json, os, pathlib
words = pathlib.Path("/proc/self/cmdline").read_text()
connection = next(word for word in words.split("\\0") if word.endswith(".json"))
seen = {"environ": dict(os.environ), "argv": words}
seen["folder"] = {path.name: path.read_text() for path in pathlib.Path(connection).parent.iterdir() if path.is_file()}
pathlib.Path("seen.json").write_text(json.dumps(seen))
"""
    log = house.folder.notebook("look.py", f'# %% name="look"{look}')
    server = house.server
    secret = token_of_runtime(house.folder, "gpu", log)
    runtime = Far(tmp_path / "far", server.url, secret, "--for", log, "--name", "gpu")
    far.append(runtime)
    with server.client(house.owner) as client:
        assert ended(client, log, request(client, log, "look", "gpu"))["state"] == "ok"
    text = (runtime.work / "seen.json").read_text()
    assert json.loads(text)["folder"], "its connection file was looked at"
    assert secret not in text and "QUIRE_" not in text and "quire_" not in text
    assert server.url not in text and str(server.port) not in text
    assert runtime.end() == 0
