/**
 * Acts: events that belong together, so that one can go through a log by what was done and not event by event.
 *
 * Events are one act if they were recorded together, or if one actor did them to the same cell or execution without a pause:
 * typing, or all that a run of a cell showed.
 */

import type { Entry } from "../core/types.gen.ts"

const PAUSE_MILLISECONDS = 10_000
/** How many entries are read at once. */
const PAGE = 500

/** Whether the second of two neighbours goes on with what the first did. */
export function goesOn(one: Entry, next: Entry): boolean {
  if (one.actor !== next.actor || (one.on_behalf_of ?? null) !== (next.on_behalf_of ?? null)) return false
  if (one.at === next.at) return true
  const subject = subjectOf(one)
  return subject !== null && subject === subjectOf(next) && Date.parse(next.at) - Date.parse(one.at) <= PAUSE_MILLISECONDS
}

function subjectOf({ event }: Entry): string | null {
  const { execution, cell } = event as { readonly execution?: string; readonly cell?: string }
  return execution ?? cell ?? null
}

type ReadEntries = (since: number, until: number) => Promise<readonly Entry[]>

/** The last event of the next act after `seq`: the first event after which something else was done. */
export async function nextAct(read: ReadEntries, seq: number, head: number): Promise<number> {
  let last: Entry | null = null
  for (let since = seq; since < head; since += PAGE) {
    for (const entry of await read(since, Math.min(head, since + PAGE))) {
      if (last && !goesOn(last, entry)) return last.seq
      last = entry
    }
  }
  return head
}

/** The last event of the act before the one that `seq` is in. */
export async function previousAct(read: ReadEntries, seq: number): Promise<number> {
  let after: Entry | null = null
  for (let until = seq; until > 0; until -= PAGE) {
    for (const entry of (await read(Math.max(0, until - PAGE), until)).toReversed()) {
      if (after && !goesOn(entry, after)) return entry.seq
      after = entry
    }
  }
  return 1
}
