/** What to ask an agent first, so that it proposes something in a notebook. */

import type { Notebook } from "../core/types.gen.ts"

/** The cell of the example notebook that fails on purpose (examples/start_here.py). */
const FAILING = "lookup"

export function firstQuestion({ name, cells }: Pick<Notebook, "name" | "cells">): string {
  const failing = [...cells.values()].some((cell) => cell.name === FAILING && !cell.removed)
  return failing
    ? `In the Quire notebook "${name}" the cell ${FAILING} fails. Propose an edit that mends it.`
    : `Look at the Quire notebook "${name}" and propose an improvement to one of its cells.`
}
