/** What a cell is called where something else speaks of it. */

import type { CellId, Notebook } from "./types.gen.ts"

/** Its name, or its place. */
export function cellLabel(notebook: Notebook, id: CellId): string {
  const cell = notebook.cells.get(id)
  if (cell?.name) return cell.name
  const place = cell?.removed === false ? placesOf(notebook).get(id) : undefined
  return place === undefined ? "a removed cell" : `cell ${place}`
}

const PLACES = new WeakMap<Notebook, ReadonlyMap<CellId, number>>()

/** The places of the cells, from 1: once for a notebook, although a thousand cells may ask. */
function placesOf(notebook: Notebook): ReadonlyMap<CellId, number> {
  const known = PLACES.get(notebook)
  if (known) return known
  const live = notebook.order.filter((id) => notebook.cells.get(id)?.removed === false)
  const places = new Map(live.map((id, index) => [id, index + 1]))
  PLACES.set(notebook, places)
  return places
}
