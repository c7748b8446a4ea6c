"""A logbook done step by step on a terminal: each step is shown, and a person runs, changes, skips or answers it."""

from __future__ import annotations

from pathlib import Path

import click

from ....core.errors import QuireError
from ....core.events import Draft, ExecutionRequested, KnownEvent, SourceEdited
from ....core.ids import ExecutionId, LogId
from ....core.notebook.logbook_record import LogbookStep, StepAnswer
from ....core.notebook.notebook import Notebook
from ....core.text import source_hash
from ....core.visible import visible
from ....formats.terminal_safe import plain
from ....logbooks.export_file import write_export
from ....logbooks.step_run import answer_event, next_step
from ....workspace.clock import new_id
from ....workspace.protocol import Workspace
from ..notebook.execute_verb import run_and_show

_CODE = "[r]un, [e]dit, [s]kip or [q]uit"
_PROSE = "[d]one, [s]kip or [q]uit"


async def work_through(workspace: Workspace, log: LogId, root: Path) -> bool:
    """Go through the steps until all are answered, or the person stops; return whether all are."""
    while (step := next_step(now := await workspace.read(log))) is not None:
        _show(step, now)
        asks = _CODE if step.kind == "code" else _PROSE
        chosen = click.prompt(
            asks, default=asks[1], show_default=False, err=True, type=click.Choice(list(_letters(asks)))
        )
        if chosen == "q":
            return False
        try:
            await _do(workspace, log, now, step, chosen)
        except QuireError as error:
            click.echo(f"quire: {plain(str(error))}", err=True)
        await write_export(workspace, log, root)
    return True


def _letters(asks: str) -> str:
    return "".join(asks[place + 1] for place, char in enumerate(asks) if char == "[")


def _show(step: LogbookStep, now: Notebook) -> None:
    click.echo(f"\nstep {step.number}, {step.kind}", err=True)
    for line in visible(now.cells[step.cell].source).split("\n"):
        click.echo(f"  {line}", err=True)


async def _do(workspace: Workspace, log: LogId, now: Notebook, step: LogbookStep, chosen: str) -> None:
    match chosen:
        case "r":
            await _run(workspace, log, step, now.cells[step.cell].source)
        case "e":
            await _edit(workspace, log, now, step)
        case "s":
            await _answer(workspace, log, now, step, "skipped", why=_typed("Why is it skipped?"))
        case _:
            did, evidence = _typed("What was done?"), _typed("What shows it? (may be empty)", needed=False)
            await _answer(workspace, log, now, step, "done", did=did, evidence=evidence)


async def _run(workspace: Workspace, log: LogId, step: LogbookStep, source: str) -> None:
    asked = ExecutionRequested(execution=ExecutionId(new_id()), cell=step.cell, source_hash=source_hash(source))
    if await run_and_show(workspace, log, asked):
        return
    if click.confirm("It failed. Try it again, changed or as it is?", default=True, err=True):
        await _edit(workspace, log, await workspace.read(log), step)


async def _edit(workspace: Workspace, log: LogId, now: Notebook, step: LogbookStep) -> None:
    source = now.cells[step.cell].source
    text = (click.edit(source) or source).removesuffix("\n")
    if text != source:
        why = _typed("Why is it changed?")
        changed = SourceEdited(cell=step.cell, text=text, base_hash=source_hash(source))
        await _submit(workspace, log, changed, answer_event(now, step.cell, None, why))
    await _run(workspace, log, step, text)


async def _answer(
    workspace: Workspace, log: LogId, now: Notebook, step: LogbookStep, answer: StepAnswer, **said: str
) -> None:
    await _submit(workspace, log, answer_event(now, step.cell, answer, **said))


async def _submit(workspace: Workspace, log: LogId, *events: KnownEvent) -> None:
    await workspace.submit(log, [Draft(id=new_id(), event=event) for event in events])


def _typed(question: str, *, needed: bool = True) -> str:
    return click.prompt(question, default=None if needed else "", show_default=False, err=True, type=str)
