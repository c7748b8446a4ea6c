/** What went wrong, as the server says it: one of six kinds, a message for people, details for programs. */

import type { JsonObject } from "../core/types.gen.ts"

export type FaultKind = "Refused" | "Conflict" | "NotFound" | "BadInput" | "RunFailed" | "Unavailable"

/** The fault as it is on the wire. */
export interface FaultBody {
  readonly kind: FaultKind
  readonly message: string
  readonly details?: JsonObject
}

export class Fault extends Error {
  override readonly name = "Fault"
  readonly kind: FaultKind
  readonly details: JsonObject
  /** The HTTP status, where there is one; 0 when no answer came. */
  readonly status: number

  constructor({ kind, message, details = {} }: FaultBody, status = 0) {
    super(message)
    this.kind = kind
    this.details = details
    this.status = status
  }

  /** Whether the same may work later: nobody said no to it. */
  get isPassing(): boolean {
    return this.kind === "Unavailable"
  }

  /** Whether the server does not know who asks: the token was revoked, say. */
  get isSignedOut(): boolean {
    return this.status === 401
  }
}

/** The server cannot be reached. */
export function unreachable(): Fault {
  return new Fault({ kind: "Unavailable", message: "The server does not answer. What you typed is kept." })
}
