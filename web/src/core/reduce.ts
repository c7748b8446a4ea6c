/**
 * How a log becomes a notebook: one branch per event.
 *
 * `fold` and `reduce` are pure and total on accepted events, as those of core/notebook/reduce.py, and come to the same. What a
 * branch does is said in docs/spec.md; spec/cases and logs that are generated hold both languages to it.
 */

import { by, onBehalfOf } from "./events.ts"
import * as executions from "./executions.ts"
import { cellOf, emptyNotebook } from "./notebook.ts"
import * as outputs from "./outputs.ts"
import { apply } from "./text.ts"
import { DEFAULTS } from "./types.gen.ts"
import type {
  Cell,
  CellAdded,
  CellChange,
  CellId,
  CellMoved,
  CellReviewed,
  Entry,
  FileMerged,
  JsonObject,
  KnownEvent,
  Notebook,
  ProposalAccepted,
  ProposalId,
  ProposalMade,
  ProposalState,
  Run,
  RunRequested,
  Runtime,
  RuntimeId,
  SourceEdited,
} from "./types.gen.ts"
import { WorkingCopy } from "./working_copy.ts"

const MIRROR = "system:mirror"

/** The notebook that `entries` make of `start` (of nothing without one). */
export function fold(entries: Iterable<Entry>, start?: Notebook): Notebook {
  const folding = new Fold(start)
  for (const entry of entries) folding.add(entry)
  return folding.notebook()
}

/** The notebook as it is after `entry`. */
export function reduce(notebook: Notebook, entry: Entry): Notebook {
  return fold([entry], notebook)
}

/** A notebook on its way through a log. Takes entries, hands out values. */
export class Fold {
  readonly #copy: WorkingCopy

  constructor(start?: Notebook) {
    this.#copy = new WorkingCopy(start ?? emptyNotebook())
  }

  /** The notebook to look at before the next `add`, which may change it. Do not keep it. */
  get now(): Notebook {
    return this.#copy.now
  }

  /** The cells that may differ from those of the notebook that it began with. */
  get touched(): ReadonlySet<CellId> {
    return this.#copy.touched
  }

  /** Hand the notebook out for good: from here on it never changes. */
  notebook(): Notebook {
    return this.#copy.handOut()
  }

  /** Take the next entry of the log. */
  add(entry: Entry): void {
    const expected = this.#copy.now.seq + 1
    if (entry.seq !== expected) throw new Error(`Event ${expected} is missing before ${entry.seq}. Read the log again.`)
    this.#copy.set({ seq: entry.seq, updated_at: entry.at })
    applyEvent(this.#copy, entry, entry.event)
  }

  /** Take an entry that is expected and not recorded: it changes what it will change, and has no number in the log. */
  predict(entry: Entry): void {
    applyEvent(this.#copy, entry, entry.event)
  }
}

type Branch<E> = (copy: WorkingCopy, entry: Entry, event: E) => void
type Branches = { readonly [T in KnownEvent["type"]]: Branch<Extract<KnownEvent, { type: T }>> }

const nothing = (): void => undefined

/** One for every event: a forgotten one is a type error. */
const BRANCHES: Branches = {
  // The notebook
  notebook_created: (copy, entry, { name, metadata = {} }) => {
    copy.set({ name, metadata, created_by: by(entry), created_at: entry.at })
  },
  notebook_renamed: (copy, _, { name }) => copy.set({ name }),
  notebook_archived: (copy, _, { archived = true }) => copy.set({ archived }),
  metadata_set: (copy, _, event) => copy.set({ metadata: merged(copy.now.metadata, event) }),
  file_bound: (copy, _, { path, format = null }) => {
    copy.set({ binding: path === null ? null : { ...DEFAULTS.Binding, path, format } })
  },
  file_merged: mergeFile,
  conflict_raised: (copy, entry, { conflict, cell, base, ours, theirs }) => {
    copy.map("conflicts").set(conflict, { cell, base, ours, theirs, seq: entry.seq })
  },
  conflict_resolved: (copy, _, { conflict }) => void copy.map("conflicts").delete(conflict),
  outputs_imported: executions.takeOver,

  // Cells
  cell_added: addCell,
  cell_removed: (copy, entry, { cell }) => changeCell(copy, cell, { removed: true, changed_seq: entry.seq }),
  cell_moved: moveCell,
  cell_kind_changed: (copy, entry, { cell, kind }) => {
    changeCell(copy, cell, { kind, changed_seq: entry.seq, gap_seq: entry.seq })
  },
  cell_named: (copy, _, { cell, name }) => changeCell(copy, cell, { name }),
  cell_tagged: (copy, _, { cell, tags }) => changeCell(copy, cell, { tags }),
  cell_metadata_set: (copy, _, event) => {
    changeCell(copy, event.cell, { metadata: merged(cellOf(copy.now, event.cell).metadata, event) })
  },
  source_edited: editSource,

  // Executions
  execution_requested: executions.queue,
  scratch_requested: executions.addScratch,
  execution_claimed: (copy, _, { execution, runtime, epoch = null }) => {
    executions.change(copy, execution, { state: "claimed", runtime, epoch })
  },
  execution_started: executions.start,
  output_added: (copy, _, event) => outputs.addOutput(copy, event),
  stream_appended: (copy, _, event) => outputs.appendStream(copy, event),
  display_updated: (copy, _, event) => outputs.updateDisplay(copy, event),
  outputs_cleared: (copy, _, event) => outputs.clearOutputs(copy, event),
  execution_finished: (copy, entry, { execution, status, count = null, fault = null }) => {
    executions.end(copy, entry, execution, status, { count, fault })
  },
  execution_skipped: (copy, entry, { execution, cell, why }) => {
    if (!copy.now.executions.has(execution)) executions.queue(copy, entry, { execution, cell, source_hash: "" })
    executions.end(copy, entry, execution, "skipped", { why })
  },
  interrupt_requested: (copy, entry, { execution }) => {
    executions.change(copy, execution, { interrupted_by: by(entry) })
  },
  execution_cancelled: (copy, entry, { execution, why = "" }) => {
    executions.end(copy, entry, execution, "cancelled", { why })
  },
  input_answered: executions.answerInput,
  result_recorded: executions.recordResult,

  // Runs
  run_requested: requestRun,
  run_claimed: (copy, _, { runtime, epoch = null }) => changeRun(copy, () => ({ status: "claimed", runtime, epoch })),
  run_started: (copy, entry, { environment = {} }) => {
    changeRun(copy, (run) => ({
      status: "running",
      started_at: entry.at,
      environment: { ...run.environment, ...environment },
    }))
  },
  environment_recorded: (copy, _, { packages = null, revision = null, inputs = [] }) => {
    changeRun(copy, () => ({ packages, revision, inputs }))
  },
  run_cancel_requested: (copy, entry) => changeRun(copy, (run) => ({ cancelled_by: run.cancelled_by ?? by(entry) })),
  run_finished: (copy, entry, { status, failed_cell = null, fault = null, widgets = null }) => {
    const { at: finished_at, seq: finished_seq } = entry
    changeRun(copy, () => ({ status, finished_at, finished_seq, failed_cell, fault, widgets }))
  },
  run_delivered: (copy, _, event) => changeRun(copy, (run) => ({ deliveries: [...run.deliveries, event] })),

  // Runtimes
  runtime_attached: (copy, _, { runtime, name = "", language = null, environment = {} }) => {
    copy.map("runtimes").set(runtime, { ...DEFAULTS.Runtime, id: runtime, name, language, environment })
  },
  runtime_detached: (copy, _, { runtime }) => void copy.map("runtimes").delete(runtime),
  kernel_started: (copy, _, { runtime, kernel }) => setKernel(copy, runtime, kernel, 0),
  kernel_restarted: (copy, _, { runtime, kernel }) => setKernel(copy, runtime, kernel, 1),
  restart_requested: nothing, // `kernel_restarted` says that it was done

  // Proposals and comments
  proposal_made: makeProposal,
  proposal_accepted: acceptProposal,
  proposal_declined: (copy, entry, { proposal, why = "" }) => decide(copy, entry, proposal, "declined", why),
  proposal_withdrawn: (copy, entry, { proposal }) => decide(copy, entry, proposal, "withdrawn"),
  proposal_expired: (copy, entry, { proposal }) => decide(copy, entry, proposal, "expired"),
  comment_added: (copy, entry, { comment, text, cell = null, reply_to = null, line = null, source_hash = null }) => {
    const about = { text, cell, reply_to, line, source_hash, by: by(entry), on_behalf_of: onBehalfOf(entry), at: entry.at }
    copy.map("comments").set(comment, { ...DEFAULTS.Comment, ...about })
  },
  comment_edited: (copy, _, { comment, text }) => {
    const before = known(copy.now.comments, comment)
    copy.map("comments").set(comment, { ...before, text, edited: true })
  },
  comment_resolved: (copy, entry, { comment, resolved = true }) => {
    const before = known(copy.now.comments, comment)
    copy.map("comments").set(comment, { ...before, resolved_by: resolved ? by(entry) : null })
  },

  // Reviews
  review_opened: (copy, entry, { name, subject }) => {
    const review = { ...DEFAULTS.Review, subject, by: by(entry), on_behalf_of: onBehalfOf(entry), at: entry.at }
    copy.set({ name, created_by: by(entry), created_at: entry.at, review })
  },
  cell_reviewed: reviewCell,
  review_answered: (copy, entry, { answer, why = "" }) => {
    const { review } = copy.now
    if (review) copy.set({ review: { ...review, answer, answered_by: by(entry), answered_at: entry.at, answered_why: why } })
  },

  // Any log
  payload_redacted: (copy, _, { seq }) => void copy.list("redactions").push(seq),

  // Of the workspace log; `directory` folds them
  actor_known: nothing,
  role_set: nothing,
  policy_set: nothing,
  token_created: nothing,
  token_revoked: nothing,
  actor_paused: nothing,
  actor_resumed: nothing,
  schedule_added: nothing,
  schedule_changed: nothing,
  schedule_paused: nothing,
  schedule_resumed: nothing,
  schedule_removed: nothing,
  schedule_asked: nothing,
  schedule_skipped: nothing,
  log_imported: nothing,
  log_pruned: nothing,
}

// A type may be `constructor`: no lookup on an object.
const BRANCH_OF = new Map<string, Branch<never>>(Object.entries(BRANCHES))

function applyEvent(copy: WorkingCopy, entry: Entry, event: KnownEvent): void {
  const branch = BRANCH_OF.get(event.type)
  if (branch) branch(copy, entry, event as never)
  else copy.set({ skipped: copy.now.skipped + 1 })
}

function merged(old: JsonObject, change: { values?: JsonObject; removed?: readonly string[] }): JsonObject {
  const { values = {}, removed = [] } = change
  return Object.fromEntries(Object.entries({ ...old, ...values }).filter(([name]) => !removed.includes(name)))
}

function known<V>(map: ReadonlyMap<string, V>, id: string): V {
  const value = map.get(id)
  if (value === undefined) throw new Error(`There is no ${JSON.stringify(id)} in this notebook.`)
  return value
}

// ---- Cells

/** Somebody changes a cell; in a run that is over, it is marked as no longer what ran. */
function changeCell(copy: WorkingCopy, cell: CellId, fields: Partial<Cell>): void {
  copy.setCell(cell, isAfterRun(copy) ? { ...fields, after_run: true } : fields)
}

function isAfterRun(copy: WorkingCopy): boolean {
  const status = copy.now.run?.status
  return status !== undefined && status !== "queued" && status !== "claimed" && status !== "running"
}

/** The file that a change came from: only the mirror itself can say so, for nobody else signs as it. */
function fileOf(entry: Entry): string | null {
  return entry.event.type === "file_merged" && by(entry) === MIRROR ? entry.event.path : null
}

function editSource(copy: WorkingCopy, entry: Entry, event: SourceEdited): void {
  const cell = cellOf(copy.now, event.cell)
  const source = event.text ?? apply(cell.source, event.applied ?? event.edit ?? [])
  if (source === cell.source) return // both removed the same, say: nobody changed anything
  changeCell(copy, event.cell, {
    source,
    edited_by: by(entry),
    edited_from: fileOf(entry),
    changed_seq: entry.seq,
  })
}

function addCell(copy: WorkingCopy, entry: Entry, event: CellAdded): void {
  const before = copy.now.cells.get(event.cell)
  const order = copy.list("order")
  if (before) order.splice(order.indexOf(event.cell), 1)
  copy.putCell({
    ...DEFAULTS.Cell,
    id: event.cell,
    kind: event.kind ?? "code",
    source: event.source ?? "",
    name: event.name ?? null,
    tags: event.tags ?? [],
    metadata: event.metadata ?? {},
    added_by: by(entry),
    edited_by: by(entry),
    edited_from: fileOf(entry),
    changed_seq: entry.seq,
    after_run: isAfterRun(copy),
    execution: before?.execution ?? null,
    queued: before?.queued ?? null,
    missed: before?.missed ?? null,
  })
  place(order, event.cell, event.after)
}

function moveCell(copy: WorkingCopy, entry: Entry, event: CellMoved): void {
  if (event.after === event.cell) return
  const order = copy.list("order")
  const at = order.indexOf(event.cell)
  order.splice(at, 1)
  const behind = order[at]
  if (behind !== undefined) copy.setCell(behind, { gap_seq: entry.seq })
  place(order, event.cell, event.after)
  changeCell(copy, event.cell, { changed_seq: entry.seq })
}

function place(order: CellId[], cell: CellId, after: CellId | null): void {
  // A notebook is mostly written from top to bottom.
  if (after !== null && order.at(-1) === after) order.push(cell)
  else order.splice(after === null ? 0 : order.indexOf(after) + 1, 0, cell)
}

function applyChanges(copy: WorkingCopy, entry: Entry, changes: readonly CellChange[]): void {
  for (const change of changes) applyEvent(copy, entry, change)
}

function mergeFile(copy: WorkingCopy, entry: Entry, event: FileMerged): void {
  applyChanges(copy, entry, event.changes ?? [])
  const binding = copy.now.binding ?? { ...DEFAULTS.Binding, path: event.path }
  copy.set({ binding: { ...binding, digest: event.digest, merged_seq: entry.seq } })
}

// ---- Runs and runtimes

function requestRun(copy: WorkingCopy, entry: Entry, event: RunRequested): void {
  const { name, source, parameters = {}, environment = {}, policy = {}, metadata = {}, runtime: wants = null, due = null } = event
  const said = { by: by(entry), on_behalf_of: onBehalfOf(entry), at: entry.at }
  const run = { ...DEFAULTS.Run, source, parameters, environment, policy, metadata, wants, due, ...said }
  copy.set({ name, created_by: by(entry), created_at: entry.at, run })
}

function changeRun(copy: WorkingCopy, change: (run: Run) => Partial<Run>): void {
  const { run } = copy.now
  if (run) copy.set({ run: { ...run, ...change(run) } })
}

function setKernel(copy: WorkingCopy, id: RuntimeId, kernel: string, restarts: number): void {
  const before: Runtime = copy.now.runtimes.get(id) ?? { ...DEFAULTS.Runtime, id }
  const isNew = !hasKernel(copy.now, kernel)
  copy.map("runtimes").set(id, { ...before, kernel, restarts: before.restarts + restarts })
  if (isNew) copy.map("definers").clear()
}

/** Whether somebody goes on with a kernel that ran cells here: what they defined is there. */
function hasKernel(now: Notebook, kernel: string): boolean {
  if (now.run?.environment["kernel_id"] === kernel) return true
  return [...now.runtimes.values()].some((runtime) => runtime.kernel === kernel)
}

// ---- Proposals

function makeProposal(copy: WorkingCopy, entry: Entry, event: ProposalMade): void {
  const { why, changes = [], effects = [], expires_at = null } = event
  const said = { by: by(entry), on_behalf_of: onBehalfOf(entry), at: entry.at, seq: entry.seq }
  copy.map("proposals").set(event.proposal, { ...DEFAULTS.Proposal, ...said, why, changes, effects, expires_at })
}

function acceptProposal(copy: WorkingCopy, entry: Entry, event: ProposalAccepted): void {
  applyChanges(copy, entry, event.applied ?? [])
  for (const effect of event.effects ?? []) executions.queueEffect(copy, entry, effect)
  decide(copy, entry, event.proposal, "accepted")
}

function decide(copy: WorkingCopy, entry: Entry, id: ProposalId, state: ProposalState, why = ""): void {
  const before = known(copy.now.proposals, id)
  const decided = { state, decided_by: by(entry), decided_at: entry.at, decided_why: why }
  copy.map("proposals").set(id, { ...before, ...decided, changes: [], effects: [], why: "" })
}

// ---- Reviews

function reviewCell(copy: WorkingCopy, entry: Entry, { cell, version, reviewed = true }: CellReviewed): void {
  const { review } = copy.now
  if (!review) return
  // An id may be `__proto__`: no assignment to a key.
  const before = new Map(Object.entries(review.reviewed)).get(by(entry)) ?? {}
  const others = Object.entries(before).filter(([id]) => id !== cell)
  const mine = Object.fromEntries(reviewed ? [...others, [cell, version]] : others)
  const reviewedBy = Object.fromEntries([...Object.entries(review.reviewed), [by(entry), mine]])
  copy.set({ review: { ...review, reviewed: reviewedBy } })
}
