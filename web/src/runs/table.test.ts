import { expect, test } from "vitest"

import type { RunColumn, RunRow, RunTable } from "../sync/api_runs.ts"
import { cellText, percent, signed } from "./cell_values.ts"
import { allColumns, keepChoice, readChoice, shownColumns } from "./columns.ts"
import { changeTable, NO_TABLE } from "./table_state.ts"

function column(kind: RunColumn["kind"], name: string, varies: boolean, runs = 1): RunColumn {
  return { kind, name, type: "number", runs, varies, low: 0, high: 1, bars: [] }
}

function keys(columns: readonly RunColumn[], choice = {}): readonly string[] {
  return shownColumns(allColumns(columns), choice).map(({ key }) => key)
}

test("columns that vary are shown, parameters before results", () => {
  const columns = [column("result", "loss", true), column("parameter", "seed", false), column("parameter", "rate", true)]
  expect(keys(columns)).toEqual(["param.rate", "result.loss"])
  expect(keys(columns, { "param.seed": true, "result.loss": false })).toEqual(["param.seed", "param.rate"])
  expect(keys([column("result", "loss", false)])).toEqual(["result.loss"])
  expect(keys([column("parameter", "rate", true), column("result", "loss", false)])).toEqual(["param.rate", "result.loss"])
  expect(keys([column("parameter", "rate", false)])).toEqual(["param.rate"])
  expect(keys([column("parameter", "rate", false), column("result", "loss", false)])).toEqual(["param.rate", "result.loss"]) // a single run
  expect(keys([column("parameter", "rate", false), column("result", "loss", true)])).toEqual(["param.rate", "result.loss"])
  expect(keys(Array.from({ length: 20 }, (_, number) => column("result", `r${number}`, true)))).toHaveLength(8)
})

test("a choice of columns is kept, and a broken one forgotten", () => {
  const kept = new Map<string, string>()
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
  keepChoice(storage, "all", { who: false })
  expect(readChoice(storage, "all")).toEqual({ who: false })
  expect(readChoice(storage, "notebook:n1")).toEqual({})
  kept.set("quire-run-columns:all", '{"who": 5, ')
  expect(readChoice(storage, "all")).toEqual({})
})

test("values are shown by their type", () => {
  expect(cellText(0.123456789)).toEqual({ text: "0.123457", whole: "0.123456789", isNumber: true })
  expect(cellText(12_345).text).toBe("12,345")
  expect(cellText({ $int: "1180591620717411303424" })).toEqual({ text: "118059…424", whole: "1180591620717411303424", isNumber: true })
  expect(cellText({ $float: "nan" }).text).toBe("NaN")
  expect(cellText({ $date: "2026-03-01" }).text).toBe("2026-03-01")
  expect(cellText({ $duration: [0, 90, 0] }).text).toBe("1 min 30 s")
  expect(cellText(null).text).toBe("none")
  expect(cellText(undefined).text).toBe("")
  expect(cellText([1, 2]).text).toBe("[1,2]")
  expect(cellText({ $newer: 1 }).text).toBe('{"$newer":1}')
  expect(cellText("a\u202eb").text).toBe("a⟨U+202E⟩b")
  expect([signed(-0.05), signed(3), percent(0.1), percent(-0.0051)]).toEqual(["−0.05", "+3", "+10 %", "−0.51 %"])
})

function row(log: string, status: string): RunRow {
  return {
    log,
    status,
    name: "",
    fault: null,
    at: "",
    started_at: null,
    seconds: null,
    actor: "human:ada",
    on_behalf_of: null,
    source: { path: null, notebook: null },
    parameters: {},
    results: {},
    progress: null,
    again: { notebook: null, command: null },
  }
}

function page(...rows: readonly RunRow[]): RunTable {
  return { rows, after: null, total: rows.length, newest: "1", columns: null, sources: null, people: null }
}

test("what goes on is replaced in its place, and new runs are counted", () => {
  const read = changeTable(NO_TABLE, { kind: "read", query: "", scope: "all", page: page(row("r2", "running"), row("r1", "success")) })
  const live = changeTable(read, { kind: "live", live: { rows: [row("r2", "success")], total: 4, fresh: 2 } })
  expect(live.rows.map(({ log, status }) => [log, status])).toEqual([
    ["r2", "success"],
    ["r1", "success"],
  ])
  expect([live.fresh, live.total, live.rows[1] === read.rows[1]]).toEqual([2, 4, true])
  const again = changeTable(live, { kind: "read", query: "x", scope: "all", page: page(row("r1", "success")) })
  expect([again.rows[0] === read.rows[1], again.fresh]).toEqual([true, 0])
  expect(changeTable(again, { kind: "more", query: "", page: page(row("r0", "error")) })).toBe(again)
})
