import { expect, test } from "vitest"
import { choicesOf, controlOf, initialText, readField, readForm } from "./fields.ts"
import { parseType, readText, writeText } from "./typed.ts"
import type { Json } from "../core/types.gen.ts"

test.each<[string, string, Json | undefined]>([
  ["int", "5", 5],
  ["int", "-1_000", -1000],
  ["int", "123456789012345678901", { $int: "123456789012345678901" }],
  ["int", "5.0", undefined],
  ["int", "five", undefined],
  ["float", "1e-3", 0.001],
  ["float", "-inf", { $float: "-inf" }],
  ["float", "1,5", undefined],
  ["bool", "Yes", true],
  ["bool", "maybe", undefined],
  ["date", "2026-01-31", { $date: "2026-01-31" }],
  ["date", "2026-02-30", undefined],
  ["datetime", "2026-01-31T06:00+02:00", { $datetime: "2026-01-31T06:00+02:00" }],
  ["datetime", "tomorrow", undefined],
  ["time", "06:00", { $time: "06:00" }],
  ["time", "26:00", undefined],
  ["duration", "90", 90],
  ["path", "a/b.csv", { $path: "a/b.csv" }],
  ["path", "", undefined],
  ["str", "null", "null"],
  ["str | None", "null", null],
  ["int | str", "7", 7],
  ["int | str", "seven", "seven"],
  ["list[int]", "[1, 2]", [1, 2]],
  ["list[int]", '[1, "a"]', undefined],
  ["list[int]", "1, 2", undefined],
  ["tuple[int, str]", '[1, "a"]', [1, "a"]],
  ["tuple[int, str]", "[1]", undefined],
  ["tuple[int, ...]", "[1, 2, 3]", [1, 2, 3]],
  ["dict[str, int]", '{"a": 1}', { a: 1 }],
  ["dict[str, int]", '{"a": "x"}', undefined],
  ["list[date]", '["2026-01-31"]', ["2026-01-31"]],
  ["any", "3", 3],
  ["any", "north", "north"],
  ["any", "None", null],
])("%s of %j is %j", (type, text, value) => {
  expect(readText(text, parseType(type))).toEqual(value)
})

test("a tagged value is written as it would be typed", () => {
  expect(writeText({ $date: "2026-01-31" })).toBe("2026-01-31")
  expect(writeText({ $tuple: [1, 2] })).toBe("[1,2]")
  expect(writeText({ $duration: [1, 30, 0] })).toBe("86430")
  expect(writeText({ $bytes: "aGk=" })).toBe("hi")
  expect(writeText({ a: 1 })).toBe('{"a":1}')
})

test("the kind of field follows from the type", () => {
  expect(controlOf({ name: "x", type: "bool", default: true })).toBe("check")
  expect(controlOf({ name: "x", type: "bool", required: true })).toBe("choice")
  expect(controlOf({ name: "x", type: "int | None", default: null })).toBe("number")
  expect(controlOf({ name: "x", type: "str", choices: ["a", "b"] })).toBe("choice")
  expect(controlOf({ name: "x", type: "list[int]" })).toBe("lines")
  expect(choicesOf({ name: "x", type: "str | None", choices: ["a"] }).map(({ label }) => label)).toEqual(["a", "none"])
})

test("only what differs from the defaults is sent, and what is wrong is told by name", () => {
  const parameters = [
    { name: "top", type: "int", default: 5 },
    { name: "month", type: "str", required: true },
    { name: "note", type: "str | None", default: "hi" },
    { name: "out", type: null, expression: "Path('x')" },
    { name: "region", type: "str", default: "north", choices: ["north", "south"] },
  ]
  expect(readForm(parameters, { month: "2026-10", note: "", region: '"south"' })).toEqual({
    values: { month: "2026-10", note: null, region: "south" },
    faults: {},
  })
  const { values, faults } = readForm(parameters, { top: "five" })
  expect(values).toEqual({})
  expect(faults).toEqual({ top: "This wants a whole number, such as 5.", month: "It needs a value." })
  expect(readField(parameters[0] ?? { name: "" }, "5")).toEqual({ kind: "default" })
  expect(initialText(parameters[4] ?? { name: "" })).toBe('"north"')
})
