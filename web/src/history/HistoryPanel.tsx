/** The past of the focused cell: who wrote, changed and ran it, its versions with their differences, and restoring one. */

import { useEffect, useState } from "react"

import type { CellId } from "../core/types.gen.ts"
import { useCell, useValue } from "../hooks/values.ts"
import { Fault } from "../sync/fault.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Facts, PanelBody, PanelNote, PanelSection } from "../ui/Panel.tsx"
import type { Fact } from "../ui/Panel.tsx"
import { Person } from "../ui/Person.tsx"
import { duration } from "../ui/relative_time.ts"
import { stateWord } from "../ui/StateMark.tsx"
import { Time } from "../ui/Time.tsx"
import { Conflicts } from "./Conflicts.tsx"
import { cellPast } from "./versions.ts"
import type { CellPast, PastRun, Version } from "./versions.ts"
import { Versions } from "./Versions.tsx"

export function HistoryPanel({ context }: { readonly context: PageContext }) {
  const cell = useValue(context.focus)
  return (
    <PanelBody>
      <Conflicts context={context} />
      {cell === null ? <PanelNote>Choose a cell to see who wrote and ran it.</PanelNote> : <OfCell key={cell} context={context} cell={cell} />}
    </PanelBody>
  )
}

function OfCell({ context, cell: id }: { readonly context: PageContext; readonly cell: CellId }) {
  const cell = useCell(context.live, id)
  const { past, fault } = usePast(context, id)
  const title = cell?.name ?? "This cell"
  if (fault) return <PanelNote kind="error">{fault.message}</PanelNote>
  if (!past || !cell) return <PanelNote>Reading what happened to it…</PanelNote>
  return (
    <>
      <PanelSection title={title}>
        <Facts facts={factsOf(context, past)} />
      </PanelSection>
      <Versions context={context} cell={cell} versions={past.versions} />
    </>
  )
}

/** What happened to a cell, read from the log; again once it was changed or ran. */
function usePast({ live, parts, log }: PageContext, id: CellId): { readonly past: CellPast | null; readonly fault: Fault | null } {
  const cell = useCell(live, id)
  const isRecorded = useValue(live.waiting) === 0
  const state = `${cell?.changed_seq ?? ""} ${cell?.source ?? ""} ${cell?.execution?.id ?? ""} ${cell?.execution?.state ?? ""}`
  const [read, setRead] = useState<{ readonly past: CellPast | null; readonly fault: Fault | null }>({ past: null, fault: null })
  useEffect(() => {
    if (!isRecorded) return
    let isGone = false
    const cancel = parts.clock.after(PAUSE_MILLISECONDS, () => {
      parts.api.cellEvents(log, id).then(
        (entries) => isGone || setRead({ past: cellPast(entries, id), fault: null }),
        (error: unknown) => isGone || !(error instanceof Fault) || setRead((before) => ({ ...before, fault: before.past ? null : error })),
      )
    })
    return () => {
      isGone = true
      cancel()
    }
  }, [parts, log, id, state, isRecorded])
  return read
}

/** Whoever walks through cells with the arrow keys does not read the past of each. */
const PAUSE_MILLISECONDS = 120

function factsOf({ open }: PageContext, { versions, runs }: CellPast): Fact[] {
  const first = versions[0]
  const last = versions.at(-1)
  const run = runs.at(-1)
  const me = open.me.actor
  const facts: (Fact | null)[] = [
    first ? { name: "Written by", value: <Who version={first} me={me} /> } : null,
    last && last !== first ? { name: "Changed by", value: <Who version={last} me={me} /> } : null,
    run ? { name: "Run by", value: <Ran run={run} me={me} /> } : { name: "Run by", value: "nobody yet" },
    runs.length > 1 ? { name: "Runs", value: runsText(runs) } : null,
  ]
  return facts.filter((fact) => fact !== null)
}

function Who({ version, me }: { readonly version: Version; readonly me: string }) {
  return (
    <>
      <Person actor={version.by} onBehalfOf={version.onBehalfOf} me={me} plain /> · <Time at={version.at} />
    </>
  )
}

function Ran({ run, me }: { readonly run: PastRun; readonly me: string }) {
  const seconds = run.startedAt && run.finishedAt ? (Date.parse(run.finishedAt) - Date.parse(run.startedAt)) / 1000 : null
  return (
    <>
      <Person actor={run.by} onBehalfOf={run.onBehalfOf} me={me} plain /> · <Time at={run.at} /> · {stateWord(run.state)}
      {seconds === null ? "" : ` · ${duration(seconds)}`}
    </>
  )
}

function runsText(runs: readonly PastRun[]): string {
  const failed = runs.filter(({ state }) => state === "error").length
  return `${runs.length}${failed ? `, ${failed} failed` : ""}`
}
