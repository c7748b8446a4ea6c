import { expect, test } from "vitest"
import type { CellChange } from "../core/types.gen.ts"
import { askedBy, carriedWords, changeWords, wants } from "./words.ts"

const edit = (cell: string): CellChange => ({ type: "source_edited", cell, base: 1, edit: [] })
const add = (cell: string): CellChange => ({ type: "cell_added", cell, after: null })
const run = { kind: "run_cell", execution: "x", cell: "a", source_hash: "" } as const

test("who wants what is one sentence", () => {
  const said = { by: "agent:codex", on_behalf_of: "human:ada" }
  expect(`${askedBy(said, "human:ada")} ${wants({ changes: [edit("a"), edit("b")], effects: [run] })}`).toBe("codex, for you, wants to change 2 cells and run 1")
  expect(wants({ changes: [add("n"), edit("n"), { type: "cell_removed", cell: "a" }], effects: [] })).toBe("wants to add 1 cell and remove 1")
  expect(askedBy({ by: "human:bob", on_behalf_of: null }, "human:ada")).toBe("bob")
})

test("those whose edits were carried over are named", () => {
  expect(carriedWords(["human:bob"], "human:ada")).toBe("Carried over bob's edit")
  expect(carriedWords(["human:bob", "human:ada"], "human:ada")).toBe("Carried over bob's and your edits")
})

test("nothing is hidden in a name", () => {
  const name = (cell: string): string => cell
  expect(changeWords({ type: "cell_named", cell: "a", name: "load\u202e" }, name)).toBe("Name a “load⟨U+202E⟩”")
  expect(changeWords({ type: "cell_tagged", cell: "a", tags: ["x\u200b"] }, name)).toBe("Tag a: x⟨U+200B⟩")
})
