"""Each route does what it says, as the workspace does it."""

from __future__ import annotations

import msgspec

from quire.core import events as e
from quire.core.ids import CellId, ExecutionId, LogId, RuntimeId
from quire.core.notebook.reduce import REDUCER
from quire.core.text import source_hash
from quire.doors.http.app import ROUTES
from quire.doors.http.openapi import about
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

from ...http_server import Server
from .conftest import As
from .http_clients import ADA, AGENT, ALL, BOB, NOTEBOOK, OTHER, Client, draft, drafts, say

# ---- The server, and who one is


async def test_health_needs_no_token_and_tells_the_version(nobody: Client) -> None:
    assert await nobody.ask("GET", "/health") == {"status": "ok", "version": "0.1.0.dev0"}


async def test_health_says_that_the_store_is_gone(nobody: Client, workspace: LocalWorkspace) -> None:
    await workspace.close()
    assert "Unavailable: Nothing can be recorded" in await nobody.ask("GET", "/health", 503)


async def test_me_is_who_the_token_says(acting_as: As) -> None:
    agent = await acting_as(AGENT, "read", "edit", on_behalf_of=ADA, notebooks=[NOTEBOOK], asks=["edit"])
    me = await agent.ask("GET", "/api/me")
    assert me["token"]
    assert me == {
        "actor": AGENT,
        "scopes": ["edit", "read"],
        "on_behalf_of": ADA,
        "notebooks": [NOTEBOOK],
        "asks": ["edit"],
        "token": me["token"],
        "expires_at": None,
    }


async def test_unknown_paths_and_methods_are_told_apart(ada: Client) -> None:
    assert "NotFound" in await ada.ask("GET", "/api/nothing", 404)
    assert "NotFound" in await ada.ask("GET", "/nothing", 404)
    assert "BadInput: DELETE is not for '/api/me'" in await ada.ask("DELETE", "/api/me", 405)
    assert (await ada.delete("/api/logs/n1")).headers["allow"] == "GET, OPTIONS"


# ---- Logs


async def test_logs_are_listed_and_found_by_name(ada: Client, workspace: LocalWorkspace) -> None:
    assert {each["log"] for each in await ada.ask("GET", "/api/logs")} == {NOTEBOOK, OTHER, "workspace"}
    assert [each["log"] for each in await ada.ask("GET", "/api/logs?kind=workspace")] == ["workspace"]
    assert (await ada.ask("GET", "/api/logs/notebook%20n2"))["log"] == OTHER
    await say(workspace, LogId("n3"), e.NotebookCreated(name="a/b%2F ü"))
    assert (await ada.ask("GET", "/api/logs/a%2Fb%252F%20%C3%BC"))["log"] == "n3"
    assert "NotFound" in await ada.ask("GET", "/api/logs/nothing", 404)
    assert "BadInput: 'n' names 3 logs" in await ada.ask("GET", "/api/logs/n", 422)


async def test_events_are_read_page_by_page_as_they_are_stored(ada: Client, workspace: LocalWorkspace) -> None:
    page = await ada.ask("GET", "/api/logs/n1/events?limit=2")
    assert page["more"] is True
    rest = await ada.ask("GET", "/api/logs/n1/events?since=2")
    assert rest["more"] is False
    came = [*page["entries"], *rest["entries"]]
    kept = await workspace.records(NOTEBOOK)
    assert [each["hash"] for each in came] == [record.hash for record in kept]
    answer = await ada.get("/api/logs/n1/events")
    assert all(record.payload in answer.text for record in kept)
    only = await ada.ask("GET", "/api/logs/n1/events?types=cell_added,cell_moved&until=2")
    assert [each["seq"] for each in only["entries"]] == [2]


async def test_a_page_of_large_events_ends_before_it_is_too_large(ada: Client, workspace: LocalWorkspace) -> None:
    big = "x" * 3_000_000
    for _ in range(5):
        await say(workspace, NOTEBOOK, e.MetadataSet(values={"big": big}))
    page = await ada.ask("GET", "/api/logs/n1/events")
    assert page["more"] is True
    assert 3 < len(page["entries"]) < 8
    rest = await ada.ask("GET", f"/api/logs/n1/events?since={page['entries'][-1]['seq']}")
    assert rest["entries"][-1]["seq"] == 8


async def test_what_is_submitted_is_recorded_under_the_name_of_the_token(
    ada: Client, workspace: LocalWorkspace
) -> None:
    sent = drafts({"type": "notebook_renamed", "name": "sales"}, {"type": "cell_removed", "cell": "a2"})
    answer = await ada.ask("POST", "/api/logs/n1/events", json=sent)
    assert [each["seq"] for each in answer["entries"]] == [4, 5]
    assert {each["actor"] for each in answer["entries"]} == {ADA}
    assert answer["proposed"] is False
    assert await ada.ask("POST", "/api/logs/n1/events", json=sent) == answer, (
        "the same again is answered with the first"
    )
    assert (await workspace.read(NOTEBOOK)).name == "sales"


async def test_what_a_bearer_has_to_ask_for_becomes_a_proposal(acting_as: As) -> None:
    agent = await acting_as(AGENT, "read", "edit", on_behalf_of=ADA, asks=["edit"])
    answer = await agent.ask("POST", "/api/logs/n1/events", json=drafts({"type": "cell_removed", "cell": "a2"}))
    assert answer["proposed"] is True
    assert answer["entries"][0]["event"]["type"] == "proposal_made"


async def test_a_submission_with_a_fault_names_it_and_records_nothing(ada: Client, workspace: LocalWorkspace) -> None:
    url = "/api/logs/n1/events"
    told = await ada.ask("POST", url, 422, json=drafts({"type": "cell_removed", "cell": "a1", "why": "x"}))
    assert "why" in told
    assert "cell_gone" in await ada.ask("POST", url, 422, json=drafts({"type": "cell_gone"}))
    assert "no cell 'zz'" in await ada.ask(
        "POST", url, 404, json=drafts({"type": "cell_removed", "cell": "a1"}, {"type": "cell_removed", "cell": "zz"})
    )
    stale = {"type": "source_edited", "cell": "a1", "text": "x = 2", "base_hash": source_hash("x = 0")}
    fault = (await ada.post(url, json=drafts(stale))).json()["error"]
    assert fault["kind"] in ("Refused", "Conflict")
    assert "x = 1" in str(fault["details"]), "what is there now comes along"
    assert (await workspace.read(NOTEBOOK)).seq == 3


async def test_the_feed_tells_which_logs_grew_at_once(ada: Client, acting_as: As, workspace: LocalWorkspace) -> None:
    position = (await ada.ask("GET", "/api/feed"))["position"]
    assert await ada.ask("GET", f"/api/feed?since={position}") == {"growth": [], "position": position}
    await say(workspace, NOTEBOOK, e.NotebookRenamed(name="one"))
    await say(workspace, OTHER, e.NotebookRenamed(name="two"))
    grown = await ada.ask("GET", f"/api/feed?since={position}")
    assert [(each["log"], each["seq"]) for each in grown["growth"]] == [(NOTEBOOK, 4), (OTHER, 3)]
    bound = await acting_as(BOB, "read", notebooks=[OTHER])
    seen = await bound.ask("GET", f"/api/feed?since={position}")
    assert [each["log"] for each in seen["growth"]] == [OTHER]
    assert seen["position"] >= grown["position"]


# ---- Notebooks and executions


async def test_a_notebook_is_made_and_read_as_it_is_and_as_it_was(ada: Client) -> None:
    cells = [{"source": "a = 1"}, {"source": "# Title", "kind": "markdown", "name": "title", "tags": ["x"]}]
    made = await ada.ask("POST", "/api/notebooks", json={"name": "new", "cells": cells})
    now = await ada.ask("GET", f"/api/notebooks/{made['log']}")
    assert now["name"] == "new"
    assert [now["cells"][id]["source"] for id in now["order"]] == ["a = 1", "# Title"]
    assert now["order"] == made["cells"]
    assert now["cells"][made["cells"][1]]["kind"] == "markdown"
    then = await ada.ask("GET", f"/api/notebooks/{made['log']}?seq=2")
    assert then["order"] == made["cells"][:1]
    assert {each["log"] for each in await ada.ask("GET", "/api/notebooks")} == {NOTEBOOK, OTHER, made["log"]}
    answer = await ada.get(f"/api/notebooks/{made['log']}")
    assert answer.headers["Quire-Reducer"] == str(REDUCER), "who folds on from here folds as the server does"
    assert "numbers 1 to 3" in await ada.ask("GET", f"/api/notebooks/{made['log']}?seq=9", 422)
    assert "NotFound" in await ada.ask("GET", "/api/notebooks/nothing", 404)


async def test_cells_are_asked_to_run_as_they_were_seen(ada: Client, workspace: LocalWorkspace) -> None:
    url = "/api/notebooks/n1/executions"
    moved = {"cells": [{"cell": "a1", "source_hash": source_hash("x = 0")}]}
    assert "Refused" in await ada.ask("POST", url, 403, json=moved)
    seen = {"cells": [{"cell": "a2"}, {"cell": "a1", "source_hash": source_hash("x = 1")}]}
    made = await ada.ask("POST", url, json=seen)
    found = await ada.ask("GET", f"{url}/{made['executions'][1]}")
    assert (found["execution"]["cell"], found["execution"]["state"]) == ("a1", "queued")
    assert "is queued already" in await ada.ask("POST", url, 409, json=seen)
    assert "NotFound" in await ada.ask("POST", url, 404, json={"cells": [{"cell": "zz"}]})
    assert "NotFound" in await ada.ask("GET", f"{url}/nothing", 404)
    assert len((await workspace.read(NOTEBOOK)).executions) == 2


async def test_an_execution_is_found_after_others_came_behind_it(ada: Client, workspace: LocalWorkspace) -> None:
    runtime = workspace.acting_as(identities.runtime("one"))
    for id in ("x1", "x2"):
        execution, cell = ExecutionId(id), CellId("a1")
        hash = source_hash("x = 1")
        await say(workspace, NOTEBOOK, e.ExecutionRequested(execution=execution, cell=cell, source_hash=hash))
        claim = e.ExecutionClaimed(execution=execution, runtime=RuntimeId(runtime.identity.actor))
        (entry,) = await runtime.submit(NOTEBOOK, [e.Draft(id=new_id(), event=claim)])
        assert isinstance(entry.event, e.ExecutionClaimed)
        epoch = entry.event.epoch or 0
        await say(
            runtime,
            NOTEBOOK,
            e.ExecutionStarted(execution=execution, cell=cell, source_hash=hash, epoch=epoch),
            e.StreamAppended(execution=execution, epoch=epoch, chunk=0, name="stdout", offset=0, text=f"of {id}"),
            e.ExecutionFinished(execution=execution, epoch=epoch, status="ok"),
        )
    for id in ("x1", "x2"):
        found = (await ada.ask("GET", f"/api/notebooks/n1/executions/{id}"))["execution"]
        assert (found["id"], found["state"], found["outputs"][0]["head"]) == (id, "ok", f"of {id}")


async def test_a_bearer_who_has_to_ask_proposes_a_run(acting_as: As) -> None:
    agent = await acting_as(AGENT, "read", "run", on_behalf_of=ADA, asks=["run"])
    made = await agent.ask("POST", "/api/notebooks/n1/executions", json={"cells": [{"cell": "1"}]})
    assert made["proposal"]
    assert (await agent.ask("GET", f"/api/notebooks/n1/proposals/{made['proposal']}"))["effects"][0]["cell"] == "a1"


async def test_code_is_asked_to_run_without_a_cell(ada: Client, acting_as: As, workspace: LocalWorkspace) -> None:
    url = "/api/notebooks/n1/scratch"
    made = await ada.ask("POST", url, json={"source": "SELECT 1", "kind": "sql", "runtime": "gpu"})
    found = await ada.ask("GET", f"/api/notebooks/n1/executions/{made['executions'][0]}")
    assert (found["execution"]["state"], found["execution"]["wants"]) == ("queued", "gpu")
    scratch = (await workspace.read(NOTEBOOK)).cells[found["execution"]["cell"]]
    assert (scratch.scratch, scratch.kind, scratch.source) == (True, "sql", "SELECT 1")
    agent = await acting_as(AGENT, "read", "run", on_behalf_of=ADA, asks=["run"])
    asked = await agent.ask("POST", url, json={"source": "print(1)"})
    shown = await agent.ask("GET", f"/api/notebooks/n1/proposals/{asked['proposal']}")
    assert shown["effects"][0]["source"] == "print(1)"
    for wrong in ({}, {"source": ""}, {"source": "x", "kind": "markdown"}, {"source": "x" * 1_000_001}):
        assert "BadInput" in await ada.ask("POST", url, 400, json=wrong)
    reader = await acting_as(BOB, "read")
    assert "may not run" in await reader.ask("POST", url, 403, json={"source": "1"})


# ---- Runs


async def test_runs_are_listed_shown_and_cancelled(ada: Client, acting_as: As, workspace: LocalWorkspace) -> None:
    run = LogId("r1")
    source = e.RunSource(notebook=NOTEBOOK, seq=3)
    await say(workspace, run, e.RunRequested(name="october", source=source, parameters={"top": 5}))
    await say(workspace, run, e.CellAdded(cell=CellId("c"), after=None, source="1"))
    (line,) = await ada.ask("GET", "/api/runs")
    assert (line["run"], line["name"], line["status"], line["parameters"]) == ("r1", "october", "queued", {"top": 5})
    bound = await acting_as(BOB, "read", notebooks=[NOTEBOOK])
    assert await bound.ask("GET", "/api/runs?status=queued") == [line], "who may not ask the index gets the same"
    assert await ada.ask("GET", "/api/runs?status=success") == await bound.ask("GET", "/api/runs?status=success") == []
    shown = await ada.ask("GET", "/api/runs/r1")
    assert shown["outcome"]["status"] == "queued"
    assert shown["cells"][0]["id"] == "c"
    await ada.ask("POST", "/api/runs/r1/cancel", json={"why": "no need"})
    assert (await ada.ask("GET", "/api/runs/r1"))["cancelled_by"] == ADA
    assert "is a notebook, not a run" in await ada.ask("GET", "/api/runs/n1", 404)
    assert "is a notebook, not a run" in await ada.ask("POST", "/api/runs/n1/cancel", 404, json={})
    assert await ada.ask("GET", "/api/logs/r1/results") == {}


# ---- Proposals


async def test_proposals_are_listed_shown_accepted_and_declined(ada: Client, acting_as: As) -> None:
    agent = await acting_as(AGENT, "read", "edit", on_behalf_of=BOB, asks=["edit"])
    made: list[str] = []
    for name in ("one", "two"):
        sent = drafts({"type": "cell_named", "cell": "a1", "name": name}, {"type": "cell_removed", "cell": "a2"})
        entry = (await agent.ask("POST", "/api/logs/n1/events", json=sent))["entries"][0]
        made.append(entry["event"]["proposal"])
    url = "/api/notebooks/n1/proposals"
    assert [each["proposal"] for each in await ada.ask("GET", f"{url}?state=open")] == made
    assert (await ada.ask("GET", f"{url}/{made[0]}"))["changes"][0]["name"] == "one"
    assert "Refused" in await agent.ask("POST", f"{url}/{made[0]}/accept", 403, json={})
    await ada.ask("POST", f"{url}/{made[0]}/accept", json={"selection": [0]})
    await ada.ask("POST", f"{url}/{made[1]}/decline", json={"why": "no"})
    states = {each["proposal"]: each["state"] for each in await ada.ask("GET", url)}
    assert states == {made[0]: "accepted", made[1]: "declined"}
    now = await ada.ask("GET", "/api/notebooks/n1")
    assert now["cells"]["a1"]["name"] == "one"
    assert "removed" not in now["cells"]["a2"]
    assert "NotFound" in await ada.ask("GET", f"{url}/nothing", 404)


# ---- Tokens and roles


async def test_tokens_are_made_listed_and_revoked(ada: Client, server: Server) -> None:
    made = await ada.ask("POST", "/api/tokens", json={"actor": BOB, "scopes": ["read"], "expires_at": "8h"})
    async with Client(base_url=server.url, headers={"Authorization": f"Bearer {made['secret']}"}) as bob:
        assert (await bob.ask("GET", "/api/me"))["actor"] == BOB
        assert "Refused" in await bob.ask("POST", "/api/tokens", 403, json={"actor": BOB, "scopes": ["read"]})
        listed = await ada.ask("GET", "/api/tokens")
        assert (listed[0]["token"], listed[0]["state"]) == (made["token"], "valid")
        assert made["secret"] not in str(listed)
        await ada.ask("POST", f"/api/tokens/{made['token']}/revoke")
        assert "was revoked" in await bob.ask("GET", "/api/me", 401)
    assert "NotFound" in await ada.ask("POST", "/api/tokens/nothing/revoke", 404)
    assert "revoked already" in await ada.ask("POST", f"/api/tokens/{made['token']}/revoke", 403)


async def test_roles_are_given_listed_and_taken_away(ada: Client, acting_as: As, workspace: LocalWorkspace) -> None:
    made = await ada.ask("POST", "/api/notebooks", json={"name": "mine"})
    await ada.ask("POST", "/api/roles", json={"actor": BOB, "role": "viewer", "notebook": made["log"]})
    assert {"actor": BOB, "role": "viewer", "notebook": made["log"]} in await ada.ask("GET", "/api/roles")
    bob = await acting_as(BOB, *ALL)
    renamed = drafts({"type": "notebook_renamed", "name": "his"})
    assert "viewer" in await bob.ask("POST", f"/api/logs/{made['log']}/events", 403, json=renamed)
    await ada.ask("POST", "/api/roles", json={"actor": BOB, "role": None, "notebook": made["log"]})
    assert all(each["actor"] != BOB for each in await ada.ask("GET", "/api/roles"))
    assert "Refused" in await ada.ask("POST", "/api/roles", 403, json={"actor": BOB, "role": "owner"})


# ---- Trust


async def test_questions_are_asked_in_sql_and_change_nothing(ada: Client, acting_as: As) -> None:
    table = await ada.ask("POST", "/api/query", json={"sql": "select log from notebooks order by log", "limit": 1})
    assert table == {"columns": ["log"], "rows": [[NOTEBOOK]], "truncated": True}
    await ada.ask("POST", "/api/query", 403, json={"sql": "delete from notebooks"})
    bound = await acting_as(BOB, "read", notebooks=[NOTEBOOK])
    assert "some notebooks only" in await bound.ask("POST", "/api/query", 403, json={"sql": "select 1"})


async def test_logs_are_verified_line_by_line(ada: Client, acting_as: As) -> None:
    answer = await ada.ask("POST", "/api/verify", json={})
    assert answer.headers["content-type"] == "application/jsonl"
    found = [msgspec.json.decode(line) for line in answer.text.splitlines()]
    assert {each["log"] for each in found} == {NOTEBOOK, OTHER, "workspace"}
    assert {each["flaw"] for each in found} == {None}
    assert len((await ada.ask("POST", "/api/verify", json={"logs": ["n1"]})).text.splitlines()) == 1
    assert (await ada.ask("POST", "/api/verify", json={"logs": []})).text == ""
    blind = await acting_as(BOB, "edit")
    assert "scope 'read'" in await blind.ask("POST", "/api/verify", 403, json={})


async def test_a_secret_is_found_and_masked(ada: Client, acting_as: As) -> None:
    secret = "hunter2-hunter2"
    await ada.ask("POST", "/api/logs/n1/events", json=drafts({"type": "notebook_renamed", "name": secret}))
    assert await ada.ask("POST", "/api/logs/n1/holding", json={"secret": secret}) == {"seqs": [4]}
    poor = await acting_as(BOB, "read", "edit")
    asked = {"seqs": [4], "why": "leaked", "secret": secret}
    assert "admin" in await poor.ask("POST", "/api/logs/n1/redactions", 403, json=asked)
    assert len((await ada.ask("POST", "/api/logs/n1/redactions", json=asked))["entries"]) == 1
    assert await ada.ask("POST", "/api/logs/n1/holding", json={"secret": secret}) == {"seqs": []}
    assert secret not in (await ada.get("/api/logs/n1/events")).text
    assert (await ada.ask("POST", "/api/logs/n1/forget-snapshots", 204)).content == b""
    assert "admin" in await poor.ask("POST", "/api/logs/n1/forget-snapshots", 403)


# ---- Leases


async def test_a_claim_is_renewed_listed_and_released_by_its_runtime(ada: Client, server: Server) -> None:
    await ada.ask("POST", "/api/notebooks/n1/executions", json={"cells": [{"cell": "a1"}]})
    (execution,) = (await ada.ask("GET", "/api/notebooks/n1"))["executions"]
    made = await ada.ask("POST", "/api/runtimes", json={"name": "one", "log": "n1"})
    async with Client(base_url=server.url, headers={"Authorization": f"Bearer {made['secret']}"}) as runtime:
        wanted = {"type": "execution_claimed", "execution": execution, "runtime": "runtime:one"}
        (entry,) = (await runtime.ask("POST", "/api/logs/n1/events", json=drafts(wanted)))["entries"]
        claim = entry["event"]
        assert entry["on_behalf_of"] == ADA
        assert [each["claim"] for each in await ada.ask("GET", "/api/claims")] == [claim]
        await runtime.ask("POST", "/api/logs/n1/renew", 204, json={"claim": claim, "seconds": 60})
        assert "Only a runtime serves" in await ada.ask("POST", "/api/logs/n1/renew", 403, json={"claim": claim})
        other = await ada.ask("POST", "/api/runtimes", json={"name": "two", "log": "n1"})
        theirs = {"headers": {"Authorization": f"Bearer {other['secret']}"}, "json": {"claim": claim}}
        assert "holds no claim" in await ada.ask("POST", "/api/logs/n1/renew", 403, **theirs)
        await runtime.ask("POST", "/api/logs/n1/release", 204, json={"claim": claim})
        assert "no longer held" in await runtime.ask("POST", "/api/logs/n1/renew", 409, json={"claim": claim})


async def test_a_hold_is_for_one_and_nobody_else_gives_it_back(ada: Client, acting_as: As) -> None:
    bob = await acting_as(BOB, "read", "edit")
    hold = await ada.ask("POST", "/api/holds", json={"name": "mirror", "seconds": 60})
    assert await bob.ask("POST", "/api/holds", json={"name": "mirror"}) is None
    assert "does not hold" in await bob.ask("POST", "/api/holds/release", 403, json={"hold": hold})
    assert "does not hold" in await bob.ask("POST", "/api/holds/renew", 403, json={"hold": hold})
    assert (await ada.ask("POST", "/api/holds/renew", json={"hold": hold}))["epoch"] == hold["epoch"]
    await ada.ask("POST", "/api/holds/release", 204, json={"hold": hold})
    assert await ada.ask("POST", "/api/holds/renew", json={"hold": hold}) is None
    assert (await bob.ask("POST", "/api/holds", json={"name": "mirror"}))["name"] == hold["name"]


async def test_the_lease_of_a_claim_is_no_hold(ada: Client, workspace: LocalWorkspace) -> None:
    (me,) = [each["token"] for each in await ada.ask("GET", "/api/tokens")]
    forged = {"name": "n1/x1", "holder": f"token:{me}", "epoch": 1, "seconds_left": 1.0}
    assert "does not hold" in await ada.ask("POST", "/api/holds/release", 403, json={"hold": forged})


# ---- All of them


async def test_every_route_but_health_and_sign_in_needs_a_token(nobody: Client) -> None:
    for each in about(ROUTES):
        if not each.open:
            path = each.path.replace("{", "").replace("}", "")
            answer = await nobody.request(each.method, path, content=b"{")
            assert answer.status_code == 401, each.id
            assert answer.headers["www-authenticate"] == "Bearer"


def test_only_these_are_open() -> None:
    assert {each.id for each in about(ROUTES) if each.open} == {"health", "sign_in"}


async def test_ids_that_drafts_choose_are_theirs_alone(ada: Client, acting_as: As) -> None:
    bob = await acting_as(BOB, "read", "edit")
    sent = {"drafts": [draft({"type": "notebook_renamed", "name": "sales"}, id="e1", key="once")]}
    await ada.ask("POST", "/api/logs/n1/events", json=sent)
    assert "Refused" in await bob.ask("POST", "/api/logs/n1/events", 403, json=sent)
