/**
 * The past of one cell, folded from its entries: each text that it had, who wrote it and why, and who ran it.
 *
 * Typing makes an entry every second or two. What one person writes without a longer pause is one version.
 */

import { appliedEdit, by, cellChanges, onBehalfOf } from "../core/events.ts"
import { apply } from "../core/text.ts"
import type { ActorId, CellChange, CellId, Entry, ExecutionState, KnownEvent } from "../core/types.gen.ts"

/** Why something came about, where it was not simply typed. */
export type Cause =
  | { readonly kind: "typed" }
  | { readonly kind: "proposal"; readonly proposal: string; readonly why: string; readonly by: ActorId }
  | { readonly kind: "file"; readonly path: string }

export interface Version {
  /** The number of the last entry that it has. */
  readonly seq: number
  readonly by: ActorId
  readonly onBehalfOf: ActorId | null
  readonly at: string
  readonly source: string
  readonly cause: Cause
  /** Whether the cell came to be, or came back, with it. */
  readonly isFirst: boolean
}

/** One time that the cell ran. */
export interface PastRun {
  readonly execution: string
  readonly by: ActorId
  readonly onBehalfOf: ActorId | null
  readonly at: string
  readonly state: ExecutionState
  readonly startedAt: string | null
  readonly finishedAt: string | null
}

export interface CellPast {
  /** The oldest first. */
  readonly versions: readonly Version[]
  readonly runs: readonly PastRun[]
}

/** A longer pause between two edits of one person begins a new version. */
const PAUSE_MILLISECONDS = 5 * 60_000

export function cellPast(entries: readonly Entry[], cell: CellId): CellPast {
  const versions: Version[] = []
  const runs = new Map<string, PastRun>()
  const proposals = new Map<string, { readonly why: string; readonly by: ActorId }>()
  let source = ""
  for (const entry of entries) {
    const { event } = entry
    if (event.type === "proposal_made") proposals.set(event.proposal, { why: event.why, by: by(entry) })
    for (const change of cellChanges(event)) {
      const next = change.cell === cell ? textAfter(source, change) : null
      if (next === null) continue
      const isFirst = change.type === "cell_added"
      if (isFirst || next !== source) add(versions, { ...who(entry), source: next, cause: causeOf(event, proposals), isFirst })
      source = next
    }
    noteRun(runs, entry, cell)
  }
  return { versions, runs: [...runs.values()] }
}

function who(entry: Entry): Pick<Version, "seq" | "by" | "onBehalfOf" | "at"> {
  return { seq: entry.seq, by: by(entry), onBehalfOf: onBehalfOf(entry), at: entry.at }
}

function textAfter(source: string, change: CellChange): string | null {
  if (change.type === "cell_added") return change.source ?? ""
  if (change.type !== "source_edited") return null
  return typeof change.text === "string" ? change.text : apply(source, appliedEdit(change))
}

function causeOf(event: KnownEvent, proposals: ReadonlyMap<string, { readonly why: string; readonly by: ActorId }>): Cause {
  if (event.type === "file_merged") return { kind: "file", path: event.path }
  if (event.type !== "proposal_accepted") return { kind: "typed" }
  const { why = "", by: proposer = "" } = proposals.get(event.proposal) ?? {}
  return { kind: "proposal", proposal: event.proposal, why, by: proposer }
}

function add(versions: Version[], next: Version): void {
  const last = versions.at(-1)
  const goesOn =
    last &&
    !next.isFirst &&
    last.by === next.by &&
    last.onBehalfOf === next.onBehalfOf &&
    last.cause.kind === "typed" &&
    next.cause.kind === "typed" &&
    Date.parse(next.at) - Date.parse(last.at) < PAUSE_MILLISECONDS
  if (goesOn) versions[versions.length - 1] = { ...next, isFirst: last.isFirst }
  else versions.push(next)
}

function noteRun(runs: Map<string, PastRun>, entry: Entry, cell: CellId): void {
  const { event } = entry
  if (event.type === "execution_requested" && event.cell === cell) {
    runs.set(event.execution, asked(entry, event.execution))
  } else if (event.type === "proposal_accepted") {
    for (const effect of event.effects ?? []) {
      if (effect.cell === cell) runs.set(effect.execution, asked(entry, effect.execution))
    }
  }
  const execution = "execution" in event ? event.execution : undefined
  const run = execution === undefined ? undefined : runs.get(execution)
  if (run && execution !== undefined) runs.set(execution, runAfter(run, event, entry.at))
}

function asked(entry: Entry, execution: string): PastRun {
  const { at, by: actor, onBehalfOf: principal } = who(entry)
  return { execution, by: actor, onBehalfOf: principal, at, state: "queued", startedAt: null, finishedAt: null }
}

function runAfter(run: PastRun, event: KnownEvent, at: string): PastRun {
  switch (event.type) {
    case "execution_started":
      return { ...run, state: "running", startedAt: at }
    case "execution_finished":
      return { ...run, state: event.status, finishedAt: at }
    case "execution_skipped":
      return { ...run, state: "skipped", finishedAt: at }
    case "execution_cancelled":
      return { ...run, state: "cancelled", finishedAt: at }
    default:
      return run
  }
}
