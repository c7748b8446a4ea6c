"""Runs as a table: parameters and results as columns of their own types, filtered and sorted where the runs are kept.

All of it is asked of the index, as Quire itself, and cut down to the runs that the bearer may read: the others are neither
listed nor counted, and add no column.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterable
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta

from ...core.column_values import ColumnType
from ...core.errors import Refused
from ...core.ids import ActorId, LogId
from ...core.values import Json
from ...formats.terminal_safe import one_line
from ...runs.records import run_filter
from ...runs.records.run_filter import Position, RunFilter, RunOrder, ValueKind, among
from ...runs.records.run_records import RUNS
from ...workspace.local import LocalWorkspace
from .overview import RunOf, ask_index, shown_status

PAGE_ROWS = 50
MOST_ROWS = 500
MOST_LIVE = 40
"""Runs that are asked about while they go on."""
BARS = 16
_MOST_COLUMNS = 200
_MOST_CHOICES = 50
_MOST_VALUE = 300
"""Characters of a value in a table. The run itself has all of it."""
_WRITTEN_AS_TEXT = ("$date", "$datetime", "$time", "$path", "$int")
_ONGOING = ("queued", "claimed", "running")


class RunColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter or a result that occurs in the runs of a table, whatever is filtered in it."""

    kind: ValueKind
    name: str
    type: ColumnType | str
    """The type of all of its values but none; `mixed` for several."""
    runs: int
    """How many runs have it."""
    varies: bool
    """Whether two runs differ in it."""
    low: float | None
    high: float | None
    bars: tuple[int, ...]
    """How many runs are in each part from `low` to `high`, for results that are numbers; else none."""


class RunSourceChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook or a file that runs are of."""

    notebook: LogId | None
    path: str | None
    name: str
    runs: int


class RunProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is that goes on."""

    done: int
    all: int
    cell: str | None
    """The cell that runs: its name, or its first line."""


class RunAgain(msgspec.Struct, frozen=True, kw_only=True):
    """How to run the same again: by its notebook, or where there is none, by what to type."""

    notebook: LogId | None
    command: str | None


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run, as one row of a table."""

    log: LogId
    name: str
    status: str
    fault: str | None
    """The error that ended it, in one line."""
    at: str
    started_at: str | None
    seconds: float | None
    actor: ActorId
    on_behalf_of: ActorId | None
    source: RunOf
    parameters: dict[str, Json]
    results: dict[str, Json]
    """Values by name; what is long is cut to a text, and of what is in a blob there is its kind."""
    progress: RunProgress | None
    again: RunAgain


class RunTable(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a table of runs. What later pages do not repeat is null there."""

    rows: list[RunRow]
    after: str | None
    """Where the next page begins; null on the last."""
    total: Annotated[int, Meta(ge=0)] | None
    newest: str | None
    """When the newest of all of them was asked for; `seen` of later questions what is new."""
    columns: list[RunColumn] | None
    sources: list[RunSourceChoice] | None
    people: list[ActorId] | None


class RunsLive(msgspec.Struct, frozen=True, kw_only=True):
    """What has become of runs that a table shows, and how many more there are."""

    rows: list[RunRow]
    total: int
    fresh: int
    """Runs that meet the filter and were asked for since."""


async def run_table(
    workspace: LocalWorkspace,
    wanted: RunFilter,
    order: RunOrder,
    *,
    limit: int = PAGE_ROWS,
    after: Position | None = None,
    columns: bool = True,
) -> RunTable:
    """Return a page of the runs that the bearer may read and that meet the filter."""
    files = await workspace.bound_files()
    wanted = _with_file(wanted, files)
    hidden = await _hidden(workspace)
    found = await ask_index(workspace, run_filter.page_sql(wanted, order, limit, hidden=hidden, after=after))
    page = found[:limit]
    rows = await _rows(workspace, [row[0] for row in page], files)
    first = after is None
    scope = run_filter.scope_sql(wanted, hidden=hidden)
    with_columns = first and columns
    return RunTable(
        rows=rows,
        after=_end(page[-1]) if len(found) > limit else None,
        total=(page[0][4] if page else 0) if first else None,
        newest=page[0][5] if first and page else None,
        columns=await _columns(workspace, scope) if with_columns else None,
        sources=await _sources(workspace, hidden) if with_columns else None,
        people=await _people(workspace, scope) if with_columns else None,
    )


def _end(row: tuple[Any, ...]) -> str:
    run, rank, number, text, *_ = row
    return run_filter.write_position(Position(rank, number, text, run))


async def runs_live(workspace: LocalWorkspace, wanted: RunFilter, runs: Collection[LogId], seen: str) -> RunsLive:
    """Return these runs as they are now, and how many others came since."""
    files = await workspace.bound_files()
    hidden = await _hidden(workspace)
    ((total, fresh),) = await ask_index(workspace, run_filter.count_sql(_with_file(wanted, files), seen, hidden=hidden))
    asked = among("r.run", runs)
    mine = await ask_index(workspace, f"SELECT r.run FROM runs r WHERE {asked} AND {hidden or '1 = 1'}")  # noqa: S608 - quoted
    return RunsLive(rows=await _rows(workspace, [run for (run,) in mine], files), total=total, fresh=fresh)


def _with_file(wanted: RunFilter, files: dict[str, LogId]) -> RunFilter:
    file = next((path for path, log in files.items() if log == wanted.notebook), None)
    return msgspec.structs.replace(wanted, file=file)


async def _hidden(workspace: LocalWorkspace) -> str:
    """Return what leaves out the runs that the bearer may not read; nothing for who may read everything."""
    try:
        await workspace.check_query()
        return ""
    except Refused:
        readable = {info.log for info in await workspace.logs("run")}
        return among("r.run", sorted(readable))


# ---- Rows


async def _rows(workspace: LocalWorkspace, runs: list[str], files: dict[str, LogId]) -> list[RunRow]:
    if not runs:
        return []
    found = await ask_index(
        workspace,
        "SELECT run, name, status, ename, evalue, requested_at, started_at, seconds, actor, on_behalf_of, path, notebook,"  # noqa: S608 - quoted
        f" parameters FROM runs r WHERE {among('run', runs)}",
    )
    by_run = {row[0]: row for row in found}
    results = await _results(workspace, runs)
    progress = await _progress(workspace, [row[0] for row in found if row[2] in _ONGOING])
    notebooks = await _notebooks(workspace, {row[11] for row in found if row[11] is not None})
    return [
        _row(by_run[run], results.get(run, {}), progress.get(run), notebooks, files) for run in runs if run in by_run
    ]


def _row(
    row: tuple[Any, ...],
    results: dict[str, Json],
    progress: RunProgress | None,
    notebooks: set[str],
    files: dict[str, LogId],
) -> RunRow:
    run, name, status, ename, evalue, at, started_at, seconds, actor, on_behalf_of, path, notebook, written = row
    parameters: dict[str, Json] = json.loads(written)
    return RunRow(
        log=run,
        name=name,
        status=shown_status(status),
        # Of one that was cancelled, the error is only how the kernel was stopped.
        fault=one_line(f"{ename}: {evalue}" if evalue else ename, _MOST_VALUE)
        if ename and status != "cancelled"
        else None,
        at=at,
        started_at=started_at,
        seconds=seconds,
        actor=actor,
        on_behalf_of=on_behalf_of,
        source=RunOf(path=path, notebook=notebook),
        parameters={name: _short(value) for name, value in parameters.items()},
        results=results,
        progress=progress,
        again=_again(path, notebook, parameters, notebooks, files),
    )


def _again(
    path: str | None, notebook: LogId | None, parameters: dict[str, Json], notebooks: set[str], files: dict[str, LogId]
) -> RunAgain:
    if notebook in notebooks:
        return RunAgain(notebook=notebook, command=None)
    if path is None:
        return RunAgain(notebook=None, command=None)
    bound = files.get(path) or next((log for file, log in files.items() if path.endswith(f"/{file}")), None)
    if bound is not None:
        return RunAgain(notebook=bound, command=None)
    given = [f"-p {shlex.quote(f'{name}={_argument(value)}')}" for name, value in parameters.items()]
    return RunAgain(notebook=None, command=" ".join(["quire run", shlex.quote(path), *given]))


def _argument(value: Json) -> str:
    """A value as `-p` takes it."""
    if isinstance(value, dict):
        tagged = [inner for name, inner in cast("dict[str, Json]", value).items() if name in _WRITTEN_AS_TEXT]
        if len(tagged) == 1 and isinstance(tagged[0], str):
            return tagged[0]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(value: Json) -> Json:
    if isinstance(value, str):
        return value if len(value) <= _MOST_VALUE else value[: _MOST_VALUE - 1] + "…"
    if isinstance(value, list | dict):
        written = json.dumps(value, ensure_ascii=False)
        return cast("Json", value) if len(written) <= _MOST_VALUE else written[: _MOST_VALUE - 1] + "…"
    return value


async def _results(workspace: LocalWorkspace, runs: Collection[str]) -> dict[str, dict[str, Json]]:
    found: dict[str, dict[str, Json]] = {}
    sql = f"SELECT log, name, kind, value, blob FROM results WHERE {among('log', runs)} ORDER BY at"  # noqa: S608 - quoted
    for log, name, kind, value, blob in await ask_index(workspace, sql):
        found.setdefault(log, {})[name] = f"{kind} …" if blob is not None else _short(json.loads(value))
    return found


async def _progress(workspace: LocalWorkspace, runs: Collection[str]) -> dict[str, RunProgress]:
    if not runs:
        return {}
    counts = await ask_index(
        workspace,
        "SELECT log, count(*), sum(CASE WHEN state IN ('never_run', 'queued', 'running') THEN 0 ELSE 1 END) FROM cells"  # noqa: S608 - quoted
        f" WHERE {among('log', runs)} AND {among('kind', RUNS)} GROUP BY log",
    )
    running = await ask_index(
        workspace,
        f"SELECT log, name, source FROM cells WHERE {among('log', runs)} AND state = 'running' ORDER BY log, place",  # noqa: S608 - quoted
    )
    cells = {log: name or one_line(source.strip().partition("\n")[0], 60) for log, name, source in running}
    return {log: RunProgress(done=done, all=all, cell=cells.get(log)) for log, all, done in counts}


async def _notebooks(workspace: LocalWorkspace, logs: set[str]) -> set[str]:
    """Those of these logs that are notebooks which the bearer may read."""
    if not logs:
        return set()
    found = await ask_index(workspace, f"SELECT log FROM notebooks WHERE {among('log', sorted(logs))}")  # noqa: S608 - quoted
    scopes = await workspace.scopes([log for (log,) in found])
    return {log for log, may in scopes.items() if "read" in may}


# ---- What there is to choose from


async def _columns(workspace: LocalWorkspace, scope: str) -> list[RunColumn]:
    of_scope = "" if scope == "1 = 1" else f"AND log IN (SELECT r.run FROM runs r WHERE {scope})"  # noqa: S608 - quoted
    found = await ask_index(
        workspace,
        "SELECT kind, name, count(*), min(type), max(type), min(number), max(number), min(text), max(text)"  # noqa: S608 - quoted
        f" FROM run_values WHERE type <> 'none' {of_scope} GROUP BY kind, name ORDER BY 3 DESC, 1, 2 LIMIT {_MOST_COLUMNS}",
    )
    spans = {
        row[1]: (row[5], row[6])
        for row in found
        if row[0] == "result" and row[3] == row[4] == "number" and _is_span(row[5], row[6])
    }
    bars = await _bars(workspace, spans, of_scope)
    return [
        RunColumn(
            kind=kind,
            name=name,
            type=least_type if least_type == greatest_type else "mixed",
            runs=runs,
            varies=low != high or first != last,
            low=low,
            high=high,
            bars=bars.get(name, ()) if kind == "result" else (),
        )
        for kind, name, runs, least_type, greatest_type, low, high, first, last in found
    ]


def _is_span(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and -1e300 < low < high < 1e300


async def _bars(
    workspace: LocalWorkspace, spans: dict[str, tuple[float, float]], of_scope: str
) -> dict[str, tuple[int, ...]]:
    if not spans:
        return {}
    listed = ", ".join(f"({run_filter.literal(name)}, {low!r}, {high!r})" for name, (low, high) in spans.items())
    part = f"(v.number - s.low) / (s.high - s.low) * {BARS} - 0.5"
    rows = await ask_index(
        workspace,
        f"WITH s(name, low, high) AS (VALUES {listed}) SELECT v.name, CAST(round({part}) AS INTEGER) AS part, count(*)"  # noqa: S608 - quoted
        f" FROM run_values v JOIN s ON s.name = v.name WHERE v.kind = 'result' AND v.number IS NOT NULL {of_scope}"
        " GROUP BY 1, 2",
    )
    counts = {name: [0] * BARS for name in spans}
    for name, number, runs in rows:
        counts[name][max(0, min(BARS - 1, number))] += runs
    return {name: tuple(each) for name, each in counts.items()}


async def _sources(workspace: LocalWorkspace, hidden: str) -> list[RunSourceChoice]:
    rows = await ask_index(
        workspace,
        "SELECT r.notebook, r.path, max(r.name), count(*), max(r.requested_at) FROM runs r"  # noqa: S608 - quoted
        f" WHERE {hidden or '1 = 1'} GROUP BY r.notebook, r.path ORDER BY 5 DESC LIMIT {_MOST_CHOICES}",
    )
    return [
        RunSourceChoice(notebook=None if path is not None else notebook, path=path, name=name, runs=runs)
        for notebook, path, name, runs, _ in rows
    ]


async def _people(workspace: LocalWorkspace, scope: str) -> list[ActorId]:
    rows = await ask_index(
        workspace,
        f"SELECT r.actor, r.on_behalf_of, count(*) FROM runs r WHERE {scope} GROUP BY r.actor, r.on_behalf_of"  # noqa: S608 - quoted
        f" ORDER BY 3 DESC LIMIT {_MOST_CHOICES}",
    )
    return list(dict.fromkeys(_somebody(rows)))


def _somebody(rows: Iterable[tuple[Any, ...]]) -> Iterable[ActorId]:
    for actor, on_behalf_of, _ in rows:
        yield actor
        if on_behalf_of is not None:
            yield on_behalf_of
