/** A proposal as it is shown now: each part with what it would change, what is chosen, and what would be accepted. */

import { builtOn, partCount, previewProposal, withBases, withDependents } from "../core/proposal_preview.ts"
import type { Preview, PreviewPart } from "../core/proposal_preview.ts"
import { whyNotAnswer } from "../core/proposals.ts"
import type { CellChange, Notebook, Proposal, ProposalId, RunCell } from "../core/types.gen.ts"
import { useValue } from "../hooks/values.ts"
import type { Readable } from "../hooks/values.ts"
import { EditLog } from "../sync/edit_log.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { modelOf } from "./model.ts"
import type { ProposalsModel } from "./model.ts"

export interface PartView extends PreviewPart {
  readonly change: CellChange | null
  readonly effect: RunCell | null
  readonly isChosen: boolean
  /** It cannot be: by itself, or because what it builds on cannot. */
  readonly isBlocked: boolean
  /** The parts that it builds on. */
  readonly bases: readonly number[]
}

export interface ProposalView {
  readonly id: ProposalId
  readonly proposal: Proposal
  readonly parts: readonly PartView[]
  /** The notebook with all that can be accepted. */
  readonly after: Notebook
  /** What is sent with a yes: null for all of it. */
  readonly selection: readonly number[] | null
  /** Whether the server would take the selection. */
  readonly isPossible: boolean
  readonly isPartial: boolean
  readonly whyNot: ReturnType<typeof whyNotAnswer> | "expired"
}

const EDITS = new WeakMap<ProposalsModel, EditLog>()

/** What was typed since, for all proposals of a notebook. */
function editsOf(model: ProposalsModel): EditLog {
  const edits = EDITS.get(model) ?? new EditLog(model.context.log, model.context.parts)
  EDITS.set(model, edits)
  return edits
}

function viewOf(model: ProposalsModel, now: Notebook, id: ProposalId, proposal: Proposal): ProposalView {
  const { context } = model
  const edits = editsOf(model)
  const foresee = (selection: readonly number[] | null): Preview =>
    previewProposal(now, proposal, selection, (cell, base) => edits.of(now, cell, base))
  const whole = foresee(null)
  const built = builtOn(proposal)
  const blocked = withDependents(built, [...whole.parts.values()].flatMap(({ number, problem }) => (problem ? [number] : [])))
  const left = withDependents(built, model.unticked.get().get(id) ?? [])
  const count = partCount(proposal)
  const numbers = Array.from({ length: count }, (_, number) => number)
  const chosen = numbers.filter((number) => !blocked.has(number) && !left.has(number))
  const selection = chosen.length === count && !needsOthers(proposal) ? null : chosen
  const parts = numbers.flatMap((number): PartView[] => {
    const part = whole.parts.get(number)
    const change = proposal.changes[number] ?? null
    const effect = proposal.effects[number - proposal.changes.length] ?? null
    if (!part) return []
    return [{ ...part, change, effect, isChosen: chosen.includes(number), isBlocked: blocked.has(number), bases: built[number] ?? [] }]
  })
  const isExpired = proposal.expires_at !== null && Date.parse(proposal.expires_at) <= context.clock.now()
  return {
    id,
    proposal,
    parts,
    after: whole.after,
    selection,
    isPossible: chosen.length > 0 && foresee(selection).isPossible,
    isPartial: chosen.length < count,
    whyNot: whyNotAnswer(context.open.me, proposal) ?? (isExpired ? "expired" : null),
  }
}

/** Whether an effect waits for an execution outside the proposal, which may have ended since. */
function needsOthers({ effects }: Proposal): boolean {
  return effects.some(({ needs }) => needs && !effects.some(({ execution }) => execution === needs))
}

/** Tick a part with what it builds on, or leave it out with what builds on it. */
export function tick(model: ProposalsModel, { id, proposal, parts }: ProposalView, number: number, isTicked: boolean): void {
  const built = builtOn(proposal)
  const left = new Set(parts.filter(({ isChosen, isBlocked }) => !isChosen && !isBlocked).map((part) => part.number))
  if (isTicked) for (const each of withBases(built, [number])) left.delete(each)
  else for (const each of withDependents(built, [number])) left.add(each)
  model.setUnticked(id, left)
}

/** What a view is made of: as long as none of it changed, it is the same. */
function ingredients(model: ProposalsModel, id: ProposalId): readonly unknown[] {
  const { context, unticked } = model
  const now = context.live.confirmed
  const proposal = now.proposals.get(id)
  const cells = proposal ? [...proposal.changes, ...proposal.effects].map(({ cell }) => cell) : []
  const seen = cells.flatMap((id) => {
    const cell = now.cells.get(id)
    return cell ? [cell.source, cell.kind, cell.name, cell.tags, cell.metadata, cell.removed, cell.queued?.id, cell.execution?.id] : [null]
  })
  return [proposal, now.order, editsOf(model).version.get(), unticked.get().get(id), ...seen]
}

const SHOWN = new WeakMap<ProposalsModel, Map<ProposalId, Readable<ProposalView | null>>>()

/** A proposal that waits, as it is now; null once it is decided. Its card and its cells look at the same object. */
export function proposalView(context: PageContext, id: ProposalId): Readable<ProposalView | null> {
  const model = modelOf(context)
  const shown = SHOWN.get(model) ?? new Map<ProposalId, Readable<ProposalView | null>>()
  SHOWN.set(model, shown)
  const view = shown.get(id) ?? makeView(model, id)
  shown.set(id, view)
  return view
}

function makeView(model: ProposalsModel, id: ProposalId): Readable<ProposalView | null> {
  const { live } = model.context
  let made: { readonly of: readonly unknown[]; readonly view: ProposalView | null } | null = null
  const get = (): ProposalView | null => {
    const of = ingredients(model, id)
    if (made?.of.length === of.length && of.every((each, index) => Object.is(each, made?.of[index]))) return made.view
    const proposal = live.confirmed.proposals.get(id)
    made = { of, view: proposal?.state === "open" ? viewOf(model, live.confirmed, id, proposal) : null }
    return made.view
  }
  const subscribe = (listener: () => void): (() => void) => {
    const fields = (["seq", "proposals"] as const).map((field) => live.store.subscribe(field, listener))
    const stops = [...fields, editsOf(model).version.subscribe(listener), model.unticked.subscribe(listener)]
    return () => stops.forEach((stop) => stop())
  }
  return { get, subscribe }
}

export function useProposal(context: PageContext, id: ProposalId): ProposalView | null {
  return useValue(proposalView(context, id))
}
