/** A kernel that cannot answer yet is not asked in vain, and is asked again when it can. */

import { expect, test } from "vitest"

import { Random } from "../../testing/random.ts"
import { LOG, StandInServer } from "../../testing/stand_in_server.ts"
import { TestWindow } from "../../testing/window.ts"
import { sourceHash } from "../core/hash.ts"
import type { KnownEvent } from "../core/types.gen.ts"
import { Lanes } from "../sync/lanes.ts"
import { availability, KernelQuestions } from "./kernel_questions.ts"

const HASH = sourceHash("1")

class Desk {
  readonly #server = new StandInServer()
  readonly #window = new TestWindow("human:ada", this.#server, new Random(1))
  readonly lanes = new Lanes(LOG, { socket: this.#window.socket, clock: this.#window.clock, newId: () => "q" })
  readonly questions = new KernelQuestions({ live: this.#window.live, lanes: this.lanes, clock: this.#window.clock })
  #ids = 0

  constructor() {
    this.record({ type: "notebook_created", name: "n" }, { type: "cell_added", cell: "a", after: null, source: "1", name: "load" })
  }

  record(...events: KnownEvent[]): void {
    this.#server.submit("runtime:local", events.map((event) => ({ id: `e${(this.#ids += 1)}`, event })))
    while (this.#window.drain());
  }

  wait(): void {
    this.#window.clock.advance(10_000)
  }

  get available(): string {
    return availability(this.#window.live.store.get(), this.lanes.health.get()).kind
  }

  says(state: string): void {
    this.lanes.health.set(new Map([["r", { state }]]))
  }
}

const ASKED: KnownEvent = { type: "execution_requested", execution: "x", cell: "a", source_hash: HASH }
const ATTACHED: KnownEvent = { type: "runtime_attached", runtime: "r", language: "python" }
const CLAIMED: KnownEvent = { type: "execution_claimed", execution: "x", runtime: "r", epoch: 1 }
const STARTED: KnownEvent = { type: "execution_started", execution: "x", cell: "a", source_hash: HASH, epoch: 1 }
const FINISHED: KnownEvent = { type: "execution_finished", execution: "x", epoch: 1, status: "ok" }

test("without a kernel nothing is asked, and nothing is said", async () => {
  const desk = new Desk()
  expect(await desk.questions.complete("pri", 3)).toEqual({ kind: "none" })
  expect(await desk.questions.inspect("pri", 3, 0)).toBeNull()
  desk.record(ATTACHED)
  desk.says("dead")
  expect(await desk.questions.complete("pri", 3)).toEqual({ kind: "none" })
})

test("one that starts says so, and the question comes again once it runs no cell", async () => {
  const desk = new Desk()
  desk.record(ASKED)
  expect(await desk.questions.complete("pri", 3)).toEqual({
    kind: "busy",
    text: "The kernel is starting. It completes this when it is ready.",
  })
  let calls = 0
  desk.questions.whenReady(() => (calls += 1))
  desk.record(ATTACHED, CLAIMED, STARTED)
  expect(desk.available).toBe("running")
  desk.wait()
  expect(calls).toBe(0)
  desk.record(FINISHED)
  desk.says("starting")
  desk.wait()
  expect(calls).toBe(0)
  desk.says("idle")
  desk.wait()
  desk.wait()
  expect(calls).toBe(1)
})

test("a question that was given up is not asked again", () => {
  const desk = new Desk()
  desk.record(ATTACHED)
  let calls = 0
  const stop = desk.questions.whenReady(() => (calls += 1))
  stop()
  desk.says("idle")
  desk.wait()
  expect(calls).toBe(0)
})
