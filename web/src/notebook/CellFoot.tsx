/** The line under a cell: how it stands, who ran it, for whom, when, how long; and why it is stale. */

import { useEffect, useState } from "react"
import type { ReactNode } from "react"
import { took } from "../cells/words.ts"
import { cellState } from "../core/notebook.ts"
import type { Cell, Execution } from "../core/types.gen.ts"
import { useAsked, useShown, useStale } from "../hooks/values.ts"
import { Button } from "../ui/Button.tsx"
import { Person, nameOf } from "../ui/Person.tsx"
import { Time } from "../ui/Time.tsx"
import { duration } from "../ui/relative_time.ts"
import styles from "./Cell.module.css"
import type { Page } from "./page.ts"
import { useTick } from "./use_page.ts"
import { endReason, queuePlace, staleReason } from "./words.ts"

interface Props {
  readonly page: Page
  readonly cell: Cell
  readonly isStale: boolean
  /** Whether the outputs are folded away. */
  readonly isFolded: boolean
}

export function CellFoot({ page, cell, isStale, isFolded }: Props) {
  const state = cellState(cell)
  const { execution, queued } = cell
  const last = useLastTook(cell)
  if (!execution && !queued && !cell.missed) return null
  return (
    <div className={styles["foot"]} data-foot>
      {state === "running" && execution && <Running page={page} execution={execution} last={last} />}
      {queued && <Queued page={page} execution={queued} />}
      {state !== "running" && state !== "ok" && !queued && <Ended page={page} cell={cell} isFolded={isFolded} />}
      {execution && state !== "running" && <Ran page={page} cell={cell} execution={cell.missed ?? execution} />}
      {!execution && cell.missed && <Ran page={page} cell={cell} execution={cell.missed} />}
      {isStale && <Stale page={page} cell={cell} />}
    </div>
  )
}

/** How long the execution before this one took: known where this page saw it end. */
function useLastTook(cell: Cell): number | null {
  const [last, setLast] = useState<number | null>(() => took(cell.execution))
  const seen = took(cell.execution)
  if (seen !== null && seen !== last) setLast(seen)
  return last
}

function Running({ page, execution, last }: { readonly page: Page; readonly execution: Execution; readonly last: number | null }) {
  useTick(250)
  const seconds = page.clock.since(execution.started_at ?? execution.at) / 1000
  const before = useDurationBefore(page, execution, last, seconds >= 1)
  const stop = (): void => void page.live.act([{ type: "interrupt_requested", execution: execution.id }])
  const isAsked = execution.interrupted_by !== null
  return (
    <span className={styles["running"]}>
      {isAsked ? "interrupting" : "running"}
      {seconds >= 1 && <span className={styles["elapsed"]}> {elapsed(seconds)}</span>}
      {seconds >= 1 && before !== null && before >= 1 && <>, last time {duration(before)}</>} · <Who page={page} execution={execution} />
      {page.mayRun && !isAsked && (
        <Small onClick={stop} keys="I I">
          Interrupt
        </Small>
      )}
    </span>
  )
}

/** How long the execution before this one took: as this page saw it, or as the log has it once this one takes long. */
function useDurationBefore(page: Page, { id, cell }: Execution, seen: number | null, isLong: boolean): number | null {
  const known = useAsked(page.lastDurations.known, (durations) => durations.get(id) ?? null)
  const isAsked = isLong && seen === null
  useEffect(() => {
    if (isAsked) void page.lastDurations.ask(cell, id)
  }, [page, cell, id, isAsked])
  return seen ?? known
}

/** Whole seconds: what still runs needs no tenths. */
function elapsed(seconds: number): string {
  return seconds < 60 ? `${Math.floor(seconds)} s` : duration(Math.floor(seconds))
}

function Queued({ page, execution }: { readonly page: Page; readonly execution: Execution }) {
  const place = useShown(page.live, (notebook) => queuePlace(notebook, execution))
  const cancel = (): void => void page.live.act([{ type: "execution_cancelled", execution: execution.id }])
  return (
    <span>
      queued, {place} · <Who page={page} execution={execution} />
      {page.mayRun && <Small onClick={cancel}>Cancel</Small>}
    </span>
  )
}

function Ended({ page, cell, isFolded }: Omit<Props, "isStale">) {
  const name = (actor: string): string => (actor === page.open.me.actor ? "you" : nameOf(actor))
  const reason = useShown(page.live, (notebook) => endReason(notebook, cell, name))
  if (reason === null || isInOutputs(cell, isFolded)) return null
  return (
    <span className={styles["reason"]} data-reason data-tip={reason.length > 60 ? reason : undefined}>
      {reason}
    </span>
  )
}

/** What raised is in the outputs already, with the message first. */
function isInOutputs({ missed, execution }: Cell, isFolded: boolean): boolean {
  if (missed || isFolded || execution?.state !== "error" || execution.interrupted_by) return false
  return execution.outputs.some(({ kind }) => kind === "error")
}

function Ran({ page, cell, execution }: { readonly page: Page; readonly cell: Cell; readonly execution: Execution }) {
  if (execution.imported) return <span>from {importedFrom(page, cell)}</span>
  const seconds = took(execution)
  const showPast = (): void => {
    page.goTo(cell.id)
    page.openPanel("history")
  }
  // No stop of Tab at each cell: keys open the panel of the focused one.
  return (
    <button type="button" className={styles["ran"]} tabIndex={-1} data-tip="Who wrote and ran it, and past versions" onClick={showPast}>
      <Who page={page} execution={execution} /> · <Time at={execution.finished_at ?? execution.at} />
      {seconds !== null && <> · {duration(seconds)}</>}
    </button>
  )
}

function importedFrom(page: Page, cell: Cell): string {
  const path = cell.edited_from ?? page.live.store.field("binding")?.path
  return path?.split("/").at(-1) ?? "a file"
}

function Stale({ page, cell }: { readonly page: Page; readonly cell: Cell }) {
  const stale = useStale(page.live)
  const reason = staleReason(page.live.store.get(), cell, stale)
  return (
    <span className={styles["stale"]} data-reason>
      stale: {reason}
      {page.mayRun && (
        <Small onClick={() => page.doNamed("run.stale")} keys="Shift-R">
          Run stale
        </Small>
      )}
    </span>
  )
}

function Who({ page, execution }: { readonly page: Page; readonly execution: Execution }) {
  const { by, on_behalf_of: behalf } = execution
  // The runtime of a run asks for its cells itself: what counts is who started the run.
  if (behalf !== null && by.startsWith("runtime:")) return <Person actor={behalf} me={page.open.me.actor} plain />
  return <Person actor={by} onBehalfOf={behalf} me={page.open.me.actor} plain />
}

function Small({ children, onClick, keys }: { readonly children: ReactNode; readonly onClick: () => void; readonly keys?: string }) {
  return (
    <span className={styles["small"]}>
      <Button kind="quiet" keys={keys} onClick={onClick}>
        {children}
      </Button>
    </span>
  )
}
