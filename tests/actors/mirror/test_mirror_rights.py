"""A file is merged on behalf of whoever bound it, with the rights that they have at that moment."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quire.core import events as e
from quire.core.events import Draft, KnownEvent, Scope
from quire.core.ids import MIRROR, WORKSPACE_LOG, ActorId, LogId, TokenId
from quire.stores.blobs.folder_blobs import FolderBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace

from .mirror_desk import Desk

BOB = ActorId("human:bob")
BINDS: tuple[Scope, ...] = ("read", "edit", "bind")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    (tmp_path / ".quire").mkdir()
    store, blobs = SqliteStore(tmp_path / ".quire" / "quire.db"), FolderBlobs(tmp_path / ".quire" / "blobs")
    desk = Desk(tmp_path, workspace=LocalWorkspace(store, blobs, folder=tmp_path))
    yield desk
    await desk.close()


async def tell(workspace: Workspace, log: LogId, *events: KnownEvent) -> None:
    await workspace.submit(log, [Draft(id=new_id(), event=event) for event in events])


async def bound_by_bob(desk: Desk) -> TokenId:
    """A notebook of the owner's that bob binds to its file; his token is returned."""
    await desk.write("x = 1")
    await desk.say(e.FileBound(path=None))
    made = await desk.workspace.create_token(BOB, BINDS)
    bob = await desk.workspace.bearer(made.secret)
    await tell(bob, desk.log, e.FileBound(path=desk.path, format="percent"))
    return made.token


async def role(desk: Desk, given: e.Role) -> None:
    await tell(desk.workspace, WORKSPACE_LOG, e.RoleSet(actor=BOB, role=given, notebook=desk.log))


async def merges(desk: Desk) -> list[tuple[str, str | None]]:
    """By whom, and for whom, what came from the file was recorded."""
    entries = await desk.workspace.entries(desk.log, types=("file_merged",))
    return [
        (entry.actor, entry.on_behalf_of)
        for entry in entries
        if isinstance(entry.event, e.FileMerged) and entry.event.changes
    ]


async def test_what_a_file_brings_is_the_mirrors_on_behalf_of_who_bound_it(desk: Desk) -> None:
    await bound_by_bob(desk)
    await desk.start()
    await desk.agree("x = 1")
    desk.rewrite("x = 2", "y = 3")
    await desk.agree("x = 2", "y = 3")
    assert await merges(desk) == [(MIRROR, BOB)]
    assert [cell.author for cell in await desk.cells()] == ["system:mirror from sales.py"] * 2
    await desk.edit(0, "x = 4")
    await desk.agree("x = 4", "y = 3")
    assert (await desk.cells())[0].author == desk.workspace.identity.actor


async def test_a_mirror_waits_while_who_bound_the_file_may_not_edit_and_loses_nothing(desk: Desk) -> None:
    """Both sides stay as they are, which is told; when the right is back, both changes come together."""
    await bound_by_bob(desk)
    await desk.start()
    await desk.agree("x = 1")
    await role(desk, "viewer")
    desk.rewrite("x = 1", "saved = 1")
    await desk.hear("sales.py is not merged on behalf of human:bob")
    await desk.edit(0, "x = 5")
    assert desk.said() == ["x = 1", "saved = 1"]
    assert await desk.sources() == ["x = 5"]
    await role(desk, "editor")
    await desk.agree("x = 5", "saved = 1")


async def test_a_mirror_waits_once_the_token_of_who_bound_the_file_is_revoked(desk: Desk) -> None:
    token = await bound_by_bob(desk)
    await desk.start()
    await desk.agree("x = 1")
    await tell(desk.workspace, WORKSPACE_LOG, e.TokenRevoked(token=token))
    desk.rewrite("x = 2")
    await desk.hear("sales.py is not merged on behalf of human:bob")
    assert (await desk.sources(), desk.said()) == (["x = 1"], ["x = 2"])
    await desk.say(e.FileBound(path=desk.path, format="percent"))  # as it is told: the owner takes it on
    await desk.agree("x = 2")


async def test_a_second_notebook_of_one_file_reads_and_writes_nothing_of_it(desk: Desk, tmp_path: Path) -> None:
    """One may be left from when that was not refused: the one that was bound first holds the file."""
    await desk.write("secret = 1")
    await desk.start(every=True)
    await desk.agree("secret = 1")
    # Past the decision, as an older Quire recorded it.
    copy, live = LogId("copy"), desk.workspace._live  # pyright: ignore[reportPrivateUsage]
    events = (e.NotebookCreated(name="copy"), e.FileBound(path=desk.path, format="percent"))
    await live(copy).submit([Draft(id=new_id(), event=event) for event in events], desk.workspace.identity)
    await desk.hear("bound to 'sales' already")
    desk.rewrite("secret = 2")
    await desk.agree("secret = 2")
    assert not (await desk.workspace.read(copy)).cells


async def test_a_mirror_elsewhere_acts_as_the_bearer_of_its_token(desk: Desk) -> None:
    await desk.write("x = 1")
    made = await desk.workspace.create_token(BOB, BINDS)
    await desk.start(workspace=await desk.workspace.bearer(made.secret))
    await desk.agree("x = 1")
    desk.rewrite("x = 2")
    await desk.agree("x = 2")
    assert await merges(desk) == [(BOB, None)]


async def test_an_agents_text_and_the_log_say_from_which_file_a_cell_came(desk: Desk) -> None:
    await desk.write("x = 1")
    await desk.start()
    await desk.agree("x = 1")
    desk.rewrite("x = 2")
    await desk.agree("x = 2")
    cell = (await desk.cells())[0]
    stale = e.SourceEdited(cell=cell.id, text="x = 3", base_hash="0" * 64)
    with pytest.raises(Exception, match=r"was changed by system:mirror from sales\.py since"):
        await desk.say(stale)


async def test_nobody_follows_a_file_into_a_folder_that_is_hidden(desk: Desk) -> None:
    """A binding from before that was refused is left alone, and told."""
    await desk.write("x = 1")
    await desk.say(e.FileBound(path=None))
    live = desk.workspace._live  # pyright: ignore[reportPrivateUsage]
    moved = Draft(id=new_id(), event=e.FileBound(path="other.py"))
    await live(desk.log).submit([moved], desk.workspace.identity)
    (desk.folder / "other.py").symlink_to(".env")
    await desk.start()
    await desk.hear("hidden")
    assert not (desk.folder / ".env").exists()
