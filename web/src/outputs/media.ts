/**
 * Which form of a display is shown, and where: in the page, drawn by us, or in a frame, where it may run.
 *
 * The order is that of the HTML export (formats/html/output_blocks.py), with charts before it: they can be drawn here.
 */

import type { Display, Json, JsonObject } from "../core/types.gen.ts"

export const RASTER = ["image/png", "image/jpeg", "image/webp", "image/gif", "image/avif", "image/bmp"] as const
export const SVG = "image/svg+xml"
export const WIDGET = "application/vnd.jupyter.widget-view+json"
export const QUIRE_FRAME = "application/vnd.quire.frame+json"
export const OUR_RESULT = "application/vnd.quire.result+json"
export const PAPERMILL_RECORD = "application/papermill.record+json"
export const SCRAP = "application/scrapbook.scrap."

const VEGA = /^application\/vnd\.vega(lite)?\.v\d+\+json$/
const PLOTLY = /^application\/vnd\.plotly\.v\d+\+json$/
const SCRIPT = ["application/javascript", "text/javascript"]
const SOUND = /^(audio|video)\/[a-z0-9.+-]+$/
const JSON_MEDIA = /^application\/(json|[a-z0-9.+_-]+\+json)$/i

/** How one media type is shown. */
export type View =
  | "vega"
  | "plotly"
  | "picture"
  | "svg"
  | "html"
  | "markdown"
  | "latex"
  | "sound"
  | "widget"
  | "javascript"
  | "pdf"
  | "json"
  | "plain"
  | "other"

export interface Choice {
  readonly view: View
  readonly media: string
}

type Row = readonly [view: View, fits: (media: string) => boolean]

const ORDER: readonly Row[] = [
  ["widget", (media) => media === WIDGET],
  ["vega", (media) => VEGA.test(media)],
  ["plotly", (media) => PLOTLY.test(media)],
  ["svg", (media) => media === SVG],
  ["picture", (media) => (RASTER as readonly string[]).includes(media)],
  ["html", (media) => media === "text/html"],
  ["markdown", (media) => media === "text/markdown"],
  ["latex", (media) => media === "text/latex"],
  ["sound", (media) => SOUND.test(media)],
  ["pdf", (media) => media === "application/pdf"],
  ["javascript", (media) => SCRIPT.includes(media)],
  ["json", (media) => media === "application/json"],
  ["plain", (media) => media === "text/plain"],
  ["json", (media) => JSON_MEDIA.test(media) && media !== QUIRE_FRAME],
  ["plain", (media) => media.startsWith("text/")],
]

/** The form of a display that is shown; null where there is nothing but results. */
export function choose(display: Display): Choice | null {
  const found = mediaOf(display).filter((media) => !isResult(media))
  for (const [view, fits] of ORDER) {
    const media = found.find(fits)
    if (media !== undefined) return { view, media }
  }
  const [first] = found
  return first === undefined ? null : { view: "other", media: first }
}

/** All media types of a display, inline and in blobs. */
export function mediaOf(display: Display): string[] {
  return [...new Set([...Object.keys(display.data ?? {}), ...Object.keys(display.blobs ?? {})])]
}

/** Whether nbformat keeps a media type as text; others are Base64. The same as Python's `is_text`. */
export function isText(media: string): boolean {
  const main = (media.split(";")[0] ?? "").trim().toLowerCase()
  return main.startsWith("text/") || /(\+xml|\/xml|\/javascript)$/.test(main) || main === "application/x-tex"
}

export function isJson(media: string): boolean {
  return JSON_MEDIA.test(media)
}

// ---- Values of a display

/** The text of a value as nbformat has it: text, or lines of it. */
export function textOf(value: Json | undefined): string {
  if (Array.isArray(value)) return value.map((each) => (typeof each === "string" ? each : JSON.stringify(each))).join("")
  if (typeof value === "string") return value
  return value === undefined || value === null ? "" : JSON.stringify(value)
}

/** What `data` or the metadata hold under a key, if it is an object. */
export function objectAt(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

/** Width and height, where the metadata of an output says them. */
export function dimensions(display: Display, media: string): { width?: number; height?: number } {
  const metadata = display.metadata ?? {}
  const own = objectAt(metadata[media])
  const said = Object.keys(own).length ? own : metadata
  const size: { width?: number; height?: number } = {}
  for (const name of ["width", "height"] as const) {
    const value = said[name]
    if (typeof value === "number" && value > 0 && value < 20_000) size[name] = Math.floor(value)
  }
  return size
}

/** What a picture is called by those who do not see it. A repr says nothing. */
export function alternative(display: Display): string {
  const said = textOf(display.data?.["text/plain"]).trim()
  return !said || said.startsWith("<") ? "Picture" : said.slice(0, 200)
}

/** Whether an SVG only draws: then it is shown as a picture, in which browsers run no script and fetch nothing. */
export function isStill(svg: string): boolean {
  return !/<(script|a|foreignObject|animate|animateTransform|animateMotion|set)\b|\son[a-z]+\s*=/i.test(svg)
}

// ---- Results

export interface NamedValue {
  readonly name: string
  readonly kind: string
  /** Tagged JSON; undefined where it is bytes, or shown beside it. */
  readonly value: Json | undefined
  /** What stands for a value that is bytes. */
  readonly note: string
}

export function isResult(media: string): boolean {
  return media === OUR_RESULT || media === PAPERMILL_RECORD || media.startsWith(SCRAP)
}

/** The named values that a display carries: ours is exact, so what else says the same is passed over. */
export function resultsIn(display: Display): NamedValue[] {
  const data = display.data ?? {}
  const ours = objectAt(data[OUR_RESULT])
  if (typeof ours["name"] === "string") return [ourResult(ours["name"], ours)]
  const found: NamedValue[] = []
  for (const [media, payload] of Object.entries(data)) {
    if (media.startsWith(SCRAP)) found.push(...scrap(media, objectAt(payload), payload, display))
    else if (media === PAPERMILL_RECORD) {
      for (const [name, value] of Object.entries(objectAt(payload))) found.push({ name, kind: "json", value, note: "" })
    }
  }
  return found
}

function ourResult(name: string, ours: JsonObject): NamedValue {
  const kind = typeof ours["kind"] === "string" ? ours["kind"] : "json"
  const data = ours["data"]
  if (typeof data !== "string") return { name, kind, value: ours["value"], note: "" }
  const file = typeof ours["file"] === "string" ? `${ours["file"]}, ` : ""
  return { name, kind, value: undefined, note: `${kind}, ${file}${byteSize(Math.floor((data.length * 3) / 4))}` }
}

function scrap(media: string, fields: JsonObject, payload: Json, display: Display): NamedValue[] {
  const said = objectAt(display.metadata?.["scrapbook"])
  const name = fields["name"] ?? said["name"]
  if (typeof name !== "string") return []
  const encoder = media.slice(SCRAP.length).replace(/\+json$/, "")
  const value = fields["data"] ?? payload
  if (encoder === "pandas" && typeof value === "string") {
    return [{ name, kind: "frame", value: undefined, note: `frame, ${byteSize(Math.floor((value.length * 3) / 4))}` }]
  }
  return [{ name, kind: encoder, value, note: "" }]
}

/** `512 bytes`, `12 kB`, `1.2 MB`: the same as Python's `size`. */
export function byteSize(count: number): string {
  if (count < 1000) return `${count} bytes`
  if (count < 1_000_000) return `${Math.round(count / 1000).toLocaleString("en")} kB`
  return `${(count / 1_000_000).toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 })} MB`
}
