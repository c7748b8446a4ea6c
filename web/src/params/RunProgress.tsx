/** The run that the form started: how far it is, how it ended, and what it came to. */

import { useEffect, useState } from "react"
import { Link } from "wouter"

import { useValue } from "../hooks/values.ts"
import type { Notebook, Run } from "../core/types.gen.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { Facts, PanelButtons, PanelNote, PanelSection } from "../ui/Panel.tsx"
import { duration } from "../ui/relative_time.ts"
import { StateMark } from "../ui/StateMark.tsx"
import css from "./Params.module.css"
import { resultFacts } from "./results.ts"
import type { RunForm } from "./run_form.ts"
import { isOver, progressOf } from "./run_watch.ts"

export function RunProgress({ context, form }: { readonly context: PageContext; readonly form: RunForm }) {
  const started = useValue(form.run)
  if (!started) return null
  const { log, notebook } = started
  const isEnded = notebook !== null && isOver(notebook)
  return (
    <PanelSection title="Last run">
      <p className={css["status"]} role="status">
        <StateMark state={markOf(notebook)} text="" />
        {notebook?.run ? <RunWords context={context} notebook={notebook} run={notebook.run} /> : "Starting…"}
      </p>
      {notebook && !isEnded && <Bar notebook={notebook} />}
      {notebook?.run?.fault && <PanelNote kind="error">{faultText(notebook.run)}</PanelNote>}
      {notebook && notebook.results.size > 0 && <Facts facts={resultFacts(notebook)} />}
      <PanelButtons>
        <Link className={css["link"]} href={`/runs/${log}`}>
          Open the run
        </Link>
        {!isEnded && <Button onClick={() => form.cancel(context)}>Stop</Button>}
      </PanelButtons>
    </PanelSection>
  )
}

function Bar({ notebook }: { readonly notebook: Notebook }) {
  const { done, all } = progressOf(notebook)
  return <progress className={css["progress"]} max={Math.max(1, all)} value={done} aria-label="Cells that have run" />
}

function RunWords({ context, notebook, run }: { readonly context: PageContext; readonly notebook: Notebook; readonly run: Run }) {
  const elapsed = useElapsed(context, isOver(notebook) ? null : run.started_at)
  const { done, all, running } = progressOf(notebook)
  if (run.status === "queued" || run.status === "claimed") return <span>Waits for a runtime.</span>
  if (run.status === "running") {
    const now = running ? ` · ${running.name ?? `cell ${running.id}`}` : ""
    return <span>{`${done} of ${all} cells${now}${elapsed === null ? "" : ` · ${duration(elapsed)}`}`}</span>
  }
  const seconds = run.started_at && run.finished_at ? (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000 : null
  return <span>{`${ENDS[run.status]}${seconds === null ? "" : `, took ${duration(seconds)}`}`}</span>
}

export const ENDS: Readonly<Record<Exclude<Run["status"], "queued" | "claimed" | "running">, string>> = {
  success: "Finished",
  error: "Failed",
  timeout: "Took too long and was stopped",
  cancelled: "Stopped",
  dead_kernel: "The kernel died",
  lost: "Lost: its runtime is gone",
}

export function markOf(notebook: Notebook | null): string {
  const status = notebook?.run?.status ?? "queued"
  if (status === "success") return "ok"
  return status === "claimed" ? "queued" : status
}

export function faultText({ fault, failed_cell }: Run): string {
  const where = failed_cell ? `In cell ${failed_cell}: ` : ""
  return `${where}${fault?.ename ?? ""}: ${fault?.evalue ?? ""}`
}

/** Seconds since a time on the server, counted on while it is shown. */
function useElapsed({ clock, parts }: PageContext, since: string | null): number | null {
  const [, tick] = useState(0)
  useEffect(() => {
    if (since === null) return
    let cancel = (): void => undefined
    const next = (): void => {
      cancel = parts.clock.after(1000, () => {
        tick((count) => count + 1)
        next()
      })
    }
    next()
    return () => cancel()
  }, [since, parts])
  return since === null ? null : Math.round(clock.since(since) / 1000)
}
