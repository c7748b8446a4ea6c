/** Undo of all that one actor did to a notebook: what it would take back, and doing it. */

import type { ActorId, CellChange, CellId, Entry, LogId } from "../core/types.gen.ts"
import type { Api } from "./api.ts"
import { address } from "./api_requests.ts"

/** One thing that is taken back. `added`: the cell goes; `removed`: it comes back. */
export interface UndoneChange {
  readonly cell: CellId
  readonly part: "text" | "added" | "removed" | "place" | "kind" | "name" | "tags" | "metadata"
  readonly removes?: number
  readonly restores?: number
  /** Whether the actor added the cell, which stays for what others typed in it. */
  readonly stays?: boolean
}

/** What somebody else did that depends on it, and stays. */
export interface DependentEdit {
  readonly by: ActorId
  readonly cell: CellId
  readonly what: "text" | "cell" | "ran" | "placed" | "changed" | "commented"
  readonly seq: number
  readonly at: string
  readonly count?: number
}

export interface UndoPlan {
  readonly actor: ActorId
  readonly since: number
  readonly seq: number
  readonly changes?: readonly CellChange[]
  readonly undone?: readonly UndoneChange[]
  readonly dependents?: readonly DependentEdit[]
  readonly executions?: number
}

export interface UndoDone {
  readonly plan: UndoPlan
  readonly entries: readonly Entry[]
  readonly proposed: boolean
}

/** Somebody who changed cells, or proposed to, whether or not anything of it is left. */
export interface Editor {
  readonly actor: ActorId
  readonly on_behalf_of?: ActorId | null
  readonly has_edited?: boolean
}

export function findEditors(api: Api, log: LogId): Promise<readonly Editor[]> {
  return api.requests.read(address(["notebooks", log, "editors"]))
}

/** Since when: after an event, or after a time. */
export interface UndoSpan {
  readonly since?: number | undefined
  readonly after?: string | undefined
}

export function planUndo(api: Api, log: LogId, by: ActorId, span: UndoSpan): Promise<UndoPlan> {
  return api.requests.read(address(["notebooks", log, "undo"], { by, ...span }))
}

/** Do what a plan says; a fault with status 409 when cells were changed since it was made. */
export function undoPlanned(api: Api, log: LogId, { actor, since, seq }: UndoPlan): Promise<UndoDone> {
  return api.requests.post(address(["notebooks", log, "undo"]), { by: actor, since, seq })
}
