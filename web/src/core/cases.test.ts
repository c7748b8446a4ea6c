/**
 * The cases of spec/cases: what a log comes to, the same as in Python (rule 1). spec/README.md says how one is written.
 */

import { readdirSync, readFileSync } from "node:fs"

import { describe, expect, test } from "vitest"

import { awaits, isMentioned, mentions, threads } from "./comments.ts"
import { emptyDirectory, foldDirectory } from "./directory.ts"
import { canonical, cellState, emptyNotebook, readNotebook, writeNotebook } from "./notebook.ts"
import { fold, reduce } from "./reduce.ts"
import { staleCells } from "./staleness.ts"
import { apply, rebase, transform } from "./text.ts"
import type { Comment, Directory, Edit, Entry, Json, JsonObject } from "./types.gen.ts"
import { BadValue, tag, untag } from "./values.ts"
import { visible } from "./visible.ts"

interface NotebookCase {
  readonly kind: "notebook"
  readonly log: readonly Entry[]
  readonly notebook: JsonObject
  readonly stale: readonly string[]
  readonly states?: Readonly<Record<string, string>>
}

interface DirectoryCase {
  readonly kind: "directory"
  readonly log: readonly Entry[]
  readonly directory: JsonObject
}

interface TextCase {
  readonly kind: "text"
  readonly text: string
  readonly later: Edit
  readonly earlier: Edit
  readonly later_after: Edit
  readonly earlier_after: Edit
  readonly result: string
}

interface RebaseCase {
  readonly kind: "rebase"
  readonly text: string
  readonly later: readonly Edit[]
  readonly earlier: readonly Edit[]
  readonly later_after: readonly Edit[]
  readonly result: string
}

interface ValuesCase {
  readonly kind: "values"
  readonly values: readonly (readonly [Json, string])[]
  readonly refused: readonly Json[]
}

interface VisibleCase {
  readonly kind: "visible"
  readonly texts: readonly (readonly [string, string])[]
}

interface MentionsCase {
  readonly kind: "mentions"
  readonly texts: readonly (readonly [string, readonly string[]])[]
  readonly addressed: readonly (readonly [string, string, boolean])[]
}

interface ThreadsCase {
  readonly kind: "threads"
  readonly comments: Readonly<Record<string, Comment>>
  readonly threads: readonly JsonObject[]
}

type Case = { readonly name: string; readonly fault?: string } & (
  | NotebookCase
  | DirectoryCase
  | TextCase
  | RebaseCase
  | ValuesCase
  | VisibleCase
  | MentionsCase
  | ThreadsCase
  | { readonly kind: "chain" } // the server's: a browser verifies no chain
)

const FOLDER = new URL("../../../spec/cases/", import.meta.url)
const CASES = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".json"))
  .map((name) => expanded(JSON.parse(readFileSync(new URL(name, FOLDER), "utf-8")) as Json) as unknown as Case)

/** Write out each {"$repeat": [text, count]}. */
function expanded(value: Json): Json {
  if (Array.isArray(value)) return (value as Json[]).map(expanded)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value as JsonObject)
  const [only] = entries
  if (entries.length === 1 && only?.[0] === "$repeat") {
    const [text, count] = only[1] as readonly [string, number]
    return text.repeat(count)
  }
  return Object.fromEntries(entries.map(([name, each]) => [name, expanded(each)]))
}

function ofKind<K extends Case["kind"]>(kind: K): [string, Extract<Case, { kind: K }>][] {
  return CASES.filter((each) => each.kind === kind).map((each) => [each.name, each as Extract<Case, { kind: K }>])
}

test("every kind of case is one that is run here, or one of which is said why not", () => {
  const kinds: Record<Case["kind"], number> = {
    ...{ notebook: 60, directory: 2, text: 12, rebase: 1, values: 1, visible: 1, chain: 4 },
    ...{ mentions: 1, threads: 1 },
  }
  expect(new Set(CASES.map((each) => each.kind))).toEqual(new Set(Object.keys(kinds)))
  for (const [kind, least] of Object.entries(kinds)) {
    expect(CASES.filter((each) => each.kind === kind).length).toBeGreaterThanOrEqual(least)
  }
  expect(CASES.filter((each) => each.fault)).toEqual([])
})

describe("a log comes to its notebook", () => {
  test.each(ofKind("notebook"))("%s", (_, { log, notebook, stale, states = {} }) => {
    const folded = fold(log)
    expect(canonical(writeNotebook(folded))).toEqual(canonical(notebook))
    expect([...staleCells(folded)].sort()).toEqual(stale)
    const found = [...folded.cells.values()].map((cell) => [cell.id, cellState(cell)])
    expect(Object.fromEntries(found)).toMatchObject(states)
  })
})

describe("it does so one by one and from every notebook in between, of which none changes", () => {
  test.each(ofKind("notebook"))("%s", (_, { log }) => {
    const whole = writeNotebook(fold(log))
    const seen: [unknown, string][] = []
    let step = emptyNotebook()
    log.forEach((entry, index) => {
      const restored = readNotebook(JSON.parse(JSON.stringify(writeNotebook(step))) as JsonObject)
      expect(writeNotebook(fold(log.slice(index), restored))).toEqual(whole)
      seen.push([step, JSON.stringify(writeNotebook(step))])
      step = reduce(step, entry)
    })
    expect(writeNotebook(step)).toEqual(whole)
    for (const [notebook, before] of seen) {
      expect(JSON.stringify(writeNotebook(notebook as ReturnType<typeof fold>))).toBe(before)
    }
  })
})

describe("a workspace log comes to its directory", () => {
  test.each(ofKind("directory"))("%s", (_, { log, directory }) => {
    expect(plain(foldDirectory(log))).toEqual({ ...plain(emptyDirectory()), ...fullDirectory(directory) })
  })
})

function plain(directory: Directory): JsonObject {
  const written = JSON.stringify(directory, (_, each: unknown) =>
    each instanceof Map ? (Object.fromEntries(each) as unknown) : each,
  )
  return JSON.parse(written) as JsonObject
}

/** The fields that a case leaves out because they have their defaults. */
function fullDirectory(json: JsonObject): JsonObject {
  const defaults: Record<string, JsonObject> = {
    actors: { name: "", metadata: {} },
    tokens: {
      on_behalf_of: null,
      notebooks: null,
      expires_at: null,
      asks: [],
      once: false,
      then_until: null,
      version: 0,
      revoked_by: null,
      parent: null,
    },
    policies: { notebook: null, actor: null, effects: {} },
  }
  const fill = (name: string, each: Json): Json => ({ ...defaults[name], ...(each as JsonObject) })
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => {
      if (!defaults[name] || typeof value !== "object" || value === null) return [name, value]
      if (Array.isArray(value)) return [name, (value as Json[]).map((each) => fill(name, each))]
      return [name, Object.fromEntries(Object.entries(value as JsonObject).map(([key, each]) => [key, fill(name, each)]))]
    }),
  )
}

describe("two edits of one text meet", () => {
  test.each(ofKind("text"))("%s", (_, { text, later, earlier, later_after, earlier_after, result }) => {
    expect(transform(later, earlier)).toEqual([later_after, earlier_after])
    expect(apply(apply(text, earlier), later_after)).toBe(result)
    expect(apply(apply(text, later), earlier_after)).toBe(result)
  })
})

describe("edits are rebased one on top of the other", () => {
  test.each(ofKind("rebase"))("%s", (_, { text, later, earlier, later_after, result }) => {
    let met = earlier
    const rebased = later.map((edit) => {
      const [moved, rest] = rebase(edit, met)
      met = rest
      return moved
    })
    expect(rebased).toEqual(later_after)
    expect([...earlier, ...rebased].reduce(apply, text)).toBe(result)
    expect([...later, ...met].reduce(apply, text)).toBe(result)
  })
})

describe("values survive as JSON", () => {
  test.each(ofKind("values"))("%s", (_, { values, refused }) => {
    for (const [tagged] of values) expect(tag(untag(tagged))).toEqual(tagged)
    for (const tagged of refused) expect(() => untag(tagged), JSON.stringify(tagged)).toThrow(BadValue)
  })
})

describe("what is shown of a source is all of it", () => {
  test.each(ofKind("visible"))("%s", (_, { texts }) => {
    for (const [source, shown] of texts) expect(visible(source)).toBe(shown)
  })
})

describe("a comment addresses whom it names", () => {
  test.each(ofKind("mentions"))("%s", (_, { texts, addressed }) => {
    for (const [text, names] of texts) expect(mentions(text).map(({ start, end }) => text.slice(start, end)), text).toEqual(names)
    for (const [text, actor, expected] of addressed) expect(isMentioned(text, actor), `${text} ${actor}`).toBe(expected)
  })
})

describe("comments are conversations that await somebody", () => {
  const actors = ["agent:codex", "human:ada", "human:bob", "human:eve"]
  test.each(ofKind("threads"))("%s", (_, each) => {
    const { comments } = readNotebook({ comments: each.comments as unknown as JsonObject })
    const found = threads(comments).map((thread) => ({
      id: thread.id,
      cell: thread.cell,
      open: thread.isOpen,
      comments: [...thread.comments.keys()],
      awaits: actors.filter((actor) => awaits(thread, actor)),
    }))
    expect(found).toEqual(each.threads)
  })
})
