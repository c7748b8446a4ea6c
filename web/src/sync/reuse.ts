/**
 * The same objects where nothing changed: what waits is folded over the confirmed notebook each time anew, and comes out
 * as new objects with the same values. Whoever looks at a cell must not be called for those.
 */

import type { Cell, CellId, Notebook } from "../core/types.gen.ts"
import type { Overlaid } from "./pending.ts"

/** What is shown, with the cells and the order of `before` where those are equal. */
export function reused(before: Notebook, { notebook, touched }: Overlaid): Notebook {
  const order = isSameList(before.order, notebook.order) ? before.order : notebook.order
  let cells: Map<CellId, Cell> | null = null
  for (const id of touched) {
    const [was, now] = [before.cells.get(id), notebook.cells.get(id)]
    if (was && now && was !== now && isSameCell(was, now)) cells = (cells ?? new Map(notebook.cells)).set(id, was)
  }
  return cells || order !== notebook.order ? { ...notebook, cells: cells ?? notebook.cells, order } : notebook
}

/** Whether two lists have the same in the same order. */
export function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one === other || (one.length === other.length && one.every((each, index) => each === other[index]))
}

function isSameCell(one: Cell, other: Cell): boolean {
  return isSame(one, other, (a, b) => isSame(a, b, () => false))
}

type Compare = (one: object, other: object) => boolean

function isSame(one: object, other: object, inner: Compare): boolean {
  const fields = other as Readonly<Record<string, unknown>>
  return Object.entries(one).every(([name, value]: [string, unknown]) => {
    const its = fields[name]
    return Object.is(value, its) || (isObject(value) && isObject(its) && inner(value, its))
  })
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}
