/** What somebody does in a notebook: from what the log says of them, and where they say that they are. */

import { cellLabel } from "./cell_label.ts"
import type { ActorId, CellId, Notebook } from "./types.gen.ts"

export type Doing = "reading" | "editing" | "running" | "waiting"

/** Where a window or an agent says that it is. */
export interface Place {
  readonly cell: CellId | null
  readonly doing: Doing | null
}

export interface Activity {
  /** `proposed`: a proposal of theirs waits for somebody's yes. */
  readonly doing: Doing | "proposed"
  readonly cell: CellId | null
}

/** What an actor does: what the log knows counts before what is said. */
export function activityOf(notebook: Notebook, actor: ActorId, place: Place | null): Activity {
  const proposal = [...notebook.proposals.values()].find(({ by, state }) => by === actor && state === "open")
  const cell = place?.cell ?? null
  if (proposal) return { doing: "proposed", cell: cell ?? proposal.changes[0]?.cell ?? proposal.effects[0]?.cell ?? null }
  const running = runningCell(notebook, actor)
  if (running !== null) return { doing: "running", cell: running }
  // What it ran is over, or not begun: the log says so.
  if (place?.doing === "running") return { doing: "reading", cell }
  return { doing: place?.doing ?? "reading", cell }
}

/** In words: "editing load", "waiting for your yes". */
export function activityText(notebook: Notebook, { doing, cell }: Activity, mayApprove: boolean): string {
  if (doing === "proposed") return mayApprove ? "waiting for your yes" : "waiting for somebody's yes"
  const label = cell === null ? null : labelOf(notebook, cell)
  return label === null ? doing : `${doing}${doing === "waiting" ? " at" : ""} ${label}`
}

/** The agents that have a proposal open, whether they are here or not. */
export function proposers({ proposals }: Notebook): ReadonlyMap<ActorId, ActorId | null> {
  return new Map([...proposals.values()].filter(({ state }) => state === "open").map(({ by, on_behalf_of }) => [by, on_behalf_of]))
}

/** What a cell is called; null for one that is gone. */
export function labelOf(notebook: Notebook, id: CellId): string | null {
  return notebook.cells.get(id)?.removed === false ? cellLabel(notebook, id) : null
}

function runningCell({ executions, cells }: Notebook, actor: ActorId): CellId | null {
  for (const [id, of] of executions) {
    const cell = cells.get(of)
    const execution = [cell?.execution, cell?.queued].find((each) => each?.id === id)
    if (execution?.by === actor && execution.state === "running") return of
  }
  return null
}
