/** What a review is called in words. Pure. */

import type { ActorId, LogId, Proposal, ReviewSubject } from "../core/types.gen.ts"
import { personText } from "../ui/Person.tsx"
import type { ReviewContent } from "../sync/api_reviews.ts"

/** Where what is reviewed is at home; null for a file. */
export function subjectPath(subject: ReviewSubject): string | null {
  const at = (place: string, log: LogId): string => `/${place}/${encodeURIComponent(log)}`
  if (subject.kind === "revisions") return subject.notebook ? at("notebooks", subject.notebook) : null
  return at(subject.kind === "run" ? "runs" : "notebooks", subject.log)
}

export function reviewPath(log: LogId): string {
  return `/reviews/${encodeURIComponent(log)}`
}

/** What is compared with what: "codex proposes for sales", "sales.py: main … feature". */
export function subjectWords({ subject, proposal, subject_name: name }: ReviewContent, me: ActorId): string {
  switch (subject.kind) {
    case "proposal":
      return proposal ? `Proposed by ${personText(proposal.by, proposal.on_behalf_of, me)}` : "A proposal"
    case "run":
      return `What was changed in run ${name} since it ended`
    case "revisions":
      return subject.path === "" ? `All notebooks that ${subject.head} changes since it left ${subject.base}` : `${subject.path}: what ${subject.head} changes since it left ${subject.base}`
  }
}

const WHY_NOT = {
  own: "Your own proposal takes somebody else's yes.",
  not_human: "Only a human accepts.",
  no_right: "To accept takes the right to approve.",
} as const

export function whyNotWords(why: keyof typeof WHY_NOT | null): string | null {
  return why && WHY_NOT[why]
}

export const DECIDED: Readonly<Record<Proposal["state"], string>> = {
  open: "",
  accepted: "The proposal was accepted.",
  declined: "The proposal was declined.",
  withdrawn: "Whoever made the proposal took it back.",
  expired: "The proposal has expired.",
}
