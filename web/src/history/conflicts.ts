/** Deciding a conflict between a notebook and its file, as `quire conflicts resolve --take` does. Pure. */

import { sourceHash } from "../core/hash.ts"
import type { Cell, CellChange, ConflictId, FileConflict, KnownEvent, Notebook } from "../core/types.gen.ts"

export type Side = "log" | "file"

/** The events that end a conflict: the cell becomes what the side says; without one, it stays as it is now. */
export function resolving(now: Notebook, id: ConflictId, conflict: FileConflict, side: Side | null): KnownEvent[] {
  const cell = now.cells.get(conflict.cell)
  const text = side === "log" ? conflict.ours : conflict.theirs
  const changes = cell && side !== null ? taking(now, cell, text) : []
  return [...changes, { type: "conflict_resolved", conflict: id }]
}

function taking(now: Notebook, cell: Cell, text: string): CellChange[] {
  // A side without text had removed the cell.
  if (!text) return cell.removed ? [] : [{ type: "cell_removed", cell: cell.id }]
  if (cell.removed) {
    const after = now.order[now.order.indexOf(cell.id) - 1] ?? null
    const { kind, name, tags, metadata } = cell
    return [{ type: "cell_added", cell: cell.id, after, kind, source: text, name, tags, metadata }]
  }
  if (cell.source === text) return []
  return [{ type: "source_edited", cell: cell.id, text, base_hash: sourceHash(cell.source) }]
}
