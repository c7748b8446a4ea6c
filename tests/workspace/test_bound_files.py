"""Where the workspace has a folder, the disk decides: links, other names of one file, environments."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quire.core import events as e
from quire.core.errors import BadInput, Conflict, QuireError
from quire.core.events import Draft, KnownEvent
from quire.core.ids import LogId
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace.bound_files import is_same_file
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace


@pytest.fixture
async def workspace(tmp_path: Path) -> LocalWorkspace:
    """Of a folder in which sales.py is bound."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "sales.py").write_text("# %%\n")
    made = LocalWorkspace(MemoryStore(), MemoryBlobs(), folder=folder)
    await say(made, "sales", e.NotebookCreated(name="sales"), e.FileBound(path="sales.py"))
    return made


async def say(workspace: LocalWorkspace, log: str, *events: KnownEvent) -> None:
    await workspace.submit(LogId(log), [Draft(id=new_id(), event=event) for event in events])


async def fault_of(workspace: LocalWorkspace, path: str) -> QuireError:
    """Why no other notebook is bound to a file."""
    with pytest.raises((BadInput, Conflict)) as error:
        await say(workspace, "other", e.NotebookCreated(name="other"), e.FileBound(path=path))
    assert [info.log for info in await workspace.logs()] == ["sales"]
    return error.value


async def test_another_name_of_a_file_is_the_same_file(workspace: LocalWorkspace, tmp_path: Path) -> None:
    """A link, a link to its folder, a second name, and a name that differs in case alone while it is not there."""
    folder = tmp_path / "work"
    (folder / "link.py").symlink_to("sales.py")
    (folder / "here").symlink_to(".", target_is_directory=True)
    os.link(folder / "sales.py", folder / "second.py")
    for path in ("sales.py", "link.py", "here/sales.py", "here/here/link.py", "second.py", "Sales.py"):
        assert "bound to 'sales' already" in str(await fault_of(workspace, path))


async def test_two_files_whose_names_differ_in_case_are_two_where_the_disk_says_so(
    workspace: LocalWorkspace, tmp_path: Path
) -> None:
    other = tmp_path / "work" / "Sales.py"
    other.write_text("# %%\n")
    if is_same_file(tmp_path / "work", "sales.py", "Sales.py"):
        assert "already" in str(await fault_of(workspace, "Sales.py"))
    else:
        await say(workspace, "other", e.NotebookCreated(name="other"), e.FileBound(path="Sales.py"))


async def test_a_link_leads_to_no_file_that_could_not_be_bound_itself(
    workspace: LocalWorkspace, tmp_path: Path
) -> None:
    folder, outside = tmp_path / "work", tmp_path / "secret.py"
    outside.write_text("key = 1\n")
    (folder / ".env").write_text("KEY=1\n")
    (folder / ".config").mkdir()
    (folder / "out.py").symlink_to(outside)
    (folder / "env.py").symlink_to(".env")
    (folder / "settings").symlink_to(".config", target_is_directory=True)
    (folder / "loop.py").symlink_to("loop.py")
    for path, fault in (
        ("out.py", "does not lie inside"),
        ("env.py", "leads to '.env', which is hidden"),
        ("settings/x.py", "which is hidden"),
        ("loop.py", "loop.py"),
    ):
        assert fault in str(await fault_of(workspace, path))


async def test_nothing_in_an_environment_is_bound_whatever_that_is_called(
    workspace: LocalWorkspace, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    for name, mark in (("tools", "pyvenv.cfg"), ("conda", "conda-meta")):
        (folder / name / "lib").mkdir(parents=True)
        (folder / name / mark).touch()
    (folder / "lib").symlink_to("tools/lib", target_is_directory=True)
    for path in ("tools/lib/site.py", "conda/lib/x.py", "lib/site.py", "tools/new.py"):
        assert "an environment of Python" in str(await fault_of(workspace, path))
