/** What an action is, and what it works with: the open notebook, where this window is in it, and what the page can show. */

import type { Cell, CellId } from "../core/types.gen.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import type { History } from "./history.ts"
import type { View } from "./view.ts"

/** Where the cursor is in the cell that is edited. */
export interface EditorPlace {
  /** In code points. */
  readonly position: number
  readonly isFirstLine: boolean
  readonly isLastLine: boolean
  /** Whether something is open over the text that has keys of its own: a list of completions, say. */
  readonly hasPopup: boolean
}

export interface Question {
  readonly title: string
  readonly text: string
  /** What the button says that does it. */
  readonly yes: string
  readonly isDangerous?: boolean
}

/** What the page can show; none of it is the notebook's. */
export interface PageUi {
  ask(question: Question): Promise<boolean>
  openPalette(): void
  openKeys(): void
  openCellMenu(cell: CellId): void
  editName(cell: CellId): void
  editTags(cell: CellId): void
  editNotebookName(): void
  /** Fold a part of a cell for this window alone: of somebody who may not change the notebook. */
  foldHere(cell: CellId, part: "source" | "outputs"): void
  /** Where the cursor is; null when no cell is edited. */
  place(): EditorPlace | null
  /** The clipboard of the app: cells that were cut or copied, also in another notebook. */
  readonly clipboard: { get(): readonly Copied[]; set(cells: readonly Copied[]): void }
}

export type Copied = Pick<Cell, "kind" | "source" | "name" | "tags" | "metadata">

export interface ActionContext {
  readonly page: PageContext
  readonly view: View
  readonly history: History
  readonly ui: PageUi
  readonly newCell: (taken: Iterable<CellId>) => CellId
}

/** The groups of the `?` sheet and of the palette, in their order. */
export const GROUPS = ["Go", "Run", "Cells", "Edit", "View", "Notebook", "Panels"] as const
export type Group = (typeof GROUPS)[number]

export interface Action {
  /** Names it for tests and menus: `cell.remove`. */
  readonly name: string
  readonly title: string
  readonly group: Group
  readonly icon?: string
  readonly keys: readonly string[]
  /** In which mode its keys work; in both without one. */
  readonly mode?: "command" | "edit"
  /** Whether it can be done now. */
  when(context: ActionContext): boolean
  do(context: ActionContext): void
  /** Its keys are bound by what has the focus, and nowhere else. */
  readonly isLocal?: boolean
  /** Only keys start it: going to the next cell is nothing to choose from a list. */
  readonly isKeyOnly?: boolean
}

// ---- Questions that actions ask

export const always = (): boolean => true
export const hasCell = ({ view }: ActionContext): boolean => view.focus.get() !== null
export const mayEdit = ({ page }: ActionContext): boolean => page.mayEdit
export const mayEditCell = (context: ActionContext): boolean => hasCell(context) && mayEdit(context)
export const mayRun = ({ page }: ActionContext): boolean => page.mayRun

/** The cells that are selected, from top to bottom. */
export function selectedCells({ page, view }: ActionContext): Cell[] {
  return view.selection().flatMap((id) => page.live.store.cell(id) ?? [])
}

export function focusedCell({ page, view }: ActionContext): Cell | undefined {
  const id = view.focus.get()
  return id === null ? undefined : page.live.store.cell(id)
}

export function counted(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`
}
