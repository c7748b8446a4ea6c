/** The mark of a cell that its file has otherwise: a word, and a button that shows both sides. */

import type { CellId } from "../core/types.gen.ts"
import { useField } from "../hooks/values.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import styles from "./Cell.module.css"
import type { Page } from "./page.ts"
import { conflictOf } from "./words.ts"

export function CellConflict({ page, id }: { readonly page: Page; readonly id: CellId }) {
  const conflict = conflictOf(useField(page.live, "conflicts"), id)
  const binding = useField(page.live, "binding")
  if (!conflict) return null
  const file = binding?.path.split("/").at(-1) ?? "the file"
  return (
    <div className={styles["conflict"]} data-conflict>
      <Icon name="warning" size={14} />
      <span>
        <b>Conflict</b> {conflict.theirs ? <>{file} has another text here.</> : <>{file} no longer has this cell.</>}
      </span>
      <Button kind="quiet" onClick={() => showSides(page, id)}>
        Show both sides
      </Button>
    </div>
  )
}

function showSides(page: Page, id: CellId): void {
  page.view.press(id)
  page.openPanel("history")
  // Where the panel was open already, nothing else takes the focus there.
  document.querySelector<HTMLElement>("[data-rail-panel=history]")?.focus({ preventScroll: true })
}
