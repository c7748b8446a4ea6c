/** A panel of the notebook's rail, as main.tsx gives it to the page. */

import type { ReactNode } from "react"
import type { Cell } from "../core/types.gen.ts"
import type { PageContext } from "../sync/notebook_page.ts"

export interface PanelSpec {
  /** Names it in storage and in `openPanel`. */
  readonly name: string
  readonly title: string
  readonly icon: ReactNode
  /** The keys that open it outside a cell, written as in actions/: "Alt-R". */
  readonly key?: string
  render(context: PageContext): ReactNode
  /** What is drawn as long as the notebook is open, whether the panel is or not. */
  always?(context: PageContext): ReactNode
  /** What stands above a cell; asked of cells that have tags. */
  aboveCell?(context: PageContext, cell: Cell): ReactNode
  /** How many things wait there. Called while rendering: it may use hooks. */
  badge?(context: PageContext): number
}
