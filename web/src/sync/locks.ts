/**
 * Which windows are alive, as other windows of this browser see it: each holds the lock of its name.
 *
 * A browser frees a lock when its window is gone, however that came. Where there are no Web Locks, a window writes down
 * every few seconds that it is alive; one that has not for a while counts as gone. Should two windows then go on with the
 * same, ids see to it that it is recorded once.
 */

import type { Cancel, Clock } from "./clock.ts"
import type { Stop } from "./store.ts"

export interface WindowLocks {
  /** Be alive under this name, until stopped. */
  hold(window: string): Stop
  /** Call `work` once that window is gone, and keep others from it meanwhile. Not called after a stop. */
  whenGone(window: string, work: () => Promise<void>): Stop
}

/** What is used of `navigator.locks`. */
export interface LockManager {
  request(name: string, options: { readonly signal?: AbortSignal }, work: () => Promise<void>): Promise<unknown>
}

export class WebLocks implements WindowLocks {
  readonly #locks: LockManager

  constructor(locks: LockManager) {
    this.#locks = locks
  }

  hold(window: string): Stop {
    let release: () => void = () => undefined
    const isHeld = new Promise<void>((resolve) => (release = resolve))
    void this.#locks.request(lockName(window), {}, () => isHeld)
    return release
  }

  whenGone(window: string, work: () => Promise<void>): Stop {
    const stopping = new AbortController()
    const options = { signal: stopping.signal }
    this.#locks.request(lockName(window), options, work).catch((error: unknown) => {
      if (!stopping.signal.aborted) throw error
    })
    return () => stopping.abort()
  }
}

function lockName(window: string): string {
  return `quire:window:${window}`
}

/** What is used of `localStorage`. */
export interface KeyValueStorage {
  readonly length: number
  key(index: number): string | null
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

export const BEAT_MILLISECONDS = 2000
export const GONE_MILLISECONDS = 10_000

export class HeartbeatLocks implements WindowLocks {
  readonly #storage: KeyValueStorage
  readonly #clock: Clock

  constructor(storage: KeyValueStorage, clock: Clock) {
    this.#storage = storage
    this.#clock = clock
  }

  hold(window: string): Stop {
    let next: Cancel = () => undefined
    const beat = (): void => {
      this.#storage.setItem(lockName(window), String(this.#clock.now()))
      next = this.#clock.after(BEAT_MILLISECONDS, beat)
    }
    beat()
    return () => {
      next()
      this.#storage.removeItem(lockName(window))
    }
  }

  whenGone(window: string, work: () => Promise<void>): Stop {
    let next: Cancel = () => undefined
    const look = (): void => {
      if (this.#isAlive(window)) {
        next = this.#clock.after(GONE_MILLISECONDS, look)
        return
      }
      const release = this.hold(window)
      void work().finally(release)
    }
    look()
    return () => next()
  }

  #isAlive(window: string): boolean {
    const last = Number(this.#storage.getItem(lockName(window)) ?? "0")
    return this.#clock.now() - last < GONE_MILLISECONDS
  }
}
