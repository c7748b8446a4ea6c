/**
 * How executions fold: requests that wait, run and end, and what they stand on.
 *
 * A part of `reduce`. Everything here changes the working copy that it is given.
 */

import { by, onBehalfOf } from "./events.ts"
import { sourceHash } from "./hash.ts"
import { cellOf, isOpen, openExecution } from "./notebook.ts"
import { forgetDisplays } from "./outputs.ts"
import { fingerprint } from "./staleness.ts"
import { DEFAULTS, SCRATCHES } from "./types.gen.ts"
import type {
  CellId,
  Entry,
  Execution,
  ExecutionId,
  ExecutionState,
  ExecutionStarted,
  Fault,
  InputAnswered,
  NamedResult,
  OutputsImported,
  Raised,
  ResultRecorded,
  RunCell,
  ScratchRequested,
} from "./types.gen.ts"
import type { WorkingCopy } from "./working_copy.ts"

interface Request {
  readonly execution: ExecutionId
  readonly cell: CellId
  readonly source_hash: string
  readonly runtime?: string | null
  readonly needs?: ExecutionId | null
}

/** A request waits in its cell. */
export function queue(copy: WorkingCopy, entry: Entry, request: Request): void {
  const needs = request.needs ?? null
  const needed = needs === null ? null : openExecution(copy.now, needs)
  const queued: Execution = {
    ...DEFAULTS.Execution,
    id: request.execution,
    cell: request.cell,
    source_hash: request.source_hash,
    cell_kind: cellOf(copy.now, request.cell).kind,
    state: "queued",
    by: by(entry),
    on_behalf_of: onBehalfOf(entry),
    at: entry.at,
    wants: request.runtime ?? null,
    needs,
    blocked: needed?.blocked ?? false,
  }
  copy.map("executions").set(request.execution, request.cell)
  copy.setCell(request.cell, { queued })
}

/** The effect of a proposal waits as if it had been requested. */
export function queueEffect(copy: WorkingCopy, entry: Entry, effect: RunCell): void {
  const { execution, cell, source_hash, needs = null, source = null } = effect
  if (source === null) queue(copy, entry, { execution, cell, source_hash, needs })
  else addScratch(copy, entry, { type: "scratch_requested", execution, cell, source, kind: effect.cell_kind ?? "code" })
}

/** Code without a cell waits: behind all cells, and in nobody's view. */
export function addScratch(copy: WorkingCopy, entry: Entry, event: ScratchRequested): void {
  forgetScratches(copy)
  copy.putCell({
    ...DEFAULTS.Cell,
    id: event.cell,
    kind: event.kind ?? "code",
    source: event.source,
    added_by: by(entry),
    edited_by: by(entry),
    changed_seq: entry.seq,
    removed: true,
    scratch: true,
  })
  copy.list("order").push(event.cell)
  const { execution, cell, runtime = null } = event
  queue(copy, entry, { execution, cell, source_hash: sourceHash(event.source), runtime })
}

/** Only the last ones that are over stay. They stand at the end: nothing goes behind them but more of them. */
function forgetScratches(copy: WorkingCopy): void {
  let kept = 0
  for (let place = copy.now.order.length - 1; place >= 0; place -= 1) {
    const cell = cellOf(copy.now, copy.now.order[place])
    if (!cell.scratch) return
    if (cell.queued || (cell.execution && isOpen(cell.execution))) continue
    kept += 1
    if (kept <= SCRATCHES) continue
    forgetDisplays(copy, cell)
    copy.list("order").splice(place, 1)
    copy.dropCell(cell.id)
  }
}

/** Change an open execution, wherever its cell keeps it. */
export function change(copy: WorkingCopy, id: ExecutionId, fields: Partial<Execution>): void {
  const cell = cellOf(copy.now, copy.now.executions.get(id))
  if (cell.queued?.id === id) copy.setCell(cell.id, { queued: { ...cell.queued, ...fields } })
  else if (cell.execution) copy.setCell(cell.id, { execution: { ...cell.execution, ...fields } })
}

/** A request begins. */
export function start(copy: WorkingCopy, entry: Entry, event: ExecutionStarted): void {
  // In a run, cells start without a request of their own.
  if (!copy.now.executions.has(event.execution)) queue(copy, entry, { ...event, runtime: null })
  const cell = cellOf(copy.now, event.cell)
  if (!cell.queued) throw new Error(`Execution ${event.execution} starts in a cell where nothing waits.`)
  forgetDisplays(copy, cell)
  const reads = readsOf(copy, event)
  const execution: Execution = {
    ...cell.queued,
    state: "running",
    epoch: event.epoch,
    started_at: entry.at,
    started_seq: entry.seq,
    defines: event.defines ?? null,
    reads,
    fingerprint: fingerprint(event.source_hash, reads ?? {}),
  }
  copy.setCell(event.cell, { execution, queued: null, missed: null })
  for (const name of event.defines ?? []) copy.map("definers").set(name, event.cell)
}

function readsOf(copy: WorkingCopy, event: ExecutionStarted): Readonly<Record<CellId, string>> | null {
  if (!event.uses) return null
  let reads = new Map<CellId, string>()
  for (const name of event.uses) {
    const definer = copy.now.definers.get(name)
    if (definer === undefined) continue
    // Code without a cell is forgotten after a while; that it defined a name is not.
    const execution = copy.now.cells.get(definer)?.execution ?? null
    if (definer === event.cell && execution) {
      // `x = x + 1`, run again, still stands on whatever it stood on before.
      reads = new Map([...Object.entries(execution.reads ?? {}), ...reads])
    } else {
      reads.set(definer, execution?.fingerprint ?? "")
    }
  }
  return Object.fromEntries(reads)
}

/** An execution is over: it ran, or it never will. What needed it to end well is not to begin. */
export function end(
  copy: WorkingCopy,
  entry: Entry,
  id: ExecutionId,
  state: ExecutionState,
  fields: Partial<Execution> = {},
): void {
  const cell = cellOf(copy.now, copy.now.executions.get(id))
  copy.map("executions").delete(id)
  const ended = { ...fields, state, finished_at: entry.at }
  let isTold = false
  if (cell.queued?.id === id) {
    isTold = cell.queued.blocked
    copy.setCell(cell.id, { missed: { ...cell.queued, ...ended }, queued: null })
  } else if (cell.execution) {
    copy.setCell(cell.id, { execution: { ...cell.execution, ...ended }, missed: null })
  } else {
    return
  }
  if (state !== "ok" && !isTold) block(copy, id)
}

/** What needs it is blocked, and what needs that. A need was there first, so one look in order is enough. */
function block(copy: WorkingCopy, failed: ExecutionId): void {
  const blocked = new Set([failed])
  for (const [id, cell] of copy.now.executions) {
    const waits = cellOf(copy.now, cell).queued
    if (waits?.id !== id || waits.needs === null || !blocked.has(waits.needs)) continue
    blocked.add(id)
    copy.setCell(cell, { queued: { ...waits, blocked: true } })
  }
}

/** A file says what a cell showed. When it ran, and on what it stood, nobody here knows. */
export function takeOver(copy: WorkingCopy, entry: Entry, event: OutputsImported): void {
  const cell = cellOf(copy.now, event.cell)
  forgetDisplays(copy, cell)
  const outputs = event.outputs ?? []
  const raised = outputs.find((output): output is Raised => output.kind === "error")
  const execution: Execution = {
    ...DEFAULTS.Execution,
    id: event.execution,
    cell: event.cell,
    source_hash: event.source_hash,
    cell_kind: cell.kind,
    state: raised ? "error" : "ok",
    by: by(entry),
    on_behalf_of: onBehalfOf(entry),
    at: entry.at,
    started_seq: entry.seq,
    count: event.count ?? null,
    fingerprint: fingerprint(event.source_hash, {}),
    outputs,
    fault: raised ? faultOf(raised) : null,
    imported: true,
  }
  copy.setCell(event.cell, { execution, missed: null })
  for (const result of event.results ?? []) setResult(copy, entry, result, event.execution, event.cell)
}

function faultOf({ ename = "", evalue = "", traceback = [] }: Raised): Fault {
  return { ename, evalue, traceback }
}

/** Somebody typed what a kernel asked for. */
export function answerInput(copy: WorkingCopy, entry: Entry, event: InputAnswered): void {
  const execution = openExecution(copy.now, event.execution)
  if (!execution) return
  const input = { prompt: event.prompt, answer: event.answer ?? null, by: by(entry) }
  change(copy, event.execution, { inputs: [...execution.inputs, input] })
}

/** A cell recorded a value. */
export function recordResult(copy: WorkingCopy, entry: Entry, event: ResultRecorded): void {
  setResult(copy, entry, event, event.execution, copy.now.executions.get(event.execution) ?? null)
}

function setResult(
  copy: WorkingCopy,
  entry: Entry,
  { name, kind, value = null, blob = null }: NamedResult,
  execution: ExecutionId,
  cell: CellId | null,
): void {
  copy.map("results").set(name, { name, kind, value, blob, execution, cell, at: entry.at })
}
