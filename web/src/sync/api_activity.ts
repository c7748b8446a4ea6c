/** What was done in a notebook, what is new in it for this person, and how far they have seen it. */

import type { ActorId, CellId, ExecutionId, ExecutionState, LogId, ProposalId } from "../core/types.gen.ts"
import type { Api } from "./api.ts"
import { address } from "./api_requests.ts"

/** How far this person has seen a notebook, and when they last looked; 0 and null: never. */
export interface SeenFound {
  readonly seq: number
  readonly at: string | null
}

export type CellDeed = "added" | "changed" | "moved" | "removed" | "ran" | "commented"

/** What one actor did on behalf of one person: how many cells they added, changed, and so on. */
export interface ActorChanges {
  readonly actor: ActorId
  readonly on_behalf_of?: ActorId | null
  /** The file that the changes came from. */
  readonly file?: string | null
  readonly added?: number
  readonly changed?: number
  readonly moved?: number
  readonly removed?: number
  readonly ran?: number
  readonly commented?: number
  readonly proposed?: number
  readonly at: string
}

export interface CellChanges {
  readonly cell: CellId
  readonly did: readonly CellDeed[]
  readonly by: readonly ActorId[]
  readonly at: string
}

/** What others did after the number `seq`. */
export interface Since {
  readonly seq: number
  readonly head: number
  readonly actors: readonly ActorChanges[]
  readonly cells: readonly CellChanges[]
  /** Whether only the last of it was looked at, because there is very much. */
  readonly partial: boolean
}

export type ActivityKind = "edits" | "runs" | "proposals" | "comments" | "files" | "kernel"

/** Something that was done, once or several times in a row. `type` is an event's. */
export interface Act {
  readonly type: string
  readonly cell?: CellId | null
  readonly count?: number
  readonly execution?: ExecutionId | null
  /** How the last of these runs ended. */
  readonly outcome?: ExecutionState | null
  readonly error?: string
  readonly proposal?: ProposalId | null
  /** Why, what was said, a name or a path. */
  readonly text?: string
}

/** What one actor did on behalf of one person without a longer pause, the oldest act first. */
export interface ActivityLine {
  readonly actor: ActorId
  readonly on_behalf_of?: ActorId | null
  readonly first: number
  readonly last: number
  readonly began_at: string
  readonly at: string
  readonly acts: readonly Act[]
  /** How many acts more there are. */
  readonly left_out?: number
}

/** Lines, the newest first. `before` asks for more; null at the beginning of the log. */
export interface ActivityPage {
  readonly lines: readonly ActivityLine[]
  readonly before: number | null
}

export interface ActivityQuery {
  readonly before?: number | undefined
  readonly limit?: number | undefined
  readonly kinds?: readonly ActivityKind[] | undefined
  readonly who?: ActorId | undefined
}

export function readSeen(api: Api, log: LogId): Promise<SeenFound> {
  return api.requests.read(address(["notebooks", log, "seen"]))
}

/** Keep that this person has seen a notebook up to a number. With `isLast`, it is sent also if the page goes away meanwhile. */
export async function markSeen(api: Api, log: LogId, seq: number, isLast = false): Promise<void> {
  await api.requests.send(address(["notebooks", log, "seen"]), {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ seq }),
    keepalive: isLast,
  })
}

export function readSince(api: Api, log: LogId, seq: number): Promise<Since> {
  return api.requests.read(address(["notebooks", log, "since"], { seq }))
}

export function readActivity(api: Api, log: LogId, { kinds, ...query }: ActivityQuery = {}): Promise<ActivityPage> {
  return api.requests.read(address(["notebooks", log, "activity"], { ...query, kinds: kinds?.length ? kinds.join(",") : undefined }))
}
