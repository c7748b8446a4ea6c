/** When something was: "2 min ago", kept right while the page is open; the whole date as a tip. */

import { useSyncExternalStore } from "react"

import { relativeTime, wholeTime } from "./relative_time.ts"

const TICK_MILLISECONDS = 15_000

/** One timer for all times of the page. */
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

function tick(): void {
  now = Date.now()
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    now = Date.now()
    timer = setInterval(tick, TICK_MILLISECONDS)
  }
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) clearInterval(timer)
  }
}

/** The time now, to within a quarter of a minute. */
function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}

/** `now` is for those who know the server's clock better. */
export function Time({ at, now: given }: { readonly at: string; readonly now?: number | undefined }) {
  const current = useNow()
  const time = Date.parse(at)
  if (Number.isNaN(time)) return null
  return (
    <time dateTime={at} data-tip={wholeTime(time)}>
      {relativeTime(time, given ?? Math.max(current, time))}
    </time>
  )
}
