import { expect, test } from "vitest"

import type { DiffPair } from "../sync/api_diff.ts"
import { stretches } from "./diff_lines.ts"

const same = (text: string): DiffPair => ({ old: { sign: " ", parts: [text] }, new: { sign: " ", parts: [text] } })
const added = (text: string): DiffPair => ({ old: null, new: { sign: "+", parts: [text] } })

test("a long stretch far from each change is folded, and lines keep their numbers", () => {
  const lines = [...Array.from({ length: 20 }, (_, at) => same(String(at))), added("new"), same("after")]
  const found = stretches(lines)
  expect(found.map(({ kind, pairs }) => [kind, pairs.length])).toEqual([
    ["fold", 17],
    ["lines", 5],
  ])
  const last = found.at(-1)?.pairs.at(-1)
  expect([last?.oldNumber, last?.newNumber]).toEqual([21, 22])
})

test("a short stretch is not folded", () => {
  const lines = [added("a"), ...Array.from({ length: 10 }, (_, at) => same(String(at))), added("b")]
  expect(stretches(lines).every(({ kind }) => kind === "lines")).toBe(true)
  expect(stretches(lines).flatMap(({ pairs }) => pairs)).toHaveLength(12)
})
