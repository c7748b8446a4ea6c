import { expect, test } from "vitest"
import { builtOn, withBases, withDependents } from "./proposal_preview.ts"
import { firstCell, proposalPlaces, waitingFor, whyNotAnswer } from "./proposals.ts"
import { fold } from "./reduce.ts"
import type { CellChange, Entry, KnownEvent, Notebook, RunCell } from "./types.gen.ts"

function notebook(changes: readonly CellChange[], effects: readonly RunCell[] = [], more: readonly KnownEvent[] = []): Notebook {
  const cells = ["a", "b", "c"].map((cell, place, all): KnownEvent => ({ type: "cell_added", cell, after: all[place - 1] ?? null, source: cell }))
  const events: readonly (readonly [actor: string, event: KnownEvent])[] = [
    ["human:ada", { type: "notebook_created", name: "n" }],
    ...cells.map((event) => ["human:ada", event] as const),
    ["agent:codex", { type: "proposal_made", proposal: "p", why: "", changes, effects }],
    ...more.map((event) => ["human:ada", event] as const),
  ]
  return fold(events.map(([actor, event], index): Entry => ({ log: "n", seq: index + 1, id: `e${index}`, at: "2026-03-02T09:00:00.000000Z", actor, event })))
}

const added = (cell: string, after: string | null): CellChange => ({ type: "cell_added", cell, after, source: "new" })
const edited = (cell: string): CellChange => ({ type: "source_edited", cell, base: 4, edit: [[0, 0, "x"]] })
const run = (cell: string): RunCell => ({ kind: "run_cell", execution: `x ${cell}`, cell, source_hash: "" })

test("new cells stand behind the cell that a person sees before them", () => {
  const now = notebook([added("m", "b"), added("n", "m"), added("o", null)], [], [{ type: "cell_removed", cell: "b" }])
  expect([...proposalPlaces(now).after]).toEqual(["a"])
  expect([...proposalPlaces(now).above]).toEqual([])
})

test("a cell has a difference where its text would change, and a line wherever it is named", () => {
  const now = notebook([edited("a"), { type: "cell_named", cell: "b", name: "load" }], [run("c")])
  const { above, source } = proposalPlaces(now)
  expect([...source]).toEqual(["a"])
  expect([...above]).toEqual(["a", "b", "c"])
  const proposal = now.proposals.get("p")
  expect(proposal && firstCell(now, proposal)).toBe("a")
})

test("what builds on a part is chosen with it", () => {
  const proposal = notebook([added("m", "a"), edited("m"), edited("b"), added("n", "m"), { type: "cell_named", cell: "m", name: "x" }], [run("m"), run("b"), run("c")]).proposals.get("p")
  if (!proposal) throw new Error("no proposal")
  const built = builtOn(proposal)
  expect(built).toEqual([[], [0], [], [0], [0], [0, 1], [2], []])
  expect([...withBases(built, [5])].sort()).toEqual([0, 1, 5])
  expect([...withDependents(built, [0])].sort()).toEqual([0, 1, 3, 4, 5])
})

test("only another human with the right answers", () => {
  const now = notebook([edited("a")])
  const proposal = now.proposals.get("p")
  if (!proposal) throw new Error("no proposal")
  expect(whyNotAnswer({ actor: "human:ada", scopes: ["read", "approve"] }, proposal)).toBe(null)
  expect(whyNotAnswer({ actor: "human:ada", scopes: ["read", "edit"] }, proposal)).toBe("no_right")
  expect(whyNotAnswer({ actor: "agent:codex", scopes: ["read"] }, proposal)).toBe("own")
  expect(whyNotAnswer({ actor: "agent:other", scopes: ["read"] }, proposal)).toBe("not_human")
  expect(waitingFor({ actor: "human:ada", scopes: ["approve"] }, now)).toBe(1)
  expect(waitingFor({ actor: "human:ada", scopes: ["read"] }, now)).toBe(0)
})
