/** Reviews over HTTP: opening one, what there is to see in it, and answering it. */

import type { ActorId, CellId, CommentId, Json, LogId, ReviewAnswer, ReviewSubject } from "../core/types.gen.ts"
import type { Api } from "./api.ts"
import { readRows } from "./api_diff.ts"
import type { DiffFact, DiffRow } from "./api_diff.ts"
import type { ProposalFound } from "./api_proposals.ts"
import { address } from "./api_requests.ts"
import type { PageContext } from "./notebook_page.ts"

/** A result before and after; undefined where that side has none, null where it is too large to show. */
export interface ReviewResult {
  readonly name: string
  readonly old?: Json
  readonly new?: Json
  readonly same: boolean
}

export interface ReviewCheck {
  readonly name: string
  readonly status: "passed" | "failed" | "skipped"
  readonly text: string
  readonly cell: CellId | null
}

export interface ReviewContent {
  readonly log: LogId
  readonly name: string
  readonly subject: ReviewSubject
  /** What the notebook, the run or the file is called. */
  readonly subject_name: string
  /** What both sides are called: "now", "proposed". */
  readonly labels: readonly [string, string]
  /** Where blobs of outputs are; null: they stand inline. */
  readonly outputs_log: LogId | null
  readonly rows: readonly DiffRow[]
  /** For each row a hash of both sides; empty where nothing changed. */
  readonly versions: readonly string[]
  /** For each row the numbers of the proposal's changes that it shows. */
  readonly parts: readonly (readonly number[])[]
  readonly facts: readonly DiffFact[]
  readonly language: string
  readonly results: readonly ReviewResult[]
  readonly checks: readonly ReviewCheck[]
  readonly proposal: ProposalFound | null
  /** Why the changes no longer fit the notebook as it is. */
  readonly problem: string
}

export interface ReviewVerdict {
  readonly answer: ReviewAnswer
  readonly proposed: { readonly log: LogId; readonly name: string } | null
  readonly comment: CommentId | null
}

/** A review that waits for an answer. */
export interface ReviewSummary {
  readonly log: LogId
  readonly name: string
  readonly kind: ReviewSubject["kind"]
  readonly answer: ReviewAnswer
  readonly by: ActorId
  readonly on_behalf_of: ActorId | null
  readonly at: string
  /** Threads that are not resolved. */
  readonly comments: number
}

export async function readReview({ requests }: Api, log: LogId): Promise<ReviewContent> {
  const content = await requests.read<ReviewContent>(address(["reviews", log]))
  return { ...content, rows: readRows(content.rows) }
}

/** The reviews that wait for an answer, the one opened last first. */
export function listReviews({ requests }: Api): Promise<readonly ReviewSummary[]> {
  return requests.read(address(["reviews"]))
}

/** Go to the review of a subject, which is begun if there is none. */
export async function goToReview({ parts, notify }: Pick<PageContext, "parts" | "notify">, subject: ReviewSubject): Promise<void> {
  try {
    const { log } = await parts.api.requests.post<{ readonly log: LogId }>(address(["reviews"]), { subject })
    location.assign(`/reviews/${encodeURIComponent(log)}`)
  } catch (error) {
    notify({ text: error instanceof Error ? error.message : String(error) })
  }
}

export function answerReview({ requests }: Api, log: LogId, answer: ReviewAnswer, why: string, selection: readonly number[] | null): Promise<ReviewVerdict> {
  return requests.post(address(["reviews", log, "answer"]), { answer, why, selection })
}
