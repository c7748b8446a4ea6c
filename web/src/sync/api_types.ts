/** What the server answers over HTTP, as docs/reference/http.md and /api/openapi.json describe it. */

import type {
  ActorId,
  BlobRef,
  CellId,
  Entry,
  Execution,
  ExecutionId,
  Json,
  JsonObject,
  LogId,
  Role,
  RuntimeId,
  Scope,
} from "../core/types.gen.ts"

/** A line in a list of logs. */
export interface LogInfo {
  readonly log: LogId
  readonly kind: "notebook" | "run" | "workspace"
  readonly name: string
  readonly archived: boolean
  readonly head: { readonly seq: number; readonly hash: string; readonly at: string }
  readonly created_at: string
  readonly created_by: ActorId
}

// ---- Home

/** The last thing that a person, an agent or a schedule did in a notebook. */
export interface Change {
  readonly actor: ActorId
  readonly on_behalf_of: ActorId | null
  readonly at: string
  /** The event's type: "source_edited", "execution_requested" … */
  readonly type: string
}

export interface NotebookSummary {
  readonly log: LogId
  readonly name: string
  /** The path of the file that it is bound to, relative to the server's folder. */
  readonly file: string | null
  readonly archived: boolean
  readonly cells: number
  /** How many cells ended in an error, a timeout, a dead kernel or were lost. */
  readonly errors: number
  /** How many run or wait to run. */
  readonly running: number
  readonly stale: number
  readonly changed: Change
  /** Who has it open now. */
  readonly present: readonly ActorId[]
}

export type RunStatus = "queued" | "running" | "success" | "error" | "timeout" | "cancelled" | "dead_kernel" | "lost"

export interface RunSummary {
  readonly log: LogId
  readonly name: string
  readonly status: RunStatus
  readonly parameters: JsonObject
  /** Values by name; null for one that is too large and in a blob. */
  readonly results: JsonObject
  readonly seconds: number | null
  readonly at: string
  readonly actor: ActorId
  readonly on_behalf_of: ActorId | null
  readonly source: { readonly path: string | null; readonly notebook: LogId | null }
}

/** Something that waits for an answer of this person. */
export interface Waiting {
  readonly kind: "proposal" | "question" | "conflict" | "comment"
  readonly log: LogId
  readonly name: string
  /** Of the proposal, the execution that asks, the conflict, or the comment. */
  readonly id: string
  readonly by: ActorId
  readonly on_behalf_of: ActorId | null
  readonly at: string
  /** Why it was proposed, what is asked, the first line of what the file says, or the comment. */
  readonly text: string
  readonly cell: CellId | null
}

export interface Overview {
  readonly notebooks: readonly NotebookSummary[]
  readonly runs: readonly RunSummary[]
  readonly waiting: readonly Waiting[]
}

export interface Hit {
  readonly log: LogId
  /** Of the notebook, or of what the run is of. */
  readonly name: string
  /** Of a run: how it ended, and when it was asked for; null for a notebook. */
  readonly run: { readonly status: string; readonly at: string } | null
  readonly cell: CellId | null
  readonly where: "name" | "source" | "output"
  /** The line that was found. */
  readonly text: string
}

// ---- Files

/** A notebook file in the server's folder. */
export interface NotebookFile {
  readonly path: string
  readonly name: string
  /** The notebook that is bound to it, if there is one and this person may read it. */
  readonly notebook: LogId | null
  readonly modified: string
}

export interface UploadedFile {
  readonly path: string
  readonly size: number
}

export interface Imported {
  readonly log: LogId
  readonly kind: "notebook" | "run"
  readonly name: string
  readonly events: number
  readonly blobs: number
  readonly missing_blobs: readonly string[]
}

export type ExportFormat = "ipynb" | "py" | "md" | "html" | "quire"
export type ImportFormat = "ipynb" | "py" | "md" | "quire"

// ---- Runs and runtimes

export interface Parameter {
  readonly name: string
  /** As docs/reference/parameters.md writes types: "int", "list[str]", "date" …; null where nothing says it. */
  readonly type: string | null
  readonly default: Json
  /** The default as it is written, where it is not a literal. */
  readonly expression: string | null
  readonly help: string
  readonly choices: readonly Json[] | null
  readonly required: boolean
}

/** How a runtime and its kernel are, as it last said on the lane `health`. */
export interface Health {
  readonly state: "starting" | "idle" | "busy" | "dead"
  readonly execution?: ExecutionId | null
  readonly kernel?: string | null
  readonly pid?: number | null
  readonly memory_bytes?: number | null
  readonly memory_limit_bytes?: number | null
  readonly cpu_percent?: number | null
  readonly environment?: JsonObject
  readonly since?: string
}

export interface RuntimeInfo {
  readonly id: RuntimeId
  readonly name?: string
  readonly language?: string | null
  readonly environment?: JsonObject
  readonly kernel?: string | null
  readonly restarts?: number
  readonly health?: Health | null
}

/** A kernel that this server can start. */
export interface KernelInfo {
  /** What `startRuntime` takes; "" is the one that is taken when none is chosen. */
  readonly name: string
  readonly title: string
  readonly language: string
  /** The Python that runs it, where it is one. */
  readonly interpreter: string | null
  /** Why it cannot be started; null when it can. */
  readonly problem: string | null
}

export interface KernelChoice {
  readonly kernels: readonly KernelInfo[]
  /** The kernel that was chosen for the notebook; "" when none was. */
  readonly chosen: string
}

// ---- Identity

export interface TokenInfo {
  readonly token: string
  readonly state: "valid" | "revoked" | "expired" | "ended"
  readonly allows: {
    readonly actor: ActorId
    readonly scopes: readonly Scope[]
    readonly on_behalf_of?: ActorId | null
    readonly notebooks?: readonly LogId[] | null
    readonly expires_at?: string | null
    readonly asks?: readonly Scope[]
    readonly once?: boolean
    readonly created_at: string
    readonly created_by: ActorId
    readonly revoked_by?: ActorId | null
    readonly parent?: string | null
  }
  readonly ended_with: string | null
  /** Its own pause, or one of its actor, of whom it acts for, or of a token above it. */
  readonly paused?: { readonly by: ActorId; readonly at: string; readonly why: string } | null
}

export interface TokenWanted {
  readonly actor: ActorId
  readonly scopes: readonly Scope[]
  readonly on_behalf_of?: ActorId
  readonly notebooks?: readonly LogId[]
  /** A time, or for how long: "30d", "8h". */
  readonly expires_at?: string
  readonly asks?: readonly Scope[]
}

export interface NewToken {
  readonly token: string
  readonly secret: string
  readonly expires_at: string | null
}

export interface RoleGiven {
  readonly actor: ActorId
  readonly role: Role
  /** Null: in all of them. */
  readonly notebook: LogId | null
}

// ---- Writing

export interface Submitted {
  readonly entries: readonly Entry[]
  /** Whether it became a proposal, for a person who has to ask. */
  readonly proposed?: boolean
}

export interface NotebookMade {
  readonly log: LogId
  readonly name: string
  readonly seq: number
  readonly cells: readonly CellId[]
}

export interface ExecutionFound {
  readonly seq: number
  readonly execution: Execution
}

export type { BlobRef }
