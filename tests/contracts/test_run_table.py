"""The table of runs on every store: filtered by typed values, sorted, in pages, and without what the bearer may not read."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pytest

from quire.core import events as e
from quire.core.errors import BadInput
from quire.core.events import Draft
from quire.core.ids import WORKSPACE_LOG, ActorId, LogId
from quire.runs.records.run_filter import RunFilter, read_condition, read_order, read_position
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.store import Store
from quire.verbs.overviews.run_table import RunTable, run_table, runs_live
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

from ..run_logs import RunLog, run_append

HUGE = 2**70
BOB = ActorId("human:bob")
RUNS = [
    RunLog(log=LogId("r1"), minute=1, parameters={"top": 5, "month": "2026-09"}, results={"accuracy": 0.5}),
    RunLog(
        log=LogId("r2"), minute=2, parameters={"top": 10, "month": "2026-10"}, results={"accuracy": 0.95}, seconds=2
    ),
    RunLog(log=LogId("r3"), minute=3, parameters={"top": "many"}, results={"accuracy": math.nan}, status="error"),
    RunLog(log=LogId("r4"), minute=4, parameters={"top": None, "fast": True}, results={"size": HUGE}),
    RunLog(
        log=LogId("r5"), minute=5, parameters={"fast": False, "day": dt.date(2026, 3, 1)}, results={"size": HUGE + 1}
    ),
    RunLog(
        log=LogId("r6"),
        minute=6,
        name="it's; DROP TABLE",
        path="other/it's.py",
        parameters={"top": [1, 2], "day": dt.datetime(2026, 3, 2, 6, tzinfo=dt.UTC)},
        results={"a b": 'x"%_'},
        actor=BOB,
        on_behalf_of=ActorId("human:grace"),
        status="running",
        cells=3,
    ),
]


@pytest.fixture
async def workspace(store: Store) -> LocalWorkspace:
    await store.append([run_append(run) for run in RUNS])
    return LocalWorkspace(store, MemoryBlobs(), identities.owner())


async def names(workspace: LocalWorkspace, *where: str, sort: str = "at", **wanted: Any) -> list[str]:
    conditions = tuple(map(read_condition, where))
    found = await run_table(workspace, RunFilter(where=conditions, **wanted), read_order(sort), columns=False)
    assert found.total == len(found.rows)
    return [row.log for row in found.rows]


async def test_values_are_compared_as_what_they_are(workspace: LocalWorkspace) -> None:
    for condition, expected in {
        "param.top > 5": ["r2"],
        "param.top >= 5": ["r1", "r2"],
        "param.top = 5": ["r1"],
        "param.top = 5.0": ["r1"],
        'param.top = "5"': [],
        "param.top != 5": ["r2", "r3", "r4", "r6"],
        "param.top = many": ["r3"],
        "param.top > a": ["r3"],
        "param.top = null": ["r4"],
        "param.top is missing": ["r5"],
        "param.top is set": ["r1", "r2", "r3", "r4", "r6"],
        "param.top ~ AN": ["r3"],
        "param.top ~ [1": ["r6"],
        "param.month = 2026-10": ["r2"],
        "param.month < 2026-10": ["r1"],
        "result.accuracy > 0.9": ["r2"],
        "result.accuracy = nan": ["r3"],
        "result.accuracy < 1e400": ["r1", "r2"],
        "param.fast = true": ["r4"],
        "param.fast = false": ["r5"],
        "param.fast = 1": [],
        f"result.size = {HUGE}": ["r4"],
        f"result.size > {HUGE - 2**60}": ["r4", "r5"],
        "param.day = 2026-03-01": ["r5"],
        "param.day = 2026-03-02": ["r6"],
        "param.day > 2026-03-01": ["r6"],
        "param.day = 2026-03-02T08:00:00+02:00": ["r6"],
        'result."a b" ~ "%_"': [],
        "result.nothing = 1": [],
    }.items():
        assert await names(workspace, condition) == expected, condition


async def test_several_conditions_all_hold(workspace: LocalWorkspace) -> None:
    assert await names(workspace, "param.top > 1", "result.accuracy < 0.9") == ["r1"]


async def test_runs_are_filtered_by_status_source_person_time_and_words(workspace: LocalWorkspace) -> None:
    assert await names(workspace, status=("error",)) == ["r3"]
    assert await names(workspace, status=("running", "error")) == ["r3", "r6"]
    assert await names(workspace, source="other/it's.py") == ["r6"]
    assert await names(workspace, who=(BOB,)) == ["r6"]
    assert await names(workspace, who=(ActorId("human:grace"),)) == ["r6"], "for whom counts as well"
    assert await names(workspace, since="2026-01-01T00:04", until="2026-01-01T00:06") == ["r4", "r5"]
    assert await names(workspace, text="MANY keyerror") == ["r3"], "a value and an error"
    assert await names(workspace, text="bob it's") == ["r6"]
    assert await names(workspace, text="2026-09") == ["r1"]
    with pytest.raises(BadInput, match="No run has the status 'failed'"):
        await names(workspace, status=("failed",))


async def test_a_column_of_mixed_types_sorts_numbers_first_and_what_is_missing_last(workspace: LocalWorkspace) -> None:
    assert await names(workspace, sort="param.top") == ["r1", "r2", "r3", "r6", "r4", "r5"]
    assert await names(workspace, sort="-param.top") == ["r2", "r1", "r3", "r6", "r4", "r5"]
    assert (await names(workspace, sort="-result.accuracy"))[:3] == ["r2", "r1", "r3"], "NaN after numbers"
    assert (await names(workspace, sort="param.day"))[:2] == ["r5", "r6"]
    assert await names(workspace, sort="seconds") == ["r2", "r1", "r3", "r4", "r5", "r6"]
    assert await names(workspace, sort="-at") == ["r6", "r5", "r4", "r3", "r2", "r1"]
    with pytest.raises(BadInput, match="cannot be sorted by 'payload'"):
        read_order("payload")


async def test_pages_follow_one_another_without_gap_or_repetition(workspace: LocalWorkspace) -> None:
    for sort in ("-at", "param.top", "-param.top", "seconds", "-result.accuracy", "name", "-who", "status"):
        order = read_order(sort)
        whole = await names(workspace, sort=sort)
        page, seen = await run_table(workspace, RunFilter(), order, limit=2), list[str]()
        assert page.total == 6
        while True:
            seen += [row.log for row in page.rows]
            if page.after is None:
                break
            page = await run_table(workspace, RunFilter(), order, limit=2, after=read_position(page.after))
            assert (page.total, page.columns) == (None, None)
        assert seen == whole, sort
    for wrong in ("x", "e30", "WzFd"):
        with pytest.raises(BadInput, match="not the end of a page"):
            read_position(wrong)


async def test_columns_have_the_types_that_occur(workspace: LocalWorkspace) -> None:
    found = await run_table(workspace, RunFilter(), read_order("-at"))
    assert found.columns is not None
    columns = {f"{column.kind}.{column.name}": column for column in found.columns}
    types = {name: column.type for name, column in columns.items()}
    assert types == {
        "parameter.top": "mixed",
        "parameter.month": "text",
        "parameter.fast": "boolean",
        "parameter.day": "date",
        "result.accuracy": "number",
        "result.size": "number",
    }, "a run that goes on has no results yet"
    accuracy = columns["result.accuracy"]
    assert (accuracy.low, accuracy.high, accuracy.runs, accuracy.varies) == (0.5, 0.95, 3, True)
    assert (accuracy.bars[0], accuracy.bars[-1], sum(accuracy.bars)) == (1, 1, 2)
    assert found.people == [ActorId("human:ada"), BOB, ActorId("human:grace")]


async def test_rows_have_values_progress_and_a_way_to_run_again(workspace: LocalWorkspace) -> None:
    first = {row.log: row for row in (await run_table(workspace, RunFilter(), read_order("-at"))).rows}
    going = first[LogId("r6")]
    assert going.progress is not None
    assert (going.status, going.progress.done, going.progress.all) == ("running", 0, 3)
    assert going.progress.cell == "train(month)"
    assert going.again.command == """quire run 'other/it'"'"'s.py' -p 'top=[1, 2]' -p day=2026-03-02T06:00:00+00:00"""
    assert first[LogId("r5")].parameters == {"fast": False, "day": {"$date": "2026-03-01"}}
    assert first[LogId("r5")].results == {"size": {"$int": str(HUGE + 1)}}
    assert first[LogId("r3")].fault == "KeyError: region"


async def test_what_is_written_into_a_filter_stays_a_value(workspace: LocalWorkspace) -> None:
    attacks = [
        "' OR 1=1 --",
        "'; DROP TABLE runs; --",
        '" OR ""=',
        "%",
        "_",
        "\\",
        "!",
        "\0",
        "$1",
        ") UNION SELECT 1",
    ]
    for attack in attacks:
        assert await names(workspace, f"param.month = {attack}") == [], attack
        assert await names(workspace, source=attack) == [], attack
        assert await names(workspace, who=(ActorId(attack),)) == [], attack
        assert await names(workspace, since=f"9{attack}") == [], attack
    assert await names(workspace, text="%") == []
    assert await names(workspace, text="_") == []
    quoted = await names(workspace, "result.\"x' OR '1'='1\" is missing", sort='-result."x\' DESC; --"')
    assert len(quoted) == 6
    with pytest.raises(BadInput, match="half a surrogate pair"):
        await names(workspace, "param.month = \ud800")
    for wrong in ("month = 5", "param.month", "param.month = ", "param. = 5", "param.a is set 5", 'param."a = 5', ""):
        with pytest.raises(BadInput, match="Condition"):
            read_condition(wrong)


async def test_runs_that_the_bearer_may_not_read_are_neither_listed_nor_counted_and_add_no_column(
    workspace: LocalWorkspace, store: Store
) -> None:
    closed, open_ = LogId("closed"), LogId("open")
    for log in (closed, open_):
        await workspace.submit(log, [Draft(id=new_id(), event=e.NotebookCreated(name=log))])
    await store.append(
        [
            run_append(RunLog(log=LogId("r7"), minute=7, path=None, notebook=closed, results={"secret": 1})),
            run_append(RunLog(log=LogId("r8"), minute=8, path=None, notebook=open_, results={"shown": 1})),
        ]
    )
    await workspace.submit(
        WORKSPACE_LOG,
        [Draft(id=new_id(), event=e.RoleSet(actor=ActorId("human:ada"), role="owner", notebook=closed))],
    )
    token = await workspace.create_token(BOB, ["read"])
    bob = await workspace.bearer(token.secret)
    hers = await run_table(workspace, RunFilter(), read_order("-at"))
    his = await run_table(bob, RunFilter(), read_order("-at"))
    assert (hers.total, his.total) == (8, 7)
    assert [row.log for row in his.rows] == ["r8", "r6", "r5", "r4", "r3", "r2", "r1"]
    assert _results(his) == {"accuracy", "size", "shown"}
    assert [source.notebook for source in his.sources or ()] == [open_, None, None]
    assert his.rows[0].again.notebook == open_
    live = await runs_live(bob, RunFilter(), [LogId("r7"), LogId("r8")], seen="2026-01-01T00:05:30")
    assert ([row.log for row in live.rows], live.total, live.fresh) == (["r8"], 7, 2)
    only = await workspace.bearer((await workspace.create_token(BOB, ["read"], notebooks=[open_])).secret)
    assert (await run_table(only, RunFilter(), read_order("-at"))).total == 1


def _results(table: RunTable) -> set[str]:
    return {column.name for column in table.columns or () if column.kind == "result"}


async def test_the_runs_of_a_notebook_are_those_of_its_file_as_well(workspace: LocalWorkspace, store: Store) -> None:
    book = LogId("book")
    drafts = [e.NotebookCreated(name="train"), e.FileBound(path="train.py")]
    await workspace.submit(book, [Draft(id=new_id(), event=event) for event in drafts])
    schedule = ActorId("schedule:nightly")
    await store.append(
        [
            run_append(RunLog(log=LogId("r7"), minute=7, path=None, notebook=book, actor=schedule)),
            run_append(RunLog(log=LogId("r8"), minute=8, path="/home/ada/train.py")),
            run_append(RunLog(log=LogId("r9"), minute=9, path="/home/ada/retrain.py")),
        ]
    )
    assert await names(workspace, notebook=book) == ["r1", "r2", "r3", "r4", "r5", "r7", "r8"]
    found = await run_table(workspace, RunFilter(notebook=book), read_order("-at"))
    assert {row.log: row.actor for row in found.rows}[LogId("r7")] == schedule
    assert {row.again.notebook for row in found.rows} == {book}


async def test_the_index_says_what_runs_sort_by(workspace: LocalWorkspace) -> None:
    sql = "SELECT log, type, number, text FROM run_values WHERE kind = 'parameter' AND name = 'top' ORDER BY log"
    assert list((await workspace.query(sql)).rows) == [
        ("r1", "number", 5.0, "5"),
        ("r2", "number", 10.0, "10"),
        ("r3", "text", None, "many"),
        ("r4", "none", None, ""),
        ("r6", "other", None, "[1,2]"),
    ]
