import { expect, test } from "vitest"
import { readNotebook } from "../core/notebook.ts"
import { apply } from "../core/text.ts"
import type { Cell, JsonObject } from "../core/types.gen.ts"
import { compile, matchesIn, replaced } from "./matches.ts"
import type { Query } from "./matches.ts"

function cellOf(source: string, outputs: readonly JsonObject[] = []): Cell {
  const execution = { id: "e1", cell: "a", state: "ok", outputs }
  const cell = readNotebook({ cells: { a: { id: "a", source, execution } }, order: ["a"] }).cells.get("a")
  if (!cell) throw new Error("There is no cell.")
  return cell
}

function regexOf(text: string, options: Partial<Query> = {}): RegExp {
  const pattern = compile({ text, matchesCase: false, isWholeWord: false, isPattern: false, ...options })
  if ("fault" in pattern) throw new Error(pattern.fault)
  return pattern.regex
}

test("sources and outputs are searched, with the line of each match", () => {
  const outputs = [
    { kind: "stream", name: "stdout", head: "one\n\u001b[31mTop\u001b[0m two" },
    { kind: "display", data: { "text/plain": "top" } },
  ]
  const found = matchesIn(cellOf("x = 1\n  top = x + TOP", outputs), regexOf("top"))
  expect(found.map(({ where, output, line, lineText, column }) => [where, output, line, lineText, column])).toEqual([
    ["source", 0, 2, "top = x + TOP", 0],
    ["source", 0, 2, "top = x + TOP", 10],
    ["output", 0, 2, "Top two", 0],
    ["output", 1, 1, "top", 0],
  ])
})

test("case, whole words and patterns", () => {
  const cell = cellOf("top Top topmost ätop")
  expect(matchesIn(cell, regexOf("top"))).toHaveLength(4)
  expect(matchesIn(cell, regexOf("top", { matchesCase: true }))).toHaveLength(3)
  expect(matchesIn(cell, regexOf("top", { isWholeWord: true }))).toHaveLength(2)
  expect(matchesIn(cell, regexOf("t.p\\b", { isPattern: true }))).toHaveLength(3)
  expect(matchesIn(cellOf("a.b a-b axb"), regexOf("a.b"))).toHaveLength(1)
  expect(matchesIn(cellOf("a-b [x]"), regexOf("a-b [x]"))).toHaveLength(1)
})

test("a pattern that is none says why", () => {
  const pattern = compile({ text: "(", matchesCase: false, isWholeWord: false, isPattern: true })
  expect("fault" in pattern && pattern.fault).toMatch(/^Not a regular expression: /)
})

test("a pattern that matches nothing finds nothing and ends", () => {
  expect(matchesIn(cellOf("abc"), regexOf("x*", { isPattern: true }))).toEqual([])
})

test("a match far into a long line is in sight", () => {
  const [match] = matchesIn(cellOf(`${"x".repeat(500)}top`), regexOf("top"))
  expect(match?.lineText.slice(match.column, match.column + match.length)).toBe("top")
})

test("all matches of a cell are replaced by one edit in code points", () => {
  const cell = cellOf("🦊 top\n🦊 top = 1")
  const made = replaced(cell, { regex: regexOf("top"), text: "most", isPattern: false })
  expect(made?.count).toBe(2)
  expect(made?.event.edit).toEqual([
    [2, 3, "most"],
    [8, 3, "most"],
  ])
  expect(apply(cell.source, made?.event.edit ?? [])).toBe("🦊 most\n🦊 most = 1")
})

test("one match is replaced, and groups are filled in", () => {
  const cell = cellOf("a1 b2 c3")
  const regex = regexOf("([a-z])(\\d)", { isPattern: true })
  const one = replaced(cell, { regex, text: "$2$1$$", isPattern: true, only: { from: 3, to: 5 } })
  expect(apply(cell.source, one?.event.edit ?? [])).toBe("a1 2b$ c3")
  expect(replaced(cell, { regex, text: "x", isPattern: true, only: { from: 1, to: 2 } })).toBeNull()
  const plainText = replaced(cell, { regex: regexOf("a1"), text: "$1", isPattern: false })
  expect(apply(cell.source, plainText?.event.edit ?? [])).toBe("$1 b2 c3")
})
