"""What git does to a file while a notebook follows it, with real git: stash, rebase, merge, mv, and back (rule 13)."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from .mirror_desk import ONE_FORMAT, Desk, until
from .test_mirror_many import git


@pytest.fixture(params=ONE_FORMAT)
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Desk]:
    """A notebook whose file is committed, under a mirror."""
    desk = Desk(tmp_path, request.param)
    await desk.write("a = 1", "b = 2", "c = 3")
    await desk.start()
    await desk.agree("a = 1", "b = 2", "c = 3")
    (tmp_path / ".gitignore").write_text(".*\n*~\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "begin")
    yield desk
    await desk.close()


async def commit(desk: Desk, *sources: str) -> None:
    """Save, let the log take it in, and commit."""
    desk.rewrite(*sources)
    await desk.agree(*sources)
    git(desk.folder, "commit", "-q", "-a", "-m", " ".join(sources))


async def test_a_stash_takes_the_change_away_and_brings_it_back(desk: Desk) -> None:
    desk.rewrite("a = 1", "b = 20", "c = 3")
    await desk.agree("a = 1", "b = 20", "c = 3")
    git(desk.folder, "stash", "-q")
    await desk.agree("a = 1", "b = 2", "c = 3")
    git(desk.folder, "stash", "pop", "-q")
    await desk.agree("a = 1", "b = 20", "c = 3")
    assert (await desk.notebook()).conflicts == {}


async def test_what_the_log_did_while_a_change_was_stashed_stays_when_it_comes_back(desk: Desk) -> None:
    ids = [cell.id for cell in await desk.cells()]
    desk.rewrite("a = 1", "b = 20", "c = 3")
    await desk.agree("a = 1", "b = 20", "c = 3")
    git(desk.folder, "stash", "-q")
    await desk.agree("a = 1", "b = 2", "c = 3")
    await desk.edit(0, "a = 10")
    await desk.agree("a = 10", "b = 2", "c = 3")
    git(desk.folder, "commit", "-q", "-a", "-m", "a = 10")
    git(desk.folder, "stash", "pop", "-q")
    await desk.agree("a = 10", "b = 20", "c = 3")
    assert [cell.id for cell in await desk.cells()] == ids


async def test_a_rebase_that_writes_the_file_again_and_again_ends_where_git_does(desk: Desk) -> None:
    git(desk.folder, "checkout", "-q", "-b", "work")
    for number in (2, 3, 4):
        await commit(desk, f"a = {number}", "b = 2", "c = 3")
    git(desk.folder, "checkout", "-q", "main")
    await desk.agree("a = 1", "b = 2", "c = 3")
    await commit(desk, "a = 1", "b = 2", "c = 30")
    git(desk.folder, "checkout", "-q", "work")
    git(desk.folder, "rebase", "-q", "main")
    await desk.agree("a = 4", "b = 2", "c = 30")
    assert (await desk.notebook()).conflicts == {}


async def test_a_merge_that_git_could_not_finish_waits_for_whoever_resolves_it(desk: Desk) -> None:
    """Markers are no text of anybody's: they do not come into the log, and nobody else gets them."""
    git(desk.folder, "checkout", "-q", "-b", "work")
    await commit(desk, "a = 1", "b = 'work'", "c = 3")
    git(desk.folder, "checkout", "-q", "main")
    await commit(desk, "a = 1", "b = 'main'", "c = 3")
    seq = (await desk.notebook()).seq
    with pytest.raises(subprocess.CalledProcessError):
        git(desk.folder, "merge", "-q", "work")
    assert "<<<<<<<" in desk.file.read_text()
    await desk.hear("unresolved merge")
    await desk.edit(0, "a = 10")
    git(desk.folder, "checkout", "-q", "--theirs", desk.path)
    await desk.agree("a = 10", "b = 'work'", "c = 3")
    assert "<<<<<<<" not in str([entry.event for entry in await desk.workspace.entries(desk.log, seq)])


async def test_a_branch_on_which_the_file_has_another_name_is_followed_there_and_back(desk: Desk) -> None:
    new, old = f"renamed{desk.file.suffix}", desk.path
    git(desk.folder, "checkout", "-q", "-b", "work")
    git(desk.folder, "mv", old, new)
    git(desk.folder, "commit", "-q", "-m", "mv")
    await bound(desk, new)
    git(desk.folder, "checkout", "-q", "main")
    await bound(desk, old)
    git(desk.folder, "checkout", "-q", "work")
    await bound(desk, new)
    await desk.edit(0, "a = 10")
    await desk.agree("a = 10", "b = 2", "c = 3")


async def bound(desk: Desk, path: str) -> None:
    """Wait until the notebook is bound to that file."""

    async def where() -> object:
        binding = (await desk.notebook()).binding
        return binding.path if binding is not None else None

    await until(where, path)
    desk.path = path
    await desk.agree(*await desk.sources())


async def test_a_reset_and_a_clean_checkout_take_back_what_was_not_committed(desk: Desk) -> None:
    desk.rewrite("a = 1", "b = 20", "c = 3", "d = 4")
    await desk.agree("a = 1", "b = 20", "c = 3", "d = 4")
    git(desk.folder, "checkout", "-q", "--", desk.path)
    await desk.agree("a = 1", "b = 2", "c = 3")
    await desk.edit(2, "c = 30")
    await desk.agree("a = 1", "b = 2", "c = 30")
    git(desk.folder, "reset", "-q", "--hard")
    await desk.agree("a = 1", "b = 2", "c = 3")
