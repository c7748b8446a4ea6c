/** Which words of a changed line changed: for lines that replace one another in a difference by lines. */

import { lineDiff } from "./line_diff.ts"
import type { DiffLine, Gap } from "./line_diff.ts"

/** A part of a line: what only this side has is marked. */
export interface LinePart {
  readonly text: string
  readonly isMarked: boolean
}

export type MarkedLine = (DiffLine & { readonly parts?: readonly LinePart[] }) | Gap

/** Two lines that share less than this of their words say different things: marks would only confuse. */
const LEAST_SHARED = 0.3
/** Longer lines are not compared by words. */
const MOST_WORDS = 400

/** The lines with their words marked, where one line replaces another. */
export function markWords(lines: readonly (DiffLine | Gap)[]): MarkedLine[] {
  const marked: MarkedLine[] = []
  let index = 0
  while (index < lines.length) {
    const removed = runOf(lines, index, "removed")
    const added = runOf(lines, index + removed.length, "added")
    if (removed.length === 0 || added.length === 0) {
      const line = lines[index]
      if (line) marked.push(line)
      index += 1
      continue
    }
    const pairs = removed.map((line, place) => markPair(line.text, added[place]?.text))
    marked.push(...removed.map((line, place) => withParts(line, pairs[place]?.removed)))
    marked.push(...added.map((line, place) => withParts(line, pairs[place]?.added)))
    index += removed.length + added.length
  }
  return marked
}

function runOf(lines: readonly (DiffLine | Gap)[], start: number, kind: DiffLine["kind"]): DiffLine[] {
  const run: DiffLine[] = []
  for (let index = start; ; index += 1) {
    const line = lines[index]
    if (line?.kind !== kind) return run
    run.push(line)
  }
}

function withParts(line: DiffLine, parts: readonly LinePart[] | undefined): MarkedLine {
  return parts ? { ...line, parts } : line
}

interface Pair {
  readonly removed: readonly LinePart[]
  readonly added: readonly LinePart[]
}

function markPair(before: string, after: string | undefined): Pair | undefined {
  if (after === undefined) return undefined
  const [old, now] = [words(before), words(after)]
  if (old.length > MOST_WORDS || now.length > MOST_WORDS || old.length === 0 || now.length === 0) return undefined
  // A word has no line end in it, so that words can be compared as lines are.
  const diff = lineDiff(old.join("\n"), now.join("\n"))
  const shared = diff.filter(({ kind, text }) => kind === "same" && text.trim()).length
  if (shared < LEAST_SHARED * Math.min(old.length, now.length)) return undefined
  return { removed: partsOf(diff, "removed"), added: partsOf(diff, "added") }
}

/** Words, spaces and signs, each by itself. */
function words(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|[^\S\n]+|[^\p{L}\p{N}_\s]/gu) ?? []
}

function partsOf(diff: readonly DiffLine[], kind: "removed" | "added"): LinePart[] {
  const parts: { text: string; isMarked: boolean }[] = []
  for (const piece of diff) {
    if (piece.kind !== "same" && piece.kind !== kind) continue
    const isMarked = piece.kind === kind
    const last = parts.at(-1)
    if (last?.isMarked === isMarked) last.text += piece.text
    else parts.push({ text: piece.text, isMarked })
  }
  return parts
}
