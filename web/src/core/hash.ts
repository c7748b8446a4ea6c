/** The hashes by which events name what somebody saw: SHA-256 of text as UTF-8, in hexadecimal. */

import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex } from "@noble/hashes/utils.js"

const encoder = new TextEncoder()

/** A notebook is asked again and again which cells are stale, and most of its sources are what they were. */
const known = new Map<string, string>()
const MOST_KNOWN = 10_000

/** The SHA-256 of a text. */
export function hashText(text: string): string {
  return bytesToHex(sha256(encoder.encode(text)))
}

/** The hash by which a request or an edit names the source it was made against. */
export function sourceHash(source: string): string {
  const before = known.get(source)
  if (before !== undefined) return before
  if (known.size >= MOST_KNOWN) known.clear()
  const hash = hashText(source)
  known.set(source, hash)
  return hash
}
