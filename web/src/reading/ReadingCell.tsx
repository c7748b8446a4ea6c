/** A cell as it is read: prose, or what its code showed, and the code where it is wanted. */

import { memo } from "react"

import { isFolded } from "../actions/cell_edits.ts"
import { CellShown, CellText } from "../cells/ReadCell.tsx"
import { KIND_WORDS } from "../cells/words.ts"
import { cellState, runs } from "../core/notebook.ts"
import type { Cell, Output } from "../core/types.gen.ts"
import type { OutputContext } from "../outputs/context.ts"
import { isResult } from "../outputs/media.ts"
import { stateWord } from "../ui/StateMark.tsx"
import css from "./Reading.module.css"

interface Props {
  readonly cell: Cell
  readonly language: string
  readonly context: OutputContext
  readonly isCodeShown: boolean
}

/** Whether an output is a result and shows nothing else. */
function isNamedValue(output: Output): boolean {
  if (output.kind !== "display" || Object.keys(output.blobs ?? {}).length > 0) return false
  const media = Object.keys(output.data ?? {})
  return media.some(isResult) && media.every((each) => isResult(each) || each === "text/plain")
}

export const ReadingCell = memo(function ReadingCell({ cell, language, context, isCodeShown }: Props) {
  const { kind, execution, id, name } = cell
  if (kind === "markdown") {
    if (!cell.source.trim()) return null
    return (
      <div className={css["prose"]} data-cell={id} data-kind={kind}>
        <CellText cell={cell} language={language} context={context} />
      </div>
    )
  }
  const state = cellState(cell)
  const isGoing = state === "running" || state === "queued"
  const outputs = runs(cell) && !isFolded(cell, "outputs") ? (execution?.outputs ?? []) : []
  // Named values stand in the table at the top.
  const hasOutputs = isCodeShown ? outputs.length > 0 : !outputs.every(isNamedValue)
  // What ended without a word of its own: the reader has to know that something is missing here.
  const isBroken = runs(cell) && !outputs.length && ["timeout", "dead_kernel", "lost", "skipped", "cancelled"].includes(state)
  if (!isCodeShown && !hasOutputs && !isGoing && !isBroken) return null
  return (
    <section className={css["cell"]} data-cell={id} data-kind={kind} data-state={runs(cell) ? state : undefined} aria-label={name ?? `${KIND_WORDS[kind]} cell`}>
      {isCodeShown && (
        <div className={css["code"]} data-source>
          <CellText cell={cell} language={language} context={context} />
        </div>
      )}
      {(hasOutputs || isGoing) && (
        <div className={css["shown"]} data-outputs>
          <CellShown cell={cell} context={context} isLive />
        </div>
      )}
      {(isGoing || isBroken) && <p className={css["going"]}>{stateWord(state)}</p>}
    </section>
  )
})
