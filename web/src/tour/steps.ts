/** What each step of the tour waits for, found in what the notebook and the window say; pure. */

import type { ActorId, CellId, Notebook, Proposal, ProposalId } from "../core/types.gen.ts"

/** What had happened when a step began: only what is new counts. */
export interface Before {
  readonly executions: ReadonlySet<string>
  readonly decided: ReadonlySet<ProposalId>
  readonly letIn: ActorId | null
}

/** What is looked at beside the notebook. */
export interface Seen {
  readonly panel: string | null
  readonly letIn: ActorId | null
  readonly present: readonly ActorId[]
}

/** The panels that say who did what. */
const RECORDS: ReadonlySet<string> = new Set(["history", "activity"])

export function noteBefore(notebook: Notebook, letIn: ActorId | null): Before {
  return { executions: new Set(endedExecutions(notebook).map(({ id }) => id)), decided: new Set(decidedProposals(notebook)), letIn }
}

/** Whether a step was done since it began. */
export function isDone(step: number, notebook: Notebook, seen: Seen, before: Before): boolean {
  switch (step) {
    case 0:
      return endedExecutions(notebook).some(({ id }) => !before.executions.has(id))
    case 1:
      return seen.panel !== null && RECORDS.has(seen.panel)
    case 2:
      return seen.letIn !== before.letIn || seen.present.some(isAgent) || agentProposals(notebook).length > 0
    case 3:
      return decidedProposals(notebook).some((id) => !before.decided.has(id))
    default:
      return false
  }
}

/** The first code cell: the one to run first. */
export function firstCode({ cells, order }: Notebook): CellId | null {
  return order.find((id) => cells.get(id)?.kind === "code" && cells.get(id)?.removed === false) ?? null
}

/** The cell that ran last. */
export function lastRun(notebook: Notebook): CellId | null {
  const ended = endedExecutions(notebook).sort((one, other) => ((one.finished_at ?? "") < (other.finished_at ?? "") ? 1 : -1))
  return ended[0]?.cell ?? null
}

/** What an agent proposes and nobody has answered, the oldest first. */
export function openProposal(notebook: Notebook): ProposalId | null {
  return [...notebook.proposals].find(([, { by, state }]) => isAgent(by) && state === "open")?.[0] ?? null
}

function endedExecutions({ cells }: Notebook) {
  return [...cells.values()].flatMap(({ execution }) => (execution?.finished_at ? [execution] : []))
}

function agentProposals({ proposals }: Notebook): Proposal[] {
  return [...proposals.values()].filter(({ by }) => isAgent(by))
}

function decidedProposals({ proposals }: Notebook): ProposalId[] {
  return [...proposals].flatMap(([id, { by, state }]) => (isAgent(by) && (state === "accepted" || state === "declined") ? [id] : []))
}

function isAgent(actor: ActorId): boolean {
  return actor.startsWith("agent:")
}
