"""What happens in a bad moment: a rename right after a merge, a number that was given to another file, a mirror that is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quire.actors.mirror import bound_notebook, mirror
from quire.core.errors import Unavailable
from quire.workspace.local import LocalWorkspace
from quire.workspace.log.locks import Hold

from .mirror_desk import Desk, until


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """A notebook and its file, under a mirror."""
    desk = Desk(tmp_path)
    await desk.write("a = 1", "b = 2")
    await desk.start()
    await desk.agree("a = 1", "b = 2")
    yield desk
    await desk.close()


async def bound(desk: Desk, path: str) -> None:
    async def where() -> object:
        binding = (await desk.notebook()).binding
        return binding.path if binding is not None else None

    await until(where, path)


async def test_a_file_that_is_renamed_in_the_instant_after_a_merge_is_followed(desk: Desk) -> None:
    """The disk's clock is coarser than ours: its time of the rename may lie before that of the merge."""
    for number in range(6):
        await desk.edit(0, f"a = {number + 10}")
        await desk.agree(f"a = {number + 10}", "b = 2")
        new = desk.file.with_name(f"other-{number}.py")
        desk.file.rename(new)
        desk.path = new.name
        await bound(desk, new.name)


async def test_a_file_that_is_renamed_and_edited_at_once_is_followed(desk: Desk) -> None:
    text, new = desk.text_with("a = 1", "b = 20"), desk.file.with_name("other.py")
    desk.file.rename(new)
    new.write_text(text)
    desk.path = new.name
    await desk.agree("a = 1", "b = 20")


async def test_a_new_file_that_got_the_number_of_the_old_one_is_not_taken_for_it(desk: Desk) -> None:
    """Disks give the number of a file that is gone to the next. It says nothing of what the notebook does."""
    other = desk.file.with_name("other.py")
    desk.file.rename(other)
    other.write_text("# %%\nsomething = 'else'\n")
    await desk.hear("sales.py is gone")
    await bound(desk, "sales.py")
    assert await desk.sources() == ["a = 1", "b = 2"]
    assert other.read_text() == "# %%\nsomething = 'else'\n"


async def test_a_mirror_that_is_cancelled_at_any_moment_leaves_no_lease_behind(desk: Desk) -> None:
    """The process goes on, so nobody could know that the lease is of no use any more."""
    await desk.stop()
    for turns in range(0, 120, 3):
        await desk.edit(0, f"a = {turns}")
        task = asyncio.ensure_future(mirror(desk.workspace, desk.folder, [desk.log]))
        await asyncio.sleep(0.05 + turns / 2000)  # not a wait: a moment in which to cancel
        task.cancel()
        await asyncio.wait({task})
        hold = await desk.workspace.hold(f"mirror:{desk.log}", 30)
        assert hold is not None, turns
        await desk.workspace.let_go(hold)


async def test_a_mirror_whose_store_goes_away_while_it_works_does_not_wait_for_its_own_lease(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go, away = LocalWorkspace.let_go, ["the first time"]

    async def away_once(workspace: LocalWorkspace, hold: Hold) -> None:
        if away:
            raise Unavailable(f"the store is away {away.pop()}")
        await let_go(workspace, hold)

    monkeypatch.setattr(bound_notebook, "LEASE_SECONDS", 3600)
    monkeypatch.setattr(LocalWorkspace, "let_go", away_once)
    await desk.edit(0, "a = 10")

    async def was_away() -> object:
        return not away

    await until(was_away, True)
    await desk.edit(0, "a = 11")
    await desk.agree("a = 11", "b = 2")
