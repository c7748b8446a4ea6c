/**
 * Which lines of a stream are shown: the last ones while it grows, the first and the last ones once it has ended.
 *
 * A stream's text is `head`, then `omitted` code points that are in the blob only, then `tail`.
 */

import type { Stream } from "../core/types.gen.ts"
import { lookAfter, PLAIN } from "./ansi.ts"
import type { Look } from "./ansi.ts"
import { pointLength } from "../core/points.ts"

/** Lines that are shown while a cell runs. */
export const FOLLOWED = 12
/** Lines at the beginning and at the end that are shown of a long text. */
export const ENDS = 20
/** Lines up to which a text is shown whole. */
export const WHOLE = 2 * ENDS + 8
/** A line is cut here: one of a megabyte would stop the page. */
export const WIDEST = 2000

export interface Window {
  /** The first lines; all of them where nothing is left out. */
  readonly head: string
  /** The last lines, and how they begin to look; null where nothing is left out. */
  readonly tail: string | null
  readonly tailLook: Look
  /** How many lines the text has; null where that is in the blob only, and was not counted. */
  readonly lines: number | null
  /** How many of them lie between head and tail. */
  readonly hidden: number | null
}

/** How many lines a text has: a last one without its end counts too. */
export function countLines(text: string): number {
  let count = 0
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1
  return text && !text.endsWith("\n") ? count + 1 : count
}

/** Where the last `count` lines of a text begin. */
export function lastLinesStart(text: string, count: number): number {
  let at = text.endsWith("\n") ? text.length - 1 : text.length
  for (let left = count; left > 0; left -= 1) {
    if (at <= 0) return 0
    at = text.lastIndexOf("\n", at - 1)
    if (at < 0) return 0
  }
  return at + 1
}

/** Where the first `count` lines of a text end. */
export function firstLinesEnd(text: string, count: number): number {
  let at = 0
  for (let left = count; left > 0; left -= 1) {
    const next = text.indexOf("\n", at)
    if (next < 0) return text.length
    at = next + 1
  }
  return at
}

/** What is shown of a stream that has ended. `counted` is how many lines its blob has, where that is known. */
export function endedWindow(stream: Stream, counted: number | null = null): Window {
  const { head = "", omitted = 0, tail = "" } = stream
  if (!omitted) return textWindow(head + tail)
  const first = firstLinesEnd(head, ENDS)
  const last = lastLinesStart(tail, ENDS)
  const shown = [head.slice(0, first), tail.slice(last)] as const
  const hidden = counted === null ? null : Math.max(0, counted - countLines(shown[0]) - countLines(shown[1]))
  return { head: shown[0], tail: shown[1], tailLook: lookAfter(tail.slice(0, last)), lines: counted, hidden }
}

/** The same of a text that is all there. */
export function textWindow(text: string): Window {
  const lines = countLines(text)
  if (lines <= WHOLE) return { head: text, tail: null, tailLook: PLAIN, lines, hidden: 0 }
  const first = firstLinesEnd(text, ENDS)
  const last = lastLinesStart(text, ENDS)
  return { head: text.slice(0, first), tail: text.slice(last), tailLook: lookAfter(text.slice(0, last)), lines, hidden: lines - 2 * ENDS }
}

/** Whether a line, counted from 1, is not among the first that are shown of a text that is cut: only the whole text has it for sure. */
export function isFoldedAway({ tail }: Window, line: number): boolean {
  return tail !== null && line > ENDS
}

/** Cut the lines of a text that are too long to be shown. */
export function cutWide(text: string): string {
  if (text.length <= WIDEST) return text
  return text
    .split("\n")
    .map((line) => (line.length <= WIDEST ? line : `${line.slice(0, WIDEST)}\x1b[0m … ${(line.length - WIDEST).toLocaleString("en")} more characters`))
    .join("\n")
}

/**
 * The last lines of a stream that grows, and how they begin to look.
 *
 * What leaves the text at its front is read once for its colours, so that a colour set a megabyte ago is still right.
 */
export class Following {
  #tail = ""
  #total = 0
  #look: Look = PLAIN

  /** What is shown of the stream as it is now. */
  next(stream: Stream): { readonly text: string; readonly look: Look } {
    const { head = "", omitted = 0, tail = "" } = stream
    const text = omitted ? tail : head + tail
    const total = omitted + pointLength(text) + (omitted ? pointLength(head) : 0)
    this.#look = this.#lookAtStart(text, total, omitted ? head : "")
    this.#tail = text
    this.#total = total
    const start = lastLinesStart(text, FOLLOWED)
    return { text: cutWide(text.slice(start)), look: lookAfter(text.slice(0, start), this.#look) }
  }

  #lookAtStart(text: string, total: number, head: string): Look {
    if (!head) return PLAIN
    const before = this.#tail
    // As many characters as were added at the end went away at the front, unless the text was written anew.
    const dropped = before.length + (total - this.#total) - text.length
    if (dropped < 0 || !text.startsWith(before.slice(dropped))) return PLAIN
    return lookAfter(before ? before.slice(0, dropped) : head, this.#look)
  }
}
