import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import type { Act } from "../sync/api_activity.ts"
import { lineWords, WORDS } from "./words.ts"

const read = (acts: readonly Act[], leftOut = 0): string =>
  lineWords(acts, leftOut)
    .map((piece) => (typeof piece === "string" ? piece : `\`${piece.cell}\``))
    .join("")

test("every kind of event has words", () => {
  const source = readFileSync(new URL("../core/types.gen.ts", import.meta.url), "utf8")
  const types = [...source.matchAll(/readonly type: "(\w+)"/g)].map((match) => match[1] ?? "")
  expect(types.length).toBeGreaterThan(50)
  expect(Object.keys(WORDS).sort()).toEqual([...new Set(types)].sort())
  for (const type of types) {
    expect(read([{ type, cell: "load" }])).toMatch(/^\w[^*]{3,}$/)
    expect(read([{ type, text: "why" }])).toMatch(/\w/)
  }
})

test("a change and a run of one cell are one sentence", () => {
  const acts = [
    { type: "source_edited", cell: "load", count: 3 },
    { type: "execution_requested", cell: "load", outcome: "error", error: "KeyError" },
  ] as const
  expect(read(acts)).toBe("changed `load` and ran it: KeyError")
})

test("many cells are named as far as there is room, and the rest is counted", () => {
  const edited = (cell: string): Act => ({ type: "source_edited", cell })
  expect(read(["a", "b"].map(edited))).toBe("changed `a` and `b`")
  expect(read(["a", "b", "c", "d"].map(edited))).toBe("changed `a`, `b`, `c` and `d`")
  expect(read(["a", "b", "c", "d", "e", "f"].map(edited))).toBe("changed `a`, `b`, `c` and 3 more")
  expect(read(["a"].map(edited), 4)).toBe("changed `a` and did 4 more things")
})

test("runs of several cells tell how many failed", () => {
  const ran = (cell: string, outcome: Act["outcome"], error = ""): Act => ({ type: "execution_requested", cell, outcome: outcome ?? null, error })
  expect(read([ran("a", "ok"), ran("b", "ok")])).toBe("ran `a` and `b`: ok")
  expect(read([ran("a", "ok"), ran("b", "error", "KeyError"), ran("c", "skipped")])).toBe("ran `a`, `b` and `c`: 2 failed (KeyError, skipped)")
  expect(read([ran("a", null)])).toBe("ran `a`")
})

test("what was said is one line of it, beside the cell it is about", () => {
  expect(read([{ type: "comment_added", cell: "load", text: "Why 5?\nAnd more" }])).toBe("commented on `load`: Why 5?")
  expect(read([{ type: "proposal_made", text: "x".repeat(500) }]).length).toBeLessThan(150)
  expect(read([{ type: "input_answered", count: 2 }])).toBe("answered what a cell asked (2 times)")
})

test("an event of a newer server is told of by its name", () => {
  expect(read([{ type: "moon_landed" }])).toContain("moon_landed")
})
