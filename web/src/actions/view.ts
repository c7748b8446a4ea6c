/**
 * Where one window is in a notebook: the cell that keys act on, the cells that are selected, and whether one is edited.
 *
 * None of it is the notebook's: it is in no log and in nobody else's view. A row looks at its own cell (`cell`,
 * `subscribeCell`), so that going from one cell to the next renders two rows.
 */

import type { CellId } from "../core/types.gen.ts"
import { Value } from "../sync/store.ts"
import type { Listener, Stop } from "../sync/store.ts"

export type Mode = "command" | "edit"

/** Where the cursor is put when an editor opens: by code points, or where somebody clicked. */
export type CursorPlace = "start" | "end" | { readonly from: number; readonly to: number } | { readonly x: number; readonly y: number }

/** What a row knows of itself. The same object while nothing of it changed. */
export interface CellView {
  readonly isFocused: boolean
  readonly isSelected: boolean
  readonly isEdited: boolean
  readonly initial: CursorPlace
}

const AWAY: CellView = { isFocused: false, isSelected: false, isEdited: false, initial: "start" }

export class View {
  readonly focus = new Value<CellId | null>(null)
  readonly mode = new Value<Mode>("command")
  /** The selected cells, in no order; never without the focused one. */
  readonly selected = new Value<ReadonlySet<CellId>>(new Set())
  /** Counts what was done here that is to bring the focused cell into view. */
  readonly reveals = new Value<{ readonly cell: CellId; readonly block: ScrollBlock } | null>(null)
  readonly #order: () => readonly CellId[]
  readonly #cells = new Map<CellId, CellView>()
  readonly #listeners = new Map<CellId, Set<Listener>>()
  #anchor: CellId | null = null
  #initial: CursorPlace = "start"

  /** `order` gives the cells that are shown, from top to bottom. */
  constructor(order: () => readonly CellId[]) {
    this.#order = order
  }

  get order(): readonly CellId[] {
    return this.#order()
  }

  /** The cell that is edited. */
  get edited(): CellId | null {
    return this.mode.get() === "edit" ? this.focus.get() : null
  }

  /** The selected cells from top to bottom. */
  selection(): CellId[] {
    const selected = this.selected.get()
    return this.#order().filter((id) => selected.has(id))
  }

  cell(id: CellId): CellView {
    return this.#cells.get(id) ?? AWAY
  }

  subscribeCell(id: CellId, listener: Listener): Stop {
    const known = this.#listeners.get(id) ?? new Set()
    this.#listeners.set(id, known.add(listener))
    return () => {
      known.delete(listener)
      if (known.size === 0 && this.#listeners.get(id) === known) this.#listeners.delete(id)
    }
  }

  /** Go to a cell, out of any editor. */
  goTo(id: CellId | null, block: ScrollBlock = "nearest"): void {
    this.#anchor = id
    this.#set(id, "command")
    this.#reveal(block)
  }

  /** Go to a cell that somebody pressed with the pointer: it is in view, and the page stays where it is. */
  press(id: CellId): void {
    this.#anchor = id
    this.#set(id, "command")
  }

  /** Edit a cell. */
  edit(id: CellId, initial: CursorPlace = "start"): void {
    this.#anchor = id
    this.#initial = initial
    this.#set(id, "edit", true)
    if (typeof initial !== "object" || !("x" in initial)) this.#reveal("nearest")
  }

  /** Leave the editor, and stay at its cell. */
  leaveEditor(): void {
    if (this.mode.get() === "edit") this.#set(this.focus.get(), "command")
  }

  /** Take the focus to a cell, and select all cells from where the selection began. */
  extendTo(id: CellId): void {
    this.#anchor ??= this.focus.get() ?? id
    this.#set(id, "command")
    this.#reveal("nearest")
  }

  /** Select these cells, the first of which is focused. */
  select(cells: readonly CellId[]): void {
    const first = cells[0]
    if (first === undefined) return
    this.#anchor = cells.at(-1) ?? first
    this.#set(first, "command")
    this.#reveal("nearest")
  }

  /** The order is another: a focus on a cell that is gone goes to the one that has its place. */
  settle(before: readonly CellId[]): void {
    const focus = this.focus.get()
    const order = this.#order()
    if (focus === null || order.includes(focus)) {
      if (this.#anchor !== null && !order.includes(this.#anchor)) this.#anchor = focus
      this.#set(focus, this.mode.get())
      return
    }
    const place = before.indexOf(focus)
    const next = before.slice(place).find((id) => order.includes(id)) ?? order[Math.max(0, Math.min(place, order.length) - 1)]
    this.#anchor = next ?? null
    this.#set(next ?? null, "command")
  }

  #reveal(block: ScrollBlock): void {
    const cell = this.focus.get()
    if (cell !== null) this.reveals.set({ cell, block })
  }

  #set(focus: CellId | null, mode: Mode, isNewPlace = false): void {
    const selected = this.#between(focus)
    const changed = new Set<CellId>(this.#cells.keys())
    const before = new Map(this.#cells)
    this.#cells.clear()
    for (const id of selected) {
      const isEdited = id === focus && mode === "edit"
      const initial = isEdited ? this.#initial : "start"
      const next: CellView = { isFocused: id === focus, isSelected: selected.size > 1, isEdited, initial }
      const known = before.get(id)
      this.#cells.set(id, known && isSame(known, next) && !(isNewPlace && isEdited) ? known : next)
      changed.add(id)
    }
    this.focus.set(focus)
    this.mode.set(focus === null ? "command" : mode)
    if (!isSameSet(this.selected.get(), selected)) this.selected.set(selected)
    for (const id of changed) {
      if (before.get(id) === this.#cells.get(id)) continue
      for (const listener of [...(this.#listeners.get(id) ?? [])]) listener()
    }
  }

  #between(focus: CellId | null): ReadonlySet<CellId> {
    if (focus === null) return new Set()
    if (this.#anchor === null || this.#anchor === focus) return new Set([focus])
    const order = this.#order()
    const [from, to] = [order.indexOf(this.#anchor), order.indexOf(focus)]
    if (from < 0 || to < 0) return new Set([focus])
    return new Set(order.slice(Math.min(from, to), Math.max(from, to) + 1))
  }
}

/** How far the page moves to show a cell: as `scrollIntoView` names it. */
export type ScrollBlock = "nearest" | "center" | "start"

function isSame(one: CellView, other: CellView): boolean {
  return (
    one.isFocused === other.isFocused &&
    one.isSelected === other.isSelected &&
    one.isEdited === other.isEdited &&
    (!one.isEdited || one.initial === other.initial)
  )
}

function isSameSet(one: ReadonlySet<unknown>, other: ReadonlySet<unknown>): boolean {
  return one.size === other.size && [...one].every((each) => other.has(each))
}
