import { expect, test } from "vitest"
import { FakeClock } from "../../testing/fake_clock.ts"
import { readExecution, readNotebook } from "../core/notebook.ts"
import type { Execution, JsonObject } from "../core/types.gen.ts"
import { knownLines } from "../outputs/line_counts.ts"
import { NotebookStore } from "../sync/store.ts"
import { PIECE, UNASKED, UNASKED_IN_ALL } from "./output_reader.ts"
import type { OutputSource } from "./output_reader.ts"
import { EMPTY_QUERY, Search } from "./search.ts"

const CUT = { kind: "display", data: {}, metadata: { quire_cut: 30_000 } }

function streamOf(hash: string, size: number): JsonObject {
  return { kind: "stream", name: "stdout", head: "first\n", omitted: 10, tail: "last\n", blob: { hash, size } }
}

/** What the server has beside the notebook; each can be made to fail, and tells what was asked for. */
class StandIn implements OutputSource {
  readonly asked: string[] = []
  readonly executions = new Map<string, Execution>()
  readonly blobs = new Map<string, string>()
  isAway = false

  execution(id: string): Promise<Execution> {
    return this.#answer(id, this.executions.get(id))
  }

  async blob(hash: string): Promise<Blob> {
    return new Blob([await this.#answer(hash, this.blobs.get(hash))])
  }

  async blobPart(hash: string, start: number, end: number): Promise<Uint8Array> {
    return new TextEncoder().encode(await this.#answer(`${hash} ${start}`, this.blobs.get(hash))).slice(start, end)
  }

  #answer<T>(name: string, value: T | undefined): Promise<T> {
    this.asked.push(name)
    if (this.isAway || value === undefined) return Promise.reject(new Error("The server does not answer."))
    return Promise.resolve(value)
  }
}

interface Opened {
  readonly search: Search
  readonly source: StandIn
  /** Let what is under way end. */
  readonly settle: () => Promise<void>
}

function opened(outputs: readonly (readonly JsonObject[])[], source = new StandIn()): Opened {
  const cells: JsonObject = Object.fromEntries(
    outputs.map((its, at) => [`c${at}`, { id: `c${at}`, source: "", execution: { id: `e${at}`, cell: `c${at}`, state: "ok", outputs: its } }]),
  )
  const clock = new FakeClock()
  const search = new Search(new NotebookStore(readNotebook({ cells, order: Object.keys(cells) })), clock, source)
  search.start()
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 200; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve))
      clock.advance(1000)
    }
  }
  return { search, source, settle }
}

function linesOf(search: Search): [string, number, number][] {
  return search.found.get().matches.map(({ cell, output, line }) => [cell, output, line])
}

test("outputs that were cut, and texts in blobs, are read and searched", async () => {
  const source = new StandIn()
  source.executions.set("e0", readExecution({ id: "e0", cell: "c0", outputs: [streamOf("h0", 100), { kind: "display", data: { "text/plain": "needle" } }] }))
  source.blobs.set("h0", "first\nnee\u001b[31mdle\nlast\n")
  source.blobs.set("h1", "a\nb\nneedle")
  const excerpt = { kind: "display", data: { "text/plain": "a" }, blobs: { "text/plain": { hash: "h1", size: 10 } } }
  const { search, settle } = opened([[CUT], [excerpt]], source)
  await settle()
  expect(source.asked).toEqual([]) // nothing is searched for yet
  search.ask({ ...EMPTY_QUERY, text: "needle" })
  expect(search.outputs?.status.get().isBusy).toBe(true)
  await settle()
  expect(linesOf(search)).toEqual([["c0", 0, 2], ["c0", 1, 1], ["c1", 0, 3]])
  expect(search.outputs?.status.get()).toMatchObject({ isBusy: false, left: { count: 0 }, failed: 0 })
  search.ask({ ...EMPTY_QUERY, text: "b" })
  await settle()
  expect(linesOf(search)).toEqual([["c1", 0, 2]])
  expect(source.asked.sort()).toEqual(["e0", "h0", "h1"]) // once
})

test("a long text is searched when that is asked for, in pieces, and only for this pattern", async () => {
  const line = `${"x".repeat(99)}\n`
  const text = line.repeat(Math.ceil(UNASKED / 100)).concat("needle ä\n", line.repeat(10), "needle")
  const size = new TextEncoder().encode(text).length
  const source = new StandIn()
  source.blobs.set("h0", text)
  const { search, settle } = opened([[streamOf("h0", size)]], source)
  search.ask({ ...EMPTY_QUERY, text: "needle" })
  await settle()
  expect(source.asked).toEqual([])
  expect(search.outputs?.status.get()).toMatchObject({ isBusy: false, left: { count: 1, size } })
  void search.outputs?.readAll()
  await settle()
  const lines = Math.ceil(UNASKED / 100) + 1
  expect(linesOf(search)).toEqual([["c0", 0, lines], ["c0", 0, lines + 11]])
  expect(source.asked).toEqual(Array.from({ length: Math.ceil(size / PIECE) }, (_, at) => `h0 ${at * PIECE}`))
  expect(knownLines("h0")).toBe(lines + 11)
  search.ask({ ...EMPTY_QUERY, text: "first" })
  expect(linesOf(search)).toEqual([["c0", 0, 1]])
  await settle()
  expect(search.outputs?.status.get().left.count).toBe(1)
})

test("reading is stopped, and goes on when asked for", async () => {
  const source = new StandIn()
  for (let at = 0; at < 20; at += 1) source.blobs.set(`h${at}`, "needle")
  const { search, settle } = opened(Array.from({ length: 20 }, (_, at) => [streamOf(`h${at}`, 10)]), source)
  search.ask({ ...EMPTY_QUERY, text: "needle" })
  search.outputs?.stop()
  await settle()
  expect(source.asked.length).toBeLessThan(20)
  expect(search.outputs?.status.get()).toMatchObject({ isBusy: false, left: { count: 20 - source.asked.length } })
  void search.outputs?.readAll()
  await settle()
  expect(linesOf(search)).toHaveLength(20)
  expect(search.outputs?.status.get().left.count).toBe(0)
})

test("what cannot be read is said, and read when asked again", async () => {
  const source = new StandIn()
  source.blobs.set("h0", "needle")
  source.isAway = true
  const { search, settle } = opened([[streamOf("h0", 10)], [streamOf("h1", UNASKED + 1)]], source)
  search.ask({ ...EMPTY_QUERY, text: "needle" })
  await settle()
  expect(search.outputs?.status.get()).toMatchObject({ failed: 1, fault: "The server does not answer.", left: { count: 1 } })
  source.isAway = false
  void search.outputs?.readAll()
  await settle()
  expect(linesOf(search)).toEqual([["c0", 0, 1]])
  expect(search.outputs?.status.get()).toMatchObject({ failed: 1, left: { count: 0 } }) // h1 is nowhere
})

test("not everything is read unasked", async () => {
  const source = new StandIn()
  const count = UNASKED_IN_ALL / UNASKED + 2
  for (let at = 0; at < count; at += 1) source.blobs.set(`h${at}`, "x")
  const { search, settle } = opened(Array.from({ length: count }, (_, at) => [streamOf(`h${at}`, UNASKED)]), source)
  search.ask({ ...EMPTY_QUERY, text: "needle" })
  await settle()
  expect(source.asked).toHaveLength(count - 2)
  expect(search.outputs?.status.get().left).toEqual({ count: 2, size: 2 * UNASKED })
})
