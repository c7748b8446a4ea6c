"""What can happen to a notebook.

Every change, by anyone, is one of these events. They are plain values: no clock, no I/O,
no ids made up here. A new kind of event needs a rule in docs/spec.md, a branch in
`reduce`, and a case in spec/cases/ that Python and TypeScript both run.

Who did it and when is not in the event but in its `Entry`: the workspace stamps that. A
field marked `Filled` is the workspace's too, and a sender that fills it is refused. A
field of type `Content` or `Data` holds what somebody wrote or a kernel printed: it is what a
redaction masks.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from .ids import (
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
from .text import Edit
from .values import Content, Data, Json

CellKind: TypeAlias = Literal["code", "markdown", "raw", "sql", "prompt"]
StreamName: TypeAlias = Literal["stdout", "stderr"]
ExecutionStatus: TypeAlias = Literal["ok", "error", "cancelled", "timeout", "dead_kernel", "lost"]
RunStatus: TypeAlias = Literal["success", "error", "timeout", "cancelled", "dead_kernel", "lost"]
Role: TypeAlias = Literal["owner", "editor", "viewer"]
Scope: TypeAlias = Literal["read", "edit", "run", "serve", "bind", "approve", "admin"]
Permission: TypeAlias = Literal["allowed", "asked", "denied"]
ReviewAnswer: TypeAlias = Literal["open", "accepted", "declined", "change_asked"]
MissedRule: TypeAlias = Literal["skip", "once", "all"]
OverlapRule: TypeAlias = Literal["skip", "queue", "cancel"]
SkipReason: TypeAlias = Literal["missed", "overlap", "refused"]
NotifyReason: TypeAlias = Literal["failure", "recovery", "threshold"]
DeliveryKind: TypeAlias = Literal["webhook", "command", "commit", "report"]

Filled: dict[str, Any] = {"filled": True}


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """A fact. Never changed and never deleted once recorded."""


class BlobRef(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Large bytes, kept outside the log by their SHA-256."""

    hash: str
    size: int
    media: str | None = None


class Fault(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a kernel says when a cell raises."""

    ename: Content = ""
    evalue: Content = ""
    traceback: tuple[Content, ...] = ()


# ---- The notebook. frozen, kw_only do not reach the fields of a subclass: said each time.


class NotebookCreated(Event, frozen=True, kw_only=True, tag="notebook_created"):
    """A notebook begins. The first event of its log."""

    name: Content
    metadata: Data = {}


class NotebookRenamed(Event, frozen=True, kw_only=True, tag="notebook_renamed"):
    """The notebook has another name."""

    name: Content


class NotebookArchived(Event, frozen=True, kw_only=True, tag="notebook_archived"):
    """The notebook is put away, or (`archived` false) taken out again."""

    archived: bool = True


class MetadataSet(Event, frozen=True, kw_only=True, tag="metadata_set"):
    """Keys of the notebook's metadata get values, or go. Others stay as they are."""

    values: Data = {}
    removed: tuple[str, ...] = ()


class FileBound(Event, frozen=True, kw_only=True, tag="file_bound"):
    """The notebook and the file at `path` are one from here on; None ends it."""

    path: str | None
    format: str | None = None


class FileMerged(Event, frozen=True, kw_only=True, tag="file_merged"):
    """A version of the bound file was merged in. `changes` are as they were applied.

    `kept` is that version itself, where the log alone could not tell what it said.
    """

    path: str
    digest: str
    changes: tuple[CellChange, ...] = ()
    kept: BlobRef | None = None


class ConflictRaised(Event, frozen=True, kw_only=True, tag="conflict_raised"):
    """File and log changed the same part of a cell. Both sides are kept until somebody decides."""

    conflict: ConflictId
    cell: CellId
    base: Content
    ours: Content
    theirs: Content


class ConflictResolved(Event, frozen=True, kw_only=True, tag="conflict_resolved"):
    """Somebody decided; the text they chose arrives as edits of its own."""

    conflict: ConflictId


class NamedResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A named, typed value (tagged, see values.py) or a blob."""

    name: str
    kind: str
    value: Annotated[Json, msgspec.Meta(extra={"content": True})] = None
    blob: BlobRef | None = None


class OutputsImported(Event, frozen=True, kw_only=True, tag="outputs_imported"):
    """What a cell showed and recorded elsewhere: a file that was taken in says so, or the run that this one resumes."""

    execution: ExecutionId
    cell: CellId
    source_hash: str
    outputs: tuple[Output, ...] = ()
    count: int | None = None
    results: tuple[NamedResult, ...] = ()


# ---- Cells


class CellAdded(Event, frozen=True, kw_only=True, tag="cell_added"):
    """A cell appears after `after`, or at the top when `after` is None.

    `after` may have been removed meanwhile: it keeps its place in the order. The id of a
    removed cell may be added again, which brings that cell back.
    """

    cell: CellId
    after: CellId | None
    kind: CellKind = "code"
    source: Content = ""
    name: Content | None = None
    tags: tuple[Content, ...] = ()
    metadata: Data = {}


class CellRemoved(Event, frozen=True, kw_only=True, tag="cell_removed"):
    """A cell is taken out. Its place and its text are remembered.

    With `base_hash`, the hash of the source that was seen, it is refused when the source has moved on.
    """

    cell: CellId
    base_hash: str | None = None


class CellMoved(Event, frozen=True, kw_only=True, tag="cell_moved"):
    """A cell goes after `after`, or to the top when `after` is None."""

    cell: CellId
    after: CellId | None


class CellKindChanged(Event, frozen=True, kw_only=True, tag="cell_kind_changed"):
    """A cell is of another kind."""

    cell: CellId
    kind: CellKind


class CellNamed(Event, frozen=True, kw_only=True, tag="cell_named"):
    """A cell has another name, or none."""

    cell: CellId
    name: Content | None


class CellTagged(Event, frozen=True, kw_only=True, tag="cell_tagged"):
    """A cell has these tags and no others."""

    cell: CellId
    tags: tuple[Content, ...]


class CellMetadataSet(Event, frozen=True, kw_only=True, tag="cell_metadata_set"):
    """Keys of a cell's metadata get values, or go. Others stay as they are."""

    cell: CellId
    values: Data = {}
    removed: tuple[str, ...] = ()


class SourceEdited(Event, frozen=True, kw_only=True, tag="source_edited"):
    """The text of a cell changes.

    Either `edit`, made against the log at number `base`: it is rebased over what came
    since. Or the whole new `text`, made against the source whose hash is `base_hash`:
    refused when the source has moved on. `applied` is the edit as it was applied; it is
    left out where `edit` needed no rebase.
    """

    cell: CellId
    base: int | None = None
    edit: Edit = ()
    base_hash: str | None = None
    text: Content | None = None
    applied: Annotated[Edit | None, msgspec.Meta(extra=Filled)] = None


CellChange: TypeAlias = (
    CellAdded | CellRemoved | CellMoved | CellKindChanged | CellNamed | CellTagged | CellMetadataSet | SourceEdited
)
"""What a proposal or a file may change."""


# ---- Executions


class ExecutionRequested(Event, frozen=True, kw_only=True, tag="execution_requested"):
    """Somebody wants a cell to run, as its source is under `source_hash`; with `needs`, once that one ended as ok."""

    execution: ExecutionId
    cell: CellId
    source_hash: str
    runtime: str | None = None
    needs: ExecutionId | None = None


class ScratchRequested(Event, frozen=True, kw_only=True, tag="scratch_requested"):
    """Somebody wants code to run that is in no cell of the notebook.

    `cell` is a new id, under which its execution and what that shows are found. Nothing shows it as a cell.
    """

    execution: ExecutionId
    cell: CellId
    source: Content
    kind: CellKind = "code"
    runtime: str | None = None


class ExecutionClaimed(Event, frozen=True, kw_only=True, tag="execution_claimed"):
    """A runtime takes a request. Nobody else can, as long as its lease holds."""

    execution: ExecutionId
    runtime: RuntimeId
    epoch: Annotated[int | None, msgspec.Meta(extra=Filled)] = None


class ExecutionStarted(Event, frozen=True, kw_only=True, tag="execution_started"):
    """The kernel begins. `defines` and `uses` are None where the language cannot be analysed."""

    execution: ExecutionId
    cell: CellId
    source_hash: str
    epoch: int
    defines: tuple[str, ...] | None = None
    uses: tuple[str, ...] | None = None


class Display(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="display"):
    """What a cell showed: one thing in several media types, the large ones as blobs.

    A type in both `data` and `blobs` is too long to stay inline: `data` has an excerpt.
    `count` is set on the value of the last expression (Jupyter's execute_result).
    """

    data: Data = {}
    blobs: dict[str, BlobRef] = {}
    metadata: Data = {}
    display_id: str | None = None
    count: int | None = None


class Raised(Fault, frozen=True, kw_only=True, tag_field="kind", tag="error"):
    """The error that a kernel showed among the outputs."""


class Stream(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="stream"):
    """What a cell printed, folded as a terminal would: `head`, `omitted` code points, `tail`."""

    name: StreamName
    head: Content = ""
    omitted: int = 0
    tail: Content = ""
    blob: BlobRef | None = None

    @property
    def length(self) -> int:
        """Code points of the whole text, those left out included."""
        return len(self.head) + self.omitted + len(self.tail)


Output: TypeAlias = Display | Stream | Raised


class OutputAdded(Event, frozen=True, kw_only=True, tag="output_added"):
    """An execution shows something. `chunk` counts what the runtime sent for this execution."""

    execution: ExecutionId
    epoch: int
    chunk: int
    output: Display | Raised


class StreamAppended(Event, frozen=True, kw_only=True, tag="stream_appended"):
    """An execution prints: from `offset` of the stream's folded text on, it reads `text`.

    It goes on the last output, if that is the same stream, else it begins a new one at 0.
    `blob` holds the whole text so far once it is too long to stay inline; only then may
    `offset` leave a gap.
    """

    execution: ExecutionId
    epoch: int
    chunk: int
    name: StreamName
    offset: int
    text: Content
    blob: BlobRef | None = None


class DisplayUpdated(Event, frozen=True, kw_only=True, tag="display_updated"):
    """Every display with this id, in any cell, now shows this."""

    execution: ExecutionId
    epoch: int
    chunk: int
    display_id: str
    data: Data = {}
    blobs: dict[str, BlobRef] = {}
    metadata: Data = {}


class OutputsCleared(Event, frozen=True, kw_only=True, tag="outputs_cleared"):
    """An execution takes back what it showed so far."""

    execution: ExecutionId
    epoch: int
    chunk: int


class ExecutionFinished(Event, frozen=True, kw_only=True, tag="execution_finished"):
    """The last event of an execution: whoever sees it has every output (rule 6)."""

    execution: ExecutionId
    epoch: int
    status: ExecutionStatus
    count: int | None = None
    fault: Fault | None = None


class ExecutionSkipped(Event, frozen=True, kw_only=True, tag="execution_skipped"):
    """A cell was not run, and why: an earlier one failed, or a partial run left it out."""

    execution: ExecutionId
    cell: CellId
    why: Content


class InterruptRequested(Event, frozen=True, kw_only=True, tag="interrupt_requested"):
    """Somebody wants a running execution to stop."""

    execution: ExecutionId


class ExecutionCancelled(Event, frozen=True, kw_only=True, tag="execution_cancelled"):
    """A request is taken back before the kernel began."""

    execution: ExecutionId
    why: Content = ""


class InputAnswered(Event, frozen=True, kw_only=True, tag="input_answered"):
    """Somebody typed what a kernel asked for. A password's answer is never recorded."""

    execution: ExecutionId
    prompt: Content
    answer: Content | None = None


class ResultRecorded(Event, frozen=True, kw_only=True, tag="result_recorded"):
    """A cell recorded a named, typed value (tagged, see values.py) or a blob."""

    execution: ExecutionId
    epoch: int
    name: str
    kind: str
    value: Annotated[Json, msgspec.Meta(extra={"content": True})] = None
    blob: BlobRef | None = None


# ---- Runs


class RunSource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a run executes: a file with its digest, or a notebook at a number."""

    path: str | None = None
    digest: str | None = None
    notebook: LogId | None = None
    seq: int | None = None
    reproduces: LogId | None = None
    """The run that this one repeats, to be compared with it."""


class GitRevision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the repository of a run's source stood."""

    commit: str
    dirty: bool = False
    """Whether a file that git tracks was otherwise than in the commit."""


class InputFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that a notebook declares to read, as it was when its run began."""

    path: Content
    """From the folder of the project on, with slashes."""
    digest: str
    """The SHA-256 of its bytes."""
    size: int


class DueRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """For which time of which schedule a run was begun."""

    schedule: str
    due: str
    number: int = 1
    """How many times the schedule was due until then, this one included, and not skipped."""
    attempt: int = 1
    """More than 1: it is run again, since the attempt before it failed."""
    asked_by: ActorId | None = None
    """Who asked for a run at that time, out of turn."""
    output: Content | None = None
    """The file that it leaves, from the workspace's folder on."""


class RunRequested(Event, frozen=True, kw_only=True, tag="run_requested"):
    """A run begins. The first event of its log; everything decided beforehand is in it (rule 14)."""

    name: str
    source: RunSource
    parameters: Data = {}
    environment: Data = {}
    policy: dict[str, Permission] = {}
    runtime: str | None = None
    metadata: Data = {}
    due: DueRun | None = None
    """The schedule that began it, which is also its actor."""


class RunClaimed(Event, frozen=True, kw_only=True, tag="run_claimed"):
    """A runtime takes the run, once and as a whole."""

    runtime: RuntimeId
    epoch: Annotated[int | None, msgspec.Meta(extra=Filled)] = None


class RunStarted(Event, frozen=True, kw_only=True, tag="run_started"):
    """The kernel is ready. `environment` is what was really found: interpreter, versions …"""

    epoch: int
    environment: Data = {}


class EnvironmentRecorded(Event, frozen=True, kw_only=True, tag="environment_recorded"):
    """What a run found around it, read while its first cells ran. Of two, the last counts."""

    epoch: int
    packages: BlobRef | None = None
    """An object in JSON: each package that is installed for the kernel, and its version. None: not known."""
    revision: GitRevision | None = None
    """None: the source is in no git repository."""
    inputs: tuple[InputFile, ...] = ()


class RunCancelRequested(Event, frozen=True, kw_only=True, tag="run_cancel_requested"):
    """Somebody wants a run to stop. Its runtime interrupts the kernel and ends the run as cancelled."""

    why: Content = ""


class RunDelivered(Event, frozen=True, kw_only=True, tag="run_delivered"):
    """What a schedule wants to be done with a run that is over was done, or failed. The run's own status is apart from it."""

    kind: DeliveryKind
    delivered: bool
    target: Content = ""
    """Where it went: a host, a program, a branch."""
    reason: NotifyReason | None = None
    """Why somebody was notified."""
    detail: Content = ""
    """A commit, or why it failed."""


class RunFinished(Event, frozen=True, kw_only=True, tag="run_finished"):
    """The run is over. A run that nobody claimed has no epoch: 0."""

    epoch: int = 0
    status: RunStatus
    failed_cell: CellId | None = None
    fault: Fault | None = None
    widgets: BlobRef | None = None
    """What widgets were last, as Jupyter keeps it in a notebook's metadata."""


# ---- Runtimes


class RuntimeAttached(Event, frozen=True, kw_only=True, tag="runtime_attached"):
    """A runtime is ready to run cells of this notebook."""

    runtime: RuntimeId
    name: str = ""
    language: str | None = None
    environment: Data = {}


class RuntimeDetached(Event, frozen=True, kw_only=True, tag="runtime_detached"):
    """A runtime no longer runs cells of this notebook."""

    runtime: RuntimeId
    why: Content = ""


class KernelStarted(Event, frozen=True, kw_only=True, tag="kernel_started"):
    """A runtime has a new, empty kernel."""

    runtime: RuntimeId
    kernel: str
    language: str | None = None


class KernelRestarted(Event, frozen=True, kw_only=True, tag="kernel_restarted"):
    """A kernel began anew: what cells had defined in it is gone."""

    runtime: RuntimeId
    kernel: str
    why: Content = ""


class RestartRequested(Event, frozen=True, kw_only=True, tag="restart_requested"):
    """Somebody wants a kernel to begin anew: that of a runtime (by its id, name or language), or of all.

    The runtime stops what runs, which ends as cancelled, and says so with `kernel_restarted`.
    """

    runtime: str | None = None


# ---- Proposals and comments


class RunCell(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="run_cell"):
    """The effect of running a cell, bound to the source and the kind of cell that were shown (rule 9).

    With `source`, it is that of code without a cell, and `cell` is a new id (see `scratch_requested`).
    """

    execution: ExecutionId
    cell: CellId
    source_hash: str
    cell_kind: CellKind = "code"
    needs: ExecutionId | None = None
    source: Content | None = None


class ProposalMade(Event, frozen=True, kw_only=True, tag="proposal_made"):
    """Changes and effects that wait for somebody's yes."""

    proposal: ProposalId
    why: Content
    changes: tuple[CellChange, ...] = ()
    effects: tuple[RunCell, ...] = ()
    expires_at: str | None = None


class ProposalAccepted(Event, frozen=True, kw_only=True, tag="proposal_accepted"):
    """Somebody said yes, to all of it or to the `selection` (numbers: changes first, then effects).

    `applied` and `effects` are what that comes to now, already rebased: replay never merges.
    """

    proposal: ProposalId
    selection: tuple[int, ...] | None = None
    applied: Annotated[tuple[CellChange, ...] | None, msgspec.Meta(extra=Filled)] = None
    effects: Annotated[tuple[RunCell, ...] | None, msgspec.Meta(extra=Filled)] = None


class ProposalDeclined(Event, frozen=True, kw_only=True, tag="proposal_declined"):
    """Somebody said no."""

    proposal: ProposalId
    why: Content = ""


class ProposalWithdrawn(Event, frozen=True, kw_only=True, tag="proposal_withdrawn"):
    """Who made the proposal took it back."""

    proposal: ProposalId


class ProposalExpired(Event, frozen=True, kw_only=True, tag="proposal_expired"):
    """Nobody answered in time."""

    proposal: ProposalId


class CommentAdded(Event, frozen=True, kw_only=True, tag="comment_added"):
    """Somebody says something about a cell, about the notebook, or in answer to a comment.

    With `line`, counted from 1, it is about that line of the source whose hash is `source_hash`: it stands there for as
    long as the cell has that source.
    """

    comment: CommentId
    text: Content
    cell: CellId | None = None
    reply_to: CommentId | None = None
    line: int | None = None
    source_hash: str | None = None


class CommentEdited(Event, frozen=True, kw_only=True, tag="comment_edited"):
    """Who wrote a comment wrote it again."""

    comment: CommentId
    text: Content


class CommentResolved(Event, frozen=True, kw_only=True, tag="comment_resolved"):
    """A comment is dealt with, or (`resolved` false) open again."""

    comment: CommentId
    resolved: bool = True


# ---- Reviews


class ProposalSubject(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="proposal"):
    """A review of a proposal: what it would change in the notebook `log`."""

    log: LogId
    proposal: ProposalId


class RunSubject(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="run"):
    """A review of what was changed in a run since it ended."""

    log: LogId


class RevisionsSubject(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="revisions"
):
    """A review of a file at two revisions of git: at `head`, and where that left `base`.

    `path` is relative to the workspace's folder; empty, it is the review of the branch: of all notebooks that differ,
    each of which has a review of its own. `notebook` is the one that was bound to the file when the review
    began: its roles count.
    """

    path: str
    base: str
    head: str
    notebook: LogId | None = None


ReviewSubject: TypeAlias = ProposalSubject | RunSubject | RevisionsSubject


class ReviewOpened(Event, frozen=True, kw_only=True, tag="review_opened"):
    """A review begins. The first event of its log, whose id follows from the subject."""

    name: Content
    subject: ReviewSubject


class CellReviewed(Event, frozen=True, kw_only=True, tag="cell_reviewed"):
    """Somebody has looked at a cell's change, or (`reviewed` false) wants to look again.

    `version` is the hash of both sides: a change that moves on is to be looked at anew.
    """

    cell: CellId
    version: str
    reviewed: bool = True


class ReviewAnswered(Event, frozen=True, kw_only=True, tag="review_answered"):
    """What a review came to so far. `open` takes an earlier answer back."""

    answer: ReviewAnswer
    why: Content = ""


# ---- Any log


class PayloadRedacted(Event, frozen=True, kw_only=True, tag="payload_redacted"):
    """What the event at `seq` said is masked for good; that it happened stays on record.

    `replacement` is the SHA-256 of the masked payload, so that the mask is in the chain too.
    """

    seq: int
    why: str
    replacement: Annotated[str | None, msgspec.Meta(extra=Filled)] = None


# ---- The workspace log


class ActorKnown(Event, frozen=True, kw_only=True, tag="actor_known"):
    """An actor is introduced, or described anew."""

    actor: ActorId
    name: str = ""
    metadata: Data = {}


class RoleSet(Event, frozen=True, kw_only=True, tag="role_set"):
    """An actor has a role in a notebook (in all of them when None); None takes it away."""

    actor: ActorId
    role: Role | None
    notebook: LogId | None = None


class PolicySet(Event, frozen=True, kw_only=True, tag="policy_set"):
    """Which effects are allowed, asked or denied: for everything, a notebook, an actor or both.

    It takes the place of the one before; without effects, there is none any more.
    """

    effects: dict[str, Permission]
    notebook: LogId | None = None
    actor: ActorId | None = None


class TokenCreated(Event, frozen=True, kw_only=True, tag="token_created"):
    """A token lets its bearer act as `actor`. Only its hash is kept, and not in the log."""

    token: TokenId
    actor: ActorId
    scopes: tuple[Scope, ...]
    on_behalf_of: ActorId | None = None
    notebooks: tuple[LogId, ...] | None = None
    expires_at: str | None = None
    asks: tuple[Scope, ...] = ()
    """What becomes a proposal instead: edit, run or both."""
    once: bool = False
    """Good for one sign-in and nothing else."""
    then_until: str | None = None
    """When the token ends that a browser gets for this one."""
    parent: Annotated[TokenId | None, msgspec.Meta(extra=Filled)] = None
    """The token with which this one was made: it ends with that. None: made by the owner of the files."""
    version: int = 0
    """1: made since `bind` is a scope of its own. Of older ones, only the owner's have it."""


class TokenRevoked(Event, frozen=True, kw_only=True, tag="token_revoked"):
    """A token no longer opens anything, nor do those that were made with it."""

    token: TokenId


class ActorPaused(Event, frozen=True, kw_only=True, tag="actor_paused"):
    """An actor, or whoever comes with one token, is refused everything until it is resumed; so are tokens made with it."""

    actor: ActorId | None = None
    token: TokenId | None = None
    why: Content = ""


class ActorResumed(Event, frozen=True, kw_only=True, tag="actor_resumed"):
    """An actor or a token that was paused may go on."""

    actor: ActorId | None = None
    token: TokenId | None = None


class RetryRule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How often a run that failed is begun again, and how long after its end."""

    times: int = 0
    wait_seconds: float = 60
    """Before the second attempt; before each further one, twice as long as before."""
    most_seconds: float = 3600


class NotifyRule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who is told of which ends of runs."""

    on: tuple[NotifyReason, ...] = ("failure", "recovery")
    when: str | None = None
    """For `threshold`: a result, a comparison and a number, such as `health_score < 0.8`."""
    webhook: Content | None = None
    """Where a request goes."""
    command: tuple[Content, ...] = ()
    """A program with its arguments. It gets the outcome on its standard input, and goes through no shell."""


class SchedulePlan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """When a notebook runs by itself, how, and what becomes of it. Texts may hold `{{date}}` and the like."""

    when: str
    """A cron line, `every 15m`, or `at 2026-12-01T06:00`."""
    path: str
    """The notebook file, from the workspace's folder on."""
    timezone: str = "UTC"
    parameters: Data = {}
    output: Content | None = None
    """The file that a run leaves, from the workspace's folder on."""
    missed: MissedRule = "once"
    """What becomes of times at which no scheduler lived: none is run, the last one, or each."""
    overlap: OverlapRule = "skip"
    """What becomes of a time at which the run before goes on: it is skipped, it waits, or it ends the other."""
    retries: RetryRule | None = None
    jitter_seconds: float = 0
    timeout_seconds: float | None = None
    results: tuple[str, ...] = ()
    """What a run has to record to be a success, beside what its notebook declares."""
    notify: tuple[NotifyRule, ...] = ()
    commit: str | None = None
    """The branch that outputs are committed to."""
    report: bool = False
    """Whether outputs are published with `quire report`."""
    keep_seconds: float = 0
    """How long the kernel of a run lives that failed."""


class ScheduleAdded(Event, frozen=True, kw_only=True, tag="schedule_added"):
    """A notebook runs by the clock from now on, as `schedule:NAME`, which may do what its scopes say and no more."""

    schedule: str
    plan: SchedulePlan
    scopes: tuple[Scope, ...] = ("read", "edit", "run")
    asks: tuple[Scope, ...] = ()
    """What it only proposes."""


class ScheduleChanged(Event, frozen=True, kw_only=True, tag="schedule_changed"):
    """A schedule has another plan. It acts for whoever changed it from then on, with the scopes it had."""

    schedule: str
    plan: SchedulePlan


class SchedulePaused(Event, frozen=True, kw_only=True, tag="schedule_paused"):
    """A schedule begins no runs until it is resumed. What would have been due meanwhile is not missed."""

    schedule: str
    why: Content = ""


class ScheduleResumed(Event, frozen=True, kw_only=True, tag="schedule_resumed"):
    """A schedule that was paused goes on with the next time at which it is due."""

    schedule: str


class ScheduleRemoved(Event, frozen=True, kw_only=True, tag="schedule_removed"):
    """A schedule is over. Its runs stay."""

    schedule: str


class ScheduleAsked(Event, frozen=True, kw_only=True, tag="schedule_asked"):
    """Somebody wants a run of a schedule now, out of turn. It is due when this is recorded."""

    schedule: str


class ScheduleSkipped(Event, frozen=True, kw_only=True, tag="schedule_skipped"):
    """Times at which a schedule was due and will not run, and why."""

    schedule: str
    due: str
    """The first of them."""
    until: str
    """The last of them."""
    count: int = 1
    """How many there are; 1000 stands for more, too."""
    reason: SkipReason
    why: Content = ""


class LogImported(Event, frozen=True, kw_only=True, tag="log_imported"):
    """A log came from elsewhere: its events up to `seq` were stamped there, not here."""

    log: LogId
    seq: int
    hash: str


class LogPruned(Event, frozen=True, kw_only=True, tag="log_pruned"):
    """A log was removed with all its events. `seq` and `hash` are its head as it was; the ids and keys in it stay used."""

    log: LogId
    seq: int
    hash: str
    name: Content = ""
    status: RunStatus | None = None
    """How the run had ended."""


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a newer Quire: kept as it is, skipped by `reduce`."""

    type: str
    raw: msgspec.Raw


ExecutionEvent: TypeAlias = (
    ExecutionRequested
    | ScratchRequested
    | ExecutionClaimed
    | ExecutionStarted
    | OutputAdded
    | StreamAppended
    | DisplayUpdated
    | OutputsCleared
    | ExecutionFinished
    | ExecutionSkipped
    | InterruptRequested
    | ExecutionCancelled
    | InputAnswered
    | ResultRecorded
)
RunEvent: TypeAlias = (
    RunRequested
    | RunClaimed
    | RunStarted
    | EnvironmentRecorded
    | RunCancelRequested
    | RunFinished
    | RunDelivered
    | RuntimeAttached
    | RuntimeDetached
    | KernelStarted
    | KernelRestarted
    | RestartRequested
)
ServingEvent: TypeAlias = (
    ExecutionClaimed
    | ExecutionStarted
    | OutputAdded
    | StreamAppended
    | DisplayUpdated
    | OutputsCleared
    | ExecutionFinished
    | ExecutionSkipped
    | ResultRecorded
    | RunClaimed
    | RunStarted
    | EnvironmentRecorded
    | RuntimeAttached
    | RuntimeDetached
    | KernelStarted
    | KernelRestarted
)
"""What only a runtime says: it serves what others ask for."""
SharedEvent: TypeAlias = ExecutionCancelled | InputAnswered | RunFinished
"""What somebody who asks says of any execution or run, and a runtime of those that it serves."""
ProposalEvent: TypeAlias = ProposalMade | ProposalAccepted | ProposalDeclined | ProposalWithdrawn | ProposalExpired
CommentEvent: TypeAlias = CommentAdded | CommentEdited | CommentResolved
ReviewEvent: TypeAlias = ReviewOpened | CellReviewed | ReviewAnswered
FileEvent: TypeAlias = FileBound | FileMerged | ConflictRaised | ConflictResolved | OutputsImported
PlainEvent: TypeAlias = NotebookCreated | NotebookRenamed | NotebookArchived | MetadataSet
NotebookEvent: TypeAlias = (
    CellChange | ExecutionEvent | RunEvent | ProposalEvent | CommentEvent | ReviewEvent | FileEvent | PlainEvent
)
PauseEvent: TypeAlias = ActorPaused | ActorResumed
ScheduleEvent: TypeAlias = (
    ScheduleAdded
    | ScheduleChanged
    | SchedulePaused
    | ScheduleResumed
    | ScheduleRemoved
    | ScheduleAsked
    | ScheduleSkipped
)
WorkspaceEvent: TypeAlias = (
    ActorKnown
    | RoleSet
    | PolicySet
    | TokenCreated
    | TokenRevoked
    | PauseEvent
    | ScheduleEvent
    | LogImported
    | LogPruned
)
KnownEvent: TypeAlias = NotebookEvent | WorkspaceEvent | PayloadRedacted
# Tags are on disk for ever; class names are ours to improve.
AnyEvent: TypeAlias = KnownEvent | Unknown


class Draft(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event on its way in. The same id or key again answers with the first event."""

    id: EventId
    event: KnownEvent
    key: str | None = None
    cause: EventId | None = None


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event as it stands in a log: what was said, and by whom, when and in which place."""

    log: LogId
    seq: int
    id: EventId
    at: str
    actor: ActorId
    event: AnyEvent
    key: str | None = None
    cause: EventId | None = None
    on_behalf_of: ActorId | None = None
    hash: str = ""
    imported: bool = False
    redacted: bool = False

    @property
    def by(self) -> ActorId:
        """Who did it, as seen from here: nobody from elsewhere passes for a local actor."""
        return ActorId(f"imported:{self.actor}") if self.imported else self.actor

    @property
    def behalf(self) -> ActorId | None:
        """For whom, as seen from here."""
        return ActorId(f"imported:{self.on_behalf_of}") if self.imported and self.on_behalf_of else self.on_behalf_of
