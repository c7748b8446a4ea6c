/**
 * Values that JSON cannot carry, as JSON that both Python and JavaScript read alike.
 *
 * A tagged value is an object with one key that begins with `$`. Numbers past 2^53 come as bigint, bytes as Uint8Array,
 * NaN and the infinities as numbers; what JavaScript has no type for is an instance of one of the classes below.
 * `tag(untag(json))` is the same JSON again.
 */

import type { Json, JsonObject } from "./types.gen.ts"

/** What a parameter or a result can be. */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly Value[]
  | Moment
  | Duration
  | FilePath
  | Collection
  | Pairs
  | { readonly [key: string]: Value }

/** A date, a time of day, or both, in ISO 8601 as Python writes it. */
export class Moment {
  readonly kind: "date" | "time" | "datetime"
  readonly iso: string

  constructor(kind: "date" | "time" | "datetime", iso: string) {
    this.kind = kind
    this.iso = iso
  }
}

/** A duration; only its days may be negative. */
export class Duration {
  readonly days: number
  readonly seconds: number
  readonly microseconds: number

  constructor(days: number, seconds: number, microseconds: number) {
    this.days = days
    this.seconds = seconds
    this.microseconds = microseconds
  }
}

/** The path of a file. */
export class FilePath {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }
}

/** What Python has beside lists. */
export class Collection {
  readonly kind: "tuple" | "set" | "frozenset"
  readonly items: readonly Value[]

  constructor(kind: "tuple" | "set" | "frozenset", items: readonly Value[]) {
    this.kind = kind
    this.items = items
  }
}

/** A dict whose keys are not all text, or could be mistaken for a tag. */
export class Pairs {
  readonly items: readonly (readonly [Value, Value])[]

  constructor(items: readonly (readonly [Value, Value])[]) {
    this.items = items
  }
}

/** A tagged value that nobody can read. */
export class BadValue extends Error {
  override readonly name = "BadValue"
}

/** The value that a tagged JSON stands for. */
export function untag(json: Json): Value {
  if (isList(json)) return json.map(untag)
  if (typeof json !== "object" || json === null) return json
  const entries = Object.entries(json)
  const [only] = entries
  if (entries.length === 1 && only?.[0].startsWith("$")) return untagOne(only[0], only[1])
  return Object.fromEntries(entries.map(([name, each]) => [name, untag(each)]))
}

function untagOne(name: string, inner: Json): Value {
  const read = READERS.get(name)
  if (!read) throw new BadValue(`Tagged value '${name}' is not known here: it may come from a newer Quire.`)
  const value = read(inner)
  if (value === undefined) throw new BadValue(`Tagged value '${name}' cannot be read: ${JSON.stringify(inner)}.`)
  return value
}

type Reader = (inner: Json) => Value | undefined

const SPECIAL = new Map<Json, number>([
  ["nan", NaN],
  ["inf", Infinity],
  ["-inf", -Infinity],
])
const DATE = /^\d{4}-\d\d-\d\d$/
const TIME = /^\d\d:\d\d(:\d\d(\.\d{1,6})?)?([+-]\d\d:\d\d(:\d\d(\.\d{1,6})?)?|Z)?$/

const READERS = new Map<string, Reader>([
  ["$int", (inner) => (typeof inner === "string" && /^-?[0-9]{1,4000}$/.test(inner) ? BigInt(inner) : undefined)],
  ["$float", (inner) => SPECIAL.get(inner)],
  ["$bytes", readBytes],
  ["$date", (inner) => moment("date", inner, (text) => isDate(text))],
  ["$time", (inner) => moment("time", inner, (text) => TIME.test(text))],
  ["$datetime", (inner) => moment("datetime", inner, isDatetime)],
  ["$duration", readDuration],
  ["$path", (inner) => (typeof inner === "string" ? new FilePath(inner) : undefined)],
  ["$tuple", (inner) => collection("tuple", inner)],
  ["$set", (inner) => collection("set", inner)],
  ["$frozenset", (inner) => collection("frozenset", inner)],
  ["$dict", readPairs],
])

function moment(kind: Moment["kind"], inner: Json, isOne: (text: string) => boolean): Moment | undefined {
  return typeof inner === "string" && isOne(inner) ? new Moment(kind, inner) : undefined
}

function isDate(text: string): boolean {
  return DATE.test(text) && !Number.isNaN(Date.parse(text))
}

function isDatetime(text: string): boolean {
  const time = text.slice(11)
  return isDate(text.slice(0, 10)) && (text.length === 10 || (/[T ]/.test(text.charAt(10)) && TIME.test(time)))
}

function readBytes(inner: Json): Uint8Array | undefined {
  if (typeof inner !== "string" || inner.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(inner)) return undefined
  return Uint8Array.from(atob(inner), (char) => char.charCodeAt(0))
}

function readDuration(inner: Json): Duration | undefined {
  if (!isList(inner) || inner.length !== 3) return undefined
  const [days, seconds, microseconds] = inner
  if (typeof days !== "number" || typeof seconds !== "number" || typeof microseconds !== "number") return undefined
  return new Duration(days, seconds, microseconds)
}

function collection(kind: Collection["kind"], inner: Json): Collection | undefined {
  if (!isList(inner)) return undefined
  const items = inner.map(untag)
  return kind === "tuple" || items.every(isHashable) ? new Collection(kind, items) : undefined
}

function readPairs(inner: Json): Pairs | undefined {
  if (!isList(inner)) return undefined
  const items: [Value, Value][] = []
  for (const pair of inner) {
    if (!isList(pair) || pair.length !== 2) return undefined
    const [key, value] = [untag(pair[0] ?? null), untag(pair[1] ?? null)]
    if (!isHashable(key)) return undefined
    items.push([key, value])
  }
  return new Pairs(items)
}

/** Whether Python takes it as a key or as an item of a set. */
function isHashable(value: Value): boolean {
  if (value instanceof Collection) return value.kind !== "set" && value.items.every(isHashable)
  if (value instanceof Moment || value instanceof Duration || value instanceof FilePath) return true
  return typeof value !== "object" || value === null || value instanceof Uint8Array
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value)
}

/** The value as JSON, with tags where JSON alone would change it. */
export function tag(value: Value): Json {
  if (typeof value === "bigint") return isSafe(value) ? Number(value) : { $int: value.toString() }
  if (typeof value === "number") return Number.isFinite(value) ? value : { $float: floatName(value) }
  if (typeof value !== "object" || value === null) return value
  if (isList<Value>(value)) return value.map(tag)
  if (value instanceof Uint8Array) return { $bytes: btoa(String.fromCharCode(...value)) }
  if (value instanceof Moment) return { [`$${value.kind}`]: value.iso }
  if (value instanceof Duration) return { $duration: [value.days, value.seconds, value.microseconds] }
  if (value instanceof FilePath) return { $path: value.path }
  if (value instanceof Collection) return { [`$${value.kind}`]: value.items.map(tag) }
  if (value instanceof Pairs) return { $dict: value.items.map(([key, each]) => [tag(key), tag(each)]) }
  return tagObject(value)
}

function tagObject(value: Readonly<Record<string, Value>>): JsonObject {
  const entries = Object.entries(value)
  if (entries.some(([name]) => name.startsWith("$"))) return { $dict: entries.map(([name, each]) => [name, tag(each)]) }
  return Object.fromEntries(entries.map(([name, each]) => [name, tag(each)]))
}

function isSafe(value: bigint): boolean {
  return value >= -(2n ** 53n) && value <= 2n ** 53n
}

function floatName(value: number): string {
  if (Number.isNaN(value)) return "nan"
  return value > 0 ? "inf" : "-inf"
}
