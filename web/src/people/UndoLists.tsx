/** What an undo takes back, and what others did that depends on it. */

import { visible } from "../core/visible.ts"
import type { CellId } from "../core/types.gen.ts"
import type { DependentEdit, UndoneChange, UndoPlan } from "../sync/api_undo.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { nameOf, Person } from "../ui/Person.tsx"
import css from "./Agents.module.css"

const EXCERPT = 60

export interface UndoListsProps {
  readonly context: PageContext
  readonly plan: UndoPlan
  readonly name: string
}

export function UndoLists({ context, plan, name }: UndoListsProps) {
  const { undone = [], dependents = [], executions = 0 } = plan
  const me = context.open.me.actor
  return (
    <>
      <h3>Taken back</h3>
      <ul>
        {undone.map((change) => (
          <li key={`${change.cell} ${change.part}`}>
            <CellName context={context} cell={change.cell} />
            <span className={css["soft"]}>{undoneText(change)}</span>
          </li>
        ))}
      </ul>
      {dependents.length > 0 && (
        <>
          <h3>Depends on it, and stays</h3>
          <ul>
            {dependents.map((edit) => (
              <li key={`${edit.by} ${edit.cell} ${edit.what}`}>
                <CellName context={context} cell={edit.cell} />
                <span className={css["soft"]}>
                  <Person actor={edit.by} me={me} plain /> {dependentText(edit, name)}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>What others typed stays as it is. The undo is recorded in your name, and can be undone in turn.</p>
      {executions > 0 && (
        <p>
          <strong>What ran cannot be undone:</strong> {executions === 1 ? "one execution" : `${executions} executions`} followed.
        </p>
      )}
    </>
  )
}

function CellName({ context, cell }: { readonly context: PageContext; readonly cell: CellId }) {
  const { cells, order } = context.live.store.get()
  const found = cells.get(cell)
  const number = order.filter((id) => cells.get(id)?.removed === false).indexOf(cell) + 1
  const first = found?.source.trim().split("\n", 1)[0] ?? ""
  const shown = found?.name ?? visible(first).slice(0, EXCERPT)
  return (
    <span>
      {number > 0 ? `Cell ${number}` : "Removed cell"} {shown && <code>{shown}</code>}
    </span>
  )
}

export function undoneText({ part, removes = 0, restores = 0, stays = false }: UndoneChange): string {
  switch (part) {
    case "added":
      return "goes: it was added"
    case "removed":
      return "comes back: it was removed"
    case "text": {
      const parts = [removes > 0 && `${characters(removes)} go`, restores > 0 && `${characters(restores)} come back`].filter(Boolean)
      return `${parts.join(", ")}${stays ? "; the cell stays for what others typed in it" : ""}`
    }
    case "place":
      return "goes back to where it was"
    default:
      return `its ${part} ${part === "tags" ? "are" : "is"} set back`
  }
}

function characters(count: number): string {
  return count === 1 ? "1 character" : `${count} characters`
}

const DEPENDS: Readonly<Record<DependentEdit["what"], (name: string) => string>> = {
  text: (name) => `wrote inside what ${name} wrote`,
  cell: () => "wrote in this added cell",
  ran: () => "ran it",
  placed: () => "placed it after a cell that goes or moves",
  changed: () => "changed its kind, name, tags or metadata",
  commented: () => "commented on it",
}

export function dependentText({ what, count = 1 }: DependentEdit, name: string): string {
  return `${DEPENDS[what](nameOf(name))}${count > 1 ? `, ${count} times` : ""}`
}
