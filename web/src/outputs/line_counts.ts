/**
 * How many lines the texts have that are in blobs. No log says it, so they are counted where their bytes are here anyway,
 * and fetched for it only where they are small.
 */

/** Bytes up to which a text is fetched to be counted when it comes into view. */
export const COUNTED_UNASKED = 2_000_000
const MOST_KEPT = 2000
const LINE_FEED = 10

const known = new Map<string, number>()
const listeners = new Set<() => void>()

/** The number of lines of a blob, by its hash; null as long as it was not counted. */
export function knownLines(hash: string): number | null {
  return known.get(hash) ?? null
}

export function rememberLines(hash: string, lines: number): void {
  if (known.get(hash) === lines) return
  known.set(hash, lines)
  const [oldest] = known.keys()
  if (known.size > MOST_KEPT && oldest !== undefined) known.delete(oldest)
  for (const listener of [...listeners]) listener()
}

export function watchLines(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Counts the lines of a text that comes in pieces, as bytes in UTF-8. A last one without its end counts too. */
export class LineCounter {
  #ended = 0
  #last = LINE_FEED

  add(bytes: Uint8Array): void {
    for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) this.#ended += 1
    this.#last = bytes.at(-1) ?? this.#last
  }

  get lines(): number {
    return this.#last === LINE_FEED ? this.#ended : this.#ended + 1
  }
}

/** Count the lines of a blob that is here, piece by piece, and remember them. */
export async function countLinesOf(hash: string, blob: Blob): Promise<void> {
  const counter = new LineCounter()
  for (const reader = blob.stream().getReader(); ; ) {
    const { done, value } = await reader.read()
    if (done) break
    counter.add(value)
  }
  rememberLines(hash, counter.lines)
}
