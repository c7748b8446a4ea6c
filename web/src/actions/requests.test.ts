/** What is asked for when cells are run. */

import { expect, test } from "vitest"

import { sourceHash } from "../core/hash.ts"
import { fold } from "../core/reduce.ts"
import type { Entry, KnownEvent, Notebook } from "../core/types.gen.ts"
import { cancellations, interruptions, outdated, requests, stops } from "./requests.ts"

function notebook(...events: KnownEvent[]): Notebook {
  const begin: KnownEvent[] = [
    { type: "notebook_created", name: "n" },
    { type: "cell_added", cell: "a", after: null, source: "x = 1" },
    { type: "cell_added", cell: "t", after: "a", kind: "markdown", source: "text" },
    { type: "cell_added", cell: "b", after: "t", source: "x" },
    { type: "cell_added", cell: "e", after: "b", source: "  " },
  ]
  const entries = [...begin, ...events].map((event, index): Entry => ({ log: "l", seq: index + 1, id: String(index), at: "2026-01-01T00:00:00.000000Z", actor: "human:ada", event }))
  return fold(entries)
}

function ids(): () => string {
  let last = 0
  return () => `x${(last += 1)}`
}

const asked = (cell: string, execution: string, source: string): KnownEvent => ({ type: "execution_requested", execution, cell, source_hash: sourceHash(source) })
const started = (cell: string, execution: string, source: string): KnownEvent => ({
  type: "execution_started",
  execution,
  cell,
  source_hash: sourceHash(source),
  epoch: 1,
  defines: [],
  uses: [],
})

test("cells are asked for in a chain; text and empty cells are left out", () => {
  expect(requests(notebook(), ["a", "t", "b", "e"], ids())).toEqual([
    { type: "execution_requested", execution: "x1", cell: "a", source_hash: sourceHash("x = 1") },
    { type: "execution_requested", execution: "x2", cell: "b", source_hash: sourceHash("x"), needs: "x1" },
  ])
})

test("what waits with this source is not asked for twice, and the next needs it", () => {
  const now = notebook(asked("a", "w", "x = 1"))
  expect(requests(now, ["a"], ids())).toEqual([])
  expect(requests(now, ["a", "b"], ids())).toEqual([expect.objectContaining({ cell: "b", needs: "w" })])
})

test("what waits with another source is taken back first", () => {
  const now = notebook(asked("a", "w", "x = 1"), { type: "source_edited", cell: "a", text: "x = 2" })
  expect(requests(now, ["a"], ids()).map(({ type }) => type)).toEqual(["execution_cancelled", "execution_requested"])
})

test("a cell that runs waits behind itself only if it is asked for by name", () => {
  const now = notebook(asked("a", "w", "x = 1"), started("a", "w", "x = 1"))
  expect(requests(now, ["a"], ids())).toEqual([])
  expect(requests(now, ["a"], ids(), true)).toHaveLength(1)
  expect(interruptions(now)).toEqual([{ type: "interrupt_requested", execution: "w" }])
  expect(stops(now, ["a", "b"])).toHaveLength(1)
})

test("what waits can be taken back, all of it", () => {
  const now = notebook(asked("a", "w", "x = 1"), asked("b", "v", "x"))
  expect(cancellations(now).map((event) => (event.type === "execution_cancelled" ? event.execution : ""))).toEqual(["w", "v"])
})

test("what failed, never ran or changed is outdated", () => {
  const now = notebook(asked("a", "w", "x = 1"), started("a", "w", "x = 1"), { type: "execution_finished", execution: "w", epoch: 1, status: "ok" })
  expect(outdated(now)).toEqual(["b", "e"])
})
