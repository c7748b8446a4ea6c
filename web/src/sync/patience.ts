/**
 * Sending while nothing can be recorded: the disk of the server is full, say, or its database is away.
 *
 * After a failure all waits, longer each time, and is then sent again in its order. What was refused behind an act that
 * failed so was judged without that act (a run of a text that is not recorded, say): such a refusal is none.
 */

import type { EventId } from "../core/types.gen.ts"
import type { Cancel, Clock } from "./clock.ts"
import type { Fault } from "./fault.ts"
import type { Value } from "./store.ts"

const FIRST_WAIT = 1000
const LONGEST_WAIT = 10_000

export class Patience {
  readonly #clock: Clock
  readonly #why: Value<Fault | null>
  readonly #failed = new Set<EventId>()
  #wait = FIRST_WAIT
  #timer: Cancel | null = null

  /** `why` is told for as long as it lasts. */
  constructor(clock: Clock, why: Value<Fault | null>) {
    this.#clock = clock
    this.#why = why
  }

  get isWaiting(): boolean {
    return this.#timer !== null
  }

  /** It could not be recorded: call `again` when it is time to send all that waits. */
  fail(id: EventId, fault: Fault, again: () => void): void {
    this.#failed.add(id)
    if (fault.isPassing) this.#why.set(fault)
    if (this.#timer) return
    this.#timer = this.#clock.after(this.#wait, () => {
      this.#timer = null
      again()
    })
    this.#wait = Math.min(LONGEST_WAIT, 2 * this.#wait)
  }

  /** Something was recorded, nothing waits any more, or the connection was lost. */
  end(): void {
    this.#why.set(null)
    this.#timer?.()
    this.#timer = null
    this.#wait = FIRST_WAIT
  }

  /** An act was answered otherwise, for good. */
  forget(id: EventId): void {
    this.#failed.delete(id)
  }

  /** Whether one of these acts could not be recorded. */
  hasFailed(acts: readonly { readonly id: EventId }[]): boolean {
    return acts.some(({ id }) => this.#failed.has(id))
  }
}
