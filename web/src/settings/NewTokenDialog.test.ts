import { expect, test } from "vitest"

import { tokenWanted } from "./NewTokenDialog.tsx"

const FORM = { kind: "agent", name: " codex ", mayEdit: true, mayRun: false, asks: true, time: "7d" }

const ADA = { actor: "human:ada", expires_at: "2026-12-18T04:26:29.754384Z" }

test("a token lasts as long as the one that it is made with, unless said otherwise", () => {
  expect(tokenWanted({ ...FORM, time: "" }, ADA).expires_at).toBe(ADA.expires_at)
})

test("an agent acts for who made its token, and asks first for all that it may do", () => {
  expect(tokenWanted(FORM, ADA)).toEqual({
    actor: "agent:codex",
    scopes: ["read", "edit"],
    on_behalf_of: "human:ada",
    asks: ["edit"],
    expires_at: "7d",
  })
})

test("a person asks nobody and acts for nobody", () => {
  expect(tokenWanted({ ...FORM, kind: "human", name: "grace" }, ADA)).toEqual({ actor: "human:grace", scopes: ["read", "edit"], expires_at: "7d" })
})
