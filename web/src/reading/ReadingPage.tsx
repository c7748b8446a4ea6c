/**
 * A notebook or run for people who read it: prose, parameters, results and outputs, with the code folded.
 *
 * It follows the log as the notebook's page does, and changes nothing but by starting a run, where this person may.
 */

import { useEffect, useMemo, useState } from "react"
import type { ComponentType } from "react"
import { useLocation } from "wouter"

import { readContext } from "../cells/output_context.ts"
import { languageOf } from "../cells/words.ts"
import { cellState, liveCells, runs } from "../core/notebook.ts"
import type { Cell, LogId, Notebook } from "../core/types.gen.ts"
import { useField, useStale } from "../hooks/values.ts"
import { readRunPolicy } from "../sync/api_run_policy.ts"
import type { RunPolicy } from "../sync/api_run_policy.ts"
import { Fault } from "../sync/fault.ts"
import { openNotebook } from "../sync/open.ts"
import type { OpenNotebook, OpenParts } from "../sync/open.ts"
import { widgetStates } from "../sync/widget_states.ts"
import { Button } from "../ui/Button.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { NotFoundPage } from "../ui/NotFoundPage.tsx"
import { useTitle } from "../ui/title.ts"
import { ReadingCell } from "./ReadingCell.tsx"
import { ReadingHeader } from "./ReadingHeader.tsx"
import { ResultsTable } from "./ResultsTable.tsx"
import css from "./Reading.module.css"

/** The form of parameters: it comes from the page's maker, for screens do not import one another. */
export type FormOfReading = ComponentType<{
  readonly parts: OpenParts
  readonly source: LogId
  readonly run: { readonly log: LogId; readonly notebook: Notebook } | null
  readonly mayRun: boolean
  readonly onStarted: (run: LogId) => void
}>

interface Props {
  readonly log: LogId
  readonly parts: OpenParts
  readonly nonce: string
  readonly Form: FormOfReading
}

type Opening = OpenNotebook | { readonly error: unknown } | null

export default function ReadingPage({ log, parts, nonce, Form }: Props) {
  const [attempt, setAttempt] = useState(0)
  const opening = useOpening(log, parts, attempt)
  if (opening === null) return <div className={css["opening"]} aria-busy="true" />
  if ("error" in opening) return <Failed error={opening.error} onRetry={() => setAttempt(attempt + 1)} />
  return <Reading log={log} open={opening} parts={parts} nonce={nonce} Form={Form} />
}

function useOpening(log: LogId, parts: OpenParts, attempt: number): Opening {
  const [opening, setOpening] = useState<Opening>(null)
  useEffect(() => {
    let isGone = false
    let opened: OpenNotebook | null = null
    openNotebook(log, parts).then(
      (found) => {
        opened = found
        if (isGone) found.close()
        else setOpening(found)
      },
      (error: unknown) => isGone || setOpening({ error }),
    )
    return () => {
      isGone = true
      opened?.close()
      setOpening(null)
    }
  }, [log, parts, attempt])
  return opening
}

function Failed({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const isAbsent = error instanceof Fault && (error.kind === "NotFound" || error.kind === "BadInput")
  if (isAbsent) return <NotFoundPage kind="notebook" path={location.pathname} />
  return (
    <main id="main" className={css["opening"]} data-empty>
      <EmptyState title="This cannot be opened" isPage actions={<Button onClick={onRetry}>Try again</Button>}>
        {error instanceof Error ? error.message : String(error)}
      </EmptyState>
    </main>
  )
}

// ---- The page

function Reading({ log, open, parts, nonce, Form }: Props & { readonly open: OpenNotebook }) {
  const { live } = open
  const [, go] = useLocation()
  const [isCodeShown, setCodeShown] = useState(false)
  const name = useField(live, "name")
  const run = useField(live, "run")
  // All that is drawn comes from these: a change of any draws the page again.
  const cells = useField(live, "cells")
  const order = useField(live, "order")
  const results = useField(live, "results")
  const metadata = useField(live, "metadata")
  const stale = useStale(live)
  const source = run ? (run.source.notebook ?? null) : log
  const { policy, setPolicy } = useRunPolicy(parts, source)
  const notebook = useMemo(() => ({ ...live.store.get(), cells, order, run }), [live, cells, order, run])
  const context = useMemo(() => ({ ...readContext(parts, log, nonce), widgets: () => widgetStates(parts.api, live.store.get()) }), [parts, log, nonce, live])
  useTitle(name)
  const shown = liveCells(notebook)
  const isOld = !run && shown.some(({ id }) => stale.has(id))
  return (
    <div className={css["page"]}>
      <ReadingHeader
        log={log}
        name={name}
        run={run}
        source={source}
        isCodeShown={isCodeShown}
        onShowCode={setCodeShown}
        policy={policy}
        parts={parts}
        onPolicy={setPolicy}
      />
      <main id="main" className={css["main"]} tabIndex={-1} data-reading={log}>
        <h1 className="visually-hidden">{name}</h1>
        {source !== null && (
          <Form parts={parts} source={source} run={run ? { log, notebook } : null} mayRun={policy?.may_run ?? false} onStarted={(started) => go(`/read/${started}`)} />
        )}
        {results.size > 0 && <ResultsTable results={results} />}
        {isOld && <p className={css["note"]}>The notebook was changed since some of these outputs were made.</p>}
        {shown.length === 0 && <EmptyState title="There is nothing to read yet">This notebook has no cells.</EmptyState>}
        {shown.length > 0 && !isCodeShown && !shown.some(hasSomething) && (
          <EmptyState title="Nothing to read yet" actions={<Button onClick={() => setCodeShown(true)}>Show code</Button>}>
            It has only code, which did not show anything so far.
          </EmptyState>
        )}
        <div className={css["cells"]}>
          {shown.map((cell) => (
            <ReadingCell key={cell.id} cell={cell} language={languageOf(metadata)} context={context} isCodeShown={isCodeShown} />
          ))}
        </div>
      </main>
    </div>
  )
}

/** Whether a cell is drawn although the code is folded. */
function hasSomething(cell: Cell): boolean {
  return cell.kind === "markdown" || (runs(cell) && ((cell.execution?.outputs.length ?? 0) > 0 || cellState(cell) === "running"))
}

/** Who may start runs: read again when one comes back to the page, for the owner may have changed it meanwhile. */
function useRunPolicy({ api }: OpenParts, source: LogId | null) {
  const [policy, setPolicy] = useState<RunPolicy | null>(null)
  useEffect(() => {
    if (source === null) return undefined
    let isGone = false
    const read = (): void => {
      readRunPolicy(api, source).then(
        (found) => isGone || setPolicy(found),
        () => isGone || setPolicy(null),
      )
    }
    read()
    addEventListener("focus", read)
    return () => {
      isGone = true
      removeEventListener("focus", read)
    }
  }, [api, source])
  return { policy, setPolicy }
}
