import { expect, test } from "vitest"
import { readNotebook } from "../core/notebook.ts"
import type { Cell, JsonObject } from "../core/types.gen.ts"
import { bytesText, readVariables } from "./variables.ts"

function scratch(execution: JsonObject): Cell | undefined {
  return readNotebook({ cells: { s: { id: "s", scratch: true, removed: true, execution } } }).cells.get("s")
}

test("what the code printed is read, also among other lines", () => {
  const rows = [
    ["df", "DataFrame", "data", [1000, 3], 24_132],
    ["load", "function", "function", null, 160],
    ["name", "str", "data", [1], 50],
  ]
  const head = `noise\n${JSON.stringify({ variables: rows, count: 3 })}\n`
  const read = readVariables(scratch({ id: "e", state: "ok", outputs: [{ kind: "stream", name: "stdout", head }] }))
  expect(read).toMatchObject({
    kind: "read",
    count: 3,
    variables: [
      { name: "df", type: "DataFrame", shape: "1,000 × 3", bytes: 24_132, kind: "data" },
      { name: "load", type: "function", shape: "", bytes: 160, kind: "function" },
      { name: "name", type: "str", shape: "1 character", bytes: 50, kind: "data" },
    ],
  })
})

test("it waits, and it may fail", () => {
  expect(readVariables(undefined)).toEqual({ kind: "waiting" })
  expect(readVariables(scratch({ id: "e", state: "running" }))).toEqual({ kind: "waiting" })
  expect(readVariables(scratch({ id: "e", state: "error", fault: { evalue: "boom" } }))).toEqual({ kind: "failed", why: "boom" })
  expect(readVariables(scratch({ id: "e", state: "ok" }))).toMatchObject({ kind: "failed" })
})

test("sizes in few words", () => {
  expect([0, 999, 1000, 24_132, 9_960_000, null].map(bytesText)).toEqual(["0 B", "999 B", "1.0 kB", "24 kB", "10.0 MB", ""])
})
