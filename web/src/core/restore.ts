/**
 * Restoring an earlier moment as edits: ordinary changes of cells, made against the notebook as it is now.
 *
 * What they come to has the sources, order, kinds, names, tags and metadata of the cells of that moment. Nothing is taken out of
 * the log, and outputs are left alone: they tell what ran.
 */

import { sourceHash } from "./hash.ts"
import { liveCells } from "./notebook.ts"
import { difference } from "./text.ts"
import type { Cell, CellChange, CellId, JsonObject, Notebook } from "./types.gen.ts"

/** The changes that make all cells what they were `then`: those added since go, those removed since come back. */
export function restoreAll(now: Notebook, then: Notebook): CellChange[] {
  const before = liveCells(then)
  const wanted = new Set(before.map(({ id }) => id))
  const removals = liveCells(now).flatMap((cell): CellChange[] => (wanted.has(cell.id) ? [] : [removal(cell)]))
  return [...removals, ...placements(now, before), ...before.flatMap((cell) => contentChanges(liveCell(now, cell.id), cell))]
}

/** The changes that make one cell what it was `then`. One that was removed comes back after the cell it stood behind. */
export function restoreCell(now: Notebook, then: Notebook, id: CellId): CellChange[] {
  const before = liveCell(then, id)
  if (!before) return []
  const cell = liveCell(now, id)
  if (cell) return contentChanges(cell, before)
  const above = liveCells(then).map((each) => each.id)
  const anchor = above.slice(0, above.indexOf(id)).findLast((each) => liveCell(now, each))
  return [addition(before, anchor ?? null)]
}

/** How a cell of a moment stands to the notebook now. */
export type SinceThen = "same" | "changed" | "removed"

export function sinceThen(now: Notebook, then: Cell): SinceThen {
  const cell = liveCell(now, then.id)
  if (!cell) return "removed"
  const isUnchanged = cell === then || (cell.source === then.source && contentChanges(cell, then).length === 0)
  return isUnchanged ? "same" : "changed"
}

function liveCell(notebook: Notebook, id: CellId): Cell | undefined {
  const cell = notebook.cells.get(id)
  return cell?.removed === false ? cell : undefined
}

// ---- One cell

function contentChanges(now: Cell | undefined, then: Cell): CellChange[] {
  if (!now) return []
  const { id: cell } = then
  const changes: CellChange[] = []
  if (now.kind !== then.kind) changes.push({ type: "cell_kind_changed", cell, kind: then.kind })
  if (now.source !== then.source) changes.push({ type: "source_edited", cell, edit: difference(now.source, then.source) })
  if (now.name !== then.name) changes.push({ type: "cell_named", cell, name: then.name })
  if (!isSame(now.tags, then.tags)) changes.push({ type: "cell_tagged", cell, tags: then.tags })
  return [...changes, ...metadataChanges(now, then)]
}

function metadataChanges({ metadata: now }: Cell, { id: cell, metadata: then }: Cell): CellChange[] {
  const values: JsonObject = Object.fromEntries(Object.entries(then).filter(([key, value]) => !isSame(now[key], value)))
  const removed = Object.keys(now).filter((key) => !(key in then))
  return Object.keys(values).length || removed.length ? [{ type: "cell_metadata_set", cell, values, removed }] : []
}

function removal({ id, source }: Cell): CellChange {
  // With a hash: what somebody types meanwhile is not removed unseen.
  return { type: "cell_removed", cell: id, base_hash: sourceHash(source) }
}

function addition({ id, kind, source, name, tags, metadata }: Cell, after: CellId | null): CellChange {
  return { type: "cell_added", cell: id, after, kind, source, name, tags, metadata }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

// ---- Their order

/** Each cell that is missing is added and each out of order moved, from the top down; as many as can be stay where they are. */
function placements(now: Notebook, before: readonly Cell[]): CellChange[] {
  const places = new Map(liveCells(now).map(({ id }, place) => [id, place]))
  const there = before.flatMap(({ id }) => places.get(id) ?? [])
  const staying = new Set(longestRising(there))
  let after: CellId | null = null
  const changes: CellChange[] = []
  for (const cell of before) {
    const place = places.get(cell.id)
    if (place === undefined) changes.push(addition(cell, after))
    else if (!staying.has(place)) changes.push({ type: "cell_moved", cell: cell.id, after })
    after = cell.id
  }
  return changes
}

/** The most of these numbers that rise from left to right (patience sorting). */
function longestRising(numbers: readonly number[]): number[] {
  const ends: number[] = []
  const before = new Map<number, number | undefined>()
  for (const number of numbers) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) < number) low = middle + 1
      else high = middle
    }
    before.set(number, ends[low - 1])
    ends[low] = number
  }
  const rising: number[] = []
  for (let last = ends.at(-1); last !== undefined; last = before.get(last)) rising.push(last)
  return rising.reverse()
}
