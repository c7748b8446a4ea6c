/** What panels draw at cells, by cell: a row looks only at its own, and is drawn again only when that changed. */

import type { CellId } from "../core/types.gen.ts"
import type { CellSlot, PanelSpec } from "../hooks/panel.ts"
import type { Readable } from "../hooks/values.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { Value } from "../sync/store.ts"
import type { Stop } from "../sync/store.ts"

/** A slot with a name that is unique on the page. */
export interface NamedSlot extends CellSlot {
  readonly name: string
}

interface Source {
  readonly slot: NamedSlot
  readonly cells: Readable<ReadonlySet<CellId>>
}

export const NO_SLOTS: readonly NamedSlot[] = []

export class CellSlots {
  /** The slots of each cell that has any: the same array as long as it has the same ones. */
  readonly byCell = new Value<ReadonlyMap<CellId, readonly NamedSlot[]>>(new Map())
  #sources: readonly Source[] = []
  #stops: Stop[] = []

  /** Take the slots of these panels, in their order. */
  set(context: PageContext, panels: readonly PanelSpec[]): void {
    this.close()
    this.#sources = panels.flatMap((panel) =>
      (panel.slots ?? []).map((slot, index) => ({ slot: { ...slot, name: `${panel.name}.${index}` }, cells: slot.cells(context) })),
    )
    this.#stops = this.#sources.map(({ cells }) => cells.subscribe(() => this.#collect()))
    this.#collect()
  }

  close(): void {
    for (const stop of this.#stops.splice(0)) stop()
  }

  #collect(): void {
    const found = new Map<CellId, NamedSlot[]>()
    for (const { slot, cells } of this.#sources) {
      for (const cell of cells.get()) {
        const known = found.get(cell)
        if (known) known.push(slot)
        else found.set(cell, [slot])
      }
    }
    const before = this.byCell.get()
    if (found.size === 0 && before.size === 0) return
    this.byCell.set(new Map([...found].map(([cell, slots]) => [cell, kept(before.get(cell), slots)])))
  }
}

function kept(before: readonly NamedSlot[] | undefined, now: readonly NamedSlot[]): readonly NamedSlot[] {
  return before?.length === now.length && now.every((slot, index) => slot === before[index]) ? before : now
}
