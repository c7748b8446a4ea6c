/**
 * Who looks at what. A component subscribes to one value or to one cell, and is called when that is another object.
 *
 * Both classes fit `useSyncExternalStore`: `get` returns the same object for as long as nothing changed.
 */

import { staleCells } from "../core/stale.ts"
import type { Cell, CellId, Notebook } from "../core/types.gen.ts"

export type Listener = () => void
/** Ends a subscription. */
export type Stop = () => void

/** One value that others look at. */
export class Value<T> {
  #value: T
  readonly #listeners = new Set<Listener>()

  constructor(value: T) {
    this.#value = value
  }

  readonly get = (): T => this.#value

  set(value: T): void {
    if (Object.is(value, this.#value)) return
    this.#value = value
    for (const listener of [...this.#listeners]) listener()
  }

  readonly subscribe = (listener: Listener): Stop => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}

/** The notebook that is shown, by field and by cell. */
export class NotebookStore {
  #notebook: Notebook
  #stale: ReadonlySet<CellId> | null = null
  readonly #fields = new Map<keyof Notebook | "stale", Set<Listener>>()
  readonly #cells = new Map<CellId, Set<Listener>>()

  constructor(notebook: Notebook) {
    this.#notebook = notebook
  }

  readonly get = (): Notebook => this.#notebook

  field<K extends keyof Notebook>(name: K): Notebook[K] {
    return this.#notebook[name]
  }

  cell(id: CellId): Cell | undefined {
    return this.#notebook.cells.get(id)
  }

  /** The ids of the stale cells: the same set as long as it has the same cells. */
  stale(): ReadonlySet<CellId> {
    this.#stale ??= staleCells(this.#notebook)
    return this.#stale
  }

  subscribe(field: keyof Notebook | "stale", listener: Listener): Stop {
    return listen(this.#fields, field, listener)
  }

  subscribeCell(id: CellId, listener: Listener): Stop {
    return listen(this.#cells, id, listener)
  }

  /** Show another notebook, and call those who look at what differs. */
  put(next: Notebook): void {
    const before = this.#notebook
    if (next === before) return
    const staleBefore = this.#stale
    this.#notebook = next
    if (next.cells !== before.cells || next.order !== before.order) this.#stale = null
    const changed: Listener[] = []
    for (const [field, listeners] of this.#fields) {
      const isChanged = field === "stale" ? this.#isStaleChanged(staleBefore) : next[field] !== before[field]
      if (isChanged) changed.push(...listeners)
    }
    if (next.cells !== before.cells) {
      for (const [id, listeners] of this.#cells) {
        if (next.cells.get(id) !== before.cells.get(id)) changed.push(...listeners)
      }
    }
    for (const listener of changed) listener()
  }

  #isStaleChanged(before: ReadonlySet<CellId> | null): boolean {
    const now = this.stale()
    if (!before) return true
    if (now.size !== before.size || [...now].some((cell) => !before.has(cell))) return true
    this.#stale = before
    return false
  }
}

function listen<K>(listeners: Map<K, Set<Listener>>, key: K, listener: Listener): Stop {
  const known = listeners.get(key) ?? new Set<Listener>()
  listeners.set(key, known)
  known.add(listener)
  return () => {
    known.delete(listener)
    if (known.size === 0 && listeners.get(key) === known) listeners.delete(key)
  }
}
