"""The table of runs, what changes in it, and two runs side by side."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ....core.ids import ActorId, LogId
from ....runs.records.recorded_environment import packages_of
from ....runs.records.run_comparison import ComparedFacts, compare, facts_of
from ....runs.records.run_filter import RunFilter, read_condition, read_order, read_position
from ....runs.records.run_snapshot import as_left
from ....verbs.overviews import run_table as table
from ....verbs.overviews.run_table import MOST_LIVE, MOST_ROWS, PAGE_ROWS, RunsLive, RunTable
from ....workspace.local import LocalWorkspace
from ....workspace.wire.bodies import Body
from ..auth import Asked
from ..response_stream import while_there
from ..route import WHOLE, Asking, checked, query_of, route

_Word = Annotated[str, Meta(max_length=2000)]


class RunsFiltered(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which runs: those that meet all of it. What is not given is not asked for.

    All lists together are less than the hundred parameters that an address may have.
    """

    status: Annotated[tuple[str, ...], Meta(max_length=10)] = ()
    notebook: LogId | None = None
    source: _Word | None = None
    who: Annotated[tuple[ActorId, ...], Meta(max_length=20)] = ()
    since: Annotated[str, Meta(max_length=50)] | None = None
    until: Annotated[str, Meta(max_length=50)] | None = None
    text: _Word = ""
    where: Annotated[tuple[_Word, ...], Meta(max_length=20, extra=WHOLE)] = ()

    def filter(self) -> RunFilter:
        """The same, read and checked."""
        return RunFilter(
            status=self.status,
            notebook=LogId(checked(self.notebook, "Log")) if self.notebook is not None else None,
            source=self.source,
            who=self.who,
            since=self.since,
            until=self.until,
            text=self.text,
            where=tuple(map(read_condition, self.where)),
        )


class RunTableAsked(RunsFiltered, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which runs, in which order, and which page of them."""

    sort: _Word = "-at"
    after: Annotated[str, Meta(max_length=20_000)] | None = None
    limit: Annotated[int, Meta(ge=1, le=MOST_ROWS)] = PAGE_ROWS
    columns: bool = True


class RunsLiveAsked(RunsFiltered, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A filter, the runs that are shown and go on, and the newest run that is known."""

    runs: Annotated[tuple[LogId, ...], Meta(max_length=MOST_LIVE)] = ()
    seen: Annotated[str, Meta(max_length=50)] = ""


class RunsCompared(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two runs."""

    a: LogId
    b: LogId


@route("GET", "/api/runs/table", "run_table", tag="runs", query=RunTableAsked, answer=RunTable)
async def run_table(request: Asking, workspace: Asked) -> RunTable:
    """A page of the runs that the bearer may read, with parameters and results as columns, filtered and sorted.

    `where` compares a value, and may be given several times: `result.accuracy > 0.9`, `param.month = 2026-10`, with one of
    = != < <= > >= ~ (contains); or `param.top is missing`, `is set`. A name or a text with other characters stands in double
    quotes. `sort` is `at`, `name`, `status`, `who`, `seconds`, `param.NAME` or `result.NAME`, with a minus for the largest first.
    """
    asked = query_of(request, RunTableAsked)
    after = read_position(asked.after) if asked.after is not None else None
    wanted, order = asked.filter(), read_order(asked.sort)
    found = table.run_table(workspace, wanted, order, limit=asked.limit, after=after, columns=asked.columns)
    return await while_there(request, found)


@route("GET", "/api/runs/live", "runs_live", tag="runs", query=RunsLiveAsked, answer=RunsLive)
async def runs_live(request: Asking, workspace: Asked) -> RunsLive:
    """Some runs as they are now, and how many that meet a filter were asked for since: what a table asks while it is shown."""
    asked = query_of(request, RunsLiveAsked)
    runs = [LogId(checked(run, "Log")) for run in asked.runs]
    return await while_there(request, table.runs_live(workspace, asked.filter(), runs, asked.seen))


@route("GET", "/api/runs/compare", "compare_runs", tag="runs", query=RunsCompared, answer=ComparedFacts)
async def compare_runs(request: Asking, workspace: Asked) -> ComparedFacts:
    """Two runs side by side, as they left their notebooks: parameters, results, environment, packages, timing, changes of code.

    `a_seq` and `b_seq` are the numbers at which they left them: `GET /api/diff?a=A@SEQ&b=B@SEQ` compares the cells.
    """
    asked = query_of(request, RunsCompared)
    return await while_there(request, _compared(workspace, *(LogId(checked(run, "Log")) for run in (asked.a, asked.b))))


async def _compared(workspace: LocalWorkspace, a: LogId, b: LogId) -> ComparedFacts:
    old, new = await as_left(workspace, a), await as_left(workspace, b)
    packages = await packages_of(workspace, old), await packages_of(workspace, new)
    return facts_of(compare((a, old), (b, new), packages).comparison)


ROUTES = [run_table, runs_live, compare_runs]
