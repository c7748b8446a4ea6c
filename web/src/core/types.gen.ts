/**
 * What can happen to a notebook, and what a log folds to. Written by tools/web_types.py from events.py, notebook.py and
 * directory.py (`make web-types`). Do not edit.
 */

/** What `JSON.parse` returns. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
/** Keys may be `__proto__`: build one with a spread or Object.fromEntries, never by assigning to a key. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** At `at`, `remove` code points go and `insert` comes in their place. */
export type Splice = readonly [at: number, remove: number, insert: string]
/** Splices in the coordinates of the text before the edit, sorted, not overlapping. */
export type Edit = readonly Splice[]

/** `kind:name`, such as `human:ada`; `imported:human:ada` when it was stamped elsewhere. */
export type ActorId = string
export type LogId = string
export type EventId = string
export type CellId = string
export type ExecutionId = string
export type ProposalId = string
export type CommentId = string
export type ConflictId = string
export type RuntimeId = string
export type TokenId = string

/** Goes up with every change of what a branch does or of what a notebook holds. */
export const REDUCER = 10
/** How many pieces of code without a cell are kept once they have ended. */
export const SCRATCHES = 10
/** How many code points of a stream stay in the notebook. */
export const INLINE_TEXT = 65536
/** The kinds of cell that a runtime can execute. */
export const RUNS = ["code", "sql"] as const
/** So many runs that were asked for out of turn are kept of a schedule. */
export const MOST_ASKED = 20
/** The one log that is neither a notebook's nor a run's. */
export const WORKSPACE_LOG = "workspace"

export type CellKind = "code" | "markdown" | "raw" | "sql" | "prompt"

export type StreamName = "stdout" | "stderr"

export type ExecutionStatus = "ok" | "error" | "cancelled" | "timeout" | "dead_kernel" | "lost"

export type RunStatus = "success" | "error" | "timeout" | "cancelled" | "dead_kernel" | "lost"

export type Role = "owner" | "editor" | "viewer"

export type Scope = "read" | "edit" | "run" | "serve" | "bind" | "approve" | "admin"

export type Permission = "allowed" | "asked" | "denied"

export type ReviewAnswer = "open" | "accepted" | "declined" | "change_asked"

export type MissedRule = "skip" | "once" | "all"

export type OverlapRule = "skip" | "queue" | "cancel"

export type SkipReason = "missed" | "overlap" | "refused"

export type NotifyReason = "failure" | "recovery" | "threshold"

export type DeliveryKind = "webhook" | "command" | "commit" | "report"

/** Large bytes, kept outside the log by their SHA-256. */
export interface BlobRef {
  readonly hash: string
  readonly size: number
  readonly media?: string | null
}

/** What a kernel says when a cell raises. */
export interface Fault {
  readonly ename?: string
  readonly evalue?: string
  readonly traceback?: readonly string[]
}

/** A notebook begins. The first event of its log. */
export interface NotebookCreated {
  readonly type: "notebook_created"
  readonly name: string
  readonly metadata?: JsonObject
}

/** The notebook has another name. */
export interface NotebookRenamed {
  readonly type: "notebook_renamed"
  readonly name: string
}

/** The notebook is put away, or (`archived` false) taken out again. */
export interface NotebookArchived {
  readonly type: "notebook_archived"
  readonly archived?: boolean
}

/** Keys of the notebook's metadata get values, or go. Others stay as they are. */
export interface MetadataSet {
  readonly type: "metadata_set"
  readonly values?: JsonObject
  readonly removed?: readonly string[]
}

/** The notebook and the file at `path` are one from here on; null ends it. */
export interface FileBound {
  readonly type: "file_bound"
  readonly path: string | null
  readonly format?: string | null
}

/**
 * A version of the bound file was merged in. `changes` are as they were applied.
 *
 * `kept` is that version itself, where the log alone could not tell what it said.
 */
export interface FileMerged {
  readonly type: "file_merged"
  readonly path: string
  readonly digest: string
  readonly changes?: readonly CellChange[]
  readonly kept?: BlobRef | null
}

/** File and log changed the same part of a cell. Both sides are kept until somebody decides. */
export interface ConflictRaised {
  readonly type: "conflict_raised"
  readonly conflict: ConflictId
  readonly cell: CellId
  readonly base: string
  readonly ours: string
  readonly theirs: string
}

/** Somebody decided; the text they chose arrives as edits of its own. */
export interface ConflictResolved {
  readonly type: "conflict_resolved"
  readonly conflict: ConflictId
}

/** A named, typed value (tagged, see values.py) or a blob. */
export interface NamedResult {
  readonly name: string
  readonly kind: string
  readonly value?: Json
  readonly blob?: BlobRef | null
}

/** What a cell showed and recorded elsewhere: a file that was taken in says so, or the run that this one resumes. */
export interface OutputsImported {
  readonly type: "outputs_imported"
  readonly execution: ExecutionId
  readonly cell: CellId
  readonly source_hash: string
  readonly outputs?: readonly Output[]
  readonly count?: number | null
  readonly results?: readonly NamedResult[]
}

/**
 * A cell appears after `after`, or at the top when `after` is null.
 *
 * `after` may have been removed meanwhile: it keeps its place in the order. The id of a
 * removed cell may be added again, which brings that cell back.
 */
export interface CellAdded {
  readonly type: "cell_added"
  readonly cell: CellId
  readonly after: CellId | null
  readonly kind?: CellKind
  readonly source?: string
  readonly name?: string | null
  readonly tags?: readonly string[]
  readonly metadata?: JsonObject
}

/**
 * A cell is taken out. Its place and its text are remembered.
 *
 * With `base_hash`, the hash of the source that was seen, it is refused when the source has moved on.
 */
export interface CellRemoved {
  readonly type: "cell_removed"
  readonly cell: CellId
  readonly base_hash?: string | null
}

/** A cell goes after `after`, or to the top when `after` is null. */
export interface CellMoved {
  readonly type: "cell_moved"
  readonly cell: CellId
  readonly after: CellId | null
}

/** A cell is of another kind. */
export interface CellKindChanged {
  readonly type: "cell_kind_changed"
  readonly cell: CellId
  readonly kind: CellKind
}

/** A cell has another name, or none. */
export interface CellNamed {
  readonly type: "cell_named"
  readonly cell: CellId
  readonly name: string | null
}

/** A cell has these tags and no others. */
export interface CellTagged {
  readonly type: "cell_tagged"
  readonly cell: CellId
  readonly tags: readonly string[]
}

/** Keys of a cell's metadata get values, or go. Others stay as they are. */
export interface CellMetadataSet {
  readonly type: "cell_metadata_set"
  readonly cell: CellId
  readonly values?: JsonObject
  readonly removed?: readonly string[]
}

/**
 * The text of a cell changes.
 *
 * Either `edit`, made against the log at number `base`: it is rebased over what came
 * since. Or the whole new `text`, made against the source whose hash is `base_hash`:
 * refused when the source has moved on. `applied` is the edit as it was applied; it is
 * left out where `edit` needed no rebase.
 */
export interface SourceEdited {
  readonly type: "source_edited"
  readonly cell: CellId
  readonly base?: number | null
  readonly edit?: Edit
  readonly base_hash?: string | null
  readonly text?: string | null
  readonly applied?: Edit | null
}

/** What a proposal or a file may change. */
export type CellChange =
  | CellAdded
  | CellRemoved
  | CellMoved
  | CellKindChanged
  | CellNamed
  | CellTagged
  | CellMetadataSet
  | SourceEdited

/** Somebody wants a cell to run, as its source is under `source_hash`; with `needs`, once that one ended as ok. */
export interface ExecutionRequested {
  readonly type: "execution_requested"
  readonly execution: ExecutionId
  readonly cell: CellId
  readonly source_hash: string
  readonly runtime?: string | null
  readonly needs?: ExecutionId | null
}

/**
 * Somebody wants code to run that is in no cell of the notebook.
 *
 * `cell` is a new id, under which its execution and what that shows are found. Nothing shows it as a cell.
 */
export interface ScratchRequested {
  readonly type: "scratch_requested"
  readonly execution: ExecutionId
  readonly cell: CellId
  readonly source: string
  readonly kind?: CellKind
  readonly runtime?: string | null
}

/** A runtime takes a request. Nobody else can, as long as its lease holds. */
export interface ExecutionClaimed {
  readonly type: "execution_claimed"
  readonly execution: ExecutionId
  readonly runtime: RuntimeId
  readonly epoch?: number | null
}

/** The kernel begins. `defines` and `uses` are null where the language cannot be analysed. */
export interface ExecutionStarted {
  readonly type: "execution_started"
  readonly execution: ExecutionId
  readonly cell: CellId
  readonly source_hash: string
  readonly epoch: number
  readonly defines?: readonly string[] | null
  readonly uses?: readonly string[] | null
}

/**
 * What a cell showed: one thing in several media types, the large ones as blobs.
 *
 * A type in both `data` and `blobs` is too long to stay inline: `data` has an excerpt.
 * `count` is set on the value of the last expression (Jupyter's execute_result).
 */
export interface Display {
  readonly kind: "display"
  readonly data?: JsonObject
  readonly blobs?: Readonly<Record<string, BlobRef>>
  readonly metadata?: JsonObject
  readonly display_id?: string | null
  readonly count?: number | null
}

/** The error that a kernel showed among the outputs. */
export interface Raised {
  readonly kind: "error"
  readonly ename?: string
  readonly evalue?: string
  readonly traceback?: readonly string[]
}

/** What a cell printed, folded as a terminal would: `head`, `omitted` code points, `tail`. */
export interface Stream {
  readonly kind: "stream"
  readonly name: StreamName
  readonly head?: string
  readonly omitted?: number
  readonly tail?: string
  readonly blob?: BlobRef | null
}

export type Output = Display | Stream | Raised

/** An execution shows something. `chunk` counts what the runtime sent for this execution. */
export interface OutputAdded {
  readonly type: "output_added"
  readonly execution: ExecutionId
  readonly epoch: number
  readonly chunk: number
  readonly output: Display | Raised
}

/**
 * An execution prints: from `offset` of the stream's folded text on, it reads `text`.
 *
 * It goes on the last output, if that is the same stream, else it begins a new one at 0.
 * `blob` holds the whole text so far once it is too long to stay inline; only then may
 * `offset` leave a gap.
 */
export interface StreamAppended {
  readonly type: "stream_appended"
  readonly execution: ExecutionId
  readonly epoch: number
  readonly chunk: number
  readonly name: StreamName
  readonly offset: number
  readonly text: string
  readonly blob?: BlobRef | null
}

/** Every display with this id, in any cell, now shows this. */
export interface DisplayUpdated {
  readonly type: "display_updated"
  readonly execution: ExecutionId
  readonly epoch: number
  readonly chunk: number
  readonly display_id: string
  readonly data?: JsonObject
  readonly blobs?: Readonly<Record<string, BlobRef>>
  readonly metadata?: JsonObject
}

/** An execution takes back what it showed so far. */
export interface OutputsCleared {
  readonly type: "outputs_cleared"
  readonly execution: ExecutionId
  readonly epoch: number
  readonly chunk: number
}

/** The last event of an execution: whoever sees it has every output (rule 6). */
export interface ExecutionFinished {
  readonly type: "execution_finished"
  readonly execution: ExecutionId
  readonly epoch: number
  readonly status: ExecutionStatus
  readonly count?: number | null
  readonly fault?: Fault | null
}

/** A cell was not run, and why: an earlier one failed, or a partial run left it out. */
export interface ExecutionSkipped {
  readonly type: "execution_skipped"
  readonly execution: ExecutionId
  readonly cell: CellId
  readonly why: string
}

/** Somebody wants a running execution to stop. */
export interface InterruptRequested {
  readonly type: "interrupt_requested"
  readonly execution: ExecutionId
}

/** A request is taken back before the kernel began. */
export interface ExecutionCancelled {
  readonly type: "execution_cancelled"
  readonly execution: ExecutionId
  readonly why?: string
}

/** Somebody typed what a kernel asked for. A password's answer is never recorded. */
export interface InputAnswered {
  readonly type: "input_answered"
  readonly execution: ExecutionId
  readonly prompt: string
  readonly answer?: string | null
}

/** A cell recorded a named, typed value (tagged, see values.py) or a blob. */
export interface ResultRecorded {
  readonly type: "result_recorded"
  readonly execution: ExecutionId
  readonly epoch: number
  readonly name: string
  readonly kind: string
  readonly value?: Json
  readonly blob?: BlobRef | null
}

/** What a run executes: a file with its digest, or a notebook at a number. */
export interface RunSource {
  readonly path?: string | null
  readonly digest?: string | null
  readonly notebook?: LogId | null
  readonly seq?: number | null
  /** The run that this one repeats, to be compared with it. */
  readonly reproduces?: LogId | null
}

/** Where the repository of a run's source stood. */
export interface GitRevision {
  readonly commit: string
  /** Whether a file that git tracks was otherwise than in the commit. */
  readonly dirty?: boolean
}

/** A file that a notebook declares to read, as it was when its run began. */
export interface InputFile {
  /** From the folder of the project on, with slashes. */
  readonly path: string
  /** The SHA-256 of its bytes. */
  readonly digest: string
  readonly size: number
}

/** For which time of which schedule a run was begun. */
export interface DueRun {
  readonly schedule: string
  readonly due: string
  /** How many times the schedule was due until then, this one included, and not skipped. */
  readonly number?: number
  /** More than 1: it is run again, since the attempt before it failed. */
  readonly attempt?: number
  /** Who asked for a run at that time, out of turn. */
  readonly asked_by?: ActorId | null
  /** The file that it leaves, from the workspace's folder on. */
  readonly output?: string | null
}

/** A run begins. The first event of its log; everything decided beforehand is in it (rule 14). */
export interface RunRequested {
  readonly type: "run_requested"
  readonly name: string
  readonly source: RunSource
  readonly parameters?: JsonObject
  readonly environment?: JsonObject
  readonly policy?: Readonly<Record<string, Permission>>
  readonly runtime?: string | null
  readonly metadata?: JsonObject
  /** The schedule that began it, which is also its actor. */
  readonly due?: DueRun | null
}

/** A runtime takes the run, once and as a whole. */
export interface RunClaimed {
  readonly type: "run_claimed"
  readonly runtime: RuntimeId
  readonly epoch?: number | null
}

/** The kernel is ready. `environment` is what was really found: interpreter, versions … */
export interface RunStarted {
  readonly type: "run_started"
  readonly epoch: number
  readonly environment?: JsonObject
}

/** What a run found around it, read while its first cells ran. Of two, the last counts. */
export interface EnvironmentRecorded {
  readonly type: "environment_recorded"
  readonly epoch: number
  /** An object in JSON: each package that is installed for the kernel, and its version. None: not known. */
  readonly packages?: BlobRef | null
  /** None: the source is in no git repository. */
  readonly revision?: GitRevision | null
  readonly inputs?: readonly InputFile[]
}

/** Somebody wants a run to stop. Its runtime interrupts the kernel and ends the run as cancelled. */
export interface RunCancelRequested {
  readonly type: "run_cancel_requested"
  readonly why?: string
}

/** What a schedule wants to be done with a run that is over was done, or failed. The run's own status is apart from it. */
export interface RunDelivered {
  readonly type: "run_delivered"
  readonly kind: DeliveryKind
  readonly delivered: boolean
  /** Where it went: a host, a program, a branch. */
  readonly target?: string
  /** Why somebody was notified. */
  readonly reason?: NotifyReason | null
  /** A commit, or why it failed. */
  readonly detail?: string
}

/** The run is over. A run that nobody claimed has no epoch: 0. */
export interface RunFinished {
  readonly type: "run_finished"
  readonly epoch?: number
  readonly status: RunStatus
  readonly failed_cell?: CellId | null
  readonly fault?: Fault | null
  /** What widgets were last, as Jupyter keeps it in a notebook's metadata. */
  readonly widgets?: BlobRef | null
}

/** A runtime is ready to run cells of this notebook. */
export interface RuntimeAttached {
  readonly type: "runtime_attached"
  readonly runtime: RuntimeId
  readonly name?: string
  readonly language?: string | null
  readonly environment?: JsonObject
}

/** A runtime no longer runs cells of this notebook. */
export interface RuntimeDetached {
  readonly type: "runtime_detached"
  readonly runtime: RuntimeId
  readonly why?: string
}

/** A runtime has a new, empty kernel. */
export interface KernelStarted {
  readonly type: "kernel_started"
  readonly runtime: RuntimeId
  readonly kernel: string
  readonly language?: string | null
}

/** A kernel began anew: what cells had defined in it is gone. */
export interface KernelRestarted {
  readonly type: "kernel_restarted"
  readonly runtime: RuntimeId
  readonly kernel: string
  readonly why?: string
}

/**
 * Somebody wants a kernel to begin anew: that of a runtime (by its id, name or language), or of all.
 *
 * The runtime stops what runs, which ends as cancelled, and says so with `kernel_restarted`.
 */
export interface RestartRequested {
  readonly type: "restart_requested"
  readonly runtime?: string | null
}

/**
 * The effect of running a cell, bound to the source and the kind of cell that were shown (rule 9).
 *
 * With `source`, it is that of code without a cell, and `cell` is a new id (see `scratch_requested`).
 */
export interface RunCell {
  readonly kind: "run_cell"
  readonly execution: ExecutionId
  readonly cell: CellId
  readonly source_hash: string
  readonly cell_kind?: CellKind
  readonly needs?: ExecutionId | null
  readonly source?: string | null
}

/** Changes and effects that wait for somebody's yes. */
export interface ProposalMade {
  readonly type: "proposal_made"
  readonly proposal: ProposalId
  readonly why: string
  readonly changes?: readonly CellChange[]
  readonly effects?: readonly RunCell[]
  readonly expires_at?: string | null
}

/**
 * Somebody said yes, to all of it or to the `selection` (numbers: changes first, then effects).
 *
 * `applied` and `effects` are what that comes to now, already rebased: replay never merges.
 */
export interface ProposalAccepted {
  readonly type: "proposal_accepted"
  readonly proposal: ProposalId
  readonly selection?: readonly number[] | null
  readonly applied?: readonly CellChange[] | null
  readonly effects?: readonly RunCell[] | null
}

/** Somebody said no. */
export interface ProposalDeclined {
  readonly type: "proposal_declined"
  readonly proposal: ProposalId
  readonly why?: string
}

/** Who made the proposal took it back. */
export interface ProposalWithdrawn {
  readonly type: "proposal_withdrawn"
  readonly proposal: ProposalId
}

/** Nobody answered in time. */
export interface ProposalExpired {
  readonly type: "proposal_expired"
  readonly proposal: ProposalId
}

/**
 * Somebody says something about a cell, about the notebook, or in answer to a comment.
 *
 * With `line`, counted from 1, it is about that line of the source whose hash is `source_hash`: it stands there for as
 * long as the cell has that source.
 */
export interface CommentAdded {
  readonly type: "comment_added"
  readonly comment: CommentId
  readonly text: string
  readonly cell?: CellId | null
  readonly reply_to?: CommentId | null
  readonly line?: number | null
  readonly source_hash?: string | null
}

/** Who wrote a comment wrote it again. */
export interface CommentEdited {
  readonly type: "comment_edited"
  readonly comment: CommentId
  readonly text: string
}

/** A comment is dealt with, or (`resolved` false) open again. */
export interface CommentResolved {
  readonly type: "comment_resolved"
  readonly comment: CommentId
  readonly resolved?: boolean
}

/** A review of a proposal: what it would change in the notebook `log`. */
export interface ProposalSubject {
  readonly kind: "proposal"
  readonly log: LogId
  readonly proposal: ProposalId
}

/** A review of what was changed in a run since it ended. */
export interface RunSubject {
  readonly kind: "run"
  readonly log: LogId
}

/**
 * A review of a file at two revisions of git: at `head`, and where that left `base`.
 *
 * `path` is relative to the workspace's folder; empty, it is the review of the branch: of all notebooks that differ,
 * each of which has a review of its own. `notebook` is the one that was bound to the file when the review
 * began: its roles count.
 */
export interface RevisionsSubject {
  readonly kind: "revisions"
  readonly path: string
  readonly base: string
  readonly head: string
  readonly notebook?: LogId | null
}

export type ReviewSubject = ProposalSubject | RunSubject | RevisionsSubject

/** A review begins. The first event of its log, whose id follows from the subject. */
export interface ReviewOpened {
  readonly type: "review_opened"
  readonly name: string
  readonly subject: ReviewSubject
}

/**
 * Somebody has looked at a cell's change, or (`reviewed` false) wants to look again.
 *
 * `version` is the hash of both sides: a change that moves on is to be looked at anew.
 */
export interface CellReviewed {
  readonly type: "cell_reviewed"
  readonly cell: CellId
  readonly version: string
  readonly reviewed?: boolean
}

/** What a review came to so far. `open` takes an earlier answer back. */
export interface ReviewAnswered {
  readonly type: "review_answered"
  readonly answer: ReviewAnswer
  readonly why?: string
}

/**
 * What the event at `seq` said is masked for good; that it happened stays on record.
 *
 * `replacement` is the SHA-256 of the masked payload, so that the mask is in the chain too.
 */
export interface PayloadRedacted {
  readonly type: "payload_redacted"
  readonly seq: number
  readonly why: string
  readonly replacement?: string | null
}

/** An actor is introduced, or described anew. */
export interface ActorKnown {
  readonly type: "actor_known"
  readonly actor: ActorId
  readonly name?: string
  readonly metadata?: JsonObject
}

/** An actor has a role in a notebook (in all of them when null); null takes it away. */
export interface RoleSet {
  readonly type: "role_set"
  readonly actor: ActorId
  readonly role: Role | null
  readonly notebook?: LogId | null
}

/**
 * Which effects are allowed, asked or denied: for everything, a notebook, an actor or both.
 *
 * It takes the place of the one before; without effects, there is none any more.
 */
export interface PolicySet {
  readonly type: "policy_set"
  readonly effects: Readonly<Record<string, Permission>>
  readonly notebook?: LogId | null
  readonly actor?: ActorId | null
}

/** A token lets its bearer act as `actor`. Only its hash is kept, and not in the log. */
export interface TokenCreated {
  readonly type: "token_created"
  readonly token: TokenId
  readonly actor: ActorId
  readonly scopes: readonly Scope[]
  readonly on_behalf_of?: ActorId | null
  readonly notebooks?: readonly LogId[] | null
  readonly expires_at?: string | null
  /** What becomes a proposal instead: edit, run or both. */
  readonly asks?: readonly Scope[]
  /** Good for one sign-in and nothing else. */
  readonly once?: boolean
  /** When the token ends that a browser gets for this one. */
  readonly then_until?: string | null
  /** The token with which this one was made: it ends with that. None: made by the owner of the files. */
  readonly parent?: TokenId | null
  /** 1: made since `bind` is a scope of its own. Of older ones, only the owner's have it. */
  readonly version?: number
}

/** A token no longer opens anything, nor do those that were made with it. */
export interface TokenRevoked {
  readonly type: "token_revoked"
  readonly token: TokenId
}

/** An actor, or whoever comes with one token, is refused everything until it is resumed; so are tokens made with it. */
export interface ActorPaused {
  readonly type: "actor_paused"
  readonly actor?: ActorId | null
  readonly token?: TokenId | null
  readonly why?: string
}

/** An actor or a token that was paused may go on. */
export interface ActorResumed {
  readonly type: "actor_resumed"
  readonly actor?: ActorId | null
  readonly token?: TokenId | null
}

/** How often a run that failed is begun again, and how long after its end. */
export interface RetryRule {
  readonly times?: number
  /** Before the second attempt; before each further one, twice as long as before. */
  readonly wait_seconds?: number
  readonly most_seconds?: number
}

/** Who is told of which ends of runs. */
export interface NotifyRule {
  readonly on?: readonly NotifyReason[]
  /** For `threshold`: a result, a comparison and a number, such as `health_score < 0.8`. */
  readonly when?: string | null
  /** Where a request goes. */
  readonly webhook?: string | null
  /** A program with its arguments. It gets the outcome on its standard input, and goes through no shell. */
  readonly command?: readonly string[]
}

/** When a notebook runs by itself, how, and what becomes of it. Texts may hold `{{date}}` and the like. */
export interface SchedulePlan {
  /** A cron line, `every 15m`, or `at 2026-12-01T06:00`. */
  readonly when: string
  /** The notebook file, from the workspace's folder on. */
  readonly path: string
  readonly timezone?: string
  readonly parameters?: JsonObject
  /** The file that a run leaves, from the workspace's folder on. */
  readonly output?: string | null
  /** What becomes of times at which no scheduler lived: none is run, the last one, or each. */
  readonly missed?: MissedRule
  /** What becomes of a time at which the run before goes on: it is skipped, it waits, or it ends the other. */
  readonly overlap?: OverlapRule
  readonly retries?: RetryRule | null
  readonly jitter_seconds?: number
  readonly timeout_seconds?: number | null
  /** What a run has to record to be a success, beside what its notebook declares. */
  readonly results?: readonly string[]
  readonly notify?: readonly NotifyRule[]
  /** The branch that outputs are committed to. */
  readonly commit?: string | null
  /** Whether outputs are published with `quire report`. */
  readonly report?: boolean
  /** How long the kernel of a run lives that failed. */
  readonly keep_seconds?: number
}

/** A notebook runs by the clock from now on, as `schedule:NAME`, which may do what its scopes say and no more. */
export interface ScheduleAdded {
  readonly type: "schedule_added"
  readonly schedule: string
  readonly plan: SchedulePlan
  readonly scopes?: readonly Scope[]
  /** What it only proposes. */
  readonly asks?: readonly Scope[]
}

/** A schedule has another plan. It acts for whoever changed it from then on, with the scopes it had. */
export interface ScheduleChanged {
  readonly type: "schedule_changed"
  readonly schedule: string
  readonly plan: SchedulePlan
}

/** A schedule begins no runs until it is resumed. What would have been due meanwhile is not missed. */
export interface SchedulePaused {
  readonly type: "schedule_paused"
  readonly schedule: string
  readonly why?: string
}

/** A schedule that was paused goes on with the next time at which it is due. */
export interface ScheduleResumed {
  readonly type: "schedule_resumed"
  readonly schedule: string
}

/** A schedule is over. Its runs stay. */
export interface ScheduleRemoved {
  readonly type: "schedule_removed"
  readonly schedule: string
}

/** Somebody wants a run of a schedule now, out of turn. It is due when this is recorded. */
export interface ScheduleAsked {
  readonly type: "schedule_asked"
  readonly schedule: string
}

/** Times at which a schedule was due and will not run, and why. */
export interface ScheduleSkipped {
  readonly type: "schedule_skipped"
  readonly schedule: string
  /** The first of them. */
  readonly due: string
  /** The last of them. */
  readonly until: string
  /** How many there are; 1000 stands for more, too. */
  readonly count?: number
  readonly reason: SkipReason
  readonly why?: string
}

/** A log came from elsewhere: its events up to `seq` were stamped there, not here. */
export interface LogImported {
  readonly type: "log_imported"
  readonly log: LogId
  readonly seq: number
  readonly hash: string
}

/** A log was removed with all its events. `seq` and `hash` are its head as it was; the ids and keys in it stay used. */
export interface LogPruned {
  readonly type: "log_pruned"
  readonly log: LogId
  readonly seq: number
  readonly hash: string
  readonly name?: string
  /** How the run had ended. */
  readonly status?: RunStatus | null
}

export type ExecutionEvent =
  | ExecutionRequested
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

export type RunEvent =
  | RunRequested
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

/** What only a runtime says: it serves what others ask for. */
export type ServingEvent =
  | ExecutionClaimed
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

/** What somebody who asks says of any execution or run, and a runtime of those that it serves. */
export type SharedEvent = ExecutionCancelled | InputAnswered | RunFinished

export type ProposalEvent = ProposalMade | ProposalAccepted | ProposalDeclined | ProposalWithdrawn | ProposalExpired

export type CommentEvent = CommentAdded | CommentEdited | CommentResolved

export type ReviewEvent = ReviewOpened | CellReviewed | ReviewAnswered

export type FileEvent = FileBound | FileMerged | ConflictRaised | ConflictResolved | OutputsImported

export type PlainEvent = NotebookCreated | NotebookRenamed | NotebookArchived | MetadataSet

export type NotebookEvent =
  | ExecutionRequested
  | ScratchRequested
  | InterruptRequested
  | RunRequested
  | RunCancelRequested
  | RunDelivered
  | RestartRequested
  | ServingEvent
  | CellChange
  | ProposalEvent
  | FileEvent
  | PlainEvent
  | SharedEvent
  | CommentEvent
  | ReviewEvent

export type PauseEvent = ActorPaused | ActorResumed

export type ScheduleEvent =
  | ScheduleAdded
  | ScheduleChanged
  | SchedulePaused
  | ScheduleResumed
  | ScheduleRemoved
  | ScheduleAsked
  | ScheduleSkipped

export type WorkspaceEvent =
  | ActorKnown
  | RoleSet
  | PolicySet
  | TokenCreated
  | TokenRevoked
  | LogImported
  | LogPruned
  | ScheduleEvent
  | PauseEvent

export type KnownEvent = PayloadRedacted | NotebookEvent | WorkspaceEvent

/** An event on its way in. The same id or key again answers with the first event. */
export interface Draft {
  readonly id: EventId
  readonly event: KnownEvent
  readonly key?: string | null
  readonly cause?: EventId | null
}

/** An event as it stands in a log: what was said, and by whom, when and in which place. */
export interface Entry {
  readonly log: LogId
  readonly seq: number
  readonly id: EventId
  readonly at: string
  readonly actor: ActorId
  readonly event: KnownEvent
  readonly key?: string | null
  readonly cause?: EventId | null
  readonly on_behalf_of?: ActorId | null
  readonly hash?: string
  readonly imported?: boolean
  readonly redacted?: boolean
}

export type ExecutionState = "queued" | "claimed" | "running" | "skipped" | ExecutionStatus

export type CellState = "never_run" | "queued" | "running" | "skipped" | ExecutionStatus

export type ProposalState = "open" | "accepted" | "declined" | "withdrawn" | "expired"

/** An answer that somebody typed for a kernel. */
export interface Input {
  readonly prompt: string
  readonly answer: string | null
  readonly by: ActorId
}

/** One cell run once. */
export interface Execution {
  readonly id: ExecutionId
  readonly cell: CellId
  readonly source_hash: string
  readonly cell_kind: CellKind
  readonly state: ExecutionState
  readonly by: ActorId
  readonly on_behalf_of: ActorId | null
  readonly at: string
  readonly wants: string | null
  /** The execution that has to end as ok before this one may begin. */
  readonly needs: ExecutionId | null
  /** Whether that one ended otherwise: this one is to be skipped. */
  readonly blocked: boolean
  readonly runtime: RuntimeId | null
  readonly epoch: number | null
  readonly started_at: string | null
  readonly started_seq: number | null
  readonly finished_at: string | null
  readonly count: number | null
  readonly chunk: number
  readonly defines: readonly string[] | null
  /** The cells that had defined the names it uses, each with the fingerprint of that execution. */
  readonly reads: Readonly<Record<CellId, string>> | null
  /** A hash over its source and `reads`: the same again means that nothing it stands on changed. */
  readonly fingerprint: string
  readonly outputs: readonly Output[]
  readonly fault: Fault | null
  readonly interrupted_by: ActorId | null
  readonly inputs: readonly Input[]
  readonly why: string
  /** Whether it ran elsewhere, and only a file says what it showed. */
  readonly imported: boolean
}

/** A piece of a notebook. */
export interface Cell {
  readonly id: CellId
  readonly kind: CellKind
  readonly source: string
  readonly name: string | null
  readonly tags: readonly string[]
  readonly metadata: JsonObject
  readonly added_by: ActorId
  readonly edited_by: ActorId
  /** The path of the file that its text came from, where the mirror took it from one. */
  readonly edited_from: string | null
  /** When its source, kind or place last changed. */
  readonly changed_seq: number
  /** When something that ran was last taken away from before it, or it stopped being code itself. */
  readonly gap_seq: number
  readonly removed: boolean
  /** Whether it is code that was executed without a cell: it is `removed` from the beginning, and stands last. */
  readonly scratch: boolean
  /** In a run: whether somebody added or changed it once the run was over. */
  readonly after_run: boolean
  /** The last that began. */
  readonly execution: Execution | null
  /** The one that waits behind it. */
  readonly queued: Execution | null
  /** The last that ended without beginning, if nothing else has ended since. */
  readonly missed: Execution | null
}

/** The file that a notebook is one with, and the digest of the version last merged. */
export interface Binding {
  readonly path: string
  readonly format: string | null
  readonly digest: string | null
  readonly merged_seq: number | null
}

/** A part of a cell that file and log both changed. */
export interface FileConflict {
  readonly cell: CellId
  readonly base: string
  readonly ours: string
  readonly theirs: string
  readonly seq: number
}

/** A named, typed output. */
export interface Result {
  readonly name: string
  readonly kind: string
  readonly value: Json
  readonly blob: BlobRef | null
  readonly execution: ExecutionId
  readonly cell: CellId | null
  readonly at: string
}

/** What is known of a run beside its cells. */
export interface Run {
  readonly source: RunSource
  readonly parameters: JsonObject
  readonly environment: JsonObject
  /** Each package that was installed for its kernel, with its version; None where that is not known. */
  readonly packages: BlobRef | null
  /** Where the repository of its source stood. */
  readonly revision: GitRevision | null
  /** The files that it declares to read. */
  readonly inputs: readonly InputFile[]
  readonly policy: Readonly<Record<string, string>>
  readonly metadata: JsonObject
  readonly wants: string | null
  readonly by: ActorId
  readonly on_behalf_of: ActorId | null
  readonly at: string
  readonly status: "queued" | "claimed" | "running" | RunStatus
  readonly runtime: RuntimeId | null
  readonly epoch: number | null
  readonly started_at: string | null
  readonly finished_at: string | null
  /** The number of the event with which it ended: the notebook at this number is what the run left. */
  readonly finished_seq: number | null
  /** Who wanted it to stop, first. */
  readonly cancelled_by: ActorId | null
  readonly failed_cell: CellId | null
  readonly fault: Fault | null
  readonly widgets: BlobRef | null
  /** The schedule that began it. */
  readonly due: DueRun | null
  /** What the schedule had done with it once it was over. */
  readonly deliveries: readonly RunDelivered[]
}

/** A runtime that is attached to the notebook. */
export interface Runtime {
  readonly id: RuntimeId
  readonly name: string
  readonly language: string | null
  readonly environment: JsonObject
  readonly kernel: string | null
  readonly restarts: number
}

/** Changes and effects that wait, or waited. Once decided, what it said is in the log only. */
export interface Proposal {
  readonly by: ActorId
  readonly on_behalf_of: ActorId | null
  readonly at: string
  readonly seq: number
  readonly why: string
  readonly changes: readonly CellChange[]
  readonly effects: readonly RunCell[]
  readonly expires_at: string | null
  readonly state: ProposalState
  readonly decided_by: ActorId | null
  readonly decided_at: string | null
  /** What was said with a no. */
  readonly decided_why: string
}

/** What somebody said about a cell or the notebook; with `line`, about that line of the source of `source_hash`. */
export interface Comment {
  readonly by: ActorId
  readonly on_behalf_of: ActorId | null
  readonly at: string
  readonly text: string
  readonly cell: CellId | null
  readonly reply_to: CommentId | null
  readonly line: number | null
  readonly source_hash: string | null
  readonly edited: boolean
  readonly resolved_by: ActorId | null
}

/** What is reviewed, and what the review came to so far. Comments are the log's. */
export interface Review {
  readonly subject: ReviewSubject
  readonly by: ActorId
  readonly on_behalf_of: ActorId | null
  readonly at: string
  readonly answer: ReviewAnswer
  readonly answered_by: ActorId | null
  readonly answered_at: string | null
  readonly answered_why: string
  /** Which changes an actor has looked at: the version that each cell's change had then. */
  readonly reviewed: Readonly<Record<ActorId, Readonly<Record<CellId, string>>>>
}

/** The fold of a notebook's or a run's log up to `seq`. Treat it as frozen. */
export interface Notebook {
  readonly seq: number
  readonly name: string
  readonly created_by: ActorId | null
  readonly created_at: string | null
  readonly updated_at: string | null
  readonly archived: boolean
  readonly metadata: JsonObject
  readonly binding: Binding | null
  /** Also those that were removed: an anchor or an undo may still name them. */
  readonly cells: ReadonlyMap<CellId, Cell>
  /** Every cell of `cells`, from top to bottom; removed ones keep their place. */
  readonly order: readonly CellId[]
  /** The open ones, in the order in which they were requested. */
  readonly executions: ReadonlyMap<ExecutionId, CellId>
  /** The cells whose last execution shows a display of this id. */
  readonly displays: ReadonlyMap<string, readonly CellId[]>
  /** Which cell last defined a name in the kernel. */
  readonly definers: ReadonlyMap<string, CellId>
  readonly run: Run | null
  readonly review: Review | null
  readonly runtimes: ReadonlyMap<RuntimeId, Runtime>
  readonly results: ReadonlyMap<string, Result>
  readonly proposals: ReadonlyMap<ProposalId, Proposal>
  readonly comments: ReadonlyMap<CommentId, Comment>
  readonly conflicts: ReadonlyMap<ConflictId, FileConflict>
  /** The numbers of the events whose payloads were masked. */
  readonly redactions: readonly number[]
  /** How many events this version of Quire did not know. */
  readonly skipped: number
}

/** An actor that was introduced. */
export interface Known {
  readonly name: string
  readonly metadata: JsonObject
}

/** What the bearer of a token may do. */
export interface Token {
  readonly actor: ActorId
  readonly scopes: readonly Scope[]
  readonly on_behalf_of: ActorId | null
  readonly notebooks: readonly LogId[] | null
  readonly expires_at: string | null
  readonly asks: readonly Scope[]
  readonly once: boolean
  readonly then_until: string | null
  readonly version: number
  readonly created_by: ActorId
  readonly created_at: string
  readonly revoked_by: ActorId | null
  readonly parent: TokenId | null
}

/** How much of a log came from elsewhere. */
export interface Imported {
  readonly seq: number
  readonly hash: string
  readonly by: ActorId
  readonly at: string
}

/** Permissions by effect, for a notebook, an actor, both or (null and null) everything. */
export interface Policy {
  readonly notebook: LogId | null
  readonly actor: ActorId | null
  readonly effects: Readonly<Record<string, Permission>>
}

/** Who paused an actor or a token, when and why. */
export interface Pause {
  readonly by: ActorId
  readonly at: string
  readonly why: string
}

/** A run of a schedule that somebody wanted out of turn. */
export interface AskedRun {
  readonly at: string
  readonly by: ActorId
}

/** Times at which a schedule was due and did not run. */
export interface SkippedRuns {
  readonly due: string
  readonly until: string
  readonly count: number
  readonly reason: string
  readonly why: string
  readonly at: string
}

/** A notebook that runs by the clock. */
export interface Schedule {
  /** Of the event that added it: another schedule of the same name has another. */
  readonly id: EventId
  readonly plan: SchedulePlan
  readonly scopes: readonly Scope[]
  readonly asks: readonly Scope[]
  /** Who added it, or changed it last: it acts for them, and does no more than they may. */
  readonly by: ActorId
  readonly on_behalf_of: ActorId | null
  readonly added_at: string
  /** When its plan became what it is: what it wants done with runs counts for those that began since. */
  readonly changed_at: string
  /** From when on it is due, and intervals are counted: when it was added, or came to be due at other times. */
  readonly since: string
  readonly paused: Pause | null
  readonly resumed_at: string | null
  readonly removed: Pause | null
  /** The last runs that were asked for out of turn. */
  readonly asked: readonly AskedRun[]
  /** The last ones. */
  readonly skipped: SkippedRuns | null
  /** No run begins any more for a time up to this one. */
  readonly skipped_until: string | null
}

/** The fold of the workspace log up to `seq`. Treat it as frozen. */
export interface Directory {
  readonly seq: number
  readonly actors: ReadonlyMap<ActorId, Known>
  /** By `notebook actor`; the notebook is `*` for a role in all of them. */
  readonly roles: ReadonlyMap<string, Role>
  readonly policies: readonly Policy[]
  readonly tokens: ReadonlyMap<TokenId, Token>
  readonly imports: ReadonlyMap<LogId, Imported>
  /** By the id of an actor or a token. */
  readonly paused: ReadonlyMap<string, Pause>
  /** By name; also those that were removed. */
  readonly schedules: ReadonlyMap<string, Schedule>
  readonly skipped: number
}

/** What a field is that JSON leaves out, by type. */
export const DEFAULTS = {
  BlobRef: { media: null },
  Fault: { ename: "", evalue: "", traceback: [] },
  NamedResult: { value: null, blob: null },
  Display: { data: {}, blobs: {}, metadata: {}, display_id: null, count: null },
  Raised: { ename: "", evalue: "", traceback: [] },
  Stream: { head: "", omitted: 0, tail: "", blob: null },
  RunSource: { path: null, digest: null, notebook: null, seq: null, reproduces: null },
  GitRevision: { dirty: false },
  InputFile: {},
  DueRun: { number: 1, attempt: 1, asked_by: null, output: null },
  RunCell: { cell_kind: "code", needs: null, source: null },
  ProposalSubject: {},
  RunSubject: {},
  RevisionsSubject: { notebook: null },
  RetryRule: { times: 0, wait_seconds: 60, most_seconds: 3600 },
  NotifyRule: { on: ["failure", "recovery"], when: null, webhook: null, command: [] },
  SchedulePlan: {
    timezone: "UTC",
    parameters: {},
    output: null,
    missed: "once",
    overlap: "skip",
    retries: null,
    jitter_seconds: 0,
    timeout_seconds: null,
    results: [],
    notify: [],
    commit: null,
    report: false,
    keep_seconds: 0,
  },
  Input: {},
  Execution: {
    cell_kind: "code",
    on_behalf_of: null,
    wants: null,
    needs: null,
    blocked: false,
    runtime: null,
    epoch: null,
    started_at: null,
    started_seq: null,
    finished_at: null,
    count: null,
    chunk: -1,
    defines: null,
    reads: null,
    fingerprint: "",
    outputs: [],
    fault: null,
    interrupted_by: null,
    inputs: [],
    why: "",
    imported: false,
  },
  Cell: {
    kind: "code",
    source: "",
    name: null,
    tags: [],
    metadata: {},
    edited_from: null,
    gap_seq: 0,
    removed: false,
    scratch: false,
    after_run: false,
    execution: null,
    queued: null,
    missed: null,
  },
  Binding: { format: null, digest: null, merged_seq: null },
  FileConflict: {},
  Result: { value: null, blob: null, cell: null },
  Run: {
    parameters: {},
    environment: {},
    packages: null,
    revision: null,
    inputs: [],
    policy: {},
    metadata: {},
    wants: null,
    on_behalf_of: null,
    status: "queued",
    runtime: null,
    epoch: null,
    started_at: null,
    finished_at: null,
    finished_seq: null,
    cancelled_by: null,
    failed_cell: null,
    fault: null,
    widgets: null,
    due: null,
    deliveries: [],
  },
  Runtime: { name: "", language: null, environment: {}, kernel: null, restarts: 0 },
  Proposal: {
    on_behalf_of: null,
    why: "",
    changes: [],
    effects: [],
    expires_at: null,
    state: "open",
    decided_by: null,
    decided_at: null,
    decided_why: "",
  },
  Comment: {
    on_behalf_of: null,
    cell: null,
    reply_to: null,
    line: null,
    source_hash: null,
    edited: false,
    resolved_by: null,
  },
  Review: { on_behalf_of: null, answer: "open", answered_by: null, answered_at: null, answered_why: "", reviewed: {} },
  Notebook: {
    seq: 0,
    name: "",
    created_by: null,
    created_at: null,
    updated_at: null,
    archived: false,
    metadata: {},
    binding: null,
    cells: {},
    order: [],
    executions: {},
    displays: {},
    definers: {},
    run: null,
    review: null,
    runtimes: {},
    results: {},
    proposals: {},
    comments: {},
    conflicts: {},
    redactions: [],
    skipped: 0,
  },
} as const
