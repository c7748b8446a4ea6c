import { expect, test } from "vitest"
import { lineDiff } from "./line_diff.ts"
import { markWords } from "./word_diff.ts"

function written(before: string, after: string): string[] {
  return markWords(lineDiff(before, after)).map((line) => {
    if (line.kind === "gap") return "…"
    return line.parts ? line.parts.map(({ text, isMarked }) => (isMarked ? `[${text}]` : text)).join("") : line.text
  })
}

test("the words that changed are marked on both sides", () => {
  expect(written("print(total, top)", "print(total, best)")).toEqual(["print(total, [top])", "print(total, [best])"])
})

test("lines that have little in common are not marked", () => {
  expect(written("import pandas", "frame.plot()")).toEqual(["import pandas", "frame.plot()"])
})

test("each line is compared with the one that takes its place, and one more stands alone", () => {
  expect(written("a = 1\nb = 2", "a = 3\nb = 4\nc = 5")).toEqual(["a = [1]", "b = [2]", "a = [3]", "b = [4]", "c = 5"])
})

test("what is marked and what is not is the whole line", () => {
  for (const [before, after] of [["x\t=  f(1)", "x\t= f(1, 2)"], ["é🦊 a", "é🦊 b"]] as const) {
    const texts = markWords(lineDiff(before, after)).map((line) => (line.kind === "gap" ? "" : (line.parts ?? [line]).map(({ text }) => text).join("")))
    expect(texts).toEqual([before, after])
  }
})
