/**
 * A notebook on its way through a log: what the branches of `reduce` change.
 *
 * A container is copied when it is changed for the first time after the notebook was handed out, so what nobody changed
 * is the same object as before. Cells and all that is in them are replaced, never changed.
 */

import { cellOf } from "./notebook.ts"
import type { Cell, CellId, Execution, Notebook, Output } from "./types.gen.ts"

type Maps = { [K in keyof Notebook as Notebook[K] extends ReadonlyMap<string, unknown> ? K : never]: Notebook[K] }
type Lists = { [K in keyof Notebook as Notebook[K] extends readonly unknown[] ? K : never]: Notebook[K] }
type Plain = Omit<Notebook, keyof Maps | keyof Lists>
type MapOf<T> = T extends ReadonlyMap<infer K, infer V> ? Map<K, V> : never
type ListOf<T> = T extends readonly (infer V)[] ? V[] : never

export class WorkingCopy {
  #now: Notebook
  #isOwn = false
  readonly #own = new Set<keyof Notebook>()
  readonly #ownOutputs = new Set<readonly Output[]>()
  /** The cells that were set or taken out, over all that this copy was through. */
  readonly touched = new Set<CellId>()

  constructor(start: Notebook) {
    this.#now = start
  }

  /** The notebook to look at before the next change. Do not keep it. */
  get now(): Notebook {
    return this.#now
  }

  /** Hand the notebook out for good: from here on it never changes. */
  handOut(): Notebook {
    this.#isOwn = false
    this.#own.clear()
    this.#ownOutputs.clear()
    return this.#now
  }

  /** Set plain fields. */
  set(fields: Partial<Plain>): void {
    Object.assign(this.#writable(), fields)
  }

  /** A map to write to. */
  map<K extends keyof Maps>(name: K): MapOf<Notebook[K]> {
    if (!this.#own.has(name)) {
      this.#writable()[name] = new Map<string, unknown>(this.#now[name]) as never
      this.#own.add(name)
    }
    return this.#now[name] as unknown as MapOf<Notebook[K]>
  }

  /** A list to write to. */
  list<K extends keyof Lists>(name: K): ListOf<Notebook[K]> {
    if (!this.#own.has(name)) {
      this.#writable()[name] = [...this.#now[name]] as never
      this.#own.add(name)
    }
    return this.#now[name] as unknown as ListOf<Notebook[K]>
  }

  /** Replace a cell by one with other values. */
  setCell(id: CellId, fields: Partial<Cell>): void {
    this.putCell({ ...cellOf(this.#now, id), ...fields })
  }

  /** Take a cell in, or in the place of the one with its id. */
  putCell(cell: Cell): void {
    this.map("cells").set(cell.id, cell)
    this.touched.add(cell.id)
  }

  /** Take a cell out for good. */
  dropCell(id: CellId): void {
    this.map("cells").delete(id)
    this.touched.add(id)
  }

  /** The outputs of an execution, as a list that nobody else holds. */
  outputs(execution: Execution): Output[] {
    if (this.#ownOutputs.has(execution.outputs)) return execution.outputs as Output[]
    const outputs = [...execution.outputs]
    this.#ownOutputs.add(outputs)
    return outputs
  }

  #writable(): { -readonly [K in keyof Notebook]: Notebook[K] } {
    if (!this.#isOwn) {
      this.#now = { ...this.#now }
      this.#isOwn = true
    }
    return this.#now
  }
}
