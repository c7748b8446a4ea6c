/** What asks for cells to be run, stopped and taken back, as events. */

import { sourceHash } from "../core/hash.ts"
import { cellState, isOpen, liveCells, runs } from "../core/notebook.ts"
import { staleCells } from "../core/staleness.ts"
import type { Cell, CellId, Execution, ExecutionId, KnownEvent, Notebook } from "../core/types.gen.ts"

/**
 * Ask for cells, each for when the one before has ended well. What waits with this very source is not asked for twice, and
 * what waits with another is taken back first. One that runs may be asked for again with `again`: it then waits behind itself.
 */
export function requests(notebook: Notebook, cells: readonly CellId[], newId: () => ExecutionId, again = false): KnownEvent[] {
  const cancelled: KnownEvent[] = []
  const events: KnownEvent[] = []
  let needs: ExecutionId | null = null
  for (const id of cells) {
    const cell = notebook.cells.get(id)
    if (!cell || cell.removed || !runs(cell) || !cell.source.trim()) continue
    const hash = sourceHash(cell.source)
    const same = underWay(cell, again).find((execution) => execution.source_hash === hash)
    if (same) {
      needs = same.id
      continue
    }
    if (cell.queued) cancelled.push({ type: "execution_cancelled", execution: cell.queued.id, why: "its source was changed" })
    const execution = newId()
    events.push({ type: "execution_requested", execution, cell: id, source_hash: hash, ...(needs === null ? {} : { needs }) })
    needs = execution
  }
  return events.length ? [...cancelled, ...events] : []
}

function underWay(cell: Cell, again: boolean): Execution[] {
  const waits = cell.queued && !cell.queued.blocked ? [cell.queued] : []
  return cell.execution && isOpen(cell.execution) && !again ? [...waits, cell.execution] : waits
}

/** The cells that are not as the notebook says: stale, failed, never run. */
export function outdated(notebook: Notebook): CellId[] {
  const stale = staleCells(notebook)
  return liveCells(notebook).filter((cell) => runs(cell) && isOutdated(cell, stale)).map(({ id }) => id)
}

function isOutdated(cell: Cell, stale: ReadonlySet<CellId>): boolean {
  const state = cellState(cell)
  return stale.has(cell.id) || (state !== "ok" && state !== "running" && state !== "queued")
}

export function runnable(notebook: Notebook): CellId[] {
  return liveCells(notebook).filter(runs).map(({ id }) => id)
}

/** Stop what these cells do: what runs is interrupted, what waits is taken back. */
export function stops(notebook: Notebook, cells: readonly CellId[]): KnownEvent[] {
  return cells.flatMap((id): KnownEvent[] => {
    const cell = notebook.cells.get(id)
    const waits: KnownEvent[] = cell?.queued ? [{ type: "execution_cancelled", execution: cell.queued.id }] : []
    const running: KnownEvent[] =
      cell?.execution?.state === "running" ? [{ type: "interrupt_requested", execution: cell.execution.id }] : []
    return [...waits, ...running]
  })
}

/** Interrupt whatever runs. Without that, what waits goes on. */
export function interruptions(notebook: Notebook): KnownEvent[] {
  return [...notebook.executions].flatMap(([id, cell]): KnownEvent[] => {
    const execution = notebook.cells.get(cell)?.execution
    return execution?.id === id && execution.state === "running" ? [{ type: "interrupt_requested", execution: id }] : []
  })
}

/** Take back all that waits. */
export function cancellations(notebook: Notebook): KnownEvent[] {
  return [...notebook.executions].flatMap(([id, cell]): KnownEvent[] =>
    notebook.cells.get(cell)?.queued?.id === id ? [{ type: "execution_cancelled", execution: id }] : [],
  )
}
