/** The matches by cell, each with the line that it is in. */

import { memo, useMemo, useState } from "react"
import type { KeyboardEvent } from "react"

import type { CellId } from "../core/types.gen.ts"
import { useField, useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import css from "./Find.module.css"
import type { Match } from "./matches.ts"
import type { Search } from "./search.ts"

/** More are drawn when asked for; the count and the steps know all of them. */
const FIRST_ROWS = 300

interface FindResultsProps {
  readonly context: PageContext
  readonly search: Search
  readonly onPick: (index: number) => void
}

interface Group {
  readonly cell: CellId
  readonly first: number
  readonly matches: readonly Match[]
}

export function FindResults({ context, search, onPick }: FindResultsProps) {
  const { matches } = useValue(search.found)
  const current = useValue(search.current)
  const [most, setMost] = useState(FIRST_ROWS)
  const groups = useMemo(() => grouped(matches.slice(0, most)), [matches, most])
  const order = useField(context.live, "order")
  const places = useMemo(() => placesOf(context, order), [context, order])
  return (
    <div className={css["results"]} onKeyDown={moveFocus}>
      {groups.map(({ cell, first, matches: its }) => (
        <section key={cell} className={css["group"]}>
          <h3>{context.live.store.cell(cell)?.name ?? `Cell ${places.get(cell) ?? ""}`}</h3>
          <ul>
            {its.map((match, index) => (
              <Row
                key={`${match.where} ${match.output} ${match.from}`}
                match={match}
                index={first + index}
                isCurrent={first + index === current}
                onPick={onPick}
              />
            ))}
          </ul>
        </section>
      ))}
      {matches.length > most && (
        <Button kind="quiet" onClick={() => setMost(most + 1000)}>{`${(matches.length - most).toLocaleString("en")} more`}</Button>
      )}
    </div>
  )
}

interface RowProps {
  readonly match: Match
  readonly index: number
  readonly isCurrent: boolean
  readonly onPick: (index: number) => void
}

const Row = memo(
  function Row({ match, index, isCurrent, onPick }: RowProps) {
    const { lineText, column, length, line, where } = match
    return (
      <li>
        <button type="button" className={css["match"]} aria-current={isCurrent || undefined} onClick={() => onPick(index)}>
          <span className={css["line"]}>{where === "output" ? "out" : line}</span>
          <code>
            {lineText.slice(0, column)}
            <mark>{lineText.slice(column, column + length)}</mark>
            {lineText.slice(column + length)}
          </code>
        </button>
      </li>
    )
  },
  (before, after) => before.match === after.match && before.index === after.index && before.isCurrent === after.isCurrent,
)

function grouped(matches: readonly Match[]): Group[] {
  const groups: { cell: CellId; first: number; matches: Match[] }[] = []
  matches.forEach((match, index) => {
    const last = groups.at(-1)
    if (last?.cell === match.cell) last.matches.push(match)
    else groups.push({ cell: match.cell, first: index, matches: [match] })
  })
  return groups
}

/** The number of each cell, from 1, as a person counts them. */
function placesOf({ live }: PageContext, order: readonly CellId[]): ReadonlyMap<CellId, number> {
  const shown = order.filter((id) => live.store.cell(id)?.removed === false)
  return new Map(shown.map((id, index) => [id, index + 1]))
}

/** Up and down go from match to match. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  const rows = [...event.currentTarget.querySelectorAll("button")]
  const index = rows.indexOf(document.activeElement as HTMLButtonElement)
  if (index < 0) return
  event.preventDefault()
  event.stopPropagation()
  rows[Math.max(0, Math.min(rows.length - 1, index + step))]?.focus()
}
