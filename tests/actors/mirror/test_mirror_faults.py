"""Disks and files that do not do what they should: nothing is lost, somebody is told, and it goes on by itself."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from quire.core import events as e

from .mirror_desk import PATIENCE, Desk
from .test_mirror_crash import ROOT

LATIN = "# %%\na = 'é'\n".encode("latin-1")
# As root, who may do everything, without that right.
POWERLESS = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.geteuid() == 0 else ()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """A notebook and its file, in a folder below the workspace's, under a mirror."""
    (tmp_path / "sub").mkdir()
    desk = Desk(tmp_path, "sub/sales.py")
    await desk.write("a = 1", "b = 2")
    await desk.start()
    await desk.agree("a = 1", "b = 2")
    yield desk
    await desk.close()


@pytest.mark.parametrize("data", [LATIN, b"# %%\na = 1\0\n", b"\xff\xfe#\x00"])
async def test_bytes_that_are_no_text_are_left_alone_until_they_are(desk: Desk, data: bytes) -> None:
    text = desk.text_with("a = 1", "b = 20")
    desk.file.write_bytes(data)
    await desk.hear("sub/sales.py is left alone until it can be read")
    await desk.edit(0, "a = 10")
    assert desk.file.read_bytes() == data
    desk.save(text)
    await desk.agree("a = 10", "b = 20")
    assert (await desk.notebook()).conflicts == {}


async def test_a_folder_in_the_place_of_the_file_is_left_alone(desk: Desk) -> None:
    text = desk.text_with("a = 1", "b = 20")
    desk.file.unlink()
    desk.file.mkdir()
    (desk.file / "inside.txt").write_text("kept")
    await desk.hear("is not a file")
    await desk.edit(0, "a = 10")
    assert (desk.file / "inside.txt").read_text() == "kept"
    shutil.rmtree(desk.file)
    desk.save(text)
    await desk.agree("a = 10", "b = 20")


async def test_a_link_that_leads_out_of_the_folder_is_not_followed_and_its_end_is_seen(
    desk: Desk, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.py"
    outside.write_text("# %%\nsecret = 1\n")
    text = desk.text_with("a = 1", "b = 20")
    desk.file.unlink()
    desk.file.symlink_to(outside)
    await desk.hear("does not lie inside")
    await desk.edit(0, "a = 10")
    desk.file.unlink()
    desk.save(text)
    await desk.agree("a = 10", "b = 20")
    assert outside.read_text() == "# %%\nsecret = 1\n"
    assert not any("secret" in source for source in await desk.sources())


async def test_a_folder_on_the_way_that_leads_out_is_not_followed_either(
    desk: Desk, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "sales.py").write_text("# %%\nsecret = 1\n")
    sub = desk.folder / "sub"
    sub.rename(desk.folder / "kept")
    sub.symlink_to(outside)
    await desk.hear("does not lie inside")
    await desk.edit(0, "a = 10")
    sub.unlink()
    (desk.folder / "kept").rename(sub)
    await desk.agree("a = 10", "b = 2")
    assert (outside / "sales.py").read_text() == "# %%\nsecret = 1\n"


async def test_a_link_inside_the_folder_is_followed_both_ways_and_stays_a_link(desk: Desk) -> None:
    (desk.folder / "real").mkdir()
    real = desk.folder / "real" / "sales.py"
    await desk.stop()
    desk.file.rename(real)
    desk.file.symlink_to("../real/sales.py")
    await desk.start()
    await desk.edit(0, "a = 10")
    await desk.agree("a = 10", "b = 2")
    real.write_text(desk.text_with("a = 10", "b = 20"))
    await desk.agree("a = 10", "b = 20")
    assert desk.file.is_symlink() and not real.is_symlink()


async def test_what_stands_beside_the_file_and_is_no_text_stops_nothing(desk: Desk) -> None:
    beside = desk.file.with_name(".sales.py.6.1.quire~")
    beside.write_bytes(LATIN)
    await desk.stop()
    await desk.edit(0, "a = 10")
    await desk.start()
    await desk.agree("a = 10", "b = 2")
    await desk.hear(beside.name)
    assert beside.read_bytes() == LATIN


async def test_a_file_that_comes_and_goes_with_every_look_loses_nothing(desk: Desk) -> None:
    for number in range(5):
        text = desk.file.read_text()
        desk.file.unlink()
        await desk.edit(0, f"a = {number}")
        desk.save(text, "rename")
        await desk.agree(f"a = {number}", "b = 2")
    assert "FileBound" not in (await desk.types())[4:]


async def test_the_language_of_a_notebook_that_a_file_cannot_have_is_told(desk: Desk) -> None:
    before = desk.file.read_text()
    kernel = {"kernelspec": {"display_name": "R", "language": "R", "name": "ir"}}
    await desk.say(e.MetadataSet(values=kernel))
    await desk.hear("sales.py")
    assert desk.file.read_text() == before


@asynccontextmanager
async def powerless(desk: Desk) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A mirror of its own process that may do only what the owner of the files may."""
    words = (*POWERLESS, sys.executable, "-m", "tests.actors.mirror.run_mirror", str(desk.folder))
    process = await asyncio.create_subprocess_exec(*words, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    await said(process, "ready")
    yield process
    process.terminate()
    await process.wait()


async def said(process: asyncio.subprocess.Process, part: str) -> None:
    """Wait until it has told this."""
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        while part not in (line := await process.stdout.readline()).decode():
            assert line, f"it ended without {part!r}"


async def test_a_file_that_may_not_be_read_is_left_alone_until_it_may(desk: Desk) -> None:
    await desk.stop()
    async with powerless(desk) as process:
        desk.file.chmod(0)
        await desk.edit(0, "a = 10")
        await said(process, "Permission denied")
        desk.file.chmod(0o640)
        await desk.agree("a = 10", "b = 2")
        assert desk.file.stat().st_mode & 0o777 == 0o640


async def test_a_folder_that_may_not_be_written_is_tried_again_until_it_may(desk: Desk) -> None:
    await desk.stop()
    before = desk.file.read_bytes()
    async with powerless(desk) as process:
        desk.file.parent.chmod(0o555)
        await desk.edit(0, "a = 10")
        await said(process, "cannot be written: Permission denied")
        assert desk.file.read_bytes() == before
        desk.file.parent.chmod(0o755)
        await desk.agree("a = 10", "b = 2")


async def test_a_full_disk_keeps_the_old_file_whole_and_gets_the_new_one_when_there_is_room(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    mount = 'mount -t tmpfs -o size=200k small "$0" && exec "$@"'
    small = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(tmp_path / "small"))
    process = await asyncio.create_subprocess_exec(
        *(*small, sys.executable, "-m", "tests.actors.mirror.fill_mirror", str(tmp_path)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await asyncio.wait_for(process.communicate(), 4 * PATIENCE)
    assert out.decode().splitlines()[-1] == "went on", out.decode()
