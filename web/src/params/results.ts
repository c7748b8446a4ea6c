/** Values of a run in one line each. */

import type { Json, JsonObject, Notebook } from "../core/types.gen.ts"
import { writeText } from "./typed.ts"

const LONGEST = 200

export interface NamedText {
  readonly name: string
  readonly value: string
}

export function resultFacts({ results }: Notebook): readonly NamedText[] {
  return [...results.values()].map(({ name, value, blob, kind }) => ({
    name,
    value: blob ? `${kind}, ${bytes(blob.size)}` : valueText(value),
  }))
}

export function parameterFacts(parameters: JsonObject): readonly NamedText[] {
  return Object.entries(parameters).map(([name, value]) => ({ name, value: valueText(value) }))
}

function valueText(value: Json): string {
  const text = value === null ? "none" : writeText(value)
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}

export function bytes(size: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"]
  const power = size < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(size) / 3))
  const number = size / 1000 ** power
  return `${power && number < 10 ? number.toFixed(1) : Math.round(number)} ${units[power] ?? ""}`
}
