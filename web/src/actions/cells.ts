/** What is done to cells: all of it can be taken back with Z. */

import type { Cell, CellChange, CellId, CellKind } from "../core/types.gen.ts"
import { additions, copied, folding, heading, isFolded, kinds, merge, movements, removals, split } from "./cell_edits.ts"
import type { CopiedCell, Part } from "./cell_edits.ts"
import { counted, focusedCell, hasCell, mayEdit, mayEditCell, selectedCells } from "./context.ts"
import type { Action, ActionContext } from "./context.ts"
import type { Done, Undone } from "./history.ts"

const KIND_NAMES: Record<CellKind, string> = { code: "code", markdown: "Markdown", raw: "raw text", sql: "SQL", prompt: "prompt" }

/** Add an empty cell after another, or (null) at the top, and edit it or stay outside. */
export function addCell(context: ActionContext, after: CellId | null, kind: CellKind = "code", isEdited = false): void {
  insert(context, [{ kind, source: "", name: null, tags: [], metadata: {} }], after, "Added a cell", isEdited)
}

function insert(context: ActionContext, copies: readonly CopiedCell[], after: CellId | null, title: string, isEdited = false): void {
  const { page, history, view, newCell } = context
  page.live.flush()
  const events = additions(page.live.store.get(), copies, after, newCell)
  const cells = events.map(({ cell }) => cell)
  history.do(title, events)
  if (isEdited && cells[0] !== undefined) view.edit(cells[0])
  else view.select(cells)
}

/** The live cell before another. */
function before({ view }: ActionContext, cell: CellId): CellId | null {
  return view.order[view.order.indexOf(cell) - 1] ?? null
}

function add(context: ActionContext, where: "above" | "below"): void {
  const cells = view(context)
  const [first, last] = [cells[0], cells.at(-1)]
  if (first === undefined || last === undefined) return void addCell(context, context.view.order.at(-1) ?? null)
  addCell(context, where === "above" ? before(context, first) : last)
}

function view(context: ActionContext): CellId[] {
  return context.view.selection()
}

/** Change cells, and say so in a line with an Undo: it takes back this act, whatever was done since. */
export function changeCells(context: ActionContext, title: string, events: readonly CellChange[]): void {
  const { page, history } = context
  const act = history.do(title, events, { refused: (fault) => page.notify({ text: `“${title}” was refused: ${fault.message}` }) })
  if (act) page.notify({ text: `${title}.`, action: { label: "Undo", do: () => undo(context, act) } })
}

export function removeCells(context: ActionContext, cells: readonly CellId[], verb = "Removed"): void {
  context.page.live.flush()
  changeCells(context, `${verb} ${counted(cells.length, "cell")}`, removals(cells))
}

function copy(context: ActionContext): CopiedCell[] {
  context.page.live.flush()
  const cells = selectedCells(context).map(copied)
  if (cells.length) context.ui.clipboard.set(cells)
  return cells
}

function paste(context: ActionContext, where: "above" | "below"): void {
  const cells = view(context)
  const [first, last] = [cells[0], cells.at(-1)]
  const after = where === "above" ? (first === undefined ? null : before(context, first)) : (last ?? context.view.order.at(-1) ?? null)
  const copies = context.ui.clipboard.get()
  if (copies.length) insert(context, copies, after, `Pasted ${counted(copies.length, "cell")}`)
}

function move(context: ActionContext, step: -1 | 1): void {
  const cells = view(context)
  const events = movements(context.view.order, cells, step)
  context.history.do(`Moved ${counted(cells.length, "cell")}`, events)
  const focus = context.view.focus.get()
  if (focus !== null && events.length) context.view.reveals.set({ cell: focus, block: "nearest" })
}

function splitHere(context: ActionContext): void {
  const cell = focusedCell(context)
  const place = context.ui.place()
  if (!cell || !place) return
  context.page.live.flush()
  const now = context.page.live.store.cell(cell.id) ?? cell
  const second = context.newCell(context.page.live.store.get().cells.keys())
  const { events, backs } = split(now, place.position, second)
  context.history.do("Split a cell", events, { backs })
  context.view.edit(second, "start")
}

function mergeCells(context: ActionContext): void {
  context.page.live.flush()
  const cells = selectedCells(context)
  const last = cells.at(-1)
  const { order } = context.view
  const below = cells.length === 1 && last ? order[order.indexOf(last.id) + 1] : undefined
  const next = below === undefined ? undefined : context.page.live.store.cell(below)
  const merged = next ? [...cells, next] : cells
  const first = merged[0]
  if (merged.length < 2 || !first) return void context.page.notify({ text: "There is no cell below to merge with." })
  changeCells(context, `Merged ${merged.length} cells`, merge(merged))
  context.view.goTo(first.id)
}

function changeKind(context: ActionContext, kind: CellKind): void {
  context.page.live.flush()
  context.history.do(`Made ${KIND_NAMES[kind]}`, kinds(selectedCells(context), kind))
}

function changeHeading(context: ActionContext, level: number): void {
  context.page.live.flush()
  const cell = focusedCell(context)
  if (cell) context.history.do(`Made a heading`, heading(cell, level))
}

/** Fold or unfold a part of the selected cells: all as the focused one. */
function fold(context: ActionContext, part: Part): void {
  const { page, ui, history } = context
  const cells = selectedCells(context)
  const focused = focusedCell(context)
  if (!focused) return
  if (!page.mayEdit) return void cells.forEach(({ id }) => ui.foldHere(id, part))
  const isHidden = !isFolded(focused, part)
  history.do(isHidden ? "Folded" : "Unfolded", cells.map((cell: Cell) => folding(cell, part, isHidden)))
}

export function undo(context: ActionContext, act?: Done): void {
  report(context, context.history.undo(act), act ? "It was undone already." : "Nothing to undo.")
}

function redo(context: ActionContext): void {
  report(context, context.history.redo(), "Nothing to redo.")
}

function report({ page }: ActionContext, undone: Undone, nothing: string): void {
  if (undone.kind === "nothing") page.notify({ text: nothing })
  else if (undone.kind === "moved_on") page.notify({ text: "Not undone: it has been changed since." })
}

const kindAction = (name: string, kind: CellKind, key: string): Action => ({
  name,
  title: `Make it ${KIND_NAMES[kind]}`,
  group: "Cells",
  keys: [key],
  mode: "command",
  when: mayEditCell,
  do: (context) => changeKind(context, kind),
})

const headingAction = (level: number): Action => ({
  name: `cell.heading_${level}`,
  title: `Make it a heading ${level}`,
  group: "Cells",
  keys: [String(level)],
  mode: "command",
  when: mayEditCell,
  do: (context) => changeHeading(context, level),
})

export const CELLS: readonly Action[] = [
  { name: "cell.above", title: "Add a cell above", group: "Cells", icon: "plus", keys: ["A"], mode: "command", when: mayEdit, do: (context) => add(context, "above") },
  { name: "cell.below", title: "Add a cell below", group: "Cells", icon: "plus", keys: ["B"], mode: "command", when: mayEdit, do: (context) => add(context, "below") },
  kindAction("cell.code", "code", "Y"),
  kindAction("cell.markdown", "markdown", "M"),
  kindAction("cell.sql", "sql", "Q"),
  kindAction("cell.raw", "raw", "R"),
  ...[1, 2, 3, 4, 5, 6].map(headingAction),
  { name: "cell.remove", title: "Remove", group: "Cells", icon: "trash", keys: ["D D", "Delete"], mode: "command", when: mayEditCell, do: (context) => removeCells(context, view(context)) },
  {
    name: "cell.cut",
    title: "Cut",
    group: "Cells",
    icon: "cut",
    keys: ["X"],
    mode: "command",
    when: mayEditCell,
    do: (context) => {
      if (copy(context).length) removeCells(context, view(context), "Cut")
    },
  },
  {
    name: "cell.copy",
    title: "Copy",
    group: "Cells",
    icon: "copy",
    keys: ["C"],
    mode: "command",
    when: hasCell,
    do: (context) => context.page.notify({ text: `Copied ${counted(copy(context).length, "cell")}.` }),
  },
  { name: "cell.paste", title: "Paste below", group: "Cells", icon: "paste", keys: ["V"], mode: "command", when: mayEdit, do: (context) => paste(context, "below") },
  { name: "cell.paste_above", title: "Paste above", group: "Cells", keys: ["Shift-V"], mode: "command", when: mayEdit, do: (context) => paste(context, "above") },
  {
    name: "cell.duplicate",
    title: "Duplicate",
    group: "Cells",
    icon: "duplicate",
    keys: ["Shift-D"],
    mode: "command",
    when: mayEditCell,
    do: (context) => {
      const cells = selectedCells(context)
      insert(context, cells.map(copied), cells.at(-1)?.id ?? null, `Duplicated ${counted(cells.length, "cell")}`)
    },
  },
  { name: "cell.move_up", title: "Move up", group: "Cells", icon: "up", keys: ["Alt-ArrowUp"], mode: "command", when: mayEditCell, do: (context) => move(context, -1) },
  { name: "cell.move_down", title: "Move down", group: "Cells", icon: "down", keys: ["Alt-ArrowDown"], mode: "command", when: mayEditCell, do: (context) => move(context, 1) },
  {
    name: "cell.split",
    title: "Split at the cursor",
    group: "Edit",
    icon: "split",
    keys: ["Mod-Shift--"],
    mode: "edit",
    when: (context) => mayEditCell(context) && context.ui.place() !== null,
    do: splitHere,
  },
  { name: "cell.merge", title: "Merge with the cell below", group: "Edit", keys: ["Shift-M"], mode: "command", when: mayEditCell, do: mergeCells },
  { name: "cell.name", title: "Name…", group: "Cells", icon: "pencil", keys: ["F2"], mode: "command", when: mayEditCell, do: ({ ui, view }) => withFocus(view.focus.get(), (cell) => ui.editName(cell)) },
  { name: "cell.tags", title: "Tags…", group: "Cells", icon: "tag", keys: ["T"], mode: "command", when: mayEditCell, do: ({ ui, view }) => withFocus(view.focus.get(), (cell) => ui.editTags(cell)) },
  { name: "cell.fold_output", title: "Fold the output", group: "View", icon: "fold", keys: ["O"], mode: "command", when: hasCell, do: (context) => fold(context, "outputs") },
  { name: "cell.fold_source", title: "Fold the source", group: "View", keys: ["Shift-O"], mode: "command", when: hasCell, do: (context) => fold(context, "source") },
  { name: "cell.menu", title: "Menu of the cell", group: "View", icon: "more", keys: ["."], mode: "command", when: hasCell, do: ({ ui, view }) => withFocus(view.focus.get(), (cell) => ui.openCellMenu(cell)), isKeyOnly: true },
  { name: "edit.undo", title: "Undo on cells", group: "Edit", icon: "undo", keys: ["Z"], mode: "command", when: mayEdit, do: undo },
  { name: "edit.redo", title: "Redo on cells", group: "Edit", icon: "redo", keys: ["Shift-Z"], mode: "command", when: mayEdit, do: redo },
]

function withFocus(cell: CellId | null, then: (cell: CellId) => void): void {
  if (cell !== null) then(cell)
}
