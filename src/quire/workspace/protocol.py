"""What everybody sees of a workspace, wherever it is.

`local` works on a store, `remote_workspace` over the network; one contract suite holds both.
Whoever has a `Workspace` acts as one identity, which their credentials decided.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Collection, Sequence
from typing import IO, TYPE_CHECKING, Protocol, TypeAlias

import msgspec

from ..core.chain import Flaw, Head
from ..core.edits.undo_plan import UndoPlan
from ..core.events import BlobRef, Draft, Entry, ExecutionClaimed, ProposalMade, RunClaimed, Scope
from ..core.ids import ActorId, ExecutionId, LogId
from ..core.notebook.directory import Directory
from ..core.notebook.notebook import Notebook
from ..core.values import Json
from ..stores.store import Growth, LogInfo, LogKind, ReadMark, Table
from .bundle import BundleContents
from .identity.identities import Identity
from .identity.tokens import ListedToken, NewToken
from .lanes.lanes import LaneEntry
from .lanes.runtime_info import PromptAnswer, RuntimeFound
from .log.locks import Hold

if TYPE_CHECKING:
    from .local import LocalWorkspace
    from .log.lock_renewal import KeptHold
    from .prune_runs import PrunePlan, PruneStep
    from .wire.bodies import RunProposed

Claim: TypeAlias = ExecutionClaimed | RunClaimed
"""What a runtime took, as it was recorded, with its epoch."""


class HeldClaim(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a runtime took and did not give back. Without seconds left it is lost."""

    log: LogId
    claim: Claim
    seconds_left: float


class LogVerification(msgspec.Struct, frozen=True, kw_only=True):
    """What `verify` found of one log."""

    log: LogId
    kind: LogKind
    name: str
    head: Head
    flaw: Flaw | None = None


class UndoOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken back, and the events by which; none when there was nothing to take back."""

    plan: UndoPlan
    entries: list[Entry] = []

    @property
    def proposal(self) -> ProposalMade | None:
        """The proposal that was made instead, of somebody who has to ask."""
        made = self.entries[0].event if self.entries else None
        return made if isinstance(made, ProposalMade) else None


class LaneAccess(Protocol):
    """Lanes, wherever they lead: see workspace/lanes/lanes.py."""

    def say(self, lane: str, message: Json) -> None:
        """Tell everybody who listens now. Nothing is kept."""
        ...

    def listen(self, lane: str) -> AsyncIterator[Json]:
        """Yield what is said, for as long as somebody asks for more."""
        ...

    def hear(self, lane: str) -> AsyncIterator[LaneEntry]:
        """The same, with by whom it was said."""
        ...


class Workspace(Protocol):
    """The only way to read or change anything."""

    identity: Identity
    """Who acts here."""

    @property
    def store_address(self) -> str:
        """The address at which another process of this machine opens the same store; empty where none can."""
        ...

    @property
    def lease_seconds(self) -> float:
        """How long a runtime here claims for: longer where a network may be cut for a while."""
        ...

    @property
    def lanes(self) -> LaneAccess:
        """What is said and not kept."""
        ...

    @property
    def carries_lanes(self) -> bool:
        """Whether other processes hear what is said on lanes here, and the other way round."""
        ...

    async def carry_lanes(self, log: LogId | None = None) -> None:
        """Carry lanes between the processes of the store until cancelled; return where that is not needed."""
        ...

    def beside_store(self) -> LocalWorkspace:
        """The same workspace, for what only a process beside the store can do; Refused where a server has the store."""
        ...

    def runtime_name(self, wanted: str) -> str:
        """Return the name for a runtime of this process: as wanted, where others have to know it the next time."""
        ...

    async def as_runtime(self, name: str, log: LogId) -> Workspace:
        """The same workspace for a runtime of this process that works in `log`. It is closed with this one."""
        ...

    async def as_mirror(self, log: LogId) -> Workspace:
        """The same workspace for the mirror of a notebook; Refused where whoever bound it may no longer edit it."""
        ...

    async def count_runtime(self, log: LogId, runtime: ActorId) -> KeptHold | None:
        """Count a runtime that somebody brings, for as long as the hold is kept; None where it is counted without one."""
        ...

    async def runtimes(self, log: LogId) -> list[RuntimeFound]:
        """Return the runtimes that are attached to a log, with what they said last of how they are."""
        ...

    async def answer_input(self, log: LogId, execution: ExecutionId, given: PromptAnswer) -> Entry:
        """Answer what a cell asks. A password is told to its runtime and recorded nowhere."""
        ...

    async def submit(self, log: LogId, drafts: Sequence[Draft], *, lease_seconds: float | None = None) -> list[Entry]:
        """Record the drafts in this order, all or none, and return them as recorded.

        A draft whose id or key was used before is answered with the first event. Of a bearer who has to
        ask, the drafts become one proposal, which is returned instead: `approval.proposed` tells. A claim holds
        for `lease_seconds` without being renewed, or for the usual time.
        """
        ...

    async def plan_undo(self, log: LogId, by: ActorId, since: int = 0) -> UndoPlan:
        """Plan the undo of what an actor did to the cells of a notebook after a number."""
        ...

    async def undo(self, log: LogId, by: ActorId, since: int = 0, *, seq: int | None = None) -> UndoOutcome:
        """Take back what an actor did to the cells of a notebook after a number, all or none of it.

        With `seq`, Conflict when cells were changed after that number; without, it is planned again.
        """
        ...

    async def read(self, log: LogId, seq: int | None = None) -> Notebook:
        """Return a notebook or run as it is, or as it was at an earlier number."""
        ...

    async def directory(self) -> Directory:
        """Return what is true across notebooks."""
        ...

    async def entries(
        self,
        log: LogId,
        since: int = 0,
        until: int | None = None,
        *,
        limit: int = 2000,
        types: Collection[str] | None = None,
        newest_first: bool = False,
    ) -> list[Entry]:
        """Return entries with since < seq <= until, in order or the last ones first, at most `limit`."""
        ...

    async def seen(self, log: LogId) -> ReadMark | None:
        """Return how far whoever asks has seen a log; None when they never said."""
        ...

    async def mark_seen(self, log: LogId, seq: int) -> ReadMark:
        """Keep that whoever asks has seen a log up to a number: only forwards, and nobody else is told."""
        ...

    def follow(self, log: LogId, since: int = 0) -> AsyncIterator[list[Entry]]:
        """Yield the entries after `since`, and then whatever comes, for ever; Refused once that is no longer allowed."""
        ...

    def feed(self, since: int | None = None) -> AsyncIterator[list[Growth]]:
        """Yield which logs grow, from now or from a position on, for ever."""
        ...

    async def logs(self, kind: LogKind | None = None) -> list[LogInfo]:
        """Return the logs, the one begun last first."""
        ...

    async def find(self, name: str) -> LogInfo:
        """Return the one log of that id, name or beginning of an id."""
        ...

    async def bound_to(self, path: str) -> LogId | None:
        """Return the notebook that is bound to a file: also one that whoever asks may not read, for there is one (rule 13)."""
        ...

    async def put_blob(self, data: bytes | AsyncIterable[bytes], media: str | None = None) -> BlobRef:
        """Keep large bytes and return what an event refers to them by."""
        ...

    def open_blob(self, hash: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes of a blob that a notebook refers to which they may read, or a range of them."""
        ...

    async def read_blob(self, hash: str) -> bytes:
        """Return the bytes of such a blob, all of them."""
        ...

    async def query(self, sql: str, *, limit: int = 10_000, seconds: float = 30) -> Table:
        """Answer a question over the documented views. Cannot change anything."""
        ...

    def verify(self, logs: Sequence[LogId] | None = None) -> AsyncIterator[LogVerification]:
        """Check the chains of these logs (of all when None), one by one."""
        ...

    async def holding(self, log: LogId, secret: str) -> list[int]:
        """Return the numbers of the events that hold a secret, in what they say or in a blob."""
        ...

    async def forget_snapshots(self, log: LogId) -> None:
        """Throw away the snapshots of a log; they are made anew from it."""
        ...

    async def redact(self, log: LogId, seqs: Sequence[int], why: str, *, secret: str | None = None) -> list[Entry]:
        """Mask what events said, all of it or wherever `secret` stands; that they happened stays."""
        ...

    async def plan_prune(self, older_than: str, keep_last: int = 0) -> PrunePlan:
        """Look which runs that are so old (30d), or from before a time, may go. Needs `admin`."""
        ...

    def prune(
        self, older_than: str, keep_last: int = 0, *, only: Collection[LogId] | None = None
    ) -> AsyncIterator[PruneStep]:
        """Remove such runs (of those in `only`), the blobs that nothing refers to then, and their room on disk."""
        ...

    async def export_bundle(self, log: LogId, file: IO[bytes]) -> BundleContents:
        """Write a log with its blobs as a bundle."""
        ...

    async def import_bundle(self, file: IO[bytes]) -> BundleContents:
        """Take in a bundle, verified; what it tells of is shown as imported."""
        ...

    async def renew(self, log: LogId, claim: Claim, seconds: float = ...) -> None:
        """Hold on to what was claimed, so many seconds from now, also if it lapsed; Conflict when it is lost."""
        ...

    async def release(self, log: LogId, claim: Claim) -> None:
        """Give back what was claimed, when the work is over."""
        ...

    async def claims(self) -> list[HeldClaim]:
        """Return what is claimed by whomever, and what was and is lost."""
        ...

    async def why_waiting(self, log: LogId) -> str | None:
        """Return why what waits in a log is not run, if that is for want of room for a runtime."""
        ...

    async def propose(self, run: LogId, why: str, here: Callable[[], Awaitable[RunProposed]]) -> RunProposed:
        """Propose to the source of a run what was changed in it. `here` does it, unless the files are a server's."""
        ...

    async def hold(self, name: str, seconds: float = ...) -> Hold | None:
        """Be the only process that does what has this name; None while another one does."""
        ...

    async def let_go(self, hold: Hold) -> None:
        """Give back what was held."""
        ...

    async def create_token(
        self,
        actor: ActorId,
        scopes: Collection[Scope],
        *,
        on_behalf_of: ActorId | None = None,
        notebooks: Collection[LogId] | None = None,
        expires_at: str | None = None,
        asks: Collection[Scope] = (),
    ) -> NewToken:
        """Make a token for an actor, good until a time (ISO 8601) or for so long (30d, 8h)."""
        ...

    async def create_sign_in(self) -> NewToken:
        """Make a token that signs a browser in as whoever asks: once, and within minutes."""
        ...

    async def tokens(self) -> list[ListedToken]:
        """Return what was made for whom, without secrets, the newest first."""
        ...

    async def close(self) -> None:
        """Finish what is going on and let go."""
        ...
