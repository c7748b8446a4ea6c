/** The actors that are shown as paused wherever their name stands. Whoever knows sets them. */

import { useSyncExternalStore } from "react"

let paused: ReadonlySet<string> = new Set()
const listeners = new Set<() => void>()

export function setPausedActors(actors: Iterable<string>): void {
  const next = new Set(actors)
  if (next.size === paused.size && [...next].every((actor) => paused.has(actor))) return
  paused = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function useIsPaused(actor: string): boolean {
  return useSyncExternalStore(subscribe, () => paused.has(actor))
}
