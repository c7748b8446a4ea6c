/**
 * Who worked in a notebook: everyone who ever changed a cell, as the server reads it from the log, and who runs, proposes
 * or changes something now, as the notebook tells.
 */

import type { Notebook } from "../core/types.gen.ts"
import type { Editor } from "../sync/api_undo.ts"

export interface Worker {
  readonly actor: string
  /** The person for whom an agent acted last. */
  readonly onBehalfOf: string | null
  /** Whether it changed cells. */
  readonly hasEdited: boolean
}

const KINDS = ["agent", "human"]

/** Agents first, then people, each by name. Without `editors`, whose edits were all overwritten is not among them. */
export function workersOf({ cells, proposals }: Notebook, editors: readonly Editor[] = []): readonly Worker[] {
  const found = new Map<string, { onBehalfOf: string | null; hasEdited: boolean }>()
  const note = (actor: string, hasEdited: boolean, onBehalfOf: string | null = null): void => {
    if (!KINDS.includes(kindOf(actor))) return
    const known = found.get(actor) ?? { onBehalfOf: null, hasEdited: false }
    found.set(actor, { onBehalfOf: onBehalfOf ?? known.onBehalfOf, hasEdited: known.hasEdited || hasEdited })
  }
  for (const { actor, has_edited: hasEdited = false, on_behalf_of: behalf = null } of editors) note(actor, hasEdited, behalf)
  for (const cell of cells.values()) {
    if (!cell.scratch) {
      note(cell.added_by, true)
      note(cell.edited_by, true)
    }
    for (const execution of [cell.execution, cell.queued]) if (execution) note(execution.by, false, execution.on_behalf_of)
  }
  for (const { by, on_behalf_of: behalf, state } of proposals.values()) note(by, state === "accepted", behalf)
  return [...found]
    .map(([actor, worker]) => ({ actor, ...worker }))
    .toSorted((one, other) => KINDS.indexOf(kindOf(one.actor)) - KINDS.indexOf(kindOf(other.actor)) || one.actor.localeCompare(other.actor))
}

export function isAgent(actor: string): boolean {
  return kindOf(actor) === "agent"
}

function kindOf(actor: string): string {
  return actor.slice(0, actor.indexOf(":"))
}
