/** Whatever is acknowledged, refused, lost or recorded by others, in whichever order: all windows end as the log is. */

import { expect, test } from "vitest"

import { writeNotebook } from "../core/notebook.ts"
import { Random } from "../../testing/random.ts"
import { StandInServer } from "../../testing/stand_in_server.ts"
import { TestWindow } from "../../testing/window.ts"

const DRAWN = 10_000

function begin(server: StandInServer): void {
  server.submit("human:eve", [
    { id: "begin", event: { type: "notebook_created", name: "n" } },
    { id: "begin-a", event: { type: "cell_added", cell: "a", after: null, source: "x = 1\r\n🦊" } },
    { id: "begin-b", event: { type: "cell_added", cell: "b", after: "a" } },
  ])
}

function settle(windows: readonly TestWindow[]): void {
  for (let round = 0; round < 200; round += 1) {
    const isBusy = windows.map((window) => {
      window.live.flush()
      window.clock.advance(60_000)
      return window.drain() || window.live.isWaiting
    })
    if (!isBusy.includes(true)) return
  }
  throw new Error("It does not come to rest.")
}

function interleave(seed: number, count: number): [StandInServer, TestWindow[]] {
  const random = new Random(seed)
  const server = new StandInServer()
  begin(server)
  const names = ["human:ada", "human:bob", "agent:claude"].slice(0, count)
  if (random.chance(0.1)) server.asking.add("agent:claude")
  const windows = names.map((name) => new TestWindow(name, server, random))
  for (let step = random.integer(5, 30); step > 0; step -= 1) {
    const window = random.pick(windows)
    if (random.chance(0.35)) window.person.move()
    else window.step()
    const faults = window.person.faults()
    if (faults.length) throw new Error(`Seed ${seed}: what ${window.name} sees is otherwise: ${faults.join(", ")}`)
  }
  settle(windows)
  return [server, windows]
}

test("any interleaving ends in the state of the server, with nothing done twice and no editor behind", () => {
  for (let seed = 0; seed < DRAWN; seed += 1) {
    const [server, windows] = interleave(seed, 1 + (seed % 3))
    const ids = server.log.map((entry) => entry.id)
    if (new Set(ids).size !== ids.length) throw new Error(`Seed ${seed}: something was recorded twice.`)
    const truth = JSON.stringify(writeNotebook(server.notebook))
    for (const window of windows) {
      const where = `Seed ${seed}, ${window.name}`
      if (JSON.stringify(window.shown()) !== truth) expect(window.shown(), where).toEqual(writeNotebook(server.notebook))
      expect(window.person.faults(), where).toEqual([])
      expect(window.journal, where).toBeNull()
    }
  }
})

test("text typed in two windows ends the same in both and holds every letter, whatever the order", () => {
  for (let seed = 0; seed < 500; seed += 1) {
    const random = new Random(seed)
    const server = new StandInServer()
    begin(server)
    const windows = ["human:ada", "human:bob"].map((name) => new TestWindow(name, server, random))
    const typed: string[] = []
    for (let step = 0; step < 40; step += 1) {
      const window = random.pick(windows)
      if (random.chance(0.5)) {
        const mark = `${typed.length}🦊\r\n`
        typed.push(mark)
        const text = window.person.editors.get("a") ?? ""
        window.person.editors.set("a", mark + text)
        window.live.type("a", [[0, 0, mark]])
      } else window.step()
    }
    settle(windows)
    const [one, other] = windows.map((window) => window.live.store.cell("a")?.source)
    expect(one).toBe(other)
    for (const mark of typed) expect(one).toContain(mark)
    expect(windows.flatMap((window) => window.person.faults())).toEqual([])
  }
})
