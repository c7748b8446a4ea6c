"""Proposals: what waits for somebody's yes, and the answers."""

from __future__ import annotations

from litestar.params import FromPath

from ....core import events as e
from ....core.errors import NotFound
from ....core.events import Draft, ProposalMade
from ....core.ids import LogId, ProposalId
from ....core.notebook.notebook import Notebook, ProposalState
from ....workspace.clock import new_id
from ....workspace.local import LocalWorkspace
from ....workspace.wire import frames
from ....workspace.wire.bodies import AcceptBody, Body, ProposalFound, Reason
from ..auth import Asked
from ..response_stream import while_there
from ..route import Asking, body_of, checked, query_of, route

PATH = "/api/notebooks/{log}/proposals"
Made = dict[ProposalId, ProposalMade]


class ProposalsAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which proposals; without a state, all."""

    state: ProposalState | None = None


@route("GET", PATH, "proposals", tag="proposals", query=ProposalsAsked, answer=list[ProposalFound])
async def proposals(request: Asking, log: FromPath[str], workspace: Asked) -> list[ProposalFound]:
    """List the proposals of a notebook, in the order in which they were made."""
    id, asked = LogId(checked(log, "Log")), query_of(request, ProposalsAsked)
    found = await while_there(request, _found(workspace, id))
    return [each for each in found if asked.state in (None, each.state)]


@route("GET", f"{PATH}/{{proposal}}", "proposal", tag="proposals", answer=ProposalFound)
async def proposal(request: Asking, log: FromPath[str], proposal: FromPath[str], workspace: Asked) -> ProposalFound:
    """A proposal with all that it asks for."""
    id, wanted = LogId(checked(log, "Log")), checked(proposal, "Proposal")
    for each in await while_there(request, _found(workspace, id)):
        if each.proposal == wanted:
            return each
    raise NotFound(f"There is no proposal {wanted!r} in log {id}.")


async def _found(workspace: LocalWorkspace, log: LogId) -> list[ProposalFound]:
    now = await workspace.read(log)
    made: Made = {}
    since = 0
    while page := await workspace.entries(log, since, types=("proposal_made",)):
        made |= {each.event.proposal: each.event for each in page if isinstance(each.event, ProposalMade)}
        since = page[-1].seq
    return [_as_found(now, event) for event in made.values() if event.proposal in now.proposals]


def _as_found(notebook: Notebook, made: ProposalMade) -> ProposalFound:
    now = notebook.proposals[made.proposal]
    return ProposalFound(
        proposal=made.proposal,
        state=now.state,
        why=made.why,
        changes=made.changes,
        effects=made.effects,
        by=now.by,
        on_behalf_of=now.on_behalf_of,
        at=now.at,
        seq=now.seq,
        expires_at=made.expires_at,
        decided_by=now.decided_by,
        decided_at=now.decided_at,
        decided_why=now.decided_why,
    )


@route(
    "POST", f"{PATH}/{{proposal}}/accept", "accept", tag="proposals", body=AcceptBody, answer=frames.SubmissionOutcome
)
async def accept(
    request: Asking, log: FromPath[str], proposal: FromPath[str], workspace: Asked
) -> frames.SubmissionOutcome:
    """Say yes to a proposal, or to some of it. It is not the bearer's own, and needs `approve`."""
    id, wanted = LogId(checked(log, "Log")), ProposalId(checked(proposal, "Proposal"))
    sent = await body_of(request, AcceptBody)
    return await _answer(workspace, id, e.ProposalAccepted(proposal=wanted, selection=sent.selection))


@route("POST", f"{PATH}/{{proposal}}/decline", "decline", tag="proposals", body=Reason, answer=frames.SubmissionOutcome)
async def decline(
    request: Asking, log: FromPath[str], proposal: FromPath[str], workspace: Asked
) -> frames.SubmissionOutcome:
    """Say no to a proposal. Needs `approve`."""
    id, wanted = LogId(checked(log, "Log")), ProposalId(checked(proposal, "Proposal"))
    sent = await body_of(request, Reason)
    return await _answer(workspace, id, e.ProposalDeclined(proposal=wanted, why=sent.why))


async def _answer(workspace: LocalWorkspace, log: LogId, event: e.ProposalEvent) -> frames.SubmissionOutcome:
    entries = await workspace.submit(log, [Draft(id=new_id(), event=event)])
    return frames.SubmissionOutcome(entries=[frames.from_entry(entry) for entry in entries])


ROUTES = [proposals, proposal, accept, decline]
