/** All runs that this person may read, as a table: filtered and sorted by the server, asked for in the address. */

import { useCallback, useEffect, useMemo, useRef, useState } from "react"
import { useLocation, useSearch } from "wouter"

import { useValue } from "../hooks/values.ts"
import type { RunRow } from "../sync/api_runs.ts"
import type { OpenParts } from "../sync/open.ts"
import { Bar } from "../ui/Bar.tsx"
import { Button } from "../ui/Button.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Header } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Popover } from "../ui/Popover.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { useTitle } from "../ui/title.ts"
import { notify } from "../ui/Toasts.tsx"
import { ColumnChooser } from "./ColumnChooser.tsx"
import { allColumns, keepChoice, readChoice, shownColumns } from "./columns.ts"
import type { ColumnChoice, ShownColumn } from "./columns.ts"
import { FilterRow } from "./FilterRow.tsx"
import { isFiltered, NO_QUERY, readQuery, writeQuery } from "./query.ts"
import type { RunQuery } from "./query.ts"
import { RunDialogs } from "./RunDialogs.tsx"
import type { RunAgainForm, RunDialog } from "./RunDialogs.tsx"
import css from "./Runs.module.css"
import { RunTable } from "./RunTable.tsx"
import type { RunActs } from "./RunTableRow.tsx"
import { scopeOf } from "./table_state.ts"
import type { TableState } from "./table_state.ts"
import { useRunTable } from "./use_run_table.ts"
import { TABLE_KEYS, useTableKeys } from "./use_table_keys.ts"

const NO_COLUMNS: readonly ShownColumn[] = []

export interface RunsPageProps {
  readonly parts: OpenParts
  readonly RunAgainForm: RunAgainForm
}

export default function RunsPage({ parts, RunAgainForm }: RunsPageProps) {
  const { query, setQuery } = useQuery()
  const { table, reload, loadMore } = useRunTable(parts, query)
  const [selected, setSelected] = useState<readonly string[]>([])
  const [dialog, setDialog] = useState<RunDialog | null>(null)
  const me = useValue(parts.socket.welcome)?.me.actor
  const field = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLElement>(null)
  const [, go] = useLocation()
  const columns = useMemo(() => (table.columns ? allColumns(table.columns) : NO_COLUMNS), [table.columns])
  const [choice, choose] = useColumnChoice(parts, scopeOf(query))
  const shown = useMemo(() => shownColumns(columns, choice), [columns, choice])
  useTitle("Runs")

  const select = useCallback((run: string) => setSelected((before) => (before.includes(run) ? before.filter((each) => each !== run) : [...before, run].slice(-2))), [])
  const compare = useCallback(() => {
    const [a, b] = inOrder(selected, table.rows)
    if (a !== undefined && b !== undefined) go(`/runs/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`)
    else notify({ text: "Select two runs first: the box of a row, or Space on it." })
  }, [selected, table.rows, go])
  useTableKeys({ list, field, isDialogOpen: dialog !== null, onSelect: select, onCompare: compare })
  const acts = useActs({ go, select, setDialog, setQuery, query })

  const isEmpty = table.query !== null && table.rows.length === 0
  return (
    <>
      <Header actions={<KeysButton />}>Runs</Header>
      {table.fault && <Bar kind="error">{table.fault.message}</Bar>}
      <main ref={list} id="main" className={css["main"]} tabIndex={-1}>
        <div className={css["top"]}>
          <h1>Runs</h1>
          <p className={css["count"]} role="status">
            {countWords(table, query)}
          </p>
          <div className={css["columns"]}>{columns.length > 0 && <ColumnChooser columns={columns} choice={choice} onChoice={choose} />}</div>
        </div>
        <FilterRow query={query} table={table} columns={columns} field={field} me={me} onQuery={setQuery} />
        <Fresh count={table.fresh} onShow={reload} />
        {isEmpty ? (
          <NoRuns isFiltered={isFiltered(query)} hasCondition={query.where.length > 0} onClear={() => setQuery({ ...NO_QUERY, sort: query.sort })} />
        ) : (
          table.query !== null && (
            <RunTable
              rows={table.rows}
              columns={shown}
              choice={choice}
              sort={query.sort}
              query={table.query}
              selected={selected}
              me={me}
              acts={acts}
              onSort={(sort) => setQuery({ ...query, sort })}
            />
          )
        )}
        {table.after !== null && <More table={table} onMore={loadMore} />}
      </main>
      <Selection count={selected.length} onCompare={compare} onClear={() => setSelected([])} />
      <RunDialogs
        dialog={dialog}
        parts={parts}
        RunAgainForm={RunAgainForm}
        onClose={() => setDialog(null)}
        onStarted={(run) => {
          setDialog(null)
          reload()
          notify({ text: "The run has begun.", action: { label: "Open", do: () => go(`/runs/${encodeURIComponent(run)}`) } })
        }}
      />
    </>
  )
}

// ---- The address

interface QueryInAddress {
  readonly query: RunQuery
  readonly setQuery: (query: RunQuery, options?: { readonly isTyping: boolean }) => void
}

function useQuery(): QueryInAddress {
  const search = useSearch()
  const [, go] = useLocation()
  const query = useMemo(() => readQuery(search), [search])
  const setQuery = useCallback(
    (wanted: RunQuery, options?: { readonly isTyping: boolean }) => {
      const written = writeQuery(wanted)
      go(`/runs${written && `?${written}`}`, { replace: options?.isTyping === true })
    },
    [go],
  )
  return { query, setQuery }
}

function useColumnChoice({ storage }: OpenParts, scope: string): readonly [ColumnChoice, (choice: ColumnChoice) => void] {
  const [chosen, setChosen] = useState<Readonly<Record<string, ColumnChoice>>>({})
  const kept = useMemo(() => readChoice(storage, scope), [storage, scope])
  const choose = (choice: ColumnChoice): void => {
    keepChoice(storage, scope, choice)
    setChosen({ ...chosen, [scope]: choice })
  }
  return [chosen[scope] ?? kept, choose]
}

// ---- What can be done with a run

interface ActsParts extends QueryInAddress {
  readonly go: (path: string) => void
  readonly select: (run: string) => void
  readonly setDialog: (dialog: RunDialog) => void
}

function useActs(parts: ActsParts): RunActs {
  const latest = useRef(parts)
  useEffect(() => void (latest.current = parts))
  return useMemo(
    () => ({
      open: (row: RunRow) => latest.current.go(`/runs/${encodeURIComponent(row.log)}`),
      select: (row: RunRow) => latest.current.select(row.log),
      again: (row: RunRow) => latest.current.setDialog({ kind: "again", row }),
      cancel: (row: RunRow) => latest.current.setDialog({ kind: "cancel", row }),
      onlyOf: ({ source }: RunRow) => {
        const { query, setQuery } = latest.current
        setQuery({ ...query, source: source.path, notebook: source.path === null ? source.notebook : null })
      },
    }),
    [],
  )
}

/** The older run first, as it stands in the table from below. */
function inOrder(selected: readonly string[], rows: readonly RunRow[]): readonly string[] {
  const at = (run: string): string => rows.find(({ log }) => log === run)?.at ?? ""
  return selected.toSorted((one, other) => at(one).localeCompare(at(other)))
}

// ---- Parts of the page

function countWords({ query, total, rows }: TableState, { sort }: RunQuery): string {
  if (query === null) return ""
  const runs = `${total.toLocaleString("en")} ${total === 1 ? "run" : "runs"}`
  const first = sort === "-at" ? "newest" : "first"
  return rows.length < total ? `${runs}, the ${first} ${rows.length.toLocaleString("en")} shown` : runs
}

/** New runs do not move what one reads. */
function Fresh({ count, onShow }: { readonly count: number; readonly onShow: () => void }) {
  return (
    <div role="status" className={css["fresh"]}>
      {count > 0 && (
        <>
          {count.toLocaleString("en")} new {count === 1 ? "run" : "runs"} ·{" "}
          <button type="button" onClick={onShow}>
            Show
          </button>
        </>
      )}
    </div>
  )
}

interface NoRunsProps {
  readonly isFiltered: boolean
  readonly hasCondition: boolean
  readonly onClear: () => void
}

function NoRuns({ isFiltered: hasFilter, hasCondition, onClear }: NoRunsProps) {
  if (hasFilter) {
    return (
      <EmptyState title="No run meets these filters" actions={<Button onClick={onClear}>Clear the filters</Button>}>
        {hasCondition ? "A run that has no such value does not meet a condition on it." : "Fewer words, or another filter, find more."}
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No runs yet">
      Start one from a notebook&apos;s parameters, or in a terminal: <code>quire run notebook.py -p name=value</code>
    </EmptyState>
  )
}

/** The next page: read when one comes near its end, or at the press of a button. */
function More({ table, onMore }: { readonly table: TableState; readonly onMore: () => void }) {
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = end.current
    if (!element) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) onMore()
      },
      { rootMargin: "300px" },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [onMore, table.after])
  return (
    <div ref={end} className={css["more"]}>
      <Button onClick={onMore}>Show more</Button>
    </div>
  )
}

/** What is selected, and what two are for. */
function Selection({ count, onCompare, onClear }: { readonly count: number; readonly onCompare: () => void; readonly onClear: () => void }) {
  return (
    <div className={css["selection"]} role="status" data-shown={count > 0 || undefined}>
      {count > 0 && (
        <>
          <span>{count === 1 ? "One run is selected: select another to compare them." : "Two runs are selected."}</span>
          <Button kind="primary" keys="C" disabled={count < 2} onClick={onCompare}>
            Compare
          </Button>
          <Button kind="quiet" onClick={onClear}>
            Clear
          </Button>
        </>
      )}
    </div>
  )
}

function KeysButton() {
  return (
    <Popover label="Keys" align="end" icon={<Icon name="keyboard" />}>
      <dl className={css["keys"]}>
        {TABLE_KEYS.map(({ keys, title }) => (
          <div key={keys}>
            <dt>
              <Kbd keys={keys} />
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
    </Popover>
  )
}
