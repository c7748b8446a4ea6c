"""What the web app needs of a notebook: less of its outputs, compressed; the events of one cell; its parameters; a copy."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from quire.core import events as e
from quire.core.ids import CellId, ExecutionId, LogId, ProposalId, RuntimeId
from quire.core.text import Splice, source_hash
from quire.doors.http import web_pages
from quire.workspace.cut_outputs import CUT
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

from .conftest import As
from .http_clients import ADA, ALL, BOB, NOTEBOOK, OTHER, Client, say

A1, A2 = CellId("a1"), CellId("a2")


async def start(workspace: LocalWorkspace, cell: CellId, execution: str) -> tuple[LocalWorkspace, ExecutionId, int]:
    """Let a runtime begin with a cell of NOTEBOOK."""
    id, runtime = ExecutionId(execution), workspace.acting_as(identities.runtime("r"))
    source = (await workspace.read(NOTEBOOK)).cells[cell].source
    hash = source_hash(source)
    await say(workspace, NOTEBOOK, e.ExecutionRequested(execution=id, cell=cell, source_hash=hash))
    await say(runtime, NOTEBOOK, e.ExecutionClaimed(execution=id, runtime=RuntimeId("runtime:r")))
    claim: Any = (await workspace.entries(NOTEBOOK))[-1].event
    epoch: int = claim.epoch
    await say(
        runtime, NOTEBOOK, e.ExecutionStarted(execution=id, cell=cell, source_hash=hash, epoch=epoch, defines=("x",))
    )
    return runtime, id, epoch


def shown(id: ExecutionId, epoch: int, chunk: int, text: str, **more: Any) -> e.OutputAdded:
    return e.OutputAdded(execution=id, epoch=epoch, chunk=chunk, output=e.Display(data={"text/plain": text}, **more))


# ---- Outputs


async def test_outputs_past_a_limit_are_left_out_of_what_has_ended(ada: Client, workspace: LocalWorkspace) -> None:
    runtime, id, epoch = await start(workspace, A1, "x1")
    await say(runtime, NOTEBOOK, shown(id, epoch, 0, "a" * 50), shown(id, epoch, 1, "b" * 60, display_id="d"))
    await say(runtime, NOTEBOOK, shown(id, epoch, 2, "c" * 40))
    whole = await ada.ask("GET", "/api/notebooks/n1")
    running = await ada.ask("GET", "/api/notebooks/n1?outputs=100")
    assert running == whole, "what runs is appended to"
    await say(runtime, NOTEBOOK, e.ExecutionFinished(execution=id, epoch=epoch, status="ok"))
    whole = (await ada.ask("GET", "/api/notebooks/n1"))["cells"]["a1"]["execution"]["outputs"]
    cut = (await ada.ask("GET", "/api/notebooks/n1?outputs=100"))["cells"]["a1"]["execution"]["outputs"]
    assert cut == [whole[0], {"kind": "display", "metadata": {CUT: 60}, "display_id": "d"}, whole[2]]
    found = await ada.ask("GET", "/api/notebooks/n1/executions/x1")
    assert found["execution"]["outputs"] == whole
    assert (await ada.ask("GET", "/api/notebooks/n1?outputs=0"))["cells"]["a1"]["execution"]["outputs"][0] == {
        "kind": "display",
        "metadata": {CUT: 50},
    }
    await ada.ask("GET", "/api/notebooks/n1?outputs=-1", 400)


# ---- Compression


async def test_json_is_compressed_for_who_takes_it(ada: Client, workspace: LocalWorkspace) -> None:
    await say(workspace, NOTEBOOK, e.CellAdded(cell=CellId("long"), after=None, source="x = 1\n" * 1000))
    async with ada.stream("GET", "/api/notebooks/n1", headers={"Accept-Encoding": "gzip, br"}) as answer:
        packed = b"".join([chunk async for chunk in answer.aiter_raw()])
    plain = await ada.get("/api/notebooks/n1", headers={"Accept-Encoding": "identity"})
    assert answer.headers["content-encoding"] == "gzip" and answer.headers["vary"] == "Accept-Encoding"
    assert int(answer.headers["content-length"]) == len(packed) < len(plain.content) / 3
    assert gzip.decompress(packed) == plain.content
    assert "content-encoding" not in plain.headers
    assert answer.headers["quire-reducer"] == plain.headers["quire-reducer"]


async def test_what_is_short_streamed_or_the_answer_to_a_body_is_not(ada: Client, workspace: LocalWorkspace) -> None:
    takes = {"Accept-Encoding": "gzip"}
    assert "content-encoding" not in (await ada.get("/api/me", headers=takes)).headers
    blob = await ada.ask("POST", "/api/blobs?media=application/json", content=b"[" + b"1," * 5000 + b"1]")
    event = {"type": "metadata_set", "values": {"x": 1}}
    await ada.ask("POST", "/api/logs/n1/events", json={"drafts": [{"id": "d1", "event": event}]})
    answer = await ada.get(f"/api/blobs/{blob['hash']}?media=application/json", headers=takes)
    assert "content-encoding" not in answer.headers
    rows = {"sql": "SELECT * FROM events"}
    assert "content-encoding" not in (await ada.post("/api/query", json=rows, headers=takes)).headers
    assert "content-encoding" not in (await ada.get("/api/nothing", headers=takes)).headers


# ---- The events of one cell


async def test_the_events_of_a_cell_are_those_that_name_it_its_executions_or_its_proposals(
    ada: Client, workspace: LocalWorkspace
) -> None:
    edit = e.SourceEdited(cell=A1, base=3, edit=(Splice(0, 0, "z"),))
    runtime, id, epoch = await start(workspace, A1, "x1")
    await say(runtime, NOTEBOOK, shown(id, epoch, 0, "1"))
    await say(runtime, NOTEBOOK, e.ExecutionFinished(execution=id, epoch=epoch, status="ok"))
    await say(workspace, NOTEBOOK, edit, e.SourceEdited(cell=A2, base=3, edit=(Splice(0, 0, "y"),)))
    await say(workspace, NOTEBOOK, e.ProposalMade(proposal=ProposalId("p1"), why="", changes=(e.CellRemoved(cell=A1),)))
    await say(workspace, NOTEBOOK, e.ProposalMade(proposal=ProposalId("p2"), why="", changes=(e.CellRemoved(cell=A2),)))
    await ada.ask("POST", "/api/notebooks/n1/proposals/p1/decline", json={})
    await ada.ask("POST", "/api/notebooks/n1/proposals/p2/decline", json={})

    async def types(query: str) -> list[str]:
        page = await ada.ask("GET", f"/api/logs/n1/events?cell=a1{query}")
        return [each["event"]["type"] for each in page["entries"]]

    assert await types("") == [
        "cell_added",
        "execution_requested",
        "execution_claimed",
        "execution_started",
        "execution_finished",
        "source_edited",
        "proposal_made",
        "proposal_declined",
    ]
    assert await types("&types=output_added,execution_started") == ["execution_started", "output_added"]
    assert await types("&since=8&limit=2") == ["source_edited", "proposal_made"]
    first = await ada.ask("GET", "/api/logs/n1/events?cell=a1&limit=3")
    assert first["more"] is True
    assert (await ada.ask("GET", "/api/logs/n1/events?cell=absent"))["entries"] == []
    await ada.ask("GET", "/api/logs/n1/events?cell=a%20b", 422)


# ---- Parameters, copies


async def test_parameters_are_read_from_the_tagged_cell(ada: Client, workspace: LocalWorkspace) -> None:
    source = "month: str = '2026-10'  # which one\ntop = 5\nfolder: Path\n"
    await say(workspace, NOTEBOOK, e.CellAdded(cell=CellId("p"), after=None, source=source, tags=("parameters",)))
    month, top, folder = await ada.ask("GET", "/api/notebooks/n1/parameters")
    assert month == {
        "name": "month",
        "type": "str",
        "default": "2026-10",
        "expression": None,
        "help": "which one",
        "choices": None,
        "required": False,
    }
    assert (top["type"], top["default"]) == ("int", 5)
    assert (folder["required"], folder["default"]) == (True, None)
    assert await ada.ask("GET", "/api/notebooks/n2/parameters") == []


async def test_a_copy_has_the_cells_and_another_author(acting_as: As, workspace: LocalWorkspace) -> None:
    bob = await acting_as(BOB, *ALL)
    made = await bob.ask("POST", "/api/notebooks/n1/copy", json={"name": "mine"})
    copy = await workspace.read(LogId(made["log"]))
    assert (copy.name, copy.created_by, copy.binding) == ("mine", BOB, None)
    assert [cell.source for cell in copy.live_cells] == ["x = 1", "print(x)"]
    assert "Conflict" in await bob.ask("POST", "/api/notebooks/n1/copy", 409, json={"name": "mine"})
    reader = await acting_as(ADA, "read")
    assert "Refused" in await reader.ask("POST", "/api/notebooks/n1/copy", 403, json={"name": "other"})


# ---- Runs and runtimes, where none can be started


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/runs", {"notebook": NOTEBOOK}),
        ("GET", "/api/logs/n1/kernels", None),
        ("POST", "/api/logs/n1/runtimes/start", {}),
        ("POST", "/api/logs/n1/runtimes/stop", None),
    ],
)
async def test_nothing_is_started_for_who_may_not_run_or_has_to_ask(
    acting_as: As, method: str, path: str, body: Any
) -> None:
    more = {"json": body} if body is not None else {}
    for client in (
        await acting_as(BOB, "read", "edit"),
        await acting_as(BOB, *ALL, notebooks=[OTHER]),
        await acting_as(BOB, "read", "run", asks=["run"]),
        await acting_as(BOB, *ALL),
    ):
        assert "Refused" in await client.ask(method, path, 403, **more), "nor by a server without a folder"


# ---- Pages


async def test_a_server_without_the_built_app_says_how_to_build_it(
    nobody: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_pages, "FOLDER", tmp_path / "absent")
    for path in ("/", "/notebooks/n1", "/settings"):
        answer = await nobody.get(path)
        assert (answer.status_code, "make web" in answer.text) == (503, True)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "make web" in await nobody.ask("GET", "/frame/", 503)
    await nobody.ask("GET", "/assets/index.js", 404)
    await nobody.ask("GET", "/service_worker.js", 404)
