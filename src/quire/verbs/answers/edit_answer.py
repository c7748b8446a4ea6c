"""How a verb tells what became of edits: what changed, with the new hashes, then what ran."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ...core.events import ProposalMade
from ...core.ids import CellId, ExecutionId, LogId
from ...core.notebook.notebook import Notebook
from ...core.values import Json
from ...formats.agent_text.excerpt import QUARTERS, head, tokens
from ...formats.agent_text.render import render_cells
from ...formats.agent_text.render_context import short_ids
from ...formats.terminal_safe import one_line, plain
from ...workspace.wire.bodies import RunProposed
from ..arguments import EditArguments, ProposeArguments
from ..execution_wait import ExecutionResults
from .answer import VerbAnswer
from .execution_answer import asked, call, cell_facts, told

_LEAST = 20
"""Tokens below which no line of a cell is worth asking for."""


class EditOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a batch."""

    log: LogId
    since: int
    """The number of the notebook that it was made for."""
    seq: int
    touched: tuple[CellId, ...]
    changed: tuple[CellId, ...]
    removed: tuple[CellId, ...]
    inserted: tuple[CellId, ...]
    executions: tuple[ExecutionId, ...] = ()
    proposal: ProposalMade | None = None
    only_runs: bool = False
    """Whether the proposal is about the runs alone, and the edit is made."""
    not_run: str = ""
    """Why what was to run was not asked for."""
    unread: dict[CellId, str] = {}
    """The cells that were changed without a hash, and who else had written there last."""
    made: bool = False
    path: str | None = None


def answered(
    wanted: EditArguments, done: EditOutcome, notebook: Notebook, found: ExecutionResults | None
) -> VerbAnswer:
    """What changed, and what became of what was run."""
    if done.proposal is not None and not done.only_runs:
        return asked(done.log, notebook, wanted.notebook, done.proposal, done.seq)
    cursor = f" · cursor {notebook.seq}" if found is None else ""  # else what ran is told with it
    lines = [head(_headline(done, notebook), wanted.budget * QUARTERS // 3) + cursor, *_unread(done, notebook)]
    ran = set(found.ran) if found is not None else set[CellId]()
    rest = [id for id in done.touched if id not in ran and id in notebook.cells]
    left = wanted.budget - tokens("\n".join(lines)) - 1
    lines += _headers(notebook, rest, left // 2 if found is not None else left)
    answer = _rest(wanted, done, notebook, found, wanted.budget - tokens("\n".join(lines)) - 1)
    if answer.text:
        lines.append(answer.text)
    cells = cell_facts(notebook, (*done.touched, *_executed(found)))
    facts = _facts(done, notebook) | answer.facts | {"cells": cells}
    return VerbAnswer(text="\n".join(lines), facts=facts)


def _executed(found: ExecutionResults | None) -> list[CellId]:
    return [each.cell for each in found.executions] if found is not None else []


def _headline(done: EditOutcome, notebook: Notebook) -> str:
    name = one_line(notebook.name, 60)
    if done.made:
        where = f", bound to {plain(done.path)}" if done.path is not None else ""
        return f"made {name} [{done.log}] with {_counted(len(done.inserted), 'cell')}{where}"
    parts = ", ".join(_counts(done, notebook))
    return f"{name}: {parts or 'nothing changed, it says so already'}"


def _unread(done: EditOutcome, notebook: Notebook) -> Iterator[str]:
    """A warning: the hash that comes back is of a text that they may not have seen."""
    if done.unread:
        ids = short_ids(notebook)
        named = ", ".join(f"{ids.get(id, id)} ({one_line(by, 60)})" for id, by in done.unread.items())
        shown = named if len(done.unread) < 3 else f"{len(done.unread)} cells"
        yield f"patched without base where others wrote last: {shown}. Read before you replace the whole."


def _counts(done: EditOutcome, notebook: Notebook) -> Iterator[str]:
    changed = len(set(done.changed) - set(done.inserted))
    if changed:
        yield f"{changed} changed"
    if done.inserted:
        yield f"{len(done.inserted)} inserted"
    other = len(set(done.touched) - set(done.changed) - set(done.inserted))
    if other and done.seq > done.since:
        yield f"{other} moved or labelled"
    if done.removed:
        ids = short_ids(notebook)
        yield f"{len(done.removed)} removed ({', '.join(ids.get(id, id) for id in done.removed[:10])})"


def _headers(notebook: Notebook, cells: list[CellId], budget: int) -> list[str]:
    """One line per cell, as far as they go."""
    if not cells or budget < _LEAST:
        return []
    return [render_cells(notebook, cells, budget, with_outputs=False).rstrip("\n")]


def _rest(
    wanted: EditArguments, done: EditOutcome, notebook: Notebook, found: ExecutionResults | None, budget: int
) -> VerbAnswer:
    """What is to be said beside the edit: of what ran, of what waits for a yes, of what could not be asked for."""
    if found is not None:
        return told(done.log, wanted.notebook, found, max(budget, _LEAST))
    if done.proposal is not None:
        wait = call("wait", notebook=wanted.notebook, proposal=done.proposal.proposal)
        text = f"The run is proposed as {done.proposal.proposal}: somebody has to say yes. {wait}"
        return VerbAnswer(
            text=text, facts={"proposal": done.proposal.proposal, "state": "proposed", "cursor": done.seq}
        )
    if done.not_run:
        return VerbAnswer(text=f"not run: {one_line(done.not_run, 400)}", facts={"not_run": done.not_run})
    return VerbAnswer(text="nothing to run" if wanted.run else "")


def _facts(done: EditOutcome, notebook: Notebook) -> dict[str, Json]:
    facts: dict[str, Json] = {
        "notebook": done.log,
        "name": notebook.name,
        "cursor": notebook.seq,
        "state": "done",
        "inserted": list(done.inserted),
        "removed": list(done.removed),
    }
    if done.made:
        facts["made"] = True
    return facts if done.path is None else facts | {"path": done.path}


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


# ---- Proposals


def answered_proposal(
    log: LogId, wanted: ProposeArguments, notebook: Notebook, made: ProposalMade, seq: int
) -> VerbAnswer:
    """What waits for somebody's yes."""
    parts = [_counted(len(made.changes), "change")] * bool(made.changes)
    parts += [_counted(len(made.effects), "run")] * bool(made.effects)
    answer = asked(log, notebook, wanted.notebook, made, seq)
    facts = answer.facts | {"changes": len(made.changes), "runs": len(made.effects)}
    return VerbAnswer(
        text=f"{answer.text}\n{' and '.join(parts)} in {plain(notebook.name)} · cursor {seq}", facts=facts
    )


def answered_fix(made: RunProposed) -> VerbAnswer:
    """What was fixed in a run waits for a yes in its source."""
    wait = call("wait", notebook=made.log, proposal=made.proposal)
    name = plain(made.path or made.name)
    text = f"Proposed as {made.proposal}: {_counted(made.changes, 'change')} to {name} [{made.log}]. {wait}"
    facts: dict[str, Json] = {
        "notebook": made.log,
        "name": made.name,
        "path": made.path,
        "run": made.run,
        "proposal": made.proposal,
        "changes": made.changes,
        "state": "proposed",
        "cursor": made.seq,
    }
    return VerbAnswer(text=text, facts=facts)
