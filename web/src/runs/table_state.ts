/** What a table of runs holds, and how answers of the server change it. */

import type { ActorId, LogId } from "../core/types.gen.ts"
import type { RunColumn, RunRow, RunsLive, RunSourceChoice, RunTable } from "../sync/api_runs.ts"
import type { Fault } from "../sync/fault.ts"
import type { RunQuery } from "./query.ts"

export interface TableState {
  /** What the rows answer, as an address has it; null until the first answer. */
  readonly query: string | null
  /** What the columns are of: all runs, those of a notebook, or of a file. */
  readonly scope: string | null
  readonly rows: readonly RunRow[]
  readonly after: string | null
  readonly total: number
  readonly newest: string
  readonly columns: readonly RunColumn[] | null
  readonly sources: readonly RunSourceChoice[]
  readonly people: readonly ActorId[]
  /** New runs that are not shown yet. */
  readonly fresh: number
  readonly fault: Fault | null
}

export const NO_TABLE: TableState = {
  query: null,
  scope: null,
  rows: [],
  after: null,
  total: 0,
  newest: "",
  columns: null,
  sources: [],
  people: [],
  fresh: 0,
  fault: null,
}

export type TableChange =
  | { readonly kind: "read"; readonly query: string; readonly scope: string; readonly page: RunTable }
  | { readonly kind: "more"; readonly query: string | null; readonly page: RunTable }
  | { readonly kind: "live"; readonly live: RunsLive }
  | { readonly kind: "failed"; readonly fault: Fault }

export function changeTable(table: TableState, change: TableChange): TableState {
  switch (change.kind) {
    case "read":
      return replaced(table, change)
    case "more":
      return change.query === table.query ? { ...table, rows: [...table.rows, ...change.page.rows], after: change.page.after, fault: null } : table
    case "live":
      return updated(table, change.live)
    case "failed":
      return change.fault.isPassing && table.query !== null ? table : { ...table, fault: change.fault }
  }
}

function replaced(table: TableState, { query, scope, page }: TableChange & { readonly kind: "read" }): TableState {
  return {
    query,
    scope: page.columns ? scope : table.scope,
    rows: reused(table.rows, page.rows),
    after: page.after,
    total: page.total ?? 0,
    newest: page.newest ?? "",
    columns: page.columns ?? table.columns,
    sources: page.sources ?? table.sources,
    people: page.people ?? table.people,
    fresh: 0,
    fault: null,
  }
}

/** Rows that are as they were stay the same objects, so that they are not drawn again. */
function reused(before: readonly RunRow[], rows: readonly RunRow[]): readonly RunRow[] {
  const known = new Map(before.map((row) => [row.log, row]))
  return rows.map((row) => {
    const old = known.get(row.log)
    return old && !isOngoing(row) && old.status === row.status ? old : row
  })
}

function updated(table: TableState, live: RunsLive): TableState {
  const now = new Map(live.rows.map((row) => [row.log, row]))
  return { ...table, rows: table.rows.map((row) => now.get(row.log) ?? row), total: live.total, fresh: live.fresh }
}

const ONGOING = new Set(["queued", "running"])
const MOST_LIVE = 40

export function isOngoing({ status }: Pick<RunRow, "status">): boolean {
  return ONGOING.has(status)
}

export function ongoingRuns({ rows }: TableState): readonly LogId[] {
  return rows
    .filter(isOngoing)
    .slice(0, MOST_LIVE)
    .map(({ log }) => log)
}

/** What columns are of. */
export function scopeOf({ notebook, source }: RunQuery): string {
  return notebook ? `notebook:${notebook}` : source ? `file:${source}` : "all"
}
