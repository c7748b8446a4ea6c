"""A notebook as it is: the values that a log folds to.

Nobody changes these but `reduce`. A run's log folds to a notebook too, with `run` set.
The last execution of each cell is kept here; older ones are read from the log (rule 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from ..events import (
    BlobRef,
    CellChange,
    CellKind,
    DueRun,
    ExecutionStatus,
    Fault,
    GitRevision,
    InputFile,
    Output,
    ReviewAnswer,
    ReviewSubject,
    RunCell,
    RunDelivered,
    RunSource,
    RunStatus,
)
from ..ids import ActorId, CellId, CommentId, ConflictId, ExecutionId, ProposalId, RuntimeId
from ..values import Json

ExecutionState: TypeAlias = Literal["queued", "claimed", "running", "skipped"] | ExecutionStatus
CellState: TypeAlias = Literal["never_run", "queued", "running", "skipped"] | ExecutionStatus
ProposalState: TypeAlias = Literal["open", "accepted", "declined", "withdrawn", "expired"]

RUNS: tuple[CellKind, ...] = ("code", "sql")
"""The kinds of cell that a runtime can execute."""
INLINE_TEXT = 64 * 1024
"""How much of a stream stays in the notebook: half of it from the head, half from the tail."""


class Input(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An answer that somebody typed for a kernel."""

    prompt: str
    answer: str | None
    by: ActorId


class Execution(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One cell run once."""

    id: ExecutionId
    cell: CellId
    source_hash: str
    cell_kind: CellKind = "code"
    state: ExecutionState
    by: ActorId
    on_behalf_of: ActorId | None = None
    at: str
    wants: str | None = None
    needs: ExecutionId | None = None
    """The execution that has to end as ok before this one may begin."""
    blocked: bool = False
    """Whether that one ended otherwise: this one is to be skipped."""
    runtime: RuntimeId | None = None
    epoch: int | None = None
    started_at: str | None = None
    started_seq: int | None = None
    finished_at: str | None = None
    count: int | None = None
    chunk: int = -1
    defines: tuple[str, ...] | None = None
    reads: dict[CellId, str] | None = None
    """The cells that had defined the names it uses, each with the fingerprint of that execution."""
    fingerprint: str = ""
    """A hash over its source and `reads`: the same again means that nothing it stands on changed."""
    outputs: list[Output] = []
    fault: Fault | None = None
    interrupted_by: ActorId | None = None
    inputs: tuple[Input, ...] = ()
    why: str = ""
    imported: bool = False
    """Whether it ran elsewhere, and only a file says what it showed."""

    @property
    def is_open(self) -> bool:
        """Whether anything more can happen to it."""
        return self.state in ("queued", "claimed", "running")


class Cell(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A piece of a notebook."""

    id: CellId
    kind: CellKind = "code"
    source: str = ""
    name: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Json] = {}
    added_by: ActorId
    edited_by: ActorId
    edited_from: str | None = None
    """The path of the file that its text came from, where the mirror took it from one."""
    changed_seq: int
    """When its source, kind or place last changed."""
    gap_seq: int = 0
    """When something that ran was last taken away from before it, or it stopped being code itself."""
    removed: bool = False
    scratch: bool = False
    """Whether it is code that was executed without a cell: it is `removed` from the beginning, and stands last."""
    after_run: bool = False
    """In a run: whether somebody added or changed it once the run was over."""
    execution: Execution | None = None
    """The last that began."""
    queued: Execution | None = None
    """The one that waits behind it."""
    missed: Execution | None = None
    """The last that ended without beginning, if nothing else has ended since."""

    @property
    def state(self) -> CellState:
        """The state a person sees."""
        if self.execution is not None and self.execution.state == "running":
            return "running"
        if self.queued is not None:
            return "queued"
        last = self.missed or self.execution
        if last is None:
            return "never_run"
        # It has ended: one that is open either runs or waits.
        return "queued" if last.state in ("queued", "claimed") else last.state

    @property
    def author(self) -> str:
        """Who wrote its text, in words: an actor, and the file that it came from if it came from one."""
        return self.edited_by if self.edited_from is None else f"{self.edited_by} from {self.edited_from}"

    @property
    def runs(self) -> bool:
        """Whether a runtime can execute it."""
        return self.kind in RUNS


class Binding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The file that a notebook is one with, and the digest of the version last merged."""

    path: str
    format: str | None = None
    digest: str | None = None
    merged_seq: int | None = None


class FileConflict(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a cell that file and log both changed."""

    cell: CellId
    base: str
    ours: str
    theirs: str
    seq: int


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A named, typed output."""

    name: str
    kind: str
    value: Json = None
    blob: BlobRef | None = None
    execution: ExecutionId
    cell: CellId | None = None
    at: str


class Run(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a run beside its cells."""

    source: RunSource
    parameters: dict[str, Json] = {}
    environment: dict[str, Json] = {}
    packages: BlobRef | None = None
    """Each package that was installed for its kernel, with its version; None where that is not known."""
    revision: GitRevision | None = None
    """Where the repository of its source stood."""
    inputs: tuple[InputFile, ...] = ()
    """The files that it declares to read."""
    policy: dict[str, str] = {}
    metadata: dict[str, Json] = {}
    wants: str | None = None
    by: ActorId
    on_behalf_of: ActorId | None = None
    at: str
    status: Literal["queued", "claimed", "running"] | RunStatus = "queued"
    runtime: RuntimeId | None = None
    epoch: int | None = None
    started_at: str | None = None
    finished_at: str | None = None
    finished_seq: int | None = None
    """The number of the event with which it ended: the notebook at this number is what the run left."""
    cancelled_by: ActorId | None = None
    """Who wanted it to stop, first."""
    failed_cell: CellId | None = None
    fault: Fault | None = None
    widgets: BlobRef | None = None
    due: DueRun | None = None
    """The schedule that began it."""
    deliveries: tuple[RunDelivered, ...] = ()
    """What the schedule had done with it once it was over."""

    @property
    def is_open(self) -> bool:
        """Whether anything more can happen to it."""
        return self.status in ("queued", "claimed", "running")


class Runtime(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A runtime that is attached to the notebook."""

    id: RuntimeId
    name: str = ""
    language: str | None = None
    environment: dict[str, Json] = {}
    kernel: str | None = None
    restarts: int = 0


class Proposal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Changes and effects that wait, or waited. Once decided, what it said is in the log only."""

    by: ActorId
    on_behalf_of: ActorId | None = None
    at: str
    seq: int
    why: str = ""
    changes: tuple[CellChange, ...] = ()
    effects: tuple[RunCell, ...] = ()
    expires_at: str | None = None
    state: ProposalState = "open"
    decided_by: ActorId | None = None
    decided_at: str | None = None
    decided_why: str = ""
    """What was said with a no."""


class Comment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What somebody said about a cell or the notebook; with `line`, about that line of the source of `source_hash`."""

    by: ActorId
    on_behalf_of: ActorId | None = None
    at: str
    text: str
    cell: CellId | None = None
    reply_to: CommentId | None = None
    line: int | None = None
    source_hash: str | None = None
    edited: bool = False
    resolved_by: ActorId | None = None


class Review(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is reviewed, and what the review came to so far. Comments are the log's."""

    subject: ReviewSubject
    by: ActorId
    on_behalf_of: ActorId | None = None
    at: str
    answer: ReviewAnswer = "open"
    answered_by: ActorId | None = None
    answered_at: str | None = None
    answered_why: str = ""
    reviewed: dict[ActorId, dict[CellId, str]] = {}
    """Which changes an actor has looked at: the version that each cell's change had then."""

    @property
    def is_open(self) -> bool:
        """Whether it waits for an answer, or for the change that was asked for."""
        return self.answer in ("open", "change_asked")


class Notebook(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The fold of a notebook's or a run's log up to `seq`. Treat it as frozen."""

    seq: int = 0
    name: str = ""
    created_by: ActorId | None = None
    created_at: str | None = None
    updated_at: str | None = None
    archived: bool = False
    metadata: dict[str, Json] = {}
    binding: Binding | None = None
    cells: dict[CellId, Cell] = {}
    """Also those that were removed: an anchor or an undo may still name them."""
    order: list[CellId] = []
    """Every cell of `cells`, from top to bottom; removed ones keep their place."""
    executions: dict[ExecutionId, CellId] = {}
    """The open ones, in the order in which they were requested."""
    displays: dict[str, list[CellId]] = {}
    """The cells whose last execution shows a display of this id."""
    definers: dict[str, CellId] = {}
    """Which cell last defined a name in the kernel."""
    run: Run | None = None
    review: Review | None = None
    runtimes: dict[RuntimeId, Runtime] = {}
    results: dict[str, Result] = {}
    proposals: dict[ProposalId, Proposal] = {}
    comments: dict[CommentId, Comment] = {}
    conflicts: dict[ConflictId, FileConflict] = {}
    redactions: list[int] = []
    """The numbers of the events whose payloads were masked."""
    skipped: int = 0
    """How many events this version of Quire did not know."""

    @property
    def live_cells(self) -> Iterator[Cell]:
        """The cells a person sees, from top to bottom."""
        cells = self.cells
        return (cell for cell in map(cells.__getitem__, self.order) if not cell.removed)

    def execution(self, execution: ExecutionId) -> Execution | None:
        """The open execution of that id."""
        cell = self.cells.get(self.executions.get(execution, CellId("")))
        if cell is None:
            return None
        for each in (cell.execution, cell.queued):
            if each is not None and each.id == execution:
                return each
        return None
