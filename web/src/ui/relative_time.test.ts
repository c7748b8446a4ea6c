import { expect, test } from "vitest"

import { duration, relativeTime } from "./relative_time.ts"

const NOW = Date.parse("2026-11-12T12:00:00Z")
const ago = (seconds: number): string => relativeTime(NOW - seconds * 1000, NOW)

test("a time is said in the unit that fits", () => {
  expect([ago(-5), ago(3), ago(60), ago(3500), ago(3590), ago(7200), ago(86_400), ago(3 * 86_400)]).toEqual([
    "just now",
    "just now",
    "1 min ago",
    "58 min ago",
    "1 h ago",
    "2 h ago",
    "yesterday",
    "3 days ago",
  ])
})

test("a time long ago is a date, with its year if that is another", () => {
  expect(ago(30 * 86_400)).toBe("13 Oct")
  expect(ago(400 * 86_400)).toBe("8 Oct 2025")
})

test("a duration is said in the unit that fits", () => {
  expect([0, 0.04, 0.2, 1.34, 9.96, 59.7, 60, 125, 3600, 12_000].map(duration)).toEqual([
    "1 ms",
    "40 ms",
    "0.2 s",
    "1.3 s",
    "10 s",
    "1 min",
    "1 min",
    "2 min 5 s",
    "1 h",
    "3 h 20 min",
  ])
})
