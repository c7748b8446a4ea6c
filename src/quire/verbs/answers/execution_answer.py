"""How a verb tells what became of executions: one line on top, then the cells; facts for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ...core.events import ProposalMade
from ...core.ids import CellId, LogId
from ...core.notebook.notebook import Execution, Notebook
from ...core.notebook.staleness import stale_cells
from ...core.text import source_hash
from ...core.values import Json
from ...formats.agent_text.excerpt import tokens
from ...formats.agent_text.render import render_cells
from ...formats.agent_text.render_context import short_ids
from ...formats.terminal_safe import one_line
from ..execution_wait import ExecutionResults
from .answer import VerbAnswer


def asked(log: LogId, notebook: Notebook, called: str, made: ProposalMade, seq: int) -> VerbAnswer:
    """What was submitted waits for somebody's yes (rule 3)."""
    wait = call("wait", notebook=called, proposal=made.proposal)
    facts: dict[str, Json] = {"notebook": log, "name": notebook.name, "cursor": seq}
    return VerbAnswer(
        text=f"Proposed as {made.proposal}: somebody has to say yes. {wait}",
        facts=facts | {"proposal": made.proposal, "state": "proposed"},
    )


def told(log: LogId, called: str, found: ExecutionResults, budget: int) -> VerbAnswer:
    """What became of executions that were waited for."""
    text = shown(found.notebook, headline(called, found), found.ran, missed_lines(found), budget)
    return VerbAnswer(text=text, facts=facts_of(log, found))


def shown(notebook: Notebook, first: str, cells: Sequence[CellId], last: Sequence[str], budget: int) -> str:
    """Lines around cells with what they showed, all within a budget."""
    lines = [first, *last]
    while len(lines) > 1 and tokens("\n".join(lines)) >= budget:
        lines.pop()
    left = budget - tokens("\n".join(lines)) - 1
    rendered = render_cells(notebook, cells, left).rstrip("\n") if cells and left > 0 else ""
    return "\n".join([lines[0], *([rendered] if rendered else []), *lines[1:]])


def headline(called: str, found: ExecutionResults) -> str:
    """How it stands, and how to go on."""
    count, cursor = len(found.executions), f"cursor {found.notebook.seq}"
    over = sum(1 for each in found.executions if not each.is_open)
    ids = short_ids(found.notebook)
    go_on = f"{cursor} · {call('wait', notebook=called, since=found.notebook.seq)}"
    match found.state:
        case "done":
            return f"done: {count} ran · {cursor}"
        case "error":
            failed = next(each for each in found.executions if each.state != "ok")
            return f"{failed.state} in {ids.get(failed.cell, failed.cell)}: {len(found.ran)} of {count} ran · {cursor}"
        case "running":
            now = next((ids.get(each.cell, each.cell) for each in found.executions if each.state == "running"), "")
            return f"running {now}: {over} of {count} done · {go_on}"
        case "queued":
            return f"queued{': ' + found.waiting_for if found.waiting_for else ''} · {go_on}"


def missed_lines(found: ExecutionResults) -> list[str]:
    """The cells that did not run, by why."""
    ids, reasons = short_ids(found.notebook), dict[str, list[str]]()
    for each in found.missed:
        reasons.setdefault(one_line(each.why, 200) or each.state, []).append(ids.get(each.cell, each.cell))
    return [f"did not run: {', '.join(cells)} ({why})" for why, cells in reasons.items()]


def facts_of(log: LogId, found: ExecutionResults) -> dict[str, Json]:
    """The same for programs."""
    facts: dict[str, Json] = {
        "notebook": log,
        "name": found.notebook.name,
        "cursor": found.notebook.seq,
        "state": found.state,
        "cells": cell_facts(found.notebook, (each.cell for each in found.executions)),
        "executions": {each.id: _execution(each) for each in found.executions},
    }
    return facts if found.waiting_for is None else facts | {"waiting_for": found.waiting_for}


def _execution(execution: Execution) -> Json:
    fault = execution.fault
    told: dict[str, Json] = {"cell": execution.cell, "state": execution.state}
    return told if fault is None else told | {"ename": fault.ename, "evalue": fault.evalue[:1000]}


def cell_facts(notebook: Notebook, cells: Iterable[CellId]) -> list[Json]:
    """What programs want to know of cells."""
    stale = stale_cells(notebook)
    found = (notebook.cells[id] for id in dict.fromkeys(cells) if id in notebook.cells)
    return [
        {
            "id": cell.id,
            "name": cell.name,
            "hash": source_hash(cell.source),
            "state": cell.state,
            "stale": cell.id in stale,
        }
        for cell in found
    ]


def call(verb: str, **arguments: Json) -> str:
    """A call as an agent would write it."""
    shown = (f"{name}={msgspec.json.encode(value).decode()}" for name, value in arguments.items())
    return f"{verb}({', '.join(shown)})"
