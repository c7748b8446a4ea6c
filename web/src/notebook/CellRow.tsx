/** One cell as a row of the page: gutter with its state, ribbon by kind, source, outputs, and who ran it. */

import { Fragment, memo, useEffect, useLayoutEffect, useRef, useState } from "react"
import type { PointerEvent } from "react"
import { isFolded } from "../actions/cell_edits.ts"
import type { CellView } from "../actions/view.ts"
import { cellState, runs } from "../core/notebook.ts"
import type { Cell, CellId } from "../core/types.gen.ts"
import type { CellSlot } from "../hooks/panel.ts"
import { useAsked, useDrawnCell, useField, useIsStale, useValue } from "../hooks/values.ts"
import type { OutputContext } from "../outputs/context.ts"
import { StateMark } from "../ui/StateMark.tsx"
import { CellConflict } from "./CellConflict.tsx"
import { CellFoot } from "./CellFoot.tsx"
import { CellHead } from "./CellHead.tsx"
import { CellOutputs } from "./CellOutputs.tsx"
import { CellRefusal } from "./CellRefusal.tsx"
import { CellSource } from "./CellSource.tsx"
import { CellTools } from "./CellTools.tsx"
import type { Page } from "./page.ts"
import styles from "./Cell.module.css"
import { guessedHeight } from "./row_height.ts"
import { NO_SLOTS } from "./slots.ts"
import type { NamedSlot } from "./slots.ts"
import { useCellView } from "./use_page.ts"
import { conflictOf, spoken } from "./words.ts"

export interface CellRowProps {
  readonly page: Page
  readonly id: CellId
  readonly outputs: OutputContext
}

export const CellRow = memo(function CellRow({ page, id, outputs }: CellRowProps) {
  const here = useCellView(page.view, id)
  const cell = useDrawnCell(page.live, id, here.isEdited)
  const slots = useAsked(page.slots.byCell, (byCell) => byCell.get(id) ?? NO_SLOTS)
  if (!cell) return null
  return (
    <>
      <Row page={page} cell={cell} here={here} outputs={outputs} slots={slots} />
      {slots.length > 0 && <Slots page={page} cell={cell} slots={slots} place="after" />}
    </>
  )
})

interface RowProps {
  readonly page: Page
  readonly cell: Cell
  readonly here: CellView
  readonly outputs: OutputContext
  readonly slots: readonly NamedSlot[]
}

function Row({ page, cell, here, outputs, slots }: RowProps) {
  const { id, kind } = cell
  const state = cellState(cell)
  // What waits or runs will not be stale for long.
  const isStale = useIsStale(page.live, id) && state !== "running" && state !== "queued"
  const isRunnable = runs(cell)
  const hasConflict = conflictOf(useField(page.live, "conflicts"), id) !== null
  const [isNear, setNear] = useState(false)
  const element = useRowFocus(page, here.isFocused, here.isEdited)
  const isFoldedHere = (part: string) => page.foldedHere.get().has(`${part} ${id}`)
  const sourceFolded = useAsked(page.foldedHere, () => isFolded(cell, "source") !== isFoldedHere("source"))
  const outputsFolded = useAsked(page.foldedHere, () => isFolded(cell, "outputs") !== isFoldedHere("outputs"))
  const press = (event: PointerEvent): void => pressRow(event, page, id)
  const isSourceTaken = !here.isEdited && slots.some(({ place }) => place === "source")
  return (
    <div
      ref={element}
      role="listitem"
      id={`cell-${id}`}
      data-cell={id}
      data-kind={kind}
      data-state={isRunnable ? state : undefined}
      data-stale={isStale || undefined}
      data-focused={here.isFocused || undefined}
      data-selected={here.isSelected || undefined}
      data-edited={here.isEdited || undefined}
      className={styles["row"]}
      style={{ containIntrinsicBlockSize: `auto ${guessedHeight(cell)}px` }}
      tabIndex={here.isFocused ? 0 : -1}
      aria-label={spoken(cell, hasConflict)}
      aria-current={here.isFocused ? "true" : undefined}
      onPointerDown={press}
      onPointerEnter={() => setNear(true)}
      onPointerLeave={() => setNear(false)}
    >
      <div className={styles["gutter"]} draggable={page.mayEdit} onClick={(event) => !event.shiftKey && page.view.press(id)}>
        {slots.length > 0 && <Slots page={page} cell={cell} slots={slots} place="gutter" />}
        {isRunnable && <StateMark state={state} stale={isStale} count={cell.execution?.count} />}
      </div>
      <div className={styles["body"]}>
        <CellHead page={page} cell={cell} />
        {hasConflict && <CellConflict page={page} id={id} />}
        {cell.tags.length > 0 && <AboveCell page={page} cell={cell} />}
        {slots.length > 0 && <Slots page={page} cell={cell} slots={slots} place="above" />}
        {isSourceTaken ? (
          <Slots page={page} cell={cell} slots={slots} place="source" />
        ) : (
          <CellSource page={page} cell={cell} isEdited={here.isEdited} initial={here.initial} isFolded={sourceFolded} context={outputs} />
        )}
        {slots.length > 0 && <Slots page={page} cell={cell} slots={slots} place="below" />}
        {isRunnable && <CellOutputs page={page} cell={cell} context={outputs} isFolded={outputsFolded} />}
        <CellRefusal page={page} id={id} />
        {isRunnable && <CellFoot page={page} cell={cell} isStale={isStale} isFolded={outputsFolded} />}
      </div>
      {(isNear || here.isFocused) && <CellTools page={page} cell={cell} isFocused={here.isFocused} />}
    </div>
  )
}

interface SlotsProps {
  readonly page: Page
  readonly cell: Cell
  readonly slots: readonly NamedSlot[]
  readonly place: CellSlot["place"]
}

/** What panels draw at a cell in one place. */
function Slots({ page, cell, slots, place }: SlotsProps) {
  return slots.map((slot) => slot.place === place && <Fragment key={slot.name}>{slot.render(page, cell)}</Fragment>)
}

/** What panels put above a cell: the form of its parameters, say. */
function AboveCell({ page, cell }: { readonly page: Page; readonly cell: Cell }) {
  const panels = useValue(page.panels)
  return panels.map((panel) => panel.aboveCell && <Fragment key={panel.name}>{panel.aboveCell(page, cell)}</Fragment>)
}

/** The page's focus goes to the row that keys act on, unless somebody types elsewhere. */
function useRowFocus(page: Page, isFocused: boolean, isEdited: boolean) {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (isFocused && !isEdited && mayTakeFocus()) element.current?.focus({ preventScroll: true })
  }, [isFocused, isEdited])
  useEffect(() => {
    if (!isFocused) return undefined
    const reveal = (): void => {
      const wanted = page.view.reveals.get()
      const row = element.current
      if (!row || !wanted || wanted.cell !== row.dataset["cell"]) return
      page.view.reveals.set(null)
      row.scrollIntoView({ block: wanted.block })
      // Rows that come into view get their real heights now: once more, where they stand then.
      requestAnimationFrame(() => row.scrollIntoView({ block: "nearest" }))
    }
    reveal()
    return page.view.reveals.subscribe(reveal)
  }, [isFocused, page])
  return element
}

/** Whether the focus is nowhere, in the list of cells, or at something that was only pressed. */
function mayTakeFocus(): boolean {
  const active = document.activeElement
  if (!active || active === document.body) return true
  if (active.closest("dialog, [role=menu]")) return false
  return active.closest("[data-cells]") !== null || !active.matches("input, textarea, select, [contenteditable=true]")
}

function pressRow(event: PointerEvent, page: Page, id: CellId): void {
  const target = event.target as Element
  if (event.button !== 0 || target.closest("[data-editor]")) return
  if (event.shiftKey && !target.closest("button, a, input")) {
    event.preventDefault()
    page.view.extendTo(id)
  } else if (!isDragBegun(target, page, id)) page.view.press(id)
}

/** A press on the gutter of a selected row may begin a drag of all of them: only a click makes it the only one. */
function isDragBegun(target: Element, page: Page, id: CellId): boolean {
  return page.view.cell(id).isSelected && target.closest("[draggable=true]") !== null
}
