/** A named value as a line of text: what Python would show of it, roughly. */

import type { Json } from "../core/types.gen.ts"
import { BadValue, Collection, Duration, FilePath, Moment, Pairs, untag } from "../core/values.ts"
import type { Value } from "../core/values.ts"

const LONGEST = 500

/** The value that tagged JSON stands for, as text; cut where it is long. */
export function valueText(json: Json): string {
  const text = textOf(json)
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)} … ${(text.length - LONGEST).toLocaleString("en")} more characters`
}

function textOf(json: Json): string {
  const value = read(json)
  return value === undefined ? JSON.stringify(json) : show(value)
}

function read(json: Json): Value | undefined {
  try {
    return untag(json)
  } catch (error) {
    if (error instanceof BadValue) return undefined
    throw error
  }
}

/** Tagged JSON as plain values, as charts and trees want it: NaN is a number, large numbers are text where they must. */
export function untagged(json: Json): Json {
  const value = JSON.stringify(json).includes('"$') ? read(json) : undefined
  return value === undefined ? json : plain(value)
}

function plain(value: Value): Json {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return (value as readonly Value[]).map(plain)
  if (Object.getPrototypeOf(value) !== Object.prototype) return show(value)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each as Value)]))
}

function show(value: Value): string {
  if (typeof value === "string") return JSON.stringify(value)
  if (typeof value !== "object" || value === null) return String(value)
  if (value instanceof Uint8Array) return `${value.length.toLocaleString("en")} bytes`
  if (value instanceof Moment) return value.iso
  if (value instanceof FilePath) return value.path
  if (value instanceof Duration) return `${value.days} d ${value.seconds + value.microseconds / 1e6} s`
  if (value instanceof Collection) return value.kind === "tuple" ? `(${list(value.items)})` : `{${list(value.items)}}`
  if (value instanceof Pairs) return `{${value.items.map(([key, each]) => `${show(key)}: ${show(each)}`).join(", ")}}`
  if (Array.isArray(value)) return `[${list(value as readonly Value[])}]`
  return `{${Object.entries(value)
    .map(([key, each]) => `${JSON.stringify(key)}: ${show(each)}`)
    .join(", ")}}`
}

function list(items: readonly Value[]): string {
  return items.map(show).join(", ")
}
