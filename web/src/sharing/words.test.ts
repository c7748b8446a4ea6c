import { expect, test } from "vitest"

import type { AccessLine } from "../sync/api_sharing.ts"
import { accessSentence } from "./words.ts"

const LINE: AccessLine = {
  actor: "human:grace",
  on_behalf_of: null,
  role: "editor",
  source: "given",
  state: "in",
  scopes: ["edit", "read", "run"],
  asks: [],
  until: null,
  is_limited: false,
}

const sentence = (part: Partial<AccessLine>): string => accessSentence({ ...LINE, ...part }, "human:ada")

test("a person is said in one sentence with what they may do", () => {
  expect(sentence({})).toBe("grace may edit and run here.")
  expect(sentence({ scopes: ["read"] })).toBe("grace may read here.")
  expect(sentence({ scopes: ["read", "edit", "run", "approve", "admin"] })).toBe("grace may edit, run, accept proposals and share it here.")
})

test("an agent is said with for whom it acts, and what it asks for", () => {
  const codex = { actor: "agent:codex", on_behalf_of: "human:bob", role: null, source: "none", asks: ["edit", "run"] } as const
  expect(sentence(codex)).toBe("codex, for bob, may read and asks before it edits or runs.")
  expect(sentence({ ...codex, on_behalf_of: "human:ada", asks: ["run"] })).toBe("codex, for you, may edit and asks before it runs.")
})

test("who made a notebook, and who looks, are said as such", () => {
  expect(sentence({ actor: "human:ada", source: "made" })).toBe("You made this notebook, and may edit and run here.")
})

test("who was invited or has no way in is said to be so", () => {
  expect(sentence({ state: "out", scopes: [] })).toBe("grace is editor here, and has no way to come in now: make a link.")
  expect(sentence({ state: "invited", until: "2026-11-19T10:24:00Z" })).toMatch(/^grace is invited until 19 Nov.*, and may edit and run here then\.$/)
})
