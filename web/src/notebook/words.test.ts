/** What the page says about cells. */

import { expect, test } from "vitest"

import { sourceHash } from "../core/hash.ts"
import { fold } from "../core/reduce.ts"
import { staleCells } from "../core/staleness.ts"
import type { Cell, Entry, Execution, KnownEvent, Notebook } from "../core/types.gen.ts"
import { endReason, ordinal, queuePlace, staleReason, typedText } from "./words.ts"

const SOURCES = { a: "x = 1", b: "x", c: "y" }

function notebook(...events: KnownEvent[]): Notebook {
  const begin: KnownEvent[] = [
    { type: "notebook_created", name: "n" },
    { type: "cell_added", cell: "a", after: null, name: "load", source: SOURCES.a },
    { type: "cell_added", cell: "b", after: "a", source: SOURCES.b },
    { type: "cell_added", cell: "c", after: "b", source: SOURCES.c },
  ]
  const entries = [...begin, ...events].map((event, index): Entry => ({ log: "l", seq: index + 1, id: String(index), at: "2026-01-01T00:00:00.000000Z", actor: "human:ada", event }))
  return fold(entries)
}

function request(cell: keyof typeof SOURCES, needs?: string): KnownEvent {
  return { type: "execution_requested", execution: `of-${cell}`, cell, source_hash: sourceHash(SOURCES[cell]), ...(needs === undefined ? {} : { needs }) }
}

function start(cell: keyof typeof SOURCES, names: { defines?: string[]; uses?: string[] } = {}): KnownEvent {
  return { type: "execution_started", execution: `of-${cell}`, cell, source_hash: sourceHash(SOURCES[cell]), epoch: 1, defines: [], uses: [], ...names }
}

const finish = (cell: string, status: "ok" | "error" | "timeout" | "dead_kernel" | "lost" | "cancelled"): KnownEvent => ({
  type: "execution_finished",
  execution: `of-${cell}`,
  epoch: 1,
  status,
  ...(status === "error" ? { fault: { ename: "KeyError", evalue: "'region'\nmore" } } : {}),
})

const cell = (now: Notebook, id: string): Cell => now.cells.get(id) as Cell
const place = (now: Notebook, id: string): string => queuePlace(now, cell(now, id).queued as Execution)
const reason = (now: Notebook, id: string): string | null => endReason(now, cell(now, id), (actor) => actor.slice(6))

test("places in the queue are told by the cell before", () => {
  const now = notebook(request("a"), start("a"), request("b", "of-a"), request("c", "of-b"))
  expect(place(now, "b")).toBe("next, after load")
  expect(place(now, "c")).toBe("2nd, after cell 2")
  expect([1, 2, 3, 4, 11, 12, 13, 21, 22, 101, 111].map(ordinal).join(" ")).toBe("1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 101st 111th")
})

test("each end has its reason", () => {
  const ended = (status: Parameters<typeof finish>[1], ...more: KnownEvent[]): string | null =>
    reason(notebook(request("a"), start("a"), ...more, finish("a", status)), "a")
  expect(ended("ok")).toBeNull()
  expect(ended("error")).toBe("KeyError: 'region'")
  expect(ended("timeout")).toBe("timed out")
  expect(ended("dead_kernel")).toBe("the kernel died")
  expect(ended("lost")).toContain("lost")
  expect(ended("cancelled")).toBe("cancelled")
  expect(ended("error", { type: "interrupt_requested", execution: "of-a" })).toBe("interrupted by ada")
})

test("a skipped cell says which one it needed, and how that ended", () => {
  const now = notebook(request("a"), request("b", "of-a"), start("a"), finish("a", "error"), {
    type: "execution_skipped",
    execution: "of-b",
    cell: "b",
    why: "a cell before it did not end well",
  })
  expect(reason(now, "b")).toBe("skipped: needs load, which failed")
})

test("a stale cell says what changed", () => {
  const ran = [request("a"), start("a", { defines: ["x"] }), finish("a", "ok"), request("b"), start("b", { uses: ["x"] }), finish("b", "ok")]
  const why = (id: string, ...events: KnownEvent[]): string => {
    const now = notebook(...ran, ...events)
    return staleReason(now, cell(now, id), staleCells(now))
  }
  expect(why("a", { type: "source_edited", cell: "a", text: "x = 2" })).toBe("changed since it ran")
  expect(why("b", { type: "source_edited", cell: "a", text: "x = 2" })).toBe("load changed since")
  expect(why("b", { type: "cell_removed", cell: "a" })).toBe("load changed since")
})

test("a reason that names a cell by its id calls it as people do", () => {
  const now = notebook(
    { type: "cell_added", cell: "abcd1234", after: "c", source: "z" },
    { type: "execution_skipped", execution: "x", cell: "b", why: "cell abcd1234 raised" },
  )
  expect(reason(now, "b")).toBe("skipped: cell 4 raised")
})

test("what was typed and refused can be read", () => {
  const edited: KnownEvent = { type: "source_edited", cell: "a", base: 2, edit: [[0, 1, "total"], [4, 0, "= 3"]] }
  expect(typedText([edited, { type: "cell_removed", cell: "b" }])).toBe("total\n= 3")
})
