/**
 * Who looks at what. A component subscribes to one value or to one cell, and is called when that is another object.
 *
 * Both classes fit `useSyncExternalStore`: `get` returns the same object for as long as nothing changed.
 */

import { staleCells } from "../core/staleness.ts"
import type { Cell, CellId, Notebook } from "../core/types.gen.ts"
import { isSameList } from "./reuse.ts"

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

/** Calls a function after so many milliseconds. */
export type Later = (milliseconds: number, call: () => void) => void

/** How long after a change the marks of stale cells follow it. */
const STALE_MILLISECONDS = 100
/** How many are called at once when other cells are stale: one edit may make a thousand so, and keys come in between. */
const MOST_AT_ONCE = 50

/** What is found out of the notebook's fields: looked at as they are. */
type Derived = "stale" | "visible"

/** The notebook that is shown, by field and by cell. */
export class NotebookStore {
  #notebook: Notebook
  #stale: ReadonlySet<CellId> | null = null
  #visible: readonly CellId[]
  #isStaleDue = false
  readonly #later: Later
  readonly #fields = new Map<keyof Notebook | Derived, Set<Listener>>()
  readonly #cells = new Map<CellId, Set<Listener>>()

  /** Which cells are stale is found out `later`, once for many changes: it takes a look at all of them. */
  constructor(notebook: Notebook, later: Later = (_, call) => call()) {
    this.#notebook = notebook
    this.#visible = visibleCells(notebook)
    this.#later = later
  }

  readonly get = (): Notebook => this.#notebook

  field<K extends keyof Notebook>(name: K): Notebook[K] {
    return this.#notebook[name]
  }

  cell(id: CellId): Cell | undefined {
    return this.#notebook.cells.get(id)
  }

  /** The ids of the stale cells as last found out: the same set as long as it has the same cells. */
  stale(): ReadonlySet<CellId> {
    this.#stale ??= staleCells(this.#notebook)
    return this.#stale
  }

  /** The ids of the cells that a person sees, from top to bottom: the same array as long as it has the same cells. */
  readonly visible = (): readonly CellId[] => this.#visible

  subscribe(field: keyof Notebook | Derived, listener: Listener): Stop {
    return listen(this.#fields, field, listener)
  }

  subscribeCell(id: CellId, listener: Listener): Stop {
    return listen(this.#cells, id, listener)
  }

  /**
   * Show another notebook, and call those who look at what differs. `among` has the cells that may differ; without them,
   * any may. Returns those that do.
   */
  put(next: Notebook, among: Iterable<CellId> | null = null): readonly CellId[] {
    const before = this.#notebook
    if (next === before) return []
    const cells = next.cells === before.cells ? [] : differing(before.cells, next.cells, among)
    const mayMove = next.order !== before.order || cells.some((id) => before.cells.get(id)?.removed !== next.cells.get(id)?.removed)
    const visible = mayMove ? visibleCells(next) : this.#visible
    const isMoved = !isSameList(visible, this.#visible)
    this.#notebook = next
    if (isMoved) this.#visible = visible
    const changed: Listener[] = []
    for (const [field, listeners] of this.#fields) {
      if (field === "visible" ? isMoved : field !== "stale" && next[field] !== before[field]) changed.push(...listeners)
    }
    for (const id of cells) changed.push(...(this.#cells.get(id) ?? []))
    for (const listener of changed) listener()
    if (next.cells !== before.cells || next.order !== before.order) this.#findStale()
    return cells
  }

  #findStale(): void {
    if (this.#isStaleDue || !this.#stale) return
    this.#isStaleDue = true
    this.#later(STALE_MILLISECONDS, () => {
      this.#isStaleDue = false
      const before = this.#stale
      const now = staleCells(this.#notebook)
      if (before && now.size === before.size && [...now].every((cell) => before.has(cell))) return
      this.#stale = now
      this.#callSome([...(this.#fields.get("stale") ?? [])])
    })
  }

  #callSome(listeners: readonly Listener[]): void {
    const known = this.#fields.get("stale")
    for (const listener of listeners.slice(0, MOST_AT_ONCE)) if (known?.has(listener)) listener()
    const rest = listeners.slice(MOST_AT_ONCE)
    if (rest.length) this.#later(0, () => this.#callSome(rest))
  }
}

type Cells = ReadonlyMap<CellId, Cell>

/** The cells that are other objects, or are in one of both only. */
function differing(before: Cells, now: Cells, among: Iterable<CellId> | null): CellId[] {
  return [...new Set(among ?? [...before.keys(), ...now.keys()])].filter((id) => before.get(id) !== now.get(id))
}

function visibleCells({ order, cells }: Notebook): readonly CellId[] {
  return order.filter((id) => cells.get(id)?.removed === false)
}

/** Add a listener to those of a key. */
export function listen<K, L>(listeners: Map<K, Set<L>>, key: K, listener: L): Stop {
  const known = listeners.get(key) ?? new Set<L>()
  listeners.set(key, known.add(listener))
  return () => {
    known.delete(listener)
    if (known.size === 0 && listeners.get(key) === known) listeners.delete(key)
  }
}
