"""Finding text over all notebooks and runs: in their names, in what cells say, and in what they showed last."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

import msgspec
from msgspec.structs import replace

from ...core.errors import BadInput
from ...core.ids import CellId, LogId
from ...formats.terminal_safe import one_line
from ...workspace.identity import identities
from ...workspace.local import LocalWorkspace
from ...workspace.protocol import LogInfo
from .overview import quoted, shown_status

MOST_HITS = 100
MOST_WORDS = 20
LONGEST_TEXT = 300
_ROWS = 2000
"""So many rows of each kind are read: some may be hidden from the bearer."""
_RUNS_LAST = "log IN (SELECT run FROM runs)"
_WIDTH = 200
_SECONDS = 10


class FoundRun(msgspec.Struct, frozen=True, kw_only=True):
    """The run in which something was found."""

    status: str
    """`queued`, `running`, or how it ended."""
    at: str
    """When it was asked for."""


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """A place where all words were found."""

    log: LogId
    name: str
    """Of the notebook, or of what the run is of."""
    run: FoundRun | None
    """Of a run; null for a notebook."""
    cell: CellId | None
    where: Literal["name", "source", "output"]
    text: str
    """The first line with one of the words."""


async def search_text(workspace: LocalWorkspace, text: str) -> list[SearchHit]:
    """Return where all words of `text` stand together: names first, then sources, then outputs; the newest log first.

    What is in notebooks comes before what is in runs: of one notebook there can be many that say the same.
    """
    if len(text) > LONGEST_TEXT or "\0" in text:
        raise BadInput(f"A search has at most {LONGEST_TEXT} characters, and no NUL among them. Use fewer words.")
    words = text.lower().split()[:MOST_WORDS]
    if not words:
        return []
    logs = {info.log: info for info in await workspace.logs() if info.kind in ("notebook", "run")}
    found = [
        SearchHit(log=log, name=info.name, run=None, cell=None, where="name", text=one_line(info.name, _WIDTH))
        for log, info in logs.items()
        if all(word in info.name.lower() for word in words)
    ]
    system = workspace.acting_as(identities.system())
    sources = await system.query(_source_query(words), limit=_ROWS, seconds=_SECONDS)
    outputs = await system.query(_output_query(words), limit=_ROWS, seconds=_SECONDS)
    found += _hits("source", sources.rows, logs, words)
    found += _hits("output", outputs.rows, logs, words)
    found.sort(key=lambda hit: logs[hit.log].kind == "run")
    return await _with_runs(system, found[:MOST_HITS], logs)


def _hits(
    where: Literal["source", "output"], rows: Iterable[Collection[str]], logs: dict[LogId, LogInfo], words: list[str]
) -> Iterable[SearchHit]:
    seen: set[tuple[str, str]] = set()
    for log, cell, text in rows:
        if (info := logs.get(LogId(log))) is not None and (log, cell) not in seen:
            seen.add((log, cell))
            line = one_line(_line(text, words), _WIDTH)
            yield SearchHit(log=info.log, name=info.name, run=None, cell=CellId(cell), where=where, text=line)


async def _with_runs(system: LocalWorkspace, hits: list[SearchHit], logs: dict[LogId, LogInfo]) -> list[SearchHit]:
    """Say of each run how it ended and when it was asked for."""
    runs = {
        hit.log: FoundRun(status="queued", at=logs[hit.log].created_at) for hit in hits if logs[hit.log].kind == "run"
    }
    if runs:
        among = ", ".join(quoted(log) for log in runs)
        sql = f"SELECT run, status, requested_at FROM runs WHERE run IN ({among})"  # noqa: S608 - quoted
        for log, status, at in (await system.query(sql, limit=MOST_HITS, seconds=_SECONDS)).rows:
            runs[log] = FoundRun(status=shown_status(status), at=at)
    return [replace(hit, run=runs.get(hit.log)) for hit in hits]


def _line(text: str, words: list[str]) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in lines if any(word in line.lower() for word in words)), lines[0] if lines else "")


def _source_query(words: list[str]) -> str:
    wanted = " AND ".join(f"lower(coalesce(name, '') || ' ' || source) LIKE {_like(word)} ESCAPE '!'" for word in words)
    return f"SELECT log, cell, coalesce(name, '') || '\n' || source FROM cells WHERE {wanted} ORDER BY {_RUNS_LAST}, log DESC, place"  # noqa: S608 - quoted


def _output_query(words: list[str]) -> str:
    wanted = " AND ".join(f"lower(o.text) LIKE {_like(word)} ESCAPE '!'" for word in words)
    last = (
        "SELECT x.execution FROM executions x WHERE x.log = o.log AND x.cell = o.cell AND x.started_at IS NOT NULL"
        " ORDER BY x.started_at DESC LIMIT 1"
    )
    return (
        "SELECT o.log, o.cell, o.text FROM outputs o JOIN cells c ON c.log = o.log AND c.cell = o.cell"  # noqa: S608 - quoted
        f" WHERE {wanted} AND o.execution = ({last}) ORDER BY o.{_RUNS_LAST}, o.log DESC, c.place"
    )


def _like(word: str) -> str:
    """A pattern for LIKE that means the word itself."""
    for special in "!%_":
        word = word.replace(special, f"!{special}")
    return "'%" + word.replace("'", "''") + "%'"
