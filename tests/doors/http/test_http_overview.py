"""What a home page shows, what waits for somebody, and the search over all notebooks."""

from __future__ import annotations

from typing import Any

from quire.core import events as e
from quire.core.ids import (
    WORKSPACE_LOG,
    ActorId,
    CellId,
    ConflictId,
    ExecutionId,
    LogId,
    ProposalId,
    RuntimeId,
)
from quire.core.text import Splice, source_hash
from quire.workspace.identity import identities
from quire.workspace.lanes import lane_messages
from quire.workspace.local import LocalWorkspace

from .conftest import As
from .http_clients import ADA, AGENT, ALL, BOB, NOTEBOOK, OTHER, Client, say

RUN = LogId("r1")


async def run_cell(workspace: LocalWorkspace, log: LogId, cell: str, output: str, execution: str = "x1") -> None:
    """Let a runtime run a cell that prints something and raises."""
    id, runtime = ExecutionId(execution), workspace.acting_as(identities.runtime("r"))
    source = (await workspace.read(log)).cells[CellId(cell)].source
    await say(workspace, log, e.ExecutionRequested(execution=id, cell=CellId(cell), source_hash=source_hash(source)))
    await say(runtime, log, e.ExecutionClaimed(execution=id, runtime=RuntimeId("runtime:r")))
    claim: Any = (await workspace.entries(log))[-1].event
    epoch: int = claim.epoch

    await say(
        runtime,
        log,
        e.ExecutionStarted(execution=id, cell=CellId(cell), source_hash=source_hash(source), epoch=epoch),
        e.StreamAppended(execution=id, epoch=epoch, chunk=0, name="stdout", offset=0, text=output),
        e.ExecutionFinished(execution=id, epoch=epoch, status="error", fault=e.Fault(ename="KeyError", evalue="x")),
    )


def by_log(overview: Any) -> dict[str, Any]:
    return {each["log"]: each for each in overview["notebooks"]}


async def test_notebooks_are_shown_with_their_state_and_who_changed_them_last(
    ada: Client, acting_as: As, workspace: LocalWorkspace
) -> None:
    agent = await acting_as(AGENT, "read", "edit", on_behalf_of=ADA)
    edit = {"type": "source_edited", "cell": "a1", "base": 3, "edit": [[0, 0, "z"]]}
    await agent.ask("POST", "/api/logs/n1/events", json={"drafts": [{"id": "d1", "event": edit}]})
    await say(workspace, OTHER, e.FileBound(path="other.py"), e.NotebookArchived())
    found = by_log(await ada.ask("GET", "/api/overview"))
    assert list(found) == [OTHER, NOTEBOOK], "the one changed last is first"
    assert found[NOTEBOOK] | {"changed": None} == {
        "log": NOTEBOOK,
        "name": "notebook n1",
        "file": None,
        "archived": False,
        "cells": 2,
        "errors": 0,
        "running": 0,
        "stale": 0,
        "changed": None,
        "present": [],
    }
    changed = found[NOTEBOOK]["changed"]
    assert (changed["actor"], changed["on_behalf_of"], changed["type"]) == (AGENT, ADA, "source_edited")
    assert (found[OTHER]["file"], found[OTHER]["archived"]) == ("other.py", True)


async def test_what_a_runtime_does_is_a_state_and_not_a_change(ada: Client, workspace: LocalWorkspace) -> None:
    await run_cell(workspace, NOTEBOOK, "a1", "no such key\n")
    found = by_log(await ada.ask("GET", "/api/overview"))[NOTEBOOK]
    assert (found["errors"], found["running"]) == (1, 0)
    assert found["changed"]["type"] == "execution_requested"
    await say(
        workspace,
        NOTEBOOK,
        e.ExecutionRequested(execution=ExecutionId("x2"), cell=CellId("a2"), source_hash=source_hash("print(x)")),
    )
    assert by_log(await ada.ask("GET", "/api/overview"))[NOTEBOOK]["running"] == 1


async def test_runs_are_shown_with_parameters_and_results(ada: Client, workspace: LocalWorkspace) -> None:
    source = e.RunSource(notebook=NOTEBOOK, seq=3)
    await say(workspace, RUN, e.RunRequested(name="sales", source=source, parameters={"top": 5}))
    (run,) = (await ada.ask("GET", "/api/overview"))["runs"]
    assert run | {"at": ""} == {
        "log": RUN,
        "name": "sales",
        "status": "queued",
        "parameters": {"top": 5},
        "results": {},
        "seconds": None,
        "at": "",
        "actor": identities.owner().actor,
        "on_behalf_of": None,
        "source": {"path": None, "notebook": NOTEBOOK},
    }
    assert await ada.ask("GET", f"/api/overview/runs?notebook={NOTEBOOK}") == [run]
    assert await ada.ask("GET", f"/api/overview/runs?notebook={OTHER}") == []


# ---- What waits


def proposal(id: str, **more: Any) -> e.ProposalMade:
    change = e.SourceEdited(cell=CellId("a1"), base=3, edit=(Splice(0, 0, "z"),))
    return e.ProposalMade(proposal=ProposalId(id), why="because\nof this", changes=(change,), **more)


async def test_a_proposal_waits_for_those_who_may_decide_it(
    ada: Client, acting_as: As, workspace: LocalWorkspace
) -> None:
    """Rule 9: not for its author, and not for who may not approve."""
    await say(workspace.acting_as(identities.mirror(ADA)), NOTEBOOK, proposal("p0"))
    agent = await acting_as(AGENT, "read", "edit", asks=["edit"], on_behalf_of=ADA)
    change = {"type": "source_edited", "cell": "a1", "base": 3, "edit": [[0, 0, "z"]]}
    await agent.ask("POST", "/api/logs/n1/events", json={"drafts": [{"id": "d1", "event": change}]})
    first, second = await ada.ask("GET", "/api/waiting")
    assert (first["id"], first["text"], first["name"]) == ("p0", "because", "notebook n1")
    assert (second["kind"], second["by"], second["on_behalf_of"], second["log"]) == ("proposal", AGENT, ADA, NOTEBOOK)
    assert (await ada.ask("GET", "/api/overview"))["waiting"] == [first, second]
    assert await agent.ask("GET", "/api/waiting") == []
    reader = await acting_as(BOB, "read", "edit")
    assert await reader.ask("GET", "/api/waiting") == []
    for each in (first, second):
        await ada.ask("POST", f"/api/notebooks/{NOTEBOOK}/proposals/{each['id']}/decline", json={})
    assert await ada.ask("GET", "/api/waiting") == []


async def test_a_proposal_that_has_expired_waits_no_longer(ada: Client, workspace: LocalWorkspace) -> None:
    past = workspace.acting_as(identities.mirror(ADA))
    await say(past, NOTEBOOK, proposal("p1", expires_at="2999-01-01T00:00:00.000000Z"))
    assert [each["id"] for each in await ada.ask("GET", "/api/waiting")] == ["p1"]
    await say(workspace, NOTEBOOK, proposal("p2", expires_at="2020-01-01T00:00:00.000000Z"))
    assert [each["id"] for each in await ada.ask("GET", "/api/waiting")] == ["p1"]


async def test_a_file_conflict_waits_until_it_is_resolved(ada: Client, workspace: LocalWorkspace) -> None:
    conflict = ConflictId("c1")
    await say(workspace, NOTEBOOK, e.FileBound(path="a.py"))
    raised = e.ConflictRaised(conflict=conflict, cell=CellId("a1"), base="x = 1", ours="x = 2", theirs="x = 3")
    await say(workspace.acting_as(identities.mirror(ADA)), NOTEBOOK, raised)
    (found,) = await ada.ask("GET", "/api/waiting")
    assert (found["kind"], found["id"], found["cell"], found["text"]) == ("conflict", "c1", "a1", "x = 3")
    await say(workspace, NOTEBOOK, e.ConflictResolved(conflict=conflict))
    assert await ada.ask("GET", "/api/waiting") == []


async def test_a_question_waits_for_who_ran_the_cell(ada: Client, acting_as: As, workspace: LocalWorkspace) -> None:
    run = {"cells": [{"cell": "a1"}]}
    (id,) = (await ada.ask("POST", f"/api/notebooks/{NOTEBOOK}/executions", json=run))["executions"]
    runtime = workspace.acting_as(identities.runtime("r"))
    claim = e.ExecutionClaimed(execution=ExecutionId(id), runtime=RuntimeId("runtime:r"))
    await say(runtime, NOTEBOOK, claim)
    asked = lane_messages.said(lane_messages.Prompt(execution=ExecutionId(id), prompt="Month? "))
    runtime.lanes.say(f"{NOTEBOOK}/stdin", asked)
    (found,) = await ada.ask("GET", "/api/waiting")
    assert (found["kind"], found["id"], found["text"], found["cell"]) == ("question", id, "Month? ".strip(), "a1")
    bob = await acting_as(BOB, *ALL)
    assert await bob.ask("GET", "/api/waiting") == []


# ---- Search


async def test_words_are_found_in_names_sources_and_outputs(ada: Client, workspace: LocalWorkspace) -> None:
    await run_cell(workspace, NOTEBOOK, "a2", "first line\nthe 100% Answer_is here\n")
    hits = await ada.ask("GET", "/api/search", params={"text": "100% answer_is"})
    assert hits == [
        {
            "log": NOTEBOOK,
            "name": "notebook n1",
            "run": None,
            "cell": "a2",
            "where": "output",
            "text": "the 100% Answer_is here",
        }
    ]
    assert [hit["where"] for hit in await ada.ask("GET", "/api/search?text=PRINT")] == ["source"]
    assert [hit["log"] for hit in await ada.ask("GET", "/api/search?text=notebook%20n2")] == [OTHER]
    assert await ada.ask("GET", "/api/search?text=answerxis") == []
    assert await ada.ask("GET", "/api/search?text=%20") == []
    await ada.ask("GET", "/api/search?text=%00", 422)
    assert await ada.ask("GET", "/api/search", params={"text": "'; DROP TABLE events; --"}) == []


async def test_what_is_found_in_a_run_says_so_and_comes_after_what_is_in_notebooks(
    ada: Client, workspace: LocalWorkspace
) -> None:
    asked = e.RunRequested(name="notebook n1", source=e.RunSource(notebook=NOTEBOOK, seq=3))
    added = e.CellAdded(cell=CellId("a1"), after=None, source="x = 1")
    await say(workspace, RUN, asked, added)
    hits = await ada.ask("GET", "/api/search", params={"text": "x = 1"})
    found = {"status": "queued", "at": (await workspace.entries(RUN))[0].at}
    assert [(hit["log"], hit["run"]) for hit in hits] == [(NOTEBOOK, None), (RUN, found)]
    names = await ada.ask("GET", "/api/search", params={"text": "notebook n1"})
    assert [(hit["log"], hit["run"], hit["where"]) for hit in names] == [(NOTEBOOK, None, "name"), (RUN, found, "name")]
    runtime = workspace.acting_as(identities.runtime("r"))
    await say(runtime, RUN, e.RunClaimed(runtime=RuntimeId("runtime:r")))
    (_, hit) = await ada.ask("GET", "/api/search", params={"text": "x = 1"})
    assert hit["run"]["status"] == "running"


# ---- Rights


async def test_nothing_of_a_closed_notebook_is_shown_to_who_may_not_read_it(
    acting_as: As, workspace: LocalWorkspace
) -> None:
    await say(workspace, WORKSPACE_LOG, e.RoleSet(actor=ADA, role="owner", notebook=NOTEBOOK))
    await run_cell(workspace, NOTEBOOK, "a2", "a secret\n")
    await say(workspace.acting_as(identities.mirror(ADA)), NOTEBOOK, proposal("p1"))
    await say(workspace, RUN, e.RunRequested(name="r", source=e.RunSource(notebook=NOTEBOOK, seq=3)))
    bob = await acting_as(BOB, *ALL)
    narrow = await acting_as(ActorId("human:eve"), *ALL, notebooks=[OTHER])
    for client in (bob, narrow):
        overview = await client.ask("GET", "/api/overview")
        assert list(by_log(overview)) == [OTHER]
        assert (overview["runs"], overview["waiting"]) == ([], [])
        assert await client.ask("GET", "/api/waiting") == []
        assert await client.ask("GET", "/api/search?text=secret") == []
        assert await client.ask("GET", "/api/search?text=x") == []
    ada = await acting_as(ADA, *ALL)
    assert len((await ada.ask("GET", "/api/overview"))["notebooks"]) == 2
