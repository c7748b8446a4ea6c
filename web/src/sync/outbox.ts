/**
 * What is not recorded yet, in the browser's storage: one journal for each window and log.
 *
 * A journal is written in the turn in which something was typed (so it is localStorage, which is synchronous), and taken
 * away once all is recorded. What a closed window left is taken over by the next one, or by another that has the same
 * notebook open: first into its own journal, then out of the old one, so that nothing is lost in between; what is in both
 * for a moment has the same ids, and is recorded once.
 */

import type { ActorId, LogId } from "../core/types.gen.ts"
import { Fault } from "./fault.ts"
import type { Journal } from "./live.ts"
import type { KeyValueStorage, WindowLocks } from "./locks.ts"
import { Value } from "./store.ts"
import type { Stop } from "./store.ts"

const PREFIX = "quire:outbox"

export interface OutboxParts {
  readonly storage: KeyValueStorage
  readonly locks: WindowLocks
  /** The name of this window, unlike that of any other. */
  readonly window: string
}

export class Outbox {
  /** Why the last journal could not be kept: the storage is full, say. */
  readonly fault = new Value<string | null>(null)
  readonly #parts: OutboxParts
  readonly #prefix: string
  readonly #release: Stop
  readonly #stops = new Map<string, Stop>()
  #kept: string | null = null

  constructor(actor: ActorId, log: LogId, parts: OutboxParts) {
    this.#parts = parts
    this.#prefix = `${PREFIX}:${log}:${actor}:`
    this.#release = parts.locks.hold(this.#lock(parts.window))
  }

  /** Keep what waits, before this returns; null when nothing does. */
  write(journal: Journal | null): void {
    const text = journal && JSON.stringify(journal)
    if (text === this.#kept) return
    const key = this.#prefix + this.#parts.window
    try {
      if (text === null) this.#parts.storage.removeItem(key)
      else this.#parts.storage.setItem(key, text)
      this.#kept = text
      this.fault.set(null)
    } catch (error) {
      this.fault.set(`This browser keeps no more: ${String(error)}. Keep the window open until all is sent.`)
    }
  }

  /**
   * Take over what windows leave that are gone, now or later. `take` tells whether it is in this window's journal when it
   * ends; if not, or if the server is away, it stays where it is until the next call.
   */
  adopt(take: (journal: Journal) => Promise<boolean>): void {
    for (const window of this.#others()) {
      if (this.#stops.has(window)) continue
      const work = async (): Promise<void> => {
        this.#stops.delete(window)
        const journal = this.#read(window)
        if (journal && (await isTaken(take, journal))) this.#parts.storage.removeItem(this.#prefix + window)
      }
      const stop = this.#parts.locks.whenGone(this.#lock(window), work)
      this.#stops.set(window, stop)
    }
  }

  /** Let go: what is still kept is for the next window. */
  close(): void {
    for (const stop of this.#stops.values()) stop()
    this.#stops.clear()
    this.#release()
  }

  /** Windows with a journal of this log, this one left out. */
  #others(): string[] {
    const { storage, window } = this.#parts
    const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "")
    return keys
      .filter((key) => key.startsWith(this.#prefix))
      .map((key) => key.slice(this.#prefix.length))
      .filter((other) => other !== window)
      .sort()
  }

  #lock(window: string): string {
    return this.#prefix + window
  }

  #read(window: string): Journal | null {
    const text = this.#parts.storage.getItem(this.#prefix + window)
    return text === null ? null : (JSON.parse(text) as Journal)
  }
}

async function isTaken(take: (journal: Journal) => Promise<boolean>, journal: Journal): Promise<boolean> {
  try {
    return await take(journal)
  } catch (error) {
    if (error instanceof Fault) return false
    throw error
  }
}
