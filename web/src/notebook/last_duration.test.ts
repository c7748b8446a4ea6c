import { expect, test } from "vitest"

import type { Entry, KnownEvent } from "../core/types.gen.ts"
import { lastDuration, LastDurations } from "./last_duration.ts"

function entry(seconds: number, event: KnownEvent): Entry {
  const at = new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()
  return { log: "n", seq: seconds + 1, id: String(seconds), at, actor: "runtime:r", event }
}

function started(seconds: number, execution: string): Entry {
  return entry(seconds, { type: "execution_started", execution, epoch: 1 } as KnownEvent)
}

function finished(seconds: number, execution: string): Entry {
  return entry(seconds, { type: "execution_finished", execution, epoch: 1, status: "ok" })
}

const RUNS = [started(0, "one"), finished(7, "one"), started(10, "two"), finished(52, "two"), started(60, "three")]

test("last time is the execution that ended before this one began", () => {
  expect(lastDuration(RUNS, "three")).toBe(42)
  expect(lastDuration(RUNS, "two")).toBe(7)
  expect(lastDuration(RUNS, "one")).toBeNull()
  expect(lastDuration([started(0, "one"), finished(90, "two")], "three")).toBeNull()
})

test("it is asked once for an execution, and again only when that failed", async () => {
  let requests = 0
  let isAway = true
  const durations = new LastDurations(() => {
    requests += 1
    return isAway ? Promise.reject(new Error("away")) : Promise.resolve(RUNS)
  })
  await durations.ask("c", "three")
  expect(durations.known.get().has("three")).toBe(false)
  isAway = false
  await Promise.all([durations.ask("c", "three"), durations.ask("c", "three")])
  await durations.ask("c", "three")
  expect(requests).toBe(2)
  expect(durations.known.get().get("three")).toBe(42)
})
