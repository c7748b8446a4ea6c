/** What one window knows of the proposals of a notebook beside the log: what is ticked, what was seen, what is typed. */

import { openProposals, proposalPlaces } from "../core/proposals.ts"
import type { ProposalPlaces } from "../core/proposals.ts"
import type { CellId, Proposal, ProposalId } from "../core/types.gen.ts"
import type { Readable } from "../hooks/values.ts"
import type { Live } from "../sync/live.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Value } from "../sync/store.ts"

const NONE: ReadonlySet<CellId> = new Set()

export class ProposalsModel {
  readonly context: PageContext
  /** The parts that a person does not want, by proposal. */
  readonly unticked = new Value<ReadonlyMap<ProposalId, ReadonlySet<number>>>(new Map())
  /** The proposal for whose decline a word is asked. */
  readonly declined = new Value<ProposalId | null>(null)
  /** An answer that is under way. */
  readonly answered = new Value<ProposalId | null>(null)
  /** Why the last answer was refused, by proposal. */
  readonly faults = new Value<ReadonlyMap<ProposalId, string>>(new Map())
  /** Proposals that this browser showed as open, and whose end nobody has dismissed here. */
  readonly seen: Value<ReadonlySet<ProposalId>>
  /** Proposals as they were while they were open: of a decided one, the fold has only the outcome. */
  readonly remembered = new Map<ProposalId, Proposal>()
  readonly #key: string

  constructor(context: PageContext) {
    this.context = context
    this.#key = `quire:proposals:${context.log}`
    this.seen = new Value(new Set(readIds(context.parts.storage.getItem(this.#key))))
  }

  /** Note which proposals are open, so that their ends are told. */
  look(): void {
    const { store } = this.context.live
    const open = openProposals(store.get())
    for (const [id, proposal] of open) this.remembered.set(id, proposal)
    const fresh = open.filter(([id]) => !this.seen.get().has(id)).map(([id]) => id)
    if (fresh.length) this.#see([...this.seen.get(), ...fresh])
  }

  /** Show a proposal in the list, whatever became of it. */
  show(id: ProposalId): void {
    if (!this.seen.get().has(id)) this.#see([...this.seen.get(), id])
  }

  /** Take a decided proposal off the list. */
  dismiss(id: ProposalId): void {
    this.#see([...this.seen.get()].filter((each) => each !== id))
  }

  #see(ids: readonly ProposalId[]): void {
    const { storage } = this.context.parts
    this.seen.set(new Set(ids))
    try {
      if (ids.length) storage.setItem(this.#key, JSON.stringify(ids))
      else storage.removeItem(this.#key)
    } catch {
      // Full, or closed to this page: after a reload only those are shown that are open.
    }
  }

  setFault(id: ProposalId, fault: string | null): void {
    const faults = new Map(this.faults.get())
    if (fault === null) faults.delete(id)
    else faults.set(id, fault)
    this.faults.set(faults)
  }

  setUnticked(id: ProposalId, numbers: ReadonlySet<number>): void {
    this.unticked.set(new Map(this.unticked.get()).set(id, numbers))
  }

  /** The ids of the cards, the oldest first: those that wait, and those whose end was not dismissed. */
  cards(): ProposalId[] {
    const { proposals } = this.context.live.store.get()
    const shown = [...proposals].filter(([id, { state }]) => state === "open" || this.seen.get().has(id))
    return shown.toSorted(([, one], [, other]) => one.seq - other.seq).map(([id]) => id)
  }
}

function readIds(text: string | null): ProposalId[] {
  try {
    const ids: unknown = JSON.parse(text ?? "[]")
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : []
  } catch {
    return []
  }
}

const MODELS = new WeakMap<Live, ProposalsModel>()

/** The model of the notebook that is open in this window. */
export function modelOf(context: PageContext): ProposalsModel {
  const model = MODELS.get(context.live) ?? new ProposalsModel(context)
  MODELS.set(context.live, model)
  return model
}

/** Cells at which something of open proposals shows, for a slot. */
export function placesOf({ live }: PageContext, place: keyof ProposalPlaces): Readable<ReadonlySet<CellId>> {
  let cells = NONE
  const get = (): ReadonlySet<CellId> => {
    const notebook = live.store.get()
    const hasOpen = [...notebook.proposals.values()].some(({ state }) => state === "open")
    const next = hasOpen ? proposalPlaces(notebook)[place] : NONE
    if (next.size !== cells.size || [...next].some((cell) => !cells.has(cell))) cells = next
    return cells
  }
  const subscribe = (listener: () => void): (() => void) => {
    const stops = (["proposals", "order", "cells"] as const).map((field) =>
      live.store.subscribe(field, () => {
        const before = cells
        if (get() !== before) listener()
      }),
    )
    return () => stops.forEach((stop) => stop())
  }
  return { get, subscribe }
}
