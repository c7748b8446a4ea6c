/**
 * A notebook as it was at an event: read-only, with ways to other events, to now, and to bring back what was.
 *
 * It stands in place of the cells while the address has `?at=`. Restoring is an act in the open notebook: Z takes it back.
 */

import { useEffect, useMemo } from "react"
import type { ReactNode } from "react"
import { useLocation } from "wouter"

import { readContext } from "../cells/output_context.ts"
import { languageOf } from "../cells/words.ts"
import { liveCells } from "../core/notebook.ts"
import { restoreAll, restoreCell, sinceThen } from "../core/restore.ts"
import { staleCells } from "../core/staleness.ts"
import type { CellChange, CellId, Notebook } from "../core/types.gen.ts"
import { useField } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { widgetStates } from "../sync/widget_states.ts"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Header } from "../ui/Header.tsx"
import { nextAct, previousAct } from "./acts.ts"
import { MomentBar } from "./MomentBar.tsx"
import { MomentCell } from "./MomentCell.tsx"
import { askedMoment, counted } from "./moment_number.ts"
import css from "./Moments.module.css"
import { useMoment } from "./use_moment.ts"
import type { ShownMoment } from "./use_moment.ts"

interface Props {
  readonly context: PageContext
  /** What stands after `at=`. */
  readonly at: string
  readonly nonce: string
}

export default function MomentView({ context, at, nonce }: Props) {
  const head = useField(context.live, "seq")
  const asked = askedMoment(at, head)
  if (asked.kind === "wrong") return <NoMoment context={context} text={asked.text} head={head} />
  return <OneMoment context={context} seq={asked.seq} head={head} nonce={nonce} />
}

function NoMoment({ context, text, head }: { readonly context: PageContext; readonly text: string; readonly head: number }) {
  const path = usePath(context)
  return (
    <Frame context={context}>
      <EmptyState
        title={text}
        isPage
        actions={
          <>
            <a href={path}>The notebook now</a>
            <a href={`${path}?at=${head}`}>Event {counted(head)}</a>
          </>
        }
      />
    </Frame>
  )
}

function OneMoment({ context, seq, head, nonce }: { readonly context: PageContext; readonly seq: number; readonly head: number; readonly nonce: string }) {
  const path = usePath(context)
  const [, go] = useLocation()
  const { moment, problem, isReading } = useMoment(context.parts, context.log, seq)
  const goTo = (wanted: number): void => go(`${path}?at=${Math.min(Math.max(wanted, 1), head)}`, { replace: true })
  const goByAct = (step: 1 | -1): void => {
    const read = (since: number, until: number) => context.parts.api.entries(context.log, since, until)
    const found = step > 0 ? nextAct(read, seq, head) : previousAct(read, seq)
    found.then(goTo, () => context.notify({ text: "The server does not answer. Try again." }))
  }
  useArrows((step, isAct) => (isAct ? goByAct(step) : goTo(seq + step)))
  const restore = (title: string, changes: (now: Notebook, then: Notebook) => CellChange[]): boolean => {
    if (!moment) return false
    context.live.flush()
    const events = changes(context.live.store.get(), moment.notebook)
    if (events.length) context.changeCells(title, events)
    else context.notify({ text: "Nothing differs from now." })
    return events.length > 0
  }
  const restoreEverything = (): void => {
    if (restore(`Restored the cells of event ${counted(seq)}`, restoreAll)) go(path)
  }
  return (
    <Frame context={context}>
      <MomentBar
        seq={seq}
        head={head}
        moment={moment}
        me={context.open.me.actor}
        isReading={isReading}
        path={path}
        onGo={goTo}
        onAct={goByAct}
        onRestore={context.mayEdit ? restoreEverything : null}
      />
      {problem !== null && (
        <p className={css["problem"]} role="alert">
          {problem}
        </p>
      )}
      {moment && (
        <MomentCells
          context={context}
          moment={moment}
          nonce={nonce}
          isReading={isReading}
          onRestore={(cell) => restore("Restored a cell", (now, then) => restoreCell(now, then, cell))}
        />
      )}
    </Frame>
  )
}

function Frame({ context, children }: { readonly context: PageContext; readonly children: ReactNode }) {
  const name = useField(context.live, "name")
  return (
    <div className={css["page"]}>
      <Header>
        <h1 className={css["name"]}>{name}</h1>
      </Header>
      <main id="main" className={css["main"]} tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}

function usePath({ log, live }: PageContext): string {
  const isRun = useField(live, "run") !== null
  return `/${isRun ? "runs" : "notebooks"}/${encodeURIComponent(log)}`
}

// ---- Cells

interface CellsProps {
  readonly context: PageContext
  readonly moment: ShownMoment
  readonly nonce: string
  readonly isReading: boolean
  readonly onRestore: (cell: CellId) => void
}

function MomentCells({ context, moment: { notebook }, nonce, isReading, onRestore }: CellsProps) {
  const { live, parts, log } = context
  // What is now is looked at for the marks alone: they follow it.
  const cells = useField(live, "cells")
  const now = useMemo(() => ({ ...live.store.get(), cells }), [live, cells])
  const outputs = useMemo(
    () => ({ ...readContext(parts, log, nonce), widgets: () => widgetStates(parts.api, notebook) }),
    [parts, log, nonce, notebook],
  )
  const stale = useMemo(() => staleCells(notebook), [notebook])
  const shown = liveCells(notebook)
  const ids = new Set(shown.map(({ id }) => id))
  const added = liveCells(now).filter(({ id }) => !ids.has(id)).length
  const language = languageOf(notebook.metadata)
  return (
    <div data-moment={notebook.seq} aria-busy={isReading} className={css["cells"]}>
      {shown.length === 0 && <EmptyState title="There were no cells yet">Go on with the right arrow key.</EmptyState>}
      {shown.length > 0 && (
        <div role="list" aria-label="Cells">
          {shown.map((cell) => (
            <MomentCell
              key={cell.id}
              cell={cell}
              language={language}
              context={outputs}
              isStale={stale.has(cell.id)}
              since={sinceThen(now, cell)}
              me={context.open.me.actor}
              onRestore={context.mayEdit ? onRestore : null}
            />
          ))}
        </div>
      )}
      {added > 0 && <p className={css["added"]}>{added === 1 ? "1 cell was added since." : `${added} cells were added since.`}</p>}
    </div>
  )
}

// ---- Keys

/** Left and Right go by events, with Shift by acts. */
function useArrows(go: (step: 1 | -1, isAct: boolean) => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : null
      if (step === null || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      if (event.target instanceof Element && event.target.closest("dialog, [role=menu], [role=grid], textarea, select, input:not([type=range])")) return
      event.preventDefault()
      go(step, event.shiftKey)
    }
    addEventListener("keydown", press)
    return () => removeEventListener("keydown", press)
  })
}
