/** A panel of the notebook's rail, as main.tsx gives it to the page, and what it puts elsewhere on the page. */

import type { ReactNode } from "react"
import type { Cell, CellId } from "../core/types.gen.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import type { Readable } from "./values.ts"

/** Something that keys, the palette and the `?` sheet offer for a panel. */
export interface PanelAction {
  /** Names it for tests: `proposals.next`. */
  readonly name: string
  readonly title: string
  /** Written as in actions/: "Alt-R". */
  readonly keys: readonly string[]
  /** In which mode its keys work; in both without one. */
  readonly mode?: "command" | "edit"
  /** Its keys work only where the focus is in the panel, which takes them itself: they are told, and bound nowhere else. */
  readonly isLocal?: boolean
  /** Only keys start it: it is nothing to choose from a list. */
  readonly isKeyOnly?: boolean
  /** Whether it can be done now; without it, always. */
  when?(context: PageContext): boolean
  do(context: PageContext): void
}

/**
 * Something that a panel draws at cells.
 *
 * `above` and `below` are the cell's source, `source` stands in its place unless the cell is edited, `after` is a row of
 * its own behind the cell, and `gutter` is beside the mark of its state.
 */
export interface CellSlot {
  readonly place: "gutter" | "above" | "source" | "below" | "after"
  /** The cells that have it now: only these draw it. The same object as long as nothing changed. */
  cells(context: PageContext): Readable<ReadonlySet<CellId>>
  render(context: PageContext, cell: Cell): ReactNode
}

export interface PanelSpec {
  /** Names it in storage and in `openPanel`. */
  readonly name: string
  readonly title: string
  readonly icon: ReactNode
  /** The keys that open it outside a cell, written as in actions/: "Alt-R". */
  readonly key?: string
  /** What it offers beside being opened. */
  readonly actions?: readonly PanelAction[]
  readonly slots?: readonly CellSlot[]
  /** Whether the rail has no button for it: it is opened from elsewhere. */
  readonly isHidden?: boolean
  render(context: PageContext): ReactNode
  /** What is drawn as long as the notebook is open, whether the panel is or not. */
  always?(context: PageContext): ReactNode
  /** What stands in the header of the page, before the buttons of the panels. */
  header?(context: PageContext): ReactNode
  /** A line above the first cell. */
  notice?(context: PageContext): ReactNode
  /** What stands above a cell; asked of cells that have tags. */
  aboveCell?(context: PageContext, cell: Cell): ReactNode
  /** How many things wait there. Called while rendering: it may use hooks. */
  badge?(context: PageContext): number
}
