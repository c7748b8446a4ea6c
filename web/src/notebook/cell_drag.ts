/** Cells that are dragged by their gutters: the selected ones together, if the one that is dragged is among them. */

import { placements } from "../actions/cell_edits.ts"
import { counted } from "../actions/context.ts"
import type { CellId } from "../core/types.gen.ts"
import type { Page } from "./page.ts"

const MEDIA = "application/x-quire-cells"

/** Where cells would land: before a row, or after it. */
interface Target {
  readonly row: HTMLElement
  readonly isBefore: boolean
}

export function listenForDrags(page: Page, list: HTMLElement): () => void {
  let dragged: readonly CellId[] = []
  let shown: HTMLElement | null = null
  const show = (target: Target | null): void => {
    if (shown && shown !== target?.row) delete shown.dataset["drop"]
    shown = target?.row ?? null
    if (target) target.row.dataset["drop"] = target.isBefore ? "before" : "after"
  }
  const start = (event: DragEvent): void => {
    const row = rowOf(event.target)
    const id = row?.dataset["cell"]
    if (!row || id === undefined || !page.mayEdit || !event.dataTransfer) return
    const selected = page.view.selection()
    dragged = selected.includes(id) ? selected : [id]
    event.dataTransfer.setData(MEDIA, dragged.join(" "))
    event.dataTransfer.effectAllowed = "move"
    event.dataTransfer.setDragImage(row, 0, 0)
  }
  const over = (event: DragEvent): void => {
    if (!event.dataTransfer?.types.includes(MEDIA)) return
    event.preventDefault()
    show(targetOf(event))
  }
  const drop = (event: DragEvent): void => {
    const target = targetOf(event)
    if (!event.dataTransfer?.types.includes(MEDIA) || !target) return
    event.preventDefault()
    move(page, dragged, target)
    end()
  }
  const end = (): void => {
    show(null)
    dragged = []
  }
  const listeners = { dragstart: start, dragover: over, drop, dragend: end } as const
  for (const [name, listener] of Object.entries(listeners)) list.addEventListener(name, listener as EventListener)
  return () => {
    for (const [name, listener] of Object.entries(listeners)) list.removeEventListener(name, listener as EventListener)
  }
}

function rowOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>("[data-cell]") : null
}

function targetOf(event: DragEvent): Target | null {
  const row = rowOf(event.target)
  if (!row) return null
  const { top, height } = row.getBoundingClientRect()
  return { row, isBefore: event.clientY < top + height / 2 }
}

function move(page: Page, cells: readonly CellId[], { row, isBefore }: Target): void {
  const { order } = page.view
  const place = order.indexOf(row.dataset["cell"] ?? "") - (isBefore ? 1 : 0)
  // Those that are moved are no place to go behind.
  const anchor = order.slice(0, place + 1).findLast((id) => !cells.includes(id)) ?? null
  const isThere = cells.every((id, index) => order[(anchor === null ? -1 : order.indexOf(anchor)) + 1 + index] === id)
  if (!isThere) page.history.do(`Moved ${counted(cells.length, "cell")}`, placements(cells, anchor))
}
