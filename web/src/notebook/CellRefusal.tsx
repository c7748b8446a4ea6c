/** Why something that was done to a cell here was refused, until it is dismissed. */

import type { CellId, KnownEvent, Notebook } from "../core/types.gen.ts"
import { visible } from "../core/visible.ts"
import { useAsked } from "../hooks/values.ts"
import type { Refusal } from "../sync/live.ts"
import { Icon } from "../ui/Icon.tsx"
import { IconButton } from "../ui/IconButton.tsx"
import styles from "./Cell.module.css"
import type { Page } from "./page.ts"
import { typedText } from "./words.ts"

export function CellRefusal({ page, id }: { readonly page: Page; readonly id: CellId }) {
  const refusal = useAsked(page.live.refusals, (refusals) => refusals.findLast((one) => isAbout(one, id, page.live.store.get())))
  if (!refusal) return null
  const typed = typedText(refusal.events)
  return (
    <div className={styles["refusal"]} role="alert">
      <Icon name="warning" size={14} />
      <span>
        <b>{didWhat(refusal.events[0])}</b> {refusal.fault.message}
        {typed.trim() !== "" && (
          <details>
            <summary>What you typed</summary>
            <pre>{visible(typed)}</pre>
          </details>
        )}
      </span>
      <IconButton label="Dismiss" icon={<Icon name="cross" size={12} />} onClick={() => page.live.dismiss(refusal.id)} />
    </div>
  )
}

/** Whether a refusal is of a cell; with null, whether it is of none that is shown. */
export function isAbout(refusal: Refusal, id: CellId | null, notebook: Notebook): boolean {
  const cells = refusal.events.flatMap((event) => cellsOf(event, notebook)).filter((cell) => notebook.cells.get(cell)?.removed === false)
  return id === null ? cells.length === 0 : cells[0] === id
}

function cellsOf(event: KnownEvent, notebook: Notebook): CellId[] {
  if ("cell" in event && typeof event.cell === "string") return [event.cell]
  if ("execution" in event) return [notebook.executions.get(event.execution) ?? ""]
  return []
}

const WORDS: Partial<Record<KnownEvent["type"], string>> = {
  execution_requested: "Not run.",
  source_edited: "Not changed.",
  cell_removed: "Not removed.",
  cell_moved: "Not moved.",
  cell_added: "Not added.",
  cell_named: "Not named.",
  interrupt_requested: "Not interrupted.",
  execution_cancelled: "Not cancelled.",
}

export function didWhat(event: KnownEvent | undefined): string {
  return (event && WORDS[event.type]) ?? "Not done."
}
