/** What became of one cell since this person was here: its text, line by line, and how it ran. */

import { useMemo } from "react"
import type { ReactNode } from "react"

import { shownDiff } from "../core/line_diff.ts"
import type { Cell, Execution } from "../core/types.gen.ts"
import { visible } from "../core/visible.ts"
import { useAsked } from "../hooks/values.ts"
import type { CellChanges } from "../sync/api_activity.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { seenOf } from "../sync/seen.ts"
import { Button } from "../ui/Button.tsx"
import { LineDiff } from "../ui/LineDiff.tsx"
import { stateWord } from "../ui/StateMark.tsx"
import { Time } from "../ui/Time.tsx"
import css from "./Since.module.css"
import { usePast } from "./use_past.ts"
import { changedCells, walk } from "./walk.ts"
import { deedText } from "./words.ts"

export function CellDifference({ context, cell }: { readonly context: PageContext; readonly cell: Cell }) {
  const seen = seenOf(context.live)
  const changes = useAsked(seen.news, (news) => news?.since.cells.find((one) => one.cell === cell.id) ?? null)
  const { notebook, fault } = usePast(context)
  if (!changes) return null
  const cells = changedCells(context)
  const before = notebook?.cells.get(cell.id)
  const was = before?.removed === false ? before : null
  return (
    <section className={css["card"]} aria-label="Since you were here" data-difference>
      <p className={css["what"]}>
        {capital(deedText(changes, context.open.me.actor))}, <Time at={changes.at} />
      </p>
      {fault !== null && <p role="alert">What you saw cannot be read: {fault}</p>}
      {notebook && <Changed cell={cell} was={was} changes={changes} />}
      <footer className={css["foot"]}>
        <Button keys="Alt-[" title="Previous change" onClick={() => walk(context, -1)}>
          Previous
        </Button>
        <Button keys="Alt-]" title="Next change" onClick={() => walk(context, 1)}>
          Next
        </Button>
        <span className={css["place"]}>
          {cells.indexOf(cell.id) + 1} of {cells.length}
        </span>
        <Button kind="quiet" onClick={() => seen.open.set(new Set())}>
          Close
        </Button>
      </footer>
    </section>
  )
}

function Changed({ cell, was, changes }: { readonly cell: Cell; readonly was: Cell | null; readonly changes: CellChanges }) {
  const before = was?.source ?? ""
  const lines = useMemo(() => shownDiff(before, cell.source), [before, cell.source])
  const notes = [...changeNotes(cell, was, changes), ...runNotes(cell, was)]
  return (
    <>
      {was !== null && before !== cell.source && <LineDiff lines={lines} label="What changed in its text" />}
      {notes.map((note, index) => (
        <p key={index}>{note}</p>
      ))}
    </>
  )
}

function changeNotes(cell: Cell, was: Cell | null, { did }: CellChanges): ReactNode[] {
  if (!was) return ["It is new."]
  const notes: ReactNode[] = []
  if (was.kind !== cell.kind) notes.push(`Was ${was.kind}, is ${cell.kind}.`)
  if (was.name !== cell.name) notes.push(`Was called ${visible(was.name ?? "nothing")}, is called ${visible(cell.name ?? "nothing")}.`)
  if (was.tags.join("\n") !== cell.tags.join("\n")) notes.push(`Tags: ${visible(cell.tags.join(", ")) || "none"}.`)
  if (did.includes("moved")) notes.push("It was moved.")
  if (did.includes("commented")) notes.push("There is a comment on it.")
  if (notes.length === 0 && was.source === cell.source && did.includes("changed")) notes.push("Its text is as you saw it.")
  return notes
}

/** "Ran again, 2 min ago: ok." */
function runNotes(cell: Cell, was: Cell | null): ReactNode[] {
  const last = cell.missed ?? cell.execution
  const before = was ? (was.missed ?? was.execution) : null
  if (cell.queued) return ["It waits to be run."]
  if (!last || last.id === before?.id) return []
  return [
    <>
      {before ? "Ran again" : "Ran"}, <Time at={last.finished_at ?? last.started_at ?? last.at} />: {outcome(last)}
    </>,
  ]
}

function outcome({ state, fault }: Execution): string {
  return fault?.ename ? `${stateWord(state)} (${visible(fault.ename)})` : stateWord(state)
}

function capital(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
