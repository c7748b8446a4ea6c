/** Which columns a table of runs shows: those that vary, unless somebody chose others. Kept in the browser. */

import type { RunColumn } from "../sync/api_runs.ts"
import { columnKey } from "./query.ts"

export interface ShownColumn extends RunColumn {
  /** `result.accuracy` */
  readonly key: string
}

/** Columns of the run itself, which can be put away too. */
export const FACTS = ["who", "when", "took"] as const
export type FactColumn = (typeof FACTS)[number]
export const FACT_TITLES: Readonly<Record<FactColumn, string>> = { who: "Who", when: "When", took: "Took" }

/** What somebody chose, by the column's key; the rest is as usual. */
export type ColumnChoice = Readonly<Record<string, boolean>>

const MOST_BY_DEFAULT = 8

export function allColumns(columns: readonly RunColumn[]): readonly ShownColumn[] {
  const keyed = columns.map((column) => ({ ...column, key: columnKey(column.kind, column.name) }))
  return [...keyed.filter(({ kind }) => kind === "parameter"), ...keyed.filter(({ kind }) => kind === "result")]
}

/**
 * The keys that are shown where nothing was chosen, eight at most: what varies. Of parameters and of results, all are shown
 * where none varies: a single run has nothing to compare, and is read.
 */
export function usualKeys(columns: readonly ShownColumn[]): ReadonlySet<string> {
  const candidates = (["parameter", "result"] as const).flatMap((wanted) => {
    const ofKind = columns.filter(({ kind }) => kind === wanted)
    const varying = ofKind.filter(({ varies }) => varies)
    return varying.length ? varying : ofKind
  })
  // Results first, and what most runs have: what one looks at a table for.
  const ordered = candidates.toSorted((one, other) => Number(other.kind === "result") - Number(one.kind === "result") || other.runs - one.runs)
  return new Set(ordered.slice(0, MOST_BY_DEFAULT).map(({ key }) => key))
}

export function shownColumns(columns: readonly ShownColumn[], choice: ColumnChoice): readonly ShownColumn[] {
  const usual = usualKeys(columns)
  return columns.filter(({ key }) => choice[key] ?? usual.has(key))
}

export function isFactShown(fact: FactColumn, choice: ColumnChoice): boolean {
  return choice[fact] ?? true
}

// ---- Storage

type ChoiceStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">

/** Each notebook and file has columns of its own. */
export function choiceKey(scope: string): string {
  return `quire-run-columns:${scope}`
}

export function readChoice(storage: ChoiceStorage, scope: string): ColumnChoice {
  try {
    const read: unknown = JSON.parse(storage.getItem(choiceKey(scope)) ?? "{}")
    if (typeof read !== "object" || read === null) return {}
    return Object.fromEntries(Object.entries(read).filter((entry): entry is [string, boolean] => typeof entry[1] === "boolean"))
  } catch {
    return {}
  }
}

export function keepChoice(storage: ChoiceStorage, scope: string, choice: ColumnChoice): void {
  try {
    if (Object.keys(choice).length) storage.setItem(choiceKey(scope), JSON.stringify(choice))
    else storage.removeItem(choiceKey(scope))
  } catch {
    // Full or closed: it holds for this window then.
  }
}
