/** The answers: yes with a way back, no with a word. */

import { appliedEdit, cellChanges } from "../core/events.ts"
import { difference } from "../core/text.ts"
import type { CellId, Edit, Entry, ProposalId } from "../core/types.gen.ts"
import { acceptProposal, declineProposal } from "../sync/api_proposals.ts"
import { Fault } from "../sync/fault.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { modelOf } from "./model.ts"

/** Accept a proposal, or the numbers of a selection. Afterwards a line says so, and Z takes the changes back. */
export async function accept(context: PageContext, id: ProposalId, selection: readonly number[] | null): Promise<void> {
  const { live, log, parts } = context
  const before = live.confirmed
  live.flush()
  await answer(context, id, async () => {
    const { entries } = await acceptProposal(parts.api, log, id, selection)
    const entry = entries.find(({ event }) => event.type === "proposal_accepted")
    if (!entry) return
    await new Promise<void>((resolve) => live.whenAt(entry.seq, resolve))
    await tellAccepted(context, entry, before.seq === entry.seq - 1 ? before : null)
  })
}

/** Decline a proposal with a word, which may be empty. */
export async function decline(context: PageContext, id: ProposalId, why: string): Promise<void> {
  await answer(context, id, async () => {
    const { entries } = await declineProposal(context.parts.api, context.log, id, why)
    await new Promise<void>((resolve) => context.live.whenAt(entries.at(-1)?.seq ?? 0, resolve))
    context.notify({ text: "Declined. Nothing was changed." })
  })
}

async function answer(context: PageContext, id: ProposalId, send: () => Promise<void>): Promise<void> {
  const model = modelOf(context)
  if (model.answered.get() !== null) return
  const isInPanel = document.activeElement?.closest("[data-rail-panel]") != null
  model.answered.set(id)
  model.setFault(id, null)
  try {
    await send()
    model.declined.set(null)
    goOn(context, id, isInPanel)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    model.setFault(id, error.message)
  } finally {
    model.answered.set(null)
  }
}

/** Who answered here has seen the end. From the panel one goes on to the next card, or stays in the panel. */
function goOn(context: PageContext, id: ProposalId, isInPanel: boolean): void {
  const model = modelOf(context)
  const cards = model.cards()
  const next = cards.slice(cards.indexOf(id) + 1).find((each) => each !== id) ?? cards.find((each) => each !== id)
  model.dismiss(id)
  if (!isInPanel) return
  if (next !== undefined) context.openPanel("proposals", next)
  else document.querySelector<HTMLElement>("[data-rail-panel=proposals]")?.focus({ preventScroll: true })
}

async function tellAccepted(context: PageContext, entry: Entry, known: PageContext["live"]["confirmed"] | null): Promise<void> {
  const { live, log, parts } = context
  const changes = cellChanges(entry.event)
  const ran = entry.event.type === "proposal_accepted" ? (entry.event.effects ?? []).length : 0
  const cannot = ran ? " What ran cannot be undone." : ""
  if (!changes.length) return void context.notify({ text: `Accepted.${cannot}` })
  const before = known ?? (await parts.api.notebook(log, { seq: entry.seq - 1, outputs: 0 }))
  const since: (readonly [CellId, Edit])[] = []
  let covered = entry.seq
  while (covered < live.seq) {
    const until = live.seq
    since.push(...editsIn(await parts.api.entries(log, covered, until)))
    covered = until
  }
  const undo = context.addUndo({ title: "Accepted a proposal", before, changes, since: [...since, ...unsent(context)] })
  context.notify({ text: `Accepted.${cannot}`, action: { label: "Undo", do: undo } })
}

function editsIn(entries: readonly Entry[]): (readonly [CellId, Edit])[] {
  return entries.flatMap(({ event }) => cellChanges(event).flatMap((change) => (change.type === "source_edited" ? [[change.cell, appliedEdit(change)] as const] : [])))
}

/** What was typed here and is not recorded: the way back moves out of its way, too. */
function unsent({ live }: PageContext): (readonly [CellId, Edit])[] {
  return [...live.confirmed.cells.values()].flatMap(({ id, source }) => {
    const shown = live.store.cell(id)?.source ?? source
    return shown === source ? [] : [[id, difference(source, shown)] as const]
  })
}
