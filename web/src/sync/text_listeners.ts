/** Tells of changes of the texts that are shown: editors of what was not typed in them, undo of all. */

import { apply, difference } from "../core/text.ts"
import type { Cell, CellId, Edit } from "../core/types.gen.ts"
import type { TextChanges } from "./pending.ts"
import { listen } from "./store.ts"
import type { Stop } from "./store.ts"

export type TextListener = (edit: Edit, source: string) => void

type Cells = ReadonlyMap<CellId, Cell>

export class TextListeners {
  readonly #ofCells = new Map<CellId, Set<TextListener>>()
  readonly #ofAll = new Set<(cell: CellId, edit: Edit) => void>()

  /** Call the listener for each change of a cell's text that was not typed into it here. */
  watch(cell: CellId, listener: TextListener): Stop {
    return listen(this.#ofCells, cell, listener)
  }

  watchAll(listener: (cell: CellId, edit: Edit) => void): Stop {
    this.#ofAll.add(listener)
    return () => void this.#ofAll.delete(listener)
  }

  /** Tell what changed of these cells. `changes` are the edits that led there, where known; `typedIn` shows its text already. */
  tell(cells: readonly CellId[], before: Cells, now: Cells, changes: TextChanges, typedIn: CellId | null): void {
    for (const cell of cells) {
      const [from, to] = [before.get(cell)?.source ?? "", now.get(cell)?.source ?? ""]
      if (from === to) continue
      const change = changes.get(cell)
      const edit = change && apply(from, change) === to ? change : difference(from, to)
      for (const listener of this.#ofAll) listener(cell, edit)
      if (cell !== typedIn) for (const listener of this.#ofCells.get(cell) ?? []) listener(edit, to)
    }
  }
}
