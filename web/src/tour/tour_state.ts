/** Where one is in the tour, kept in this browser: it is shown once, and again only when asked for. */

import type { PageContext } from "../sync/notebook_page.ts"
import { Value } from "../sync/store.ts"

export const TOUR_KEY = "quire-tour"
/** The notebook that `make run` opens (tools/example.py). */
export const EXAMPLE = "Start here"
export const STEPS = 4
const ENDED = "ended"

type TourStorage = Pick<Storage, "getItem" | "setItem">

export class TourState {
  /** The step that is shown, from 0; `STEPS` is the last word; null: none. */
  readonly step: Value<number | null>
  #isAsked = false
  readonly #storage: TourStorage

  constructor(storage: TourStorage, isExample: boolean) {
    this.#storage = storage
    this.step = new Value(isExample ? firstStep(storage.getItem(TOUR_KEY)) : null)
  }

  start(): void {
    this.#isAsked = true
    this.go(0)
  }

  /** Whether a person asked for it just now: then it takes the focus, once. */
  takeAsked(): boolean {
    const isAsked = this.#isAsked
    this.#isAsked = false
    return isAsked
  }

  go(step: number): void {
    this.#keep(step < STEPS ? String(step) : ENDED)
    this.step.set(step)
  }

  /** Leave it: it is not shown again by itself. */
  leave(): void {
    this.#keep(ENDED)
    this.step.set(null)
  }

  #keep(text: string): void {
    try {
      this.#storage.setItem(TOUR_KEY, text)
    } catch {
      // Full or closed: it is shown again with the next page then.
    }
  }
}

/** Where a page that is opened begins: at the beginning, where it was left by a reload, or not at all. */
function firstStep(kept: string | null): number | null {
  if (kept === null) return 0
  const step = Number(kept)
  return kept !== ENDED && Number.isInteger(step) && step >= 0 && step < STEPS ? step : null
}

const states = new WeakMap<PageContext, TourState>()

export function tourOf(context: PageContext): TourState {
  let state = states.get(context)
  if (!state) {
    const { live, parts, open, mayEdit, mayRun } = context
    // For who can do all of it: an invited person lets no agent in.
    const mayLetIn = open.me.scopes.includes("admin") && !open.me.notebooks
    state = new TourState(parts.storage, mayEdit && mayRun && mayLetIn && live.store.field("name") === EXAMPLE)
    states.set(context, state)
  }
  return state
}
