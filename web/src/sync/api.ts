/** What is asked over HTTP, a method for each. Faults are those that the server names (fault.ts); shapes are in api_types.ts. */

import { readExecution, readNotebook } from "../core/notebook.ts"
import { REDUCER } from "../core/types.gen.ts"
import type {
  ActorId,
  BlobRef,
  CellId,
  CellKind,
  Entry,
  Execution,
  ExecutionId,
  Json,
  JsonObject,
  KnownEvent,
  LogId,
  Notebook,
  Role,
} from "../core/types.gen.ts"
import { address, Requests } from "./api_requests.ts"
import type { Fetch } from "./api_requests.ts"
import type {
  ExecutionFound,
  ExportFormat,
  Hit,
  Imported,
  ImportFormat,
  KernelChoice,
  LogInfo,
  NewToken,
  NotebookFile,
  NotebookMade,
  Overview,
  Parameter,
  RoleGiven,
  RunSummary,
  RuntimeInfo,
  Submitted,
  TokenInfo,
  TokenWanted,
  UploadedFile,
  Waiting,
} from "./api_types.ts"
import type { Me } from "./frames.ts"

export type { Fetch } from "./api_requests.ts"
export type * from "./api_types.ts"

interface EventsPage {
  readonly entries: readonly Entry[]
  readonly more?: boolean
}

type Bytes = Blob | Uint8Array<ArrayBuffer>

/** The header in which a server says the version of its reducer. */
export const REDUCER_HEADER = "Quire-Reducer"

/** This page is of another version than the server: it has to be loaded again. */
export class Outdated extends Error {
  override readonly name = "Outdated"
}

export class Api {
  /** For the files of this folder that ask for more: api_runs.ts, say, has functions that take an `Api`. */
  readonly requests: Requests
  readonly #newId: () => string

  constructor(fetch: Fetch, newId: () => string = () => crypto.randomUUID()) {
    this.requests = new Requests(fetch)
    this.#newId = newId
  }

  // ---- Who

  /** Who the server takes this browser for. */
  me(): Promise<Me> {
    return this.requests.read(address(["me"]))
  }

  /** End this browser's token, and take its cookie away. */
  async signOut(): Promise<void> {
    await this.requests.post(address(["sign-out"]))
  }

  /** The tokens, the newest first, without their secrets. */
  tokens(): Promise<readonly TokenInfo[]> {
    return this.requests.read(address(["tokens"]))
  }

  /** Make a token. Its secret is in this answer and never again. */
  createToken(wanted: TokenWanted): Promise<NewToken> {
    return this.requests.post(address(["tokens"]), wanted)
  }

  async revokeToken(token: string): Promise<void> {
    await this.requests.post(address(["tokens", token, "revoke"]))
  }

  /** Who has which role where. */
  roles(): Promise<readonly RoleGiven[]> {
    return this.requests.read(address(["roles"]))
  }

  /** Give a role in a notebook, or with null take it away. */
  async setRole(actor: ActorId, role: Role | null, notebook: LogId | null): Promise<void> {
    await this.requests.post(address(["roles"]), { actor, role, notebook })
  }

  // ---- Home

  /** All that the home page shows: notebooks with their state, the last runs, what waits for this person. */
  overview(): Promise<Overview> {
    return this.requests.read(address(["overview"]))
  }

  /** What waits for this person over all notebooks, the oldest first. */
  waiting(): Promise<readonly Waiting[]> {
    return this.requests.read(address(["waiting"]))
  }

  /** Find notebooks by name, and cells by what they say or showed: all words, in any order. */
  search(text: string): Promise<readonly Hit[]> {
    return this.requests.read(address(["search"], { text }))
  }

  // ---- Notebooks

  /** The notebooks that may be read, the one begun last first. */
  notebooks(): Promise<readonly LogInfo[]> {
    return this.requests.read(address(["notebooks"]))
  }

  /**
   * A notebook as it is, or as it was at `seq`. With `outputs`, an execution that has ended brings at most so many bytes of
   * outputs; those beyond are cut (`cutSize`), and `execution` has them.
   */
  async notebook(log: LogId, options: number | { readonly seq?: number; readonly outputs?: number } = {}): Promise<Notebook> {
    const { seq, outputs } = typeof options === "number" ? { seq: options } : options
    const response = await this.requests.send(address(["notebooks", log], { seq, outputs }))
    const reducer = response.headers.get(REDUCER_HEADER)
    if (reducer !== null && Number(reducer) !== REDUCER) {
      throw new Outdated(`The server folds logs as version ${reducer}, this page as ${REDUCER}. Load it again.`)
    }
    return readNotebook((await response.json()) as JsonObject)
  }

  /** An execution with all of its outputs; also one that others came after. */
  async execution(log: LogId, execution: ExecutionId): Promise<Execution> {
    const found: ExecutionFound = await this.requests.read(address(["notebooks", log, "executions", execution]))
    return readExecution(found.execution)
  }

  /** Make a notebook with its first cells; with `bind`, a file of that path is written and kept in sync with it. */
  async createNotebook(
    name: string,
    options: { readonly bind?: string; readonly cells?: readonly { kind?: CellKind; source?: string }[]; readonly metadata?: JsonObject } = {},
  ): Promise<NotebookMade> {
    const { bind, cells = [], metadata = {} } = options
    const made: NotebookMade = await this.requests.post(address(["notebooks"]), { name, cells, metadata })
    if (bind !== undefined) await this.submit(made.log, [{ type: "file_bound", path: bind }])
    return made
  }

  async rename(log: LogId, name: string): Promise<void> {
    await this.submit(log, [{ type: "notebook_renamed", name }])
  }

  /** Put a notebook away, or take it out again. */
  async archive(log: LogId, archived = true): Promise<void> {
    await this.submit(log, [{ type: "notebook_archived", archived }])
  }

  /** Make a notebook with the same cells and outputs, bound to no file. */
  duplicate(log: LogId, name: string): Promise<Imported> {
    return this.requests.post(address(["notebooks", log, "copy"]), { name })
  }

  /** Record events in a log, all or none: for a log that is not open. One that is open has `Live.act`. */
  submit(log: LogId, events: readonly KnownEvent[]): Promise<Submitted> {
    const drafts = events.map((event) => ({ id: this.#newId(), event }))
    return this.requests.post(address(["logs", log, "events"]), { drafts })
  }

  /** The entries of a log after `since`, up to `until`. */
  entries(log: LogId, since: number, until: number): Promise<Entry[]> {
    return this.#events(log, since, until)
  }

  /** All that happened to one cell: its text, its place, its executions and what they showed, proposals that name it. */
  cellEvents(log: LogId, cell: CellId): Promise<Entry[]> {
    return this.#events(log, 0, Infinity, { cell })
  }

  /** When the executions of a cell began and ended. */
  cellRuns(log: LogId, cell: CellId): Promise<Entry[]> {
    return this.#events(log, 0, Infinity, { cell, types: "execution_started,execution_finished" })
  }

  async #events(log: LogId, since: number, until: number, query: { readonly cell?: CellId; readonly types?: string } = {}): Promise<Entry[]> {
    const entries: Entry[] = []
    for (let last = since; last < until; ) {
      const asked = { since: last, ...(until === Infinity ? {} : { until }), ...query }
      const page: EventsPage = await this.requests.read(address(["logs", log, "events"], asked))
      entries.push(...page.entries)
      last = page.more ? (page.entries.at(-1)?.seq ?? until) : until
    }
    return entries
  }

  // ---- Files

  /** The notebook files of the server's folder. */
  files(): Promise<readonly NotebookFile[]> {
    return this.requests.read(address(["files"]))
  }

  /** Open a file of the folder: imported and bound if no notebook is bound to it yet. */
  openFile(path: string): Promise<{ readonly log: LogId; readonly name: string }> {
    return this.requests.post(address(["files"]), { path })
  }

  /** Put a file into the folder. One that is there is a `Conflict`, unless `overwrite`. */
  upload(path: string, bytes: Bytes, options: { readonly overwrite?: boolean } = {}): Promise<UploadedFile> {
    return this.requests.put("PUT", address(["files", path], options.overwrite ? { overwrite: true } : {}), bytes)
  }

  /** Take in a notebook file by its name; with `bind`, it is put into the folder and kept in sync. */
  async importNotebook(
    file: string,
    bytes: Bytes,
    options: { readonly bind?: boolean; readonly name?: string } = {},
  ): Promise<{ readonly log: LogId; readonly name: string }> {
    if (options.bind) {
      await this.upload(file, bytes)
      return this.openFile(file)
    }
    const [, stem = file, ending = ""] = /^(.*)\.([^.]*)$/.exec(file.split("/").at(-1) ?? "") ?? []
    const format = ending.toLowerCase() as ImportFormat
    const name = format === "quire" ? undefined : (options.name ?? stem)
    const made: Imported = await this.requests.put("POST", address(["imports"], { format, name }), bytes)
    return { log: made.log, name: made.name }
  }

  /** The notebook as a file. */
  async export(log: LogId, format: ExportFormat, options: { readonly seq?: number; readonly comments?: boolean } = {}): Promise<{ readonly name: string; readonly blob: Blob }> {
    const response = await this.requests.send(address(["logs", log, "export"], { format, seq: options.seq, comments: options.comments }))
    return { name: fileName(response) ?? `notebook.${format}`, blob: await response.blob() }
  }

  // ---- Blobs

  /** The bytes of a blob. `media` is what to call them: one of a few harmless types, else they are just bytes. */
  async blob(hash: string, media?: string): Promise<Blob> {
    const response = await this.requests.send(address(["blobs", hash], { media }), { headers: { Accept: "*/*" } })
    return response.blob()
  }

  /** Some of the bytes of a blob: from `start` on, up to `end`. */
  async blobPart(hash: string, start: number, end: number): Promise<Uint8Array> {
    const headers = { Accept: "*/*", Range: `bytes=${start}-${end - 1}` }
    const response = await this.requests.send(address(["blobs", hash]), { headers })
    const bytes = new Uint8Array(await response.arrayBuffer())
    // Who does not know ranges answers with all of it.
    return response.status === 206 ? bytes : bytes.subarray(start, end)
  }

  /** Keep bytes, and get what an event refers to them by. */
  uploadBlob(bytes: Bytes, media?: string): Promise<BlobRef> {
    return this.requests.put("POST", address(["blobs"], { media }), bytes)
  }

  // ---- Runs and runtimes

  /** What a notebook takes. */
  parameters(log: LogId): Promise<readonly Parameter[]> {
    return this.requests.read(address(["notebooks", log, "parameters"]))
  }

  /** Run the notebook as it is, from top to bottom in a kernel of its own. Answers when the run has begun. */
  startRun(log: LogId, options: { readonly parameters?: Readonly<Record<string, Json>> } = {}): Promise<{ readonly run: LogId; readonly warnings: readonly string[] }> {
    return this.requests.post(address(["runs"]), { notebook: log, parameters: options.parameters ?? {} })
  }

  /** The last runs; of one notebook, if it is given. */
  async runs(options: { readonly notebook?: LogId; readonly limit?: number } = {}): Promise<readonly RunSummary[]> {
    return this.requests.read(address(["overview", "runs"], { ...options }))
  }

  /** Ask for a run to be stopped. */
  async cancelRun(run: LogId, why = ""): Promise<void> {
    await this.requests.post(address(["runs", run, "cancel"]), { why })
  }

  /** Answer what a cell asks. A password is told to its runtime, and recorded nowhere. */
  async answer(log: LogId, execution: ExecutionId, answer: string, options: { readonly password?: boolean; readonly prompt?: string } = {}): Promise<void> {
    await this.requests.post(address(["logs", log, "executions", execution, "input"]), { answer, ...options })
  }

  /** Interrupt an execution that runs, or take back one that waits. */
  async interrupt(log: LogId, execution: ExecutionId): Promise<void> {
    await this.requests.post(address(["logs", log, "executions", execution, "interrupt"]))
  }

  /** Ask for a new kernel. */
  async restart(log: LogId): Promise<void> {
    await this.requests.post(address(["logs", log, "restart"]), {})
  }

  /** The runtimes that are attached, and how they are. */
  runtimes(log: LogId): Promise<readonly RuntimeInfo[]> {
    return this.requests.read(address(["logs", log, "runtimes"]))
  }

  /** Start a runtime, though nothing waits to be run. With `kernel`, that one is chosen first: "" is the usual one. */
  async startRuntime(log: LogId, options: { readonly kernel?: string } = {}): Promise<void> {
    await this.requests.post(address(["logs", log, "runtimes", "start"]), options)
  }

  /** End the runtime that this server started, and its kernel. What runs is cancelled. */
  async stopRuntime(log: LogId): Promise<void> {
    await this.requests.post(address(["logs", log, "runtimes", "stop"]))
  }

  /** The kernels that the notebook could have, and the one that was chosen. */
  kernels(log: LogId): Promise<KernelChoice> {
    return this.requests.read(address(["logs", log, "kernels"]))
  }
}

/** The name that a download is to have. */
function fileName(response: Response): string | null {
  const encoded = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get("Content-Disposition") ?? "")?.[1]
  return encoded === undefined ? null : decodeURIComponent(encoded)
}
