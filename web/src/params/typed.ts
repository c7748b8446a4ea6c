/**
 * Typed values in text fields: what somebody typed as a tagged value of a parameter's type, and back.
 *
 * Text is read as `core/params/param_types.py` reads it (docs/reference/parameters.md has the table), so that a wrong value is
 * told at its field. The server checks again.
 */

import { tag, untag } from "../core/values.ts"
import type { Json, JsonObject } from "../core/types.gen.ts"
import type { Parameter as Declared } from "../sync/api_types.ts"

/** A type, read: `list[int] | None` is a union of a list and of none. */
export interface Type {
  readonly name: string
  readonly of: readonly Type[]
}

/** A parameter as the server lists it. */
export type Parameter = Pick<Declared, "name"> & Partial<Declared>

const ANY: Type = { name: "any", of: [] }
const TOKEN = /[\w.]+|[[\],|]/g

/** A type as the server writes it; any other text is `any`. */
export function parseType(text: string | null | undefined): Type {
  const tokens = text?.match(TOKEN) ?? []
  const type = parseUnion(tokens)
  return type && tokens.length === 0 ? type : ANY
}

function parseUnion(tokens: string[]): Type | null {
  const members: Type[] = []
  do {
    const member = parseOne(tokens)
    if (!member) return null
    members.push(member)
  } while (tokens[0] === "|" && tokens.shift())
  return members.length === 1 ? (members[0] ?? null) : { name: "union", of: members }
}

function parseOne(tokens: string[]): Type | null {
  const name = tokens.shift()
  if (name === undefined || /^[[\],|]$/.test(name)) return null
  const of: Type[] = []
  if (tokens[0] !== "[") return { name, of }
  while (tokens.shift() !== "]") {
    const inner = parseUnion(tokens)
    if (!inner || !/^[,\]]$/.test(tokens.at(0) ?? "")) return null
    of.push(inner)
  }
  return { name, of }
}

/** The types that stand in a union, or the one that there is. */
export function membersOf(type: Type): readonly Type[] {
  return type.name === "union" ? type.of : [type]
}

export function mayBeNone(type: Type): boolean {
  return membersOf(type).some(({ name }) => name === "None")
}

// ---- From text

/** What somebody typed, as a tagged value; undefined when it is none of the type. */
export function readText(text: string, type: Type): Json | undefined {
  if (type.name === "union") return firstThatFits(text, type.of)
  const read = READERS.get(type.name)
  return read ? read(text) : readJson(text, type)
}

function firstThatFits(text: string, members: readonly Type[]): Json | undefined {
  // None first, and text last: everything that is typed is text.
  const place = ({ name }: Type): number => (name === "None" ? 0 : TEXTS.has(name) ? 2 : 1)
  for (const member of members.toSorted((one, other) => place(one) - place(other))) {
    const value = readText(text, member)
    if (value !== undefined) return value
  }
  return undefined
}

const TEXTS = new Set(["str", "path", "any"])
const INT = /^[+-]?[0-9]+(?:_[0-9]+)*$/
const FLOAT = /^[+-]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:e[+-]?[0-9]+)?$/i
const SPECIAL = /^([+-]?)(nan|inf|infinity)$/i
const BOOLEANS = new Map([
  ["true", true],
  ["yes", true],
  ["1", true],
  ["false", false],
  ["no", false],
  ["0", false],
])
const TIME = /^([01]\d|2[0-3])(:[0-5]\d(:[0-5]\d(\.\d{1,6})?)?)?(Z|[+-]\d\d:\d\d)?$/

const READERS = new Map<string, (text: string) => Json | undefined>([
  ["int", readInt],
  ["float", readFloat],
  ["str", (text) => text],
  ["bool", (text) => BOOLEANS.get(text.trim().toLowerCase())],
  ["date", (text) => (isDate(text.trim()) ? { $date: text.trim() } : undefined)],
  ["datetime", readDatetime],
  ["time", (text) => (TIME.test(text.trim()) ? { $time: text.trim() } : undefined)],
  ["duration", readDuration],
  ["path", (text) => (text && !text.includes("\0") ? { $path: text } : undefined)],
  ["bytes", (text) => tag(new TextEncoder().encode(text))],
  ["None", (text) => (/^(none|null)$/i.test(text.trim()) ? null : undefined)],
  ["any", guess],
])

function readInt(text: string): Json | undefined {
  return INT.test(text.trim()) ? tag(BigInt(text.trim().replace(/^\+|_/g, ""))) : undefined
}

function readFloat(text: string): Json | undefined {
  const special = SPECIAL.exec(text.trim())
  if (special) {
    const [, sign, name = ""] = special
    return tag(/nan/i.test(name) ? NaN : sign === "-" ? -Infinity : Infinity)
  }
  return FLOAT.test(text.trim()) ? tag(Number(text.trim().replaceAll("_", ""))) : undefined
}

function readDuration(text: string): Json | undefined {
  const seconds = readFloat(text)
  return typeof seconds === "number" ? seconds : undefined // a number of seconds is taken as it is
}

function readDatetime(text: string): Json | undefined {
  const trimmed = text.trim()
  const time = trimmed.slice(11)
  const isOne = isDate(trimmed.slice(0, 10)) && (trimmed.length === 10 || (/[T ]/.test(trimmed.charAt(10)) && TIME.test(time)))
  return isOne ? { $datetime: trimmed } : undefined
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (!match) return false
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.getUTCDate() === Number(match[3])
}

/** What a text most likely is, where nothing says its type. */
function guess(text: string): Json {
  if (text === "True" || text === "False") return text === "True"
  if (text === "None") return null
  return readInt(text) ?? readFloat(text) ?? text
}

function readJson(text: string, type: Type): Json | undefined {
  let json: Json
  try {
    json = JSON.parse(text) as Json
  } catch {
    return undefined
  }
  return isOfType(json, type) ? json : undefined
}

/** Whether JSON can be a value of the type. Tagged values are left to the server. */
export function isOfType(json: Json, type: Type): boolean {
  if (type.name === "union") return type.of.some((member) => isOfType(json, member))
  if (isTagged(json)) return true
  const [inner = ANY, second = ANY] = type.of
  switch (type.name) {
    case "list":
    case "set":
    case "frozenset":
      return isList(json) && json.every((each) => isOfType(each, inner))
    case "tuple":
      return isList(json) && isOfTuple(json, type.of)
    case "dict":
      return isObject(json) && Object.values(json).every((each) => isOfType(each, second))
    case "int":
      return typeof json === "number" && Number.isInteger(json)
    case "float":
    case "duration":
      return typeof json === "number"
    case "bool":
      return typeof json === "boolean"
    case "None":
      return json === null
    case "any":
      return true
    default:
      return typeof json === "string" && (type.name === "str" || readText(json, type) !== undefined)
  }
}

function isOfTuple(json: readonly Json[], of: readonly Type[]): boolean {
  if (of.length === 0) return true
  const [first = ANY, second] = of
  if (second?.name === "...") return json.every((each) => isOfType(each, first))
  return json.length === of.length && of.every((member, index) => isOfType(json[index] ?? null, member))
}

function isList(json: Json): json is readonly Json[] {
  return Array.isArray(json)
}

function isObject(json: Json): json is JsonObject {
  return typeof json === "object" && json !== null && !isList(json)
}

function isTagged(json: Json): boolean {
  return isObject(json) && Object.keys(json).length === 1 && Object.keys(json)[0]?.startsWith("$") === true
}

// ---- To text

const AS_TEXT = new Set(["$int", "$float", "$date", "$time", "$datetime", "$path"])
const AS_LIST = new Set(["$tuple", "$set", "$frozenset"])

/** A tagged value as somebody would type it. */
export function writeText(json: Json): string {
  if (json === null) return ""
  if (typeof json === "string") return json
  if (isTagged(json)) {
    const [[name, inner] = ["", null]] = Object.entries(json as JsonObject)
    if (AS_TEXT.has(name) && typeof inner === "string") return inner
    if (AS_LIST.has(name)) return JSON.stringify(inner)
    if (name === "$duration" && isList(inner)) return String(secondsOf(inner))
    if (name === "$bytes") return new TextDecoder().decode(untag(json) as Uint8Array)
  }
  return JSON.stringify(json)
}

function secondsOf([days, seconds, microseconds]: readonly Json[]): number {
  return Number(days) * 86_400 + Number(seconds) + Number(microseconds) / 1e6
}
