/** Acts that wait, when the log has them in another order or form than they stand here. */

import { expect, test } from "vitest"

import { emptyNotebook } from "../core/notebook.ts"
import { fold } from "../core/reduce.ts"
import type { Edit, Entry, KnownEvent } from "../core/types.gen.ts"
import { Pending } from "./pending.ts"
import type { Act } from "./pending.ts"

const AUTHOR = { log: "n", actor: "human:ada", on_behalf_of: null }

function entry(seq: number, id: string, event: KnownEvent): Entry {
  return { ...AUTHOR, seq, id, at: "", event }
}

const BEGUN = fold(
  [
    entry(1, "e1", { type: "notebook_created", name: "n" }),
    entry(2, "e2", { type: "cell_added", cell: "a", after: null, source: "0123456789" }),
  ],
  emptyNotebook(),
)

function typed(id: string, edit: Edit): Act {
  return { id, at: "", seq: 3, parts: [{ id, event: { type: "source_edited", cell: "a", edit } }], sent: null }
}

function waiting(...acts: Act[]): Pending {
  return Pending.read({ acts, typed: [] }, 0)
}

function shown(pending: Pending, notebook = BEGUN): string | undefined {
  return pending.over(notebook, AUTHOR).notebook.cells.get("a")?.source
}

function recorded(pending: Pending, event: Entry): string | undefined {
  pending.receive(event, (cell) => BEGUN.cells.get(cell)?.source)
  return shown(pending, fold([event], BEGUN))
}

test("an act that is recorded before one that stands before it moves that one", () => {
  const pending = waiting(typed("p", [[9, 0, "P"]]), typed("o", [[0, 0, "O"]]))
  expect(shown(pending)).toBe("O012345678P9")
  const first = entry(3, "o", { type: "source_edited", cell: "a", base: 2, edit: [[0, 0, "O"]] })
  expect(recorded(pending, first)).toBe("O012345678P9")
  expect(pending.acts.map((act) => act.id)).toEqual(["p"])
})

test("an act that another window sent in another form counts as it was recorded", () => {
  const pending = waiting(typed("p", [[0, 0, "long"]]), typed("q", [[4, 0, "!"]]))
  expect(shown(pending)).toBe("long!0123456789")
  const short = entry(3, "p", { type: "source_edited", cell: "a", base: 2, edit: [[0, 0, "lo"]] })
  expect(recorded(pending, short)).toBe("lo!0123456789")
})

test("what another window left stands behind what is here, and the same act once", () => {
  const pending = waiting(typed("p", [[0, 0, "mine "]]))
  pending.append(waiting(typed("p", [[0, 0, "mine "]]), typed("q", [[0, 0, "theirs "]])), "")
  expect(pending.acts.map((act) => act.id)).toEqual(["p", "q"])
  expect(shown(pending)).toBe("mine theirs 0123456789")
})

test("an act goes out when no other that changes its text is under way", () => {
  const other: Act = { ...typed("r", []), id: "r", parts: [{ id: "r", event: { type: "notebook_renamed", name: "x" } }] }
  const pending = waiting(typed("p", [[0, 0, "1"]]), other, typed("q", [[0, 0, "2"]]))
  const underWay = new Set<string>()
  const next = (): string | undefined => pending.next((act) => underWay.has(act.id))?.id
  expect(next()).toBe("p")
  underWay.add("p")
  expect(next()).toBe("r")
  underWay.add("r")
  expect(next()).toBeUndefined()
})
