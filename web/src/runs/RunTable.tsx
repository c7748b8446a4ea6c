/** Runs as a table: what each is of and how it ended, its parameters and results, who, when, how long. */

import { useMemo } from "react"

import type { RunRow } from "../sync/api_runs.ts"
import { FACT_TITLES, FACTS, isFactShown } from "./columns.ts"
import type { ColumnChoice, FactColumn, ShownColumn } from "./columns.ts"
import { ColumnBars } from "./ColumnBars.tsx"
import { nextSort, readSort } from "./query.ts"
import { RunTableRow } from "./RunTableRow.tsx"
import type { RunActs } from "./RunTableRow.tsx"
import css from "./RunTable.module.css"

export interface RunTableProps {
  readonly rows: readonly RunRow[]
  readonly columns: readonly ShownColumn[]
  readonly choice: ColumnChoice
  readonly sort: string
  /** The question that the rows answer, for those who wait for it. */
  readonly query: string
  readonly selected: readonly string[]
  readonly me: string | undefined
  readonly acts: RunActs
  readonly onSort: (sort: string) => void
}

const FACT_SORTS: Readonly<Record<FactColumn, string>> = { who: "who", when: "at", took: "seconds" }
const NUMERIC = new Set(["number", "duration"])

export function RunTable({ rows, columns, choice, sort, query, selected, me, acts, onSort }: RunTableProps) {
  const facts = useMemo(() => FACTS.filter((fact) => isFactShown(fact, choice)), [choice])
  const head = { sort, onSort }
  const parameters = columns.filter(({ kind }) => kind === "parameter")
  const results = columns.filter(({ kind }) => kind === "result")
  return (
    <div className={css["scroll"]} role="region" aria-label="Table of runs" tabIndex={0}>
      <table className={css["table"]} aria-label="Runs" data-query={query}>
        <thead>
          {columns.length > 0 && (
            <tr className={css["groups"]}>
              <td colSpan={2} className={css["first"]} />
              {parameters.length > 0 && (
                <th scope="colgroup" colSpan={parameters.length}>
                  Parameters
                </th>
              )}
              {results.length > 0 && (
                <th scope="colgroup" colSpan={results.length}>
                  Results
                </th>
              )}
              <td colSpan={facts.length + 1} />
            </tr>
          )}
          <tr>
            <SortHead {...head} by="name" className={css["first"]}>
              Run
            </SortHead>
            <SortHead {...head} by="status">
              Outcome
            </SortHead>
            {columns.map((column, index) => (
              <ValueHead key={column.key} {...head} column={column} isGroupStart={index === 0 || index === parameters.length} />
            ))}
            {facts.map((fact) => (
              <SortHead key={fact} {...head} by={FACT_SORTS[fact]} isNumber={fact === "took"} beginsDescending={fact !== "who"}>
                {FACT_TITLES[fact]}
              </SortHead>
            ))}
            <th scope="col" className={css["menu"]}>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <RunTableRow key={row.log} row={row} columns={columns} facts={facts} isSelected={selected.includes(row.log)} me={me} acts={acts} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface SortHeadProps {
  readonly by: string
  readonly sort: string
  readonly onSort: (sort: string) => void
  readonly isNumber?: boolean
  readonly beginsDescending?: boolean
  readonly className?: string | undefined
  readonly tip?: string | undefined
  readonly children: React.ReactNode
  readonly below?: React.ReactNode
}

function SortHead({ by, sort, onSort, isNumber = false, beginsDescending = false, className, tip, children, below }: SortHeadProps) {
  const now = readSort(sort)
  const isSorted = now.by === by
  return (
    <th
      scope="col"
      className={className}
      data-number={isNumber || undefined}
      data-sorted={isSorted || undefined}
      aria-sort={isSorted ? (now.descending ? "descending" : "ascending") : undefined}
    >
      <button type="button" className={css["sort"]} data-tip={tip} onClick={() => onSort(nextSort(sort, by, beginsDescending))}>
        <span className={css["label"]}>{children}</span>
        <span className={css["arrow"]} aria-hidden="true">
          {isSorted ? (now.descending ? "↓" : "↑") : ""}
        </span>
      </button>
      {below}
    </th>
  )
}

function ValueHead({ column, sort, onSort, isGroupStart }: Pick<SortHeadProps, "sort" | "onSort"> & { readonly column: ShownColumn; readonly isGroupStart: boolean }) {
  const isNumber = NUMERIC.has(column.type)
  const type = column.type === "mixed" ? "several types" : column.type
  return (
    <SortHead
      by={column.key}
      sort={sort}
      onSort={onSort}
      isNumber={isNumber}
      beginsDescending={isNumber && column.kind === "result"}
      className={isGroupStart ? css["start"] : undefined}
      tip={`${column.kind} ${column.name} · ${type} · in ${column.runs.toLocaleString("en")} ${column.runs === 1 ? "run" : "runs"}`}
      below={column.bars.length > 0 && <ColumnBars column={column} />}
    >
      {column.name}
    </SortHead>
  )
}
