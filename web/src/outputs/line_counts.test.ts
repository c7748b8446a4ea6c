import { expect, test } from "vitest"
import { countLinesOf, knownLines, LineCounter, rememberLines, watchLines } from "./line_counts.ts"
import { countLines } from "./stream_window.ts"

test("lines are counted in pieces as they are in the text", () => {
  for (const text of ["", "a", "a\n", "a\nb", "\n\n", "ä\r\nö\n漢"]) {
    const bytes = new TextEncoder().encode(text)
    for (const size of [1, 2, 100]) {
      const counter = new LineCounter()
      for (let at = 0; at < bytes.length; at += size) counter.add(bytes.slice(at, at + size))
      expect(counter.lines, JSON.stringify(text)).toBe(countLines(text))
    }
  }
})

test("what was counted is known to all who show it", async () => {
  let calls = 0
  const stop = watchLines(() => (calls += 1))
  expect(knownLines("h1")).toBeNull()
  await countLinesOf("h1", new Blob(["one\ntwo\nthree"]))
  rememberLines("h1", 3)
  expect([knownLines("h1"), calls]).toEqual([3, 1])
  stop()
})
