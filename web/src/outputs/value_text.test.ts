import { expect, test } from "vitest"
import { untagged, valueText } from "./value_text.ts"

test("values as text", () => {
  expect(valueText({ $int: "9007199254740993" })).toBe("9007199254740993")
  expect(valueText({ a: [1, { $float: "nan" }], b: { $date: "2026-10-01" } })).toBe('{"a": [1, NaN], "b": 2026-10-01}')
  expect(valueText({ $tuple: [1, "x"] })).toBe('(1, "x")')
  expect(valueText({ $unknown: 1 })).toBe('{"$unknown":1}')
  expect(valueText("x".repeat(600))).toMatch(/ … 102 more characters$/)
})

test("tagged values as plain ones", () => {
  expect(untagged({ a: [{ $float: "nan" }, { $int: "9007199254740993" }, { $int: "5" }], b: { $date: "2026-10-01" } })).toEqual({ a: [NaN, "9007199254740993", 5], b: "2026-10-01" })
  const same = { a: [1, { b: null }] }
  expect(untagged(same)).toBe(same)
})
