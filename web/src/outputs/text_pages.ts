/** A long text in pages of lines, and where something is in it. Work on it is done in slices, between which the page lives. */

import { lookAfter, PLAIN } from "./ansi.ts"
import type { Look } from "./ansi.ts"

export const PAGE = 2000
const SLICE = 4_000_000
const MOST_FOUND = 100_000

export interface Found {
  /** Offsets in the text, in order. */
  readonly at: readonly number[]
  readonly isCut: boolean
}

/** A turn of the event loop for what else waits. */
export const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

export class TextPages {
  readonly text: string
  readonly lines: number
  readonly #starts: readonly number[]
  readonly #looks: Look[] = [PLAIN]

  constructor(text: string, starts: readonly number[], lines: number) {
    this.text = text
    this.#starts = starts
    this.lines = lines
  }

  /** Read where pages begin. */
  static async of(text: string): Promise<TextPages> {
    const starts = [0]
    let lines = 0
    let worked = 0
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
      lines += 1
      if (lines % PAGE === 0 && at + 1 < text.length) starts.push(at + 1)
      if (at - worked > SLICE) {
        worked = at
        await pause()
      }
    }
    return new TextPages(text, starts, text.endsWith("\n") ? lines : lines + 1)
  }

  get count(): number {
    return this.#starts.length
  }

  start(page: number): number {
    return this.#starts[page] ?? this.text.length
  }

  /** Where a line begins, counted from 1. */
  lineStart(line: number): number {
    let at = this.start(Math.floor((line - 1) / PAGE))
    for (let left = (line - 1) % PAGE; left > 0; left -= 1) {
      const next = this.text.indexOf("\n", at)
      if (next < 0) return at
      at = next + 1
    }
    return at
  }

  page(page: number): string {
    return this.text.slice(this.start(page), this.start(page + 1))
  }

  /** How a page begins to look. */
  look(page: number): Look {
    for (let at = this.#looks.length; at <= page; at += 1) {
      this.#looks[at] = lookAfter(this.page(at - 1), this.#looks[at - 1])
    }
    return this.#looks[page] ?? PLAIN
  }

  /** The page that has this place of the text. */
  pageAt(offset: number): number {
    let low = 0
    let high = this.#starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.start(middle) <= offset) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Every place where a text is, whatever its case. */
  async find(wanted: string, isCurrent: () => boolean): Promise<Found | null> {
    const at: number[] = []
    const pattern = new RegExp(wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "giu")
    for (let from = 0; from < this.text.length; ) {
      const end = Math.min(from + SLICE, this.text.length)
      // A slice ends with a line, so that nothing is missed at its edge: only lines are searched.
      const line = this.text.lastIndexOf("\n", end)
      const until = end < this.text.length && line > from ? line + 1 : end
      for (const match of this.text.slice(from, until).matchAll(pattern)) {
        at.push(from + match.index)
        if (at.length >= MOST_FOUND) return { at, isCut: true }
      }
      from = until
      await pause()
      if (!isCurrent()) return null
    }
    return { at, isCut: false }
  }
}
