"""Finding notebooks, runs, cells and notebook files by words; `resolve` has which one somebody means by a name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from ..core.errors import BadInput, Refused, Unavailable
from ..core.events import Display, FileBound, Raised, Stream
from ..core.ids import CellId, LogId, nearest
from ..core.notebook.comments import awaiting
from ..core.notebook.notebook import Cell, Notebook
from ..core.values import Json
from ..core.visible import visible_line
from ..formats.agent_text.render import short_ids
from ..formats.terminal_safe import one_line
from ..workspace.protocol import LogInfo
from .answers.answer import Here, VerbAnswer
from .answers.comment_answer import OPEN_COMMENTS, comments_by_log
from .arguments import FindArguments
from .notebook_walk import notebook_files
from .resolve import NotebookSource, ResolvedName, notebook_named, opened, readable, reading_of

__all__ = ["NotebookSource", "ResolvedName", "find", "notebook_named", "opened", "readable", "reading_of"]

_WIDTH = 240
_MOST_LOGS = 200
"""So many notebooks and runs are searched one by one, for who may not query the workspace."""
_MOST_RUNS = 20
_EXCERPT = 5000
_LONGEST_QUERY = 300


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was found."""

    line: str
    facts: dict[str, Json]


class Hits(msgspec.Struct, kw_only=True):
    """All that was found, by kind."""

    notebook: list[Hit] = []
    run: list[Hit] = []
    cell: list[Hit] = []
    file: list[Hit] = []
    known: list[str] = []
    """The names that there are, for who found nothing."""


async def find(here: Here, wanted: FindArguments) -> VerbAnswer:
    """Return what has all the words of a query in its name, its source or what it showed; without one, what there is."""
    if len(wanted.query) > _LONGEST_QUERY or "\0" in wanted.query:
        raise BadInput(f"A query has at most {_LONGEST_QUERY} characters, and no NUL among them. Look for fewer words.")
    search = _Search(here, wanted)
    hits = await search.hits()
    found = {kind: getattr(hits, kind) for kind in ("notebook", "run", "cell", "file")}
    shown = {kind: each[: wanted.limit] for kind, each in found.items()}
    lines = [hit.line for each in shown.values() for hit in each]
    facts: dict[str, Json] = {f"{kind}s": [hit.facts for hit in each] for kind, each in shown.items() if each}
    if not lines:
        close = nearest(wanted.query, hits.known)
        hint = f" Nearest names: {', '.join(one_line(each) for each in close)}." if close else ""
        return VerbAnswer(
            text=f"Nothing has {wanted.query!r}.{hint}" if wanted.query else "There is nothing yet.", facts=facts
        )
    more = [f"{len(each) - wanted.limit} more {kind}s" for kind, each in found.items() if len(each) > wanted.limit]
    told = [f"… {', '.join(more)}: narrow the query, or raise limit"] if more else []
    return VerbAnswer(text="\n".join([*lines, *told]), facts=facts)


class _Search:
    """A query on its way through a workspace."""

    def __init__(self, here: Here, wanted: FindArguments) -> None:
        self._here, self._wanted = here, wanted
        self._words = wanted.query.lower().split()

    async def hits(self) -> Hits:
        hits = Hits()
        logs = await self._here.workspace.logs()
        notebooks = [info for info in logs if info.kind == "notebook"]
        runs = [info for info in logs if info.kind == "run"]
        hits.known = list(dict.fromkeys(info.name for info in logs))[:1000]
        paths = await self._paths(notebooks)
        if self._wants("notebook"):
            awaits = await self._awaiting()
            hits.notebook = [
                _notebook(info, paths.get(info.log), awaits.get(info.log, 0))
                for info in notebooks
                if self._matches(info, paths)
            ]
        if self._wants("run"):
            hits.run = await self._runs([info for info in runs if self._has(info.name, info.log)])
        if self._wants("cell") and self._words:
            hits.cell = await self._cells({info.log: info for info in logs})
        if self._wants("file") and self._here.may_read_files and self._here.folder is not None:
            files = await asyncio.to_thread(list[str], notebook_files(self._here.folder))
            unbound = [path for path in files if path not in paths.values()]
            hits.known += unbound
            hits.file = [_file(path) for path in unbound if self._has(path)]
        return hits

    def _wants(self, kind: str) -> bool:
        return self._wanted.kind in ("all", kind)

    def _has(self, *texts: str) -> bool:
        """Whether all the words stand in these texts together."""
        text = "\n".join(texts).lower()
        return all(word in text for word in self._words)

    def _matches(self, info: LogInfo, paths: dict[LogId, str]) -> bool:
        is_away = info.archived and not self._words
        return not is_away and self._has(info.name, info.log, paths.get(info.log, ""))

    async def _query(self, sql: str) -> list[tuple[Any, ...]] | None:
        """The rows of an answer; None for who may not query the whole workspace."""
        try:
            return list((await self._here.workspace.query(sql, limit=1000, seconds=10)).rows)
        except (Refused, Unavailable):
            return None

    async def _paths(self, notebooks: Sequence[LogInfo]) -> dict[LogId, str]:
        """The files that notebooks are bound to."""
        rows = await self._query("SELECT log, payload FROM events WHERE type = 'file_bound' ORDER BY log, seq")
        if rows is not None:
            said = {log: msgspec.json.decode(payload).get("path") for log, payload in rows}
            return {log: path for log, path in said.items() if isinstance(path, str)}
        found: dict[LogId, str] = {}
        for info in notebooks[:_MOST_LOGS]:
            bound = await self._here.workspace.entries(info.log, types=("file_bound",))
            event = bound[-1].event if bound else None
            if isinstance(event, FileBound) and event.path is not None:
                found[info.log] = event.path
        return found

    async def _awaiting(self) -> dict[LogId, int]:
        """How many threads of comments await whoever looks, by notebook."""
        said = comments_by_log(await self._query(OPEN_COMMENTS) or ())
        me = self._here.workspace.identity.actor
        return {log: len(list(awaiting(comments, me))) for log, comments in said.items()}

    # ---- Runs

    async def _runs(self, runs: Sequence[LogInfo]) -> list[Hit]:
        said = await self._query("SELECT run, status, finished_at FROM runs ORDER BY requested_at DESC")
        if said is None:
            return [_run(info, *await self._status(info)) for info in runs[:_MOST_RUNS]]
        states = {row[0]: (str(row[1]), row[2]) for row in said}
        return [_run(info, *states.get(info.log, ("", None))) for info in runs]

    async def _status(self, info: LogInfo) -> tuple[str, str | None]:
        run = (await self._here.workspace.read(info.log)).run
        return (run.status, run.finished_at) if run is not None else ("", None)

    # ---- Cells

    async def _cells(self, logs: dict[LogId, LogInfo]) -> list[Hit]:
        rows = await self._query(self._sql())
        if rows is None:
            return await self._cells_one_by_one(list(logs.values()))
        found: list[Hit] = []
        notebooks: dict[LogId, tuple[Notebook, dict[CellId, str]]] = {}
        for log, cell, name, source, state in rows:
            if log in logs and len(found) <= self._wanted.limit and log not in notebooks:
                notebook = await self._here.workspace.read(log)
                notebooks[log] = notebook, short_ids(notebook)
            if log in logs:
                notebook, shorts = notebooks.get(log, (Notebook(), {}))
                short, shown = str(shorts.get(cell, cell)), notebook.cells.get(cell)
                found.append(self._cell(logs[log], cell, short, name, source or "", state, shown))
        return found

    def _sql(self) -> str:
        sources = " AND ".join(f"lower({_SAID}) LIKE {_like(word)} ESCAPE '!'" for word in self._words)
        outputs = " AND ".join(f"lower(o.text) LIKE {_like(word)} ESCAPE '!'" for word in self._words)
        # Nothing of the query but what `_like` quotes; and whoever asks may only read.
        shows = f"EXISTS (SELECT 1 FROM outputs o WHERE o.log = c.log AND o.cell = c.cell AND {outputs})"  # noqa: S608
        wanted = f"({sources}) OR {shows} ORDER BY c.log DESC, c.place"
        return f"SELECT c.log, c.cell, c.name, substr(c.source, 1, {_EXCERPT}), c.state FROM cells c WHERE {wanted}"  # noqa: S608

    async def _cells_one_by_one(self, logs: Sequence[LogInfo]) -> list[Hit]:
        found: list[Hit] = []
        for info in logs[:_MOST_LOGS]:
            if info.kind == "workspace" or len(found) > self._wanted.limit:
                continue
            notebook = await self._here.workspace.read(info.log)
            shorts = short_ids(notebook)
            for cell in notebook.live_cells:
                if self._has(cell.name or "", cell.source) or self._has(*_texts(cell)):
                    short = shorts[cell.id]
                    found.append(self._cell(info, cell.id, short, cell.name, cell.source, cell.state, cell))
        return found

    def _cell(
        self, info: LogInfo, cell: str, short: str, name: str | None, source: str, state: str, shown: Cell | None
    ) -> Hit:
        called = f"{short} {name}" if name and name != short else short
        line = f"cell {called} in {one_line(info.name, 40)} [{info.log[:10]}…] {state} · {self._line(source, visible_line)}"
        # What it showed is often what was looked for: then there is nothing to read any more.
        showed = self._line("\n".join(_texts(shown))) if shown is not None else ""
        line += f" → {showed}" if showed else ""
        return Hit(line=one_line(line, _WIDTH), facts={"notebook": info.log, "cell": cell, "name": name})

    def _line(self, text: str, shown: Callable[[str, int], str] = one_line) -> str:
        """The first line with one of the words, or else the first."""
        lines = [line for line in text.split("\n") if line.strip()]
        said = (line for line in lines if any(word in line.lower() for word in self._words))
        return shown(next(said, lines[0] if lines else ""), 80)


_SAID = "coalesce(c.name, '') || ' ' || c.source"


def _like(word: str) -> str:
    """A text for LIKE that means itself."""
    for special in "!%_":
        word = word.replace(special, f"!{special}")
    quoted = word.replace("'", "''")
    return f"'%{quoted}%'"


def _texts(cell: Cell) -> Iterable[str]:
    for output in cell.execution.outputs if cell.execution is not None else ():
        match output:
            case Stream():
                yield from (output.head, output.tail)
            case Raised():
                yield f"{output.ename} {output.evalue}"
            case Display():
                text = output.data.get("text/plain")
                yield text if isinstance(text, str) else ""


def _notebook(info: LogInfo, path: str | None, awaits: int) -> Hit:
    where = f" {path}" if path is not None else ""
    away = " archived" if info.archived else ""
    line = f"notebook {one_line(info.name, 60)} [{info.log[:10]}…]{where}{away} cursor {info.head.seq}"
    line += f" · {awaits} comment{'s' * (awaits != 1)} to you" if awaits else ""
    facts: dict[str, Json] = {"id": info.log, "name": info.name, "path": path}
    return Hit(line=one_line(line, _WIDTH), facts=facts | ({"comments_to_you": awaits} if awaits else {}))


def _run(info: LogInfo, status: str, finished_at: str | None) -> Hit:
    when = (finished_at or info.created_at)[:16].replace("T", " ")
    line = f"run {one_line(info.name, 60)} [{info.log}] {status} {when}"
    return Hit(line=one_line(line, _WIDTH), facts={"id": info.log, "name": info.name, "status": status})


def _file(path: str) -> Hit:
    return Hit(
        line=one_line(f"file {path} (not open yet: read, edit or run it by its path)", _WIDTH), facts={"path": path}
    )
