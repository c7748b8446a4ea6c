"""What every workspace does, wherever it is: at hand on every store, and behind a server."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from typing import TypeVar

import msgspec
import pytest

from quire.core import events as e
from quire.core.chain import GENESIS, Record, link
from quire.core.errors import BadInput, Conflict, NotFound, QuireError, Refused
from quire.core.events import Draft, Entry, KnownEvent
from quire.core.ids import (
    WORKSPACE_LOG,
    ActorId,
    CellId,
    CommentId,
    ConflictId,
    EventId,
    ExecutionId,
    LogId,
    ProposalId,
    RuntimeId,
    TokenId,
)
from quire.core.notebook.notebook import Notebook
from quire.core.text import Splice, apply, source_hash
from quire.core.values import Json
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.store import Snapshot
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.identity.identities import Identity
from quire.workspace.lanes.runtime_info import PromptAnswer
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace

from ..conftest import OpenStore
from .doors import Place, acting, at_both_doors, bearer_of, in_one_place, on_every_store

T = TypeVar("T")
LOG = LogId("n1")
A, B = CellId("aaaa1111"), CellId("bbbb2222")
X = ExecutionId("x1")
ADA = Identity(actor=ActorId("human:ada"), scopes=frozenset(("read", "edit", "run", "approve", "admin", "bind")))
BOB = Identity(actor=ActorId("human:bob"), scopes=frozenset(("read", "edit", "run", "approve")))
AGENT = Identity(
    actor=ActorId("agent:claude"), scopes=frozenset(("read", "edit", "run")), on_behalf_of=ActorId("human:ada")
)
RUNTIME = identities.runtime("local")
OpenWorkspace = Callable[[], Awaitable[Workspace]]


@pytest.fixture
async def open_workspace(place: Place) -> OpenWorkspace:
    async def open_one() -> Workspace:
        return await acting(await place.owner(), ADA)

    return open_one


@pytest.fixture
async def there(place: Place) -> Workspace:
    """A workspace somewhere else, with nothing in it."""
    return await acting(await place.elsewhere(), ADA)


@pytest.fixture
async def workspace(open_workspace: OpenWorkspace) -> Workspace:
    """A workspace with one notebook of two cells."""
    made = await open_workspace()
    await say(
        made,
        e.NotebookCreated(name="sales"),
        e.CellAdded(cell=A, after=None, source="x = 1"),
        e.CellAdded(cell=B, after=A, source="print(x)"),
    )
    return made


_numbers = count()


def draft(event: KnownEvent) -> Draft:
    return Draft(id=EventId(f"d{next(_numbers)}"), event=event)


async def say(workspace: Workspace, *events: KnownEvent, log: LogId = LOG) -> list[Entry]:
    return await workspace.submit(log, [draft(event) for event in events])


async def run_cell(workspace: Workspace, cell: CellId = A, execution: ExecutionId = X) -> int:
    """Take an execution to the point where it prints; return its epoch."""
    source = (await workspace.read(LOG)).cells[cell].source
    hash = source_hash(source)
    await say(workspace, e.ExecutionRequested(execution=execution, cell=cell, source_hash=hash))
    runtime = await acting(workspace, RUNTIME)
    (claimed,) = await say(runtime, e.ExecutionClaimed(execution=execution, runtime=RuntimeId(RUNTIME.actor)))
    assert isinstance(claimed.event, e.ExecutionClaimed)
    assert claimed.event.epoch is not None
    epoch = claimed.event.epoch
    await say(runtime, e.ExecutionStarted(execution=execution, cell=cell, source_hash=hash, epoch=epoch))
    return epoch


async def rename_often(workspace: Workspace, count: int) -> None:
    """Make a log long, so that there are snapshots of it."""
    for start in range(0, count, 25):
        await say(workspace, *(e.NotebookRenamed(name=f"n{n}") for n in range(start, min(start + 25, count))))


async def edit_often(workspace: Workspace, count: int) -> None:
    """Put `count` times an "a" before the text of cell A, so that an edit from before has to be rebased far."""
    for start in range(0, count, 20):
        edits = [e.SourceEdited(cell=A, base=3 + start, edit=(Splice(0, 0, "a"),)) for _ in range(20)]
        await say(workspace, *edits)


async def unchanged(workspace: Workspace, error: type[QuireError], *events: KnownEvent) -> QuireError:
    """The events are refused with `error`, and nothing is recorded."""
    before = await workspace.entries(LOG)
    with pytest.raises(error) as refused:
        await say(workspace, *events)
    assert await workspace.entries(LOG) == before
    assert str(refused.value)
    return refused.value


# ---- How far somebody has seen a log


async def test_how_far_one_has_seen_a_log_is_kept_for_each_and_never_goes_back(workspace: Workspace) -> None:
    bob = await acting(workspace, BOB)
    assert await workspace.seen(LOG) is None
    kept = await workspace.mark_seen(LOG, 2)
    assert (kept.log, kept.actor, kept.seq) == (LOG, ADA.actor, 2)
    assert await workspace.mark_seen(LOG, 1) == kept
    assert await workspace.seen(LOG) == kept
    assert await bob.seen(LOG) is None
    assert (await bob.mark_seen(LOG, 3)).seq == 3
    assert (await workspace.seen(LOG)) == kept
    assert len(await workspace.entries(LOG)) == 3, "it is no fact of the log"


@at_both_doors
async def test_what_is_not_there_cannot_have_been_seen(workspace: Workspace) -> None:
    with pytest.raises(BadInput, match="numbers 1 to 3"):
        await workspace.mark_seen(LOG, 4)
    with pytest.raises(NotFound):
        await workspace.mark_seen(LogId("nothing"), 1)
    nobody = await acting(workspace, Identity(actor=BOB.actor, scopes=frozenset(("run",))))
    with pytest.raises(Refused):
        await nobody.seen(LOG)
    with pytest.raises(Refused):
        await nobody.mark_seen(LOG, 1)


@at_both_doors
async def test_entries_are_read_from_the_end(workspace: Workspace) -> None:
    assert [entry.seq for entry in await workspace.entries(LOG, newest_first=True)] == [3, 2, 1]
    some = await workspace.entries(LOG, 1, limit=1, types=["cell_added"], newest_first=True)
    assert [entry.seq for entry in some] == [3]


# ---- Submitting


@at_both_doors
async def test_who_and_when_come_from_the_credentials(workspace: Workspace) -> None:
    """Rule 3."""
    (entry,) = await say(await acting(workspace, AGENT), e.NotebookRenamed(name="other"))
    assert (entry.actor, entry.on_behalf_of, entry.seq) == ("agent:claude", "human:ada", 4)
    assert (await workspace.entries(LOG, 3))[0] == entry
    assert (await workspace.read(LOG)).name == "other"


async def test_the_same_id_or_key_again_answers_with_the_first_event(workspace: Workspace) -> None:
    added = Draft(id=EventId("one"), key="once", event=e.CellAdded(cell=CellId("new"), after=None))
    first = await workspace.submit(LOG, [added])
    assert await workspace.submit(LOG, [added]) == first
    other = Draft(id=EventId("two"), key="once", event=e.NotebookRenamed(name="never"))
    assert await workspace.submit(LOG, [other]) == first
    assert (await workspace.read(LOG)).seq == 4


async def test_a_submission_is_recorded_whole_or_not_at_all(workspace: Workspace) -> None:
    await unchanged(
        workspace, NotFound, e.CellAdded(cell=CellId("c"), after=None), e.CellRemoved(cell=CellId("nowhere"))
    )
    assert CellId("c") not in (await workspace.read(LOG)).cells
    await say(workspace, e.CellAdded(cell=CellId("c"), after=None), e.CellNamed(cell=CellId("c"), name="found"))
    assert (await workspace.read(LOG)).cells[CellId("c")].name == "found"


async def test_many_at_once_are_recorded_once_each_in_one_order(workspace: Workspace) -> None:
    """Rule 2."""
    comments = [e.CommentAdded(comment=CommentId(f"c{n}"), text=str(n)) for n in range(100)]
    entries = await asyncio.gather(*(say(workspace, comment) for comment in comments))
    assert sorted(entry.seq for (entry,) in entries) == list(range(4, 104))
    assert len((await workspace.read(LOG)).comments) == 100


async def test_several_handles_write_one_notebook_and_lose_nothing(open_workspace: OpenWorkspace) -> None:
    handles = [await open_workspace() for _ in range(4)]
    await say(handles[0], e.NotebookCreated(name="busy"))

    async def write(handle: Workspace, who: int) -> None:
        for n in range(25):
            await say(handle, e.CommentAdded(comment=CommentId(f"c{who}-{n}"), text="x"))

    await asyncio.gather(*(write(handle, who) for who, handle in enumerate(handles)))
    for handle in handles:
        notebook = await handle.read(LOG)
        assert (notebook.seq, len(notebook.comments)) == (101, 100)


async def test_edits_made_at_once_are_rebased_on_the_order_of_the_log(workspace: Workspace) -> None:
    """Rule 8: everybody who applies the recorded edits in order has the same text as the fold."""
    edits = [(Splice(n % 5, n % 2, f"<{n}>"),) for n in range(60)]
    await asyncio.gather(*(say(workspace, e.SourceEdited(cell=A, base=3, edit=edit)) for edit in edits))
    text = "x = 1"
    for entry in await workspace.entries(LOG, 3):
        assert isinstance(entry.event, e.SourceEdited)
        text = apply(text, entry.event.edit if entry.event.applied is None else entry.event.applied)
    assert (await workspace.read(LOG)).cells[A].source == text
    assert all(f"<{n}>" in text for n in range(60))


@in_one_place
async def test_edits_of_one_submission_are_made_on_top_of_each_other(workspace: Workspace) -> None:
    await say(await acting(workspace, BOB), e.SourceEdited(cell=A, base=3, edit=(Splice(0, 0, "# bob\n"),)))
    first = e.SourceEdited(cell=A, base=3, edit=(Splice(5, 0, "23"),))
    second = e.SourceEdited(cell=A, base=3, edit=(Splice(7, 0, "4"),))
    await say(workspace, first, second)
    assert (await workspace.read(LOG)).cells[A].source == "# bob\nx = 1234"


async def test_an_edit_made_long_ago_is_still_rebased(workspace: Workspace) -> None:
    await edit_often(workspace, 600)
    await say(workspace, e.SourceEdited(cell=A, base=3, edit=(Splice(5, 0, "!"),)))
    assert (await workspace.read(LOG)).cells[A].source == "a" * 600 + "x = 1!"


@at_both_doors
async def test_a_stale_whole_text_edit_is_refused_with_the_current_text(workspace: Workspace) -> None:
    """Rule 8."""
    seen = source_hash("x = 1")
    await say(workspace, e.SourceEdited(cell=A, base_hash=seen, text="x = 2"))
    refused = await unchanged(workspace, Refused, e.SourceEdited(cell=A, base_hash=seen, text="x = 3"))
    assert refused.details["source"] == "x = 2"
    await say(workspace, e.SourceEdited(cell=A, base_hash=refused.details["source_hash"], text="x = 3"))
    assert (await workspace.read(LOG)).cells[A].source == "x = 3"


# ---- What is refused


FILLED: list[KnownEvent] = [
    e.SourceEdited(cell=A, base=3, edit=(), applied=(Splice(0, 0, "forged"),)),
    e.ExecutionClaimed(execution=X, runtime=RuntimeId("runtime:local"), epoch=9),
    e.RunClaimed(runtime=RuntimeId("runtime:local"), epoch=9),
    e.ProposalAccepted(proposal=ProposalId("p"), applied=()),
    e.ProposalAccepted(proposal=ProposalId("p"), effects=()),
    e.PayloadRedacted(seq=1, why="x", replacement="0"),
    e.ProposalMade(
        proposal=ProposalId("p"), why="", changes=(e.SourceEdited(cell=A, base=3, applied=(Splice(0, 0, "forged"),)),)
    ),
]


@at_both_doors
async def test_a_sender_that_fills_a_field_of_the_workspace_is_refused(workspace: Workspace) -> None:
    for event in FILLED:
        refused = await unchanged(workspace, Refused, event)
        assert "filled by the workspace" in str(refused) or "scope" in str(refused), event


BAD: list[tuple[KnownEvent, type[QuireError]]] = [
    (e.CellRemoved(cell=CellId("aaaa1112")), NotFound),
    (e.CellAdded(cell=A, after=None), Refused),
    (e.CellAdded(cell=CellId("a b"), after=None), BadInput),
    (e.CellAdded(cell=CellId("c"), after=CellId("nowhere")), NotFound),
    (e.CellMoved(cell=A, after=A), BadInput),
    (e.SourceEdited(cell=A, base=99, edit=()), BadInput),
    (e.SourceEdited(cell=A, base=0, edit=()), BadInput),
    (e.SourceEdited(cell=A, base=2, edit=(Splice(0, 99, ""),)), BadInput),
    (e.SourceEdited(cell=B, base=2, edit=()), BadInput),
    (e.SourceEdited(cell=A), BadInput),
    (e.SourceEdited(cell=A, base_hash="0" * 64, text="x"), Refused),
    (e.ExecutionRequested(execution=X, cell=A, source_hash="0" * 64), Refused),
    (e.ExecutionFinished(execution=X, epoch=1, status="ok"), Refused),
    (e.NotebookCreated(name="again"), Refused),
    (e.NotebookRenamed(name=" padded"), BadInput),
    (e.NotebookRenamed(name="\x1b[31m"), BadInput),
    (e.FileBound(path="../outside.py"), BadInput),
    (e.FileBound(path="/etc/passwd"), BadInput),
    (e.ProposalAccepted(proposal=ProposalId("none")), NotFound),
    (e.ProposalMade(proposal=ProposalId("p"), why="nothing"), BadInput),
    (e.RoleSet(actor=ActorId("human:eve"), role="owner"), BadInput),
    (e.PayloadRedacted(seq=99, why="x"), NotFound),
    (e.PayloadRedacted(seq=1, why=" "), BadInput),
    (e.CommentEdited(comment=CommentId("none"), text="x"), NotFound),
    (e.MetadataSet(values={"big": "x" * 17_000_000}), BadInput),
    (e.ConflictResolved(conflict=ConflictId("none")), NotFound),
    (e.FileBound(path="a\n.py"), BadInput),
    (e.SourceEdited(cell=A, base_hash=source_hash("x = 1"), text="y", edit=(Splice(9, -4, "?"),)), BadInput),
    (
        e.ProposalMade(proposal=ProposalId("p"), why="", changes=(e.CellRemoved(cell=A),), expires_at="31.12.2025"),
        BadInput,
    ),
    (e.MetadataSet(values={"half": "\ud800"}), BadInput),
]


@at_both_doors
async def test_bad_input_is_named_and_nothing_is_recorded(workspace: Workspace) -> None:
    before = await workspace.entries(LOG)
    answers: list[tuple[KnownEvent, object]] = []
    for event, error in BAD:
        try:
            answer: object = await say(workspace, event)
        except QuireError as refused:
            answer = refused
        if type(answer) is not error or not str(answer):
            answers.append((event, answer))
    assert answers == []
    assert await workspace.entries(LOG) == before


@at_both_doors
async def test_a_missing_cell_is_answered_with_the_nearest(workspace: Workspace) -> None:
    missing = await unchanged(workspace, NotFound, e.CellRemoved(cell=CellId("aaaa1112")))
    assert missing.details["nearest"][0] == A


@at_both_doors
async def test_a_log_that_was_never_begun_is_not_found(workspace: Workspace) -> None:
    with pytest.raises(NotFound):
        await say(workspace, e.CellRemoved(cell=A), log=LogId("nowhere"))
    with pytest.raises(NotFound):
        await workspace.read(LogId("nowhere"))
    with pytest.raises(NotFound) as missing:
        await workspace.find("sale")
    assert "sales" in str(missing.value)


@in_one_place
async def test_two_drafts_with_one_id_are_bad_input(workspace: Workspace) -> None:
    same = Draft(id=EventId("same"), event=e.NotebookRenamed(name="x"))
    with pytest.raises(BadInput):
        await workspace.submit(LOG, [same, same])


async def test_an_id_of_somebody_else_is_taken_not_answered_and_a_key_of_theirs_is_free(workspace: Workspace) -> None:
    """Idempotency answers the one who sent the first; to others it would give away, or swallow, an event."""
    await workspace.submit(LOG, [Draft(id=EventId("mine"), key="nightly", event=e.NotebookRenamed(name="secret"))])
    bob = await acting(workspace, BOB)
    with pytest.raises(Refused) as refused:
        await bob.submit(LOG, [Draft(id=EventId("mine"), event=e.NotebookRenamed(name="x"))])
    assert "secret" not in str(refused.value)
    (entry,) = await bob.submit(LOG, [Draft(id=EventId("b"), key="nightly", event=e.NotebookRenamed(name="x"))])
    assert (entry.id, entry.actor) == ("b", BOB.actor), "nobody takes a key away from others by using it first"
    limited = Identity(actor=ADA.actor, scopes=ADA.scopes, notebooks=frozenset([LogId("n2")]))
    with pytest.raises(Refused):
        await (await acting(workspace, limited)).submit(
            LogId("n2"), [Draft(id=EventId("c"), key="nightly", event=e.NotebookCreated(name="n2"))]
        )


async def test_a_key_of_the_house_is_not_for_clients(workspace: Workspace) -> None:
    """Who could write one could answer a question, or a due time, before those who are meant to."""
    for key in ("quire:input:n1:x1:1", "quire:", "quire:schedule@2026-03-02T06:00"):
        with pytest.raises(Refused):
            await workspace.submit(LOG, [Draft(id=EventId("k"), key=key, event=e.NotebookRenamed(name="x"))])


async def test_what_is_folded_is_what_is_stored(workspace: Workspace) -> None:
    await say(workspace, e.MetadataSet(values={"t": (1, 2), "nan": float("nan")}))
    live = (await workspace.read(LOG)).metadata
    assert live == (await workspace.read(LOG, 4)).metadata == {"t": [1, 2], "nan": None}


@at_both_doors
async def test_integers_that_json_does_not_carry_are_refused(workspace: Workspace) -> None:
    for value in (2**53 + 1, -(2**60), [{"x": 2**64}]):
        await unchanged(workspace, BadInput, e.MetadataSet(values={"x": value}))


@at_both_doors
async def test_what_is_nested_too_deeply_is_refused(workspace: Workspace) -> None:
    deep: object = 1
    for _ in range(200):
        deep = [deep]
    await unchanged(workspace, BadInput, e.MetadataSet(values={"x": deep}))


@in_one_place
async def test_edits_of_one_submission_are_against_one_number(workspace: Workspace) -> None:
    await say(workspace, e.SourceEdited(cell=A, base=3, edit=(Splice(0, 0, "a"),)))
    first, second = (e.SourceEdited(cell=A, base=base, edit=(Splice(0, 0, "b"),)) for base in (3, 4))
    await unchanged(workspace, BadInput, first, second)


# ---- Rights


SCOPES: list[tuple[e.Scope, KnownEvent]] = [
    ("edit", e.NotebookRenamed(name="x")),
    ("run", e.ExecutionRequested(execution=X, cell=A, source_hash="")),
    ("approve", e.ProposalAccepted(proposal=ProposalId("p"))),
    ("approve", e.ProposalDeclined(proposal=ProposalId("p"))),
    ("admin", e.PayloadRedacted(seq=1, why="x")),
    ("admin", e.TokenRevoked(token=TokenId("t"))),
]


@in_one_place
async def test_each_event_needs_its_scope(workspace: Workspace) -> None:
    for scope, event in SCOPES:
        everything_else = ADA.scopes - {scope}
        poor = await acting(workspace, Identity(actor=ActorId("human:eve"), scopes=everything_else))
        refused = await unchanged(poor, Refused, event)
        assert scope in str(refused), event


@at_both_doors
async def test_an_identity_for_some_notebooks_sees_no_others(workspace: Workspace) -> None:
    poor = await acting(
        workspace, Identity(actor=ActorId("human:eve"), scopes=ADA.scopes, notebooks=frozenset([LogId("n2")]))
    )
    for asking in (
        poor.read(LOG),
        poor.entries(LOG),
        poor.query("select 1"),
        poor.submit(LOG, [draft(e.NotebookRenamed(name="x"))]),
    ):
        with pytest.raises(Refused):
            await asking
    assert await poor.logs() == []


async def test_the_owner_of_the_files_cannot_say_yes_to_an_agent() -> None:
    """Rule 3."""
    assert "approve" not in identities.owner().scopes


async def test_a_token_opens_until_it_is_revoked(workspace: Workspace) -> None:
    made = await workspace.create_token(ActorId("agent:codex"), ["read", "edit"], on_behalf_of=ActorId("human:ada"))
    bearer = await bearer_of(workspace, made.secret)
    (entry,) = await say(bearer, e.NotebookRenamed(name="by token"))
    assert (entry.actor, entry.on_behalf_of) == ("agent:codex", "human:ada")
    assert made.secret not in str(await workspace.entries(WORKSPACE_LOG))
    await say(workspace, e.TokenRevoked(token=made.token), log=WORKSPACE_LOG)
    with pytest.raises(Refused):
        await bearer_of(workspace, made.secret)
    with pytest.raises(Refused):
        await bearer_of(workspace, "quire_guess")
    for actor, ends in (("system:eve", None), ("agent:codex", "31.12.2025")):
        with pytest.raises((Refused, BadInput)):
            await workspace.create_token(ActorId(actor), ["read"], expires_at=ends)
    late = await workspace.create_token(ActorId("agent:codex"), ["read"], expires_at="2020-01-01T00:00:00.000000Z")
    with pytest.raises(Refused):
        await bearer_of(workspace, late.secret)


# ---- Executions


@at_both_doors
async def test_an_execution_goes_its_way_and_its_outputs_are_its_own(workspace: Workspace) -> None:
    """Rules 6 and 10."""
    epoch = await run_cell(workspace)
    runtime = await acting(workspace, RUNTIME)
    await say(
        runtime,
        e.StreamAppended(execution=X, epoch=epoch, chunk=0, name="stdout", offset=0, text="1\n"),
        e.ExecutionFinished(execution=X, epoch=epoch, status="ok", count=1),
    )
    cell = (await workspace.read(LOG)).cells[A]
    assert cell.state == "ok"
    await unchanged(runtime, NotFound, e.OutputsCleared(execution=X, epoch=epoch, chunk=1))


async def test_code_without_a_cell_goes_its_way_and_is_found_by_questions(workspace: Workspace) -> None:
    """Rules 1 and 6."""
    await say(workspace, e.ScratchRequested(execution=X, cell=CellId("s"), source="x", kind="sql"))
    runtime = await acting(workspace, RUNTIME)
    (claimed,) = await say(runtime, e.ExecutionClaimed(execution=X, runtime=RuntimeId(RUNTIME.actor)))
    assert isinstance(claimed.event, e.ExecutionClaimed)
    epoch = claimed.event.epoch or 0
    await say(
        runtime,
        e.ExecutionStarted(execution=X, cell=CellId("s"), source_hash=source_hash("x"), epoch=epoch),
        e.StreamAppended(execution=X, epoch=epoch, chunk=0, name="stdout", offset=0, text="1\n"),
        e.ExecutionFinished(execution=X, epoch=epoch, status="ok", count=1),
    )
    notebook = await workspace.read(LOG)
    assert [cell.id for cell in notebook.live_cells] == [A, B] and notebook.cells[CellId("s")].state == "ok"
    assert (await workspace.query("select cell, state from executions")).rows == (("s", "ok"),)
    assert (await workspace.query("select cell, text from outputs")).rows == (("s", "1\n"),)
    assert (await workspace.query("select cell from cells order by place")).rows == ((A,), (B,))
    await unchanged(workspace, Refused, e.CellNamed(cell=CellId("s"), name="no"))


@at_both_doors
async def test_an_old_epoch_and_another_runtime_are_refused(workspace: Workspace) -> None:
    """Rule 10."""
    epoch = await run_cell(workspace)
    runtime, other = await acting(workspace, RUNTIME), await acting(workspace, identities.runtime("other"))
    await unchanged(runtime, Refused, e.OutputsCleared(execution=X, epoch=epoch - 1, chunk=0))
    await unchanged(other, Refused, e.OutputsCleared(execution=X, epoch=epoch, chunk=0))
    await unchanged(other, Conflict, e.ExecutionClaimed(execution=X, runtime=RuntimeId("runtime:other")))
    await unchanged(workspace, Refused, e.ExecutionFinished(execution=X, epoch=epoch, status="ok"))


async def test_of_many_runtimes_that_claim_one_execution_one_gets_it(open_workspace: OpenWorkspace) -> None:
    """Rule 10."""
    handles = [await open_workspace() for _ in range(4)]
    await say(handles[0], e.NotebookCreated(name="race"), e.CellAdded(cell=A, after=None))
    for round in range(5):
        execution = ExecutionId(f"x{round}")
        await say(handles[0], e.ExecutionRequested(execution=execution, cell=A, source_hash=source_hash("")))
        claims = [
            say(
                await acting(handle, identities.runtime(str(n))),
                e.ExecutionClaimed(execution=execution, runtime=RuntimeId(f"runtime:{n}")),
            )
            for n, handle in enumerate(handles * 2)
        ]
        answers = await asyncio.gather(*claims, return_exceptions=True)
        assert sum(isinstance(answer, list) for answer in answers) == 1
        assert all(isinstance(answer, Conflict | Refused | NotFound | list) for answer in answers)
        await say(handles[0], e.InterruptRequested(execution=execution))
        held = (await handles[0].read(LOG)).execution(execution)
        assert held is not None
        lost = e.ExecutionFinished(execution=execution, epoch=held.epoch or 0, status="lost")
        await say(await acting(handles[0], identities.system()), lost)


@in_one_place
async def test_a_restart_is_asked_of_a_runtime_that_is_there_and_is_not_the_restart_itself(
    workspace: Workspace,
) -> None:
    """Rule 10."""
    await unchanged(workspace, NotFound, e.RestartRequested())
    runtime = await acting(workspace, RUNTIME)
    me = RuntimeId(RUNTIME.actor)
    await say(
        runtime, e.RuntimeAttached(runtime=me, name="gpu", language="python"), e.KernelStarted(runtime=me, kernel="k")
    )
    await unchanged(workspace, NotFound, e.RestartRequested(runtime="local"))
    for called in (None, "gpu", "python", str(me)):
        await say(workspace, e.RestartRequested(runtime=called))
    assert (await workspace.read(LOG)).runtimes[me].restarts == 0, "it is done when the runtime says so"
    await say(runtime, e.KernelRestarted(runtime=me, kernel="k2", why="asked by somebody"))
    assert (await workspace.read(LOG)).runtimes[me].restarts == 1
    await unchanged(workspace, Refused, e.KernelRestarted(runtime=me, kernel="k3"))


@at_both_doors
async def test_a_runtime_tells_how_it_is_and_what_it_asks_and_is_answered_by_name(workspace: Workspace) -> None:
    """Rule 3."""
    runtime, me = await acting(workspace, RUNTIME), RuntimeId(RUNTIME.actor)
    await say(workspace, e.ExecutionRequested(execution=X, cell=A, source_hash=source_hash("x = 1")))
    await say(runtime, e.RuntimeAttached(runtime=me, name="gpu"))
    (claimed,) = await say(runtime, e.ExecutionClaimed(execution=X, runtime=me))
    epoch = getattr(claimed.event, "epoch", 0)
    await say(runtime, e.ExecutionStarted(execution=X, cell=A, source_hash=source_hash("x = 1"), epoch=epoch))
    health: dict[str, Json] = {"kind": "health", "runtime": me, "state": "busy", "memory_bytes": 5, "execution": X}
    asked: Json = {"kind": "asked", "execution": X, "prompt": "who? "}
    # Nobody speaks for it; what makes no sense is nothing.
    workspace.lanes.say(f"{LOG}/health", {**health, "state": "dead"})
    runtime.lanes.say(f"{LOG}/health", {**health, "runtime": "runtime:other"})
    runtime.lanes.say(f"{LOG}/health", {"kind": "health"})
    async with asyncio.timeout(120):
        while not (found := (await workspace.runtimes(LOG))[0]).health or not found.asks:
            runtime.lanes.say(f"{LOG}/health", health)
            runtime.lanes.say(f"{LOG}/stdin", asked)
            await asyncio.sleep(0.02)
    assert (found.id, found.name, found.health.state, found.health.memory_bytes) == (me, "gpu", "busy", 5)
    assert [each.prompt for each in found.asks] == ["who? "]
    with pytest.raises(Conflict):
        await workspace.answer_input(LOG, X, PromptAnswer(answer="ada", prompt="which? "))
    entry = await workspace.answer_input(LOG, X, PromptAnswer(answer="ada", prompt="who? "))
    assert (entry.actor, entry.event) == (
        workspace.identity.actor,
        e.InputAnswered(execution=X, prompt="who? ", answer="ada"),
    )
    with pytest.raises(Conflict):
        await workspace.answer_input(LOG, X, PromptAnswer(answer="again"))
    with pytest.raises(NotFound):
        await workspace.answer_input(LOG, ExecutionId("nowhere"), PromptAnswer(answer="x"))


async def test_a_claim_is_held_as_long_as_it_is_renewed_and_by_whom_it_was_made(workspace: Workspace) -> None:
    """Rule 10."""
    await say(workspace, e.ExecutionRequested(execution=X, cell=A, source_hash=source_hash("x = 1")))
    runtime = await acting(workspace, RUNTIME)
    (claimed,) = await say(runtime, e.ExecutionClaimed(execution=X, runtime=RuntimeId(RUNTIME.actor)))
    claim = claimed.event
    assert isinstance(claim, e.ExecutionClaimed)
    await runtime.renew(LOG, claim)
    with pytest.raises(Refused):
        await (await acting(workspace, identities.runtime("other"))).renew(LOG, claim)
    with pytest.raises(Conflict):
        await runtime.renew(LOG, msgspec.structs.replace(claim, epoch=(claim.epoch or 0) - 1))
    await runtime.release(LOG, claim)
    with pytest.raises(Conflict):
        await runtime.renew(LOG, claim)


async def test_a_runtime_of_one_s_own_takes_what_was_asked_for_there(workspace: Workspace) -> None:
    await say(workspace, e.ExecutionRequested(execution=X, cell=A, source_hash=source_hash("x = 1")))
    runtime = await workspace.as_runtime("mine", LOG)
    assert runtime.identity.actor == "runtime:mine"
    (claimed,) = await say(runtime, e.ExecutionClaimed(execution=X, runtime=RuntimeId("runtime:mine")))
    assert isinstance(claimed.event, e.ExecutionClaimed)
    (held,) = await workspace.claims()
    assert (held.log, held.claim) == (LOG, claimed.event)
    assert 0 < held.seconds_left <= 30
    await runtime.release(LOG, claimed.event)
    assert await workspace.claims() == []
    with pytest.raises(Refused):
        await say(runtime, e.NotebookRenamed(name="not a runtime's business"))


async def test_what_is_held_is_held_once_until_it_is_let_go(open_workspace: OpenWorkspace) -> None:
    here, there = await open_workspace(), await open_workspace()
    held = await here.hold("backup:n1")
    assert held is not None
    assert [await each.hold("backup:n1") for each in (here, there)] == [None, None]
    assert await there.hold("backup:n2") is not None
    await here.let_go(held)
    assert await there.hold("backup:n1", 7200) is not None


@in_one_place
async def test_a_request_is_bound_to_what_was_seen(workspace: Workspace) -> None:
    """Rule 9."""
    seen = source_hash("x = 1")
    await say(workspace, e.SourceEdited(cell=A, base=3, edit=(Splice(4, 1, "2"),)))
    refused = await unchanged(workspace, Refused, e.ExecutionRequested(execution=X, cell=A, source_hash=seen))
    assert refused.details["source"] == "x = 2"


@in_one_place
async def test_a_request_for_one_runtime_is_not_another_s(workspace: Workspace) -> None:
    request = e.ExecutionRequested(execution=X, cell=A, source_hash=source_hash("x = 1"), runtime="gpu")
    await say(workspace, request)
    local, gpu = await acting(workspace, RUNTIME), await acting(workspace, identities.runtime("a100"))
    claim = e.ExecutionClaimed(execution=X, runtime=RuntimeId(RUNTIME.actor))
    await unchanged(local, Refused, claim)
    await say(gpu, e.RuntimeAttached(runtime=RuntimeId("runtime:a100"), name="gpu"))
    await say(gpu, e.ExecutionClaimed(execution=X, runtime=RuntimeId("runtime:a100")))
    await unchanged(local, Refused, e.ExecutionSkipped(execution=X, cell=A, why="not mine"))


@in_one_place
async def test_a_cell_that_changed_its_kind_does_not_start(workspace: Workspace) -> None:
    """Rule 9."""
    hash = source_hash("x = 1")
    await say(workspace, e.ExecutionRequested(execution=X, cell=A, source_hash=hash))
    runtime = await acting(workspace, RUNTIME)
    (claimed,) = await say(runtime, e.ExecutionClaimed(execution=X, runtime=RuntimeId(RUNTIME.actor)))
    assert isinstance(claimed.event, e.ExecutionClaimed)
    await say(workspace, e.CellKindChanged(cell=A, kind="sql"))
    start = e.ExecutionStarted(execution=X, cell=A, source_hash=hash, epoch=claimed.event.epoch or 0)
    await unchanged(runtime, Refused, start)


@on_every_store
async def test_a_run_is_undisturbed_until_it_is_over_and_a_notebook_after(workspace: Workspace) -> None:
    run, cell, runtime = LogId("r1"), CellId("step"), await acting(workspace, RUNTIME)
    hash = source_hash("1")
    await say(
        workspace,
        e.RunRequested(name="nightly", source=e.RunSource(path="a.py")),
        e.CellAdded(cell=cell, after=None, source="1"),
        log=run,
    )
    stranger, epoch = await acting(workspace, BOB), 0
    request = e.ExecutionRequested(execution=X, cell=cell, source_hash=hash)
    for status in ("queued", "claimed", "running"):
        for event in (request, e.CellRemoved(cell=cell), e.FileBound(path="a.py")):
            with pytest.raises(Refused):
                await say(stranger, event, log=run)
        if status == "queued":
            (claimed,) = await say(runtime, e.RunClaimed(runtime=RuntimeId(RUNTIME.actor)), log=run)
            assert isinstance(claimed.event, e.RunClaimed)
            epoch = claimed.event.epoch or 0
            with pytest.raises(Refused):
                await say(runtime, e.ExecutionStarted(execution=X, cell=cell, source_hash=hash, epoch=epoch), log=run)
        if status == "claimed":
            start = e.ExecutionStarted(execution=X, cell=cell, source_hash=hash, epoch=epoch)
            await say(runtime, e.RunStarted(epoch=epoch), start, log=run)
    system = await acting(workspace, identities.system())
    lost = e.RunFinished(epoch=epoch, status="lost")
    with pytest.raises(Refused):
        await say(system, lost, log=run)
    await say(system, e.ExecutionFinished(execution=X, epoch=epoch, status="lost"), lost, log=run)
    notebook = await workspace.read(run)
    assert notebook.run is not None
    assert (notebook.run.status, notebook.cells[cell].state) == ("lost", "lost")
    await say(stranger, e.ExecutionRequested(execution=ExecutionId("x2"), cell=cell, source_hash=hash), log=run)
    assert (await workspace.query("select status, actor from runs")).rows == (("lost", "human:ada"),)


@on_every_store
async def test_a_request_taken_back_leaves_what_the_cell_showed(workspace: Workspace) -> None:
    epoch = await run_cell(workspace)
    printed = e.StreamAppended(execution=X, epoch=epoch, chunk=0, name="stdout", offset=0, text="1\n")
    await say(await acting(workspace, RUNTIME), printed, e.ExecutionFinished(execution=X, epoch=epoch, status="ok"))
    again = e.ExecutionRequested(execution=ExecutionId("x2"), cell=A, source_hash=source_hash("x = 1"))
    await say(workspace, again, e.ExecutionCancelled(execution=ExecutionId("x2")))
    cell = (await workspace.read(LOG)).cells[A]
    assert cell.state == "cancelled"
    assert cell.execution is not None
    assert len(cell.execution.outputs) == 1
    rows = (await workspace.query("select execution, state from executions order by 1")).rows
    assert rows == (("x1", "ok"), ("x2", "cancelled"))


# ---- Proposals


async def propose(workspace: Workspace, *changes: e.CellChange, effects: tuple[e.RunCell, ...] = ()) -> ProposalId:
    proposal = ProposalId(new_id())
    await say(
        await acting(workspace, AGENT),
        e.ProposalMade(proposal=proposal, why="better", changes=changes, effects=effects),
    )
    return proposal


@at_both_doors
async def test_an_accepted_proposal_is_recorded_as_it_applies_now(workspace: Workspace) -> None:
    proposal = await propose(workspace, e.SourceEdited(cell=A, base=3, edit=(Splice(4, 1, "42"),)))
    await say(workspace, e.SourceEdited(cell=A, base=4, edit=(Splice(0, 0, "# why\n"),)))
    (accepted,) = await say(await acting(workspace, BOB), e.ProposalAccepted(proposal=proposal))
    assert isinstance(accepted.event, e.ProposalAccepted)
    assert (await workspace.read(LOG)).cells[A].source == "# why\nx = 42"
    assert accepted.event.applied is not None
    (change,) = accepted.event.applied
    assert isinstance(change, e.SourceEdited)
    assert change.applied == (Splice(10, 1, "42"),)


@in_one_place
async def test_nobody_accepts_their_own_proposal(workspace: Workspace) -> None:
    proposal = ProposalId("own")
    await say(workspace, e.ProposalMade(proposal=proposal, why="mine", changes=(e.CellRemoved(cell=A),)))
    await unchanged(workspace, Refused, e.ProposalAccepted(proposal=proposal))
    await say(await acting(workspace, BOB), e.ProposalAccepted(proposal=proposal))
    await unchanged(await acting(workspace, BOB), Conflict, e.ProposalDeclined(proposal=proposal))


@in_one_place
async def test_an_effect_is_void_once_what_was_shown_has_changed(workspace: Workspace) -> None:
    """Rule 9."""
    effect = e.RunCell(execution=X, cell=A, source_hash=source_hash("x = 2"))
    whole = e.SourceEdited(cell=A, base_hash=source_hash("x = 1"), text="x = 2")
    good = await propose(workspace, whole, effects=(effect,))
    late = await propose(
        workspace,
        e.CellNamed(cell=B, name="show"),
        effects=(e.RunCell(execution=ExecutionId("x2"), cell=B, source_hash=source_hash("print(x)")),),
    )
    await say(await acting(workspace, BOB), e.ProposalAccepted(proposal=good))
    assert (await workspace.read(LOG)).cells[A].state == "queued"
    await say(workspace, e.SourceEdited(cell=B, base_hash=source_hash("print(x)"), text="print(x, x)"))
    await unchanged(await acting(workspace, BOB), Refused, e.ProposalAccepted(proposal=late))
    await say(await acting(workspace, BOB), e.ProposalAccepted(proposal=late, selection=(0,)))
    notebook = await workspace.read(LOG)
    assert (notebook.cells[B].name, notebook.cells[B].state) == ("show", "never_run")


@in_one_place
async def test_effects_of_one_proposal_are_possible_one_after_the_other(workspace: Workspace) -> None:
    twice = tuple(e.RunCell(execution=ExecutionId(f"x{n}"), cell=A, source_hash=source_hash("x = 1")) for n in (1, 2))
    made = e.ProposalMade(proposal=ProposalId("p"), why="", effects=twice)
    await unchanged(await acting(workspace, AGENT), Conflict, made)


@in_one_place
async def test_a_part_of_a_proposal_may_be_accepted_unless_it_builds_on_another(workspace: Workspace) -> None:
    named = e.CellNamed(cell=A, name="load")
    edits = tuple(e.SourceEdited(cell=A, base=3, edit=(Splice(0, 0, text),)) for text in "ab")
    proposal = await propose(workspace, named, *edits)
    await unchanged(await acting(workspace, BOB), Refused, e.ProposalAccepted(proposal=proposal, selection=(2,)))
    await say(await acting(workspace, BOB), e.ProposalAccepted(proposal=proposal, selection=(1,)))
    cell = (await workspace.read(LOG)).cells[A]
    assert (cell.source, cell.name) == ("ax = 1", None)


@on_every_store
async def test_a_proposal_for_a_new_cell_and_its_run_can_be_asked_about(workspace: Workspace) -> None:
    new = CellId("new")
    effect = e.RunCell(execution=X, cell=new, source_hash=source_hash("1"))
    proposal = await propose(workspace, e.CellAdded(cell=new, after=B, source="1"), effects=(effect,))
    assert (await workspace.query("select count(*) from executions")).rows == ((0,),)
    await say(await acting(workspace, BOB), e.ProposalAccepted(proposal=proposal))
    assert (await workspace.query("select execution, state from executions")).rows == ((X, "queued"),)


# ---- Reading, following, listing


async def test_a_notebook_is_read_as_it_was_at_any_number(workspace: Workspace) -> None:
    await rename_often(workspace, 300)
    assert (await workspace.read(LOG, 1)).cells == {}
    assert (await workspace.read(LOG, 4)).name == "n0"
    assert (await workspace.read(LOG, 200)).name == "n196"
    with pytest.raises(BadInput):
        await workspace.read(LOG, 999)


async def test_reading_while_others_write_shows_what_is_committed(workspace: Workspace) -> None:
    writing = [
        asyncio.create_task(say(workspace, e.CommentAdded(comment=CommentId(f"c{n}"), text="x"))) for n in range(50)
    ]
    await asyncio.sleep(0)
    seen = [await workspace.read(LOG) for _ in range(5)]
    await asyncio.gather(*writing)
    committed = await workspace.entries(LOG)
    for notebook in seen:
        assert len(notebook.comments) == notebook.seq - 3
        assert notebook.updated_at == committed[notebook.seq - 1].at
    assert [notebook.seq for notebook in seen] == sorted(notebook.seq for notebook in seen)


async def take(pages: AsyncIterator[list[T]], wanted: int) -> list[T]:
    seen: list[T] = []
    async with asyncio.timeout(120):
        async for page in pages:
            seen += page
            if len(seen) >= wanted:
                break
    return seen


async def test_a_follower_sees_every_event_once_in_order(workspace: Workspace) -> None:
    following = asyncio.create_task(take(workspace.follow(LOG), 53))
    await asyncio.gather(*(say(workspace, e.CommentAdded(comment=CommentId(f"c{n}"), text="x")) for n in range(50)))
    assert [entry.seq for entry in await following] == list(range(1, 54))


async def test_the_feed_tells_of_growth_from_now_on(workspace: Workspace) -> None:
    following = asyncio.create_task(take(workspace.feed(), 1))
    while not following.done():  # it may start to listen after the first of these
        await say(workspace, e.NotebookRenamed(name="x"))
    (growth,) = (await following)[:1]
    assert growth.log == LOG


async def test_logs_are_listed_and_found_by_name_and_beginning(workspace: Workspace) -> None:
    await say(workspace, e.NotebookCreated(name="costs"), log=LogId("m2"))
    assert [info.name for info in await workspace.logs("notebook")] == ["costs", "sales"]
    assert (await workspace.find("sales")).log == LOG
    assert (await workspace.find("m")).log == "m2"
    await say(workspace, e.RunRequested(name="sales", source=e.RunSource(notebook=LOG, seq=1)), log=LogId("r1"))
    assert (await workspace.find("sales")).log == LOG, "its runs have its name, too"
    await say(workspace, e.NotebookCreated(name="costs"), log=LogId("m3"))
    with pytest.raises(BadInput):
        await workspace.find("costs")
    await say(workspace, e.NotebookArchived())
    assert (await workspace.find("sales")).archived
    await unchanged(workspace, Refused, e.CellRemoved(cell=A))
    await say(workspace, e.NotebookArchived(archived=False))


@at_both_doors
async def test_what_is_said_on_a_lane_is_heard_and_not_kept(workspace: Workspace) -> None:
    """Rule 5."""

    async def hear() -> list[object]:
        heard: list[object] = []
        async for message in workspace.lanes.listen("n1/presence"):
            if message != "anybody?":
                heard.append(message)
            hears.set()
            if len(heard) == 2:
                break
        return heard

    hears = asyncio.Event()
    hearing = asyncio.create_task(hear())
    async with asyncio.timeout(120):
        while not hears.is_set():  # over a network it takes a while until somebody listens
            workspace.lanes.say("n1/presence", "anybody?")
            await asyncio.sleep(0.01)
        workspace.lanes.say("n1/presence", {"at": 1})
        workspace.lanes.say("n1/selections", {"at": 9})
        workspace.lanes.say("n1/presence", {"at": 2})
        assert await hearing == [{"at": 1}, {"at": 2}]
    assert (await workspace.read(LOG)).seq == 3


@at_both_doors
async def test_blobs_are_kept_by_their_hash(workspace: Workspace) -> None:
    ref = await workspace.put_blob(b"large", "text/plain")
    assert ref.size == 5
    assert b"".join([chunk async for chunk in workspace.open_blob(ref.hash)]) == b"large"


# ---- Queries


async def test_questions_are_answered_over_the_views(workspace: Workspace) -> None:
    epoch = await run_cell(workspace)
    runtime = await acting(workspace, RUNTIME)
    await say(
        runtime,
        e.StreamAppended(execution=X, epoch=epoch, chunk=0, name="stdout", offset=0, text="hello\n"),
        e.ResultRecorded(execution=X, epoch=epoch, name="score", kind="float", value=0.94),
        e.ExecutionFinished(execution=X, epoch=epoch, status="ok", count=1),
    )
    await say(workspace, e.ActorKnown(actor=ActorId("human:ada"), name="Ada"), log=WORKSPACE_LOG)
    cells = await workspace.query("select cell, place, state, source from cells order by place")
    assert cells.rows == ((A, 1, "ok", "x = 1"), (B, 2, "never_run", "print(x)"))
    outputs = await workspace.query("select execution, kind, name, text from outputs")
    assert outputs.rows == ((X, "stream", "stdout", "hello\n"),)
    assert (await workspace.query("select name, value from results")).rows == (("score", "0.94"),)
    others = f"where actor <> '{identities.owner().actor}'"  # who has the files makes the tokens
    actors = await workspace.query(f"select actor, kind, name, events from actors {others} order by actor")
    assert actors.rows == (("human:ada", "human", "Ada", 5), ("runtime:local", "runtime", None, 5))
    assert (await workspace.query("select count(*) from events where type = 'cell_added'")).rows == ((2,),)
    assert (await workspace.query("select name, events from notebooks")).rows == (("sales", 9),)
    assert (await workspace.query("select * from runs")).rows == ()


async def test_an_answer_is_as_new_as_the_question(workspace: Workspace) -> None:
    for n in range(3):
        epoch = await run_cell(workspace, execution=ExecutionId(f"x{n}"))
        await say(
            await acting(workspace, RUNTIME),
            e.ExecutionFinished(execution=ExecutionId(f"x{n}"), epoch=epoch, status="ok"),
        )
        rows = (await workspace.query("select execution, state from executions order by execution")).rows
        assert rows == tuple((f"x{k}", "ok") for k in range(n + 1))
    await say(workspace, e.CellRemoved(cell=B))
    assert (await workspace.query("select cell from cells")).rows == ((A,),)


FORBIDDEN = [
    "delete from events",
    "update cells set source = 'x'",
    "insert into events select * from events",
    "drop table logs",
    "create table t (x integer)",
    "attach '/tmp/other.db' as other",
    "pragma journal_mode = delete",
    "select * from tokens",
    "select * from main.tokens",
    "select * from sqlite_master",
    "with events as (select * from main.tokens) select * from events",
    "with cells as (select * from sqlite_master) select * from cells",
    "with events as (select * from main.events) select digest from events",
    "select * from main.events",
    "select load_extension('x')",
    "vacuum into '/tmp/copy.db'",
    "select 1; delete from events",
    "copy (select 1) to '/tmp/x'",
    "select pg_read_file('/etc/passwd')",
    "nonsense",
]


async def test_a_question_can_change_nothing_and_see_nothing_else(workspace: Workspace) -> None:
    before = await workspace.entries(LOG)
    answers: list[tuple[str, object]] = []
    for sql in FORBIDDEN:
        try:
            answers.append((sql, await workspace.query(sql)))
        except (Refused, BadInput):
            assert await workspace.entries(LOG) == before, sql
    assert answers == []


async def test_a_question_that_takes_too_long_is_stopped(workspace: Workspace) -> None:
    endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n"
    with pytest.raises(QuireError) as stopped:
        await workspace.query(endless, seconds=0.2)
    assert "longer" in str(stopped.value)


# ---- Trust


async def test_redaction_masks_what_was_said_and_keeps_that_it_was(workspace: Workspace) -> None:
    """Rule 4."""
    await say(workspace, e.SourceEdited(cell=A, base=3, edit=(Splice(5, 0, "  # key sk-secret-1"),)))
    await say(workspace, e.CommentAdded(comment=CommentId("c"), text="the key is sk-secret-1!"))
    await workspace.query("select 1")
    (one, two) = await workspace.redact(LOG, [4, 5], "leaked", secret="sk-secret-1")
    assert (one.seq, two.seq) == (6, 7)
    notebook = await workspace.read(LOG)
    assert notebook.cells[A].source == "x = 1  # key ███████████"
    assert notebook.comments[CommentId("c")].text == "the key is ███████████!"
    assert notebook.redactions == [4, 5]
    assert "sk-secret-1" not in str(await workspace.query("select * from cells, events"))
    await workspace.redact(LOG, [5], "all of it")
    assert set((await workspace.read(LOG)).comments[CommentId("c")].text) == {"█"}
    assert {each.flaw async for each in workspace.verify()} == {None}
    (entry,) = await workspace.entries(LOG, 3, 4)
    assert entry.redacted


async def test_a_redaction_takes_the_blobs_along_that_nobody_else_refers_to(workspace: Workspace) -> None:
    epoch = await run_cell(workspace)
    runtime = await acting(workspace, RUNTIME)
    for who in (workspace, runtime):  # who had the bytes may ask about them
        key, other, shared = [await who.put_blob(data) for data in (b"x" * 99 + b"sk-secret-1", b"fine", b"shared")]
    for chunk, refs in enumerate(({"a/a": key, "b/b": other}, {"c/c": shared}, {"c/c": shared})):
        await say(runtime, e.OutputAdded(execution=X, epoch=epoch, chunk=chunk, output=e.Display(blobs=refs)))
    assert await workspace.holding(LOG, "sk-secret-1") == [7]
    await workspace.redact(LOG, [7], "leaked", secret="sk-secret-1")
    await workspace.redact(LOG, [8], "all of it")
    with pytest.raises(NotFound):
        await anext(aiter(workspace.open_blob(key.hash)))
    for kept in (other, shared):
        assert [chunk async for chunk in workspace.open_blob(kept.hash)]
    assert {found.flaw async for found in workspace.verify()} == {None}


async def test_a_commit_that_arrives_while_a_batch_is_prepared_changes_nothing_of_it(workspace: Workspace) -> None:
    await edit_often(workspace, 600)
    far = e.SourceEdited(cell=A, base=3, edit=(Splice(5, 0, "!"),))  # its rebase has to ask the store
    for n in range(20):
        alone = say(workspace, e.CommentAdded(comment=CommentId(f"c{n}"), text="x"))
        batch = say(workspace, e.CellTagged(cell=B, tags=(f"t{n}",)), far)
        await asyncio.gather(alone, batch, say(workspace, e.NotebookRenamed(name=f"n{n}")))
    assert await workspace.read(LOG) == await workspace.read(LOG, (await workspace.read(LOG)).seq)


async def test_redactions_at_once_and_given_up_leave_no_secret_behind(open_workspace: OpenWorkspace) -> None:
    here = await open_workspace()
    await say(here, e.NotebookCreated(name="n"), e.CellAdded(cell=A, after=None, source="k1=AAAA-one k2=BBBB-two"))
    await rename_often(here, 1015)
    await here.query("select 1")
    writing = [say(here, e.CommentAdded(comment=CommentId(f"c{n}"), text="x")) for n in range(20)]
    masking = [here.redact(LOG, [2], "leak", secret=secret) for secret in ("AAAA-one", "BBBB-two")]
    given_up = asyncio.ensure_future(masking[0])
    rest = asyncio.gather(masking[1], *writing)
    await asyncio.sleep(0)
    given_up.cancel()
    await rest
    with pytest.raises(asyncio.CancelledError):
        await given_up
    await here.redact(LOG, [2], "once more")  # whatever the one that was given up had done already
    for each in (here, await open_workspace()):
        assert set((await each.read(LOG)).cells[A].source) == {"█"}
        assert "BBBB" not in str((await each.query("select * from cells")).rows)
        assert {found.flaw async for found in each.verify()} == {None}


async def test_a_snapshot_that_was_made_before_a_mask_is_not_kept(open_store: OpenStore) -> None:
    store = await open_store()
    workspace = LocalWorkspace(store, MemoryBlobs(), ADA)
    await say(workspace, e.NotebookCreated(name="n"), e.CommentAdded(comment=CommentId("c"), text="sk-secret"))
    await workspace.redact(LOG, [2], "leak")
    await store.save_snapshot(Snapshot(LOG, 2, 1, b"sk-secret"))
    assert await store.snapshot(LOG, 1, 2) is None


async def test_a_claim_that_is_given_up_leaves_no_lease_that_nobody_knows(workspace: Workspace) -> None:
    await say(workspace, e.ExecutionRequested(execution=X, cell=A, source_hash=source_hash("x = 1")))
    runtime = await acting(workspace, RUNTIME)
    claim = draft(e.ExecutionClaimed(execution=X, runtime=RuntimeId(RUNTIME.actor)))
    given_up = asyncio.ensure_future(runtime.submit(LOG, [claim]))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    (claimed,) = await runtime.submit(LOG, [claim])
    assert isinstance(claimed.event, e.ExecutionClaimed)
    await runtime.renew(LOG, claimed.event)
    thief = await acting(workspace, Identity(actor=ActorId("runtime:evil"), scopes=RUNTIME.scopes))
    forged = msgspec.structs.replace(claimed.event, runtime=RuntimeId("runtime:evil"))
    with pytest.raises(Conflict):
        await thief.renew(LOG, forged)
    await thief.release(LOG, forged)
    await runtime.renew(LOG, claimed.event)


@at_both_doors
async def test_a_bundle_that_lies_about_a_blob_takes_none_away(workspace: Workspace, there: Workspace) -> None:
    ref = await (await acting(workspace, RUNTIME)).put_blob(b"picture")
    mine = await there.put_blob(b"mine!!!")
    epoch = await run_cell(workspace)
    shown = e.Display(blobs={"image/png": ref})
    await say(await acting(workspace, RUNTIME), e.OutputAdded(execution=X, epoch=epoch, chunk=0, output=shown))
    with zipfile.ZipFile(io.BytesIO(await bundled(workspace))) as old:
        files = {name: old.read(name) for name in old.namelist()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as new:
        for name, data in (files | {f"blobs/{ref.hash}": b"mine!!!"}).items():
            new.writestr(name, data)
    with pytest.raises(BadInput):
        await there.import_bundle(io.BytesIO(out.getvalue()))
    assert [chunk async for chunk in there.open_blob(mine.hash)] == [b"mine!!!"]


async def test_a_redaction_reaches_other_processes_and_snapshots(open_workspace: OpenWorkspace) -> None:
    here, there = await open_workspace(), await open_workspace()
    await say(here, e.NotebookCreated(name="n"), e.CellAdded(cell=A, after=None, source="sk-secret-1"))
    await rename_often(here, 1100)
    assert (await there.read(LOG)).cells[A].source == "sk-secret-1"
    await here.redact(LOG, [2], "leaked")
    for each in (here, there, await open_workspace()):
        assert (await each.read(LOG)).cells[A].source == "█" * 11
        assert {found.flaw async for found in each.verify()} == {None}


async def test_verify_names_no_flaw_in_what_was_only_used(workspace: Workspace) -> None:
    await rename_often(workspace, 1100)
    await workspace.create_token(ActorId("human:bob"), ["read"])
    found = [each async for each in workspace.verify()]
    assert {each.log for each in found} == {LOG, WORKSPACE_LOG}
    assert [each.flaw for each in found] == [None, None]


# ---- Carrying logs


async def bundled(workspace: Workspace) -> bytes:
    file = io.BytesIO()
    await workspace.export_bundle(LOG, file)
    return file.getvalue()


async def test_a_bundle_carries_a_log_and_its_blobs_and_is_shown_as_imported(
    workspace: Workspace, there: Workspace
) -> None:
    runtime = await acting(workspace, RUNTIME)
    ref = await runtime.put_blob(b"picture", "image/png")
    epoch = await run_cell(workspace)
    shown = e.OutputAdded(execution=X, epoch=epoch, chunk=0, output=e.Display(blobs={"image/png": ref}))
    await say(runtime, shown)
    await say(workspace, e.CommentAdded(comment=CommentId("c"), text="look"))
    carried = await there.import_bundle(io.BytesIO(await bundled(workspace)))
    assert (carried.events, carried.blobs, carried.missing_blobs) == (8, 1, ())
    assert b"".join([chunk async for chunk in there.open_blob(ref.hash)]) == b"picture"
    notebook = await there.read(LOG)
    assert notebook.comments[CommentId("c")].by == "imported:human:ada"
    assert notebook.cells[A].state == "lost", "nothing that ran elsewhere runs on here"
    assert [entry.imported for entry in await there.entries(LOG)] == [True] * 8 + [False]
    assert {each.log: each.flaw async for each in there.verify()} == {LOG: None, WORKSPACE_LOG: None}
    with pytest.raises(Conflict):
        await there.import_bundle(io.BytesIO(await bundled(workspace)))
    assert await bundled(workspace) == await bundled(workspace)


@at_both_doors
async def test_an_imported_author_is_nobody_here(workspace: Workspace, there: Workspace) -> None:
    """Rule 3: `human:ada` from elsewhere is not the local one."""
    await say(workspace, e.CommentAdded(comment=CommentId("c"), text="look"))
    await there.import_bundle(io.BytesIO(await bundled(workspace)))
    await unchanged(there, Refused, e.CommentEdited(comment=CommentId("c"), text="forged"))


TAMPERED = [
    "payload",
    "actor",
    "removed",
    "cut off",
    "blob",
    "extra blob",
    "newer",
    "not a zip",
    "no log",
    "path",
    "future",
    "actor's name",
    "another log",
]


@at_both_doors
async def test_a_bundle_that_was_tampered_with_is_refused_whole(workspace: Workspace, there: Workspace) -> None:
    ref = await (await acting(workspace, RUNTIME)).put_blob(b"picture")
    await say(workspace, e.MetadataSet(values={"x": 1}))
    epoch = await run_cell(workspace)
    output = e.Display(blobs={"image/png": ref})
    await say(await acting(workspace, RUNTIME), e.OutputAdded(execution=X, epoch=epoch, chunk=0, output=output))
    bundle = await bundled(workspace)
    taken: list[tuple[str, object]] = []
    for how in TAMPERED:
        try:
            taken.append((how, await there.import_bundle(io.BytesIO(tampered(bundle, how, ref.hash)))))
        except BadInput:
            assert await there.logs("notebook") == [], how
    assert taken == []


def tampered(bundle: bytes, how: str, blob: str) -> bytes:
    if how == "not a zip":
        return b"PK" + bundle[2:100]
    if how == "cut off":
        return bundle[:-40]
    with zipfile.ZipFile(io.BytesIO(bundle)) as old:
        files = {name: old.read(name) for name in old.namelist()}
    lines = files["log.jsonl"].splitlines(keepends=True)
    if how == "payload":
        lines[1] = lines[1].replace(b"x = 1", b"x = 2")
    if how == "actor":
        lines[1] = lines[1].replace(b"human:ada", b"human:eve")
    if how == "removed":
        del lines[2]
    if how in ("future", "actor's name", "another log"):
        lines = resealed(lines, how)
    files["log.jsonl"] = b"".join(lines)
    if how == "no log":
        del files["log.jsonl"]
    if how == "blob":
        files[f"blobs/{blob}"] = b"forged!"
    if how == "extra blob":
        files["blobs/" + "0" * 64] = b"smuggled"
    if how in ("newer", "path", "future", "actor's name", "another log"):
        manifest = msgspec.json.decode(files["quire.json"])
        manifest |= {"newer": {"format": 99}, "path": {"log": "../../etc"}}.get(how, {})
        if how not in ("newer", "path"):
            manifest["head"]["hash"] = msgspec.json.decode(lines[-1])["hash"]
        files["quire.json"] = msgspec.json.encode(manifest)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as new:
        for name, data in files.items():
            new.writestr(name, data)
    return out.getvalue()


def resealed(lines: list[bytes], how: str) -> list[bytes]:
    """The log with something forged in it, and all hashes made to fit: what a hostile Quire would send."""
    changes: dict[str, dict[str, str]] = {
        "future": {"at": "9999-12-31T00:00:00.000000Z"},
        "actor's name": {"actor": "human:\x1b[31mroot"},
        "another log": {"log": "victim"},
    }
    records = [msgspec.json.decode(line, type=Record) for line in lines]
    previous = GENESIS
    made: list[bytes] = []
    for record in records:
        forged = msgspec.structs.replace(record, **changes[how])
        forged = msgspec.structs.replace(forged, hash=link(forged, previous))
        previous = forged.hash
        made.append(msgspec.json.encode(forged) + b"\n")
    return made


def test_a_notebook_knows_its_cells() -> None:
    assert list(Notebook().live_cells) == []
