/**
 * What one window did to cells and can take back: several acts deep, its own only.
 *
 * Taking back is an act itself, recorded like any other, and can be taken back in turn. Typing in a cell is not in here:
 * the editor undoes that.
 */

import { appliedEdit } from "../core/events.ts"
import type { CellChange, CellId, Edit, Notebook } from "../core/types.gen.ts"
import type { Fault } from "../sync/fault.ts"
import type { Outcome } from "../sync/live.ts"
import type { RecordedChanges } from "../sync/notebook_page.ts"
import { takeBack, TextBack, waysBack } from "./inverse.ts"
import type { Back, Undoer } from "./inverse.ts"

const MOST_ACTS = 100

/** An act that was done: `undo` takes it back by this. */
export interface Done {
  /** What it was, as in "Removed 3 cells". */
  readonly title: string
  readonly backs: readonly Back[]
}

/** What of `Live` is used. */
interface Acting {
  readonly store: { get(): Notebook }
  act(events: readonly CellChange[], settled?: (outcome: Outcome) => void): string
  watchTexts(listener: (cell: CellId, edit: Edit) => void): unknown
}

export interface DoOptions {
  /** The ways back, where the usual ones would not do. */
  readonly backs?: readonly Back[]
  /** Called with the reason when the act is refused. */
  readonly refused?: (fault: Fault) => void
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
    live.watchTexts((cell, edit) => this.#follow(cell, edit))
  }

  /** What is typed after an act moves its way back. */
  #follow(cell: CellId, edit: Edit): void {
    for (const { backs } of [...this.#done, ...this.#undone]) {
      for (const back of backs) if (back instanceof TextBack && back.cell === cell) back.follow(edit)
    }
  }

  /** Do something to cells, so that it can be taken back. Returns the act; null if there was nothing to do. */
  do(title: string, events: readonly CellChange[], options: DoOptions = {}): Done | null {
    if (!events.length) return null
    this.#undone = []
    const done = this.#act(title, events, () => this.#done, options)
    this.#done.push(done)
    this.#done = this.#done.slice(-MOST_ACTS)
    return done
  }

  /** Add an act that was recorded otherwise, the last one now. */
  add({ title, before, changes, since }: RecordedChanges): Done {
    const done = { title, backs: waysBack(before, changes.map(asApplied), this.#me) }
    for (const [cell, edit] of since) {
      for (const back of done.backs) if (back instanceof TextBack && back.cell === cell) back.follow(edit)
    }
    this.#undone = []
    this.#done = [...this.#done, done].slice(-MOST_ACTS)
    return done
  }

  /** Take back an act; without one, the last. What was taken back already is not taken back again. */
  undo(act: Done | undefined = this.#done.at(-1)): Undone {
    return this.#turn(act, this.#done, this.#undone)
  }

  redo(): Undone {
    return this.#turn(this.#undone.at(-1), this.#undone, this.#done)
  }

  get canUndo(): boolean {
    return this.#done.length > 0
  }

  get canRedo(): boolean {
    return this.#undone.length > 0
  }

  #turn(act: Done | undefined, from: Done[], to: Done[]): Undone {
    const place = act ? from.indexOf(act) : -1
    if (!act || place < 0) return { kind: "nothing" }
    from.splice(place, 1)
    const events = takeBack(this.#live.store.get(), act.backs)
    if (!events.length) return { kind: "moved_on" }
    to.push(this.#act(act.title, events, () => to))
    return { kind: "undone", title: act.title }
  }

  /** An act that is refused never happened: it is not there to be taken back. */
  #act(title: string, events: readonly CellChange[], list: () => Done[], { backs, refused }: DoOptions = {}): Done {
    const done = { title, backs: backs ?? waysBack(this.#live.store.get(), events, this.#me) }
    this.#live.act(events, (outcome) => {
      if (outcome.kind === "recorded" && !outcome.proposed) return
      if (outcome.kind === "recorded") this.#proposed()
      else refused?.(outcome.fault)
      const place = list().indexOf(done)
      if (place >= 0) list().splice(place, 1)
    })
    return done
  }
}

/** The change as an edit of the text that it was applied to. */
function asApplied(change: CellChange): CellChange {
  return change.type === "source_edited" ? { type: "source_edited", cell: change.cell, edit: appliedEdit(change) } : change
}
