/** What there is to see in a review, read again when its answer changes and when somebody comes back to the page. */

import { useEffect, useState } from "react"

import type { LogId } from "../core/types.gen.ts"
import type { Api } from "../sync/api.ts"
import { readReview } from "../sync/api_reviews.ts"
import type { ReviewContent } from "../sync/api_reviews.ts"

export interface Found {
  readonly content: ReviewContent | null
  /** Why it cannot be shown. */
  readonly problem: string | null
}

/** Begin to read a review before its page is there: `useContent` takes what comes, once. */
export function readAhead(api: Api, log: LogId): void {
  if (AHEAD.has(log)) return
  const reading = readReview(api, log, FIRST_CHANGES)
  reading.catch(() => AHEAD.delete(log)) // whoever has taken it is told
  AHEAD.set(log, reading)
}

/** So many changes fill the window: of a large notebook, the others are read when these are there. */
const FIRST_CHANGES = 30

const AHEAD = new Map<LogId, Promise<ReviewContent>>()

function reading(api: Api, log: LogId): Promise<ReviewContent> {
  const begun = AHEAD.get(log)
  AHEAD.delete(log)
  return begun ?? readReview(api, log)
}

/** `version` is another value each time it has to be read anew. */
export function useContent(api: Api, log: LogId, version: unknown): Found {
  const [found, setFound] = useState<Found>({ content: null, problem: null })
  const [visits, setVisits] = useState(0)
  useEffect(() => {
    const come = (): void => {
      if (document.visibilityState === "visible") setVisits((before) => before + 1)
    }
    document.addEventListener("visibilitychange", come)
    return () => document.removeEventListener("visibilitychange", come)
  }, [])
  useEffect(() => {
    let isGone = false
    const show = (content: ReviewContent): Promise<void> | undefined => {
      if (isGone) return undefined
      // What was whole before stays until all of it is there again.
      setFound((before) => (content.is_partial && before.content !== null ? before : { content, problem: null }))
      return content.is_partial ? readReview(api, log).then(show) : undefined
    }
    reading(api, log)
      .then(show)
      .catch((error: unknown) => isGone || setFound(({ content }) => ({ content, problem: error instanceof Error ? error.message : String(error) })))
    return () => void (isGone = true)
  }, [api, log, version, visits])
  return found
}
