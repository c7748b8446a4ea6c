/** What the page says about cells: states with their reasons, places in the queue, why a cell is stale. Pure. */

import { KIND_WORDS } from "../cells/words.ts"
import { isEditedSince } from "../core/staleness.ts"
import { cellLabel } from "../core/cell_label.ts"
import { cellState, isOpen, runs } from "../core/notebook.ts"
import type { Cell, CellId, Execution, ExecutionId, FileConflict, KnownEvent, Notebook } from "../core/types.gen.ts"

export { cellLabel } from "../core/cell_label.ts"

/** "3rd, after load"; "next" for the first that waits. */
export function queuePlace(notebook: Notebook, execution: Execution): string {
  const found = queueOf(notebook).get(execution.id)
  if (!found) return "waits"
  const after = found.before === null ? "" : `, after ${cellLabel(notebook, found.before)}`
  return `${found.place === 1 ? "next" : ordinal(found.place)}${after}`
}

interface Queued {
  readonly place: number
  /** The cell of the one before, which runs or waits. */
  readonly before: CellId | null
}

const QUEUES = new WeakMap<Notebook, ReadonlyMap<ExecutionId, Queued>>()

function queueOf(notebook: Notebook): ReadonlyMap<ExecutionId, Queued> {
  const known = QUEUES.get(notebook)
  if (known) return known
  const queue = new Map<ExecutionId, Queued>()
  let before: CellId | null = null
  for (const [id, cell] of notebook.executions) {
    const waits = notebook.cells.get(cell)?.queued?.id === id
    if (waits) queue.set(id, { place: queue.size + 1, before: before === cell ? null : before })
    before = cell
  }
  QUEUES.set(notebook, queue)
  return queue
}

export function ordinal(number: number): string {
  const rest = number % 100
  if (rest >= 11 && rest <= 13) return `${number}th`
  return `${number}${["th", "st", "nd", "rd"][number % 10] ?? "th"}`
}

/** Why a cell ended as it did, in words; null where the outputs say it, or there is nothing to say. */
export function endReason(notebook: Notebook, cell: Cell, name: (actor: string) => string): string | null {
  const last = cell.missed ?? cell.execution
  if (!last || isOpen(last)) return null
  switch (cellState(cell)) {
    case "error":
      return last.interrupted_by ? `interrupted by ${name(last.interrupted_by)}` : faultWords(last)
    case "skipped":
      return `skipped: ${skipReason(notebook, last)}`
    case "cancelled":
      return cancelWords(last, name)
    case "timeout":
      return "timed out"
    case "dead_kernel":
      return `the kernel died${last.fault?.evalue ? `: ${last.fault.evalue}` : ""}`
    case "lost":
      return "lost: its runtime went away while it ran"
    default:
      return null
  }
}

function faultWords({ fault }: Execution): string {
  const { ename = "", evalue = "" } = fault ?? {}
  const line = evalue.split("\n", 1)[0] ?? ""
  return [ename || "failed", line].filter(Boolean).join(": ")
}

function cancelWords(last: Execution, name: (actor: string) => string): string {
  if (last.interrupted_by) return `interrupted by ${name(last.interrupted_by)}`
  return last.why ? `cancelled: ${last.why}` : "cancelled"
}

function skipReason(notebook: Notebook, last: Execution): string {
  const needed = last.needs === null ? null : cellOfExecution(notebook, last.needs)
  if (!needed) return withLabels(notebook, last.why) || "a cell before it did not end well"
  const state = cellState(needed)
  const how = state === "error" ? "failed" : state === "ok" ? "had failed" : `was ${state.replaceAll("_", " ")}`
  return `needs ${cellLabel(notebook, needed.id)}, which ${how}`
}

/** A reason that a runtime gave, with cells as people call them and not by their ids. */
function withLabels(notebook: Notebook, why: string): string {
  return why.replace(/\bcell '?([a-z][a-z0-9]{7})'?(?![a-z0-9])/g, (said, id: string) => (notebook.cells.has(id) ? cellLabel(notebook, id) : said))
}

function cellOfExecution(notebook: Notebook, id: ExecutionId): Cell | null {
  for (const cell of notebook.cells.values()) {
    if (cell.missed?.id === id || cell.execution?.id === id || cell.queued?.id === id) return cell
  }
  return null
}

/** Why a cell is stale: "changed since it ran", "load changed since". */
export function staleReason(notebook: Notebook, cell: Cell, stale: ReadonlySet<CellId>): string {
  const execution = cell.execution
  if (!execution) return "not run"
  if (isEditedSince(cell, execution)) return "changed since it ran"
  if (execution.reads === null) return "a cell above changed since"
  const names = Object.entries(execution.reads).flatMap(([id, seen]) => staleRead(notebook, id, seen, stale))
  return names.length ? `${listed(names)} changed since` : "what it uses changed since"
}

function staleRead(notebook: Notebook, id: CellId, seen: string, stale: ReadonlySet<CellId>): string[] {
  const cell = notebook.cells.get(id)
  const isSame = cell && !cell.removed && runs(cell) && cell.execution?.fingerprint === seen && !stale.has(id)
  return isSame ? [] : [cellLabel(notebook, id)]
}

function listed(names: readonly string[]): string {
  if (names.length <= 2) return names.join(" and ")
  return `${names.slice(0, 2).join(", ")} and ${names.length - 2} more`
}

/** What is read out when a cell gets the focus. */
export function spoken(cell: Cell, hasConflict: boolean): string {
  const what = `${KIND_WORDS[cell.kind]} cell`
  const named = cell.name ? `${what} ${cell.name}` : what
  return hasConflict ? `${named}, in conflict with the file` : named
}

/** The oldest conflict with the file that a cell has. */
export function conflictOf(conflicts: Notebook["conflicts"], id: CellId): FileConflict | null {
  for (const conflict of conflicts.values()) if (conflict.cell === id) return conflict
  return null
}

/** The text that edits would have added: when they are refused it is shown, so that it can be copied. */
export function typedText(events: readonly KnownEvent[]): string {
  const edits = events.flatMap((event) => (event.type === "source_edited" ? (event.edit ?? []) : []))
  return edits.map(([, , insert]) => insert).join("\n")
}
