import { expect, test } from "vitest"

import { shortValues } from "./values.ts"

test("values are shown in short", () => {
  const values = { month: "2026-11", top: 5, share: 0.123456789, regions: ["a", "b"], large: null, day: { $date: "2026-03-01" }, pair: { a: 1 }, text: "a\n" + "b".repeat(40) }
  expect(Object.fromEntries(shortValues(values))).toEqual({
    month: "2026-11",
    top: "5",
    share: "0.123457",
    regions: "[2]",
    large: "…",
    day: "2026-03-01",
    pair: "{…}",
    text: `a ${"b".repeat(21)}…`,
  })
})
