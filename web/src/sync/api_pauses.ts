/** Pauses: agents and people who are refused everything for now. */

import type { ActorId, TokenId } from "../core/types.gen.ts"
import type { Api } from "./api.ts"
import { address } from "./api_requests.ts"

export interface Paused {
  readonly actor: ActorId
  /** Set where only this token is paused. */
  readonly token: TokenId | null
  readonly by: ActorId
  readonly at: string
  readonly why: string
}

export interface PausesFound {
  /** The number of the workspace log that this is true at. */
  readonly seq: number
  readonly paused: readonly Paused[]
}

/** Whom: an actor, or whoever comes with one token. */
export type PauseTarget = { readonly actor: ActorId } | { readonly token: TokenId }

export function readPauses(api: Api): Promise<PausesFound> {
  return api.requests.read(address(["pauses"]))
}

/** Refuse everything to somebody until they are resumed; with `interrupt`, stop what they had asked to run. */
export function pause(api: Api, target: PauseTarget, how: { readonly why: string; readonly interrupt: boolean }): Promise<{ readonly stopped: number }> {
  return api.requests.post(address(["pauses"]), { ...target, ...how })
}

export function resume(api: Api, target: PauseTarget): Promise<null> {
  return api.requests.post(address(["pauses", "end"]), target)
}
