/** What a window shows and sends: at once, in words and not letters, and taken back with the reason. */

import { expect, test } from "vitest"

import { sourceHash } from "../core/hash.ts"
import { cellState } from "../core/notebook.ts"
import type { KnownEvent } from "../core/types.gen.ts"
import { Random } from "../../testing/random.ts"
import { StandInServer } from "../../testing/stand_in_server.ts"
import { TestWindow } from "../../testing/window.ts"
import type { Outcome } from "./live.ts"

function begun(): StandInServer {
  const server = new StandInServer()
  server.submit("human:eve", [
    { id: "begin", event: { type: "notebook_created", name: "n" } },
    { id: "begin-a", event: { type: "cell_added", cell: "a", after: null, source: "x = 1" } },
    { id: "begin-b", event: { type: "cell_added", cell: "b", after: "a", source: "y = 2" } },
  ])
  return server
}

function open(server: StandInServer, name = "human:ada"): TestWindow {
  return new TestWindow(name, server, new Random(1))
}

function edits(server: StandInServer): unknown[] {
  return server.log.flatMap(({ event }) => (event.type === "source_edited" ? [event.edit] : []))
}

test("somebody alone in a cell sends after a pause, or at the latest after two seconds", () => {
  const server = begun()
  const window = open(server)
  for (let letter = 0; letter < 30; letter += 1) {
    window.live.type("a", [[5 + letter, 0, "1"]])
    window.clock.advance(100)
    window.drain()
  }
  expect(edits(server)).toEqual([[[5, 0, "1".repeat(20)]]])
  window.clock.advance(300)
  window.drain()
  expect(edits(server)).toEqual([[[5, 0, "1".repeat(20)]], [[25, 0, "1".repeat(10)]]])
})

test("with somebody else in the cell it is sent within 50 ms", () => {
  const server = begun()
  const [ada, bob] = [open(server), open(server, "human:bob")]
  bob.live.type("a", [[0, 0, "#"]])
  bob.live.flush()
  bob.drain()
  ada.drain()
  ada.live.type("a", [[6, 0, "0"]])
  ada.clock.advance(49)
  ada.drain()
  expect(edits(server).length).toBe(1)
  ada.clock.advance(1)
  ada.drain()
  expect(edits(server)).toEqual([[[0, 0, "#"]], [[6, 0, "0"]]])
})

test("a run is requested of the text that was typed before it, and what is typed behind it waits", () => {
  const server = begun()
  const window = open(server)
  const run = (execution: string): KnownEvent => {
    const source_hash = sourceHash(window.live.store.cell("a")?.source ?? "")
    return { type: "execution_requested", execution, cell: "a", source_hash }
  }
  window.live.type("a", [[5, 0, "0"]])
  window.live.flush()
  window.live.type("a", [[6, 0, "0"]]) // while the first is under way
  window.live.act([run("x1")])
  window.live.type("a", [[7, 0, "0"]])
  expect(window.live.store.cell("a")?.source).toBe("x = 1000")
  window.live.flush()
  while (window.drain());
  const told = server.log.slice(3).map(({ event }) => event.type)
  expect(told).toEqual(["source_edited", "source_edited", "execution_requested", "source_edited"])
  expect(window.live.refusals.get()).toEqual([])
})

test("an act is shown at once, and its outcome told when the log has it", () => {
  const server = begun()
  const window = open(server)
  const outcomes: Outcome[] = []
  window.live.act([{ type: "cell_moved", cell: "b", after: null }], (outcome) => outcomes.push(outcome))
  expect(window.live.store.field("order")).toEqual(["b", "a"])
  expect(window.live.waiting.get()).toBe(1)
  while (window.drain());
  expect(outcomes).toEqual([{ kind: "recorded", proposed: false }])
  expect(window.live.waiting.get()).toBe(0)
})

test("a refused act is taken back with the reason, and what was typed meanwhile stays", () => {
  const server = begun()
  const [ada, bob] = [open(server), open(server, "human:bob")]
  bob.live.act([{ type: "source_edited", cell: "a", text: "x = 2" }])
  while (bob.drain());
  const outcomes: Outcome[] = []
  const base_hash = sourceHash("x = 1")
  ada.live.act([{ type: "cell_removed", cell: "a", base_hash }], (outcome) => outcomes.push(outcome))
  ada.live.type("b", [[5, 0, "0"]])
  expect(ada.live.store.cell("a")?.removed).toBe(true)
  ada.live.flush()
  while (ada.drain());
  expect(ada.live.store.cell("a")?.removed).toBe(false)
  expect(ada.live.store.cell("b")?.source).toBe("y = 20")
  expect(outcomes).toMatchObject([{ kind: "refused", fault: { kind: "Refused", message: "It moved on." } }])
  const [refusal] = ada.live.refusals.get()
  expect(refusal?.events).toMatchObject([{ type: "cell_removed", cell: "a" }])
  ada.live.dismiss(refusal?.id ?? "")
  expect(ada.live.refusals.get()).toEqual([])
})

test("text typed into a cell that somebody removed and added again is not lost", () => {
  const server = begun()
  const [ada, bob] = [open(server), open(server, "human:bob")]
  ada.live.type("a", [[5, 0, "0"]])
  ada.live.flush()
  bob.live.act([{ type: "cell_removed", cell: "a" }])
  bob.live.act([{ type: "cell_added", cell: "a", after: null, source: "# new\nx = 1" }])
  while (bob.drain());
  while (ada.drain());
  expect(ada.live.store.cell("a")?.source).toBe("# new\nx = 10")
  expect(server.notebook.cells.get("a")?.source).toBe("# new\nx = 10")
  expect(ada.live.refusals.get()).toEqual([])
})

test("what was typed on top of a refused edit stays where it was meant", () => {
  const server = begun()
  const window = open(server)
  // A split into a cell that is there: refused, with the edit that takes the tail away.
  window.live.act([
    { type: "source_edited", cell: "a", edit: [[1, 4, ""]] },
    { type: "cell_added", cell: "b", after: "a", source: " = 1" },
  ])
  window.live.type("a", [[1, 0, "yz"]])
  window.live.flush()
  window.live.type("a", [[0, 0, "# "]])
  expect(window.live.store.cell("a")?.source).toBe("# xyz")
  while (window.drain());
  window.live.flush()
  while (window.drain());
  expect(server.notebook.cells.get("a")?.source).toBe("# x = 1yz")
  expect(window.live.store.cell("a")?.source).toBe("# x = 1yz")
  expect(window.live.refusals.get().length).toBe(1)
})

test("of text that two type at one place, what was recorded first stands first, in both windows at once", () => {
  const server = begun()
  const [ada, bob] = [open(server), open(server, "human:bob")]
  ada.live.type("a", [[5, 0, "A"]])
  bob.live.type("a", [[5, 0, "B"]])
  bob.live.flush()
  bob.drain()
  ada.drain()
  expect(ada.live.store.cell("a")?.source).toBe("x = 1BA")
})

test("what becomes a proposal is no longer shown as done", () => {
  const server = begun()
  server.asking.add("agent:claude")
  const window = open(server, "agent:claude")
  const outcomes: Outcome[] = []
  window.live.act([{ type: "cell_named", cell: "a", name: "load" }], (outcome) => outcomes.push(outcome))
  window.live.type("a", [[0, 0, "# "]])
  while (window.drain());
  expect(outcomes).toEqual([{ kind: "recorded", proposed: true }])
  expect(window.live.store.cell("a")?.name).toBeNull()
  expect(window.live.store.field("proposals").size).toBe(1)
})

test("cells that nothing changed are the same objects, also those that wait", () => {
  const server = begun()
  const [ada, bob] = [open(server), open(server, "human:bob")]
  const called: string[] = []
  ada.live.store.subscribeCell("a", () => called.push("a"))
  ada.live.store.subscribeCell("b", () => called.push("b"))
  ada.live.store.subscribe("order", () => called.push("order"))
  ada.live.type("a", [[5, 0, "0"]])
  expect(called).toEqual(["a"])
  const [a, b] = [ada.live.store.cell("a"), ada.live.store.cell("b")]
  bob.live.act([{ type: "notebook_renamed", name: "other" }])
  while (bob.drain());
  while (ada.drain());
  expect(ada.live.store.field("name")).toBe("other")
  expect(ada.live.store.cell("a")).toBe(a)
  expect(ada.live.store.cell("b")).toBe(b)
  expect(called).toEqual(["a"])
  bob.live.act([{ type: "cell_named", cell: "b", name: "load" }])
  while (bob.drain());
  while (ada.drain());
  expect(called).toEqual(["a", "b"])
})

test("a requested run is shown as waiting before the server knows", () => {
  const window = open(begun())
  const cell = window.live.store.cell("a")
  window.live.act([
    { type: "execution_requested", execution: "x", cell: "a", source_hash: sourceHash(cell?.source ?? "") },
  ])
  const shown = window.live.store.cell("a")
  expect(shown && cellState(shown)).toBe("queued")
})

test("those who look at stale cells are called when there are others", () => {
  const server = begun()
  const window = open(server)
  const said: (readonly string[])[] = []
  window.live.store.stale()
  window.live.store.subscribe("stale", () => said.push([...window.live.store.stale()]))
  const source_hash = sourceHash("x = 1")
  const ran: KnownEvent[] = [
    { type: "execution_requested", execution: "x", cell: "a", source_hash },
    { type: "execution_claimed", execution: "x", runtime: "r", epoch: 1 },
    { type: "execution_started", execution: "x", cell: "a", source_hash, epoch: 1, uses: [], defines: ["x"] },
    { type: "execution_finished", execution: "x", epoch: 1, status: "ok" },
  ]
  server.submit("runtime:r", ran.map((event, index) => ({ id: `r${index}`, event })))
  while (window.drain());
  expect(said).toEqual([])
  window.clock.advance(100)
  expect(said).toEqual([])
  window.live.type("a", [[5, 0, "0"]])
  window.live.type("a", [[6, 0, "0"]])
  expect(said).toEqual([])
  window.clock.advance(100)
  expect(said).toEqual([["a"]])
  window.live.type("a", [[5, 2, ""]])
  window.clock.advance(100)
  expect(said).toEqual([["a"], []])
})
