/** Who is paused now: read from the server, and again whenever the workspace log tells of a pause or of its end. */

import type { LogId } from "../core/types.gen.ts"
import { readPauses } from "./api_pauses.ts"
import type { Paused } from "./api_pauses.ts"
import type { OpenParts } from "./open.ts"
import { Value } from "./store.ts"
import type { Stop } from "./store.ts"

const WORKSPACE = "workspace" as LogId
const TELLING: ReadonlySet<string> = new Set(["actor_paused", "actor_resumed"])

type Parts = Pick<OpenParts, "api" | "socket">

export class PauseList {
  readonly paused = new Value<readonly Paused[]>([])
  readonly #parts: Parts
  #users = 0
  #seq = 0
  #stop: Stop = () => undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Keep the list true for as long as somebody looks at it. */
  watch(): Stop {
    this.#users += 1
    if (this.#users === 1) void this.#begin()
    return () => {
      this.#users -= 1
      if (this.#users > 0) return
      this.#stop()
      this.#stop = () => undefined
    }
  }

  /** Read it again. Who may not see it sees nobody paused. */
  async read(): Promise<boolean> {
    try {
      const { seq, paused } = await readPauses(this.#parts.api)
      this.#seq = seq
      this.paused.set(paused)
      return true
    } catch {
      return false
    }
  }

  async #begin(): Promise<void> {
    if (!(await this.read()) || this.#users === 0) return
    this.#stop = this.#parts.socket.follow(WORKSPACE, {
      since: () => this.#seq,
      take: (entries) => {
        this.#seq = entries.at(-1)?.seq ?? this.#seq
        if (entries.some(({ event }) => TELLING.has(event.type))) void this.read()
      },
      failed: () => undefined,
    })
  }
}

const LISTS = new WeakMap<object, PauseList>()

/** The list of this connection: one for all who look at it. */
export function pausesOf(parts: Parts): PauseList {
  const list = LISTS.get(parts.socket) ?? new PauseList(parts)
  LISTS.set(parts.socket, list)
  return list
}
