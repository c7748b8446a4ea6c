/**
 * What a page and the frame of an output say to each other.
 *
 * The frame says `ready` once; the page answers with `show`, once, and hands over a port. All else goes through the port.
 * Whatever comes from a frame may be forged by the output in it: the page believes none of it, it only draws it small.
 * This file is the only one of ours that runs on both sides.
 */

import type { Json } from "../core/types.gen.ts"

/** What a frame draws. */
export type Content =
  | { readonly kind: "html"; readonly html: string }
  | { readonly kind: "svg"; readonly svg: string }
  | { readonly kind: "javascript"; readonly code: string }
  | { readonly kind: "vega"; readonly spec: Json; readonly options: Json }
  | { readonly kind: "plotly"; readonly figure: Json }
  | { readonly kind: "sound"; readonly media: string; readonly blob: Blob }

export interface FrameTheme {
  readonly isDark: boolean
  /** Custom properties of the page, by name: `--ink`. */
  readonly colours: Readonly<Record<string, string>>
  readonly font: string
}

export type ToFrame =
  | { readonly type: "show"; readonly content: Content; readonly theme: FrameTheme; readonly mostHeight: number }
  | { readonly type: "theme"; readonly theme: FrameTheme }

export type FromFrame =
  | { readonly type: "ready" }
  | { readonly type: "height"; readonly height: number }
  /** What the policy kept it from loading. */
  | { readonly type: "wanted"; readonly address: string }
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "drawn" }
  /** A link in it was clicked: the page shows where it leads. */
  | { readonly type: "link"; readonly address: string }
  /** A wheel turned over it while it is not engaged. */
  | { readonly type: "wheel"; readonly dx: number; readonly dy: number }
  /** Escape was pressed in it: the page takes the focus back. */
  | { readonly type: "leave" }

/** Longest text that a page takes from a frame. */
export const LONGEST = 2000

/** A message of a frame, if it is one: shapes are checked, because anything may run there. */
export function readFromFrame(data: unknown): FromFrame | null {
  if (typeof data !== "object" || data === null || !("type" in data)) return null
  const fields = data as Readonly<Record<string, unknown>>
  switch (fields["type"]) {
    case "ready":
    case "drawn":
    case "leave":
      return { type: fields["type"] }
    case "height":
      return isNumber(fields["height"]) ? { type: "height", height: fields["height"] } : null
    case "wheel":
      return isNumber(fields["dx"]) && isNumber(fields["dy"]) ? { type: "wheel", dx: fields["dx"], dy: fields["dy"] } : null
    case "wanted":
    case "link":
      return isShort(fields["address"]) ? { type: fields["type"], address: fields["address"] } : null
    case "failed":
      return typeof fields["message"] === "string" ? { type: "failed", message: fields["message"].slice(0, LONGEST) } : null
    default:
      return null
  }
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value)
}

function isShort(value: unknown): value is string {
  return typeof value === "string" && value.length <= LONGEST
}

/** The host of an address that a frame wanted; null of what is no address of the web. */
export function hostOf(address: string): string | null {
  if (!URL.canParse(address)) return null
  const { protocol, hostname } = new URL(address)
  return protocol === "https:" || protocol === "http:" || protocol === "wss:" || protocol === "ws:" ? hostname : null
}
