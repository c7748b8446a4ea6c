/**
 * The rows of a table of runs: asked for whenever the address changes, the last question wins; then kept right.
 *
 * Runs that go on are looked at again when their logs grow, once a second at most. New ones are counted, and shown when
 * somebody asks for them: what one reads does not move by itself.
 */

import { useCallback, useEffect, useReducer, useRef } from "react"

import { Fault } from "../sync/fault.ts"
import type { OpenParts } from "../sync/open.ts"
import { runsLive, runTable } from "../sync/api_runs.ts"
import type { RunsLive, RunTable } from "../sync/api_runs.ts"
import { filterAt, writeQuery } from "./query.ts"
import type { RunQuery } from "./query.ts"
import { changeTable, NO_TABLE, ongoingRuns, scopeOf } from "./table_state.ts"
import type { TableState } from "./table_state.ts"

const TICK_MILLISECONDS = 1000

export interface RunTableParts {
  readonly table: TableState
  /** Read the first page anew, with what came meanwhile. */
  readonly reload: () => void
  readonly loadMore: () => void
}

export function useRunTable(parts: OpenParts, query: RunQuery): RunTableParts {
  const [table, change] = useReducer(changeTable, NO_TABLE)
  const asked = writeQuery(query)
  const now = useLatest({ table, query })
  const reading = useRef<AbortController | null>(null)

  const read = useCallback(
    (options: { readonly withColumns: boolean }) => {
      const { query: wanted } = now.current
      reading.current?.abort()
      const { signal } = (reading.current = new AbortController())
      const take = (page: RunTable): void => change({ kind: "read", query: writeQuery(wanted), scope: scopeOf(wanted), page })
      runTable(parts.api, filterAt(wanted, Date.now()), { sort: wanted.sort, columns: options.withColumns, signal }).then(
        (page) => void (signal.aborted || take(page)),
        (error: unknown) => void (signal.aborted || change({ kind: "failed", fault: asFault(error) })),
      )
    },
    [parts, now],
  )

  useEffect(() => {
    const { table: before, query: wanted } = now.current
    read({ withColumns: before.scope !== scopeOf(wanted) })
  }, [asked, read, now])
  useEffect(() => () => reading.current?.abort(), [])

  const reload = useCallback(() => read({ withColumns: true }), [read])
  useLive(parts, now, {
    take: (live) => {
      change({ kind: "live", live })
      if (bringsColumns(now.current.table, live)) reload()
    },
  })

  const isLoadingMore = useRef(false)
  const loadMore = useCallback(() => {
    const { table: before, query: wanted } = now.current
    if (before.after === null || isLoadingMore.current) return
    isLoadingMore.current = true
    runTable(parts.api, filterAt(wanted, Date.now()), { sort: wanted.sort, after: before.after, columns: false })
      .then(
        (page) => change({ kind: "more", query: before.query, page }),
        (error: unknown) => change({ kind: "failed", fault: asFault(error) }),
      )
      .finally(() => void (isLoadingMore.current = false))
  }, [parts, now])

  return { table, reload, loadMore }
}

interface Latest {
  readonly current: { readonly table: TableState; readonly query: RunQuery }
}

function useLatest(value: Latest["current"]): Latest {
  const latest = useRef(value)
  useEffect(() => void (latest.current = value))
  return latest
}

/** Ask about runs that go on, and for the number of new ones, when logs grow that may be theirs. */
function useLive({ api, socket, clock }: OpenParts, now: Latest, { take }: { readonly take: (live: RunsLive) => void }): void {
  const taken = useRef(take)
  useEffect(() => void (taken.current = take))
  useEffect(() => {
    // A log that began since may be a run that meets the filter later on.
    const begun = new Set<string>()
    let cancel: (() => void) | null = null
    let isAsking = false
    let isAgain = false
    let isStopped = false
    const ask = (): void => {
      cancel = null
      const { table, query } = now.current
      if (table.query === null) return
      isAsking = true
      runsLive(api, filterAt(query, Date.now()), ongoingRuns(table), table.newest)
        .then((live) => {
          if (!isStopped && now.current.table.query === table.query) taken.current(live)
        })
        .catch((error: unknown) => {
          if (!(error instanceof Fault)) throw error
        })
        .finally(() => {
          isAsking = false
          if (isAgain && !isStopped) schedule()
          isAgain = false
        })
    }
    const schedule = (): void => {
      if (isAsking) isAgain = true
      else cancel ??= clock.after(TICK_MILLISECONDS, ask)
    }
    const stop = socket.feed((growth) => {
      for (const { log, first } of growth) if (first === 1) begun.add(log)
      const ongoing = new Set(ongoingRuns(now.current.table))
      if (growth.some(({ log }) => ongoing.has(log) || begun.has(log))) schedule()
    })
    return () => {
      isStopped = true
      cancel?.()
      stop()
    }
  }, [api, socket, clock, now])
}

/** Whether a run has ended with a result that no column is for. */
function bringsColumns({ columns }: TableState, { rows }: RunsLive): boolean {
  const known = new Set((columns ?? []).filter(({ kind }) => kind === "result").map(({ name }) => name))
  return columns !== null && rows.some(({ results }) => Object.keys(results).some((name) => !known.has(name)))
}

function asFault(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault({ kind: "Unavailable", message: String(error) })
}
