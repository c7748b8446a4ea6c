/**
 * What is shown of an act before it is recorded: its event folded as it is, where it makes sense.
 *
 * The server decides; this only predicts. An event that is not in the table, or does not fit the notebook any more, is
 * sent all the same and shown once it is recorded.
 */

import { openExecution } from "../core/notebook.ts"
import type { CellId, KnownEvent, Notebook } from "../core/types.gen.ts"

type Fits<E> = (now: Notebook, event: E) => boolean
type Table = { readonly [T in KnownEvent["type"]]?: Fits<Extract<KnownEvent, { type: T }>> }

const always = (): boolean => true
const aboutCell = (now: Notebook, { cell }: { readonly cell: CellId }): boolean => isCell(now, cell)
const aboutOpen = (now: Notebook, { execution }: { readonly execution: string }): boolean =>
  openExecution(now, execution) !== null
const aboutComment = (now: Notebook, { comment }: { readonly comment: string }): boolean => now.comments.has(comment)
const aboutProposal = (now: Notebook, { proposal }: { readonly proposal: string }): boolean =>
  now.proposals.get(proposal)?.state === "open"

const PREDICTED: Table = {
  notebook_renamed: always,
  notebook_archived: always,
  metadata_set: always,
  // Always, and where its cell is there already it takes that one's place until it is refused: what is typed into it
  // meanwhile is made on this text.
  cell_added: always,
  cell_removed: aboutCell,
  cell_moved: (now, { cell, after }) => isCell(now, cell) && after !== cell && (after === null || isCell(now, after)),
  cell_kind_changed: aboutCell,
  cell_named: aboutCell,
  cell_tagged: aboutCell,
  cell_metadata_set: aboutCell,
  source_edited: aboutCell,
  execution_requested: (now, { cell, execution }) =>
    isCell(now, cell) && !now.executions.has(execution) && now.cells.get(cell)?.queued === null,
  scratch_requested: (now, { cell }) => !now.cells.has(cell),
  execution_cancelled: aboutOpen,
  interrupt_requested: aboutOpen,
  input_answered: aboutOpen,
  proposal_declined: aboutProposal,
  proposal_withdrawn: aboutProposal,
  comment_added: always,
  comment_edited: aboutComment,
  comment_resolved: aboutComment,
}

/** The event as it can be shown over this notebook before it is recorded; null where it cannot. */
export function predicted(now: Notebook, event: KnownEvent): KnownEvent | null {
  const fits = PREDICTED[event.type] as Fits<KnownEvent> | undefined
  if (!fits?.(now, event)) return null
  if (event.type !== "cell_added" || event.after === null) return event
  return event.after !== event.cell && isCell(now, event.after) ? event : { ...event, after: null }
}

function isCell(now: Notebook, id: CellId): boolean {
  return now.cells.get(id)?.scratch === false
}
