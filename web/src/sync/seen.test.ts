import { expect, test } from "vitest"
import { FakeClock } from "../../testing/fake_clock.ts"
import type { Notebook } from "../core/types.gen.ts"
import type { SeenFound, Since } from "./api_activity.ts"
import type { Live } from "./live.ts"
import { LOOK_MILLISECONDS, MARK_MILLISECONDS, SeenTracker } from "./seen.ts"
import { Value } from "./store.ts"

const at = "2026-01-01T00:00:00.000000Z"

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

/** A window on a notebook that others work in, and the server behind it. */
class Page {
  readonly clock = new FakeClock()
  readonly attention = new Value(true)
  readonly seq: Value<number>
  readonly marks: (readonly [seq: number, isLast: boolean])[] = []
  readonly asked: number[] = []
  /** The numbers of what others recorded. */
  readonly others: number[]
  readonly tracker: SeenTracker
  kept: SeenFound
  isAway = false

  constructor({ head, kept, others = [] }: { readonly head: number; readonly kept?: number; readonly others?: number[] }) {
    this.seq = new Value(head)
    this.others = others
    this.kept = kept === undefined ? { seq: 0, at: null } : { seq: kept, at }
    const seq = this.seq
    const live = {
      get seq(): number {
        return seq.get()
      },
      store: { subscribe: (_: string, listener: () => void) => seq.subscribe(listener) },
    }
    this.tracker = new SeenTracker(live as unknown as Live)
  }

  async open(): Promise<() => void> {
    const stop = this.tracker.start({
      clock: this.clock,
      attention: this.attention,
      seen: () => (this.isAway ? Promise.reject(new Error("away")) : Promise.resolve(this.kept)),
      mark: (seq, isLast) => {
        this.marks.push([seq, isLast])
        return Promise.resolve()
      },
      since: (seq) => Promise.resolve(this.#since(seq)),
      notebook: () => Promise.resolve({} as Notebook),
      now: () => at,
    })
    await settled()
    return stop
  }

  #since(seq: number): Since {
    this.asked.push(seq)
    const fresh = this.others.filter((number) => number > seq)
    const actors = fresh.length ? [{ actor: "agent:codex", changed: fresh.length, at }] : []
    const cells = fresh.map((number) => ({ cell: `cell${number}`, did: ["changed"] as const, by: ["agent:codex"], at }))
    return { seq, head: this.seq.get(), actors, cells, partial: false }
  }

  /** Somebody else records something. */
  async other(): Promise<void> {
    this.others.push(this.seq.get() + 1)
    this.seq.set(this.seq.get() + 1)
    await settled()
  }

  async wait(milliseconds: number): Promise<void> {
    this.clock.advance(milliseconds)
    await settled()
  }

  async leave(): Promise<void> {
    this.attention.set(false)
    await settled()
  }

  async return(): Promise<void> {
    this.attention.set(true)
    await settled()
  }

  get told(): readonly string[] | null {
    return this.tracker.news.get() && [...this.tracker.marked.get()]
  }
}

test("a first visit tells of nothing, and after some seconds the head is seen", async () => {
  const page = new Page({ head: 7, others: [1, 2, 3] })
  await page.open()
  expect(page.told).toBeNull()
  expect(page.marks).toEqual([])
  await page.wait(LOOK_MILLISECONDS)
  expect(page.marks).toEqual([[7, false]])
})

test("what others did since is told of, and stays until it is dismissed", async () => {
  const page = new Page({ head: 9, kept: 5, others: [6, 8] })
  await page.open()
  expect(page.told).toEqual(["cell6", "cell8"])
  await page.wait(LOOK_MILLISECONDS)
  expect(page.marks).toEqual([[9, false]])
  expect(page.told).toEqual(["cell6", "cell8"])
  page.tracker.dismiss()
  expect(page.told).toBeNull()
})

test("where only oneself changed something, there is no line", async () => {
  const page = new Page({ head: 9, kept: 5 })
  await page.open()
  expect(page.asked).toEqual([5])
  expect(page.told).toBeNull()
})

test("a page that is left before some seconds have passed has seen nothing", async () => {
  const page = new Page({ head: 9, kept: 5, others: [6] })
  const stop = await page.open()
  await page.wait(LOOK_MILLISECONDS - 1)
  await page.leave()
  await page.wait(60_000)
  stop()
  expect(page.marks).toEqual([])
})

test("what comes while the page is looked at is seen, with one request for many changes", async () => {
  const page = new Page({ head: 5, kept: 5 })
  await page.open()
  await page.wait(LOOK_MILLISECONDS)
  for (let times = 0; times < 4; times += 1) {
    await page.other()
    await page.wait(MARK_MILLISECONDS / 4)
  }
  expect(page.marks).toEqual([
    [5, false],
    [9, false],
  ])
  expect(page.told).toBeNull()
})

test("what comes while the page is not looked at is told of on return", async () => {
  const page = new Page({ head: 5, kept: 5 })
  await page.open()
  await page.wait(LOOK_MILLISECONDS)
  await page.leave()
  expect(page.marks.at(-1)).toEqual([5, true])
  await page.other()
  await page.other()
  await page.wait(60_000)
  expect(page.marks.at(-1)).toEqual([5, true])
  await page.return()
  expect(page.told).toEqual(["cell6", "cell7"])
  expect(page.tracker.news.get()?.isAway).toBe(true)
  await page.wait(LOOK_MILLISECONDS)
  expect(page.marks.at(-1)).toEqual([7, false])
})

test("what was not dismissed and what came since are told of together", async () => {
  const page = new Page({ head: 6, kept: 5, others: [6] })
  await page.open()
  await page.wait(LOOK_MILLISECONDS)
  await page.leave()
  await page.other()
  await page.return()
  expect(page.told).toEqual(["cell6", "cell7"])
  expect(page.tracker.news.get()?.isAway).toBe(false)
})

test("a page that was opened in the background tells of all that is new when it is looked at", async () => {
  const page = new Page({ head: 6, kept: 5, others: [6] })
  page.attention.set(false)
  await page.open()
  await page.wait(60_000)
  await page.other()
  await page.return()
  expect(page.told).toEqual(["cell6", "cell7"])
  expect(page.marks).toEqual([])
})

test("as long as the server did not say what was seen, nothing is taken for seen", async () => {
  const page = new Page({ head: 9, kept: 5, others: [6] })
  page.isAway = true
  await page.open()
  await page.wait(LOOK_MILLISECONDS)
  expect(page.marks).toEqual([])
  page.isAway = false
  await page.leave()
  await page.return()
  expect(page.told).toEqual(["cell6"])
})

test("closing the notebook while it is looked at tells the server once more", async () => {
  const page = new Page({ head: 5, kept: 5 })
  const stop = await page.open()
  await page.wait(LOOK_MILLISECONDS)
  await page.other()
  stop()
  expect(page.marks).toEqual([
    [5, false],
    [6, true],
  ])
})
