/** A cell of a moment: as the notebook's page draws it, with what became of it since. */

import { memo } from "react"

import { CellRan, CellShown, CellText } from "../cells/ReadCell.tsx"
import { KIND_WORDS } from "../cells/words.ts"
import { cellState, isOpen, runs } from "../core/notebook.ts"
import type { SinceThen } from "../core/restore.ts"
import type { Cell, CellId } from "../core/types.gen.ts"
import type { OutputContext } from "../outputs/context.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { StateMark, stateWord } from "../ui/StateMark.tsx"
import css from "./Moments.module.css"

interface Props {
  readonly cell: Cell
  readonly language: string
  readonly context: OutputContext
  readonly isStale: boolean
  readonly since: SinceThen
  readonly me: string
  readonly onRestore: ((cell: CellId) => void) | null
}

const SINCE: Readonly<Record<Exclude<SinceThen, "same">, string>> = { changed: "Changed since", removed: "Removed since" }

export const MomentCell = memo(function MomentCell({ cell, language, context, isStale, since, me, onRestore }: Props) {
  const { id, kind, name, tags, execution } = cell
  const state = cellState(cell)
  const last = cell.missed ?? execution
  const isRunnable = runs(cell)
  return (
    <div
      role="listitem"
      className={css["cell"]}
      data-cell={id}
      data-kind={kind}
      data-state={isRunnable ? state : undefined}
      data-since={since}
      aria-label={`${KIND_WORDS[kind]} cell${name ? ` ${name}` : ""}`}
    >
      <div className={css["gutter"]}>{isRunnable && <StateMark state={state} stale={isStale} count={execution?.count} />}</div>
      <div className={css["body"]}>
        {(name !== null || tags.length > 0 || (kind !== "code" && kind !== "markdown")) && (
          <div className={css["head"]}>
            {kind !== "code" && kind !== "markdown" && <span>{KIND_WORDS[kind]}</span>}
            {name !== null && <span data-name>{name}</span>}
            {tags.length > 0 && (
              <span data-tags>
                <Icon name="tag" size={12} />
                {tags.join(", ")}
              </span>
            )}
          </div>
        )}
        <div className={kind === "markdown" ? css["prose"] : css["source"]} data-source>
          <CellText cell={cell} language={language} context={context} />
        </div>
        <div className={css["outputs"]} data-outputs>
          <CellShown cell={cell} context={context} />
        </div>
        {isRunnable && last && (
          <p className={css["foot"]}>
            {isOpen(last) ? `${stateWord(state)} then` : state === "ok" ? null : `${stateWord(state)} · `}
            {!isOpen(last) && <CellRan execution={last} me={me} />}
          </p>
        )}
        {since !== "same" && (
          <p className={css["since"]}>
            <span>{SINCE[since]}</span>
            {onRestore && <Button onClick={() => onRestore(id)}>Restore this cell</Button>}
          </p>
        )}
      </div>
    </div>
  )
})
