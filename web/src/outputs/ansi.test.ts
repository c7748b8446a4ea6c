import { expect, test } from "vitest"
import type { Look } from "./ansi.ts"
import { lookAfter, overwritten, PLAIN, readAnsi, withoutAnsi } from "./ansi.ts"

const E = "\x1b["

function read(text: string): unknown {
  return readAnsi(text)[0].map(({ look, text: shown }) => [
    shown,
    Object.fromEntries(Object.entries(look).filter(([, value]) => value !== null && value !== false)),
  ])
}

test("the sixteen colours, bright ones and weights", () => {
  expect(read(`a${E}31mb${E}1;92mc${E}0md`)).toEqual([
    ["a", {}],
    ["b", { colour: "1" }],
    ["c", { colour: "10", bold: true }],
    ["d", {}],
  ])
  expect(read(`${E}44;3mx${E}49my${E}23mz`)).toEqual([
    ["x", { background: "4", italic: true }],
    ["y", { italic: true }],
    ["z", {}],
  ])
})

const BOLD: Partial<Look> = { bold: true }

test("256 colours and true colour, with semicolons and colons", () => {
  expect(read(`${E}38;5;196mx`)).toEqual([["x", { colour: "#ff0000" }]])
  expect(read(`${E}38;5;9mx`)).toEqual([["x", { colour: "9" }]])
  expect(read(`${E}48;5;244mx`)).toEqual([["x", { background: "#808080" }]])
  expect(read(`${E}38;2;1;2;300;1mx`)).toEqual([["x", { colour: "#0102ff", ...BOLD }]])
  expect(read(`${E}38:5:21mx`)).toEqual([["x", { colour: "#0000ff" }]])
  expect(read(`${E}38mx`)).toEqual([["x", {}]])
})

test("a look goes on over pieces of a text", () => {
  const [first, look] = readAnsi(`${E}31mred`)
  const [second] = readAnsi(`still${E}0m no`, look)
  expect(first[0]?.look.colour).toBe("1")
  expect(second.map((each) => each.look.colour)).toEqual(["1", null])
  expect(lookAfter(`${E}31mred${E}1m`)).toEqual({ ...PLAIN, colour: "1", bold: true })
})

test("links carry their address, of the web only", () => {
  const link = (to: string) => `\x1b]8;;${to}\x07text\x1b]8;;\x07 after`
  expect(read(link("https://example.org/a"))).toEqual([
    ["text", { link: "https://example.org/a" }],
    [" after", {}],
  ])
  expect(read(link("javascript:alert(1)"))).toEqual([
    ["text", {}],
    [" after", {}],
  ])
  expect(read("\x1b]8;id=1;http://a.test\x1b\\x\x1b]8;;\x1b\\y")).toEqual([
    ["x", { link: "http://a.test" }],
    ["y", {}],
  ])
})

test("other sequences are left out", () => {
  expect(withoutAnsi(`${E}2J${E}10;5Hx\x1b]0;title\x07y\x1b(Bz\x1bMw`)).toBe("xyzw")
  expect(withoutAnsi("no sequence")).toBe("no sequence")
})

test("what a carriage return went back over is gone", () => {
  expect(overwritten("10%\r20%\r100%\ndone\r\n")).toBe("100%\ndone\n")
  expect(overwritten("abcdef\rxy")).toBe("xycdef")
  expect(overwritten("ab\b\bx")).toBe("xb")
  expect(overwritten(`${E}31mab\rc`)).toBe("cb")
})

test("a hundred thousand sequences are read at once", () => {
  const text = `${E}31mx${E}0m`.repeat(100_000)
  expect(readAnsi(text)[0]).toHaveLength(100_000)
  expect(readAnsi("\x1b]".repeat(50_000))[0]).toHaveLength(0)
})
