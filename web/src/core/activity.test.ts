/** What somebody does, in words: what the log knows counts before what is said. */

import { expect, test } from "vitest"

import { activityOf, activityText, proposers } from "./activity.ts"
import { fold } from "./reduce.ts"
import type { KnownEvent, Notebook } from "./types.gen.ts"

function notebook(...events: (readonly [string, KnownEvent])[]): Notebook {
  const first: KnownEvent = { type: "notebook_created", name: "n", metadata: {} }
  const all: (readonly [string, KnownEvent])[] = [
    ["human:ada", first],
    ["human:ada", { type: "cell_added", cell: "a", after: null, source: "x = 1", kind: "code", name: "load" }],
    ["human:ada", { type: "cell_added", cell: "b", after: "a", source: "x", kind: "code" }],
    ...events,
  ]
  return fold(all.map(([actor, event], index) => ({ log: "n", seq: index + 1, id: `e${index}`, at: "2026-03-02T09:00:01.000000Z", actor, event })))
}

function words(now: Notebook, actor: string, cell: string | null, doing: "reading" | "editing" | "running" | "waiting" | null): string {
  return activityText(now, activityOf(now, actor, { cell, doing }), true)
}

test("what one says is told with the name of the cell, or its number", () => {
  const now = notebook()
  expect(words(now, "agent:codex", "a", "editing")).toBe("editing load")
  expect(words(now, "agent:codex", "b", "reading")).toBe("reading cell 2")
  expect(words(now, "agent:codex", "a", "waiting")).toBe("waiting at load")
  expect(words(now, "human:bob", null, null)).toBe("reading")
  expect(words(now, "human:bob", "gone", "editing")).toBe("editing")
})

test("a proposal that is open waits for a yes, whatever its author says", () => {
  const now = notebook(["agent:codex", { type: "proposal_made", proposal: "p", why: "?", changes: [{ type: "cell_removed", cell: "b" }], effects: [] } as unknown as KnownEvent])
  expect(words(now, "agent:codex", "a", "editing")).toBe("waiting for your yes")
  expect(activityText(now, activityOf(now, "agent:codex", null), false)).toBe("waiting for somebody's yes")
  expect(activityOf(now, "agent:codex", null).cell).toBe("b")
  expect([...proposers(now).keys()]).toEqual(["agent:codex"])
})

test("what runs is what the log says, not what was said before", () => {
  expect(words(notebook(), "agent:codex", "a", "running")).toBe("reading load")
  const hash = "0".repeat(64)
  const now = notebook(
    ["agent:codex", { type: "execution_requested", execution: "x", cell: "b", source_hash: hash } as unknown as KnownEvent],
    ["runtime:k", { type: "execution_claimed", execution: "x", runtime: "runtime:k", epoch: 1 } as unknown as KnownEvent],
    ["runtime:k", { type: "execution_started", execution: "x", cell: "b", source_hash: hash } as unknown as KnownEvent],
  )
  expect(words(now, "agent:codex", "a", "reading")).toBe("running cell 2")
})
