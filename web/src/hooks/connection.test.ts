import { expect, test } from "vitest"

import { Fault } from "../sync/fault.ts"
import { isConnected } from "./connection.ts"

const LIVE = { kind: "live" } as const
const OPEN = { kind: "open" } as const
const CONNECTING = { kind: "connecting" } as const

test("what is said about kernels is known while the page follows the log over an open connection", () => {
  expect(isConnected(LIVE, OPEN, true)).toBe(true)
  expect(isConnected(LIVE, CONNECTING, false)).toBe(true)
})

test("it is not known from the moment the connection is lost until there is another", () => {
  expect(isConnected(LIVE, { kind: "waiting", until: 0 }, true)).toBe(false)
  expect(isConnected(LIVE, { kind: "waiting", until: 0 }, false)).toBe(false)
  expect(isConnected(LIVE, CONNECTING, true)).toBe(false)
  expect(isConnected(LIVE, { kind: "signed_out", reason: "" }, true)).toBe(false)
})

test("it is not known while the notebook is what this browser saw last, or cannot be followed", () => {
  const fault = new Fault({ kind: "Refused", message: "no" })
  for (const state of [{ kind: "stored" }, { kind: "outdated" }, { kind: "failed", fault }] as const) {
    expect(isConnected(state, OPEN, true)).toBe(false)
  }
})
