"""What a web page starts and stops: a runtime, a kernel of its choice, a run with parameters. Real server, real kernels."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from .live_runtimes import end_runtimes, runtime_of
from .server import Folder, events, printed, run_cell, until

SALES = """# %% tags=["parameters"]
month: str = "2026-10"
top = 5

# %% name="show"
print(month, top)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    kernel = tmp_path_factory.mktemp("jupyter") / "kernels" / "other" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel.write_text(json.dumps({"argv": argv, "display_name": "Another Python", "language": "python"}))
    made = Folder(tmp_path_factory.mktemp("web"))
    made.environ["JUPYTER_PATH"] = str(kernel.parents[2])
    yield made
    made.close()
    end_runtimes(made.path)


@pytest.fixture(scope="module")
def log(folder: Folder) -> str:
    return folder.notebook("sales.py", SALES)


@pytest.fixture(scope="module")
def client(folder: Folder, log: str) -> Iterator[httpx.Client]:
    server = folder.start("--port", "0", "--no-mirror", "--look-every", "0.2")
    with server.client(folder.token("read", "edit", "run")) as made:
        yield made


def ok(answer: httpx.Response) -> Any:
    assert answer.is_success, (answer.status_code, answer.text)
    return answer.json() if answer.content else None


def attached(client: httpx.Client, log: str) -> Any:
    return ok(client.get(f"/api/logs/{log}/runtimes"))


def test_a_run_is_started_with_parameters_and_outlives_the_request(client: httpx.Client, log: str) -> None:
    started = ok(client.post("/api/runs", json={"notebook": log, "parameters": {"month": "2026-11", "top": 7}}))

    def ended() -> Any:
        run = ok(client.get(f"/api/runs/{started['run']}"))
        return run if run["finished_at"] else None

    assert until(ended, "the run does not end")["outcome"]["status"] == "success"
    run = ok(client.get(f"/api/notebooks/{started['run']}"))
    shown = [cell["execution"] for cell in run["cells"].values() if cell.get("name") == "show"]
    assert printed(shown[0]) == "2026-11 7\n"
    assert (run["run"]["source"]["notebook"], run["run"]["by"]) == (log, "human:ada")
    (summary,) = ok(client.get("/api/overview"))["runs"]
    assert (summary["log"], summary["parameters"]) == (started["run"], {"month": "2026-11", "top": 7})


def test_a_token_that_may_run_and_not_edit_starts_a_run_and_changes_no_cell(
    client: httpx.Client, folder: Folder, log: str
) -> None:
    before = ok(client.get(f"/api/notebooks/{log}"))["seq"]
    bearer = {"Authorization": f"Bearer {folder.token('read', 'run', actor='human:bob')}"}
    with httpx.Client(base_url=client.base_url, headers=bearer, timeout=60) as runner:
        run = ok(runner.post("/api/runs", json={"notebook": log, "parameters": {"top": 9}}))["run"]
        until(lambda: ok(runner.get(f"/api/runs/{run}"))["finished_at"], "the run does not end")
        now = ok(runner.get(f"/api/notebooks/{run}"))
        assert (now["run"]["status"], now["run"]["by"]) == ("success", "human:bob")
        for each in (log, run):
            cell = ok(runner.get(f"/api/notebooks/{each}"))["order"][0]
            typed = {"type": "source_edited", "cell": cell, "base": 1, "edit": [[0, 0, "#"]]}
            for event in (typed, {"type": "cell_removed", "cell": cell}):
                told = runner.post(f"/api/logs/{each}/events", json={"drafts": [{"id": "d", "event": event}]})
                assert told.status_code == 403, told.text
    assert ok(client.get(f"/api/notebooks/{log}"))["seq"] == before


def test_a_parameter_of_another_type_is_told_before_anything_runs(client: httpx.Client, log: str) -> None:
    answer = client.post("/api/runs", json={"notebook": log, "parameters": {"top": "many"}})
    assert answer.status_code == 422
    assert "top" in answer.json()["error"]["message"]


def test_a_runtime_is_started_chosen_and_stopped_by_hand(client: httpx.Client, folder: Folder, log: str) -> None:
    found = ok(client.get(f"/api/logs/{log}/kernels"))
    assert found["chosen"] == ""
    usual = found["kernels"][0]
    assert (usual["name"], usual["language"], usual["problem"]) == ("", "python", None)
    assert usual["interpreter"]
    titles = {each["name"]: each["title"] for each in found["kernels"]}
    assert titles["other"] == "Another Python"
    ok(client.post(f"/api/logs/{log}/runtimes/start", json={}))
    until(lambda: attached(client, log), "no runtime comes")
    ok(client.post(f"/api/logs/{log}/runtimes/start", json={}))
    cell = next(id for id, each in ok(client.get(f"/api/notebooks/{log}"))["cells"].items() if each.get("tags"))
    run_cell(client, log, cell)
    assert len(events(client, log, "runtime_attached")) == 1, "the one that was started runs the cell"
    pid = attached(client, log)[0]["health"]["pid"]
    ok(client.post(f"/api/logs/{log}/runtimes/stop"))
    assert runtime_of(folder.path, log) is None
    assert attached(client, log) == []
    assert not Path(f"/proc/{pid}").exists(), "its kernel is gone with it"
    assert client.post(f"/api/logs/{log}/runtimes/stop").status_code == 404
    ok(client.post(f"/api/logs/{log}/runtimes/start", json={"kernel": "other"}))
    (runtime,) = until(lambda: attached(client, log), "no runtime comes")
    assert runtime["environment"]["kernel"] == "other"
    assert ok(client.get(f"/api/logs/{log}/kernels"))["chosen"] == "other"
    assert client.post(f"/api/logs/{log}/runtimes/start", json={"kernel": "nothing"}).status_code == 422
    ok(client.post(f"/api/logs/{log}/runtimes/stop"))
    ok(client.post(f"/api/logs/{log}/runtimes/start", json={"kernel": ""}))
    (runtime,) = until(lambda: attached(client, log), "no runtime comes")
    assert runtime["environment"]["kernel"] == "python3"
