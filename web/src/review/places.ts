/** Where comments stand in a review: at a line, at a cell, or beside what is shown. Pure. */

import type { CommentThread } from "../core/comments.ts"
import { sourceHash } from "../core/hash.ts"
import type { CellId } from "../core/types.gen.ts"
import type { DiffRow } from "../sync/api_diff.ts"
import type { DraftTarget } from "../sync/comment_drafts.ts"

export type Side = "old" | "new"

/** A thread below a cell; `line` where it was made on a line of a version that is not shown. */
export interface CellThread {
  readonly thread: CommentThread
  readonly olderLine: number | null
}

export interface Places {
  /** By cell, side and line. */
  readonly lines: ReadonlyMap<string, readonly CommentThread[]>
  readonly cells: ReadonlyMap<CellId, readonly CellThread[]>
  /** About the review as a whole, and about cells that it does not show as changed. */
  readonly others: readonly CommentThread[]
}

export function placeName(cell: CellId, side: Side, line: number): string {
  return `${side} ${line} ${cell}`
}

/** Put each thread where it belongs among the rows. A line counts as long as a side has the source that it was made on. */
export function placesOf(rows: readonly DiffRow[], threads: readonly CommentThread[]): Places {
  const changed = new Map(rows.flatMap((row) => (row.state === "same" ? [] : [[row.cell, row] as const])))
  const lines = new Map<string, CommentThread[]>()
  const cells = new Map<CellId, CellThread[]>()
  const others: CommentThread[] = []
  for (const thread of threads) {
    const { cell, line, source_hash: hash } = thread.first
    const row = cell === null ? undefined : changed.get(cell)
    if (!row) {
      others.push(thread)
      continue
    }
    const side = line === null ? null : sideOf(row, hash)
    if (side !== null && line !== null && row.lines.length > 0) add(lines, placeName(row.cell, side, line), thread)
    else add(cells, row.cell, { thread, olderLine: side === null ? line : null })
  }
  return { lines, cells, others }
}

function add<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  map.set(key, [...(map.get(key) ?? []), value])
}

function sideOf({ old, new: now }: DiffRow, hash: string | null): Side | null {
  if (now && sourceHash(now.source) === hash) return "new"
  return old && sourceHash(old.source) === hash ? "old" : null
}

/** The field for a comment on a line: what is typed there is kept under this name. */
export function lineTarget(row: DiffRow, side: Side, line: number): DraftTarget {
  return `line:${row.cell}:${sourceHash(row[side]?.source ?? "")}:${line}`
}

/** The line that a field is for. */
export function lineOf(target: DraftTarget): { readonly cell: CellId; readonly hash: string; readonly line: number } | null {
  const [, cell, hash, line] = /^line:(.+):([0-9a-f]{64}):(\d+)$/.exec(target) ?? []
  return cell !== undefined && hash !== undefined && line !== undefined ? { cell, hash, line: Number(line) } : null
}

/** The places of the fields that are open on lines. */
export function composedPlaces(rows: readonly DiffRow[], composed: ReadonlySet<DraftTarget>): ReadonlySet<string> {
  const found = new Set<string>()
  for (const target of composed) {
    const at = lineOf(target)
    const row = at && rows.find(({ cell }) => cell === at.cell)
    const side = row && sideOf(row, at.hash)
    if (at && side) found.add(placeName(at.cell, side, at.line))
  }
  return found
}

/** The numbers that are sent with a yes: all but those of the parts that were taken out; null for all. */
export function selectionOf(count: number, left: ReadonlySet<number>): readonly number[] | null {
  return left.size === 0 ? null : Array.from({ length: count }, (_, number) => number).filter((number) => !left.has(number))
}
