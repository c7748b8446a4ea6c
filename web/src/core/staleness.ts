/**
 * Which cells show outputs that their notebook no longer stands for.
 *
 * A cell is stale when its source changed since it ran; when a name it uses was defined by a cell that changed since, or
 * that stands itself on one that did; or, where a language could not be analysed, when any code cell above changed since.
 */

import { hashText, sourceHash } from "./hash.ts"
import { runs } from "./notebook.ts"
import type { Cell, CellId, Execution, Notebook } from "./types.gen.ts"

/** Name an execution by all that it stands on: its source and the executions it reads from. */
export function fingerprint(hashOfSource: string, reads: Readonly<Record<CellId, string>>): string {
  return hashText([hashOfSource, ...Object.values(reads).sort()].join("\n"))
}

/** The ids of the stale cells. Linear in the cells and in the names they use. */
export function staleCells(notebook: Notebook): ReadonlySet<CellId> {
  const stale = new Set<CellId>()
  const readers = new Map<CellId, CellId[]>()
  let changedAbove = 0
  for (const id of notebook.order) {
    const cell = notebook.cells.get(id)
    if (!cell) continue
    changedAbove = Math.max(changedAbove, cell.gap_seq)
    if (!runs(cell)) continue
    const execution = cell.execution
    if (execution && execution.started_seq !== null && !cell.removed) {
      for (const definer of Object.keys(execution.reads ?? {})) note(readers, definer, id)
      if (isEditedSince(cell, execution) || standsOnChanged(notebook, execution, execution.started_seq, changedAbove)) stale.add(id)
    }
    changedAbove = Math.max(changedAbove, cell.changed_seq)
  }
  return spread(stale, readers)
}

function standsOnChanged(notebook: Notebook, execution: Execution, startedSeq: number, changedAbove: number): boolean {
  if (execution.reads === null) return changedAbove > startedSeq
  return Object.entries(execution.reads).some(([definer, seen]) => differs(notebook.cells.get(definer), seen))
}

function differs(cell: Cell | undefined, seen: string): boolean {
  if (!cell || cell.removed || !runs(cell) || !cell.execution) return true
  return cell.execution.fingerprint !== seen || isEditedSince(cell, cell.execution)
}

/** Whether the source is another one than was executed. */
export function isEditedSince({ source }: Cell, { source_hash }: Execution): boolean {
  return source_hash !== sourceHash(source)
}

function note(readers: Map<CellId, CellId[]>, definer: CellId, reader: CellId): void {
  const known = readers.get(definer)
  if (known) known.push(reader)
  else readers.set(definer, [reader])
}

/** Add the cells that use what a stale cell defined, and those that use theirs … */
function spread(stale: Set<CellId>, readers: ReadonlyMap<CellId, readonly CellId[]>): Set<CellId> {
  const waiting = [...stale]
  for (let cell = waiting.pop(); cell !== undefined; cell = waiting.pop()) {
    for (const reader of readers.get(cell) ?? []) {
      if (stale.has(reader)) continue
      stale.add(reader)
      waiting.push(reader)
    }
  }
  return stale
}
