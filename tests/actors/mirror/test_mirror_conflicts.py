"""A conflict between a notebook and its file is seen by everybody, and ends when somebody decides (rule 13)."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from quire.core import events as e
from quire.core.ids import ActorId
from quire.core.text import source_hash

from ...fork_server import verb
from .mirror_desk import PATIENCE, Desk, until

SIDES = ("b = 'log'", "b = 'file'")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """A notebook whose second cell was changed on both sides, under a mirror."""
    desk = Desk(tmp_path)
    await desk.write("a = 1", "b = 2", "c = 3")
    await desk.start()
    await desk.stop()
    await desk.edit(1, SIDES[0])
    desk.rewrite("a = 1", SIDES[1], "c = 3")
    await desk.start()
    await desk.agree("a = 1", SIDES[0], "c = 3")
    await desk.conflicts_are(SIDES)
    yield desk
    await desk.close()


async def quire(desk: Desk, *words: str, token: str = "") -> subprocess.CompletedProcess[str]:
    """A verb, in a process of its own, while the mirror goes on."""
    env = {**os.environ, "QUIRE_TOKEN": token} if token else None
    return await asyncio.to_thread(verb, *words, cwd=desk.folder, env=env, timeout_seconds=PATIENCE)


async def id_of(desk: Desk) -> str:
    (conflict,) = (await desk.notebook()).conflicts
    return conflict


async def test_show_log_and_conflicts_show_both_sides(desk: Desk) -> None:
    conflict, cell = await id_of(desk), (await desk.cells())[1].id
    for words in (("show", "sales"), ("log", "sales"), ("conflicts", "list"), ("conflicts", "show", conflict[:20])):
        told = (await quire(desk, *words)).stdout
        assert all(part in told for part in (conflict, cell, *SIDES)), (words, told)
    listed = json.loads((await quire(desk, "conflicts", "list", "sales", "--json")).stdout)
    found = {"conflict": conflict, "cell": cell, "base": "b = 2", "ours": SIDES[0], "theirs": SIDES[1]}
    place = {"log": desk.log, "notebook": "sales", "file": "sales.py"}
    assert listed == [{**found, **place, "seq": listed[0]["seq"]}]
    await desk.hear(f"quire conflicts show {conflict}")


async def test_one_side_is_taken_on_both_and_the_conflict_is_over(desk: Desk) -> None:
    conflict = await id_of(desk)
    answer = await quire(desk, "conflicts", "resolve", conflict, "--take", "file", "--json")
    told = json.loads(answer.stdout)
    assert (told["conflict"], told["taken"]) == (conflict, "file")
    await desk.agree("a = 1", SIDES[1], "c = 3")
    await desk.conflicts_are()
    again = await quire(desk, "conflicts", "resolve", conflict)
    assert (again.returncode, "no open conflict" in again.stderr) == (2, True)


async def test_the_cell_as_it_is_now_can_be_right(desk: Desk) -> None:
    seq = (await desk.notebook()).seq
    desk.rewrite("a = 1", "b = 'both'", "c = 3")
    await desk.agree("a = 1", "b = 'both'", "c = 3")
    await desk.conflicts_are(SIDES)
    assert (await quire(desk, "conflicts", "resolve", await id_of(desk))).returncode == 0
    assert (await desk.types(seq))[-1] == "ConflictResolved"
    assert (await quire(desk, "conflicts", "list", "--json")).stdout == "[]\n"


async def test_who_saves_the_same_again_has_their_way_and_the_conflict_is_over(desk: Desk) -> None:
    desk.rewrite("a = 1", SIDES[1], "c = 3")
    await desk.agree("a = 1", SIDES[1], "c = 3")
    await desk.conflicts_are()


async def test_what_the_file_wanted_may_come_from_the_log_as_well(desk: Desk) -> None:
    await desk.edit(1, SIDES[1])
    await desk.agree("a = 1", SIDES[1], "c = 3")
    await desk.conflicts_are()


async def test_a_conflict_goes_with_its_cell(desk: Desk) -> None:
    desk.rewrite("a = 1", "c = 3")
    await desk.agree("a = 1", "c = 3")
    await desk.conflicts_are()


async def test_two_mirrors_end_a_conflict_once(desk: Desk) -> None:
    await desk.start(every=True)
    await desk.edit(1, SIDES[1])
    await desk.conflicts_are()
    await desk.edit(0, "a = 10")
    await desk.agree("a = 10", SIDES[1], "c = 3")
    assert (await desk.types()).count("ConflictResolved") == 1


async def test_who_has_to_ask_proposes_and_the_conflict_ends_with_somebodys_yes(desk: Desk) -> None:
    conflict = await id_of(desk)
    agent = await desk.workspace.create_token(ActorId("agent:x"), ("read", "edit"), asks=("edit",))
    ada = await desk.workspace.create_token(ActorId("human:ada"), ("read", "edit", "approve"))
    told = await quire(desk, "conflicts", "resolve", conflict, "--take", "file", token=agent.secret)
    (proposal,) = (await desk.notebook()).proposals
    assert told.stderr == f"Proposed as {proposal}: somebody has to say yes (`quire proposals show {proposal}`)\n"
    assert told.returncode == 0
    await desk.conflicts_are(SIDES)
    yes = await quire(desk, "proposals", "accept", proposal, token=ada.secret)
    assert yes.returncode == 0, yes.stderr
    await desk.agree("a = 1", SIDES[1], "c = 3")
    await desk.conflicts_are()


async def test_who_has_to_ask_is_told_so_as_json_too_and_what_cannot_be_proposed_is_refused(desk: Desk) -> None:
    agent = await desk.workspace.create_token(ActorId("agent:x"), ("read", "edit", "bind"), asks=("edit",))
    conflict = await id_of(desk)
    answer = await quire(desk, "conflicts", "resolve", conflict, "--take", "file", "--json", token=agent.secret)
    told: dict[str, Any] = json.loads(answer.stdout)
    (proposal,) = (await desk.notebook()).proposals
    assert told == {"log": desk.log, "proposal": proposal, "state": "open", "seq": (await desk.notebook()).seq}
    for words in (("archive", "sales"), ("bind", "sales", "--off"), ("conflicts", "resolve", conflict)):
        refused = await quire(desk, *words, token=agent.secret)
        assert (refused.returncode, "has to ask" in refused.stderr) == (3, True), refused.stderr


async def test_a_side_that_had_removed_the_cell_can_be_taken(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.write("a = 1", "b = 2")
    await desk.start()
    await desk.stop()
    await desk.say(e.CellRemoved(cell=(await desk.cells())[0].id))
    desk.rewrite("a = 'file'", "b = 2")
    await desk.start()
    await desk.agree("a = 'file'", "b = 2")
    await desk.conflicts_are(("", "a = 'file'"))
    assert (await quire(desk, "conflicts", "resolve", await id_of(desk), "--take", "log")).returncode == 0
    await desk.agree("b = 2")
    await desk.conflicts_are()
    await desk.close()


async def test_a_person_who_resolves_in_the_same_instant_is_not_in_the_way(desk: Desk) -> None:
    """They say what was chosen and that it is decided in one submission: the mirror finds nothing left to say."""
    (id,) = (await desk.notebook()).conflicts
    cell = (await desk.cells())[1]
    chosen = e.SourceEdited(cell=cell.id, text=SIDES[1], base_hash=source_hash(cell.source))
    await desk.say(chosen, e.ConflictResolved(conflict=id))
    await desk.agree("a = 1", SIDES[1], "c = 3")

    async def events() -> object:
        return (await desk.types()).count("ConflictResolved")

    await until(events, 1)
