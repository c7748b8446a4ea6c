"""What a mirror keeps beside the log: who may read it, and that a redaction reaches it."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire.core import events as e
from quire.core.errors import NotFound, Refused
from quire.core.events import BlobRef
from quire.core.ids import ActorId

from .mirror_desk import Desk, open_workspace, until
from .test_mirror_crash import killed, made, start
from .test_mirror_outputs import execute

SECRET = "hunter2-hunter2"


async def kept(desk: Desk) -> list[BlobRef]:
    """The versions of the file that the log refers to."""
    entries = await desk.workspace.entries(desk.log, types=("file_merged",))
    events = [entry.event for entry in entries]
    return [each.kept for each in events if isinstance(each, e.FileMerged) and each.kept is not None]


async def two_sided(desk: Desk) -> BlobRef:
    """Merge a version of the file while the log has changes of its own; return the version that is kept for that."""
    await desk.edit(0, "a = 10")
    desk.rewrite("a = 1", "b = 2", f"key = '{SECRET}'")
    await desk.start()
    await desk.agree("a = 10", "b = 2", f"key = '{SECRET}'")
    (ref,) = await kept(desk)
    return ref


async def test_a_secret_is_masked_in_the_version_that_was_kept_too(tmp_path: Path) -> None:
    desk = await made(tmp_path, "sales.py")
    ref = await two_sided(desk)
    data = b"".join([chunk async for chunk in desk.workspace.open_blob(ref.hash)])
    assert SECRET.encode() in data
    found = await desk.workspace.holding(desk.log, SECRET)
    await desk.workspace.redact(desk.log, found, "leaked", secret=SECRET)
    with pytest.raises(NotFound):
        [chunk async for chunk in desk.workspace.open_blob(ref.hash)]
    assert await kept(desk) == []
    assert await desk.workspace.holding(desk.log, SECRET) == []
    assert [each.flaw async for each in desk.workspace.verify()] == [None]
    masked = f"key = '{'█' * len(SECRET)}'"
    await desk.agree("a = 10", "b = 2", masked)  # the file is as the log is, also in this
    desk.rewrite("a = 10", "b = 20", masked)
    await desk.agree("a = 10", "b = 20", masked)
    await desk.close()


async def test_a_secret_that_was_masked_while_nobody_watched_goes_from_the_file_too(tmp_path: Path) -> None:
    desk = await made(tmp_path, "sales.py")
    await two_sided(desk)
    await desk.stop()
    found = await desk.workspace.holding(desk.log, SECRET)
    await desk.workspace.redact(desk.log, found, "leaked", secret=SECRET)
    await desk.start()
    await desk.agree("a = 10", "b = 2", f"key = '{'█' * len(SECRET)}'")
    await desk.close()


@pytest.mark.parametrize("path", ["sales.py", "sales.md", "sales.ipynb"])
async def test_what_was_masked_does_not_come_back_with_the_next_change_of_the_file(tmp_path: Path, path: str) -> None:
    """Nobody watched when it was masked: the file still says it, and is saved once more with another change."""
    desk = await made(tmp_path, path)
    desk.rewrite("a = 1", f"key = '{SECRET}'", "c = 3")
    await desk.start()
    await desk.agree("a = 1", f"key = '{SECRET}'", "c = 3")
    await desk.stop()
    found = await desk.workspace.holding(desk.log, SECRET)
    await desk.workspace.redact(desk.log, found, "leaked", secret=SECRET)
    await desk.edit(0, "a = 10")
    desk.rewrite("a = 1", f"key = '{SECRET}'", "c = 30")
    await desk.start()
    await desk.agree("a = 10", f"key = '{'█' * len(SECRET)}'", "c = 30")
    assert SECRET not in desk.file.read_text()
    assert await desk.workspace.holding(desk.log, SECRET) == []
    assert await kept(desk) == []
    await desk.close()


async def test_what_a_cell_showed_and_was_masked_does_not_come_back_either(tmp_path: Path) -> None:
    desk = await made(tmp_path, "sales.ipynb")
    await desk.start()
    await execute(desk, 0, f"{SECRET}\n")

    async def shows() -> object:
        return SECRET in desk.file.read_text()

    await until(shows, True)
    await desk.stop()
    found = await desk.workspace.holding(desk.log, SECRET)
    await desk.workspace.redact(desk.log, found, "leaked", secret=SECRET)
    desk.rewrite("a = 1", "b = 2", "c = 30")
    await desk.start()
    await desk.agree("a = 1", "b = 2", "c = 30")
    await until(shows, False)
    assert await desk.workspace.holding(desk.log, SECRET) == []
    await desk.close()


async def test_the_version_that_was_kept_is_for_those_who_may_read_the_notebook(tmp_path: Path) -> None:
    desk = await made(tmp_path, "sales.py")
    ref = await two_sided(desk)
    other = await desk.workspace.create_token(ActorId("agent:other"), ("read",), notebooks=())
    with pytest.raises(Refused, match="may not read blob"):
        stranger = await open_workspace(tmp_path).bearer(other.secret)
        [chunk async for chunk in stranger.open_blob(ref.hash)]
    await desk.close()


async def test_a_mirror_with_a_token_goes_on_where_another_was_killed(tmp_path: Path) -> None:
    """It has not put the version there itself that the next merge begins with: the log says that it may read it."""
    desk = await made(tmp_path, "sales.py")
    token = await desk.workspace.create_token(ActorId("agent:mirror"), ("read", "edit", "bind"), notebooks=(desk.log,))
    await desk.edit(1, "b = 'log'")
    desk.rewrite("a = 1", "b = 'file'", "c = 3")
    await killed(await start(desk, "merged"))
    bearer = await open_workspace(tmp_path).bearer(token.secret)
    await desk.start(workspace=bearer)
    await desk.agree("a = 1", "b = 'log'", "c = 3")
    await desk.conflicts_are(("b = 'log'", "b = 'file'"))
    assert (await desk.types()).count("ConflictRaised") == 1
    await desk.close()
    await bearer.close()
