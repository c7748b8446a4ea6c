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
  /** The first cell in which it found something. */
  readonly cell: CellId | null
  /** The run that it is about. */
  readonly run: LogId | null
}

/** What is looked up after the page is there: checks, and the results of runs on both sides. */
export interface ReviewChecks {
  readonly checks: readonly ReviewCheck[]
  readonly results: readonly ReviewResult[]
}

/** A notebook of a branch, and how far its review is. */
export interface ReviewedFile {
  readonly path: string
  /** Its review; null where none was begun. */
  readonly log: LogId | null
  readonly changed: number
  readonly added: number
  readonly removed: number
  readonly moved: number
  readonly cells: number
  readonly looked_at: number
  /** Threads that are not resolved. */
  readonly comments: number
  readonly answer: ReviewAnswer
  readonly answered_by: ActorId | null
  /** Why it cannot be compared. */
  readonly fault: string
}

/** The reviews of a branch: its own, null where none was begun, and those of its notebooks. */
export interface BranchReviews {
  readonly log: LogId | null
  readonly files: readonly Pick<ReviewedFile, "path" | "log">[]
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
  /** Of the review of a branch: its notebooks. It has no rows of its own. */
  readonly files: readonly ReviewedFile[] | null
  /** Whether rows behind the first changes are without what they show: all of it is on its way. */
  readonly is_partial: boolean
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

/** With `first`, so many changes whole and the others without what they show. */
export async function readReview({ requests }: Api, log: LogId, first?: number): Promise<ReviewContent> {
  const content = await requests.read<ReviewContent>(address(["reviews", log], { first }))
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
