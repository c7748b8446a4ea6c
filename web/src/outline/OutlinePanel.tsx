/** The outline: headings and named cells, with what runs and what failed below each; it follows the focus. */

import { memo, useCallback, useEffect, useMemo, useRef } from "react"
import type { KeyboardEvent } from "react"

import { cellState } from "../core/notebook.ts"
import { pointAt } from "../core/points.ts"
import type { CellId, Notebook } from "../core/types.gen.ts"
import { useField, useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { PanelBody, PanelNote } from "../ui/Panel.tsx"
import { StateMark } from "../ui/StateMark.tsx"
import { outlineOf } from "./headings.ts"
import type { OutlineEntry } from "./headings.ts"
import css from "./Outline.module.css"

/** The width below which the rail lies over the cells. */
const SHEET = "(width < 900px)"

export function OutlinePanel({ context }: { readonly context: PageContext }) {
  const { live } = context
  // Both: cells that move are the same objects in another order.
  const cells = useField(live, "cells")
  const order = useField(live, "order")
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the store is one object; these two are what is read of it
  const entries = useMemo(() => outlineOf(live.store.get()), [live, cells, order])
  const focus = useValue(context.focus)
  const current = entries.findLastIndex(({ cells: its, cell }) => focus !== null && (its.includes(focus) || cell === focus))
  const list = useRef<HTMLOListElement>(null)
  const go = useCallback(
    (entry: OutlineEntry) => {
      const at = pointAt(live.store.cell(entry.cell)?.source ?? "", entry.at)
      // Where the panel is a sheet over the cells, it has to go for them to be seen.
      if (matchMedia(SHEET).matches) context.openPanel(null)
      context.goTo(entry.cell, entry.kind === "heading" ? { select: { from: at, to: at } } : {})
    },
    [context, live],
  )

  useEffect(() => {
    list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" })
  }, [current])

  if (entries.length === 0) {
    return (
      <PanelBody>
        <PanelNote>
          Headings of Markdown cells and names of cells are listed here. There are none yet: write <code># Title</code> in a Markdown cell, or name a cell
          with F2.
        </PanelNote>
      </PanelBody>
    )
  }
  return (
    <nav className={css["outline"]} aria-label="Outline">
      <ol ref={list} onKeyDown={moveFocus}>
        {entries.map((entry, index) => (
          <Row
            key={`${entry.cell} ${entry.at}`}
            entry={entry}
            isCurrent={index === current}
            isTabStop={index === Math.max(0, current)}
            state={stateOf(live.store.get(), entry.cells)}
            onGo={go}
          />
        ))}
      </ol>
    </nav>
  )
}

interface RowProps {
  readonly entry: OutlineEntry
  readonly isCurrent: boolean
  readonly isTabStop: boolean
  readonly state: State | null
  readonly onGo: (entry: OutlineEntry) => void
}

const Row = memo(
  function Row({ entry, isCurrent, isTabStop, state, onGo }: RowProps) {
    return (
      <li>
        <button
          type="button"
          className={css["entry"]}
          data-level={Math.min(5, entry.level)}
          data-kind={entry.kind}
          aria-current={isCurrent ? "location" : undefined}
          tabIndex={isTabStop ? 0 : -1}
          onClick={() => onGo(entry)}
        >
          <span className={css["text"]}>{entry.text}</span>
          {state && <StateMark state={state.state} text={state.text} />}
        </button>
      </li>
    )
  },
  (before, after) =>
    before.entry.cell === after.entry.cell &&
    before.entry.text === after.entry.text &&
    before.entry.level === after.entry.level &&
    before.entry.at === after.entry.at &&
    before.isCurrent === after.isCurrent &&
    before.isTabStop === after.isTabStop &&
    before.state?.text === after.state?.text &&
    before.onGo === after.onGo,
)

interface State {
  readonly state: string
  readonly text: string
}

const FAILED: ReadonlySet<string> = new Set(["error", "timeout", "dead_kernel", "lost"])

/** What is worth a mark: something runs, waits or failed among these cells. */
function stateOf({ cells }: Notebook, ids: readonly CellId[]): State | null {
  const states = ids.flatMap((id) => {
    const cell = cells.get(id)
    return cell ? [cellState(cell)] : []
  })
  const count = (isOne: (state: string) => boolean): number => states.filter(isOne).length
  const running = count((state) => state === "running")
  if (running) return { state: "running", text: "running" }
  const failed = count((state) => FAILED.has(state))
  if (failed) return { state: "error", text: failed === 1 ? "1 error" : `${failed} errors` }
  const queued = count((state) => state === "queued")
  return queued ? { state: "queued", text: `${queued} queued` } : null
}

/** Arrows, Home and End go from entry to entry. */
function moveFocus(event: KeyboardEvent<HTMLOListElement>): void {
  const entries = [...event.currentTarget.querySelectorAll<HTMLElement>("button")]
  const index = entries.indexOf(document.activeElement as HTMLElement)
  const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: entries.length - 1 }[event.key]
  if (next === undefined) return
  event.preventDefault()
  event.stopPropagation()
  entries[Math.max(0, Math.min(entries.length - 1, next))]?.focus()
}
