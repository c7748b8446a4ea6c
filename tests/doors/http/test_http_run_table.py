"""The table of runs over HTTP: what an address asks for, what is refused, and two runs compared as the command line does."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from quire.core.ids import LogId
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.local import LocalWorkspace

from ...run_logs import RunLog, run_append
from .conftest import As
from .http_clients import BOB, NOTEBOOK, Client

RUNS = [
    RunLog(
        log=LogId("r1"), minute=1, parameters={"city": "Bern, Chur", "top": 1}, results={"sold": 10, "best": "Bern"}
    ),
    RunLog(log=LogId("r2"), minute=2, parameters={"city": "Basel", "top": 2}, results={"sold": 12, "best": "Bern"}),
    RunLog(log=LogId("r3"), minute=3, path=None, notebook=NOTEBOOK, parameters={"top": 3}, status="running"),
]


async def record(workspace: LocalWorkspace) -> None:
    store: Any = workspace._shared.store  # pyright: ignore[reportPrivateUsage] - as a runtime elsewhere would write
    assert isinstance(store, SqliteStore)
    await store.append([run_append(run) for run in RUNS])


async def logs(client: Client, **query: Any) -> list[str]:
    found = await client.ask("GET", f"/api/runs/table?{urlencode(query, doseq=True)}")
    return [row["log"] for row in found["rows"]]


async def test_an_address_asks_for_runs_by_several_conditions_that_may_hold_commas(
    ada: Client, workspace: LocalWorkspace
) -> None:
    await record(workspace)
    assert await logs(ada) == ["r3", "r2", "r1"]
    assert await logs(ada, where=["param.city = Bern, Chur", "result.sold < 12"]) == ["r1"]
    assert await logs(ada, status="running,error") == ["r3"]
    assert await logs(ada, notebook=NOTEBOOK) == ["r3"]
    assert await logs(ada, sort="-param.top", limit=2) == ["r3", "r2"]
    page = await ada.ask("GET", "/api/runs/table?limit=2&columns=false")
    assert (page["total"], page["columns"]) == (3, None)
    assert await logs(ada, limit=2, after=page["after"]) == ["r1"]


async def test_what_makes_no_sense_is_said(ada: Client, workspace: LocalWorkspace) -> None:
    await record(workspace)
    for query, status, told in (
        ("where=sold+>+5", 422, "cannot be read"),
        ("sort=payload", 422, "cannot be sorted"),
        ("status=failed", 422, "No run has the status"),
        ("after=x", 422, "not the end of a page"),
        ("limit=0", 400, "limit"),
        ("query=SELECT+1", 400, "query"),
        ("notebook=%2F", 422, "Log"),
    ):
        answer = await ada.get(f"/api/runs/table?{query}")
        assert answer.status_code == status, (query, answer.text)
        assert told in answer.json()["error"]["message"]


async def test_what_goes_on_is_asked_about_in_one_small_question(ada: Client, workspace: LocalWorkspace) -> None:
    await record(workspace)
    live = await ada.ask("GET", "/api/runs/live?runs=r3,nothing&seen=2026-01-01T00:01:30")
    assert [(row["log"], row["status"], row["progress"]) for row in live["rows"]] == [
        ("r3", "running", {"done": 0, "all": 1, "cell": "train(month)"})
    ]
    assert (live["total"], live["fresh"]) == (3, 2)


async def test_two_runs_are_compared_with_how_far_numbers_are_apart(ada: Client, workspace: LocalWorkspace) -> None:
    await record(workspace)
    found = await ada.ask("GET", "/api/runs/compare?a=r1&b=r2")
    assert found["results"] == {
        "sold": {"a": 10, "b": 12, "same": False, "difference": 2.0, "relative": 0.2},
        "best": {"a": "Bern", "b": "Bern", "same": True},
    }
    assert found["parameters"]["city"] == {"a": "Bern, Chur", "b": "Basel", "same": False}
    assert (found["same"], found["sources"], found["a_seq"]) == (False, 0, 9)


async def test_a_token_for_another_notebook_sees_none_of_it(workspace: LocalWorkspace, acting_as: As) -> None:
    await record(workspace)
    bob = await acting_as(BOB, "read", notebooks=[LogId("n2")])
    found = await bob.ask("GET", "/api/runs/table")
    assert (found["rows"], found["total"], found["columns"], found["sources"], found["people"]) == ([], 0, [], [], [])
    assert (await bob.get("/api/runs/compare?a=r1&b=r2")).status_code == 403
