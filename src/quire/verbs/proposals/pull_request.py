"""A notebook, or a run that was fixed, proposed as a pull request: for agents, which wait 20 seconds and ask again.

The work goes on when the answer has to be given; the same call again waits for the same work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from ...core.errors import BadInput, Refused
from ...core.ids import LogId
from ...core.notebook.notebook import Notebook
from ...core.rules.cell_rules import completed
from ...core.rules.context import SubmissionContext
from ...core.values import Json
from ...formats.starter_notebook import title_of
from ...formats.terminal_safe import one_line
from ...workspace.clock import now
from ...workspace.identity.identities import check_scope
from ..answers.answer import Here, VerbAnswer
from ..answers.execution_answer import call
from ..arguments import ProposeArguments

if TYPE_CHECKING:
    from ...core.events import CellChange
    from ...review.pull_requests.change_sources import ChangeSource
    from ...review.pull_requests.propose_change import ProposedChange

ANSWER_SECONDS = 20.0
_under_way: dict[tuple[str, LogId], asyncio.Task[ProposedChange]] = {}
"""What is being proposed, by folder and notebook: a second call joins it."""


async def propose_pull_request(
    here: Here, log: LogId, before: Notebook, wanted: ProposeArguments, changes: tuple[CellChange, ...]
) -> VerbAnswer:
    """Propose a notebook with these changes, or the fix of a run, as a pull request."""
    folder = check_allowed(here)
    key = (str(folder), log)
    task = _under_way.get(key)
    if task is None:
        task = _under_way[key] = asyncio.create_task(_proposed(here, folder, log, before, wanted, changes))
        task.add_done_callback(lambda done: _forget(key, done))
    done, _ = await asyncio.wait([task], timeout=ANSWER_SECONDS)
    if not done:
        told = "The notebook is being run before and after. Call propose again with the same arguments to wait for the end."
        return VerbAnswer(text=told, facts={"notebook": log, "state": "running"})
    return _answer(log, wanted.notebook, task.result())


def _forget(key: tuple[str, LogId], done: asyncio.Task[ProposedChange]) -> None:
    _under_way.pop(key, None)
    if not done.cancelled():
        done.exception()  # looked at, or asyncio complains where nobody waited any more


def check_allowed(here: Here) -> Path:
    """Return the folder whose repository is proposed from; refuse who may not make pull requests."""
    identity = here.workspace.identity
    for scope in ("edit", "run"):
        check_scope(identity, scope)
    if identity.asks:
        raise Refused(
            f"{identity.actor} has to ask before it may {' or '.join(sorted(identity.asks))}, and a pull request runs the "
            "notebook and pushes a branch. Propose without `pull_request`, or ask a person for `quire propose`."
        )
    if here.folder is None or not here.may_start:
        raise Refused(
            "No pull request can be made from here: this server leaves files alone. Propose without `pull_request`."
        )
    return here.folder


async def _proposed(
    here: Here, folder: Path, log: LogId, before: Notebook, wanted: ProposeArguments, changes: tuple[CellChange, ...]
) -> ProposedChange:
    from ...review.pull_requests.propose_change import ProposeOptions, propose_change

    source: list[str] | ChangeSource = [log]
    if before.run is None:
        source = _source(here, folder, before, changes)
    elif changes:
        raise BadInput("Of a run its fix is proposed: edit its cells first, then propose without `edits`.")
    title = title_of(wanted.why)
    options = ProposeOptions(message=f"{title}\n\n{wanted.why}\n" if title != wanted.why else wanted.why, body=None)
    return await propose_change(here.workspace, folder, folder, source, options, lambda line: None)


def _source(here: Here, folder: Path, before: Notebook, changes: tuple[CellChange, ...]) -> ChangeSource:
    from ...git.repository import the_repository
    from ...review.pull_requests.change_sources import of_notebook

    asking = SubmissionContext(actor=here.workspace.identity.actor, at=now(), seq=before.seq)
    after = completed(before, changes, asking)[1].notebook() if changes else before
    return of_notebook(folder, the_repository(folder).top, after)


def _answer(log: LogId, notebook: str, made: ProposedChange) -> VerbAnswer:
    where = f"pull request {made.pull_request}, {made.url}" if made.pull_request is not None else made.report
    lines = [
        f"{'Opened' if made.opened else 'Updated'} {where}: branch {made.branch} at {made.commit[:10]}, {made.status}"
    ]
    lines += [f"failed: {check.name}: {one_line(check.told, 300)}" for check in made.checks if not check.passed]
    for each in made.validations:
        results = cast("Mapping[str, Any]", msgspec.to_builtins(each["results"]))
        lines += [f"{name}: {_pair(pair)}" for name, pair in list(results.items())[:20]]
    lines.append("A person reviews and merges it. To change it, edit and propose again.")
    if made.pull_request is not None:
        waiting = call("wait", notebook=notebook, proposal=f"#{made.pull_request}")
        lines.append(f"To read what people write there: {waiting}")
    facts: dict[str, Json] = {
        "notebook": log,
        "state": "proposed",
        "branch": made.branch,
        "commit": made.commit,
        "pull_request": made.pull_request,
        "url": made.url,
        "opened": made.opened,
        "status": made.status,
        "validations": msgspec.to_builtins(made.validations),
    }
    return VerbAnswer(text="\n".join(lines), facts=facts)


def _pair(pair: Mapping[str, Any]) -> str:
    before, after = (one_line(str(pair.get(side, "nothing")), 80) for side in ("a", "b"))
    return f"{before}, as before" if pair["same"] else f"{before} → {after}"
