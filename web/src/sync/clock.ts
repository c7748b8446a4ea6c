/** Time, as an argument: when it is, what is to happen later, and how far the server's clock is from this one. */

/** Takes back what was to happen. */
export type Cancel = () => void

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Call `then` once, after that many milliseconds. */
  after(milliseconds: number, then: () => void): Cancel
}

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after: (milliseconds, then) => {
    const timer = setTimeout(then, milliseconds)
    return () => clearTimeout(timer)
  },
}

/** A time as logs write it: UTC with microseconds. */
export function writeTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace("Z", "000Z")
}

/** The server's time, as far as this machine knows: for how long something runs, whatever clock is wrong. */
export class ServerClock {
  readonly #clock: Clock
  #ahead = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The server said what time it is. */
  set(at: string): void {
    const time = Date.parse(at)
    if (!Number.isNaN(time)) this.#ahead = time - this.#clock.now()
  }

  /** Milliseconds since 1970, on the server. */
  now(): number {
    return this.#clock.now() + this.#ahead
  }

  /** How long ago something was recorded, in milliseconds; never less than none. */
  since(at: string): number {
    return Math.max(0, this.now() - Date.parse(at))
  }
}
