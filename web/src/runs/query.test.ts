import { expect, test } from "vitest"

import { columnKey, filterAt, isCondition, nextSort, NO_QUERY, readQuery, writeCondition, writeQuery } from "./query.ts"

test("a query comes back out of its address", () => {
  const query = {
    ...NO_QUERY,
    status: ["error", "lost"],
    notebook: "n1",
    who: ["human:ada"],
    since: "7d",
    text: "a & b",
    where: ["result.accuracy > 0.9", 'param.month = "a,b"'],
    sort: "-result.accuracy",
  }
  expect(readQuery(writeQuery(query))).toEqual(query)
  expect(writeQuery(NO_QUERY)).toBe("")
  expect(readQuery("?sort=seconds").sort).toBe("seconds")
})

test("times are counted from now, and days begin at midnight here", () => {
  const now = Date.parse("2026-11-18T12:00:00Z")
  expect(filterAt({ ...NO_QUERY, since: "24h" }, now).since).toBe("2026-11-17T12:00:00.000Z")
  const { since, until } = filterAt({ ...NO_QUERY, since: "2026-11-01", until: "2026-11-01" }, now)
  expect(Date.parse(until ?? "") - Date.parse(since ?? "")).toBe(86_400_000)
})

test("a condition is told from words", () => {
  for (const text of ["result.accuracy > 0.9", "param.month=2026-10", 'result."a b" ~ x', "param.top is missing"]) expect(isCondition(text)).toBe(true)
  for (const text of ["accuracy", "result.accuracy", "result.accuracy >", "param.top is", "results"]) expect(isCondition(text)).toBe(false)
})

test("names and texts that could be read as something else stand in quotes", () => {
  expect(columnKey("result", "a b")).toBe('result."a b"')
  expect(writeCondition("param.month", "=", "2026-10", true)).toBe("param.month = 2026-10")
  expect(writeCondition("param.code", "=", "5", true)).toBe('param.code = "5"')
  expect(writeCondition("param.top", ">", "5", false)).toBe("param.top > 5")
  expect(writeCondition("param.top", "is missing", "", false)).toBe("param.top is missing")
})

test("a second click on a head turns the order around", () => {
  expect(nextSort("-at", "result.loss", true)).toBe("-result.loss")
  expect(nextSort("-result.loss", "result.loss", true)).toBe("result.loss")
})
