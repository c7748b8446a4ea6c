"""Changing cells, at once or by a proposal, as agents do it: real logs, without kernels."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quire.core import events as e
from quire.core.errors import BadInput, NotFound, QuireError, Refused
from quire.core.events import Draft, KnownEvent, ProposalAccepted, ProposalMade
from quire.core.ids import ActorId, LogId, ProposalId
from quire.core.notebook.notebook import Cell, Notebook
from quire.core.text import source_hash
from quire.formats import registry
from quire.formats.agent_text.render import tokens
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.verbs.answers.answer import Here, VerbAnswer
from quire.verbs.answers.error_answer import told
from quire.verbs.arguments import EditArguments, ProposeArguments
from quire.verbs.edit import edit
from quire.verbs.proposals.propose import propose
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace
from quire.workspace.remote.remote_workspace import RemoteWorkspace

from .. import http_server
from ..runs.recorded_runs import FIXED, SALES, Place
from .live_notebook import served

PERSON = identities.Identity(actor=ActorId("human:bob"), scopes=identities.system().scopes)


class House:
    """A folder with a workspace, and those who work in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.owner = LocalWorkspace(SqliteStore(folder / "quire.db"), MemoryBlobs())

    def agent(self, *asks: e.Scope, name: str = "claude") -> Here:
        return Here(workspace=self.owner.acting_as(identities.agent(name, asks)), folder=self.folder)

    @property
    def person(self) -> LocalWorkspace:
        return self.owner.acting_as(PERSON)

    async def submit(self, log: str, *events: KnownEvent) -> None:
        await self.person.submit(LogId(log), [Draft(id=new_id(), event=event) for event in events])

    async def read(self, log: Any) -> Notebook:
        return await self.owner.read(LogId(log))

    async def cell(self, log: Any, name: str) -> Cell:
        return next(cell for cell in (await self.read(log)).live_cells if cell.name == name)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    made = House(tmp_path)
    yield made
    await made.owner.close()


@pytest.fixture
async def log(house: House) -> str:
    """A notebook of two cells."""
    answer = await edited(house.agent(), "sales", insert("load", "rows = [1, 2]"), insert("total", "total = sum(rows)"))
    return str(answer.facts["notebook"])


def insert(name: str, source: str, after: str = "end") -> dict[str, Any]:
    return {"op": "insert", "after": after, "name": name, "source": source}


async def edited(here: Here, notebook: str, *edits: dict[str, Any], seconds: float = 0, **more: Any) -> VerbAnswer:
    wanted = msgspec.convert({"notebook": notebook, "edits": edits, **more}, EditArguments)
    return await edit(here, msgspec.structs.replace(wanted, seconds=seconds))


async def proposed(here: Here, notebook: str, *edits: dict[str, Any], **more: Any) -> VerbAnswer:
    asked = {"notebook": notebook, "why": "it is wrong", "edits": edits, **more}
    return await propose(here, msgspec.convert(asked, ProposeArguments))


async def refused(here: Here, notebook: str, *edits: dict[str, Any], **more: Any) -> QuireError:
    with pytest.raises(QuireError) as caught:
        await edited(here, notebook, *edits, **more)
    return caught.value


# ---- Notebooks that are not there


async def test_a_notebook_that_is_not_there_is_made_of_the_cells(house: House) -> None:
    answer = await edited(house.agent(), "sales", insert("load", "x = 1"), insert("note", "# Sales", "top"))
    notebook = await house.read(answer.facts["notebook"])
    assert [cell.name for cell in notebook.live_cells] == ["note", "load"] and notebook.name == "sales"
    assert notebook.created_by == "agent:claude" and notebook.binding is None
    assert answer.facts["made"] is True and answer.facts["cursor"] == notebook.seq
    assert source_hash("x = 1")[:8] in answer.text and "made sales" in answer.text


@pytest.mark.parametrize("path", ["new.py", "deep/er/new.md", "new.ipynb"])
async def test_one_with_the_name_of_a_file_is_bound_to_it_and_the_file_is_there_at_once(
    house: House, path: str
) -> None:
    """Rule 13."""
    answer = await edited(house.agent(), path, insert("load", "x = 1"), insert("show", "print(x)"))
    text = (house.folder / path).read_text()
    assert [cell.source for cell in registry.read(text, path).cells] == ["x = 1", "print(x)"]
    notebook = await house.read(answer.facts["notebook"])
    assert notebook.binding is not None and notebook.binding.path == path and notebook.binding.digest is not None
    assert answer.facts["path"] == path
    again = await edited(house.agent(), path, {"op": "patch", "cell": "load", "old": "1", "new": "2"})
    assert again.facts["notebook"] == answer.facts["notebook"] and "made" not in again.facts


async def test_a_file_that_is_there_is_opened(house: House) -> None:
    (house.folder / "old.py").write_text('# %% name="load"\nx = 1\n')
    answer = await edited(house.agent(), "old.py", {"op": "patch", "cell": "load", "old": "1", "new": "2"})
    assert (await house.cell(answer.facts["notebook"], "load")).source == "x = 2"
    assert (house.folder / "old.py").read_text() == '# %% name="load"\nx = 1\n'  # the mirror's to write


async def test_only_cells_that_are_inserted_make_a_notebook_and_only_by_a_name(house: House) -> None:
    error = await refused(house.agent(), "sails", {"op": "patch", "cell": "load", "old": "1", "new": "2"})
    assert isinstance(error, NotFound)
    assert isinstance(await refused(house.agent(), new_id(), insert("load", "")), NotFound)
    assert isinstance(await refused(house.agent(), "new.py", insert("load", "x = = 1")), BadInput)
    assert isinstance(await refused(house.agent(), "../out.py", insert("load", "")), BadInput)
    assert isinstance(await refused(house.agent(), ".git/hooks.py", insert("load", "")), BadInput)
    for name in ("a\0.py", "a\0", "長" * 150 + ".py", "x" * 400, "new.py\n"):
        assert isinstance(await refused(house.agent(), name, insert("load", "")), BadInput), name
    assert isinstance(await refused(house.agent("edit"), "new.py", insert("load", "")), Refused)
    assert isinstance(await refused(house.agent("edit"), "new", insert("load", "")), Refused)
    reader = Here(
        workspace=house.owner.acting_as(identities.Identity(actor=ActorId("agent:x"), scopes=frozenset(["read"])))
    )
    assert isinstance(await refused(reader, "new", insert("load", "")), Refused)
    limited = identities.Identity(
        actor=ActorId("agent:x"), scopes=identities.AGENT_SCOPES, notebooks=frozenset([LogId("other")])
    )
    assert isinstance(
        await refused(Here(workspace=house.owner.acting_as(limited), folder=house.folder), "new.py", insert("x", "")),
        Refused,
    )
    assert await house.owner.logs() == [] and not list(house.folder.glob("**/*.py"))
    assert not (house.folder.parent / "out.py").exists()


# ---- Notebooks that are there


async def test_what_changed_is_told_with_the_hashes_for_the_next_edit(house: House, log: str) -> None:
    answer = await edited(
        house.agent(),
        "sales",
        {"op": "patch", "cell": "load", "old": "[1, 2]", "new": "[3]"},
        {"op": "tag", "cell": "total", "add": ["checked"]},
        insert("show", "print(total)"),
    )
    cells: Any = answer.facts["cells"]
    assert [(cell["name"], cell["hash"]) for cell in cells] == [
        ("load", source_hash("rows = [3]")),
        ("total", source_hash("total = sum(rows)")),
        ("show", source_hash("print(total)")),
    ]
    assert "1 changed, 1 inserted, 1 moved or labelled" in answer.text and source_hash("rows = [3]")[:8] in answer.text
    assert answer.facts["cursor"] == (await house.read(log)).seq and answer.facts["state"] == "done"
    again = {"op": "replace", "cell": cells[0]["id"], "base": cells[0]["hash"][:8], "source": "rows = []"}
    await edited(house.agent(), log, again)
    assert (await house.cell(log, "load")).source == "rows = []"


async def test_a_long_name_takes_no_more_than_its_part_of_the_budget(house: House) -> None:
    path = "deep/" + "長" * 60 + ".py"
    answer = await edited(house.agent(), path, insert("load", "x = 1"), budget=100)
    assert tokens(answer.text) <= 100 and "cursor" in answer.text
    many = [insert(f"c{number}", "x = 1") for number in range(9)]
    await edited(house.agent(name="other"), path, *many)
    patches = [{"op": "patch", "cell": f"c{number}", "old": "1", "new": "2"} for number in range(9)]
    answer = await edited(house.agent(), path, *patches, budget=100)
    assert tokens(answer.text) <= 100 and "9 cells. Read before" in answer.text


@pytest.mark.parametrize("budget", [100, 300, 2000])
async def test_an_answer_stays_within_its_budget(house: House, log: str, budget: int) -> None:
    many = [insert(f"cell-{number}", f"x{number} = '{'é' * 50}'") for number in range(60)]
    answer = await edited(house.agent(), log, *many, run="all", budget=budget)
    assert tokens(answer.text) <= budget and f"cursor {answer.facts['cursor']}" in answer.text
    assert "60 inserted" in answer.text and "wait(" in answer.text


async def test_all_of_a_batch_is_one_submission(house: House, log: str) -> None:
    before = (await house.read(log)).seq
    gone = {"op": "delete", "cell": "total", "base": source_hash("total = sum(rows)")[:8]}
    await edited(house.agent(), log, insert("a", "a = 1"), insert("b", "b = 1"), gone)
    entries = await house.owner.entries(LogId(log), before)
    assert [type(entry.event) for entry in entries] == [e.CellAdded, e.CellAdded, e.CellRemoved]
    assert len({entry.at for entry in entries}) == 1 and {entry.actor for entry in entries} == {"agent:claude"}


async def test_a_refusal_has_all_that_the_repair_needs(house: House, log: str) -> None:
    """Rule 8: the source as it is, what they had, and the difference."""
    cell = await house.cell(log, "load")
    await house.submit(log, e.SourceEdited(cell=cell.id, text="rows = [7]", base_hash=source_hash(cell.source)))
    asked = {"op": "replace", "cell": "load", "base": source_hash(cell.source)[:8], "source": "rows = [1, 2, 3]"}
    error = await refused(house.agent(), log, asked)
    assert isinstance(error, Refused) and error.details["changed_by"] == "human:bob"
    assert error.details["base"] == "rows = [1, 2]" and error.details["source"] == "rows = [7]"
    answer = told(error)
    assert "-rows = [1, 2]" in answer.text and "+rows = [7]" in answer.text and answer.facts["error"] == "Refused"
    msgspec.json.encode(answer.facts)
    hash = str(answer.facts["source_hash"])
    await edited(house.agent(), log, {**asked, "base": hash[:12]})
    assert (await house.cell(log, "load")).source == "rows = [1, 2, 3]"


async def test_the_log_knows_what_was_read_also_if_a_proposal_or_a_file_brought_it(house: House, log: str) -> None:
    cell = await house.cell(log, "load")
    answer = await proposed(house.agent(), log, {"op": "patch", "cell": "load", "old": "[1, 2]", "new": "[3]"})
    await house.submit(log, ProposalAccepted(proposal=ProposalId(str(answer.facts["proposal"]))))
    text = "rows = [4]"
    change = e.SourceEdited(cell=cell.id, text=text, base_hash=source_hash("rows = [3]"))
    await house.submit(log, e.FileBound(path="x.py"), e.FileMerged(path="x.py", digest="0" * 64, changes=(change,)))
    await house.submit(log, e.SourceEdited(cell=cell.id, text="rows = [5]", base_hash=source_hash(text)))
    for had in ("rows = [1, 2]", "rows = [3]", "rows = [4]"):
        stale = {"op": "replace", "cell": "load", "base": source_hash(had)[:8], "source": ""}
        assert (await refused(house.agent(), log, stale)).details["base"] == had


async def test_a_base_that_never_was_is_no_older_source(house: House, log: str) -> None:
    error = await refused(house.agent(), log, {"op": "delete", "cell": "load", "base": "#abcdef"})
    assert isinstance(error, BadInput) and "never had" in str(error) and error.details["source"] == "rows = [1, 2]"


@pytest.mark.parametrize(
    "edits",
    [
        [{"op": "insert", "after": "end", "source": "x" * 10_000_000}],
        [insert("ok", "x = 1"), insert("bad", "x = = 1")],
        [insert("ok", "x = 1"), {"op": "patch", "cell": "nowhere", "old": "1", "new": "2"}],
        [insert("ok", "x = 1"), insert("ok", "x = 2")],
        [insert("ok", "x = 1"), {"op": "replace", "cell": "load", "base": "abcdef", "source": ""}],
        [insert("ok", "x = 1"), {"op": "move", "cell": "load", "after": "load"}],
    ],
)
async def test_bad_input_changes_nothing(house: House, log: str, edits: list[dict[str, Any]]) -> None:
    before = (await house.read(log)).seq
    error = await refused(house.agent(), log, *edits)
    assert isinstance(error, BadInput | NotFound) and "Nothing was changed" in str(error)
    assert (await house.read(log)).seq == before and len(told(error).text) < 20_000


async def test_what_is_put_away_is_not_edited(house: House, log: str) -> None:
    await house.submit(log, e.NotebookArchived())
    assert "archived" in str(await refused(house.agent(), log, insert("x", "")))


async def test_patches_of_one_cell_by_many_at_once_are_all_there(house: House, log: str) -> None:
    """Rule 8: what was made against no particular source is made again on top of whoever was first."""
    lines = "\n".join(f"a{number} = 0" for number in range(20))
    await edited(house.agent(), log, insert("many", lines))
    patches = (
        edited(
            house.agent(name=f"agent-{n}"),
            log,
            {"op": "patch", "cell": "many", "old": f"a{n} = 0", "new": f"a{n} = {n}"},
        )
        for n in range(1, 20)
    )
    await asyncio.gather(*patches)
    assert (await house.cell(log, "many")).source == "\n".join(f"a{number} = {number}" for number in range(20))


async def test_who_patches_unread_where_somebody_else_wrote_last_is_warned(house: House, log: str) -> None:
    """The hash in the answer is of a text that they may not have seen: a replacement made with it could lose something."""
    patch = {"op": "patch", "cell": "load", "old": "[1, 2]", "new": "[3]"}
    assert "Read before" not in (await edited(house.agent(), log, patch)).text
    cell = await house.cell(log, "load")
    await house.submit(
        log, e.SourceEdited(cell=cell.id, text="rows = [1, 2]  # so", base_hash=source_hash(cell.source))
    )
    answer = await edited(house.agent(), log, patch)
    assert f"{cell.id[:4]} (human:bob). Read before you replace" in answer.text
    await house.submit(
        log, e.SourceEdited(cell=cell.id, text="rows = [1, 2]", base_hash=source_hash("rows = [3]  # so"))
    )
    answer = await edited(house.agent(), log, {**patch, "base": source_hash("rows = [1, 2]")[:8]})
    assert "Read before" not in answer.text


# ---- Running


async def test_what_changed_is_asked_for_in_the_same_submission(house: House, log: str) -> None:
    before = (await house.read(log)).seq
    patch = {"op": "patch", "cell": "load", "old": "[1, 2]", "new": "[3]"}
    answer = await edited(house.agent(), log, patch, run="changed")
    entries = await house.owner.entries(LogId(log), before)
    assert [type(entry.event) for entry in entries] == [e.SourceEdited, e.ExecutionRequested]
    assert answer.facts["state"] == "queued" and "nobody serves it" in str(answer.facts["waiting_for"])
    assert "queued" in answer.text and "wait(" in answer.text
    # What waits is of a source that is no more: it is taken back, and asked for as it is now.
    again = await edited(house.agent(), log, {**patch, "old": "[3]", "new": "[4]"}, run=["load"])
    cell = await house.cell(log, "load")
    assert cell.queued is not None and cell.queued.source_hash == source_hash("rows = [4]")
    assert list(again.facts["executions"]) == [cell.queued.id]  # type: ignore[arg-type]


async def test_stale_runs_what_stands_on_the_change(house: House, log: str) -> None:
    patch = {"op": "patch", "cell": "load", "old": "[1, 2]", "new": "[3]"}
    answer = await edited(house.agent(), log, patch, insert("note", "# text"), run="stale")
    cells: Any = answer.facts["cells"]
    assert {cell["name"]: cell["state"] for cell in cells} == {"load": "queued", "note": "queued", "total": "queued"}


async def test_a_cell_to_run_that_is_not_there_changes_nothing(house: House, log: str) -> None:
    before = (await house.read(log)).seq
    error = await refused(house.agent(), log, insert("x", "x = 1"), run=["nowhere"])
    assert isinstance(error, NotFound) and (await house.read(log)).seq == before
    for name in ("new", "new.py"):
        assert isinstance(await refused(house.agent(), name, insert("x", "x = 1"), run=["nowhere"]), NotFound)
    assert len(await house.owner.logs()) == 1 and not (house.folder / "new.py").exists()


# ---- Asked first


async def test_an_edit_that_has_to_be_asked_for_is_one_proposal_with_its_run(house: House, log: str) -> None:
    """Rule 3."""
    patch = {"op": "patch", "cell": "load", "old": "[1, 2]", "new": "[3]"}
    answer = await edited(house.agent("edit", "run"), log, patch, run="changed")
    id = ProposalId(str(answer.facts["proposal"]))
    assert answer.facts["state"] == "proposed" and f"Proposed as {id}" in answer.text
    waiting = (await house.read(log)).proposals[id]
    assert len(waiting.changes) == 1 and len(waiting.effects) == 1
    assert (await house.cell(log, "load")).source == "rows = [1, 2]"
    await house.submit(log, ProposalAccepted(proposal=id))
    cell = await house.cell(log, "load")
    assert cell.source == "rows = [3]" and cell.queued is not None


async def test_a_run_that_has_to_be_asked_for_is_proposed_and_the_edit_made(house: House, log: str) -> None:
    answer = await edited(
        house.agent("run"), log, {"op": "patch", "cell": "load", "old": "[1, 2]", "new": "[3]"}, run="changed"
    )
    waiting = (await house.read(log)).proposals[ProposalId(str(answer.facts["proposal"]))]
    assert not waiting.changes and [effect.source_hash for effect in waiting.effects] == [source_hash("rows = [3]")]
    assert (await house.cell(log, "load")).source == "rows = [3]"
    assert "1 changed" in answer.text and "run is proposed" in answer.text


@pytest.mark.parametrize("asks", [("edit", "run"), ("run",), ()])
async def test_who_has_to_ask_says_why_and_who_need_not_is_not_in_need_of_it(
    house: House, log: str, asks: tuple[e.Scope, ...]
) -> None:
    new = insert("show", "print(total)", after="total")
    answer = await edited(house.agent(*asks), log, new, run="changed", why="nobody saw it")
    proposals = (await house.read(log)).proposals
    assert [proposal.why for proposal in proposals.values()] == ["nobody saw it"] * bool(asks)
    assert list(proposals) == ([answer.facts["proposal"]] if asks else [])


# ---- Proposals


async def test_changes_and_runs_are_proposed_and_happen_with_somebodys_yes(house: House, log: str) -> None:
    before = (await house.read(log)).seq
    answer = await proposed(house.agent(), log, insert("show", "print(total)", after="total"), run="stale")
    (entry,) = await house.owner.entries(LogId(log), before)
    assert isinstance(entry.event, ProposalMade) and entry.event.why == "it is wrong"
    assert [effect.needs for effect in entry.event.effects] == [
        None,
        entry.event.effects[0].execution,
        entry.event.effects[1].execution,
    ]
    assert answer.facts["changes"] == 1 and answer.facts["runs"] == 3 and answer.facts["cursor"] == entry.seq
    await house.submit(log, ProposalAccepted(proposal=entry.event.proposal))
    assert (await house.cell(log, "show")).queued is not None


async def test_a_proposal_that_asks_for_nothing_or_for_what_cannot_be_is_refused(house: House, log: str) -> None:
    for edits in ([], [{"op": "tag", "cell": "load", "remove": ["never"]}], [insert("x", "x = = 1")]):
        with pytest.raises(BadInput):
            await proposed(house.agent(), log, *edits)
    with pytest.raises(NotFound):
        await proposed(house.agent(), "nowhere", insert("x", "x = 1"))
    assert not (await house.read(log)).proposals


async def test_what_was_fixed_in_a_run_is_proposed_to_its_source(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (tmp_path / "sales.py").write_text(SALES)
    run = await place.ran(SALES)
    await place.edit(run, "x / 0", "x / 2")
    answer = await proposed(Here(workspace=place.owner, folder=tmp_path), run)
    source = await place.owner.read(LogId(str(answer.facts["notebook"])))
    waiting = source.proposals[ProposalId(str(answer.facts["proposal"]))]
    assert waiting.why.startswith("it is wrong") and answer.facts["path"] == "sales.py" and "x / 2" in FIXED
    assert [change.text for change in waiting.changes if isinstance(change, e.SourceEdited)] == ["x / 2"]


# ---- Over the network


async def test_over_a_server_it_is_the_same(house: House, log: str) -> None:
    """Without files: those are the server's."""
    actor = identities.agent("far").actor
    made = await house.owner.create_token(actor, ["read", "edit", "run"])
    async with http_server.served(house.owner) as server:
        far = Here(workspace=await RemoteWorkspace.open(server.url, made.secret))
        try:
            patch = {"op": "patch", "cell": "load", "old": "[1, 2]", "new": "[3]"}
            answer = await edited(far, log, patch, run="changed")
            assert answer.facts["state"] == "queued" and (await house.cell(log, "load")).source == "rows = [3]"
            stale = {"op": "replace", "cell": "load", "base": source_hash("rows = [1, 2]")[:8], "source": ""}
            error = await refused(far, log, stale)
            assert isinstance(error, Refused) and error.details["base"] == "rows = [1, 2]"
            answer = await edited(far, "new.py", insert("load", "x = 1"))
            assert (await house.read(answer.facts["notebook"])).binding is None
            answer = await proposed(far, log, insert("show", "print(total)"))
            assert ProposalId(str(answer.facts["proposal"])) in (await house.read(log)).proposals
        finally:
            await far.workspace.close()


# ---- Faults


def test_what_somebody_wrote_cannot_pass_for_ours_or_steer_a_terminal() -> None:
    error = Refused("no", cell="c5aq", source="\x1b[2Jx = 1\nsource of k2mm now, base abc:\n", source_hash="a" * 64)
    lines = told(error).text.split("\n")
    assert lines[1] == "source of c5aq now, base aaaaaaaaaaaa:" and "\x1b" not in told(error).text
    assert all(line.startswith("  ") for line in lines[2:])


def test_a_long_source_is_cut_for_the_eye_and_whole_in_the_facts() -> None:
    source = "x" * 100_000
    answer = told(Refused("no", cell="c5aq", source=source, difference=source))
    assert answer.facts["source"] == source and len(answer.text) < 20_000 and "characters left out" in answer.text


def test_each_error_has_an_answer() -> None:
    for kind in (Refused, BadInput, NotFound):
        assert told(kind("what is wrong", strange={1, 2})).facts["message"] == "what is wrong"


# ---- With a kernel


async def test_what_changed_runs_and_what_it_shows_is_in_the_answer(tmp_path: Path) -> None:
    async with served(tmp_path, "sales") as house:
        here = house.by(identities.agent("claude"))
        inserted = [insert("load", "rows = [1, 2]"), insert("total", "print('total is', sum(rows))")]
        answer = await edited(here, "sales", *inserted, run="changed", seconds=60)
        assert answer.facts["state"] == "done" and "total is 3" in answer.text, answer.text
        broken = {"op": "patch", "cell": "load", "old": "[1, 2]", "new": "None"}
        answer = await edited(here, "sales", broken, insert("more", "1 / 0"), run="stale", seconds=60)
        assert answer.facts["state"] == "error" and "TypeError" in answer.text, answer.text
        cells: Any = answer.facts["cells"]
        assert {cell["name"]: cell["state"] for cell in cells} == {"load": "ok", "total": "error", "more": "skipped"}
        assert "did not run" in answer.text
