/** The table of runs, what changes in it, and two runs compared. */

import type { ActorId, CellId, Json, JsonObject, LogId } from "../core/types.gen.ts"
import type { Api } from "./api.ts"
import { address } from "./api_requests.ts"

export type ValueKind = "parameter" | "result"
export type ColumnType = "number" | "boolean" | "duration" | "date" | "text" | "other" | "none" | "mixed"

/** Which runs: those that meet all of it. */
export interface RunFilter {
  readonly status: readonly string[]
  readonly notebook: LogId | null
  readonly source: string | null
  /** Who asked for them, or for whom. */
  readonly who: readonly ActorId[]
  readonly since: string | null
  readonly until: string | null
  readonly text: string
  /** `result.accuracy > 0.9` */
  readonly where: readonly string[]
}

/** A parameter or a result that occurs in the runs of a table. */
export interface RunColumn {
  readonly kind: ValueKind
  readonly name: string
  readonly type: ColumnType
  readonly runs: number
  readonly varies: boolean
  readonly low: number | null
  readonly high: number | null
  /** How many runs are in each part from `low` to `high`; none for what is no number. */
  readonly bars: readonly number[]
}

export interface RunProgress {
  readonly done: number
  readonly all: number
  readonly cell: string | null
}

export interface RunRow {
  readonly log: LogId
  readonly name: string
  readonly status: string
  readonly fault: string | null
  readonly at: string
  readonly started_at: string | null
  readonly seconds: number | null
  readonly actor: ActorId
  readonly on_behalf_of: ActorId | null
  readonly source: { readonly path: string | null; readonly notebook: LogId | null }
  readonly parameters: JsonObject
  readonly results: JsonObject
  readonly progress: RunProgress | null
  /** The notebook that can be run again, or what to type where there is none. */
  readonly again: { readonly notebook: LogId | null; readonly command: string | null }
}

export interface RunSourceChoice {
  readonly notebook: LogId | null
  readonly path: string | null
  readonly name: string
  readonly runs: number
}

/** A page of the table. What later pages do not repeat is null there. */
export interface RunTable {
  readonly rows: readonly RunRow[]
  readonly after: string | null
  readonly total: number | null
  readonly newest: string | null
  readonly columns: readonly RunColumn[] | null
  readonly sources: readonly RunSourceChoice[] | null
  readonly people: readonly ActorId[] | null
}

export interface RunsLive {
  readonly rows: readonly RunRow[]
  readonly total: number
  /** Runs that meet the filter and were asked for since. */
  readonly fresh: number
}

/** A value in two runs: what a run does not have is not there. */
export interface ComparedPair {
  readonly a?: Json
  readonly b?: Json
  readonly same: boolean
  readonly difference?: number
  readonly relative?: number
}

export interface ComparedTime {
  readonly a_number: number | null
  readonly b_number: number | null
  readonly cell: CellId
  readonly label: string
  readonly a_seconds: number | null
  readonly b_seconds: number | null
}

/** Two runs side by side, with the facts of `quire runs diff`. */
export interface RunComparison {
  readonly a: LogId
  readonly b: LogId
  readonly a_seq: number
  readonly b_seq: number
  readonly same: boolean
  readonly status: ComparedPair
  readonly parameters: Readonly<Record<string, ComparedPair>>
  /** How many changes turn the cells of a into those of b. */
  readonly sources: number
  readonly results: Readonly<Record<string, ComparedPair>>
  readonly environment: Readonly<Record<string, ComparedPair>>
  /** The packages that differ; null where those of one run are not known. */
  readonly packages: Readonly<Record<string, ComparedPair>> | null
  /** The files that they declare to read, by their hashes. */
  readonly inputs: Readonly<Record<string, ComparedPair>>
  readonly duration_seconds: ComparedPair
  readonly timing: readonly ComparedTime[]
}

/** What is used of the record of a run. */
export interface RunRecord {
  readonly name: string
  readonly by: ActorId
  readonly on_behalf_of: ActorId | null
  readonly requested_at: string
  readonly parameters: JsonObject
}

export interface TablePage {
  readonly sort: string
  readonly after?: string | undefined
  readonly columns?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** A page of the runs that meet a filter. */
export async function runTable(api: Api, filter: RunFilter, { sort, after, columns, signal }: TablePage): Promise<RunTable> {
  const path = filtered(["runs", "table"], filter, { sort, after, columns })
  const response = await api.requests.send(path, signal ? { signal } : {})
  return (await response.json()) as RunTable
}

/** Some runs as they are now, and how many others came after `seen`. */
export function runsLive(api: Api, filter: RunFilter, runs: readonly LogId[], seen: string): Promise<RunsLive> {
  return api.requests.read(filtered(["runs", "live"], filter, { runs: runs.length ? runs.join(",") : undefined, seen: seen || undefined }))
}

export function compareRuns(api: Api, a: LogId, b: LogId): Promise<RunComparison> {
  return api.requests.read(address(["runs", "compare"], { a, b }))
}

/** The record of one run, with its parameters whole. */
export function runRecord(api: Api, run: LogId): Promise<RunRecord> {
  return api.requests.read(address(["runs", run]))
}

function filtered(path: readonly string[], filter: RunFilter, more: Readonly<Record<string, string | boolean | undefined>>): string {
  const { status, notebook, source, who, since, until, text, where } = filter
  const listed = (items: readonly string[]): string | undefined => (items.length ? items.join(",") : undefined)
  const base = address(path, { status: listed(status), notebook, source, who: listed(who), since, until, text: text || undefined, ...more })
  // Each by itself: a condition may hold commas.
  const conditions = where.map((condition) => `where=${encodeURIComponent(condition)}`)
  return conditions.length ? `${base}${base.includes("?") ? "&" : "?"}${conditions.join("&")}` : base
}
