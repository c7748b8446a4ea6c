import { expect, test } from "vitest"

import { emptyNotebook, liveCells } from "./notebook.ts"
import { Fold } from "./reduce.ts"
import { restoreAll, restoreCell, sinceThen } from "./restore.ts"
import type { CellChange, CellId, Entry, KnownEvent, Notebook } from "./types.gen.ts"

/** Numbers from a seed (mulberry32). */
function chance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

function entry(event: KnownEvent, seq: number): Entry {
  const stamp = { log: "n", seq, id: `e${seq}`, at: "2026-01-01T00:00:00Z", actor: "human:ada", prev: "", hash: "" }
  return { ...stamp, event }
}

function folded(events: readonly KnownEvent[], start: Notebook = emptyNotebook()): Notebook {
  const fold = new Fold(start)
  for (const event of events) fold.add(entry(event, fold.now.seq + 1))
  return fold.notebook()
}

function drawn(seed: number, length: number): KnownEvent[] {
  const draw = chance(seed)
  const events: KnownEvent[] = [{ type: "notebook_created", name: "n" }]
  for (let count = 0; count < length; count += 1) {
    const now = folded(events)
    const all = [...now.cells.keys()]
    const cells = liveCells(now)
    const cell = cells[draw(Math.max(1, cells.length))]
    const anchor: CellId | null = draw(3) === 0 ? null : (all[draw(Math.max(1, all.length))] ?? null)
    const gone = all.filter((id) => now.cells.get(id)?.removed)
    const kinds = ["code", "markdown", "sql"] as const
    const text = ["x", "y = 1\n", "é𝄞z", ""][draw(4)] ?? ""
    const choice = draw(9)
    if (!cell || choice < 2) {
      const id = gone.length && draw(2) ? (gone[0] ?? "c") : `c${count}`
      if (anchor !== id) events.push({ type: "cell_added", cell: id, after: anchor, kind: kinds[draw(3)] ?? "code", source: text })
    } else if (choice === 2) events.push({ type: "cell_removed", cell: cell.id })
    else if (choice === 3 && anchor !== cell.id) events.push({ type: "cell_moved", cell: cell.id, after: anchor })
    else if (choice === 4) events.push({ type: "cell_kind_changed", cell: cell.id, kind: kinds[draw(3)] ?? "code" })
    else if (choice === 5) events.push({ type: "cell_named", cell: cell.id, name: draw(2) ? `name${draw(3)}` : null })
    else if (choice === 6) events.push({ type: "cell_tagged", cell: cell.id, tags: draw(2) ? ["slow"] : [] })
    else if (choice === 7) events.push({ type: "cell_metadata_set", cell: cell.id, values: { [`k${draw(2)}`]: draw(3) }, removed: draw(2) ? ["k0"] : [] })
    else events.push({ type: "source_edited", cell: cell.id, base: now.seq, edit: [[0, draw(2) && cell.source.length ? 1 : 0, text]] })
  }
  return events
}

const shown = (notebook: Notebook) =>
  liveCells(notebook).map(({ id, kind, source, name, tags, metadata }) => ({ id, kind, source, name, tags, metadata }))

test("whatever was done since, restoring all cells folds to the cells of that moment", () => {
  for (let seed = 0; seed < 150; seed += 1) {
    const events = drawn(seed, 40)
    const at = 1 + (seed % events.length)
    const [then, now] = [folded(events.slice(0, at)), folded(events)]
    const back = restoreAll(now, then)
    expect(shown(folded(back, now)), `seed ${seed}`).toEqual(shown(then))
  }
})

test("restoring one cell changes that cell alone", () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const events = drawn(seed, 30)
    const [then, now] = [folded(events.slice(0, 15)), folded(events)]
    for (const { id } of liveCells(then)) {
      const back = restoreCell(now, then, id)
      const after = folded(back, now)
      const of = (notebook: Notebook) => shown(notebook).find((cell) => cell.id === id)
      expect(of(after)).toEqual(of(then))
      expect(shown(after).filter((cell) => cell.id !== id)).toEqual(shown(now).filter((cell) => cell.id !== id))
      const cell = after.cells.get(id)
      expect(cell && sinceThen(now, cell) === "same").toBe(back.length === 0)
    }
  }
})

test("a moment that is now needs no change, and one cell out of order is one move", () => {
  const added = ["a", "b", "c", "d"].map((cell, at, all): CellChange => ({ type: "cell_added", cell, after: all[at - 1] ?? null, kind: "code", source: cell }))
  const then = folded([{ type: "notebook_created", name: "n" }, ...added])
  expect(restoreAll(then, then)).toEqual([])
  const now = folded([{ type: "cell_moved", cell: "d", after: null }], then)
  expect(restoreAll(now, then)).toEqual([{ type: "cell_moved", cell: "d", after: "c" }])
})
