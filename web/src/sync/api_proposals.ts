/** Proposals over HTTP: one as it was made, the answers to it, and what was typed since. */

import type { ActorId, CellChange, Entry, LogId, ProposalId, ProposalState, RunCell } from "../core/types.gen.ts"
import type { Api } from "./api.ts"
import { address } from "./api_requests.ts"
import type { Submitted } from "./api_types.ts"

/** A proposal, as it was made and as it is; also one that is decided. */
export interface ProposalFound {
  readonly proposal: ProposalId
  readonly state: ProposalState
  readonly why: string
  readonly changes: readonly CellChange[]
  readonly effects: readonly RunCell[]
  readonly by: ActorId
  readonly on_behalf_of: ActorId | null
  readonly at: string
  readonly seq: number
  readonly expires_at: string | null
  readonly decided_by: ActorId | null
  readonly decided_at: string | null
  readonly decided_why: string
}

export function findProposal({ requests }: Api, log: LogId, proposal: ProposalId): Promise<ProposalFound> {
  return requests.read(address(["notebooks", log, "proposals", proposal]))
}

/** Say yes, to all of it or to the numbers of a selection. Answers with what that came to. */
export function acceptProposal({ requests }: Api, log: LogId, proposal: ProposalId, selection: readonly number[] | null): Promise<Submitted> {
  return requests.post(address(["notebooks", log, "proposals", proposal, "accept"]), { selection })
}

export function declineProposal({ requests }: Api, log: LogId, proposal: ProposalId, why: string): Promise<Submitted> {
  return requests.post(address(["notebooks", log, "proposals", proposal, "decline"]), { why })
}

const TEXT_TYPES = "cell_added,source_edited,file_merged,proposal_accepted"

/** The entries after a number, up to another, that changed the text of cells. */
export async function textEntries({ requests }: Api, log: LogId, since: number, until: number): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let last = since; last < until; ) {
    const page = await requests.read<{ readonly entries: readonly Entry[]; readonly more?: boolean }>(
      address(["logs", log, "events"], { since: last, until, types: TEXT_TYPES }),
    )
    entries.push(...page.entries)
    last = page.more ? (page.entries.at(-1)?.seq ?? until) : until
  }
  return entries
}
