"""Whole notebooks over the network: what goes out of one workspace comes into another."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quire.core import events as e
from quire.core.ids import CellId, CommentId, ExecutionId
from quire.core.text import source_hash
from quire.doors.http.server_settings import ServerSettings
from quire.stores.blobs.folder_blobs import FolderBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

from ...http_server import served
from .conftest import As
from .http_clients import ADA, ALL, BOB, NOTEBOOK, Client, client_of, say


@pytest.fixture
async def elsewhere(tmp_path: Path) -> AsyncIterator[Client]:
    """Another server, with an empty workspace."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    made = LocalWorkspace(SqliteStore(folder / "quire.db"), FolderBlobs(folder / "blobs"), identities.owner())
    token = await made.create_token(BOB, ALL)
    async with served(made) as server, client_of(server.url, token.secret) as client:
        yield client
    await made.close()


async def test_a_bundle_goes_out_and_comes_in_elsewhere(
    ada: Client, elsewhere: Client, workspace: LocalWorkspace
) -> None:
    ref = await workspace.put_blob(b"\x89PNG" * 1000, "image/png")
    shown = e.OutputsImported(
        execution=ExecutionId("x1"),
        cell=CellId("a1"),
        source_hash=source_hash("x = 1"),
        outputs=(e.Display(blobs={"image/png": ref}),),
    )
    await say(workspace, NOTEBOOK, shown)
    answer = await ada.get("/api/logs/n1/export")
    assert answer.headers["content-type"] == "application/zip"
    assert 'filename="notebook n1.quire"' in answer.headers["content-disposition"]
    carried = await elsewhere.ask("POST", "/api/imports", content=answer.content)
    assert (carried["log"], carried["events"], carried["blobs"]) == (NOTEBOOK, 4, 1)
    here, there = [await client.ask("GET", "/api/notebooks/n1") for client in (ada, elsewhere)]
    assert here["order"] == there["order"]
    assert there["cells"]["a1"]["added_by"] == f"imported:{here['cells']['a1']['added_by']}"
    assert (await elsewhere.ask("GET", f"/api/blobs/{ref.hash}")).content == b"\x89PNG" * 1000
    assert (await elsewhere.ask("POST", "/api/verify", json={"logs": ["n1"]})).json()["flaw"] is None
    assert "is here already" in await elsewhere.ask("POST", "/api/imports", 409, content=answer.content)


async def test_a_bundle_comes_in_by_who_has_admin_and_needs_no_name(ada: Client, acting_as: As) -> None:
    bundle = (await ada.get("/api/logs/n1/export")).content
    poor = await acting_as(BOB, "read", "edit")
    assert "scope 'admin'" in await poor.ask("POST", "/api/imports", 403, content=bundle)
    assert "Leave `name` out" in await ada.ask("POST", "/api/imports?name=x", 422, content=bundle)
    assert "Leave `seq` out" in await ada.ask("GET", "/api/logs/n1/export?seq=2", 422)


@pytest.mark.parametrize("damage", ["cut", "changed", "none"])
async def test_a_bundle_that_is_damaged_leaves_nothing(damage: str, ada: Client, elsewhere: Client) -> None:
    bundle = (await ada.get("/api/logs/n1/export")).content
    sent = {"cut": bundle[:-30], "changed": bundle[:120] + b"!!" + bundle[122:], "none": b""}[damage]
    assert "Nothing was imported" in await elsewhere.ask("POST", "/api/imports", 422, content=sent)
    assert await elsewhere.ask("GET", "/api/notebooks") == []


@pytest.mark.parametrize("format", ["ipynb", "py", "md"])
async def test_a_notebook_goes_out_and_comes_in_in_every_format(format: str, ada: Client, elsewhere: Client) -> None:
    answer = await ada.get(f"/api/logs/n1/export?format={format}")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith(f'attachment; filename="notebook n1.{format}"')
    url = f"/api/imports?format={format}&name=copy"
    carried = await elsewhere.ask("POST", url, content=answer.content)
    now = await elsewhere.ask("GET", f"/api/notebooks/{carried['log']}")
    assert [now["cells"][id]["source"] for id in now["order"]] == ["x = 1", "print(x)"]
    assert now["created_by"] == BOB, "of a notebook file, who brings it is the author"
    assert "already" in await elsewhere.ask("POST", url, 409, content=answer.content)


async def test_an_export_is_of_a_number_and_html_is_a_page_to_save(ada: Client, workspace: LocalWorkspace) -> None:
    await say(workspace, NOTEBOOK, e.CellRemoved(cell=CellId("a2")))
    then = (await ada.ask("GET", "/api/logs/n1/export?format=ipynb&seq=3")).text
    assert len(json.loads(then)["cells"]) == 2
    page = await ada.get("/api/logs/n1/export?format=html")
    assert page.headers["content-disposition"].startswith("attachment;")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "<html" in page.text


async def test_comments_are_on_a_page_only_where_they_are_asked_for(ada: Client, workspace: LocalWorkspace) -> None:
    await say(workspace, NOTEBOOK, e.CommentAdded(comment=CommentId("c"), cell=CellId("a1"), text="between us"))
    for query, is_there in (("", False), ("&comments=false", False), ("&comments=true", True)):
        page = await ada.get(f"/api/logs/n1/export?format=html{query}")
        assert ("between us" in page.text) == is_there
    for format in ("ipynb", "quire"):
        told = await ada.ask("GET", f"/api/logs/n1/export?format={format}&comments=true", 422)
        assert "format=html" in told


async def test_a_name_of_any_script_becomes_the_name_of_a_file(ada: Client, workspace: LocalWorkspace) -> None:
    await say(workspace, NOTEBOOK, e.NotebookRenamed(name='Umsätze "Q1"; ../x 🦊'))
    said = (await ada.get("/api/logs/n1/export?format=py")).headers["content-disposition"]
    assert "filename*=UTF-8''Ums%C3%A4tze%20%22Q1%22%3B%20..%2Fx%20%F0%9F%A6%8A.py" in said
    assert said.isascii()
    assert said.count('"') == 2
    assert "/" not in said


@pytest.mark.parametrize(
    ("query", "sent", "told"),
    [
        ("format=ipynb", b"{}", "give a `name`"),
        ("format=ipynb&name=%20x", b"{}", "name"),
        ("format=ipynb&name=x", b"{", "ends too early"),
        ("format=ipynb&name=x", b"\xff\xfe", "not text in UTF-8"),
    ],
)
async def test_a_file_that_is_no_notebook_is_told(query: str, sent: bytes, told: str, ada: Client) -> None:
    assert told in await ada.ask("POST", f"/api/imports?{query}", 422, content=sent)
    assert len(await ada.ask("GET", "/api/notebooks")) == 2


async def test_there_is_nothing_to_export_of_the_workspace_or_of_nothing(ada: Client, acting_as: As) -> None:
    for log in ("workspace", "nothing"):
        assert "NotFound" in await ada.ask("GET", f"/api/logs/{log}/export", 404)
    bound = await acting_as(ADA, "read", notebooks=[NOTEBOOK])
    assert "Refused" in await bound.ask("GET", "/api/logs/n2/export", 403)


async def test_what_shows_too_much_for_one_file_goes_out_as_a_bundle(workspace: LocalWorkspace) -> None:
    ref = await workspace.put_blob(b"\x89PNG" * 1001, "image/png")
    shown = e.OutputsImported(
        execution=ExecutionId("x1"),
        cell=CellId("a1"),
        source_hash=source_hash("x = 1"),
        outputs=(e.Display(blobs={"image/png": ref}),),
    )
    await say(workspace, NOTEBOOK, shown)
    token = await workspace.create_token(ADA, ALL)
    async with (
        served(workspace, ServerSettings(notebook_bytes=1000)) as server,
        client_of(server.url, token.secret) as client,
    ):
        assert "as a bundle" in await client.ask("GET", "/api/logs/n1/export?format=ipynb", 422)
        await client.ask("GET", "/api/logs/n1/export")
