"""What is sent to single routes of a server, and what some of them answer. Frames and events are in frames.py.

The door reads each of these strictly: what is not a field of it is refused. What is described here is what
`/api/openapi.json` tells.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from ...core.edits.undo_plan import UndoPlan
from ...core.events import (
    CellChange,
    CellKind,
    ExecutionClaimed,
    MissedRule,
    OverlapRule,
    Role,
    RunCell,
    RunClaimed,
    Scope,
)
from ...core.ids import ActorId, CellId, ExecutionId, LogId, ProposalId, TokenId
from ...core.notebook.notebook import Execution, ProposalState
from ...core.values import Json
from ..log.leases import LEASE_SECONDS
from ..log.locks import Hold
from .frames import EntryOnWire

MAX_NUMBER = 2**53 - 1
Number: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
"""A number of a log, or how many of something."""
Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=3600)]
Text: TypeAlias = Annotated[str, Meta(max_length=1_000_000)]
Secret: TypeAlias = Annotated[str, Meta(min_length=1, max_length=10_000)]


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is sent with a request."""


# ---- Who


class SignIn(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token that is good for one sign-in."""

    token: Annotated[str, Meta(min_length=1, max_length=1000)]


class TokenWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whom a token is to be for, and what it is to allow."""

    actor: ActorId
    scopes: tuple[Scope, ...]
    on_behalf_of: ActorId | None = None
    notebooks: tuple[LogId, ...] | None = None
    expires_at: str | None = None
    """A time (ISO 8601), or for how long: 30d, 8h. Without it, the token does not end."""
    asks: tuple[Scope, ...] = ()


class RoleWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who has which role where; null takes it away, or means all notebooks."""

    actor: ActorId
    role: Role | None
    notebook: LogId | None = None


class RoleGiven(msgspec.Struct, frozen=True, kw_only=True):
    """A role that somebody has."""

    actor: ActorId
    role: Role
    notebook: LogId | None
    """Null: in all of them."""


class PauseWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whom to pause: an actor, or the bearer of one token."""

    actor: ActorId | None = None
    token: TokenId | None = None
    why: Annotated[str, Meta(max_length=500)] = ""
    interrupt: bool = False
    """Whether to stop what it had asked to run, too."""


class PauseEnded(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whom to let go on: an actor, or the bearer of one token."""

    actor: ActorId | None = None
    token: TokenId | None = None


class PauseMade(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a pause."""

    stopped: int
    """How many executions and runs were asked to stop."""


class RuntimeWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A runtime that is to run a log."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    log: LogId


# ---- Notebooks


class CellWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cell of a new notebook."""

    source: str = ""
    kind: CellKind = "code"
    name: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Json] = {}


class NotebookWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new notebook, with its first cells from top to bottom."""

    name: str
    cells: Annotated[tuple[CellWanted, ...], Meta(max_length=5000)] = ()
    metadata: dict[str, Json] = {}


class NotebookMade(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook that was made."""

    log: LogId
    name: str
    seq: int
    cells: tuple[CellId, ...]


class SeenUpTo(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The number up to which the bearer has seen a notebook."""

    seq: Number


class SeenFound(msgspec.Struct, frozen=True, kw_only=True):
    """How far the bearer has seen a notebook, and when they last looked; 0 and null: never."""

    seq: int = 0
    at: str | None = None


class CopyWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a copy of a notebook is to be called."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]


class ParameterFound(msgspec.Struct, frozen=True, kw_only=True):
    """A typed input of a notebook."""

    name: str
    type: str | None
    """As docs/reference/parameters.md writes types; null where nothing says it."""
    default: Json
    """A tagged value; null where it is required, or where only running the cell tells."""
    expression: str | None
    """The default as it is written, where it is not a literal."""
    help: str
    choices: tuple[Json, ...] | None
    required: bool


class RunStart(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A notebook that is to run from top to bottom, with values for its parameters."""

    notebook: LogId
    parameters: dict[str, Json] = {}


class RunStartedBody(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was started."""

    run: LogId
    warnings: tuple[str, ...] = ()


class ScheduleWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A schedule as `schedules.yaml` has it, under a name."""

    name: str
    schedule: str
    """A cron line, `every 15m`, `in 2 hours` or `at 2026-12-01T06:00`."""
    path: str
    parameters: dict[str, Json] = {}
    output_path: str | None = None
    timezone: str = "UTC"
    missed: MissedRule = "once"
    overlap: OverlapRule = "skip"
    retries: int = 0
    timeout: str | None = None
    results: tuple[str, ...] = ()
    webhook: str | None = None
    """Who is told of failures and recoveries."""
    commit: str | None = None
    report: bool = False


class ScheduleAskedBody(msgspec.Struct, frozen=True, kw_only=True):
    """A run that a schedule was asked for."""

    run: LogId
    """The log that it will have."""


class WhyWaiting(msgspec.Struct, frozen=True, kw_only=True):
    """What keeps what waits in a log from being run."""

    why: str | None = None
    """In words; null where nothing is known to."""


class RuntimeStart(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """With which kernel to start: by its name, "" for the usual one; without it, the one that was chosen before."""

    kernel: Annotated[str, Meta(max_length=200)] | None = None


class KernelFound(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel that can be chosen for a notebook."""

    name: str
    """Empty: the one that is taken when none is chosen."""
    title: str
    language: str
    interpreter: str | None
    """The Python that runs it, where it is one."""
    problem: str | None
    """Why it cannot be started."""


class KernelsFound(msgspec.Struct, frozen=True, kw_only=True):
    """The kernels for a notebook, and the one that was chosen."""

    kernels: list[KernelFound]
    chosen: str


class CellToRun(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cell, as it was when somebody looked; without a hash, as it is now."""

    cell: CellId
    source_hash: str | None = None


class ExecutionsWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Cells that are to run, in this order."""

    cells: Annotated[tuple[CellToRun, ...], Meta(min_length=1, max_length=5000)]
    runtime: str | None = None


class ScratchWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Code that is to run without being a cell."""

    source: Annotated[str, Meta(min_length=1, max_length=1_000_000)]
    kind: Literal["code", "sql"] = "code"
    runtime: str | None = None


class ExecutionsMade(msgspec.Struct, frozen=True, kw_only=True):
    """What was requested, in the same order; or what was proposed, of a bearer who has to ask."""

    executions: tuple[ExecutionId, ...]
    seq: int
    proposal: ProposalId | None = None


class ExecutionFound(msgspec.Struct, frozen=True, kw_only=True):
    """An execution, as far as it is."""

    seq: int
    """How far the log was read."""
    execution: Execution


class InputGiven(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The answer to what a cell asks."""

    answer: Annotated[str, Meta(max_length=20_000)]
    prompt: Annotated[str, Meta(max_length=20_000)] | None = None
    """To what: refused if something else is asked by now."""
    password: bool = False
    """Whether it is recorded nowhere, also if the cell did not ask for a password."""


class RestartWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose kernel is to begin anew: by the runtime's id, name or language; without one, of all that are attached."""

    runtime: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class ProposalFound(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal, as it was made and as it is."""

    proposal: ProposalId
    state: ProposalState
    why: str
    changes: tuple[CellChange, ...]
    effects: tuple[RunCell, ...]
    by: ActorId
    on_behalf_of: ActorId | None
    at: str
    seq: int
    expires_at: str | None
    decided_by: ActorId | None
    decided_at: str | None
    decided_why: str
    """What was said with a no."""


class AcceptBody(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A yes, to all of a proposal or to some of it: numbers from 0, changes first, then effects."""

    selection: tuple[Number, ...] | None = None


class Reason(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why, for the record."""

    why: Text = ""


class UndoWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose edits to take back, and after which event."""

    by: ActorId
    since: Number = 0
    seq: Number | None = None
    """The `seq` of the plan that was looked at: 409 when cells were changed after it. Without, it is planned again."""


class UndoDone(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken back, by which events; or the one proposal that was made of them."""

    plan: UndoPlan
    entries: list[EntryOnWire]
    proposed: bool = False
    """Whether the bearer has to ask, so that the only entry is a proposal."""


class RunProposed(msgspec.Struct, frozen=True, kw_only=True):
    """What was fixed in a run, as a proposal to its source."""

    run: LogId
    log: LogId
    """The notebook that is the source."""
    name: str
    path: str | None
    """The file that it is bound to."""
    was_made: bool
    """Whether the notebook was made for this, and bound to its file."""
    proposal: ProposalId
    changes: int
    seq: int


# ---- Trust


class Question(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A query over the documented views."""

    sql: Annotated[str, Meta(min_length=1, max_length=1_000_000)]
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 10_000
    seconds: Annotated[float, Meta(gt=0, le=300)] = 30.0


class VerifyBody(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which logs to verify; null: all that the bearer may read."""

    logs: tuple[LogId, ...] | None = None


class PruneBody(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which runs to remove."""

    older_than: Annotated[str, Meta(min_length=1, max_length=100)]
    """An age (30d, 8h), or a time (ISO 8601)."""
    keep_last: Number = 0
    """So many of each notebook or file stay, however old they are."""
    only: tuple[LogId, ...] | None = None
    """Of these alone, where given."""


class RedactBody(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which events to mask, and why: all they say, or wherever the secret stands."""

    seqs: Annotated[tuple[Number, ...], Meta(min_length=1, max_length=10_000)]
    why: Text
    secret: Secret | None = None


class FindSecretBody(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A secret that events may hold."""

    secret: Secret


class SecretEvents(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of the events that hold it."""

    seqs: list[int]


# ---- Leases


class RenewBody(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A claim, as it was recorded, to hold on to."""

    claim: ExecutionClaimed | RunClaimed
    seconds: Seconds = LEASE_SECONDS


class ReleaseBody(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A claim to give back."""

    claim: ExecutionClaimed | RunClaimed


class HoldWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to be the only one for."""

    name: Annotated[str, Meta(min_length=1, max_length=500)]
    seconds: Seconds = LEASE_SECONDS


class HoldRenewed(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hold to go on with."""

    hold: Hold
    seconds: Seconds = LEASE_SECONDS


class HoldReleased(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hold to give back."""

    hold: Hold
