/** The storage and the locks of a browser, in memory: windows of one test share one. */

import type { KeyValueStorage, WindowLocks } from "../src/sync/locks.ts"
import type { Snapshot, Snapshots } from "../src/sync/snapshots.ts"
import type { Stop } from "../src/sync/store.ts"

export class MemoryStorage implements KeyValueStorage {
  readonly items = new Map<string, string>()
  isFull = false

  get length(): number {
    return this.items.size
  }

  key(index: number): string | null {
    return [...this.items.keys()][index] ?? null
  }

  getItem(key: string): string | null {
    return this.items.get(key) ?? null
  }

  setItem(key: string, value: string): void {
    if (this.isFull) throw new Error("QuotaExceededError")
    this.items.set(key, value)
  }

  removeItem(key: string): void {
    this.items.delete(key)
  }
}

/** Locks as a browser has them. `kill` is what happens to those of a window that is closed. */
export class MemoryLocks implements WindowLocks {
  readonly #held = new Set<string>()
  readonly #waiting = new Map<string, (() => Promise<void>)[]>()

  hold(window: string): Stop {
    this.#held.add(window)
    return () => this.#free(window)
  }

  whenGone(window: string, work: () => Promise<void>): Stop {
    const waiting = this.#waiting.get(window) ?? []
    this.#waiting.set(window, [...waiting, work])
    if (!this.#held.has(window)) this.#free(window)
    return () => this.#waiting.set(window, (this.#waiting.get(window) ?? []).filter((each) => each !== work))
  }

  #free(window: string): void {
    this.#held.delete(window)
    const [work, ...rest] = this.#waiting.get(window) ?? []
    this.#waiting.set(window, rest)
    if (!work) return
    this.#held.add(window)
    void work().finally(() => this.#free(window))
  }
}

export class MemorySnapshots implements Snapshots {
  readonly #kept = new Map<string, string>()

  read(log: string): Promise<Snapshot | null> {
    const text = this.#kept.get(log)
    return Promise.resolve(text === undefined ? null : (JSON.parse(text) as Snapshot))
  }

  write(log: string, snapshot: Snapshot): Promise<void> {
    this.#kept.set(log, JSON.stringify(snapshot))
    return Promise.resolve()
  }
}
