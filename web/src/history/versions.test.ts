import { expect, test } from "vitest"
import type { Entry, KnownEvent } from "../core/types.gen.ts"
import { cellPast } from "./versions.ts"

function entry(seq: number, minute: number, actor: string, event: KnownEvent): Entry {
  const at = `2026-10-01T10:${String(minute).padStart(2, "0")}:00.000000Z`
  return { log: "n", seq, id: `i${seq}`, at, actor, event }
}

const ADDED: KnownEvent = { type: "cell_added", cell: "a", after: null, source: "x" }

function insert(at: number, text: string): KnownEvent {
  return { type: "source_edited", cell: "a", base: 1, edit: [[at, 0, text]] }
}

test("what one person writes without a pause is one version", () => {
  const { versions } = cellPast(
    [
      entry(1, 0, "human:ada", ADDED),
      entry(2, 1, "human:ada", insert(1, " =")),
      entry(3, 2, "human:ada", insert(3, " 1")),
      entry(4, 3, "human:bob", insert(5, "0")),
      entry(5, 30, "human:bob", insert(6, "0")),
    ],
    "a",
  )
  expect(versions.map(({ by, source, seq, isFirst }) => [by, source, seq, isFirst])).toEqual([
    ["human:ada", "x = 1", 3, true],
    ["human:bob", "x = 10", 4, false],
    ["human:bob", "x = 100", 5, false],
  ])
})

test("edits as they were applied, and changes of other cells are passed over", () => {
  const rebased: KnownEvent = { type: "source_edited", cell: "a", base: 1, edit: [[0, 0, "y"]], applied: [[1, 0, "y"]] }
  const other: KnownEvent = { type: "source_edited", cell: "b", base: 1, edit: [[0, 0, "z"]] }
  const { versions } = cellPast([entry(1, 0, "human:ada", ADDED), entry(2, 1, "human:bob", other), entry(3, 2, "human:bob", rebased)], "a")
  expect(versions.map(({ source }) => source)).toEqual(["x", "xy"])
})

test("a proposal and a file are told as the cause", () => {
  const made: KnownEvent = { type: "proposal_made", proposal: "p", why: "faster" }
  const accepted: KnownEvent = {
    type: "proposal_accepted",
    proposal: "p",
    applied: [{ type: "source_edited", cell: "a", text: "y" }],
    effects: [{ kind: "run_cell", execution: "e", cell: "a", source_hash: "" }],
  }
  const merged: KnownEvent = {
    type: "file_merged",
    path: "n.py",
    digest: "",
    changes: [{ type: "source_edited", cell: "a", text: "z" }],
  }
  const { versions, runs } = cellPast(
    [
      entry(1, 0, "human:ada", ADDED),
      entry(2, 1, "agent:codex", made),
      entry(3, 2, "human:ada", accepted),
      entry(4, 3, "human:ada", merged),
    ],
    "a",
  )
  expect(versions.map(({ source, cause }) => [source, cause.kind])).toEqual([
    ["x", "typed"],
    ["y", "proposal"],
    ["z", "file"],
  ])
  expect(versions[1]?.cause).toEqual({ kind: "proposal", proposal: "p", why: "faster", by: "agent:codex" })
  expect(runs.map(({ execution, by }) => [execution, by])).toEqual([["e", "human:ada"]])
})

test("each run with its end", () => {
  const { runs } = cellPast(
    [
      entry(1, 0, "human:ada", ADDED),
      entry(2, 1, "human:ada", { type: "execution_requested", execution: "e", cell: "a", source_hash: "" }),
      entry(3, 1, "runtime:r", { type: "execution_started", execution: "e", cell: "a", source_hash: "", epoch: 1 }),
      entry(4, 2, "runtime:r", { type: "execution_finished", execution: "e", epoch: 1, status: "error" }),
    ],
    "a",
  )
  expect(runs.map(({ state, by, startedAt, finishedAt }) => [state, by, startedAt?.slice(14, 16), finishedAt?.slice(14, 16)])).toEqual([
    ["error", "human:ada", "01", "02"],
  ])
})
