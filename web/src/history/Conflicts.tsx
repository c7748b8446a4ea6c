/** Where the notebook and its file changed the same lines: both sides, and the answers. */

import { useEffect, useMemo, useRef, useState } from "react"

import { shownDiff } from "../core/line_diff.ts"
import { liveCells } from "../core/notebook.ts"
import type { ConflictId, FileConflict } from "../core/types.gen.ts"
import { useCell, useField, useValue } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Button } from "../ui/Button.tsx"
import { LineDiff } from "../ui/LineDiff.tsx"
import { PanelButtons, PanelNote, PanelSection } from "../ui/Panel.tsx"
import { resolving } from "./conflicts.ts"
import type { Side } from "./conflicts.ts"
import css from "./History.module.css"

export function Conflicts({ context }: { readonly context: PageContext }) {
  const conflicts = useField(context.live, "conflicts")
  if (conflicts.size === 0) return null
  return (
    <PanelSection title={conflicts.size === 1 ? "A conflict with the file" : `${conflicts.size} conflicts with the file`}>
      <PanelNote>The notebook and its file changed the same lines. The notebook&apos;s text stands until you decide.</PanelNote>
      {[...conflicts].map(([id, conflict]) => (
        <OneConflict key={id} context={context} id={id} conflict={conflict} />
      ))}
    </PanelSection>
  )
}

interface OneConflictProps {
  readonly context: PageContext
  readonly id: ConflictId
  readonly conflict: FileConflict
}

function OneConflict({ context, id, conflict }: OneConflictProps) {
  const { live, mayEdit } = context
  const cell = useCell(live, conflict.cell)
  const place = liveCells(live.store.get()).findIndex(({ id: each }) => each === conflict.cell)
  const label = cell?.name ?? (place < 0 ? "A removed cell" : `Cell ${place + 1}`)
  const element = useRef<HTMLElement>(null)
  const isFocused = useValue(context.focus) === conflict.cell
  useEffect(() => {
    if (isFocused) element.current?.scrollIntoView({ block: "nearest" })
  }, [isFocused])
  const [refusal, setRefusal] = useState<string | null>(null)
  const decide = (side: Side | null): void => {
    live.act(resolving(live.store.get(), id, conflict, side), (outcome) => {
      if (outcome.kind === "refused") setRefusal(outcome.fault.message)
    })
  }
  const isEdited = cell !== undefined && !cell.removed && cell.source !== conflict.ours && cell.source !== conflict.theirs
  return (
    <article ref={element} className={css["conflict"]} aria-label={`Conflict: ${label}`}>
      <button type="button" className={css["place"]} onClick={() => context.goTo(conflict.cell)}>
        {label}
      </button>
      <SideShown title="The notebook says" base={conflict.base} text={conflict.ours} />
      <SideShown title="The file said" base={conflict.base} text={conflict.theirs} />
      {refusal && <PanelNote kind="error">{refusal}</PanelNote>}
      <PanelButtons>
        <Button disabled={!mayEdit} onClick={() => decide("log")}>
          {conflict.ours ? "Keep the notebook's" : "Remove the cell"}
        </Button>
        <Button disabled={!mayEdit} onClick={() => decide("file")}>
          {conflict.theirs ? "Take the file's" : "Remove the cell"}
        </Button>
        {isEdited && (
          <Button disabled={!mayEdit} title="The cell was edited since: it stays as it is" onClick={() => decide(null)}>
            Keep as it is now
          </Button>
        )}
      </PanelButtons>
    </article>
  )
}

function SideShown({ title, base, text }: { readonly title: string; readonly base: string; readonly text: string }) {
  const lines = useMemo(() => shownDiff(base, text), [base, text])
  return (
    <>
      <h4 className={css["side"]}>{text ? title : `${title}: the cell is removed`}</h4>
      {text && <LineDiff lines={lines} label={title} />}
    </>
  )
}
