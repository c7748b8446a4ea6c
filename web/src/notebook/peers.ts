/** Where others are in one cell: their selections, with a name and a colour each. */

import type { CellId } from "../core/types.gen.ts"
import type { Presence, Present } from "../sync/presence.ts"
import type { Listener, Stop } from "../sync/store.ts"
import { nameOf } from "../ui/Person.tsx"

const COLOURS = 8

export interface Peer {
  readonly window: string
  readonly name: string
  readonly colour: number
  readonly from: number
  readonly to: number
}

/** The colour of somebody: the same in every window and for as long as their name is the same. */
export function colourOf(actor: string): number {
  let hash = 0
  for (const char of actor) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) >>> 0
  return hash % COLOURS
}

export class CellPeers {
  readonly #presence: Presence
  readonly #cell: CellId
  #others: readonly Present[] = []
  #peers: readonly Peer[] = []

  constructor(presence: Presence, cell: CellId) {
    this.#presence = presence
    this.#cell = cell
  }

  /** The same array as long as nobody moved. */
  readonly get = (): readonly Peer[] => {
    const others = this.#presence.others.get()
    if (others === this.#others) return this.#peers
    this.#others = others
    this.#peers = others.flatMap(({ cell, selection, window, actor }) =>
      cell === this.#cell && selection
        ? [{ window, name: nameOf(actor), colour: colourOf(actor), from: selection.from, to: selection.to }]
        : [],
    )
    return this.#peers
  }

  readonly subscribe = (listener: Listener): Stop => this.#presence.others.subscribe(listener)
}
