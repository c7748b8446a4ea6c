/** Two moments compared by the server, cell by cell. */

import { readExecution } from "../core/notebook.ts"
import type { ActorId, CellId, CellKind, Execution, LogId } from "../core/types.gen.ts"
import type { Api } from "./api.ts"
import { address } from "./api_requests.ts"

/** A log as it is, or as it was at a number. */
export interface MomentName {
  readonly log: LogId
  readonly seq?: number | undefined
}

/** A log at a number: as it was when that event was recorded. */
export interface Moment {
  readonly log: LogId
  readonly name: string
  readonly is_run: boolean
  readonly seq: number
  readonly at: string
  readonly actor: ActorId
  readonly on_behalf_of: ActorId | null
}

/** A line of a source. Every second part is a word in which it differs. */
export interface DiffLine {
  readonly sign: " " | "-" | "+"
  readonly parts: readonly string[]
}

export interface DiffPair {
  readonly old: DiffLine | null
  readonly new: DiffLine | null
}

/** A name, tags or a value of the metadata; empty where it is not there. */
export interface DiffFact {
  readonly path: string
  readonly old: string
  readonly new: string
}

/** A cell of one side; `number` counts from 1. */
export interface DiffCell {
  readonly id: CellId
  readonly number: number
  readonly kind: CellKind
  readonly source: string
  /** What it showed, in rows that are not the same. */
  readonly execution: Execution | null
}

export interface DiffRow {
  readonly cell: CellId
  readonly state: "same" | "changed" | "added" | "removed" | "moved"
  readonly name: string | null
  readonly tags: readonly string[]
  readonly old: DiffCell | null
  readonly new: DiffCell | null
  /** The whole source line by line, where it differs. */
  readonly lines: readonly DiffPair[]
  readonly facts: readonly DiffFact[]
  readonly outputs_differ: boolean
}

export interface MomentsCompared {
  readonly a: Moment
  readonly b: Moment
  readonly rows: readonly DiffRow[]
  readonly facts: readonly DiffFact[]
  /** Of the code of the new side. */
  readonly language: string
}

/** Compare two notebooks or runs, or one at two moments: every cell of both, from the top down. */
export async function compareMoments(api: Api, a: MomentName, b: MomentName): Promise<MomentsCompared> {
  const answer: MomentsCompared = await api.requests.read(address(["diff"], { a: written(a), b: written(b) }))
  return { ...answer, rows: readRows(answer.rows) }
}

function written({ log, seq }: MomentName): string {
  return seq === undefined ? log : `${log}@${seq}`
}

/** Rows as the server sends them. */
export function readRows(rows: readonly DiffRow[]): DiffRow[] {
  return rows.map((row) => ({ ...row, old: readCell(row.old), new: readCell(row.new) }))
}

/** An execution comes without what is as usual. */
function readCell(cell: DiffCell | null): DiffCell | null {
  return cell && { ...cell, execution: cell.execution && readExecution(cell.execution) }
}
