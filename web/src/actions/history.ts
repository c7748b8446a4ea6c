/**
 * What one window did to cells and can take back: several acts deep, its own only.
 *
 * Taking back is an act itself, recorded like any other, and can be taken back in turn. Typing in a cell is not in here:
 * the editor undoes that.
 */

import type { CellChange, Notebook } from "../core/types.gen.ts"
import type { Outcome } from "../sync/live.ts"
import { takeBack, waysBack } from "./inverse.ts"
import type { Back, Undoer } from "./inverse.ts"

const MOST_ACTS = 100

interface Done {
  /** What it was, as in "Removed 3 cells". */
  readonly title: string
  readonly backs: readonly Back[]
}

/** What of `Live` is used. */
interface Acting {
  readonly store: { get(): Notebook }
  act(events: readonly CellChange[], settled?: (outcome: Outcome) => void): string
}

export type Undone = { readonly kind: "undone"; readonly title: string } | { readonly kind: "nothing" | "moved_on" }

export class History {
  readonly #live: Acting
  readonly #me: Undoer
  readonly #proposed: () => void
  #done: Done[] = []
  #undone: Done[] = []

  /** `proposed` is called when an act became a proposal: its author has to ask first. */
  constructor(live: Acting, me: Undoer, proposed: () => void = () => undefined) {
    this.#live = live
    this.#me = me
    this.#proposed = proposed
  }

  /** Do something to cells, so that it can be taken back. `backs` are the ways back where the usual ones would not do. */
  do(title: string, events: readonly CellChange[], backs?: readonly Back[]): void {
    if (!events.length) return
    this.#undone = []
    this.#done.push(this.#act(title, events, () => this.#done, backs))
    this.#done = this.#done.slice(-MOST_ACTS)
  }

  undo(): Undone {
    return this.#turn(this.#done, this.#undone)
  }

  redo(): Undone {
    return this.#turn(this.#undone, this.#done)
  }

  get canUndo(): boolean {
    return this.#done.length > 0
  }

  get canRedo(): boolean {
    return this.#undone.length > 0
  }

  #turn(from: Done[], to: Done[]): Undone {
    const last = from.pop()
    if (!last) return { kind: "nothing" }
    const events = takeBack(this.#live.store.get(), last.backs)
    if (!events.length) return { kind: "moved_on" }
    to.push(this.#act(last.title, events, () => to))
    return { kind: "undone", title: last.title }
  }

  /** An act that is refused never happened: it is not there to be taken back. */
  #act(title: string, events: readonly CellChange[], list: () => Done[], backs?: readonly Back[]): Done {
    const done = { title, backs: backs ?? waysBack(this.#live.store.get(), events, this.#me) }
    this.#live.act(events, (outcome) => {
      if (outcome.kind === "recorded" && !outcome.proposed) return
      if (outcome.kind === "recorded") this.#proposed()
      const place = list().indexOf(done)
      if (place >= 0) list().splice(place, 1)
    })
    return done
  }
}
