import { expect, test } from "vitest"
import type { Display, JsonObject } from "../core/types.gen.ts"
import { alternative, byteSize, choose, dimensions, isStill, isText, resultsIn, textOf } from "./media.ts"

function display(data: JsonObject, more: Partial<Display> = {}): Display {
  return { kind: "display", data, ...more }
}

const view = (...media: string[]): string | undefined => choose(display(Object.fromEntries(media.map((each) => [each, ""]))))?.view

test("charts come before pages and pictures, these before text", () => {
  expect(view("text/plain", "text/html", "application/vnd.plotly.v1+json")).toBe("plotly")
  expect(view("text/plain", "application/vnd.vegalite.v5+json")).toBe("vega")
  expect(view("text/plain", "image/png", "text/html")).toBe("picture")
  expect(view("image/png", "image/svg+xml")).toBe("svg")
  expect(view("text/plain", "text/html")).toBe("html")
  expect(view("text/plain", "text/latex", "text/markdown")).toBe("markdown")
  expect(view("text/plain", "application/javascript")).toBe("javascript")
  expect(view("text/plain", "application/json")).toBe("json")
  expect(view("text/plain", "application/geo+json")).toBe("plain")
  expect(view("text/plain", "application/vnd.jupyter.widget-view+json")).toBe("widget")
  expect(view("audio/wav", "text/plain")).toBe("sound")
  expect(view("application/pdf")).toBe("pdf")
  expect(view("application/x-thing")).toBe("other")
  expect(view()).toBeUndefined()
})

test("what is in a blob only is found, and a frame's shape alone is not shown as JSON", () => {
  const blobs = { "image/png": { hash: "a", size: 1 } }
  expect(choose(display({ "text/plain": "x" }, { blobs }))).toEqual({ view: "picture", media: "image/png" })
  expect(view("text/html", "application/vnd.quire.frame+json")).toBe("html")
})

test("results: ours first, scraps and records otherwise", () => {
  const ours = { "application/vnd.quire.result+json": { name: "n", kind: "json", value: { $int: "9007199254740993" } } }
  const scrapped = { "application/scrapbook.scrap.json+json": { name: "n", data: 1, encoder: "json", version: 1 } }
  expect(resultsIn(display({ ...scrapped, ...ours }))).toEqual([{ name: "n", kind: "json", value: { $int: "9007199254740993" }, note: "" }])
  expect(resultsIn(display(scrapped))).toEqual([{ name: "n", kind: "json", value: 1, note: "" }])
  expect(resultsIn(display({ "application/papermill.record+json": { a: "x" } }))).toEqual([{ name: "a", kind: "json", value: "x", note: "" }])
  const bytes = { "application/vnd.quire.result+json": { name: "a", kind: "array", data: "AAAA", media: "x/y" } }
  expect(resultsIn(display(bytes))[0]?.note).toBe("array, 3 bytes")
  expect(choose(display({ ...scrapped, ...ours }))).toBeNull()
})

test("dimensions of the medium, else of the display", () => {
  expect(dimensions(display({}, { metadata: { "image/png": { width: 640, height: 480.5 } } }), "image/png")).toEqual({ width: 640, height: 480 })
  expect(dimensions(display({}, { metadata: { width: 5, height: -1 } }), "image/png")).toEqual({ width: 5 })
})

test("texts, sizes and alternatives", () => {
  expect(textOf(["a\n", "b"])).toBe("a\nb")
  expect(isText("image/svg+xml")).toBe(true)
  expect(isText("image/png")).toBe(false)
  expect([999, 1500, 1_250_000].map(byteSize)).toEqual(["999 bytes", "2 kB", "1.3 MB"])
  expect(alternative(display({ "text/plain": "<Figure size 640x480>" }))).toBe("Picture")
  expect(alternative(display({ "text/plain": "sales by month" }))).toBe("sales by month")
})

test("an SVG that acts is not a still picture", () => {
  expect(isStill('<svg><path d="M0 0"/></svg>')).toBe(true)
  expect(isStill("<svg><a href='x'>there</a></svg>")).toBe(false)
  expect(isStill("<svg onload = 'x'/>")).toBe(false)
  expect(isStill("<svg><ScRiPt>x</ScRiPt></svg>")).toBe(false)
})
