/** Read what kernels answer: Jupyter's complete_reply and inspect_reply. */

import { hasPairs, unitAt } from "../core/points.ts"
import type { Json, JsonObject } from "../core/types.gen.ts"

export interface KernelCompletion {
  readonly label: string
  /** What it is, in the kernel's word: "function", "module"…; "" when it does not say. */
  readonly type: string
}

/** Completions, and the units of the text that they replace. */
export interface KernelCompletions {
  readonly from: number
  readonly to: number
  readonly options: readonly KernelCompletion[]
}

/** The completions of a complete_reply about `text`; null where there are none. */
export function readCompletions(reply: JsonObject | null, text: string): KernelCompletions | null {
  if (reply?.["status"] !== "ok") return null
  const { matches, cursor_start: start, cursor_end: end, metadata } = reply
  const labels = strings(matches)
  if (labels.length === 0 || typeof start !== "number" || typeof end !== "number") return null
  const types = readTypes(metadata)
  const options = [...new Set(labels)].map((label) => ({ label, type: types.get(label) ?? "" }))
  return { from: toUnit(text, start), to: toUnit(text, end), options }
}

function toUnit(text: string, point: number): number {
  return hasPairs(text) ? unitAt(text, point) : Math.min(Math.max(point, 0), text.length)
}

function readTypes(metadata: Json | undefined): Map<string, string> {
  const types = new Map<string, string>()
  const said = isObject(metadata) ? metadata["_jupyter_types_experimental"] : undefined
  if (!Array.isArray(said)) return types
  for (const item of said as readonly Json[]) {
    if (!isObject(item)) continue
    const { text, type } = item
    if (typeof text === "string" && typeof type === "string" && !type.startsWith("<")) types.set(text, type)
  }
  return types
}

/** The text of an inspect_reply without the terminal's colours; null where nothing was found. */
export function readInspection(reply: JsonObject | null): string | null {
  if (reply?.["status"] !== "ok" || reply["found"] !== true) return null
  const data = reply["data"]
  const text = isObject(data) ? data["text/plain"] : undefined
  return typeof text === "string" && text.trim() ? withoutAnsi(text).trimEnd() : null
}

// eslint-disable-next-line no-control-regex -- that is what it removes
const ANSI = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g

function withoutAnsi(text: string): string {
  return text.replaceAll(ANSI, "")
}

const HEAD = /^(?:Init signature|Signature|Call signature):\s*/
const OTHER_HEAD = /^[A-Z][A-Za-z ]{1,20}:/

/** The signature in an inspection, and the first line of its documentation; null where it has none. */
export function readSignature(inspection: string): string | null {
  const lines = inspection.split("\n")
  const start = lines.findIndex((line) => HEAD.test(line))
  const docstring = lines.findIndex((line) => line.startsWith("Docstring:"))
  const summary = docstring < 0 ? "" : firstText([lines[docstring]?.slice("Docstring:".length) ?? "", ...lines.slice(docstring + 1)])
  if (start < 0) return summary || null
  const signature = [lines[start]?.replace(HEAD, "") ?? ""]
  for (const line of lines.slice(start + 1)) {
    if (OTHER_HEAD.test(line)) break
    signature.push(line)
  }
  return `${signature.join("\n").trim()}${summary && `\n${summary}`}`
}

function firstText(lines: readonly string[]): string {
  return lines.find((line) => line.trim() !== "")?.trim() ?? ""
}

function strings(value: Json | undefined): string[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter((item) => typeof item === "string") : []
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
