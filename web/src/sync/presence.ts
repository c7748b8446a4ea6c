/**
 * Who is here, and where: said on the lane `presence` by each window, and heard of the others.
 *
 * A window says `here` when it comes, after every break of the connection and when it moves, and `gone` when it leaves. The
 * server tells those who come later, says `gone` for a window whose connection ended, and says who it is; which of somebody's
 * windows it is, the message says.
 */

import type { Doing } from "../core/activity.ts"
import type { ActorId, CellId, Json, JsonObject, LogId } from "../core/types.gen.ts"
import type { Clock } from "./clock.ts"
import { isObject } from "./lanes.ts"
import type { Socket } from "./socket.ts"
import { Value } from "./store.ts"
import type { Stop } from "./store.ts"

const LANE = "presence"
/** How the windows of agents begin: their calls say where they are, and nobody types there. */
export const AGENT_WINDOW = "mcp:"
/** Moves are said at most this often: a selection that is dragged changes many times a second. */
export const MOVE_MILLISECONDS = 50

/** A selection in a cell, in code points of its text at the number `seq`. */
export interface Selection {
  readonly from: number
  readonly to: number
  readonly seq: number
}

export interface Present {
  readonly actor: ActorId
  readonly window: string
  readonly cell: CellId | null
  readonly selection: Selection | null
  readonly doing: Doing | null
  /** For whom an agent acts: the server's word. */
  readonly onBehalfOf: ActorId | null
}

export interface PresenceParts {
  readonly socket: Socket
  readonly clock: Clock
  readonly window: string
}

export class Presence {
  /** The other windows, in the order in which they came. */
  readonly others = new Value<readonly Present[]>([])
  readonly #log: LogId
  readonly #parts: PresenceParts
  readonly #stops: Stop[] = []
  #cell: CellId | null = null
  #selection: Selection | null = null
  #doing: Doing = "reading"
  #isMoveDue = false
  #isPausing = false

  constructor(log: LogId, parts: PresenceParts) {
    this.#log = log
    this.#parts = parts
  }

  start(): void {
    const { socket } = this.#parts
    this.#stops.push(
      socket.listen(this.#log, LANE, (message, by) => this.#hear(message, by)),
      socket.state.subscribe(() => this.#connected()),
    )
    this.#connected()
  }

  close(): void {
    this.#parts.socket.say(this.#log, LANE, { kind: "gone", window: this.#parts.window })
    for (const stop of this.#stops.splice(0)) stop()
  }

  /** This window is in a cell now, or in none. */
  move(cell: CellId | null, selection: Selection | null = null): void {
    this.#cell = cell
    this.#selection = selection
    this.#isMoveDue = true
    this.#sayMove()
  }

  /** This window edits now, or only reads. */
  setDoing(doing: Doing): void {
    if (doing === this.#doing) return
    this.#doing = doing
    this.#isMoveDue = true
    this.#sayMove()
  }

  /** Whether somebody is in a cell, be it the same person in another window. */
  isShared(cell: CellId): boolean {
    return this.others.get().some((other) => other.cell === cell && !other.window.startsWith(AGENT_WINDOW))
  }

  #connected(): void {
    if (!this.#parts.socket.isOpen) return
    // Whoever left while the connection was lost is not said to be gone: the server tells anew who is here.
    if (this.others.get().length) this.others.set([])
    this.#say()
  }

  #sayMove(): void {
    if (this.#isPausing || !this.#isMoveDue || !this.#stops.length) return
    this.#say()
    this.#isPausing = true
    this.#parts.clock.after(MOVE_MILLISECONDS, () => {
      this.#isPausing = false
      this.#sayMove()
    })
  }

  #say(): void {
    this.#isMoveDue = false
    const selection = this.#selection && { ...this.#selection }
    this.#parts.socket.say(this.#log, LANE, { kind: "here", window: this.#parts.window, cell: this.#cell, selection, doing: this.#doing })
  }

  #hear(message: Json, actor: ActorId): void {
    if (!isObject(message) || typeof message["window"] !== "string") return
    const { kind, window, cell } = message
    if (window === this.#parts.window) return
    const others = this.others.get()
    const index = others.findIndex((other) => other.window === window)
    if (kind === "gone" && index >= 0) this.others.set(others.toSpliced(index, 1))
    if (kind !== "here") return
    const onBehalfOf = typeof message["on_behalf_of"] === "string" ? message["on_behalf_of"] : null
    const place = { cell: typeof cell === "string" ? cell : null, selection: readSelection(message), doing: readDoing(message) }
    const present = { actor, window, ...place, onBehalfOf }
    this.others.set(index < 0 ? [...others, present] : others.with(index, present))
  }
}

function readSelection({ selection }: JsonObject): Selection | null {
  if (!isObject(selection)) return null
  const { from, to, seq } = selection
  return typeof from === "number" && typeof to === "number" && typeof seq === "number" ? { from, to, seq } : null
}

const DOINGS: readonly string[] = ["reading", "editing", "running", "waiting"] satisfies readonly Doing[]

function readDoing({ doing }: JsonObject): Doing | null {
  return typeof doing === "string" && DOINGS.includes(doing) ? (doing as Doing) : null
}
