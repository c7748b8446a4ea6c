/**
 * What was typed into one cell and is not on its way yet: one edit that gathers, on top of the acts that wait.
 *
 * When it is sent: alone in a cell after a pause, or at the latest after a while, so that the log has words and not
 * letters; with somebody else in it at once, so that they see it; before a run at once.
 */

import { compose, transform } from "../core/text.ts"
import type { CellId, Edit, EventId } from "../core/types.gen.ts"

export const PAUSE_MILLISECONDS = 300
export const LONGEST_MILLISECONDS = 2000
export const SHARED_MILLISECONDS = 50

/** As it is kept in storage. */
export interface TypedJson {
  readonly cell: CellId
  /** The id under which it will be recorded, chosen at the first letter: sent twice, it is recorded once. */
  readonly id: EventId
  /** The number that it was expected to get: what is shown stays the same while it waits. */
  readonly seq: number
  readonly edit: Edit
}

export class CellText {
  readonly cell: CellId
  readonly id: EventId
  readonly seq: number
  #edit: Edit
  readonly #begun: number
  #last: number

  constructor({ cell, id, seq, edit }: TypedJson, now: number) {
    this.cell = cell
    this.id = id
    this.seq = seq
    this.#edit = edit
    this.#begun = now
    this.#last = now
  }

  get edit(): Edit {
    return this.#edit
  }

  /** Somebody goes on typing. */
  type(edit: Edit, now: number): void {
    this.#edit = compose(this.#edit, edit)
    this.#last = now
  }

  /** An edit that is recorded first: returns it as what is shown has to take it. */
  receive(theirs: Edit): Edit {
    const [ours, rest] = transform(this.#edit, theirs)
    this.#edit = ours
    return rest
  }

  /** When it is to be sent. */
  dueAt(isShared: boolean): number {
    if (isShared) return this.#begun + SHARED_MILLISECONDS
    return Math.min(this.#last + PAUSE_MILLISECONDS, this.#begun + LONGEST_MILLISECONDS)
  }

  toJSON(): TypedJson {
    return { cell: this.cell, id: this.id, seq: this.seq, edit: this.#edit }
  }
}
