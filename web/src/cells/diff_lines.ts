/** The lines of a compared source that are shown: those that changed with a few around them, the others folded. */

import type { DiffPair } from "../sync/api_diff.ts"

const AROUND = 3
/** Shorter stretches are not worth a fold. */
const FOLD = 8

export interface NumberedPair {
  readonly pair: DiffPair
  readonly oldNumber: number
  readonly newNumber: number
}

export type Stretch = { readonly kind: "lines" | "fold"; readonly pairs: readonly NumberedPair[] }

/** Cut the lines into stretches to show and stretches to fold, each line with its numbers. */
export function stretches(lines: readonly DiffPair[]): Stretch[] {
  const isNear = new Uint8Array(lines.length)
  lines.forEach((pair, index) => {
    if (isChanged(pair)) isNear.fill(1, Math.max(0, index - AROUND), index + AROUND + 1)
  })
  const found: { kind: Stretch["kind"]; near: number; pairs: NumberedPair[] }[] = []
  let [oldNumber, newNumber] = [0, 0]
  lines.forEach((pair, index) => {
    if (pair.old) oldNumber += 1
    if (pair.new) newNumber += 1
    const near = isNear[index] ?? 0
    if (found.at(-1)?.near !== near) found.push({ kind: near ? "lines" : "fold", near, pairs: [] })
    found.at(-1)?.pairs.push({ pair, oldNumber, newNumber })
  })
  return found.map(({ kind, pairs }) => ({ kind: pairs.length > FOLD ? kind : "lines", pairs }))
}

function isChanged({ old, new: now }: DiffPair): boolean {
  return !old || !now || old.sign !== " "
}
