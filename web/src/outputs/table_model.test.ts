import { expect, test } from "vitest"
import { numberColumns, numberIn, sortCells, sorted, span, tableModel } from "./table_model.ts"
import type { RawCell } from "./table_model.ts"

const th = (text: string, columns = 1, rows = 1): RawCell => ({ text, columns, rows, isHead: true })
const td = (text: string): RawCell => ({ text, columns: 1, rows: 1, isHead: false })

const frame = tableModel(
  [[th(""), th("region"), th("sales")]],
  [
    [th("0"), td("north"), td("1,200")],
    [th("1"), td("south"), td("NaN")],
    [th("2"), td("east"), td("90.5")],
    [th("..."), td("..."), td("...")],
  ],
)

test("columns of numbers are told from others", () => {
  expect(numberColumns(frame)).toEqual([true, false, true])
  expect(["1e3", "-5", "12%", "−4", "1,000.5", "inf", "-inf", "x", "1-2", ""].map(numberIn)).toEqual([1000, -5, 12, -4, 1000.5, Infinity, -Infinity, null, null, null])
})

test("rows are sorted by number or by text; missing ones and the gap come last", () => {
  const by = (column: number, isDown = false) => sorted(frame, { column, isDown }).map((row) => row[0])
  expect(by(2)).toEqual(["2", "0", "1", "..."])
  expect(by(2, true)).toEqual(["0", "2", "1", "..."])
  expect(by(1)).toEqual(["2", "0", "1", "..."])
  expect(sorted(frame, null)).toBe(frame.rows)
})

test("cells that reach over rows are in each of them", () => {
  const table = tableModel(
    [[th("", 2), th("n")]],
    [
      [th("a", 1, 2), th("x"), td("1")],
      [th("y"), td("2")],
    ],
  )
  expect(table.rows).toEqual([
    ["a", "x", "1"],
    ["a", "y", "2"],
  ])
  expect([table.indexColumns, table.width]).toEqual([2, 3])
})

test("a column is sorted by the first cell of the head that is its own", () => {
  const table = tableModel(
    [
      [th("", 1), th("sales", 2)],
      [th("month"), th("2025"), th("2026")],
    ],
    [[th("1"), td("5"), td("6")]],
  )
  expect([...sortCells(table)].map(([cell, column]) => [cell.text, column])).toEqual([
    ["month", 0],
    ["2025", 1],
    ["2026", 2],
  ])
})

test("a span that is none is one, and none is endless", () => {
  expect(["2", null, "x", "-1", "999999"].map(span)).toEqual([2, 1, 1, 1, 1000])
})
