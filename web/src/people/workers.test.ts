import { expect, test } from "vitest"

import { emptyNotebook } from "../core/notebook.ts"
import type { Cell, CellId, Notebook, Proposal } from "../core/types.gen.ts"
import { spanOf } from "./moment_choices.ts"
import { dependentText, undoneText } from "./UndoLists.tsx"
import { workersOf } from "./workers.ts"

function notebook(cells: readonly Partial<Cell>[], proposals: readonly Partial<Proposal>[] = []): Notebook {
  return {
    ...emptyNotebook(),
    cells: new Map(cells.map((cell, number) => [`c${number}`, cell as Cell])),
    proposals: new Map(proposals.map((proposal, number) => [`p${number}`, proposal as Proposal])),
  }
}

test("agents come first, with whom they acted for, and runtimes not at all", () => {
  const made = notebook(
    [{ added_by: "human:ada", edited_by: "agent:codex", execution: { by: "agent:claude", on_behalf_of: "human:ada" } } as unknown as Partial<Cell>],
    [{ by: "agent:codex", on_behalf_of: "human:bob", state: "open" } as unknown as Partial<Proposal>, { by: "runtime:gpu", state: "accepted" } as unknown as Partial<Proposal>],
  )
  expect(workersOf(made)).toEqual([
    { actor: "agent:claude", onBehalfOf: "human:ada", hasEdited: false },
    { actor: "agent:codex", onBehalfOf: "human:bob", hasEdited: true },
    { actor: "human:ada", onBehalfOf: null, hasEdited: true },
  ])
})

test("a moment is an event or a time that sorts among those of the log", () => {
  const known = { seq: 7, now: Date.parse("2026-03-02T10:00:00Z"), number: " 12", look: { seq: 5, at: null } }
  expect(spanOf("all", known)).toEqual({})
  expect(spanOf("looked", known)).toEqual({ since: 5 })
  expect(spanOf("looked", { ...known, look: null })).toBeNull()
  expect(spanOf("opened", known)).toEqual({ since: 7 })
  expect(spanOf("hour", known)).toEqual({ after: "2026-03-02T09:00:00.000000Z" })
  expect(spanOf("number", known)).toEqual({ since: 12 })
  expect(spanOf("number", { ...known, number: "-1" })).toBeNull()
})

test("what is taken back and what depends on it are told in words", () => {
  const cell = "c0" as CellId
  expect(undoneText({ cell, part: "text", removes: 1, restores: 2, stays: true })).toBe(
    "1 character go, 2 characters come back; the cell stays for what others typed in it",
  )
  expect(undoneText({ cell, part: "tags" })).toBe("its tags are set back")
  expect(dependentText({ by: "human:ada", cell, what: "ran", seq: 3, at: "", count: 2 } as never, "codex")).toBe("ran it, 2 times")
})
