/** The bytes and texts of a display: inline, or in a blob. */

import type { Display } from "../core/types.gen.ts"
import type { OutputContext } from "./context.ts"
import { isJson, isText, textOf } from "./media.ts"

/** One medium of a display as bytes. A blob has all of it; what is inline beside one is an excerpt. */
export async function bytesOf(display: Display, media: string, context: OutputContext): Promise<Blob> {
  const ref = display.blobs?.[media]
  if (ref) return new Blob([await context.blob(ref.hash)], { type: media })
  const value = display.data?.[media]
  if (isJson(media)) return new Blob([JSON.stringify(value)], { type: media })
  const text = textOf(value)
  return isText(media) ? new Blob([text], { type: media }) : new Blob([decode(text)], { type: media })
}

/** The same as text. */
export async function wholeText(display: Display, media: string, context: OutputContext): Promise<string> {
  const ref = display.blobs?.[media]
  return ref ? (await context.blob(ref.hash)).text() : textOf(display.data?.[media])
}

/** Whether a medium is all there without asking the server. */
export function isInline(display: Display, media: string): boolean {
  return !display.blobs?.[media] && display.data?.[media] !== undefined
}

function decode(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64.replace(/\s+/g, ""))
  return Uint8Array.from(text, (char) => char.charCodeAt(0))
}
