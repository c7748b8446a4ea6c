/** The frames of the socket, as docs/reference/socket.md lists them. */

import type { ActorId, Draft, Entry, Json, LogId, Scope } from "../core/types.gen.ts"
import type { FaultBody } from "./fault.ts"

/** Who the server takes this window for. */
export interface Me {
  readonly actor: ActorId
  readonly scopes: readonly Scope[]
  readonly on_behalf_of?: ActorId
  readonly notebooks?: readonly LogId[]
  readonly asks?: readonly Scope[]
  readonly token?: string
  readonly expires_at?: string
}

export interface Welcome {
  readonly type: "welcome"
  readonly me: Me
  readonly version: string
  readonly tick_milliseconds: number
  /** The server's time when it greeted. */
  readonly at?: string
  /** The version of its reducer: a window of another version folds otherwise, and has to be loaded again. */
  readonly reducer?: number
}

export interface Growth {
  readonly position: number
  readonly log: LogId
  readonly first: number
  readonly seq: number
}

export type FromServer =
  | Welcome
  | { readonly type: "events"; readonly id: string; readonly entries: readonly Entry[]; readonly head: number }
  | { readonly type: "grown"; readonly id: string; readonly growth: readonly Growth[]; readonly position: number }
  | { readonly type: "said"; readonly id: string; readonly by: ActorId; readonly message: Json }
  | { readonly type: "recorded"; readonly id: string; readonly entries: readonly Entry[]; readonly proposed?: boolean }
  | { readonly type: "failed"; readonly id?: string; readonly error: FaultBody }

export type ToServer =
  | { readonly type: "follow"; readonly id: string; readonly log: LogId; readonly since: number }
  | { readonly type: "feed"; readonly id: string; readonly since?: number }
  | { readonly type: "listen"; readonly id: string; readonly log: LogId; readonly lane: string }
  | { readonly type: "stop"; readonly id: string }
  | { readonly type: "submit"; readonly id: string; readonly log: LogId; readonly drafts: readonly Draft[] }
  | { readonly type: "say"; readonly log: LogId; readonly lane: string; readonly message: Json }
