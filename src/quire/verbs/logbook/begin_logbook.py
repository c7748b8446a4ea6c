"""Beginning a logbook that an agent does step by step; and its file, which follows each of the agent's calls."""

from __future__ import annotations

import contextlib
import datetime as dt
from pathlib import Path

from ...core.errors import QuireError, Refused
from ...core.ids import LogId
from ...core.notebook.logbook_record import logbook_of, steps_of, tally_of
from ...core.notebook.notebook import Notebook
from ...core.values import Json
from ...formats.agent_text import render
from ...logbooks.export_file import write_export
from ...logbooks.run_request import LogbookRequest
from ...logbooks.step_run import begin_steps, next_step, unsaid
from ...logbooks.template_files import find_root, find_template, path_from, read_template
from ...workspace.identity.identities import check_scope
from ..answers.answer import Here, VerbAnswer
from ..arguments import RunArguments

_HOW = (
    "Do its steps from top to bottom: run code as it is (run, cells=[…]); to change a step, patch it and say `why` with "
    '{"op": "step"}; prose: do what it says, then {"op": "step", "answer": "done", "did": …, "evidence": …}; skip or fail '
    "only with `why`. The rest of the record is made for you."
)


async def begin_logbook(here: Here, wanted: RunArguments) -> VerbAnswer:
    """Lay out a template, found by its name or path, and say how it is worked through."""
    folder = _folder(here)
    root = find_root(folder, folder)
    template = read_template(root, find_template(root, wanted.notebook))
    request = LogbookRequest(
        template=template,
        root=root,
        values=wanted.parameters or {},
        request=wanted.request or "",
        sources=wanted.sources,
        approve=wanted.approve,
    )
    made = await begin_steps(here.workspace, request, dt.datetime.now().astimezone())
    now = await here.workspace.read(made.log)
    await here.at(made.log, "running")
    outline = render.render(made.log, now, view="source", budget=wanted.budget, reader=here.workspace.identity.actor)
    file = path_from(root, made.file)
    text = f"began {made.name}; its file is {file}. {_HOW}\n{outline}"
    return VerbAnswer(text=text, facts={"notebook": made.log, "file": file} | logbook_facts(now))


def _folder(here: Here) -> Path:
    identity = here.workspace.identity
    for scope in ("edit", "run"):
        check_scope(identity, scope)
    if here.folder is None or not here.may_read_files:
        raise Refused(
            "No logbook can be begun from here: files are left alone. Ask a person: quire logbook run TEMPLATE --step-by-step."
        )
    return here.folder


async def after_call(here: Here, log: LogId, answer: VerbAnswer) -> VerbAnswer:
    """Rewrite the file of a logbook after a call that may have changed it, and say what is to do next."""
    now = await here.workspace.read(log)
    mark = logbook_of(now)
    if mark is None or now.run is not None:
        return answer
    root = find_root(here.folder, here.folder) if here.folder is not None else None
    if root is not None and (root / mark.template).is_file():
        with contextlib.suppress(QuireError, OSError):  # the log has it all, and the next call writes it again
            await write_export(here.workspace, log, root, now)
    return VerbAnswer(
        text=f"{answer.text}\n{_next_line(now)}", facts=answer.facts | logbook_facts(now), pictures=answer.pictures
    )


def _next_line(now: Notebook) -> str:
    silent = unsaid(now)
    asks = f' Say why of {", ".join(step.cell[:4] for step in silent[:5])}: {{"op": "step"}}.' if silent else ""
    step = next_step(now)
    if step is None:
        tally = tally_of(steps_of(now))
        return f"logbook: every step is answered, {tally.deviated} deviated, {tally.skipped} skipped, {tally.failed} failed.{asks}"
    return f"logbook: next is step {step.number}, {step.kind} {step.cell}.{asks}"


def logbook_facts(now: Notebook) -> dict[str, Json]:
    """How far a logbook is, for programs."""
    tally, step = tally_of(steps_of(now)), next_step(now)
    counts: dict[str, Json] = {
        "steps": tally.steps,
        "open": tally.open,
        "deviated": tally.deviated,
        "skipped": tally.skipped,
        "failed": tally.failed,
        "next": step.cell if step is not None else None,
    }
    return {"logbook": counts}
