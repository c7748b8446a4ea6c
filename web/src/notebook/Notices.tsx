/** Lines above the cells: what this page is of, and what went wrong with no cell to say it at. */

import { useEffect } from "react"
import type { ReactNode } from "react"
import { useField, useValue } from "../hooks/values.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { StateMark, stateWord } from "../ui/StateMark.tsx"
import { didWhat, isAbout } from "./CellRefusal.tsx"
import type { Page } from "./page.ts"
import styles from "./Page.module.css"
import { askWhyWaiting } from "./why_waiting.ts"

export function Notices({ page }: { readonly page: Page }) {
  return (
    <>
      <OpenNotice page={page} />
      <StorageNotice page={page} />
      <RefusedNotice page={page} />
      <RunNotice page={page} />
      <RoomNotice page={page} />
      <ReadOnlyNotice page={page} />
    </>
  )
}

function Notice({ kind, children, onDismiss }: { readonly kind?: "warning"; readonly children: ReactNode; readonly onDismiss?: () => void }) {
  return (
    <div className={styles["notice"]} data-kind={kind} role="status">
      <span>{children}</span>
      {onDismiss && (
        <Button kind="quiet" onClick={onDismiss}>
          Dismiss
        </Button>
      )}
    </div>
  )
}

function OpenNotice({ page }: { readonly page: Page }) {
  const state = useValue(page.open.state)
  switch (state.kind) {
    case "live":
      return null
    case "stored":
      return <Notice>The server is away. This is what this browser saw last; what you do is kept and sent when it is back.</Notice>
    case "outdated":
      return (
        <Notice kind="warning">
          The server was updated. What you typed is kept.{" "}
          <Button kind="plain" onClick={() => location.reload()}>
            Load the page again
          </Button>
        </Notice>
      )
    case "failed":
      return <Notice kind="warning">This notebook cannot be read any more. {state.fault.message} What you typed is kept in this browser.</Notice>
  }
}

function StorageNotice({ page }: { readonly page: Page }) {
  const fault = useValue(page.open.outbox.fault)
  if (fault === null) return null
  return <Notice kind="warning">The browser&rsquo;s storage takes no more: what you type is lost if this window closes before it is sent. {fault}</Notice>
}

function RefusedNotice({ page }: { readonly page: Page }) {
  const refusals = useValue(page.live.refusals)
  const refusal = refusals.findLast((one) => isAbout(one, null, page.live.store.get()))
  if (!refusal) return null
  return (
    <Notice kind="warning" onDismiss={() => page.live.dismiss(refusal.id)}>
      <b>{didWhat(refusal.events[0])}</b> {refusal.fault.message}
    </Notice>
  )
}

function RunNotice({ page }: { readonly page: Page }) {
  const run = useField(page.live, "run")
  if (!run) return null
  const isOpen = run.status === "queued" || run.status === "claimed" || run.status === "running"
  const cancel = (): void => void page.live.act([{ type: "run_cancel_requested" }], (outcome) => page.tellRefused(outcome))
  const state = run.status === "success" ? "ok" : run.status === "claimed" ? "queued" : run.status
  const parameters = Object.entries(run.parameters).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  return (
    <Notice>
      <StateMark state={state} /> {run.status === "error" ? "Failed" : run.status === "success" ? "Succeeded" : capital(stateWord(state))}
      {parameters.length > 0 && <> · {parameters.join(", ")}</>}
      {run.source.notebook !== null && run.source.notebook !== undefined && (
        <>
          {" · "}
          <a href={`/notebooks/${encodeURIComponent(run.source.notebook)}`}>its notebook</a>
        </>
      )}
      {isOpen && page.open.me.scopes.includes("run") && (
        <Button kind="quiet" disabled={run.cancelled_by !== null} onClick={cancel}>
          {run.cancelled_by === null ? "Cancel the run" : "Cancelling"}
        </Button>
      )}
    </Notice>
  )
}

/** Why cells wait, when no runtime has come for them. */
function RoomNotice({ page }: { readonly page: Page }) {
  const runtimes = useField(page.live, "runtimes")
  const executions = useField(page.live, "executions")
  const run = useField(page.live, "run")
  const why = useValue(page.whyWaiting)
  const isUnserved = run ? run.status === "queued" : executions.size > 0 && runtimes.size === 0
  useEffect(() => (isUnserved ? askWhyWaiting(page) : undefined), [page, isUnserved])
  return why === null ? null : <Notice>Waits for a place: {why.replace("waits: ", "")}.</Notice>
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}

function ReadOnlyNotice({ page }: { readonly page: Page }) {
  const run = useField(page.live, "run")
  if (page.mayEdit || run) return null
  return (
    <Notice>
      <Icon name="eye" size={14} /> You may read this notebook{page.mayRun ? " and run it" : ""}, not change it.
    </Notice>
  )
}
