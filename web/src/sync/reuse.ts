/**
 * The same objects where nothing changed: what waits is folded over the confirmed notebook each time anew, and comes out
 * as new objects with the same values. Whoever looks at a cell must not be called for those.
 */

import type { Cell, Notebook } from "../core/types.gen.ts"

/** `shown` with the cells and the order of `before` where those are equal. It is the caller's own, and is changed. */
export function reused(before: Notebook, shown: Notebook, confirmed: Notebook): Notebook {
  if (shown === confirmed) return shown
  const order = isSameList(before.order, shown.order) ? before.order : shown.order
  if (shown.cells === confirmed.cells) return { ...shown, order }
  const cells = new Map(shown.cells)
  for (const [id, cell] of cells) {
    const known = before.cells.get(id)
    if (known && known !== cell && cell !== confirmed.cells.get(id) && isSameCell(known, cell)) cells.set(id, known)
  }
  return { ...shown, cells, order }
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((each, index) => each === other[index])
}

function isSameCell(one: Cell, other: Cell): boolean {
  return isSame(one, other, (a, b) => isSame(a, b, () => false))
}

type Compare = (one: object, other: object) => boolean

function isSame(one: object, other: object, inner: Compare): boolean {
  const fields = new Map(Object.entries(other))
  return Object.entries(one).every(([name, value]: [string, unknown]) => {
    const its: unknown = fields.get(name)
    if (Object.is(value, its)) return true
    return typeof value === "object" && typeof its === "object" && value !== null && its !== null && inner(value, its)
  })
}
