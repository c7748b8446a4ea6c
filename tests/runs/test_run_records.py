"""What is known of runs, from logs that were written without a kernel: on every kind of store."""

from __future__ import annotations

from typing import Any

import pytest

from quire.core import events as e
from quire.core.errors import NotFound
from quire.core.events import BlobRef, Draft, Fault, KnownEvent, RunSource
from quire.core.ids import CellId, ExecutionId, LogId, RuntimeId
from quire.core.text import source_hash
from quire.core.values import Json
from quire.doors.cli.printer import parameters_text, spent
from quire.formats.value_text import value_text
from quire.runs.records.run_comparison import Comparison, compare
from quire.runs.records.run_records import listed, listing, matches, record_of
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.stores.store import Store
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace


class Place:
    """A workspace in which runs can be written down as they might have gone."""

    def __init__(self, store: Store) -> None:
        self.owner = LocalWorkspace(store, MemoryBlobs())
        self.runtime = self.owner.acting_as(identities.runtime("here"))

    async def submit(self, who: LocalWorkspace, log: LogId, *events: KnownEvent) -> Any:
        return await who.submit(log, [Draft(id=new_id(), event=event) for event in events])

    async def requested(self, *sources: str, **fields: Any) -> LogId:
        log, after = LogId(new_id()), None
        asked: dict[str, Any] = {"name": "sales", "source": RunSource(path="sales.py"), "runtime": "runtime:here"}
        events: list[KnownEvent] = [e.RunRequested(**(asked | fields))]
        for number, source in enumerate(sources):
            events.append(e.CellAdded(cell=CellId(f"c{number}"), after=after, source=source))
            after = CellId(f"c{number}")
        await self.submit(self.owner, log, *events)
        return log

    async def claimed(self, log: LogId) -> int:
        (entry,) = await self.submit(self.runtime, log, e.RunClaimed(runtime=RuntimeId("runtime:here")))
        return entry.event.epoch

    async def finished(
        self, *sources: str, results: dict[str, Json] | None = None, found: dict[str, Json] | None = None, **fields: Any
    ) -> LogId:
        """A run of which every cell was fine."""
        log = await self.requested(*sources, **fields)
        epoch = await self.claimed(log)
        events: list[KnownEvent] = [e.RunStarted(epoch=epoch, environment=found or {})]
        for number, source in enumerate(sources):
            execution, cell = ExecutionId(new_id()), CellId(f"c{number}")
            hash = source_hash(source)
            events.append(e.ExecutionStarted(execution=execution, cell=cell, source_hash=hash, epoch=epoch))
            for name, value in (results or {}).items() if number == 0 else ():
                blob = value if isinstance(value, BlobRef) else None
                kept = None if blob is not None else value
                events.append(
                    e.ResultRecorded(execution=execution, epoch=epoch, name=name, kind="json", value=kept, blob=blob)
                )
            events.append(e.ExecutionFinished(execution=execution, epoch=epoch, status="ok", count=number + 1))
        await self.submit(self.runtime, log, *events, e.RunFinished(epoch=epoch, status="success"))
        return log

    async def compared(self, a: LogId, b: LogId) -> Comparison:
        return compare((a, await self.owner.read(a)), (b, await self.owner.read(b))).comparison


@pytest.fixture
async def place() -> Place:
    return Place(MemoryStore())


# ---- A list


async def test_a_list_is_the_same_on_every_store(store: Store) -> None:
    place = Place(store)
    done = await place.finished("1", "2", parameters={"day": {"$date": "2026-10-01"}})
    queued = await place.requested("1", "2", source=RunSource(path="it's/o'clock.py"))
    running = await place.requested("1")
    await place.claimed(running)

    async def runs(**wanted: Any) -> list[tuple[LogId, str]]:
        answer = await place.owner.query(listing(**wanted))
        return [(each.run, each.status) for each in listed(answer.rows)]

    assert await runs() == [(running, "running"), (queued, "queued"), (done, "success")]
    assert await runs(limit=1) == [(running, "running")]
    assert await runs(status="running") == [(running, "running")]
    assert await runs(status="success") == [(done, "success")]
    assert await runs(source="o'clock.py") == [(queued, "queued")]
    assert await runs(source="/far/sales.py", limit=1) == [(running, "running"), (done, "success")]
    assert await runs(source="%") == []
    (first,) = listed((await place.owner.query(listing(status="success"))).rows)
    assert (first.cells, first.cells_executed, first.by) == (2, 2, place.owner.identity.actor)
    assert first.parameters == {"day": {"$date": "2026-10-01"}}


@pytest.mark.parametrize(
    ("path", "source", "is_one"),
    [
        ("sales.py", "sales.py", True),
        ("sales.py", "/home/ada/sales.py", True),
        ("/home/ada/sales.py", "ada/sales.py", True),
        ("a/sales.py", "b/sales.py", False),
        ("wholesales.py", "sales.py", False),
        (None, "sales.py", False),
        ("sales.py", "", False),
    ],
)
def test_a_file_is_the_same_when_the_shorter_path_ends_the_longer(path: str, source: str, is_one: bool) -> None:
    assert matches(path, source) is is_one


# ---- One


async def test_a_record_tells_who_asked_what_was_resumed_and_what_never_ran(place: Place) -> None:
    earlier = await place.finished("1", "2")
    source = RunSource(path="sales.py", digest="d" * 64, notebook=earlier, seq=7)
    log = await place.requested("1", "2", source=source)
    record = record_of(log, await place.owner.read(log))
    assert (record.outcome.status, record.resumed, record.runtime) == ("queued", earlier, None)
    assert [(cell.state, cell.seconds) for cell in record.cells] == [("never_run", None), ("never_run", None)]
    carried = e.OutputsImported(execution=ExecutionId("x1"), cell=CellId("c0"), source_hash=source_hash("1"), count=1)
    await place.submit(place.owner, log, carried)
    epoch = await place.claimed(log)
    assert record_of(log, await place.owner.read(log)).outcome.status == "running"
    fault = Fault(ename="ResultError", evalue="'sold' is missing")
    skipped = e.ExecutionSkipped(execution=ExecutionId("x2"), cell=CellId("c1"), why="stopped")
    await place.submit(place.runtime, log, skipped, e.RunFinished(epoch=epoch, status="error", fault=fault))
    record = record_of(log, await place.owner.read(log))
    assert (record.outcome.status, record.outcome.failed_cell, record.fault) == ("error", None, fault)
    assert [(cell.state, cell.carried) for cell in record.cells] == [("ok", True), ("skipped", False)]


async def test_a_notebook_is_no_run(place: Place) -> None:
    log = LogId(new_id())
    await place.submit(place.owner, log, e.NotebookCreated(name="plain"))
    with pytest.raises(NotFound, match="'plain' is a notebook, not a run"):
        record_of(log, await place.owner.read(log))


# ---- Two


async def test_another_environment_and_another_time_are_shown_and_are_no_difference(place: Place) -> None:
    a = await place.finished("1", results={"x": 1}, found={"interpreter": "/a/python", "kernel_id": "k1"})
    b = await place.finished("1", results={"x": 1}, found={"interpreter": "/b/python", "kernel_id": "k2"})
    found = await place.compared(a, b)
    assert found.same
    assert [name for name, pair in found.environment.items() if not pair.same] == ["interpreter"]
    assert [(pair.a_number, pair.b_number) for pair in found.timing] == [(1, 1)]
    assert all(pair.a_seconds is not None and pair.b_seconds is not None for pair in found.timing)


async def test_results_are_the_same_when_they_say_the_same(place: Place) -> None:
    blob, other = (BlobRef(hash=digit * 64, size=9, media="image/png") for digit in "12")
    nan: Json = {"$float": "nan"}
    a = await place.finished("1", results={"nan": nan, "one": 1, "plot": blob, "changed": blob, "gone": 0})
    b = await place.finished("1", results={"nan": nan, "one": 1.0, "plot": blob, "changed": other, "new": None})
    found = await place.compared(a, b)
    assert {name: pair.same for name, pair in found.results.items()} == {
        "nan": True,
        "one": False,
        "plot": True,
        "changed": False,
        "gone": False,
        "new": False,
    }


async def test_sources_are_compared_by_cell_unless_the_file_was_the_same(place: Place) -> None:
    a = await place.finished("x = 1", "print(x)")
    b = await place.finished("x = 2", "print(x)")
    assert [type(each).__name__ for each in (await place.compared(a, b)).sources] == ["SourceEditedOp"]
    # A value of a parameter stands in the text: the file is the same.
    one = RunSource(path="sales.md", digest="d" * 64)
    a, b = await place.finished("# May", source=one), await place.finished("# June", source=one)
    found = await place.compared(a, b)
    assert (found.sources, found.same) == ((), True)


# ---- In words


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, ""),
        (0, "0.00 s"),
        (1.234, "1.23 s"),
        (59.96, "60.0 s"),
        (60, "1 min 00 s"),
        (125.4, "2 min 05 s"),
        (7800, "2 h 10 min"),
    ],
)
def test_durations_are_as_exact_as_people_need_them(seconds: float | None, said: str) -> None:
    assert spent(seconds) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("2026-10", "2026-10"),
        ("two words\n", r'"two words\n"'),
        ("", '""'),
        (True, "true"),
        ({"$date": "2026-10-01"}, "2026-10-01"),
        ({"$float": "nan"}, "nan"),
        ({"$int": "9" * 20}, "9" * 20),
        ({"$tuple": [1, "a b"]}, '[1, "a b"]'),
        ({"$bytes": "AAAA"}, "[3 bytes]"),
        ({"a": [None, {"b": 1.5}]}, "{a: [null, {b: 1.5}]}"),
        ({"blob": "ab" * 32, "media": "image/png"}, "[image/png, blob abababababab]"),
    ],
)
def test_values_read_as_a_person_would_write_them(value: Json, said: str) -> None:
    assert value_text(value) == said
    assert parameters_text({"x": value}) == f"x={said}"


def test_a_value_that_is_nested_without_end_is_cut() -> None:
    deep: Json = 1
    for _ in range(5000):
        deep = [deep]
    assert value_text(deep) == "[[[[[[[[…]]]]]]]]"
