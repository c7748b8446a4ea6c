import { expect, test } from "vitest"
import { readNotebook } from "../core/notebook.ts"
import type { FileConflict } from "../core/types.gen.ts"
import { resolving } from "./conflicts.ts"

const CONFLICT: FileConflict = { cell: "b", base: "x", ours: "y", theirs: "z", seq: 3 }

function notebookOf(cell: Record<string, string | boolean>) {
  return readNotebook({ cells: { a: { id: "a" }, b: { id: "b", ...cell } }, order: ["a", "b"] })
}

function types(events: readonly { readonly type: string }[]): string[] {
  return events.map(({ type }) => type)
}

test("the file's text is taken as an edit of what the cell says", () => {
  const events = resolving(notebookOf({ source: "y" }), "k", CONFLICT, "file")
  expect(events).toMatchObject([{ type: "source_edited", cell: "b", text: "z" }, { type: "conflict_resolved", conflict: "k" }])
})

test("a text that stands already is not written again", () => {
  expect(types(resolving(notebookOf({ source: "y" }), "k", CONFLICT, "log"))).toEqual(["conflict_resolved"])
  expect(types(resolving(notebookOf({ source: "other" }), "k", CONFLICT, null))).toEqual(["conflict_resolved"])
})

test("a side without text had removed the cell, and a removed cell comes back at its place", () => {
  expect(types(resolving(notebookOf({ source: "y" }), "k", { ...CONFLICT, theirs: "" }, "file"))).toEqual(["cell_removed", "conflict_resolved"])
  const events = resolving(notebookOf({ source: "", removed: true }), "k", CONFLICT, "file")
  expect(events[0]).toMatchObject({ type: "cell_added", cell: "b", after: "a", source: "z" })
})
