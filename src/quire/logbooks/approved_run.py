"""A logbook whose every step is a proposal: made by an agent of Quire's own, and done once a person has said yes.

Code is proposed as a run of its cell, prose as the answer that it is done. A no skips the step, with the reason
that was given. What is proposed is what is shown: source and hash are those of the proposal (rule 9).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from ..core import events as e
from ..core.errors import Refused
from ..core.events import CellMetadataSet, Draft, KnownEvent, ProposalMade, RunCell
from ..core.ids import ExecutionId, LogId, ProposalId
from ..core.notebook.logbook_record import LogbookStep, as_metadata, step_of, StepMark
from ..core.notebook.notebook import Notebook, Proposal
from ..core.text import source_hash
from ..workspace.clock import new_id
from ..workspace.identity import identities
from ..workspace.protocol import Workspace
from .export_file import write_export
from .step_run import answer_event, next_step

ACTOR = "logbook"
"""The agent in whose name steps are proposed: nobody says yes to their own proposal."""
_DECIDED = (e.ProposalAccepted, e.ProposalDeclined, e.ProposalWithdrawn, e.ProposalExpired)
_ENDED = (e.ExecutionFinished, e.ExecutionSkipped, e.ExecutionCancelled)


def as_proposer(workspace: Workspace) -> Workspace:
    """Return the workspace as the agent that proposes steps; an agent's own as it is."""
    if workspace.identity.actor.startswith("agent:"):
        return workspace
    if not workspace.store_address:
        raise Refused("Steps are proposed by a process beside the store, or by an agent: use the token of one.")
    proposer = identities.agent(ACTOR, asks=("edit", "run"))
    return workspace.beside_store().acting_as(replace(proposer, on_behalf_of=workspace.identity.actor))


async def propose_steps(
    owner: Workspace, log: LogId, root: Path, tell: Callable[[str], None]
) -> Notebook:
    """Propose one step after the other, each when the one before is over; return the notebook once all are answered."""
    workspace = as_proposer(owner)
    while (step := next_step(now := await workspace.read(log))) is not None:
        proposal = await _open_proposal(workspace, log, now, step)
        tell(f"step {step.number} waits for a yes: quire proposals show {proposal}, or in the browser")
        decision = await _decision(workspace, log, proposal, now.seq)
        if isinstance(decision, e.ProposalAccepted):
            await _until_ended(workspace, log, decision, now.seq)
        else:
            # That nobody wanted it needs no yes.
            event = answer_event(now, step.cell, "skipped", getattr(decision, "why", "") or "nobody said yes to it")
            await owner.submit(log, [Draft(id=new_id(), event=event)])
        await write_export(workspace, log, root)
    return now


async def _open_proposal(workspace: Workspace, log: LogId, now: Notebook, step: LogbookStep) -> ProposalId:
    """The proposal of a step: one that waits already, or a new one."""
    for id, waiting in now.proposals.items():
        if waiting.state == "open" and _is_of(waiting, step):
            return id
    made = _proposal(now, step)
    await workspace.submit(log, [Draft(id=new_id(), event=made)])
    return made.proposal


def _is_of(waiting: Proposal, step: LogbookStep) -> bool:
    return any(each.cell == step.cell for each in (*waiting.changes, *waiting.effects))


def _proposal(now: Notebook, step: LogbookStep) -> ProposalMade:
    cell, id, why = now.cells[step.cell], ProposalId(new_id()), f"step {step.number} of {now.name}"
    if step.kind == "code":
        hash = source_hash(cell.source)
        effect = RunCell(execution=ExecutionId(new_id()), cell=cell.id, source_hash=hash, cell_kind=cell.kind)
        return ProposalMade(proposal=id, why=why, effects=(effect,))
    mark = replace(step_of(cell) or StepMark(kind="prose"), answer="done", did="A person said that it is done.")
    return ProposalMade(proposal=id, why=why, changes=(CellMetadataSet(cell=cell.id, values=as_metadata(mark)),))


async def _decision(workspace: Workspace, log: LogId, proposal: ProposalId, since: int) -> KnownEvent:
    async for page in workspace.follow(log, since):
        for entry in page:
            if isinstance(entry.event, _DECIDED) and entry.event.proposal == proposal:
                return entry.event
    raise Refused(f"Log {log} came to an end before anybody answered {proposal}.")


async def _until_ended(workspace: Workspace, log: LogId, accepted: e.ProposalAccepted, since: int) -> None:
    wanted = {effect.execution for effect in accepted.effects or ()}
    if not wanted:
        return
    async for page in workspace.follow(log, since):
        wanted -= {entry.event.execution for entry in page if isinstance(entry.event, _ENDED)}
        if not wanted:
            return

