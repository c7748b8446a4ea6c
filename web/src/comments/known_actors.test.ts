/** Who can be addressed, and what is written for them. */

import { expect, test } from "vitest"

import { addressees, begunMention, matching } from "./known_actors.ts"

test("a name that two have is written with its kind, and runtimes are not talked to", () => {
  const found = addressees(["human:ada", "agent:codex", "human:codex", "agent:claude", "runtime:local", "agent:claude", "human:a b!"], "human:ada")
  expect(found.map(({ mention }) => mention)).toEqual(["@agent:codex", "@claude", "@human:codex"])
})

test("an @ is completed while a name is written, and not in an address of mail", () => {
  expect(begunMention("@")).toBe("@")
  expect(begunMention("see @co")).toBe("@co")
  expect(begunMention("(@agent:co")).toBe("@agent:co")
  expect(begunMention("mail ada@exam")).toBe(null)
  expect(begunMention("@codex why")).toBe(null)
  const all = addressees(["agent:codex", "agent:claude"], "human:ada")
  expect(matching(all, "@C").map(({ mention }) => mention)).toEqual(["@claude", "@codex"])
  expect(matching(all, "@agent:co").map(({ mention }) => mention)).toEqual(["@codex"])
  expect(matching(all, "@x")).toEqual([])
  expect(matching(all, "@codex"), "it is written").toEqual([])
})
