"""Every event by every kind of token on every kind of notebook: nothing happens that the token does not allow (rule 3).

What is allowed stands in two small tables here, `NEEDS` and `WHO`, written from docs/reference/identity.md and not from the code.
`make torture` tries all combinations, the daily tests some of them. A new event, or a new scope, needs its line.
"""

from __future__ import annotations

import io
import random
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, get_args

import msgspec
import pytest

from quire.core import codec
from quire.core import events as e
from quire.core.errors import QuireError
from quire.core.events import Draft, KnownEvent, Scope
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
from quire.core.notebook.reviews import review_log
from quire.core.text import source_hash
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace.identity.identities import OWNER_SCOPES, Identity
from quire.workspace.local import LocalWorkspace

SAMPLE = 60
"""How many combinations the daily tests try: the same ones each day."""
PLACES = ("open", "closed", "bound")
"""Open to all; closed to who has no role; and open, with a file."""

# ---- What is allowed

NEEDS: dict[str, str] = {
    **dict.fromkeys(["cell_added", "cell_removed", "cell_moved", "cell_kind_changed", "cell_named"], "edit"),
    **dict.fromkeys(["cell_tagged", "cell_metadata_set", "source_edited"], "edit"),
    **dict.fromkeys(["notebook_created", "notebook_renamed", "notebook_archived", "metadata_set"], "edit"),
    **dict.fromkeys(["conflict_raised", "conflict_resolved", "outputs_imported"], "edit"),
    **dict.fromkeys(["proposal_made", "proposal_withdrawn", "comment_added", "comment_edited"], "edit"),
    **dict.fromkeys(["comment_resolved", "review_opened", "cell_reviewed", "review_answered"], "edit"),
    **dict.fromkeys(["file_bound", "file_merged"], "bind"),  # and edit, which whoever has it here has, too
    "proposal_expired": "nobody",  # Quire itself, when the time has come
    **dict.fromkeys(["proposal_accepted", "proposal_declined"], "approve"),
    **dict.fromkeys(["execution_requested", "scratch_requested", "interrupt_requested"], "run"),
    **dict.fromkeys(["restart_requested", "run_requested", "run_cancel_requested"], "run"),
    **dict.fromkeys(["execution_claimed", "execution_started", "output_added", "stream_appended"], "serve"),
    **dict.fromkeys(["display_updated", "outputs_cleared", "execution_finished", "execution_skipped"], "serve"),
    **dict.fromkeys(
        ["result_recorded", "run_claimed", "run_started", "environment_recorded", "runtime_attached"], "serve"
    ),
    **dict.fromkeys(["runtime_detached", "kernel_started", "kernel_restarted", "run_finished"], "serve"),
    **dict.fromkeys(["execution_cancelled", "input_answered"], "run"),  # a runtime's are tried apart
    **dict.fromkeys(["payload_redacted", "actor_known", "role_set", "policy_set"], "admin"),
    **dict.fromkeys(["token_created", "token_revoked", "log_imported", "log_pruned"], "admin"),
    **dict.fromkeys(["actor_paused", "actor_resumed"], "admin"),
    **dict.fromkeys(["schedule_added", "schedule_changed", "schedule_paused", "schedule_resumed"], "run"),
    **dict.fromkeys(["schedule_removed", "schedule_asked"], "run"),
    **dict.fromkeys(["schedule_skipped", "run_delivered"], "nobody"),  # Quire itself, and the schedule of the run
}


class Who(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of token, and what is left of its scopes where."""

    actor: str
    scopes: tuple[Scope, ...]
    on_behalf_of: str | None = None
    closed: str = ""
    """What its role leaves of them in the closed notebook; `all`, or some."""
    asks: tuple[Scope, ...] = ()
    only: str | None = None
    """The one notebook that it is for."""
    is_over: bool = False

    def may(self, scope: str, place: str) -> bool:
        """Whether it allows something in a notebook, or in the workspace log (`workspace`)."""
        left = self.closed.split() if place == "closed" and self.closed != "all" else self.scopes
        return not self.is_over and scope in self.scopes and scope in left and self.only in (None, place)


ALL: tuple[Scope, ...] = ("read", "edit", "run", "approve", "admin")
WORK: tuple[Scope, ...] = ("read", "edit", "run")
BINDS: tuple[Scope, ...] = (*ALL, "bind")
EDITOR = "read edit run serve approve"
WHO: dict[str, Who] = {
    "owner": Who(actor="human:ada", scopes=ALL, closed="all"),
    "editor": Who(actor="human:bob", scopes=ALL, closed=EDITOR),
    "viewer": Who(actor="human:vic", scopes=ALL, closed="read"),
    "no role": Who(actor="human:eve", scopes=ALL),
    "owner who binds": Who(actor="human:ada", scopes=BINDS, closed="all"),
    "editor who binds": Who(actor="human:bob", scopes=BINDS, closed=EDITOR),
    "no role, but binds": Who(actor="human:eve", scopes=BINDS),
    "agent who binds": Who(actor="agent:claude", scopes=(*WORK, "bind"), on_behalf_of="human:bob", closed=EDITOR),
    "reader": Who(actor="human:ada", scopes=("read",), closed="all"),
    "agent": Who(actor="agent:claude", scopes=WORK, on_behalf_of="human:bob", closed=EDITOR),
    "agent of nobody there": Who(actor="agent:claude", scopes=WORK, on_behalf_of="human:eve"),
    "asking": Who(actor="agent:shy", scopes=WORK, on_behalf_of="human:bob", closed=EDITOR, asks=("edit", "run")),
    "owner's runtime": Who(actor="runtime:gpu", scopes=("read", "serve"), closed="all"),
    "editor's runtime": Who(actor="runtime:gpu", scopes=("read", "serve"), on_behalf_of="human:bob", closed=EDITOR),
    "viewer's runtime": Who(actor="runtime:gpu", scopes=("read", "serve"), on_behalf_of="human:vic", closed="read"),
    "runtime of nobody there": Who(actor="runtime:gpu", scopes=("read", "serve"), on_behalf_of="human:eve"),
    "schedule": Who(actor="schedule:nightly", scopes=("read", "run"), on_behalf_of="human:bob", closed=EDITOR),
    "for one notebook": Who(actor="human:ada", scopes=ALL, closed="all", only="open"),
    "expired": Who(actor="human:ada", scopes=ALL, closed="all", is_over=True),
    "revoked": Who(actor="human:ada", scopes=ALL, closed="all", is_over=True),
    "made with a revoked one": Who(actor="human:ada", scopes=ALL, closed="all", is_over=True),
}
CHANGES = {"cell_added", "cell_removed", "cell_moved", "cell_kind_changed", "cell_named", "cell_tagged"}
PROPOSABLE = CHANGES | {"cell_metadata_set", "source_edited", "execution_requested", "scratch_requested"}
TALK = {"proposal_made", "proposal_withdrawn", "comment_added", "comment_edited", "comment_resolved"} | {
    "review_opened",
    "cell_reviewed",
    "review_answered",
}


def is_allowed(who: Who, tag: str, place: str) -> bool:
    """Whether an event is recorded, by the tables alone; of one who asks, as it is or as a proposal."""
    scope = NEEDS[tag]
    if tag in ("actor_known", "policy_set", "token_created", "token_revoked", "log_imported"):
        place = "workspace"
    if tag == "notebook_created":
        place = "new"
    return who.may(scope, place) and (not who.asks or tag in PROPOSABLE | TALK)


# ---- A world in which every event could happen

A, B, C = CellId("aaaa1111"), CellId("bbbb2222"), CellId("cccc3333")
WAITS, RUNS = ExecutionId("waits"), ExecutionId("runs")
AGENT, STRANGER = ActorId("agent:proposer"), ActorId("human:stranger")
HASH = source_hash("x = 1")
P, OWN, COMMENT, CONFLICT = ProposalId("p"), ProposalId("own"), CommentId("c"), ConflictId("k")
NOW, LATER = "2026-03-02T00:00:00.000000Z", "2026-03-02T09:00:00.000000Z"


class World:
    """A workspace with a notebook of each kind, runs of them, and one bearer."""

    def __init__(self, who: Who) -> None:
        self.who = who
        self.at = NOW
        files = Identity(actor=ActorId("human:files"), scopes=OWNER_SCOPES, owns=True)
        self.files = LocalWorkspace(MemoryStore(), MemoryBlobs(), files, lambda: self.at)
        self.actor = ActorId(who.actor)
        self.runtime = RuntimeId(who.actor if who.actor.startswith("runtime:") else "runtime:local")
        self.other = TokenId("other")
        self.epochs: dict[str, int] = {}
        """Of what was claimed, by log."""
        self._numbers = iter(range(10**6))

    async def open(self, name: str) -> LocalWorkspace:
        """Make everything, and let the bearer in."""
        for place in PLACES:
            await self._notebook(LogId(place))
        await self.say(self.files, LogId("bound"), e.FileBound(path="bound.py"))
        roles: list[tuple[str, e.Role]] = [("human:ada", "owner"), ("human:bob", "editor"), ("human:vic", "viewer")]
        for actor, role in roles:
            given = e.RoleSet(actor=ActorId(actor), role=role, notebook=LogId("closed"))
            await self.say(self.files, WORKSPACE_LOG, given)
        self.other = (await self.files.create_token(STRANGER, ["read"])).token
        return await self._bearer(name)

    async def _bearer(self, name: str) -> LocalWorkspace:
        who = self.who
        behalf = ActorId(who.on_behalf_of) if who.on_behalf_of is not None else None
        maker, parent = self.files, None
        if name == "made with a revoked one":
            parent = await self.files.create_token(self.actor, ALL)
            maker = await self.files.bearer(parent.secret)
        made = await maker.create_token(
            self.actor,
            who.scopes,
            on_behalf_of=behalf,
            notebooks=[LogId(who.only)] if who.only is not None else None,
            expires_at="1h" if name == "expired" else None,
            asks=who.asks,
        )
        bearer = await self.files.bearer(made.secret)
        if name == "expired":
            self.at = LATER
        elif who.is_over:
            over = e.TokenRevoked(token=parent.token if parent is not None else made.token)
            await self.say(self.files, WORKSPACE_LOG, over)
        return bearer

    async def _notebook(self, log: LogId) -> None:
        """A notebook in which something waits, something runs, something is proposed, and three runs of it."""
        runtime = self._as(self.runtime, "read", "serve")
        me = self._as(self.actor, *ALL)
        cells = [e.CellAdded(cell=cell, after=None, source="x = 1") for cell in (A, B, C)]
        await self.say(self.files, log, e.NotebookCreated(name=f"notebook {log}"), *cells)
        for execution, cell in ((RUNS, B), (WAITS, A)):
            wanted = e.ExecutionRequested(execution=execution, cell=cell, source_hash=HASH)
            await self.say(self.files, log, wanted)
        await self.say(runtime, log, e.RuntimeAttached(runtime=self.runtime))
        epoch = await self._claim(runtime, log, e.ExecutionClaimed(execution=RUNS, runtime=self.runtime))
        started = e.ExecutionStarted(execution=RUNS, cell=B, source_hash=HASH, epoch=epoch)
        shown = e.OutputAdded(
            execution=RUNS, epoch=epoch, chunk=0, output=e.Display(data={"text/plain": "1"}, display_id="d")
        )
        await self.say(runtime, log, started, shown)
        proposed = e.ProposalMade(proposal=P, why="better", changes=(e.CellNamed(cell=C, name="better"),))
        await self.say(self._as(AGENT, "edit"), log, proposed)
        await self.say(
            me, log, msgspec.structs.replace(proposed, proposal=OWN), e.CommentAdded(comment=COMMENT, text="?")
        )
        subject = e.ProposalSubject(log=log, proposal=P)
        await self.say(self.files, review_log(subject), e.ReviewOpened(name="review", subject=subject))
        await self.say(self.files, log, e.ConflictRaised(conflict=CONFLICT, cell=C, base="", ours="1", theirs="2"))
        for run in ("queued", "claimed", "started"):
            requested = e.RunRequested(name="r", source=e.RunSource(notebook=log))
            cell = e.CellAdded(cell=A, after=None, source="x = 1")
            await self.say(self.files, LogId(f"{log}-{run}"), requested, cell)
        await self._claim(runtime, LogId(f"{log}-claimed"), e.RunClaimed(runtime=self.runtime))
        run = LogId(f"{log}-started")
        run_epoch = await self._claim(runtime, run, e.RunClaimed(runtime=self.runtime))
        await self.say(runtime, run, e.RunStarted(epoch=run_epoch))

    async def _claim(self, runtime: LocalWorkspace, log: LogId, claim: e.ExecutionClaimed | e.RunClaimed) -> int:
        (entry,) = await self.say(runtime, log, claim)
        assert isinstance(entry.event, e.ExecutionClaimed | e.RunClaimed) and entry.event.epoch is not None
        self.epochs[log] = entry.event.epoch
        return entry.event.epoch

    def _as(self, actor: ActorId | RuntimeId, *scopes: Scope) -> LocalWorkspace:
        return self.files.acting_as(Identity(actor=ActorId(actor), scopes=frozenset(scopes), owns=True))

    async def say(self, workspace: LocalWorkspace, log: LogId, *events: KnownEvent) -> list[e.Entry]:
        drafts = [Draft(id=EventId(f"w{next(self._numbers)}"), event=event) for event in events]
        return await workspace.submit(log, drafts)

    async def heads(self) -> dict[LogId, int]:
        """How long each log is: nothing is recorded that is not in one of them."""
        return {info.log: info.head.seq for info in await self.files.logs()}


def attempts(world: World, place: str) -> Iterator[tuple[LogId, KnownEvent]]:
    """Each event once, as it would be recorded if the bearer were allowed to: in the notebook, a run of it, or the workspace log."""
    log, me = LogId(place), world.runtime
    epoch, run_epoch = world.epochs.get(log, 1), world.epochs.get(f"{log}-claimed", 1)
    new, run_queued, run_claimed = LogId(f"{place}-new"), LogId(f"{place}-queued"), LogId(f"{place}-claimed")
    run_started = LogId(f"{place}-started")
    in_notebook: list[KnownEvent] = [
        e.CellAdded(cell=CellId("new"), after=None),
        e.CellRemoved(cell=C),
        e.CellMoved(cell=C, after=None),
        e.CellKindChanged(cell=C, kind="markdown"),
        e.CellNamed(cell=C, name="c"),
        e.CellTagged(cell=C, tags=("t",)),
        e.CellMetadataSet(cell=C, values={"x": 1}),
        e.SourceEdited(cell=C, base_hash=HASH, text="y = 2"),
        e.NotebookRenamed(name="other"),
        e.NotebookArchived(),
        e.MetadataSet(values={"x": 1}),
        e.FileBound(path="other.py"),
        e.ConflictRaised(conflict=ConflictId("k2"), cell=C, base="", ours="", theirs=""),
        e.ConflictResolved(conflict=CONFLICT),
        e.OutputsImported(execution=ExecutionId("i"), cell=C, source_hash=HASH),
        e.ExecutionRequested(execution=ExecutionId("x"), cell=C, source_hash=HASH),
        e.ScratchRequested(execution=ExecutionId("x"), cell=CellId("s"), source="print(1)"),
        e.ExecutionClaimed(execution=WAITS, runtime=me),
        e.OutputAdded(execution=RUNS, epoch=epoch, chunk=1, output=e.Display(data={"text/plain": "1"})),
        e.StreamAppended(execution=RUNS, epoch=epoch, chunk=1, name="stdout", offset=0, text="1"),
        e.DisplayUpdated(execution=RUNS, epoch=epoch, chunk=1, display_id="d"),
        e.OutputsCleared(execution=RUNS, epoch=epoch, chunk=1),
        e.ExecutionFinished(execution=RUNS, epoch=epoch, status="ok"),
        e.ExecutionSkipped(execution=WAITS, cell=A, why="x"),
        e.InterruptRequested(execution=RUNS),
        e.ExecutionCancelled(execution=WAITS),
        e.ResultRecorded(execution=RUNS, epoch=epoch, name="n", kind="int", value=1),
        e.RuntimeAttached(runtime=me),
        e.RuntimeDetached(runtime=me),
        e.KernelStarted(runtime=me, kernel="k"),
        e.KernelRestarted(runtime=me, kernel="k"),
        e.RestartRequested(),
        e.ProposalMade(proposal=ProposalId("p2"), why="x", changes=(e.CellRemoved(cell=C),)),
        e.ProposalAccepted(proposal=P),
        e.ProposalDeclined(proposal=P),
        e.ProposalWithdrawn(proposal=OWN),
        e.ProposalExpired(proposal=P),
        e.CommentAdded(comment=CommentId("c2"), text="x"),
        e.CommentEdited(comment=COMMENT, text="x"),
        e.CommentResolved(comment=COMMENT),
        e.PayloadRedacted(seq=2, why="x"),
    ]
    yield from ((log, event) for event in in_notebook)
    if place == "bound":
        yield log, e.FileMerged(path="bound.py", digest="0" * 64)
    if not world.who.actor.startswith("runtime:"):
        yield log, e.InputAnswered(execution=RUNS, prompt="?", answer="y")
    yield new, e.NotebookCreated(name="new")
    yield new, e.RunRequested(name="new", source=e.RunSource(notebook=log))
    yield run_queued, e.RunClaimed(runtime=me)
    yield run_queued, e.RunCancelRequested()
    yield run_claimed, e.RunStarted(epoch=run_epoch)
    yield run_started, e.EnvironmentRecorded(epoch=world.epochs.get(run_started, 1))
    yield run_claimed, e.RunFinished(epoch=run_epoch, status="error")
    subject, review = e.ProposalSubject(log=log, proposal=OWN), review_log(e.ProposalSubject(log=log, proposal=P))
    yield review_log(subject), e.ReviewOpened(name="another", subject=subject)
    yield review, e.CellReviewed(cell=C, version="0" * 64)
    yield review, e.ReviewAnswered(answer="declined")
    workspace: list[KnownEvent] = [
        e.ActorKnown(actor=STRANGER),
        e.RoleSet(actor=STRANGER, role="viewer", notebook=log),
        e.PolicySet(effects={}),
        e.TokenCreated(token=TokenId("t"), actor=world.actor, scopes=("read",), on_behalf_of=_behalf(world.who)),
        e.TokenRevoked(token=world.other),
        e.LogImported(log=LogId("elsewhere"), seq=1, hash="0" * 64),
    ]
    yield from ((WORKSPACE_LOG, event) for event in workspace)


def _behalf(who: Who) -> ActorId | None:
    return ActorId(who.on_behalf_of) if who.on_behalf_of is not None else None


# `execution_started` of a notebook needs a claim of its own, and is there when the world is made.
# Who pauses whom depends on more than scopes: test_pauses. That a log was pruned is said by nobody else: test_pruning.
# Whose a schedule is counts, too: tests/actors/test_scheduler.
SCHEDULES = {tag for tag in NEEDS if tag.startswith("schedule_")} | {"run_delivered"}
UNTRIED = {"execution_started", "actor_paused", "actor_resumed", "log_pruned"} | SCHEDULES
CASES = [(name, place) for name in WHO for place in PLACES]


def reads(workspace: LocalWorkspace, log: LogId) -> Iterator[Callable[[], Awaitable[Any]]]:
    """Each way to see something of a notebook."""
    yield lambda: workspace.read(log)
    yield lambda: workspace.read(log, 1)
    yield lambda: workspace.entries(log)
    yield lambda: anext(aiter(workspace.follow(log)))
    yield lambda: workspace.runtimes(log)
    yield lambda: workspace.holding(log, "x")
    yield lambda: workspace.export_bundle(log, io.BytesIO())


async def fails(asking: Awaitable[Any]) -> QuireError | None:
    try:
        await asking
    except QuireError as error:
        return error
    return None


async def attack(name: str, place: str, chosen: Callable[[str], bool] = lambda tag: True) -> int:
    """Try everything as one bearer in one notebook; return how much was tried."""
    who, tried = WHO[name], 0
    world = World(who)
    bearer = await world.open(name)
    before = await world.heads()
    for ask in reads(bearer, LogId(place)):
        assert (await fails(ask()) is None) is who.may("read", place), f"{name} reads {place}"
    for log, event in attempts(world, place):
        tag = codec.type_of(event)
        if not chosen(tag):
            continue
        tried += 1
        if not is_allowed(who, tag, place):
            assert await fails(world.say(bearer, log, event)) is not None, f"{name} did {tag} in {place}"
            assert await world.heads() == before, f"{name} was refused {tag} in {place}, and something was recorded"
            continue
        fresh = World(who)
        allowed = await fresh.open(name)
        ((log, event),) = [each for each in attempts(fresh, place) if codec.type_of(each[1]) == tag]
        try:
            (entry,) = await fresh.say(allowed, log, event)
        except QuireError as error:
            raise AssertionError(f"{name} may do {tag} in {place}, and is refused: {error}") from error
        asked = who.asks and tag not in TALK
        assert codec.type_of(entry.event) == ("proposal_made" if asked else tag)
        assert (entry.actor, entry.on_behalf_of) == (who.actor, who.on_behalf_of)
    return tried


def test_every_event_has_its_line() -> None:
    world = World(WHO["owner"])
    tried = {codec.type_of(event) for place in PLACES for _, event in attempts(world, place)} | UNTRIED
    known = {str(each.__struct_config__.tag) for each in get_args(e.KnownEvent)}
    assert tried == known == set(NEEDS)
    assert {scope for who in WHO.values() for scope in who.scopes} == set(get_args(Scope))


@pytest.mark.torture
@pytest.mark.parametrize(("name", "where"), CASES)
async def test_no_token_does_more_than_it_allows(name: str, where: str) -> None:
    assert await attack(name, where) >= 50


async def test_a_sample_of_tokens_does_no_more_than_they_allow() -> None:
    """Of what `make torture` tries in full: each token in one notebook, with a few events."""
    draw = random.Random(20260302)  # the same each day
    for name in WHO:
        tags = set(draw.sample(sorted(NEEDS), SAMPLE // 6))
        assert await attack(name, draw.choice(PLACES), lambda tag, tags=tags: tag in tags) > 0
