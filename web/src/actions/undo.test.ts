/** Undo: one's own acts on cells, several deep, and never what others did. */

import { expect, test } from "vitest"

import { Random } from "../../testing/random.ts"
import { StandInServer } from "../../testing/stand_in_server.ts"
import { TestWindow } from "../../testing/window.ts"
import { liveCells } from "../core/notebook.ts"
import type { CellChange } from "../core/types.gen.ts"
import { additions, attachmentsOf, copied, folding, isFolded, kinds, merge, movements, placements, removals, split, withAttachments } from "./cell_edits.ts"
import { History } from "./history.ts"

function begun(): StandInServer {
  const server = new StandInServer()
  const added = ["a", "b", "c", "d"].map((cell, index, all) => ({
    id: cell,
    event: { type: "cell_added" as const, cell, after: all[index - 1] ?? null, source: `${cell} = 1` },
  }))
  server.submit("human:eve", [{ id: "begin", event: { type: "notebook_created", name: "n" } }, ...added])
  return server
}

class Desk {
  readonly server = begun()
  readonly ada = new TestWindow("human:ada", this.server, new Random(1))
  readonly eve = new TestWindow("human:eve", this.server, new Random(2))
  readonly history = new History(this.ada.live, { actor: "human:ada" })

  constructor() {
    this.settle()
  }

  settle(): void {
    for (let round = 0; round < 5; round += 1) {
      for (const window of [this.ada, this.eve]) {
        window.clock.advance(3000)
        window.drain()
      }
    }
  }

  do(events: readonly CellChange[]): void {
    this.history.do("did", events)
    this.settle()
  }

  undo(): string {
    const { kind } = this.history.undo()
    this.settle()
    return kind
  }

  eveDoes(...events: CellChange[]): void {
    this.eve.live.act(events)
    this.settle()
  }

  get shown(): string[] {
    return liveCells(this.ada.live.store.get()).map(({ id, source }) => `${id}: ${source}`)
  }

  cell(id: string) {
    const cell = this.ada.live.store.cell(id)
    if (!cell) throw new Error(`There is no cell ${id}.`)
    return cell
  }
}

const START = ["a: a = 1", "b: b = 1", "c: c = 1", "d: d = 1"]

test("each act goes back to what was before, several deep, and forth again", () => {
  const desk = new Desk()
  const states = [desk.shown]
  const acts: (() => readonly CellChange[])[] = [
    () => removals(["b", "c"]),
    () => movements(["a", "d"], ["d"], -1),
    () => additions(desk.ada.live.store.get(), [copied(desk.cell("a")), copied(desk.cell("d"))], "a", (taken) => `n${[...taken].length}`),
    () => merge([desk.cell("d"), desk.cell("a")]),
  ]
  for (const act of acts) {
    desk.do(act())
    states.push(desk.shown)
  }
  for (const state of states.slice(0, -1).reverse()) {
    expect(desk.undo()).toBe("undone")
    expect(desk.shown).toEqual(state)
  }
  expect(desk.undo()).toBe("nothing")
  for (const state of states.slice(1)) {
    desk.history.redo()
    desk.settle()
    expect(desk.shown).toEqual(state)
  }
  expect(desk.history.canRedo).toBe(false)
})

test("a removed cell comes back with its id, and with what somebody typed into it meanwhile", () => {
  const desk = new Desk()
  desk.do(removals(["b"]))
  desk.eve.live.type("b", [[5, 0, "0"]])
  desk.settle()
  desk.undo()
  expect(desk.shown).toEqual(["a: a = 1", "b: b = 10", "c: c = 1", "d: d = 1"])
})

test("a split is taken back with what was typed into both halves since", () => {
  const desk = new Desk()
  desk.do([{ type: "source_edited", cell: "a", edit: [[0, 5, "one\ntwo"]] }])
  const { events, backs } = split(desk.cell("a"), 4, "n")
  desk.history.do("split", events, { backs })
  desk.settle()
  expect(desk.shown.slice(0, 2)).toEqual(["a: one", "n: two"])
  desk.eve.live.type("n", [[3, 0, "!"]])
  desk.eve.live.type("a", [[0, 0, ">"]])
  desk.settle()
  expect(desk.undo()).toBe("undone")
  expect(desk.shown[0]).toBe("a: >one\ntwo!")
  expect(desk.shown).toHaveLength(4)
})

test("a merge is taken back around what others typed, and the cells come back", () => {
  const desk = new Desk()
  desk.do(merge([desk.cell("a"), desk.cell("b"), desk.cell("c")]))
  expect(desk.shown).toEqual(["a: a = 1\n\nb = 1\n\nc = 1", "d: d = 1"])
  desk.eve.live.type("a", [[0, 0, "# eve\n"]])
  desk.settle()
  desk.undo()
  expect(desk.shown).toEqual(["a: # eve\na = 1", ...START.slice(1)])
})

test("what others wrote or chose since is not taken back", () => {
  const desk = new Desk()
  desk.do(additions(desk.ada.live.store.get(), [copied(desk.cell("a"))], "d", () => "n"))
  desk.eve.live.type("n", [[0, 0, "eve "]])
  desk.settle()
  expect(desk.undo()).toBe("moved_on")
  desk.do(kinds([desk.cell("a")], "markdown"))
  desk.eveDoes({ type: "cell_kind_changed", cell: "a", kind: "sql" })
  expect(desk.undo()).toBe("moved_on")
  desk.do([{ type: "cell_named", cell: "a", name: "mine" }])
  desk.eveDoes({ type: "cell_named", cell: "a", name: "hers" })
  expect(desk.undo()).toBe("moved_on")
  expect(desk.cell("a").name).toBe("hers")
})

test("kind, name, tags and folding go back; keys of others' stay", () => {
  const desk = new Desk()
  const before = desk.cell("a")
  desk.do(kinds([desk.cell("a")], "markdown"))
  desk.do([{ type: "cell_named", cell: "a", name: "load" }])
  desk.do([{ type: "cell_tagged", cell: "a", tags: ["x"] }])
  desk.do([folding(desk.cell("a"), "outputs", true)])
  expect(isFolded(desk.cell("a"), "outputs")).toBe(true)
  desk.eveDoes({ type: "cell_metadata_set", cell: "a", values: { theirs: 1 } })
  for (let times = 0; times < 4; times += 1) expect(desk.undo()).toBe("undone")
  const { kind, name, tags, metadata } = desk.cell("a")
  expect({ kind, name, tags, metadata }).toEqual({ kind: before.kind, name: null, tags: [], metadata: { theirs: 1 } })
})

test("an act that was refused is not there to be taken back", () => {
  const desk = new Desk()
  const reasons: string[] = []
  desk.eve.live.act(removals(["a"]))
  desk.history.do("merged", merge([desk.cell("a"), desk.cell("b")]).map((event) => ({ ...event, ...("base_hash" in event ? { base_hash: "0".repeat(64) } : {}) })), {
    refused: ({ message }) => reasons.push(message),
  })
  desk.settle()
  expect(desk.history.canUndo).toBe(false)
  expect(reasons).toHaveLength(1)
})

test("a text that was replaced or restored goes back around what others typed into it since", () => {
  const desk = new Desk()
  const replaced: CellChange[] = ["a", "b"].map((cell) => ({ type: "source_edited", cell, edit: [[0, 1, "long"]] }))
  desk.do(replaced)
  expect(desk.shown.slice(0, 2)).toEqual(["a: long = 1", "b: long = 1"])
  desk.eve.live.type("a", [[8, 0, "0"]])
  desk.settle()
  expect(desk.undo()).toBe("undone")
  expect(desk.shown.slice(0, 2)).toEqual(["a: a = 10", "b: b = 1"])
  desk.history.redo()
  desk.settle()
  expect(desk.shown.slice(0, 2)).toEqual(["a: long = 10", "b: long = 1"])

  desk.do([{ type: "source_edited", cell: "c", text: "c = 2\nold" }])
  desk.eve.live.type("c", [[9, 0, "\n# eve"]])
  desk.settle()
  expect(desk.undo()).toBe("undone")
  expect(desk.cell("c").source).toBe("c = 1\n# eve")
})

test("where somebody else overwrote what was replaced, it stays as they wrote it", () => {
  const desk = new Desk()
  desk.do([{ type: "source_edited", cell: "a", text: "top = top + top" }])
  desk.do([{ type: "source_edited", cell: "a", edit: [[0, 3, "most"], [6, 3, "most"], [12, 3, "most"]] }])
  desk.eve.live.type("a", [[7, 4, "hers"]])
  desk.eve.live.type("a", [[0, 0, "# "], [18, 0, " #"]])
  desk.settle()
  expect(desk.cell("a").source).toBe("# most = hers + most #")
  expect(desk.undo()).toBe("undone")
  expect(desk.cell("a").source).toBe("# top = hers + top #")
  desk.do([{ type: "source_edited", cell: "b", edit: [[0, 1, "c"]] }])
  desk.eve.live.type("b", [[0, 1, "d"]])
  desk.settle()
  expect(desk.undo()).toBe("moved_on")
  expect(desk.cell("b").source).toBe("d = 1")
})

test.each(Array.from({ length: 40 }, (_, seed) => seed))("whatever somebody else types meanwhile stays: seed %i", (seed) => {
  const desk = new Desk()
  const random = new Random(seed)
  desk.do([{ type: "source_edited", cell: "a", text: "x y x y x y x" }])
  desk.do([{ type: "source_edited", cell: "a", edit: [0, 4, 8, 12].map((at) => [at, 1, "z".repeat(random.integer(1, 3))] as const) }])
  const hers = "ABCDEFGH"
  for (const letter of hers) {
    desk.eve.live.type("a", [[random.integer(0, desk.eve.live.store.cell("a")?.source.length ?? 0), 0, letter]])
    if (random.chance(0.5)) desk.settle()
    if (letter === "D") desk.undo()
  }
  desk.settle()
  const lower = desk.cell("a").source.replace(/[A-Z]/g, "")
  expect(lower).toBe("x y x y x y x")
  expect([...desk.cell("a").source.matchAll(/[A-Z]/g)].map(([letter]) => letter).sort().join("")).toBe(hers)
  expect(desk.history.redo().kind).toBe("undone")
  desk.settle()
  expect([...desk.cell("a").source.matchAll(/[A-Z]/g)]).toHaveLength(hers.length)
})

test("one act is taken back by itself, once, whatever was done after it", () => {
  const desk = new Desk()
  const removal = desk.history.do("removed", removals(["b"])) ?? undefined
  desk.do([{ type: "source_edited", cell: "a", edit: [[0, 1, "x"]] }])
  expect(desk.history.undo(removal).kind).toBe("undone")
  desk.settle()
  expect(desk.shown).toEqual(["a: x = 1", ...START.slice(1)])
  expect(desk.history.undo(removal).kind).toBe("nothing")
  expect(desk.undo()).toBe("undone")
  expect(desk.shown).toEqual(START)
  expect(desk.undo()).toBe("nothing")
})

test("several cells move as one, to the ends and no further", () => {
  const order = ["a", "b", "c", "d"]
  expect(movements(order, ["b", "c"], -1)).toEqual([{ type: "cell_moved", cell: "a", after: "c" }])
  expect(movements(order, ["b", "c"], 1)).toEqual([{ type: "cell_moved", cell: "d", after: "a" }])
  expect(movements(order, ["a", "b"], -1)).toEqual([])
  expect(movements(order, ["d"], 1)).toEqual([])
  expect(placements(["c", "d"], "a")).toEqual([
    { type: "cell_moved", cell: "c", after: "a" },
    { type: "cell_moved", cell: "d", after: "c" },
  ])
})

test("attachments are kept beside the text, and merged cells keep those of all", () => {
  const desk = new Desk()
  desk.do([withAttachments(desk.cell("a"), { "a.png": { "image/png": "AA==" } }), withAttachments(desk.cell("b"), { "b.png": { "image/png": "BB==" } })])
  desk.do(merge([desk.cell("a"), desk.cell("b")]))
  expect(Object.keys(attachmentsOf(desk.cell("a"))).sort()).toEqual(["a.png", "b.png"])
})

// ---- Answers to proposals

/** Record changes as if somebody accepted them, with a text of Eve's right behind them, and let Ada undo it. */
function accepted(desk: Desk, changes: readonly CellChange[], then: readonly CellChange[] = []): void {
  const before = desk.ada.live.confirmed
  desk.ada.live.act(changes)
  desk.settle()
  if (then.length) desk.eveDoes(...then)
  const since = then.flatMap((change) => (change.type === "source_edited" ? [[change.cell, change.edit ?? []] as const] : []))
  desk.history.add({ title: "Accepted a proposal", before, changes, since })
}

test("an accepted proposal is taken back as one act, around what others typed before and after it was noted", () => {
  const desk = new Desk()
  accepted(
    desk,
    [
      { type: "source_edited", cell: "a", edit: [[4, 1, "22"]] },
      { type: "cell_added", cell: "n", after: "a", source: "new" },
      { type: "cell_removed", cell: "c" },
      { type: "cell_named", cell: "b", name: "load" },
    ],
    [{ type: "source_edited", cell: "a", edit: [[0, 0, "# eve\n"]] }],
  )
  desk.eveDoes({ type: "source_edited", cell: "a", edit: [[12, 0, "  # and more"]] })
  expect(desk.shown).toEqual(["a: # eve\na = 22  # and more", "n: new", "b: b = 1", "d: d = 1"])
  const submissions = desk.server.log.length
  expect(desk.undo()).toBe("undone")
  expect(desk.shown).toEqual(["a: # eve\na = 1  # and more", "b: b = 1", "c: c = 1", "d: d = 1"])
  expect(desk.ada.live.store.cell("b")?.name).toBe(null)
  expect(desk.server.log.slice(submissions).every(({ event }) => !event.type.startsWith("proposal_"))).toBe(true)
})

test("a cell that an accepted proposal added stays once somebody else wrote in it", () => {
  const desk = new Desk()
  accepted(desk, [{ type: "cell_added", cell: "n", after: "a", source: "new" }])
  desk.eveDoes({ type: "source_edited", cell: "n", edit: [[3, 0, "er"]] })
  expect(desk.undo()).toBe("moved_on")
  expect(desk.shown).toContain("n: newer")
})
