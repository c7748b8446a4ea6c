import { expect, test } from "vitest"

import type { Entry, KnownEvent } from "../core/types.gen.ts"
import { nextAct, previousAct } from "./acts.ts"
import { askedMoment, momentTime } from "./moment_number.ts"

function entry(seq: number, actor: string, second: number, event: Partial<Record<string, unknown>>): Entry {
  const at = new Date(Date.UTC(2026, 0, 1, 0, 0, 0) + second * 1000).toISOString()
  return { log: "n", seq, id: `e${seq}`, at, actor, event: event as unknown as KnownEvent }
}

const LOG = [
  entry(1, "human:ada", 0, { type: "notebook_created", name: "n" }),
  entry(2, "human:ada", 0, { type: "cell_added", cell: "a" }),
  entry(3, "human:ada", 0, { type: "cell_added", cell: "b" }),
  entry(4, "human:ada", 20, { type: "source_edited", cell: "a" }),
  entry(5, "human:ada", 21, { type: "source_edited", cell: "a" }),
  entry(6, "human:ada", 22, { type: "source_edited", cell: "b" }),
  entry(7, "runtime:r", 23, { type: "execution_started", execution: "x" }),
  entry(8, "runtime:r", 24, { type: "stream_appended", execution: "x" }),
  entry(9, "runtime:r", 60, { type: "execution_finished", execution: "x" }),
]
const read = (since: number, until: number) => Promise.resolve(LOG.filter(({ seq }) => seq > since && seq <= until))

test("one goes forward and back by what was done, to the end of each act", async () => {
  const forward: number[] = []
  for (let seq = 0; seq < 9; ) forward.push((seq = await nextAct(read, seq, 9)))
  expect(forward).toEqual([3, 5, 6, 8, 9])
  const back: number[] = []
  for (let seq = 9; seq > 1; ) back.push((seq = await previousAct(read, seq)))
  expect(back).toEqual([8, 6, 5, 3, 1])
})

test.each([
  ["12", { kind: "moment", seq: 12 }],
  ["1,234", { kind: "wrong", text: "“1,234” is not the number of an event. This log has events 1 to 1,234." }],
  ["", { kind: "wrong", text: "“” is not the number of an event. This log has events 1 to 1,234." }],
  ["0", { kind: "wrong", text: "There is no event 0. This log has events 1 to 1,234." }],
  ["1235", { kind: "wrong", text: "There is no event 1,235. This log has events 1 to 1,234." }],
])("?at=%s is read as it is meant", (text, asked) => {
  expect(askedMoment(text, 1234)).toEqual(asked)
})

test("a time of another year has the year", () => {
  const at = new Date(2025, 10, 14, 15, 2).toISOString()
  expect(momentTime(at, new Date(2025, 11, 1).getTime())).toBe("14 Nov, 15:02")
  expect(momentTime(at, new Date(2026, 1, 1).getTime())).toMatch(/^14 Nov 2025, 15:02$/)
})
