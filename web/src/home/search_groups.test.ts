import { expect, test } from "vitest"

import type { Hit } from "../sync/api_types.ts"
import { groupHits, markWords } from "./search_groups.ts"

const hit = (log: string, where: Hit["where"], run: Hit["run"] = null): Hit => ({ log, name: `${log}!`, run, cell: where === "name" ? null : "c", where, text: where })
const ran = (at: string): Hit["run"] => ({ status: "success", at })

test("hits of one notebook are folded together, and those of runs stand apart", () => {
  const { notebooks, runs } = groupHits([hit("n1", "source"), hit("n2", "source"), hit("n1", "output"), hit("r1", "source", ran("2026"))])
  expect(notebooks.map(({ log, name, hits }) => [log, name, hits.map(({ where }) => where)])).toEqual([
    ["n1", "n1!", ["source", "output"]],
    ["n2", "n2!", ["source"]],
  ])
  expect(runs.map(({ log, run }) => [log, run?.status])).toEqual([["r1", "success"]])
})

test("runs: the last one first, also those found by name alone, outputs before code", () => {
  const { notebooks, runs } = groupHits([
    hit("n1", "name"),
    hit("r1", "name", ran("2026-11-01")),
    hit("r2", "source", ran("2026-11-02")),
    hit("r2", "output", ran("2026-11-02")),
  ])
  expect(notebooks).toEqual([])
  expect(runs.map(({ log, hits }) => [log, hits.map(({ where }) => where)])).toEqual([
    ["r2", ["output", "source"]],
    ["r1", []],
  ])
})

test("every word is marked, whatever its case, and nothing in it is a pattern", () => {
  const marked = (line: string, text: string): string => markWords(line, text).map((piece) => (piece.isFound ? `[${piece.text}]` : piece.text)).join("")
  expect(marked("Revenue of north", "north revenue")).toBe("[Revenue] of [north]")
  expect(marked("a.b a-b (x", "a.b (x")).toBe("[a.b] a-b [(x]")
  expect(marked("x[0] = {1} / 2 - y$", "x[0] {1} / - y$")).toBe("[x[0]] = [{1}] [/] 2 [-] [y$]")
  expect(marked("nothing", "absent")).toBe("nothing")
  expect(marked("nothing", "")).toBe("nothing")
})

test("what stands far before the first word is left out", () => {
  expect(markWords(`${"a".repeat(100)}word`, "word")).toEqual([
    { text: `…${"a".repeat(40)}`, isFound: false },
    { text: "word", isFound: true },
  ])
})
