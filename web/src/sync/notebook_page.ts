/** What every part of the page of one open notebook is given: the notebook, who is there, and what the page can do. */

import type { CellChange, CellId, Edit, LogId, Notebook } from "../core/types.gen.ts"
import type { ServerClock } from "./clock.ts"
import type { Lanes } from "./lanes.ts"
import type { Live } from "./live.ts"
import type { OpenNotebook, OpenParts } from "./open.ts"
import type { Presence } from "./presence.ts"
import type { Value } from "./store.ts"

/** A line that appears for a while, with at most one thing to do about it. */
export interface Toast {
  readonly text: string
  readonly action?: { readonly label: string; do(): void }
}

/** How a cell is gone to. `select` is in code points of its source. */
export interface GoToOptions {
  readonly edit?: boolean
  readonly select?: { readonly from: number; readonly to: number }
}

export interface PanelItem {
  readonly panel: string
  readonly item: string
}

/** Changes of cells that are in the log. */
export interface RecordedChanges {
  /** What it was, as in "Removed 3 cells". */
  readonly title: string
  /** The notebook before them. */
  readonly before: Notebook
  /** As they were applied. */
  readonly changes: readonly CellChange[]
  /** The edits of texts that came after them, up to the text that is shown. */
  readonly since: readonly (readonly [cell: CellId, edit: Edit])[]
}

export interface PageContext {
  readonly log: LogId
  readonly parts: OpenParts
  readonly open: OpenNotebook
  readonly live: Live
  readonly lanes: Lanes
  readonly presence: Presence
  /** The server's time, for how long ago something was. */
  readonly clock: ServerClock
  /** Whether this person may change cells, and run them; an act may still be refused or become a proposal. */
  readonly mayEdit: boolean
  readonly mayRun: boolean
  /** The cell that keys act on. */
  readonly focus: Value<CellId | null>
  focused(): CellId | null
  /** Focus a cell and bring it into view. */
  goTo(cell: CellId, options?: GoToOptions): void
  readonly notify: (toast: Toast) => void
  /** Change cells as one act, which Z takes back. A line says so, with an Undo of its own, unless `isSilent`. */
  changeCells(title: string, events: readonly CellChange[], options?: { readonly isSilent?: boolean }): void
  /** Ask for these cells to be run, in this order; after a failure the rest is skipped. */
  run(cells: readonly CellId[]): void
  /** Open a panel of the rail by its name, at one of its items if one is given, or close the rail. */
  openPanel(name: string | null, item?: string): void
  /** The item that a panel was last opened at: another object each time. */
  readonly panelItem: Value<PanelItem | null>
  /** Let Z take back what was recorded elsewhere than by `changeCells`: the answer to a proposal. Returns what undoes it. */
  addUndo(done: RecordedChanges): () => void
  /** The name of the panel that is open. */
  readonly panel: Value<string | null>
  /** Whether there is a panel of that name. */
  hasPanel(name: string): boolean
  /** Do the action of that name, if it can be done: also one that another panel brings. */
  doNamed(name: string): void
}
