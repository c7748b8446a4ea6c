/** The fields of a form of parameters: how each is typed, what it holds at first, and what it comes to. */

import type { Json } from "../core/types.gen.ts"
import { mayBeNone, membersOf, parseType, readText, writeText } from "./typed.ts"
import type { Parameter } from "./typed.ts"

export type Control = "line" | "lines" | "check" | "choice" | "date" | "number"

/** What is typed, by the name of the parameter. Without one, a parameter keeps its default. */
export type Typed = Readonly<Record<string, string>>

export type Read =
  | { readonly kind: "value"; readonly value: Json }
  /** It is left to the notebook. */
  | { readonly kind: "default" }
  | { readonly kind: "fault"; readonly text: string }

const MANY_LINES = new Set(["list", "tuple", "set", "frozenset", "dict"])

/** Which kind of field a parameter gets. */
export function controlOf(parameter: Parameter): Control {
  if (parameter.choices?.length) return "choice"
  const type = parseType(parameter.type)
  const members = membersOf(type).filter(({ name }) => name !== "None")
  const [only] = members
  if (members.length !== 1 || !only) return "line"
  if (only.name === "bool") return hasDefault(parameter) && !mayBeNone(type) ? "check" : "choice"
  if (only.name === "date") return "date"
  if (only.name === "int" || only.name === "float" || only.name === "duration") return "number"
  if (MANY_LINES.has(only.name)) return "lines"
  return typeof parameter.default === "string" && parameter.default.includes("\n") ? "lines" : "line"
}

/** What can be chosen: the text of the field, and what is shown. */
export function choicesOf(parameter: Parameter): readonly { readonly text: string; readonly label: string }[] {
  const values: readonly Json[] = parameter.choices ?? [true, false]
  const known = values.map((value) => ({ text: choiceText(value), label: value === null ? "none" : writeText(value) }))
  const type = parseType(parameter.type)
  const isNoneMissing = mayBeNone(type) && !values.includes(null)
  return isNoneMissing ? [...known, { text: choiceText(null), label: "none" }] : known
}

function choiceText(value: Json): string {
  return JSON.stringify(value)
}

export function hasDefault(parameter: Parameter): boolean {
  return parameter.default !== undefined && !parameter.required && !parameter.expression
}

/** What the field holds before anybody types. */
export function initialText(parameter: Parameter): string {
  if (!hasDefault(parameter) || parameter.default === undefined) return ""
  return controlOf(parameter) === "choice" ? choiceText(parameter.default) : writeText(parameter.default)
}

/** What a field comes to. */
export function readField(parameter: Parameter, typed: string | undefined): Read {
  const text = typed ?? initialText(parameter)
  if (text === initialText(parameter)) {
    return parameter.required ? { kind: "fault", text: "It needs a value." } : { kind: "default" }
  }
  if (controlOf(parameter) === "choice") {
    return text === "" ? { kind: "default" } : { kind: "value", value: JSON.parse(text) as Json }
  }
  const type = parseType(parameter.type)
  if (text.trim() === "" && mayBeNone(type)) return { kind: "value", value: null }
  if (text === "" && parameter.expression) return { kind: "default" }
  const value = readText(text, type)
  return value === undefined ? { kind: "fault", text: misfit(parameter) } : { kind: "value", value }
}

const EXAMPLES = new Map([
  ["int", "a whole number, such as 5"],
  ["float", "a number, such as 0.5"],
  ["bool", "true or false"],
  ["date", "a date, such as 2026-01-31"],
  ["datetime", "a date and time, such as 2026-01-31T06:00"],
  ["time", "a time, such as 06:00"],
  ["duration", "a number of seconds, such as 90"],
  ["path", "a path, such as data/sales.csv"],
  ["list", "a list in JSON, such as [1, 2]"],
  ["tuple", "a list in JSON, such as [1, 2]"],
  ["set", "a list in JSON, such as [1, 2]"],
  ["frozenset", "a list in JSON, such as [1, 2]"],
  ["dict", 'an object in JSON, such as {"a": 1}'],
])

function misfit(parameter: Parameter): string {
  const wanted = membersOf(parseType(parameter.type)).filter(({ name }) => name !== "None")
  const [only] = wanted
  const example = wanted.length === 1 && only ? EXAMPLES.get(only.name) : undefined
  const inner = only && only.of.length > 0 ? ` (${parameter.type ?? ""})` : ""
  return `This wants ${example ?? `a value of type ${parameter.type ?? "any"}`}${inner}.`
}

/** All values that differ from their defaults, or what is wrong, by name. */
export function readForm(
  parameters: readonly Parameter[],
  typed: Typed,
): { readonly values: Readonly<Record<string, Json>>; readonly faults: Readonly<Record<string, string>> } {
  const values: [string, Json][] = []
  const faults: [string, string][] = []
  for (const parameter of parameters) {
    const read = readField(parameter, typed[parameter.name])
    if (read.kind === "value") values.push([parameter.name, read.value])
    else if (read.kind === "fault") faults.push([parameter.name, read.text])
  }
  return { values: Object.fromEntries(values), faults: Object.fromEntries(faults) }
}

/** What the fields hold where values are given already, as those of an earlier run. */
export function givenTexts(parameters: readonly Parameter[], given: Readonly<Record<string, Json>>): Typed {
  const texts = parameters.flatMap((parameter) => {
    const value = given[parameter.name]
    if (value === undefined) return []
    return [[parameter.name, controlOf(parameter) === "choice" ? choiceText(value) : writeText(value)] as const]
  })
  return Object.fromEntries(texts)
}
