/** Somebody at a live notebook: a row and an editor for every cell, and moves that people make. */

import { sourceHash } from "../src/core/hash.ts"
import { liveCells } from "../src/core/notebook.ts"
import { pointLength } from "../src/core/points.ts"
import { apply } from "../src/core/text.ts"
import type { Cell, CellId, KnownEvent } from "../src/core/types.gen.ts"
import type { Live } from "../src/sync/live.ts"
import type { Random } from "./random.ts"

/** So few that people meet in them, and add what others removed. */
export const CELLS: readonly CellId[] = ["a", "b", "c", "d"]

export class Person {
  readonly live: Live
  /** What editors show: they hear of changes as CodeMirror would. */
  readonly editors = new Map<CellId, string>()
  /** What rows show, and in which order: they look again when they are called. */
  readonly #rows = new Map<CellId, Cell | undefined>()
  #order: readonly CellId[]
  readonly #random: Random
  readonly #newId: () => string

  constructor(live: Live, random: Random, newId: () => string) {
    this.live = live
    this.#random = random
    this.#newId = newId
    this.#order = live.store.visible()
    live.store.subscribe("visible", () => (this.#order = live.store.visible()))
    for (const cell of CELLS) {
      this.#rows.set(cell, live.store.cell(cell))
      live.store.subscribeCell(cell, () => this.#rows.set(cell, live.store.cell(cell)))
      this.editors.set(cell, live.store.cell(cell)?.source ?? "")
      live.watchText(cell, (edit) => this.editors.set(cell, apply(this.editors.get(cell) ?? "", edit)))
    }
  }

  /** Type into a cell: the editor has it before anybody else. */
  type(cell: CellId): void {
    const before = this.editors.get(cell) ?? ""
    const edit = this.#random.edit(pointLength(before), 2)
    this.editors.set(cell, apply(before, edit))
    this.live.type(cell, edit)
  }

  /** Do something to what is shown. */
  move(): void {
    const seen = liveCells(this.live.store.get()).map((cell) => cell.id)
    const random = this.#random
    if (seen.length && random.chance(0.5)) this.type(random.pick(seen))
    else this.live.act(this.#events(random.pick(CELLS), random.pick([null, ...CELLS])))
  }

  #events(cell: CellId, anchor: CellId | null): KnownEvent[] {
    const random = this.#random
    return random.pick<() => KnownEvent[]>([
      () => [{ type: "cell_added", cell, after: anchor, source: random.text() }],
      () => [{ type: "cell_added", cell, after: anchor, source: random.text() }],
      () => [{ type: "cell_removed", cell, ...(random.chance(0.5) ? { base_hash: this.#hash(cell) } : {}) }],
      () => [{ type: "cell_moved", cell, after: anchor }],
      () => [{ type: "cell_kind_changed", cell, kind: "markdown" }],
      () => [{ type: "cell_named", cell, name: "load" }],
      () => [{ type: "notebook_renamed", name: random.pick(["sales", "sales 🦊"]) }],
      () => [{ type: "execution_requested", execution: this.#newId(), cell, source_hash: this.#hash(cell) }],
      () => this.#split(cell, random.pick(CELLS)),
      () => [{ type: "source_edited", cell, text: random.text() }],
    ])()
  }

  #hash(cell: CellId): string {
    return sourceHash(this.live.store.cell(cell)?.source ?? "")
  }

  #split(cell: CellId, into: CellId): KnownEvent[] {
    const source = this.live.store.cell(cell)?.source ?? ""
    const at = this.#random.integer(0, pointLength(source))
    return [
      { type: "source_edited", cell, edit: [[at, pointLength(source) - at, ""]] },
      { type: "cell_added", cell: into, after: cell, source: apply(source, [[0, at, ""]]) },
    ]
  }

  /** Where editors show another text than the notebook has, or rows another cell or order. */
  faults(): string[] {
    const { store } = this.live
    const texts = CELLS.map((cell) => [cell, store.cell(cell)?.source ?? "", this.editors.get(cell)])
    const wrong = texts.filter(([, shown, edited]) => shown !== edited).map((text) => JSON.stringify(text))
    const rows = CELLS.filter((cell) => this.#rows.get(cell) !== store.cell(cell)).map((cell) => `the row of ${cell}`)
    const order = liveCells(store.get()).map(({ id }) => id)
    return [...wrong, ...rows, ...(order.join() === this.#order.join() ? [] : [`order ${this.#order.join()}, not ${order.join()}`])]
  }
}
