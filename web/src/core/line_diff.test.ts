import { expect, test } from "vitest"
import { changeCount, lineDiff, withoutSame } from "./line_diff.ts"
import type { DiffLine } from "./line_diff.ts"

const marks = { same: " ", removed: "-", added: "+" } as const

function written(diff: readonly DiffLine[]): string[] {
  return diff.map(({ kind, text }) => marks[kind] + text)
}

test("a line in the middle is replaced", () => {
  expect(written(lineDiff("a\nb\nc", "a\nB\nc"))).toEqual([" a", "-b", "+B", " c"])
})

test("nothing changed, all is new, all is gone", () => {
  expect(written(lineDiff("a\nb", "a\nb"))).toEqual([" a", " b"])
  expect(written(lineDiff("", "a\nb"))).toEqual(["+a", "+b"])
  expect(written(lineDiff("a\nb", ""))).toEqual(["-a", "-b"])
})

test("the fewest lines change", () => {
  expect(changeCount(lineDiff("a\nb\nc\na\nb\nb\na", "c\nb\na\nb\na\nc"))).toEqual({ added: 2, removed: 3 })
})

test("both texts can be read off any difference", () => {
  let seed = 7
  const next = (below: number): number => (seed = (seed * 48271) % 2147483647) % below
  const text = (): string => Array.from({ length: next(12) }, () => "xyz".charAt(next(3))).join("\n")
  for (let round = 0; round < 3000; round += 1) {
    const [before, after] = [text(), text()]
    const diff = lineDiff(before, after)
    const side = (left: DiffLine["kind"]): string =>
      diff.flatMap((line) => (line.kind === left ? [] : [line.text])).join("\n")
    expect(side("added")).toBe(before)
    expect(side("removed")).toBe(after)
  }
})

test("far too many changes are shown whole", () => {
  const many = (word: string): string => Array.from({ length: 4000 }, (_, index) => `${word}${index}`).join("\n")
  expect(changeCount(lineDiff(many("a"), many("b")))).toEqual({ added: 4000, removed: 4000 })
})

test("lines far from any change are a gap", () => {
  const before = Array.from({ length: 9 }, (_, index) => `${index}`)
  const shown = withoutSame(lineDiff(before.join("\n"), before.with(4, "x").join("\n")), 1)
  expect(shown.map((line) => (line.kind === "gap" ? line.count : marks[line.kind] + line.text))).toEqual([
    3,
    " 3",
    "-4",
    "+x",
    " 5",
    3,
  ])
})
