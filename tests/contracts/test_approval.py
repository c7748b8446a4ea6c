"""Asking first, on every store: what becomes a proposal, and whose yes it takes (rule 3)."""

from __future__ import annotations

import pytest

from quire.core import events as e
from quire.core.errors import BadInput, QuireError
from quire.core.events import KnownEvent
from quire.core.ids import (
    WORKSPACE_LOG,
    CellId,
    CommentId,
    ExecutionId,
    LogId,
    ProposalId,
)
from quire.core.text import source_hash
from quire.workspace.identity.approval import proposed
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace

from .doors import at_both_doors, bearer, in_one_place
from .identities import (
    ADA,
    AGENT,
    AGENTS,
    BOB,
    LOG,
    RENAMED,
    REQUESTED,
    A,
    B,
    X,
    draft,
    give,
    refused,
    say,
)

# ---- Asking first


@at_both_doors
async def test_what_has_to_be_asked_becomes_one_proposal(agent: Workspace, ada: Workspace) -> None:
    drafts = [
        draft(e.SourceEdited(cell=A, base_hash=source_hash("x = 1"), text="x = 2")),
        draft(e.CellAdded(cell=CellId("new"), after=A, kind="sql", source="select 2")),
        draft(e.ExecutionRequested(execution=X, cell=A, source_hash=source_hash("x = 2"))),
        draft(e.ExecutionRequested(execution=ExecutionId("x2"), cell=B, source_hash=source_hash("select 1"))),
        draft(
            e.ExecutionRequested(execution=ExecutionId("x3"), cell=CellId("new"), source_hash=source_hash("select 2"))
        ),
    ]
    entries = await agent.submit(LOG, drafts)
    made = proposed(drafts, entries)
    assert made is not None
    assert (entries[0].actor, entries[0].on_behalf_of, entries[0].id) == (AGENT, ADA, drafts[0].id)
    assert [effect.cell_kind for effect in made.effects] == ["code", "sql", "sql"]
    assert (await ada.read(LOG)).cells[A].source == "x = 1"
    assert await agent.submit(LOG, drafts) == entries, "sent again, it is answered"
    await say(ada, e.ProposalAccepted(proposal=made.proposal))
    notebook = await ada.read(LOG)
    assert (notebook.cells[A].source, notebook.cells[A].state) == ("x = 2", "queued")
    assert notebook.cells[CellId("new")].state == "queued"


@at_both_doors
async def test_code_without_a_cell_is_asked_about_with_all_of_its_text(agent: Workspace, ada: Workspace) -> None:
    """Rule 9: what was shown is what runs."""
    scratch = CellId("s")
    drafts = [
        draft(e.ScratchRequested(execution=X, cell=scratch, source="frame.head()")),
        draft(e.ExecutionRequested(execution=ExecutionId("x2"), cell=A, source_hash=source_hash("x = 1"))),
        draft(
            e.ExecutionRequested(
                execution=ExecutionId("x3"), cell=B, source_hash=source_hash("select 1"), needs=ExecutionId("x2")
            )
        ),
    ]
    made = proposed(drafts, await agent.submit(LOG, drafts))
    assert made is not None
    assert [(effect.source, effect.needs) for effect in made.effects] == [
        ("frame.head()", None),
        (None, None),
        (None, "x2"),
    ]
    await say(ada, e.ProposalAccepted(proposal=made.proposal))
    notebook = await ada.read(LOG)
    assert notebook.cells[scratch].scratch and notebook.cells[scratch].source == "frame.head()"
    assert list(notebook.executions) == [X, "x2", "x3"]
    assert (queued := notebook.cells[B].queued) is not None and queued.needs == "x2"
    named = e.ScratchRequested(execution=ExecutionId("x4"), cell=CellId("t"), source="1", runtime="gpu")
    with pytest.raises(BadInput):
        await say(agent, named)


@in_one_place
async def test_what_is_not_asked_is_recorded_as_it_is(owner: LocalWorkspace, ada: Workspace) -> None:
    agent = await bearer(owner, AGENT, "read", "edit", "run", on_behalf_of=ADA, asks=["run"])
    drafts = [draft(e.CellNamed(cell=A, name="load"))]
    assert proposed(drafts, await agent.submit(LOG, drafts)) is None
    assert (await ada.read(LOG)).cells[A].name == "load"
    mixed = [draft(e.CellNamed(cell=A, name="later")), draft(REQUESTED)]
    assert proposed(mixed, await agent.submit(LOG, mixed)) is not None, "what was sent together is asked together"
    assert (await ada.read(LOG)).cells[A].name == "load"


@in_one_place
async def test_talking_needs_no_asking(agent: Workspace) -> None:
    talk = [e.CommentAdded(comment=CommentId("c"), text="why?")]
    own = e.ProposalMade(proposal=ProposalId("own"), why="better", changes=(e.CellRemoved(cell=A),))
    drafts = [draft(own)]
    assert [type(entry.event) for entry in await say(agent, *talk)] == [e.CommentAdded]
    assert proposed(drafts, await agent.submit(LOG, drafts)) is None
    await say(agent, e.ProposalWithdrawn(proposal=ProposalId("own")))
    with pytest.raises(BadInput):
        await say(agent, e.CommentEdited(comment=CommentId("c"), text="oh"), e.CellRemoved(cell=A))


NOT_PROPOSED: list[KnownEvent] = [
    RENAMED,
    e.NotebookArchived(),
    e.MetadataSet(values={"x": 1}),
    e.FileBound(path="a.py"),
    e.InterruptRequested(execution=X),
    e.ExecutionCancelled(execution=X),
    e.InputAnswered(execution=X, prompt="?", answer="y"),
    e.RunCancelRequested(),
    e.RestartRequested(),
    e.RunRequested(name="run", source=e.RunSource(path="x.py")),
    e.NotebookCreated(name="new"),
]


@in_one_place
async def test_what_cannot_be_proposed_is_refused_to_who_has_to_ask(agent: Workspace) -> None:
    before = await agent.logs()
    for event in NOT_PROPOSED:
        log = LogId("n7") if isinstance(event, e.RunRequested | e.NotebookCreated) else LOG
        assert "cannot be proposed" in await refused(say(agent, event, log=log)), event
        assert await agent.logs() == before, event


@in_one_place
async def test_what_makes_no_sense_is_not_proposed_either(agent: Workspace) -> None:
    named = e.ExecutionRequested(execution=X, cell=A, source_hash=source_hash("x = 1"), runtime="python")
    for event in (e.CellRemoved(cell=CellId("nowhere")), named, e.CellAdded(cell=A, after=None)):
        with pytest.raises(QuireError):
            await say(agent, event)
    for event in (e.CellRemoved(cell=A), REQUESTED):
        with pytest.raises(BadInput):
            await say(agent, event, log=WORKSPACE_LOG)
    assert (await agent.read(LOG)).proposals == {}


@at_both_doors
async def test_a_yes_takes_somebody_else_who_may(owner: LocalWorkspace, ada: Workspace, agent: Workspace) -> None:
    drafts = [draft(e.CellRemoved(cell=A))]
    made = proposed(drafts, await agent.submit(LOG, drafts))
    assert made is not None
    yes = e.ProposalAccepted(proposal=made.proposal)
    itself = await bearer(owner, AGENT, *AGENTS, on_behalf_of=ADA)
    editor = await bearer(owner, BOB, "read", "edit", "run", "admin")
    for nobody, why in ((agent, "approve"), (itself, "approve"), (editor, "approve"), (owner, "QUIRE_TOKEN")):
        assert why in await refused(say(nobody, yes))
    await give(ada, BOB, "viewer")
    assert "viewer" in await refused(say(await bearer(owner, BOB, "read", "approve"), yes))
    await say(ada, yes)
    assert (await ada.read(LOG)).cells[A].removed


@in_one_place
async def test_a_token_asks_only_for_what_it_may(owner: LocalWorkspace) -> None:
    wrong: list[tuple[tuple[e.Scope, ...], e.Scope]] = [(("read",), "edit"), (AGENTS, "admin"), (AGENTS, "read")]
    for scopes, asks in wrong:
        with pytest.raises(BadInput):
            await owner.create_token(AGENT, scopes, asks=[asks])
    assert await owner.tokens() == []
