/** How high a row will be, before it was ever drawn: the page then changes little when it is. */

import type { Cell } from "../core/types.gen.ts"

const LINE = 20
const AROUND = 44

export function guessedHeight(cell: Cell | undefined): number {
  if (!cell) return 0
  const lines = cell.source.split("\n").length
  const shown = cell.execution?.outputs.length ?? 0
  return AROUND + lines * LINE + Math.min(shown, 3) * 5 * LINE
}
