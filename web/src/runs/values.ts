/** Parameters and results of a run in short. */

import type { Json, JsonObject } from "../core/types.gen.ts"

const MOST_CHARACTERS = 24

/** Names and values: "month" "2026-11". */
export function shortValues(values: JsonObject): readonly (readonly [string, string])[] {
  return Object.entries(values).map(([name, value]) => [name, shortValue(value)] as const)
}

/** The text of a tagged value (core/values.ts): "2026-03-01" of `{"$date": "2026-03-01"}`. */
function taggedText(value: JsonObject): string | null {
  const [[tag, text] = ["", null], ...others] = Object.entries(value)
  return others.length === 0 && tag.startsWith("$") && typeof text === "string" ? cut(text) : null
}

function shortValue(value: Json | undefined): string {
  if (value === null || value === undefined) return "…"
  if (Array.isArray(value)) return `[${value.length}]`
  if (typeof value === "object") return taggedText(value as JsonObject) ?? "{…}"
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)))
  return cut(String(value))
}

function cut(whole: string): string {
  const text = whole.replaceAll(/\s+/g, " ")
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text
}
