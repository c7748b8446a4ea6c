/**
 * Two moments compared, as the server's diff has them: each cell that changed with its lines, its outputs on both sides and
 * what else changed of it; cells that are the same are folded. J and K go to the next change and the one before it.
 */

import { Fragment, useDeferredValue, useEffect, useMemo, useRef, useState } from "react"
import type { ReactNode, RefObject } from "react"

import { visible } from "../core/visible.ts"
import { StaticCode } from "../editor/StaticCode.tsx"
import type { OutputContext } from "../outputs/context.ts"
import { Outputs } from "../outputs/Outputs.tsx"
import type { DiffCell, DiffFact, DiffLine, DiffRow, MomentsCompared } from "../sync/api_diff.ts"
import { stretches } from "./diff_lines.ts"
import type { NumberedPair, Stretch } from "./diff_lines.ts"
import css from "./DiffRows.module.css"

export interface DiffRowsProps {
  readonly compared: Pick<MomentsCompared, "rows" | "facts" | "language">
  /** How outputs of the old and of the new side are drawn: they may be of two logs. */
  readonly outputs: { readonly old: OutputContext; readonly new: OutputContext }
  /** What the two sides are called, for screen readers and above outputs: "at event 12", "now". */
  readonly labels: { readonly old: string; readonly new: string }
  readonly extras?: DiffExtras
  /** Whether rows behind the first changes are without what they show yet: they are not drawn. */
  readonly isPartial?: boolean
}

/** A line of one side of a changed cell; counts from 1. */
export interface LinePlace {
  readonly row: DiffRow
  readonly side: "old" | "new"
  readonly line: number
}

/** What a page adds to the rows: a review has boxes, comments on cells and lines, and folds what was looked at. */
export interface DiffExtras {
  /** At the end of a cell's heading. */
  readonly head: (row: DiffRow) => ReactNode
  /** Below a cell. */
  readonly foot: (row: DiffRow) => ReactNode
  /** Whether only the heading of a cell is shown. */
  readonly isFolded: (row: DiffRow) => boolean
  /** Below a line; null: nothing. A line that has something is never folded away. */
  readonly below: (place: LinePlace) => ReactNode
  readonly onLine: ((place: LinePlace) => void) | null
}

const FIRST_GROUPS = 30

export function DiffRows({ compared, outputs, labels, extras, isPartial = false }: DiffRowsProps) {
  const list = useRef<HTMLDivElement>(null)
  useChangeKeys(list, extras === undefined)
  const groups = useMemo(() => grouped(compared.rows), [compared.rows])
  // Of a thousand changes those that fill the window come first; the others follow at once, without holding it up.
  const count = useDeferredValue(isPartial ? Math.min(groups.length, FIRST_GROUPS) : groups.length, FIRST_GROUPS)
  return (
    <div ref={list} className={css["rows"]} data-diff-rows aria-busy={count < groups.length}>
      {compared.facts.length > 0 && (
        <section className={css["row"]} aria-label="The notebook" data-change tabIndex={-1}>
          <h2 className={css["head"]}>Notebook</h2>
          <Facts facts={compared.facts} />
        </section>
      )}
      {groups.slice(0, count).map((group) =>
        group.kind === "same" ? (
          <SameRows key={group.key} rows={group.rows} language={compared.language} />
        ) : (
          <ChangedRow key={group.key} row={group.row} outputs={outputs} labels={labels} extras={extras} />
        ),
      )}
    </div>
  )
}

/** How many cells became what, in words. */
export function changesInWords(rows: readonly DiffRow[]): string {
  const states = ["changed", "added", "removed", "moved"] as const
  const counts = states.map((state) => [rows.filter((row) => row.state === state).length, state] as const)
  const said = counts.filter(([count]) => count > 0).map(([count, state]) => `${count} ${state}`)
  return said.length ? `${said.join(", ")} of ${rows.length} cells` : "No cell differs"
}

type Group = { readonly kind: "same"; readonly key: string; readonly rows: DiffRow[] } | { readonly kind: "changed"; readonly key: string; readonly row: DiffRow }

function grouped(rows: readonly DiffRow[]): Group[] {
  const groups: Group[] = []
  for (const row of rows) {
    const last = groups.at(-1)
    const key = `${row.state} ${row.cell}`
    if (row.state !== "same") groups.push({ kind: "changed", key, row })
    else if (last?.kind === "same") last.rows.push(row)
    else groups.push({ kind: "same", key, rows: [row] })
  }
  return groups
}

function SameRows({ rows, language }: { readonly rows: readonly DiffRow[]; readonly language: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={css["same"]}>
      <button type="button" className={css["fold"]} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {rows.length === 1 ? "1 cell is the same" : `${rows.length} cells are the same`}
      </button>
      {isOpen &&
        rows.map(({ cell, new: now }) => now && <StaticCode key={cell} source={now.source} language={now.kind === "code" ? language : now.kind} />)}
    </div>
  )
}

// ---- A cell that changed

function ChangedRow({ row, outputs, labels, extras }: { readonly row: DiffRow; readonly extras: DiffExtras | undefined } & Pick<DiffRowsProps, "outputs" | "labels">) {
  const title = titleOf(row)
  const isFolded = extras?.isFolded(row) ?? false
  return (
    <section className={css["row"]} data-state={row.state} data-change data-cell={row.cell} aria-label={`${title}, ${stateOf(row)}`} tabIndex={-1}>
      <h2 className={css["head"]}>
        <span>{title}</span>
        {row.tags.map((tag) => (
          <span key={tag} className={css["tag"]}>
            {visible(tag)}
          </span>
        ))}
        <span className={css["state"]}>{stateOf(row)}</span>
        {extras?.head(row)}
      </h2>
      {!isFolded && (
        <>
          <Lines row={row} extras={extras} />
          <BothOutputs row={row} outputs={outputs} labels={labels} />
          {row.facts.length > 0 && <Facts facts={row.facts} />}
        </>
      )}
      {extras?.foot(row)}
    </section>
  )
}

function titleOf({ name, old, new: now }: DiffRow): string {
  const number = now ? `Cell ${now.number}` : `Cell ${old?.number ?? ""} (before)`
  const kind = old && now && old.kind !== now.kind ? `${old.kind} → ${now.kind}` : ((now ?? old)?.kind ?? "")
  return [number, kind, ...(name ? [visible(name)] : [])].join(" · ")
}

function stateOf({ state, old, lines, facts, outputs_differ: outputsDiffer }: DiffRow): string {
  if (state !== "moved") return state
  const also = lines.length || facts.length || outputsDiffer ? ", changed" : ""
  return `moved from ${old?.number ?? "elsewhere"}${also}`
}

interface LinesProps {
  readonly row: DiffRow
  readonly extras: DiffExtras | undefined
}

/** The source line by line; of one that did not change, the line by which it is known. */
function Lines({ row, extras }: LinesProps) {
  if (row.lines.length > 0) {
    return (
      <div className={css["lines"]} role="table" aria-label="Source">
        {stretches(row.lines).map((stretch, index) => (
          <OneStretch key={index} stretch={stretch} row={row} extras={extras} />
        ))}
      </div>
    )
  }
  const line = (row.new ?? row.old)?.source.split("\n").find((text) => text.trim())
  return line ? <p className={css["which"]}>{visible(line)}</p> : null
}

function OneStretch({ stretch, row, extras }: LinesProps & { readonly stretch: Stretch }) {
  const [isUnfolded, setUnfolded] = useState(stretch.kind === "lines")
  const isOpen = isUnfolded || (extras !== undefined && stretch.pairs.some((pair) => belowPair(row, extras, pair).length > 0))
  if (isOpen) return stretch.pairs.map((numbered) => <PairOfLines key={`${numbered.oldNumber} ${numbered.newNumber}`} numbered={numbered} row={row} extras={extras} />)
  return (
    <div role="row" className={css["gap"]}>
      <span role="cell">
        <button type="button" className={css["fold"]} onClick={() => setUnfolded(true)}>
          {stretch.pairs.length} lines are the same
        </button>
      </span>
    </div>
  )
}

/** What stands below a pair of lines, by side. */
function belowPair(row: DiffRow, extras: DiffExtras, { pair, oldNumber, newNumber }: NumberedPair): (readonly ["old" | "new", ReactNode])[] {
  const places: LinePlace[] = []
  if (pair.old) places.push({ row, side: "old", line: oldNumber })
  if (pair.new) places.push({ row, side: "new", line: newNumber })
  return places.flatMap((place) => {
    const below = extras.below(place)
    return below === null ? [] : [[place.side, below] as const]
  })
}

function PairOfLines({ numbered, row, extras }: LinesProps & { readonly numbered: NumberedPair }) {
  const { pair, oldNumber, newNumber } = numbered
  const isSame = pair.old?.sign === " "
  const on = (side: "old" | "new", line: number) => (extras?.onLine ? () => extras.onLine?.({ row, side, line }) : null)
  return (
    <>
      <div role="row" className={css["pair"]} data-same={isSame || undefined}>
        <Side line={pair.old} number={oldNumber} side="old" onLine={on("old", oldNumber)} />
        <Side line={pair.new} number={newNumber} side="new" onLine={on("new", newNumber)} />
      </div>
      {extras &&
        belowPair(row, extras, numbered).map(([side, below]) => (
          <div key={side} role="row" className={css["below"]}>
            <div role="cell">{below}</div>
          </div>
        ))}
    </>
  )
}

interface SideProps {
  readonly line: DiffLine | null
  readonly number: number
  readonly side: "old" | "new"
  readonly onLine: (() => void) | null
}

function Side({ line, number, side, onLine }: SideProps) {
  if (!line) return <span role="cell" className={css["none"]} />
  return (
    <span role="cell" className={css["line"]} data-sign={line.sign} data-side={side}>
      {onLine ? (
        // Reached by keys of the page: as many stops of the Tab key as there are lines would be none at all.
        <button type="button" tabIndex={-1} className={css["number"]} data-line={number} aria-label={`Comment on line ${number}, ${side === "old" ? "before" : "after"}`} onClick={onLine}>
          {number}
        </button>
      ) : (
        <span className={css["number"]} aria-hidden="true">
          {number}
        </span>
      )}
      <span className={css["sign"]}>{line.sign === " " ? "" : line.sign === "-" ? "−" : "+"}</span>
      <code>
        {line.parts.map((part, index) => (index % 2 ? <mark key={index}>{visible(part)}</mark> : <Fragment key={index}>{visible(part)}</Fragment>))}
      </code>
    </span>
  )
}

/** What the cell showed before and after; one of them where both showed the same. */
function BothOutputs({ row, outputs, labels }: { readonly row: DiffRow } & Pick<DiffRowsProps, "outputs" | "labels">) {
  const [old, now] = [shownBy(row.old), shownBy(row.new)]
  if (!old && !now) return null
  if (!row.outputs_differ) {
    const shown = now ? { cell: now, context: outputs.new } : old && { cell: old, context: outputs.old }
    return (
      <div className={css["outputs"]} data-outputs="same">
        <div>
          <h3>The same output</h3>
          {shown && <CellOutputs {...shown} />}
        </div>
      </div>
    )
  }
  return (
    <div className={css["outputs"]}>
      <div data-side="old">
        <h3>Output {labels.old}</h3>
        {old ? <CellOutputs cell={old} context={outputs.old} /> : <p>Nothing.</p>}
      </div>
      <div data-side="new">
        <h3>Output {labels.new}</h3>
        {now ? <CellOutputs cell={now} context={outputs.new} /> : <p>Nothing.</p>}
      </div>
    </div>
  )
}

function shownBy(cell: DiffCell | null): DiffCell | null {
  return cell?.execution?.outputs.length ? cell : null
}

function CellOutputs({ cell, context }: { readonly cell: DiffCell; readonly context: OutputContext }) {
  return cell.execution && <Outputs cell={cell.id} execution={cell.execution} context={context} isRunning={false} />
}

function Facts({ facts }: { readonly facts: readonly DiffFact[] }) {
  return (
    <div className={css["lines"]} role="table" aria-label="Names, tags and metadata">
      {facts.map(({ path, old, new: now }) => (
        <div key={path} role="row" className={css["pair"]}>
          <Fact text={old && `${path}: ${old}`} sign="-" />
          <Fact text={now && `${path}: ${now}`} sign="+" />
        </div>
      ))}
    </div>
  )
}

function Fact({ text, sign }: { readonly text: string; readonly sign: "-" | "+" }) {
  if (!text) return <span role="cell" className={css["none"]} />
  return (
    <span role="cell" className={css["line"]} data-sign={sign}>
      <span className={css["number"]} />
      <span className={css["sign"]}>{sign === "-" ? "−" : "+"}</span>
      <code>{visible(text)}</code>
    </span>
  )
}

// ---- Keys

function useChangeKeys(list: RefObject<HTMLDivElement | null>, isWanted: boolean): void {
  useEffect(() => {
    if (!isWanted) return undefined
    const press = (event: KeyboardEvent): void => {
      const by = { j: 1, k: -1 }[event.key]
      if (by === undefined || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (goToChange(list.current, by)) event.preventDefault()
    }
    addEventListener("keydown", press)
    return () => removeEventListener("keydown", press)
  }, [list, isWanted])
}

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, dialog, [contenteditable=true]") !== null
}

/** Focus the next change, or the one before; from outside, the first or the last. */
export function goToChange(list: HTMLElement | null, by: number): boolean {
  const changes = [...(list?.querySelectorAll<HTMLElement>("[data-change]") ?? [])]
  const at = changes.findIndex((change) => change.contains(document.activeElement))
  const next = changes[at < 0 && by < 0 ? changes.length - 1 : Math.min(Math.max(at + by, 0), changes.length - 1)]
  if (!next) return false
  next.focus({ preventScroll: true })
  next.scrollIntoView({ block: "start" })
  return true
}
