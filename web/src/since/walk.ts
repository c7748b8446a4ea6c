/** The changed cells one after the other, each with its difference. */

import type { CellId } from "../core/types.gen.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { seenOf } from "../sync/seen.ts"

/** The cells that can be gone to, from top to bottom. */
export function changedCells(context: PageContext): readonly CellId[] {
  const marked = seenOf(context.live).marked.get()
  return context.live.store.visible().filter((cell) => marked.has(cell))
}

/** Go to the next changed cell, or to the one before; from the last to the first. The first step may stay where one is. */
export function walk(context: PageContext, step: 1 | -1): void {
  const seen = seenOf(context.live)
  const changed = changedCells(context)
  if (changed.length === 0) {
    context.notify({ text: "Nobody else changed a cell since you were here." })
    return
  }
  const order = context.live.store.visible()
  const here = order.indexOf(context.focused() ?? "")
  const mayStay = seen.open.get().size === 0
  const isAhead = (cell: CellId): boolean => {
    const distance = (order.indexOf(cell) - here) * step
    return distance > 0 || (mayStay && distance === 0)
  }
  const inOrder = step === 1 ? changed : changed.toReversed()
  const next = inOrder.find(isAhead) ?? inOrder[0]
  if (next === undefined) return
  seen.open.set(new Set([next]))
  context.goTo(next)
}
