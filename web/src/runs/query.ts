/** What a table of runs is asked for, as its address has it: shared by copying, and kept by Back. */

import type { RunFilter, ValueKind } from "../sync/api_runs.ts"

export interface RunQuery extends RunFilter {
  /** `-at`, `seconds`, `-result.accuracy`. */
  readonly sort: string
}

export const USUAL_SORT = "-at"

export const NO_QUERY: RunQuery = {
  status: [],
  notebook: null,
  source: null,
  who: [],
  since: null,
  until: null,
  text: "",
  where: [],
  sort: USUAL_SORT,
}

/** Read the part of an address after the question mark. */
export function readQuery(search: string): RunQuery {
  const given = new URLSearchParams(search)
  const list = (name: string): readonly string[] => (given.get(name) ?? "").split(",").filter(Boolean)
  return {
    status: list("status"),
    notebook: given.get("notebook"),
    source: given.get("source"),
    who: list("who"),
    since: given.get("since"),
    until: given.get("until"),
    text: given.get("text") ?? "",
    where: given.getAll("where"),
    sort: given.get("sort") ?? USUAL_SORT,
  }
}

/** Write it again: what is as usual is left out. */
export function writeQuery(query: RunQuery): string {
  const written = new URLSearchParams()
  if (query.notebook) written.set("notebook", query.notebook)
  if (query.source) written.set("source", query.source)
  if (query.status.length) written.set("status", query.status.join(","))
  if (query.who.length) written.set("who", query.who.join(","))
  if (query.since) written.set("since", query.since)
  if (query.until) written.set("until", query.until)
  if (query.text) written.set("text", query.text)
  for (const condition of query.where) written.append("where", condition)
  if (query.sort !== USUAL_SORT) written.set("sort", query.sort)
  return written.toString().replaceAll("%3A", ":").replaceAll("%2C", ",")
}

/** Whether anything but the order is asked for. */
export function isFiltered(query: RunQuery): boolean {
  return writeQuery({ ...query, sort: USUAL_SORT }) !== ""
}

// ---- Time

const RELATIVE = /^(\d+)(h|d)$/
const MILLISECONDS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 }

/** The filter with times as the server compares them: `7d` is seven days before now, a date begins at midnight here. */
export function filterAt(query: RunQuery, now: number): RunFilter {
  return { ...query, since: query.since && timeOf(query.since, now, 0), until: query.until && timeOf(query.until, now, 1) }
}

function timeOf(text: string, now: number, daysLater: number): string {
  const [, count = "", unit = ""] = RELATIVE.exec(text) ?? []
  const milliseconds = MILLISECONDS[unit]
  if (milliseconds !== undefined) return new Date(now - Number(count) * milliseconds).toISOString()
  const [year = 0, month = 1, day = 1] = text.split("-").map(Number)
  const date = new Date(year, month - 1, day + daysLater)
  return Number.isNaN(date.getTime()) ? text : date.toISOString()
}

// ---- Conditions

const CONDITION = /^\s*(?:param|parameter|result)\.(?:"(?:[^"\\]|\\.)*"|[^\s=!<>~"]+)\s*(?:(?:!=|<=|>=|=|<|>|~)\s*\S|is\s+(?:set|missing)\s*$)/

/** Whether somebody typed a condition, and not words to look for. */
export function isCondition(text: string): boolean {
  return CONDITION.test(text)
}

/** Whether somebody is typing a condition: these are no words to look for yet. */
export function beginsCondition(text: string): boolean {
  return /^\s*(?:param|parameter|result)\./.test(text)
}

/** How a column is written in conditions and orders. */
export function columnKey(kind: ValueKind, name: string): string {
  const written = /^[^\s=!<>~"]+$/.test(name) ? name : JSON.stringify(name)
  return `${kind === "result" ? "result" : "param"}.${written}`
}

/** A condition made of its parts; a text that could be read as something else stands in quotes. */
export function writeCondition(key: string, operator: string, value: string, isText: boolean): string {
  if (operator.startsWith("is ")) return `${key} ${operator}`
  const isOther = /^".*"$|^\s|\s$/s.test(value) || /^[+-]?(\d|\.\d)/.test(value) || /^(true|false|null|none|nan)$/i.test(value)
  return `${key} ${operator} ${isText && operator !== "~" && isOther && !/^\d{4}-\d\d/.test(value) ? JSON.stringify(value) : value}`
}

// ---- Order

export interface Sorted {
  readonly by: string
  readonly descending: boolean
}

export function readSort(sort: string): Sorted {
  return { by: sort.replace(/^-/, ""), descending: sort.startsWith("-") }
}

/** The order after a click on a column's head: the other direction, if it is sorted by that already. */
export function nextSort(sort: string, by: string, beginsDescending: boolean): string {
  const now = readSort(sort)
  const descending = now.by === by ? !now.descending : beginsDescending
  return `${descending ? "-" : ""}${by}`
}
