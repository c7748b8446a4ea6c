import { expect, test } from "vitest"

import type { NotebookSummary } from "../sync/api_types.ts"
import { byFolder, filterNotebooks, freeName, notebookState } from "./overview.ts"

function notebook(name: string, fields: Partial<NotebookSummary> = {}): NotebookSummary {
  const changed = { actor: "human:ada", on_behalf_of: null, at: "2026-11-12T10:00:00.000000Z", type: "source_edited" }
  return { log: name, name, file: null, archived: false, cells: 3, errors: 0, running: 0, stale: 0, changed, present: [], ...fields }
}

function at(time: string): NotebookSummary["changed"] {
  return { actor: "human:ada", on_behalf_of: null, at: `2026-11-12T${time}:00.000000Z`, type: "source_edited" }
}

test("notebooks are in the folders of their files, the one changed last first", () => {
  const notebooks = [
    notebook("old", { changed: at("08:00") }),
    notebook("b", { file: "reports/b.py" }),
    notebook("new", { file: "new.ipynb", changed: at("11:00") }),
    notebook("a", { file: "reports/2026/a.py" }),
  ]
  expect(byFolder(notebooks).map(({ path, notebooks: inside }) => [path, ...inside.map(({ name }) => name)])).toEqual([
    ["", "new", "old"],
    ["reports", "b"],
    ["reports/2026", "a"],
  ])
})

test("a filter takes every word, in the name or the path", () => {
  const notebooks = [notebook("Sales", { file: "reports/sales.py" }), notebook("birthdays")]
  expect(filterNotebooks(notebooks, "rep SAL").map(({ name }) => name)).toEqual(["Sales"])
  expect(filterNotebooks(notebooks, "  ")).toHaveLength(2)
})

test("the state of a notebook is said in words, the most pressing first", () => {
  expect(notebookState(notebook("a", { running: 1, errors: 2, stale: 3 }))).toEqual({ mark: "running", words: "1 running, 2 errors, 3 stale" })
  expect(notebookState(notebook("a", { errors: 1 })).words).toBe("1 error")
  expect(notebookState(notebook("a")).words).toBe("3 cells")
  expect(notebookState(notebook("a", { cells: 0 })).words).toBe("empty")
})

test("a name that is taken gets a number", () => {
  expect(freeName("sales", ["sales", "sales 2"])).toBe("sales 3")
  expect(freeName("sales", [])).toBe("sales")
})
