/** A parameter or a result in a cell of the table: its text, and on which side it stands. */

import { BadValue, Duration, FilePath, Moment, untag } from "../core/values.ts"
import type { Value } from "../core/values.ts"
import type { Json } from "../core/types.gen.ts"
import { visible } from "../core/visible.ts"
import { duration } from "../ui/relative_time.ts"

export interface CellText {
  readonly text: string
  /** The whole value, where the text is shortened. */
  readonly whole: string | null
  readonly isNumber: boolean
}

const MOST_CHARACTERS = 40
const NOTHING: CellText = { text: "", whole: null, isNumber: false }

export function cellText(json: Json | undefined): CellText {
  if (json === undefined) return NOTHING
  const value = read(json)
  if (value === undefined) return cut(JSON.stringify(json))
  if (value === null) return { text: "none", whole: null, isNumber: false }
  if (typeof value === "number") return number(value)
  if (typeof value === "bigint") return { text: shortInteger(value), whole: String(value), isNumber: true }
  if (typeof value === "boolean") return { text: value ? "true" : "false", whole: null, isNumber: false }
  if (typeof value === "string") return cut(value)
  if (value instanceof Moment) return { text: value.iso.replace("T", " "), whole: null, isNumber: false }
  if (value instanceof FilePath) return cut(value.path)
  if (value instanceof Duration) return { text: duration(value.days * 86_400 + value.seconds + value.microseconds / 1e6), whole: null, isNumber: true }
  return cut(JSON.stringify(json))
}

function read(json: Json): Value | undefined {
  try {
    return untag(json)
  } catch (error) {
    if (error instanceof BadValue) return undefined
    throw error
  }
}

/** Six digits are enough to compare by; the rest is the tip. Four are read without a comma: they may be a year. */
function number(value: number): CellText {
  const whole = String(value)
  const text = Number.isInteger(value) && Math.abs(value) < 1e15 ? value.toLocaleString("en", { useGrouping: "min2" }) : String(Number(value.toPrecision(6)))
  return { text, whole: text === whole ? null : whole, isNumber: true }
}

function shortInteger(value: bigint): string {
  const digits = String(value)
  return digits.length <= 15 ? digits : `${digits.slice(0, 6)}…${digits.slice(-3)}`
}

function cut(text: string): CellText {
  const line = visible(text.replaceAll(/\s+/g, " "))
  if (line.length <= MOST_CHARACTERS) return { text: line, whole: line === text ? null : visible(text), isNumber: false }
  return { text: `${line.slice(0, MOST_CHARACTERS - 1)}…`, whole: visible(text), isNumber: false }
}

/** "+0.05", "−3", with a real minus. */
export function signed(value: number): string {
  const text = String(Number(Math.abs(value).toPrecision(4)))
  return `${value < 0 ? "−" : "+"}${text}`
}

/** "+10 %", "−0.5 %". */
export function percent(relative: number): string {
  const parts = Math.abs(relative) * 100
  const text = parts >= 1000 ? Math.round(parts).toLocaleString("en") : String(Number(parts.toPrecision(3)))
  return `${relative < 0 ? "−" : "+"}${text} %`
}
