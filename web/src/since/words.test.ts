import { expect, test } from "vitest"
import { deedText, newsText } from "./words.ts"

const at = "2026-01-01T00:00:00.000000Z"
const me = "human:me"

test("people and agents are told of in one line, with the noun once", () => {
  const actors = [
    { actor: "agent:codex", changed: 3, at },
    { actor: "human:ada", ran: 5, at },
  ]
  expect(newsText(actors, me)).toBe("codex changed 3 cells, ada ran 5")
})

test("an agent is told of with the person it works for, and a file by its name", () => {
  const actors = [
    { actor: "agent:codex", on_behalf_of: me, added: 1, changed: 2, ran: 1, at },
    { actor: "system:mirror", on_behalf_of: me, file: "sales.py", removed: 1, at },
  ]
  expect(newsText(actors, me)).toBe("codex for you added 1 cell, changed 2 and ran 1, sales.py removed 1")
})

test("comments and proposals are told of, and of many only the first are named", () => {
  const one = (name: string) => ({ actor: `human:${name}`, changed: 1, at })
  expect(newsText([{ actor: "human:bob", commented: 1, proposed: 2, at }], me)).toBe("bob commented and made 2 proposals")
  expect(newsText(["a", "b", "c", "d", "e"].map(one), me)).toBe("a changed 1 cell, b changed 1, c changed 1, and 2 others")
})

test("what was done to a cell is one phrase; what is new was not changed too", () => {
  expect(deedText({ cell: "c", did: ["changed", "ran"], by: ["agent:codex", "human:ada"], at }, me)).toBe("changed and run by codex and ada")
  expect(deedText({ cell: "c", did: ["added", "changed"], by: ["agent:codex"], at }, me)).toBe("added by codex")
})
