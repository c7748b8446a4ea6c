/** Says in words how what this person ran ended, and that a file is in conflict, for those who do not see the marks. */

import { useEffect, useState } from "react"
import { cellState, openExecution } from "../core/notebook.ts"
import type { CellId, ExecutionId, Notebook } from "../core/types.gen.ts"
import { stateWord } from "../ui/StateMark.tsx"
import type { Page } from "./page.ts"
import { cellLabel } from "./words.ts"

export function Announcer({ page }: { readonly page: Page }) {
  const [text, setText] = useState("")
  useEffect(() => {
    let open = ownOpen(page)
    return page.live.store.subscribe("executions", () => {
      const now = ownOpen(page)
      const notebook = page.live.store.get()
      const ended = [...open].filter(([id]) => !now.has(id)).map(([, cell]) => ending(notebook, cell))
      open = now
      if (ended.length) setText(ended.length > 3 ? `${ended.length} cells have ended` : ended.join(". "))
    })
  }, [page])
  useEffect(() => {
    let before = page.live.store.field("conflicts")
    return page.live.store.subscribe("conflicts", () => {
      const notebook = page.live.store.get()
      const raised = [...notebook.conflicts].filter(([id]) => !before.has(id)).map(([, { cell }]) => cellLabel(notebook, cell))
      before = notebook.conflicts
      if (raised.length) setText(`In conflict with the file: ${raised.slice(0, 3).join(", ")}`)
    })
  }, [page])
  return (
    <div className="visually-hidden" role="status" aria-live="polite" data-announced>
      {text}
    </div>
  )
}

function ownOpen(page: Page): Map<ExecutionId, CellId> {
  const notebook = page.live.store.get()
  return new Map([...notebook.executions].filter(([id]) => openExecution(notebook, id)?.by === page.open.me.actor))
}

function ending(notebook: Notebook, id: CellId): string {
  const cell = notebook.cells.get(id)
  if (!cell) return ""
  const { ename = "", evalue = "" } = cell.execution?.fault ?? {}
  const fault = cellState(cell) === "error" && ename ? `, ${ename}: ${evalue.slice(0, 200)}` : ""
  return `${cellLabel(notebook, id)}: ${stateWord(cellState(cell))}${fault}`
}
