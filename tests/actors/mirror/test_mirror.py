"""A notebook and its file follow each other (rule 13)."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quire.core import events as e

from .mirror_desk import FORMATS, ONE_FORMAT, WAYS, Desk, until


@pytest.fixture(params=FORMATS)
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Desk]:
    """A notebook of three cells and its file, in each format, under a mirror."""
    desk = Desk(tmp_path, request.param)
    await desk.write("a = 1", "b = 2", "c = 3")
    await desk.start()
    yield desk
    await desk.close()


@pytest.fixture(params=ONE_FORMAT)
async def plain(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Desk]:
    """The same, for what does not depend on the format."""
    desk = Desk(tmp_path, request.param)
    await desk.write("a = 1", "b = 2", "c = 3")
    await desk.start()
    yield desk
    await desk.close()


@pytest.fixture
async def script(tmp_path: Path) -> AsyncIterator[Desk]:
    """The same, as a script only."""
    desk = Desk(tmp_path)
    await desk.write("a = 1", "b = 2", "c = 3")
    await desk.start()
    yield desk
    await desk.close()


async def test_a_file_that_is_not_there_is_written_when_a_notebook_is_bound_to_it(desk: Desk) -> None:
    await desk.agree("a = 1", "b = 2", "c = 3")
    assert await desk.types(4) == ["FileBound", "FileMerged"]


async def test_what_somebody_does_in_the_log_arrives_in_the_file(desk: Desk) -> None:
    await desk.edit(1, "b = 20")
    await desk.agree("a = 1", "b = 20", "c = 3")


@pytest.mark.parametrize("how", WAYS)
async def test_what_an_editor_saves_arrives_in_the_log(desk: Desk, how: str) -> None:
    before = [cell.id for cell in await desk.cells()]
    desk.save(desk.text_with("a = 1", "b = 2", "c = 30"), how)
    await desk.agree("a = 1", "b = 2", "c = 30")
    assert [cell.id for cell in await desk.cells()] == before
    assert (await desk.types())[-1] == "FileMerged"


async def test_changes_of_different_cells_both_arrive(desk: Desk) -> None:
    await desk.stop()
    await desk.edit(0, "a = 10")
    desk.rewrite("a = 1", "b = 2", "c = 30")
    await desk.start()
    await desk.agree("a = 10", "b = 2", "c = 30")
    assert (await desk.notebook()).conflicts == {}


async def test_a_change_of_the_same_lines_is_a_conflict_that_keeps_both(desk: Desk) -> None:
    await desk.stop()
    await desk.edit(1, "b = 'log'")
    desk.rewrite("a = 1", "b = 'file'", "c = 3")
    await desk.start()
    await desk.agree("a = 1", "b = 'log'", "c = 3")
    (conflict,) = (await desk.notebook()).conflicts.values()
    assert (conflict.base, conflict.ours, conflict.theirs) == ("b = 2", "b = 'log'", "b = 'file'")
    assert conflict.cell == (await desk.cells())[1].id
    await desk.hear("conflict")


async def test_a_cell_that_one_removes_and_the_other_edits_stays_as_edited(desk: Desk) -> None:
    await desk.stop()
    first, second, _ = await desk.cells()
    await desk.say(e.CellRemoved(cell=first.id))
    await desk.edit(0, "b = 20")
    desk.rewrite("a = 'file'", "c = 3")
    await desk.start()
    await desk.agree("a = 'file'", "b = 20", "c = 3")
    sides = {(each.cell, each.ours, each.theirs) for each in (await desk.notebook()).conflicts.values()}
    assert (first.id, "", "a = 'file'") in sides
    assert (second.id, "b = 20", "") in sides


async def test_the_same_bytes_and_a_touch_make_no_event(desk: Desk) -> None:
    await desk.agree("a = 1", "b = 2", "c = 3")
    seq = (await desk.notebook()).seq
    os.utime(desk.file)
    desk.save(desk.file.read_text(), "rename")
    await desk.edit(0, "a = 10")
    await desk.agree("a = 10", "b = 2", "c = 3")
    assert await desk.types(seq) == ["SourceEdited", "FileMerged"]


async def test_what_is_only_spelled_in_another_way_makes_no_event_and_keeps_its_bytes(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "sales.ipynb")
    await desk.write("a = 1", "b = 2", "c = 3")
    await desk.start()
    seq = (await desk.notebook()).seq
    text = json.dumps(json.loads(desk.file.read_text()), indent=3)
    desk.save(text)
    await desk.edit(2, "c = 30")
    await desk.agree("a = 1", "b = 2", "c = 30")
    assert desk.file.read_text() == text.replace("c = 3", "c = 30")
    assert await desk.types(seq) == ["SourceEdited", "FileMerged"]
    await desk.close()


async def test_a_file_that_cannot_be_read_is_left_alone_and_told(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "sales.ipynb")
    await desk.write("a = 1", "b = 2")
    await desk.start()
    whole = desk.file.read_text()
    desk.save(whole[: len(whole) // 2])
    await desk.hear("left alone until it can be read")
    await desk.edit(0, "a = 10")
    assert desk.file.read_text() == whole[: len(whole) // 2]
    desk.save(whole)
    await desk.agree("a = 10", "b = 2")
    assert (await desk.notebook()).conflicts == {}
    await desk.close()


async def test_a_file_is_not_taken_while_somebody_is_writing_it(script: Desk) -> None:
    """Half a script is a script: only who has it open knows that it is half."""
    await script.agree("a = 1", "b = 2", "c = 3")
    seq, data = (await script.notebook()).seq, script.text_with("a = 1", "b = 2", "c = 30").encode()
    with script.file.open("wb", buffering=0) as out:
        out.write(data[: len(data) // 2])
        await script.edit(0, "a = 10")
        other = Desk(script.folder, "other.py")
        await other.write("x = 1")
        await other.start()
        await other.agree("x = 1")  # a mirror has looked at this folder meanwhile
        assert await script.types(seq) == ["SourceEdited"]
        out.write(data[len(data) // 2 :])
    await script.agree("a = 10", "b = 2", "c = 30")
    assert (await script.notebook()).conflicts == {}
    await other.close()


async def test_an_empty_file_empties_no_notebook(script: Desk) -> None:
    text = script.file.read_text()
    script.save("")
    await script.hear("is empty")
    assert await script.sources() == ["a = 1", "b = 2", "c = 3"]
    script.save(text)
    await script.agree("a = 1", "b = 2", "c = 3")


async def test_a_file_that_is_removed_leaves_the_notebook_and_is_followed_when_it_is_back(plain: Desk) -> None:
    text = plain.text_with("a = 1", "b = 20", "c = 3")
    plain.file.unlink()
    await plain.hear("is gone")
    await plain.edit(0, "a = 10")
    assert not plain.file.exists()
    plain.save(text)
    await plain.agree("a = 10", "b = 20", "c = 3")


async def test_a_file_that_is_renamed_is_followed(plain: Desk) -> None:
    await plain.agree("a = 1", "b = 2", "c = 3")
    (plain.folder / "deep").mkdir()
    new = f"deep/other{plain.file.suffix}"
    plain.file.rename(plain.folder / new)
    plain.path = new

    async def path() -> object:
        binding = (await plain.notebook()).binding
        return binding.path if binding is not None else None

    await until(path, new)
    plain.rewrite("a = 1", "b = 20", "c = 3")
    await plain.agree("a = 1", "b = 20", "c = 3")
    await plain.edit(0, "a = 10")
    await plain.agree("a = 10", "b = 20", "c = 3")


async def test_a_file_that_was_renamed_while_nobody_watched_is_found_by_its_content(plain: Desk) -> None:
    await plain.agree("a = 1", "b = 2", "c = 3")
    await plain.stop()
    copy = plain.folder / f"copy{plain.file.suffix}"
    copy.write_text(plain.file.read_text())
    plain.file.unlink()
    plain.path = copy.name
    await plain.edit(0, "a = 10")
    await plain.start()
    await plain.agree("a = 10", "b = 2", "c = 3")


async def test_two_mirrors_of_one_folder_do_not_fight(plain: Desk) -> None:
    await plain.start()
    await plain.start(every=True)
    seq = (await plain.notebook()).seq
    await plain.edit(1, "b = 20")
    await plain.agree("a = 1", "b = 20", "c = 3")
    plain.rewrite("a = 1", "b = 20", "c = 30")
    await plain.agree("a = 1", "b = 20", "c = 30")
    await plain.edit(0, "a = 10")
    await plain.agree("a = 10", "b = 20", "c = 30")
    expected = ["SourceEdited", "FileMerged", "FileMerged", "SourceEdited", "FileMerged"]
    assert await plain.types(seq) == expected


async def test_cells_are_added_moved_and_removed_from_both_sides(desk: Desk) -> None:
    await desk.agree("a = 1", "b = 2", "c = 3")
    ids = [cell.id for cell in await desk.cells()]
    desk.rewrite("a = 1", "b = 2", "c = 3", "d = 4")
    await desk.agree("a = 1", "b = 2", "c = 3", "d = 4")
    await desk.say(e.CellMoved(cell=ids[2], after=None), e.CellRemoved(cell=ids[1]))
    await desk.agree("c = 3", "a = 1", "d = 4")
    assert [cell.id for cell in await desk.cells()][:2] == [ids[2], ids[0]]


async def test_a_path_that_leads_out_of_the_folder_is_not_touched(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.py").write_text("secret = 1\n")
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    desk = Desk(folder, "link/x.py")
    await desk.write("a = 1")
    await desk.start()
    await desk.hear("does not lie inside")
    assert (outside / "x.py").read_text() == "secret = 1\n"
    assert await desk.sources() == ["a = 1"]
    await desk.close()


async def test_a_notebook_that_is_bound_later_is_found_and_one_that_is_let_go_stays(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.start(every=True)
    await desk.write("a = 1")
    await desk.agree("a = 1")
    await desk.say(e.FileBound(path=None))
    await desk.edit(0, "a = 10")
    await desk.say(e.FileBound(path="again.py"))
    old, desk.path = desk.file, "again.py"
    await desk.agree("a = 10")
    assert "a = 1\n" in old.read_text()
    await desk.close()


async def test_a_quiet_mirror_ends_when_it_is_cancelled(script: Desk) -> None:
    await asyncio.wait_for(script.stop(), 30)
    assert not list(script.folder.glob(".*quire~*"))
