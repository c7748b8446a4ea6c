/** Why somebody proposes something, in their own words; in muted ones, that they did not say. */

import type { ActorId, Proposal } from "../core/types.gen.ts"
import { visible } from "../core/visible.ts"
import css from "./Proposals.module.css"
import { noReason } from "./words.ts"

export function Reason({ proposal, me }: { readonly proposal: Pick<Proposal, "by" | "why">; readonly me: ActorId }) {
  return proposal.why ? visible(proposal.why) : <span className={css["noReason"]}>{noReason(proposal, me)}</span>
}
