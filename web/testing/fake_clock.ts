/** A clock that a test moves. */

import type { Cancel, Clock } from "../src/sync/clock.ts"

export class FakeClock implements Clock {
  #now = Date.UTC(2026, 0, 1)
  #timers: { readonly at: number; readonly then: () => void }[] = []

  now(): number {
    return this.#now
  }

  after(milliseconds: number, then: () => void): Cancel {
    const timer = { at: this.#now + milliseconds, then }
    this.#timers.push(timer)
    return () => void (this.#timers = this.#timers.filter((each) => each !== timer))
  }

  /** Let time pass, and what is due happen in its order. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)
      if (!next) break
      this.#timers = this.#timers.filter((each) => each !== next)
      this.#now = Math.max(this.#now, next.at)
      next.then()
    }
    this.#now = end
  }
}
