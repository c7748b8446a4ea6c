import { expect, test } from "vitest"
import type { Stream } from "../core/types.gen.ts"
import { PLAIN } from "./ansi.ts"
import { countLines, cutWide, endedWindow, firstLinesEnd, Following, lastLinesStart, textWindow, WIDEST } from "./stream_window.ts"

const numbered = (count: number, from = 1): string => Array.from({ length: count }, (_, at) => `line ${at + from}\n`).join("")

function stream(parts: Partial<Stream>): Stream {
  return { kind: "stream", name: "stdout", ...parts }
}

test("lines are counted as an editor counts them", () => {
  expect(["", "a", "a\n", "a\nb", "\n\n"].map(countLines)).toEqual([0, 1, 1, 2, 2])
})

test("the first and the last lines", () => {
  expect("a\nb\nc\n".slice(lastLinesStart("a\nb\nc\n", 2))).toBe("b\nc\n")
  expect("a\nb\nc".slice(lastLinesStart("a\nb\nc", 2))).toBe("b\nc")
  expect("a\nb".slice(lastLinesStart("a\nb", 5))).toBe("a\nb")
  expect("a\n\n\n".slice(lastLinesStart("a\n\n\n", 2))).toBe("\n\n")
  expect("a\nb\nc\n".slice(0, firstLinesEnd("a\nb\nc\n", 2))).toBe("a\nb\n")
  expect(firstLinesEnd("a", 3)).toBe(1)
})

test("a short text is whole, a long one has two ends", () => {
  expect(textWindow(numbered(48))).toMatchObject({ tail: null, lines: 48, hidden: 0 })
  const long = textWindow(numbered(1000))
  expect(long.head).toBe(numbered(20))
  expect(long.tail).toBe(numbered(20, 981))
  expect(long).toMatchObject({ lines: 1000, hidden: 960 })
})

test("of a text that is in a blob, the number of lines is known once they were counted", () => {
  const shown = endedWindow(stream({ head: numbered(100), omitted: 5000, tail: `ine\n${numbered(30)}` }))
  expect(shown).toMatchObject({ head: numbered(20), tail: numbered(20, 11), lines: null, hidden: null })
  const counted = endedWindow(stream({ head: numbered(100), omitted: 5000, tail: `ine\n${numbered(30)}` }), 900)
  expect(counted).toMatchObject({ head: shown.head, tail: shown.tail, lines: 900, hidden: 860 })
})

test("the tail looks as the text before it says", () => {
  const text = `\x1b[32m${numbered(100)}`
  expect(textWindow(text).tailLook).toEqual({ ...PLAIN, colour: "2" })
})

test("a running stream shows its last twelve lines", () => {
  const following = new Following()
  expect(following.next(stream({ head: numbered(3) })).text).toBe(numbered(3))
  expect(following.next(stream({ head: numbered(100) })).text).toBe(numbered(12, 89))
})

test("a colour that left the text is still there", () => {
  const following = new Following()
  const head = `\x1b[31m${numbered(10)}`
  following.next(stream({ head }))
  following.next(stream({ head, omitted: 100, tail: `${numbered(20)}\x1b[1m` }))
  const slid = `${numbered(10, 11)}\x1b[1m${numbered(20, 21)}`
  const before = `${numbered(20)}\x1b[1m`
  const added = numbered(20, 21)
  const shown = following.next(stream({ head, omitted: 100 + before.length + added.length - slid.length, tail: slid }))
  expect(shown.look).toEqual({ ...PLAIN, colour: "1", bold: true })
})

test("a line without an end is cut", () => {
  expect(cutWide("x".repeat(WIDEST + 5))).toMatch(/ … 5 more characters$/)
})
