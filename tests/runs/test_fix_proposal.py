"""What was fixed in a run becomes a proposal to its source: over logs that were written without a kernel."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from quire.core import events as e
from quire.core.errors import BadInput, Conflict, NotFound, Refused
from quire.core.events import KnownEvent, RunSource
from quire.core.ids import CellId, LogId
from quire.core.sheet.conversion import added
from quire.core.text import source_hash
from quire.formats import registry
from quire.outputs.secrets import has_mark
from quire.runs.fix.fix_proposal import propose
from quire.runs.records.run_records import listed, listing, record_of
from quire.runs.records.run_snapshot import as_left
from quire.stores.store import Store
from quire.workspace.clock import new_id

from .recorded_runs import FIXED, SALES, Place, run_again, sources, until


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "sales.py").write_text(SALES)
    return Place(tmp_path)


# ---- The run stays what it was


async def test_what_a_run_came_to_stays_what_it_was_whatever_is_done_in_it(tmp_path: Path, store: Store) -> None:
    place = Place(tmp_path, store)
    log = await place.ran(SALES)
    before = record_of(log, await place.owner.read(log))
    (row,) = listed((await place.owner.query(listing())).rows)
    await place.edit(log, "x / 0", "x / 2")
    now = await place.owner.read(log)
    cell = place.cell(now, "x / 2")
    assert now.cells[cell].after_run and sum(each.after_run for each in now.live_cells) == 1
    await run_again(place, log, cell)
    now = await place.owner.read(log)
    assert now.cells[cell].state == "ok" and now.results["sold"].value == 2
    left = await as_left(place.owner, log)
    assert record_of(log, left) == before
    assert record_of(log, left, now).changed_since == (cell,)
    assert before.outcome.failed_cell is not None and before.outcome.failed_cell.source == "x / 0"
    assert (before.outcome.scraps, before.outcome.cells_executed) == ({"sold": 1}, 1)
    (again,) = listed((await place.owner.query(listing())).rows)
    assert again == row


# ---- To a file


async def test_the_fix_of_a_run_of_a_file_is_proposed_and_accepted_into_the_file(place: Place) -> None:
    log = await place.ran(SALES)
    await place.edit(log, "x / 0", "x / 2")
    made = await place.propose(log, "two of them")
    assert (made.path, made.was_made, made.changes, made.name) == ("sales.py", True, 1, "sales")
    source = await place.owner.read(made.log)
    waiting = source.proposals[made.proposal]
    me = place.owner.identity.actor
    assert waiting.why == f"two of them (fixed in run {log} by {me})"
    (change,) = waiting.changes
    assert isinstance(change, e.SourceEdited) and change.base_hash == source_hash("x / 0")
    async with place.mirroring():
        assert (place.folder / "sales.py").read_text() == SALES, "nobody has said yes"
        await place.accept(made)
        await until(place.folder / "sales.py", FIXED)


async def test_what_is_accepted_before_any_mirror_looks_comes_into_the_file_all_the_same(place: Place) -> None:
    """Rule 13: the file that the notebook was made of is on record, so it is older than the yes."""
    log = await place.ran(SALES)
    await place.edit(log, "x / 0", "x / 2")
    await place.accept(await place.propose(log))
    async with place.mirroring():
        await until(place.folder / "sales.py", FIXED)


async def test_what_is_declined_changes_nothing(place: Place) -> None:
    log = await place.ran(SALES)
    await place.edit(log, "x / 0", "x / 2")
    made = await place.propose(log)
    async with place.mirroring():
        await place.submit(made.log, e.ProposalDeclined(proposal=made.proposal), who=place.other)
        await place.submit(made.log, e.CellAdded(cell=CellId("last"), after=None, source="'later'"))
        await until(place.folder / "sales.py", f"# %%\n'later'\n\n{SALES}")


async def test_all_that_was_done_is_one_proposal_without_the_parameters_that_were_put_in(place: Place) -> None:
    log = await place.ran(SALES, parameters="x = 7")
    now = await place.owner.read(log)
    one, text, last = (place.cell(now, source) for source in ("x = 1", "text", "print(x)"))
    await place.edit(log, "x = 7", "x = 8")
    await place.edit(log, "x / 0", "y = x / 2")
    fourth = place.cell(await place.owner.read(log), "y = x / 2")
    await place.submit(
        log,
        e.CellRemoved(cell=text),
        e.CellAdded(cell=CellId("new"), after=fourth, source="print(y)", tags=("late",)),
        e.CellMoved(cell=last, after=one),
        e.CellNamed(cell=one, name="first"),
    )
    made = await place.propose(log)
    source = await place.owner.read(made.log)
    kinds = sorted(type(change).__name__ for change in source.proposals[made.proposal].changes)
    assert kinds == ["CellAdded", "CellMoved", "CellNamed", "CellRemoved", "SourceEdited"]
    then = await place.accept(made)
    assert sources(then) == ["x = 1", "print(x)", "y = x / 2", "print(y)"]
    assert [cell.tags for cell in then.live_cells][-1] == ("late",)
    assert next(then.live_cells).name == "first"
    assert not any(cell.after_run for cell in then.live_cells)


async def test_a_notebook_that_is_bound_to_the_file_gets_the_proposal_whatever_its_ids(place: Place) -> None:
    book = LogId(new_id())
    await place.submit(book, e.NotebookCreated(name="mine"))
    await place.submit(book, e.FileBound(path="sales.py", format="percent"))
    async with place.mirroring():
        await until_says(place, book, "print(x)")
        # From here on the notebook calls that cell otherwise than a run of the file does.
        (place.folder / "sales.py").write_text(changed := SALES.replace("print(x)", "print(x, 'more')"))
        await until_says(place, book, "print(x, 'more')")
    log = await place.ran(changed)
    await place.edit(log, "print(x, 'more')", "print(x)")
    await place.edit(log, "x / 0", "x / 2")
    made = await place.propose(log)
    assert (made.log, made.was_made, made.changes) == (book, False, 2)
    assert sources(await place.accept(made)) == ["x = 1", "text", "x / 2", "print(x)"]


async def until_says(place: Place, log: LogId, source: str) -> None:
    async with asyncio.timeout(120):
        while source not in sources(await place.owner.read(log)):  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.02)


async def test_an_ipynb_stays_as_it_is_but_for_the_cell_that_was_fixed(place: Place) -> None:
    text = registry.write(registry.read(SALES, "sales.py"), "sales.ipynb").replace(
        '"metadata": {}', '"metadata":  {}', 1
    )
    (place.folder / "sales.ipynb").write_text(text)
    log = await place.ran(text, "sales.ipynb")
    await place.edit(log, "x / 0", "x / 2")
    made = await place.propose(log)
    async with place.mirroring():
        await place.accept(made)
        await until(place.folder / "sales.ipynb", text.replace("x / 0", "x / 2"))


# ---- A source that has moved on


async def test_a_source_that_changed_the_same_cell_is_refused_with_the_difference_and_nothing_is_made(
    place: Place,
) -> None:
    log = await place.ran(SALES)
    await place.edit(log, "x / 0", "x / 2")
    (place.folder / "sales.py").write_text(SALES.replace("x / 0", "x / 0.5"))
    with pytest.raises(Refused, match="by hand") as refused:
        await place.propose(log)
    assert "-x / 0\n+x / 0.5" in refused.value.details["difference"] and "+x / 0.5" in str(refused.value)
    assert await place.owner.logs("notebook") == []


async def test_a_file_that_its_notebook_does_not_know_yet_counts_as_well(place: Place) -> None:
    log = await place.ran(SALES)
    await place.edit(log, "x / 0", "x / 2")
    made = await place.propose(log)
    await place.submit(made.log, e.ProposalWithdrawn(proposal=made.proposal))
    (place.folder / "sales.py").write_text(SALES.replace("x / 0", "x / 0.5"))
    with pytest.raises(Refused, match="by hand"):
        await place.propose(log)
    (place.folder / "sales.py").unlink()
    with pytest.raises(NotFound, match="not in"):
        await place.propose(log)


async def test_a_cell_that_the_source_has_no_more_is_refused(place: Place) -> None:
    log = await place.ran(SALES)
    await place.edit(log, "x / 0", "x / 2")
    (place.folder / "sales.py").write_text(SALES.replace("# %%\nx / 0\n\n", ""))
    with pytest.raises(Refused, match="by hand"):
        await place.propose(log)


async def test_a_source_that_changed_elsewhere_takes_the_fix(place: Place) -> None:
    log = await place.ran(SALES)
    await place.edit(log, "x / 0", "x / 2")
    (place.folder / "sales.py").write_text(SALES.replace("x = 1", "x = 100").replace("# text", "# more text"))
    then = await place.accept(await place.propose(log))
    assert sources(then) == ["x = 100", "more text", "x / 2", "print(x)"]


async def test_a_source_that_changes_between_the_proposal_and_the_yes_refuses_the_yes(place: Place) -> None:
    """Rule 8: a whole text names the hash of what it replaces."""
    log = await place.ran(SALES)
    await place.edit(log, "x / 0", "x / 2")
    made = await place.propose(log)
    await place.edit(made.log, "x / 0", "x / 3")
    with pytest.raises(Refused, match="changed by"):
        await place.accept(made)


async def test_a_source_that_says_it_already_is_told(place: Place) -> None:
    log = await place.ran(SALES)
    await place.edit(log, "x / 0", "x / 2")
    await place.accept(await place.propose(log))
    with pytest.raises(BadInput, match="says already"):
        await place.propose(log)


# ---- What cannot be proposed


async def test_a_run_that_is_as_it_ended_has_nothing_to_propose(place: Place) -> None:
    log = await place.ran(SALES, parameters="x = 7")
    with pytest.raises(BadInput, match="as it ended"):
        await place.propose(log)
    await place.edit(log, "x = 7", "x = 8")
    with pytest.raises(BadInput, match="as it ended"):
        await place.propose(log)
    assert await place.owner.logs("notebook") == []


async def test_a_run_that_goes_on_and_a_notebook_are_told(place: Place) -> None:
    log = LogId(new_id())
    await place.submit(log, e.RunRequested(name="sales", source=RunSource(path="sales.py")))
    with pytest.raises(Refused, match="once it is over"):
        await place.propose(log)
    book = LogId(new_id())
    await place.submit(book, e.NotebookCreated(name="mine"))
    with pytest.raises(NotFound, match="not a run"):
        await place.propose(book)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (RunSource(path="-"), "standard|no file"),
        (RunSource(path="s3://bucket/sales.py"), "no file"),
        (RunSource(), "no notebook"),
        (RunSource(path="gone.py"), "not in"),
        (RunSource(path="../elsewhere.py"), "inside"),
        (RunSource(path="/etc/passwd.py"), "inside"),
        (RunSource(path=".quire/secret.py"), "not a place"),
    ],
)
async def test_a_source_that_is_no_file_of_the_folder_is_told(place: Place, source: RunSource, said: str) -> None:
    (place.folder / ".quire").mkdir()
    (place.folder / ".quire" / "secret.py").write_text(SALES)
    log = await place.ran(SALES, source=source)
    await place.edit(log, "x / 0", "x / 2")
    with pytest.raises((BadInput, NotFound), match=said):
        await place.propose(log)


async def test_where_files_are_left_alone_only_a_bound_notebook_gets_it(place: Place) -> None:
    log = await place.ran(SALES)
    await place.edit(log, "x / 0", "x / 2")
    with pytest.raises(NotFound, match="leaves files alone"):
        await propose(place.owner, None, log)
    made = await place.propose(log)
    await place.submit(made.log, e.ProposalWithdrawn(proposal=made.proposal))
    assert (await propose(place.owner, None, log)).log == made.log


async def test_the_mark_of_a_secret_does_not_go_over_the_secret(place: Place) -> None:
    log = await place.ran(SALES.replace("x / 0", "key = '[secret removed: KEY]'"))
    now = await place.owner.read(log)
    (marked,) = [cell for cell in now.live_cells if has_mark(cell.source)]
    await place.edit(log, marked.source, f"{marked.source} + 'x'")
    with pytest.raises(Refused, match="secret"):
        await place.propose(log)


# ---- A notebook as the source


async def test_the_fix_of_a_run_of_a_notebook_is_proposed_in_its_log(place: Place) -> None:
    book, after = LogId(new_id()), None
    events: list[KnownEvent] = [e.NotebookCreated(name="mine")]
    for cell in registry.read(SALES, "sales.py").cells:
        events.append(added(cell, after))
        after = cell.id
    await place.submit(book, *events)
    log = await place.ran(SALES, source=RunSource(notebook=book, seq=5))
    await place.edit(log, "x / 0", "x / 2")
    made = await place.propose(log)
    assert (made.log, made.path, made.was_made) == (book, None, False)
    assert sources(await place.accept(made))[2] == "x / 2"


# ---- Several at once


async def test_two_who_propose_at_once_make_one_notebook_of_the_file(place: Place) -> None:
    logs = [await place.ran(SALES) for _ in range(2)]
    for log, fix in zip(logs, ("x / 2", "x / 3"), strict=True):
        await place.edit(log, "x / 0", fix)
    first, second = await asyncio.gather(*(place.propose(log) for log in logs))
    assert first.log == second.log and [first.was_made, second.was_made].count(True) == 1
    assert len(await place.owner.logs("notebook")) == 1
    await place.accept(first)
    with pytest.raises(Refused):
        await place.accept(second)


async def test_the_same_asked_for_twice_waits_once(place: Place) -> None:
    log = await place.ran(SALES)
    await place.edit(log, "x / 0", "x / 2")
    made = await place.propose(log)
    with pytest.raises(Conflict, match=made.proposal):
        await place.propose(log)


async def test_a_name_that_is_taken_is_no_obstacle(place: Place) -> None:
    await place.submit(LogId(new_id()), e.NotebookCreated(name="sales"))
    log = await place.ran(SALES)
    await place.edit(log, "x / 0", "x / 2")
    assert (await place.propose(log)).name == "sales.py"
