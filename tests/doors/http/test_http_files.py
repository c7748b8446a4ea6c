"""Files of the server's folder: listed, opened, put there; and nothing outside of it, hidden or bound is touched."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from quire.core.events import Scope
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

from ...http_server import Server, served
from .http_clients import ADA, AGENT, ALL, BOB, NOTEBOOK, Client, client_of, make_notebook

PERCENT = "# %%\nx = 1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    (made / "reports").mkdir(parents=True)
    (made / "sales.py").write_text(PERCENT)
    (made / "reports" / "month.py").write_text(PERCENT)
    (made / "tools.py").write_text("x = 1\n")
    (made / ".hidden.py").write_text(PERCENT)
    (tmp_path / "outside.py").write_text(PERCENT)
    (made / "link.py").symlink_to(tmp_path / "outside.py")
    return made


@pytest.fixture
async def workspace(folder: Path, tmp_path: Path) -> AsyncIterator[LocalWorkspace]:
    made = LocalWorkspace(SqliteStore(tmp_path / "quire.db"), MemoryBlobs(), identities.owner(), folder=folder)
    await make_notebook(made, NOTEBOOK, "x = 1")
    yield made
    await made.close()


@pytest.fixture
async def server(workspace: LocalWorkspace, folder: Path) -> AsyncIterator[Server]:
    async with served(workspace, folder=folder) as running:
        yield running


def contents(folder: Path) -> dict[Path, bytes]:
    files = [file for file in folder.rglob("*") if file.is_file() and "quire.db" not in file.name]
    return {file: file.read_bytes() for file in files}


async def put(client: Client, name: str, data: bytes = b"a,b\n", expected: int = 200, query: str = "") -> object:
    return await client.ask("PUT", f"/api/files/{name}{query}", expected, content=data)


async def test_notebook_files_are_listed_with_the_notebooks_that_they_are(ada: Client) -> None:
    files = {each["path"]: each for each in await ada.ask("GET", "/api/files")}
    assert set(files) == {"sales.py", "reports/month.py"}, "scripts, hidden files and links that lead out are none"
    assert files["reports/month.py"]["name"] == "month.py"
    opened = await ada.ask("POST", "/api/files", json={"path": "reports/month.py"})
    again = await ada.ask("POST", "/api/files", json={"path": "reports/month.py"})
    assert opened == again, "a file has one notebook"
    notebook = await ada.ask("GET", f"/api/notebooks/{opened['log']}")
    assert notebook["binding"]["path"] == "reports/month.py"
    files = {each["path"]: each for each in await ada.ask("GET", "/api/files")}
    assert files["reports/month.py"]["notebook"] == opened["log"]
    assert files["sales.py"]["notebook"] is None


async def test_a_file_is_put_into_the_folder_once(ada: Client, folder: Path) -> None:
    assert await put(ada, "reports%2Fdata.csv") == {"path": "reports/data.csv", "size": 4}
    assert (folder / "reports" / "data.csv").read_bytes() == b"a,b\n"
    assert "Conflict: reports/data.csv is there already" in str(await put(ada, "reports%2Fdata.csv", b"c", 409))
    assert (folder / "reports" / "data.csv").read_bytes() == b"a,b\n"
    await put(ada, "reports%2Fdata.csv", b"c", query="?overwrite=true")
    assert (folder / "reports" / "data.csv").read_bytes() == b"c"
    assert sorted(each.name for each in (folder / "reports").iterdir()) == ["data.csv", "month.py"], "no part is left"
    assert await put(ada, "%C3%BC%20%25.csv") == {"path": "ü %.csv", "size": 4}


async def test_what_a_notebook_is_bound_to_is_never_replaced(ada: Client, folder: Path) -> None:
    await ada.ask("POST", "/api/files", json={"path": "sales.py"})
    assert "bound to a notebook" in str(await put(ada, "sales.py", b"", 409, "?overwrite=true"))
    assert (folder / "sales.py").read_text() == PERCENT


@pytest.mark.parametrize(
    "name",
    [
        "..%2Foutside.csv",
        "%2Fetc%2Fpasswd",
        "reports%2F..%2F..%2Foutside.py",
        ".env",
        ".quire%2Fquire.db",
        "reports%2F.hidden",
        "pyproject.toml",
        "node_modules%2Fx.js",
        "link.py",
        "a%5Cb",
        "a%00b",
        "a%0Ab",
    ],
)
async def test_nothing_is_written_or_opened_elsewhere(ada: Client, folder: Path, tmp_path: Path, name: str) -> None:
    before = contents(tmp_path)
    await put(ada, name, b"evil", 422, "?overwrite=true")
    await ada.ask("POST", "/api/files", 422, json={"path": unquote(name)})
    assert contents(tmp_path) == before


async def test_a_folder_has_to_be_there_and_is_not_replaced(ada: Client) -> None:
    assert "NotFound" in str(await put(ada, "nowhere%2Fdata.csv", expected=404))
    assert "Conflict" in str(await put(ada, "reports", expected=409, query="?overwrite=true"))
    assert "NotFound" in await ada.ask("POST", "/api/files", 404, json={"path": "absent.py"})


@pytest.mark.parametrize("scopes", [("read",), ("read", "edit"), ("read", "edit", "approve", "admin")])
async def test_files_are_not_for_who_only_reads_and_edits(
    workspace: LocalWorkspace, server: Server, scopes: tuple[Scope, ...]
) -> None:
    token = await workspace.create_token(BOB, scopes)
    async with client_of(server.url, token.secret) as bob:
        assert "Refused" in await bob.ask("GET", "/api/files", 403)
        assert "Refused" in await bob.ask("POST", "/api/files", 403, json={"path": "sales.py"})
        assert "Refused" in str(await put(bob, "data.csv", expected=403))


async def test_nor_for_a_token_of_some_notebooks_or_one_that_has_to_ask(
    workspace: LocalWorkspace, server: Server
) -> None:
    narrow = await workspace.create_token(ADA, ALL, notebooks=[NOTEBOOK])
    asking = await workspace.create_token(AGENT, ["read", "edit", "run"], asks=["edit", "run"])
    async with client_of(server.url, narrow.secret) as client:
        assert "Refused" in await client.ask("GET", "/api/files", 403)
        assert "Refused" in str(await put(client, "data.csv", expected=403))
    async with client_of(server.url, asking.secret) as client:
        assert "Refused" in str(await put(client, "data.csv", expected=403))


async def test_a_server_that_leaves_files_alone_says_so(workspace: LocalWorkspace) -> None:
    token = await workspace.create_token(ADA, ALL)
    async with served(workspace) as server, client_of(server.url, token.secret) as client:
        assert "leaves files alone" in await client.ask("GET", "/api/files", 403)
