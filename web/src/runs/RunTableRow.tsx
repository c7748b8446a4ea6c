/** One run as a row: chosen with its box, opened by its name, and what else can be done with it in its menu. */

import { memo, useEffect, useState } from "react"

import type { RunRow } from "../sync/api_runs.ts"
import { IconButton } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Menu } from "../ui/Menu.tsx"
import type { MenuItem } from "../ui/Menu.tsx"
import { Person } from "../ui/Person.tsx"
import { duration } from "../ui/relative_time.ts"
import { StateMark, stateWord } from "../ui/StateMark.tsx"
import { Time } from "../ui/Time.tsx"
import { cellText } from "./cell_values.ts"
import type { FactColumn, ShownColumn } from "./columns.ts"
import css from "./RunTable.module.css"
import { isOngoing } from "./table_state.ts"

export interface RunActs {
  readonly open: (row: RunRow) => void
  readonly select: (row: RunRow) => void
  readonly again: (row: RunRow) => void
  readonly cancel: (row: RunRow) => void
  readonly onlyOf: (row: RunRow) => void
}

export interface RunTableRowProps {
  readonly row: RunRow
  readonly columns: readonly ShownColumn[]
  readonly facts: readonly FactColumn[]
  readonly isSelected: boolean
  readonly me: string | undefined
  readonly acts: RunActs
}

export const RunTableRow = memo(function RunTableRow({ row, columns, facts, isSelected, me, acts }: RunTableRowProps) {
  const startsResults = columns.findIndex(({ kind }) => kind === "result")
  return (
    <tr data-row data-run={row.log} data-status={row.status} data-selected={isSelected || undefined}>
      <th scope="row" className={css["first"]}>
        <span className={css["name"]}>
          <input type="checkbox" checked={isSelected} aria-label={`Select ${row.name} to compare`} onChange={() => acts.select(row)} />
          <a href={`/runs/${encodeURIComponent(row.log)}`} data-tip={row.source.path ?? undefined}>
            {row.name}
          </a>
        </span>
      </th>
      <td className={css["outcome"]}>
        <Outcome row={row} onCancel={acts.cancel} />
      </td>
      {columns.map((column, index) => (
        <ValueCell key={column.key} row={row} column={column} isGroupStart={index === 0 || index === startsResults} />
      ))}
      {facts.map((fact) => (
        <td key={fact} data-number={fact === "took" || undefined}>
          {fact === "who" && <Person actor={row.actor} onBehalfOf={row.on_behalf_of} me={me} />}
          {fact === "when" && <Time at={row.at} />}
          {fact === "took" && <Took row={row} />}
        </td>
      ))}
      <td className={css["menu"]}>
        <Menu label={`More for ${row.name}`} icon={<Icon name="more" />} align="end" items={() => menuItems(row, isSelected, acts)} />
      </td>
    </tr>
  )
})

function menuItems(row: RunRow, isSelected: boolean, acts: RunActs): readonly MenuItem[] {
  const items: MenuItem[] = [
    { label: "Open as notebook", keys: "Enter", icon: <Icon name="notebook" />, onSelect: () => acts.open(row) },
    { label: "Run again…", icon: <Icon name="play" />, onSelect: () => acts.again(row) },
    { label: isSelected ? "Do not compare" : "Select to compare", keys: "Space", icon: <Icon name="check" />, onSelect: () => acts.select(row) },
    { label: "Only runs of the same source", icon: <Icon name="search" />, onSelect: () => acts.onlyOf(row) },
  ]
  if (!isOngoing(row)) return items
  return [...items, "separator", { label: "Cancel the run…", icon: <Icon name="stop" />, danger: true, onSelect: () => acts.cancel(row) }]
}

function Outcome({ row, onCancel }: { readonly row: RunRow; readonly onCancel: (row: RunRow) => void }) {
  const { status, fault, progress } = row
  const state = status === "success" ? "ok" : status
  const word = status === "success" ? "succeeded" : stateWord(state)
  if (!isOngoing(row)) {
    return (
      <span className={css["ended"]} data-tip={fault ?? undefined}>
        <StateMark state={state} text="" />
        <span>{word}</span>
        {fault && <span className={css["fault"]}>{fault}</span>}
      </span>
    )
  }
  return (
    <span className={css["going"]}>
      <StateMark state={state} text="" />
      {progress && progress.all > 0 ? (
        <span className={css["steps"]}>
          <span>
            {status === "running" ? "" : `${word} · `}
            {progress.done} of {progress.all} cells
            {progress.cell && <span className={css["fault"]}> · {progress.cell}</span>}
          </span>
          <progress max={progress.all} value={progress.done} aria-label="Cells that have run" />
        </span>
      ) : (
        <span>{word}</span>
      )}
      <IconButton label={`Cancel ${row.name}`} icon={<Icon name="stop" size={14} />} onClick={() => onCancel(row)} />
    </span>
  )
}

function ValueCell({ row, column, isGroupStart }: { readonly row: RunRow; readonly column: ShownColumn; readonly isGroupStart: boolean }) {
  const values = column.kind === "result" ? row.results : row.parameters
  const { text, whole, isNumber } = cellText(values[column.name])
  return (
    <td data-number={isNumber || undefined} data-value={column.key} className={isGroupStart ? css["start"] : undefined}>
      {text && <span data-tip={whole ?? undefined}>{text}</span>}
    </td>
  )
}

/** How long it took, or has taken so far. */
function Took({ row }: { readonly row: RunRow }) {
  if (!isOngoing(row)) return row.seconds === null ? null : duration(row.seconds)
  return row.started_at === null ? null : <Elapsed since={row.started_at} />
}

function Elapsed({ since }: { readonly since: string }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return duration(Math.max(0, Math.round((now - Date.parse(since)) / 1000)))
}
