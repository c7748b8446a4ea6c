/** What is typed is kept in the same turn, and what a window leaves is recorded once, by whoever comes next. */

import { describe, expect, test } from "vitest"

import { sourceHash } from "../core/hash.ts"
import { writeNotebook } from "../core/notebook.ts"
import { pointLength } from "../core/points.ts"
import { Browser } from "../../testing/browser.ts"
import type { Tab } from "../../testing/browser.ts"
import { FakeClock } from "../../testing/fake_clock.ts"
import { MemoryStorage } from "../../testing/memory_browser.ts"
import { Random } from "../../testing/random.ts"
import { LOG } from "../../testing/stand_in_server.ts"
import type { Journal } from "./live.ts"
import { HeartbeatLocks, WebLocks } from "./locks.ts"
import type { WindowLocks } from "./locks.ts"

test("each letter is in storage before the call returns, and gone once it is recorded", async () => {
  const browser = new Browser()
  const tab = await browser.open()
  expect([...browser.storage.items]).toEqual([])
  tab.notebook.live.type("a", [[5, 0, "0"]])
  expect([...browser.storage.items.values()].join()).toContain('[[5,0,"0"]]')
  tab.notebook.live.type("a", [[6, 0, "0"]])
  expect([...browser.storage.items.values()].join()).toContain('[[5,0,"00"]]')
  await tab.flush()
  expect(browser.server.notebook.cells.get("a")?.source).toBe("x = 100")
  expect([...browser.storage.items]).toEqual([])
})

test("what a killed window left is recorded once by the next, over what others did meanwhile", async () => {
  const browser = new Browser()
  const tab = await browser.open()
  tab.notebook.live.type("a", [[5, 0, "0🦊"]])
  tab.kill()
  browser.server.submit("human:bob", [
    { id: "bob", event: { type: "source_edited", cell: "a", base: 3, edit: [[0, 0, "# sum\r\n"]] } },
  ])
  const next = await browser.open()
  await next.flush()
  expect(next.text).toBe("# sum\r\nx = 10🦊")
  expect(browser.server.notebook.cells.get("a")?.source).toBe(next.text)
  expect([...browser.storage.items]).toEqual([])
  const edits = browser.server.log.filter((entry) => entry.event.type === "source_edited")
  expect(edits.length).toBe(2)
})

test("what was recorded although its answer was lost is not recorded again", async () => {
  const browser = new Browser()
  const tab = await browser.open()
  tab.notebook.live.type("a", [[5, 0, "0"]])
  tab.notebook.live.act([{ type: "cell_added", cell: "c", after: "b", source: "z" }])
  while (tab.line?.serve());
  expect(browser.server.log.length).toBe(5)
  tab.kill()
  const next = await browser.open()
  await next.flush()
  expect(browser.server.log.length).toBe(5)
  expect(next.text).toBe("x = 10")
  expect([...browser.storage.items]).toEqual([])
})

test("another window that has the notebook open takes over what a killed one left, beside its own", async () => {
  const browser = new Browser()
  const [tab, other] = [await browser.open(), await browser.open()]
  tab.disconnect()
  tab.notebook.live.type("a", [[0, 0, "one "]])
  other.notebook.live.type("a", [[5, 0, " two"]])
  other.disconnect()
  browser.clock.advance(60_000)
  await other.settle()
  tab.kill()
  other.disconnect()
  browser.clock.advance(60_000)
  await other.flush()
  expect(other.text).toBe("one x = 1 two")
  expect(browser.server.notebook.cells.get("a")?.source).toBe("one x = 1 two")
  expect([...browser.storage.items]).toEqual([])
})

test("a window that is alive keeps what it typed to itself", async () => {
  const browser = new Browser()
  const tab = await browser.open()
  tab.disconnect()
  tab.notebook.live.type("a", [[5, 0, "0"]])
  const other = await browser.open()
  await other.flush()
  expect(other.text).toBe("x = 1")
  expect(browser.server.log.length).toBe(3)
})

test("a notebook opens again without the server, with what was typed, and is sent once the server is back", async () => {
  const browser = new Browser()
  const tab = await browser.open()
  browser.server.submit("human:bob", [
    { id: "bob-1", event: { type: "source_edited", cell: "a", base: 3, edit: [[0, 0, "# 1\n"]] } },
  ])
  await tab.settle()
  browser.isAway = true
  tab.disconnect()
  tab.notebook.live.type("a", [[9, 0, "0"]])
  tab.kill()
  browser.server.submit("human:bob", [
    { id: "bob-2", event: { type: "source_edited", cell: "a", base: 4, edit: [[0, 0, "# 0\n"]] } },
    { id: "bob-3", event: { type: "source_edited", cell: "b", base: 4, edit: [[0, 0, "# b\n"]] } },
  ])

  const stored = await browser.open()
  expect(stored.notebook.state.get()).toEqual({ kind: "stored" })
  expect(stored.text).toBe("# 1\nx = 10")
  stored.notebook.live.type("a", [[10, 0, "0"]])
  stored.notebook.live.type("b", [[5, 0, "2"]])
  stored.notebook.live.act([{ type: "cell_added", cell: "c", after: "b", source: "new" }])
  expect(stored.text).toBe("# 1\nx = 100")

  browser.isAway = false
  browser.clock.advance(60_000)
  await stored.flush()
  expect(stored.notebook.state.get()).toEqual({ kind: "live" })
  expect(stored.text).toBe("# 0\n# 1\nx = 100")
  expect(stored.notebook.live.store.cell("b")?.source).toBe("# b\ny = 22")
  expect(writeNotebook(browser.server.notebook)).toEqual(writeNotebook(stored.notebook.live.store.get()))
  expect([...browser.storage.items]).toEqual([])
})

test("a storage that is full is said, and what was typed is sent all the same", async () => {
  const browser = new Browser()
  const tab = await browser.open()
  browser.storage.isFull = true
  tab.notebook.live.type("a", [[5, 0, "0"]])
  expect(tab.notebook.outbox.fault.get()).toContain("keeps no more")
  await tab.flush()
  expect(browser.server.notebook.cells.get("a")?.source).toBe("x = 10")
})

const FULL = "/data/quire.db: the disk is full. Nothing was recorded; make room and try again."

/** Type into the first cell and run it, then type on. */
function typeAndRun({ notebook: { live } }: Tab): void {
  live.type("a", [[5, 0, "0"]])
  live.act([{ type: "execution_requested", execution: "run", cell: "a", source_hash: sourceHash("x = 10") }])
  live.type("a", [[6, 0, "0"]])
  live.flush()
}

function recorded({ browser }: Tab): string[] {
  return browser.server.log.slice(3).map(({ event }) => event.type)
}

test("while nothing can be recorded all is kept, the reason is told, and it is sent again until it is recorded once", async () => {
  const browser = new Browser()
  const tab = await browser.open()
  browser.server.outage = FULL
  typeAndRun(tab)
  await tab.settle()
  const tries: number[] = []
  for (let second = 1; second <= 60; second += 1) {
    browser.clock.advance(1000)
    if (tab.line?.toServer.some(({ type }) => type === "submit")) tries.push(second)
    await tab.settle()
  }
  expect(tries).toEqual([1, 3, 7, 15, 25, 35, 45, 55])
  expect(tab.socket.unsaved.get()?.message).toBe(FULL)
  expect(tab.socket.isOpen).toBe(true)
  expect(tab.text).toBe("x = 100")
  expect(tab.notebook.live.refusals.get()).toEqual([])
  expect([...browser.storage.items.values()].join()).toContain("execution_requested")

  browser.server.outage = null
  browser.clock.advance(10_000)
  await tab.settle()
  expect(recorded(tab)).toEqual(["source_edited", "execution_requested", "source_edited"])
  expect(browser.server.notebook.cells.get("a")?.source).toBe("x = 100")
  expect(tab.socket.unsaved.get()).toBeNull()
  expect([...browser.storage.items]).toEqual([])
})

test("what was refused because the text before it could not be recorded is sent again behind that", async () => {
  const browser = new Browser()
  const tab = await browser.open()
  browser.server.outage = FULL
  typeAndRun(tab)
  tab.line?.serve()
  browser.server.outage = null // there is room again before the server comes to the run
  await tab.settle()
  expect(recorded(tab)).toEqual([])
  browser.clock.advance(1000)
  await tab.settle()
  expect(recorded(tab)).toEqual(["source_edited", "execution_requested", "source_edited"])
  expect(tab.notebook.live.refusals.get()).toEqual([])
})

test("an outage that a window sees no end of is over when what it did comes from the log, or when it is left", async () => {
  const browser = new Browser()
  const [tab, other] = [await browser.open(), await browser.open()]
  browser.server.outage = FULL
  for (const { notebook } of [tab, other]) notebook.live.type("a", [[5, 0, "0"]])
  await Promise.all([tab.flush(), other.flush()])
  browser.server.outage = null
  const kept = JSON.parse(browser.storage.items.get(`quire:outbox:${LOG}:human:ada:${tab.name}`) ?? "") as Journal
  browser.server.submit("human:ada", kept.pending.acts[0]?.sent ?? []) // the commit whose answer was lost
  await tab.settle()
  expect(tab.socket.unsaved.get()).toBeNull()
  expect(other.socket.unsaved.get()).not.toBeNull()
  other.kill()
  expect(other.socket.unsaved.get()).toBeNull()
})

test("a notebook opens from what this browser saw while the server cannot read it, and the reason is told until it can", async () => {
  const browser = new Browser()
  const tab = await browser.open()
  tab.kill()
  browser.outage = "postgresql://there/quire: the connection was lost. Try again."
  const next = await browser.open()
  expect(next.notebook.state.get()).toEqual({ kind: "stored" })
  expect(next.socket.unsaved.get()?.message).toBe(browser.outage)
  next.notebook.live.type("a", [[5, 0, "0"]])
  browser.outage = null
  browser.clock.advance(2000)
  await next.flush()
  expect(next.notebook.state.get()).toEqual({ kind: "live" })
  expect(next.socket.unsaved.get()).toBeNull()
  expect(browser.server.notebook.cells.get("a")?.source).toBe("x = 10")
})

test("whatever windows type, lose, leave and take over: every word is recorded once", async () => {
  for (let seed = 0; seed < 150; seed += 1) {
    const random = new Random(seed)
    const browser = new Browser()
    let tabs: Tab[] = [await browser.open(), await browser.open()]
    const words: string[] = []
    for (let step = random.integer(5, 25); step > 0; step -= 1) {
      const tab = random.pick(tabs)
      const happen = random.pick<() => Promise<void> | void>([
        () => type(tab, words, random),
        () => type(tab, words, random),
        () => type(tab, words, random),
        () => tab.settle(),
        () => tab.notebook.live.flush(),
        () => tab.disconnect(),
        () => browser.clock.advance(random.pick([100, 1000, 40_000])),
        () => void (browser.isAway = random.chance(0.3)),
        async () => {
          tab.kill()
          tabs = [...tabs.filter((each) => each !== tab), await browser.open()]
        },
      ])
      await happen()
    }
    browser.isAway = false
    for (let round = 0; round < 5; round += 1) {
      browser.clock.advance(60_000)
      for (const tab of tabs) await tab.flush()
    }
    const text = browser.server.notebook.cells.get("a")?.source ?? ""
    for (const word of words) expect(text.split(word).length, `seed ${seed}: ${word} in ${text}`).toBe(2)
    expect(tabs.map((tab) => tab.text), `seed ${seed}`).toEqual(tabs.map(() => text))
    expect([...browser.storage.items], `seed ${seed}`).toEqual([])
  }
})

/** Type a word that nobody else types, at the beginning or the end, where it parts no other. */
function type(tab: Tab, words: string[], random: Random): void {
  const word = `<${words.length}🦊>`
  words.push(word)
  tab.notebook.live.type("a", [[random.chance(0.5) ? 0 : pointLength(tab.text ?? ""), 0, word]])
}

test("a page that is older than the server stops, and keeps what was typed for the next", async () => {
  const browser = new Browser()
  const tab = await browser.open()
  browser.server.reducer = 1_000_000
  tab.disconnect()
  tab.notebook.live.type("a", [[5, 0, "0"]])
  browser.clock.advance(60_000)
  await tab.flush()
  expect(tab.notebook.state.get()).toEqual({ kind: "outdated" })
  expect(browser.server.log.length).toBe(3)
  expect([...browser.storage.items.values()].join()).toContain('[[5,0,"0"]]')
})

test("a snapshot of another version of the reducer is of no use", async () => {
  const browser = new Browser()
  const tab = await browser.open()
  const snapshot = await browser.snapshots.read(LOG)
  tab.kill()
  if (snapshot) await browser.snapshots.write(LOG, { ...snapshot, reducer: 0 })
  browser.isAway = true
  await expect(browser.open()).rejects.toThrow("The server does not answer.")
})

describe("a window is gone when it no longer holds its lock", () => {
  const clock = new FakeClock()
  const kinds: [string, WindowLocks, () => Promise<void>][] = [
    ["Web Locks", new WebLocks(navigator.locks), () => new Promise((resolve) => setImmediate(resolve))],
    [
      "heartbeats",
      new HeartbeatLocks(new MemoryStorage(), clock),
      () => {
        clock.advance(30_000)
        return new Promise((resolve) => setImmediate(resolve))
      },
    ],
  ]
  test.each(kinds)("%s", async (_, locks, pass) => {
    const done: string[] = []
    const release = locks.hold("one")
    await pass()
    const stop = locks.whenGone("one", () => Promise.resolve(void done.push("stopped")))
    stop()
    locks.whenGone("one", () => Promise.resolve(void done.push("taken over")))
    await pass()
    expect(done).toEqual([])
    release()
    for (let round = 0; round < 10; round += 1) await pass()
    expect(done).toEqual(["taken over"])
    locks.whenGone("never there", () => Promise.resolve(void done.push("at once")))
    for (let round = 0; round < 10; round += 1) await pass()
    expect(done).toEqual(["taken over", "at once"])
  })
})
