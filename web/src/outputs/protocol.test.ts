import { expect, test } from "vitest"
import { hostOf, readFromFrame } from "./protocol.ts"

test("only messages of the protocol are read", () => {
  expect(readFromFrame({ type: "height", height: 12 })).toEqual({ type: "height", height: 12 })
  expect(readFromFrame({ type: "ready", more: 1 })).toEqual({ type: "ready" })
  expect(readFromFrame({ type: "failed", message: "x".repeat(9999) })).toMatchObject({ message: "x".repeat(2000) })
  const wrong = [null, 5, "ready", {}, { type: "show" }, { type: "height", height: "9" }, { type: "height", height: NaN }, { type: "wanted" }, { type: "link", address: "x".repeat(9999) }]
  expect(wrong.map(readFromFrame).filter(Boolean)).toEqual([])
})

test("the host of what was wanted", () => {
  expect(["https://cdn.plot.ly/x.js", "wss://a.test:8/", "data:text/html,x", "inline", "eval"].map(hostOf)).toEqual(["cdn.plot.ly", "a.test", null, null, null])
})
