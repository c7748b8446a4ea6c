/** How many events a second the fold takes: `node web/tools/bench_fold.ts`. */

import { performance } from "node:perf_hooks"

import { fold } from "../src/core/reduce.ts"
import type { Entry, KnownEvent } from "../src/core/types.gen.ts"

const CELLS = 1000

function log(count: number, event: (index: number) => KnownEvent): Entry[] {
  const entries: Entry[] = []
  const add = (made: KnownEvent): void => {
    const seq = entries.length + 1
    entries.push({ log: "bench", seq, id: `e${seq}`, at: "2026-01-01T00:00:00.000000Z", actor: "human:ada", event: made })
  }
  add({ type: "notebook_created", name: "bench" })
  for (let cell = 0; cell < CELLS; cell += 1) {
    add({ type: "cell_added", cell: `c${cell}`, after: cell ? `c${cell - 1}` : null, source: "x = 1\n".repeat(6) })
  }
  add({ type: "execution_requested", execution: "x", cell: "c0", source_hash: "h" })
  add({ type: "execution_claimed", execution: "x", runtime: "r", epoch: 1 })
  add({ type: "execution_started", execution: "x", cell: "c0", source_hash: "h", epoch: 1 })
  for (let index = 0; index < count; index += 1) add(event(index))
  return entries
}

const LINE = "epoch 1: loss 0.123456 accuracy 0.98\n"
const LOGS: Record<string, Entry[]> = {
  "typed text": log(200_000, (index) => ({
    type: "source_edited",
    cell: `c${index % CELLS}`,
    base: 1,
    edit: [[index % 30, index % 2, "y"]],
  })),
  "stream lines": log(100_000, (index) => ({
    type: "stream_appended",
    execution: "x",
    epoch: 1,
    chunk: index,
    name: "stdout",
    offset: index * LINE.length,
    text: LINE,
  })),
  "cells named": log(200_000, (index) => ({ type: "cell_named", cell: `c${index % CELLS}`, name: `n${index}` })),
}

for (const [name, entries] of Object.entries(LOGS)) {
  const times = [0, 1, 2].map(() => {
    const begun = performance.now()
    fold(entries)
    return performance.now() - begun
  })
  const best = Math.min(...times)
  console.log(`${name.padEnd(14)} ${Math.round(entries.length / best)} thousand events/s`)
}
