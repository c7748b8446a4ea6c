import { expect, test } from "vitest"
import { readNotebook } from "../core/notebook.ts"
import { headingsIn, outlineOf, plainText } from "./headings.ts"

function textsIn(source: string): string[] {
  return headingsIn({ id: "a", source }).map(({ level, text, at }) => `${level} ${text} @${at}`)
}

test("headings of both forms, and none in code", () => {
  expect(textsIn("# One\ntext\n\n## *Two* `x` ##\n#not\n```\n# no\n```\nThree\n=====\n- item\n---\n")).toEqual([
    "1 One @0",
    "2 Two x @12",
    "1 Three @46",
  ])
  expect(textsIn("#\n\n####### seven")).toEqual([])
})

test("marks of Markdown are left out", () => {
  expect(plainText("See [the **docs**](https://a.b) for `x_y` and snake_case \\# 1")).toBe("See the docs for x_y and snake_case # 1")
})

test("a notebook's cells belong to the entry above them", () => {
  const cells = {
    a: { id: "a", kind: "markdown", source: "# Sales\n\n## Load" },
    b: { id: "b", kind: "code", source: "x", name: "load" },
    c: { id: "c", kind: "code", source: "y" },
    d: { id: "d", kind: "markdown", source: "just text" },
    e: { id: "e", kind: "markdown", source: "## Show", removed: true },
  }
  const outline = outlineOf(readNotebook({ cells, order: ["a", "b", "c", "d", "e"] }))
  expect(outline.map(({ level, text, cells: its }) => [level, text, its])).toEqual([
    [1, "Sales", []],
    [2, "Load", ["a"]],
    [3, "load", ["b", "c", "d"]],
  ])
})
