/** A table, drawn by us: sorted by a click on a column's name, in pages, with numbers to the right. */

import { memo, useMemo, useState } from "react"
import { harmless } from "../core/visible.ts"
import { numberColumns, sortCells, sorted, TABLE_PAGE, TABLE_WHOLE } from "./table_model.ts"
import type { HeadCell, Sorting, TableModel } from "./table_model.ts"
import css from "./DataTable.module.css"

export const DataTable = memo(function DataTable({ table }: { readonly table: TableModel }) {
  const [sorting, setSorting] = useState<Sorting | null>(null)
  const [page, setPage] = useState(0)
  const rows = useMemo(() => sorted(table, sorting), [table, sorting])
  const isNumber = useMemo(() => numberColumns(table), [table])
  const isPaged = rows.length > TABLE_WHOLE
  const shown = isPaged ? rows.slice(page * TABLE_PAGE, (page + 1) * TABLE_PAGE) : rows
  const sort = (column: number): void => {
    setPage(0)
    setSorting((before) => (before?.column !== column ? { column, isDown: false } : before.isDown ? null : { column, isDown: true }))
  }
  return (
    <div className={css["output"]} data-output="table">
      <div className={css["box"]} tabIndex={0} role="group" aria-label="Table">
        <table className={css["table"]}>
          <Head table={table} sorting={sorting} isNumber={isNumber} onSort={sort} />
          <tbody>
            {shown.map((row, at) => (
              <Row key={at} row={row} indexColumns={table.indexColumns} isNumber={isNumber} />
            ))}
          </tbody>
        </table>
      </div>
      <Footer table={table} page={page} isPaged={isPaged} onPage={setPage} />
    </div>
  )
})

interface HeadProps {
  readonly table: TableModel
  readonly sorting: Sorting | null
  readonly isNumber: readonly boolean[]
  readonly onSort: (column: number) => void
}

function Head({ table, sorting, isNumber, onSort }: HeadProps) {
  const sortable = useMemo(() => sortCells(table), [table])
  return (
    <thead>
      {table.head.map((cells, y) => (
        <tr key={y}>
          {cells.map((cell) => (
            <HeadCellView key={cell.at} cell={cell} column={sortable.get(cell)} sorting={sorting} isNumber={isNumber[cell.at] ?? false} onSort={onSort} />
          ))}
        </tr>
      ))}
    </thead>
  )
}

interface HeadCellProps {
  readonly cell: HeadCell
  readonly column: number | undefined
  readonly sorting: Sorting | null
  readonly isNumber: boolean
  readonly onSort: (column: number) => void
}

function HeadCellView({ cell, column, sorting, isNumber, onSort }: HeadCellProps) {
  const align = isNumber && cell.columns === 1 ? css["number"] : undefined
  const spans = { colSpan: cell.columns, rowSpan: cell.rows }
  // An empty corner heads nothing.
  if (!cell.text) return <td {...spans} />
  if (column === undefined) {
    return (
      <th {...spans} className={align} scope={cell.columns > 1 ? "colgroup" : "col"}>
        {harmless(cell.text)}
      </th>
    )
  }
  const order = sorting?.column === column ? (sorting.isDown ? "descending" : "ascending") : "none"
  return (
    <th {...spans} className={align} scope="col" aria-sort={order}>
      <button type="button" onClick={() => onSort(column)}>
        {harmless(cell.text)}
        <span className={css["arrow"]} aria-hidden="true">
          {order === "none" ? "" : order === "ascending" ? "↑" : "↓"}
        </span>
      </button>
    </th>
  )
}

function Row({ row, indexColumns, isNumber }: { readonly row: readonly string[]; readonly indexColumns: number; readonly isNumber: readonly boolean[] }) {
  return (
    <tr>
      {row.map((text, at) => {
        const className = isNumber[at] ? css["number"] : undefined
        return at < indexColumns ? (
          <th key={at} scope="row" className={className}>
            {harmless(text)}
          </th>
        ) : (
          <td key={at} className={className}>
            {harmless(text)}
          </td>
        )
      })}
    </tr>
  )
}

interface FooterProps {
  readonly table: TableModel
  readonly page: number
  readonly isPaged: boolean
  readonly onPage: (page: number) => void
}

function Footer({ table, page, isPaged, onPage }: FooterProps) {
  const last = Math.ceil(table.rows.length / TABLE_PAGE) - 1
  if (!isPaged && !table.notes.length) return null
  const from = page * TABLE_PAGE + 1
  const until = Math.min(table.rows.length, from + TABLE_PAGE - 1)
  return (
    <div className={css["footer"]}>
      {isPaged && (
        <>
          <span aria-live="polite">
            Rows {from.toLocaleString("en")} to {until.toLocaleString("en")} of {table.rows.length.toLocaleString("en")}
          </span>
          <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)}>
            Previous
          </button>
          <button type="button" disabled={page >= last} onClick={() => onPage(page + 1)}>
            Next
          </button>
        </>
      )}
      {table.notes.map((note) => (
        <span key={note}>{harmless(note)}</span>
      ))}
    </div>
  )
}
