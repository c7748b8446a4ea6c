"""Schedules over HTTP: added by a form, looked at, stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quire.workspace.local import LocalWorkspace

from ...http_server import Server, served
from .http_clients import ADA, Client, client_of

WANTED = {
    "name": "fleet",
    "schedule": "0 6 * * *",
    "path": "fleet.py",
    "timezone": "Europe/Zurich",
    "parameters": {"run_id": "{{date}}"},
    "output_path": "runs/{{date}}.ipynb",
}


@pytest.fixture
async def serving(workspace: LocalWorkspace, tmp_path: Path) -> AsyncIterator[Server]:
    (tmp_path / "fleet.py").write_text("# %%\n1\n")
    async with served(workspace, folder=tmp_path) as running:
        yield running


@pytest.fixture
async def bob(workspace: LocalWorkspace, serving: Server) -> AsyncIterator[Client]:
    made = client_of(serving.url, (await workspace.create_token(ADA, ["read", "run", "edit"])).secret)
    yield made
    await made.aclose()


async def test_a_schedule_is_added_listed_paused_asked_and_removed(bob: Client) -> None:
    made = await bob.ask("POST", "/api/schedules", json=WANTED)
    assert (made["state"], made["by"], len(made["next"])) == ("active", ADA, 5)
    (listed,) = await bob.ask("GET", "/api/schedules")
    assert listed == made
    await bob.ask("POST", "/api/schedules/fleet/pause", 204, json={"why": "a holiday"})
    (paused,) = await bob.ask("GET", "/api/schedules")
    assert (paused["state"], paused["next"]) == ("paused", [])
    await bob.ask("POST", "/api/schedules/fleet/resume", 204)
    asked = await bob.ask("POST", "/api/schedules/fleet/now")
    assert len(asked["run"]) == 26
    assert await bob.ask("GET", "/api/schedules/fleet/runs") == []
    await bob.ask("POST", "/api/schedules/fleet/remove", 204)
    assert await bob.ask("GET", "/api/schedules") == []


async def test_what_makes_no_sense_is_refused_with_the_reason(bob: Client) -> None:
    for wrong, why in (
        ({"schedule": "0 0 30 2 *"}, "no month has such a day"),
        ({"timezone": "Mars/Olympus"}, "no time zone"),
        ({"path": "gone.py"}, "no file"),
        ({"output_path": "../x.ipynb"}, "leads out of"),
        ({"parameters": {"a": "{{env.HOME}}"}}, "no environment"),
    ):
        answer = await bob.request("POST", "/api/schedules", json=WANTED | wrong)
        assert answer.status_code == 422 and why in answer.json()["error"]["message"], answer.text
    assert (await bob.request("GET", "/api/schedules/fleet/runs")).status_code == 404


async def test_a_reader_adds_nothing(workspace: LocalWorkspace, serving: Server) -> None:
    reader = client_of(serving.url, (await workspace.create_token(ADA, ["read"])).secret)
    assert await reader.ask("GET", "/api/schedules") == []
    assert (await reader.request("POST", "/api/schedules", json=WANTED)).status_code == 403
    await reader.aclose()
