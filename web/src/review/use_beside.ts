/** What a review's page looks up once it is there: its checks, and the other files of its branch. */

import { useEffect, useState } from "react"

import type { LogId, ReviewSubject } from "../core/types.gen.ts"
import type { Api } from "../sync/api.ts"
import { address } from "../sync/api_requests.ts"
import type { BranchReviews, ReviewChecks } from "../sync/api_reviews.ts"

type OtherFile = BranchReviews["files"][number]

/** A file among those of its branch that have a review. */
export interface FilePlaces {
  readonly branch: LogId | null
  readonly before: OtherFile | null
  readonly next: OtherFile | null
  /** Counts from 1. */
  readonly number: number
  readonly count: number
}

/** Looked up when `isReady`, so that it does not hold up what the page shows first; null until it is there. */
export function useChecks(api: Api, log: LogId, isReady: boolean, version: unknown): ReviewChecks | null {
  const [checks, setChecks] = useState<ReviewChecks | null>(null)
  useEffect(() => {
    if (!isReady) return undefined
    let isGone = false
    api.requests.read<ReviewChecks>(address(["reviews", log, "checks"])).then(
      (found) => isGone || setChecks(found),
      () => undefined, // the page says what is wrong with the review itself
    )
    return () => void (isGone = true)
  }, [api, log, isReady, version])
  return checks
}

export function useFilePlaces(api: Api, log: LogId, subject: ReviewSubject | undefined, isReady: boolean): FilePlaces | null {
  const [places, setPlaces] = useState<FilePlaces | null>(null)
  const isOfFile = subject?.kind === "revisions" && subject.path !== ""
  useEffect(() => {
    if (!isReady || !isOfFile) return undefined
    let isGone = false
    api.requests.read<BranchReviews>(address(["reviews", log, "branch"])).then(
      (found) => isGone || setPlaces(placesIn(found, log)),
      () => undefined,
    )
    return () => void (isGone = true)
  }, [api, log, isReady, isOfFile])
  return places
}

export function placesIn({ log: branch, files }: BranchReviews, log: LogId): FilePlaces {
  const known = files.filter((file) => file.log !== null)
  const at = known.findIndex((file) => file.log === log)
  const beside = (by: number): OtherFile | null => (at < 0 ? null : (known[at + by] ?? null))
  return { branch, before: beside(-1), next: beside(1), number: at + 1, count: known.length }
}
