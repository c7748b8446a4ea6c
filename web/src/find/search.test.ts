import { expect, test } from "vitest"
import { FakeClock } from "../../testing/fake_clock.ts"
import { readNotebook } from "../core/notebook.ts"
import type { JsonObject } from "../core/types.gen.ts"
import { NotebookStore } from "../sync/store.ts"
import { EMPTY_QUERY, Search } from "./search.ts"

function notebookOf(sources: readonly string[]) {
  const cells: JsonObject = Object.fromEntries(sources.map((source, index) => [`c${index}`, { id: `c${index}`, source }]))
  return readNotebook({ cells, order: Object.keys(cells) })
}

test("a search steps through all matches and around", () => {
  const search = new Search(new NotebookStore(notebookOf(["x", "y", "x x"])), new FakeClock())
  search.ask({ ...EMPTY_QUERY, text: "x" })
  expect(search.found.get()).toMatchObject({ isComplete: true, isCut: false, fault: null })
  const cells = [1, 1, 1, 1].map(() => search.step(1)?.cell)
  expect(cells).toEqual(["c0", "c2", "c2", "c0"])
  expect(search.step(-1)?.from).toBe(2)
})

test("it begins at the cell that has the focus", () => {
  const search = new Search(new NotebookStore(notebookOf(["x", "y", "x"])), new FakeClock())
  search.ask({ ...EMPTY_QUERY, text: "x" })
  expect(search.step(1, ({ cell }) => cell >= "c1")?.cell).toBe("c2")
})

test("what changes is searched again, and the match that is gone to stays so", () => {
  const clock = new FakeClock()
  const store = new NotebookStore(notebookOf(["x", "x"]))
  const search = new Search(store, clock)
  const stop = search.start()
  search.ask({ ...EMPTY_QUERY, text: "x" })
  search.step(1)
  search.step(1)
  expect(search.current.get()).toBe(1)
  store.put(notebookOf(["x x x", "x"]))
  clock.advance(1000)
  expect(search.found.get().matches).toHaveLength(4)
  expect(search.current.get()).toBe(3)
  stop()
})
