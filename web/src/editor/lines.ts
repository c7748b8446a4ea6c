/** Cut coloured pieces at the ends of lines. */

import type { Piece } from "./highlight.ts"

/** The pieces of each line, without the line feeds. */
export function linesOf(pieces: readonly Piece[]): Piece[][] {
  let line: Piece[] = []
  const lines = [line]
  for (const { text, classes } of pieces) {
    for (const [index, part] of text.split("\n").entries()) {
      if (index) lines.push((line = []))
      if (part) line.push({ text: part, classes })
    }
  }
  return lines
}
