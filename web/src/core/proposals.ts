/** Questions about proposals: who may answer one, which wait, and where they show at cells. */

import type { ActorId, CellId, Notebook, Proposal, ProposalId, Scope } from "./types.gen.ts"

/** Who looks at a proposal. */
export interface Reader {
  readonly actor: ActorId
  readonly scopes: readonly Scope[]
  readonly on_behalf_of?: ActorId | null
}

/** Why somebody may not answer a proposal; null if they may. */
export function whyNotAnswer({ actor, scopes, on_behalf_of: behalf }: Reader, { by }: Proposal): "own" | "not_human" | "no_right" | null {
  if (by === actor || by === behalf) return "own"
  if (!actor.startsWith("human:")) return "not_human"
  return scopes.includes("approve") ? null : "no_right"
}

/** The proposals that wait for an answer, the oldest first. */
export function openProposals({ proposals }: Pick<Notebook, "proposals">): [ProposalId, Proposal][] {
  return [...proposals].filter(([, { state }]) => state === "open").toSorted(([, one], [, other]) => one.seq - other.seq)
}

/** How many proposals wait for this person. */
export function waitingFor(reader: Reader, notebook: Pick<Notebook, "proposals">): number {
  return openProposals(notebook).filter(([, proposal]) => whyNotAnswer(reader, proposal) === null).length
}

/** The cells at which open proposals show. */
export interface ProposalPlaces {
  /** With a line above the source. */
  readonly above: ReadonlySet<CellId>
  /** With a difference in the place of the source. */
  readonly source: ReadonlySet<CellId>
  /** Behind which new cells would stand. */
  readonly after: ReadonlySet<CellId>
}

export function proposalPlaces(notebook: Notebook): ProposalPlaces {
  const places = { above: new Set<CellId>(), source: new Set<CellId>(), after: new Set<CellId>() }
  for (const [, proposal] of openProposals(notebook)) {
    for (const { cell, type } of proposal.changes) {
      const isThere = notebook.cells.get(cell)?.removed === false
      if (type === "cell_added") {
        const anchor = shownAnchor(notebook, proposal, cell)
        if (anchor !== null) places.after.add(anchor)
      } else if (isThere) {
        places.above.add(cell)
        if (type === "source_edited" || type === "cell_removed") places.source.add(cell)
      }
    }
    for (const { cell } of proposal.effects) if (notebook.cells.get(cell)?.removed === false) places.above.add(cell)
  }
  return places
}

/** The cell that a person sees before a proposed one; null at the top. */
export function shownAnchor({ cells, order }: Notebook, { changes }: Proposal, added: CellId): CellId | null {
  const anchors = new Map(changes.flatMap((change) => (change.type === "cell_added" ? [[change.cell, change.after] as const] : [])))
  let anchor = anchors.get(added) ?? null
  for (let steps = anchors.size; anchor !== null && anchors.has(anchor) && steps > 0; steps -= 1) anchor = anchors.get(anchor) ?? null
  while (anchor !== null && cells.get(anchor)?.removed !== false) anchor = order[order.indexOf(anchor) - 1] ?? null
  return anchor
}

/** The first cell that a proposal is about and that a person sees. */
export function firstCell(notebook: Notebook, proposal: Proposal): CellId | null {
  const named = [...proposal.changes, ...proposal.effects].map(({ cell }) => cell)
  const seen = named.find((cell) => notebook.cells.get(cell)?.removed === false)
  const added = proposal.changes.find(({ type }) => type === "cell_added")
  return seen ?? (added ? shownAnchor(notebook, proposal, added.cell) : null)
}
