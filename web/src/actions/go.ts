/** Going from cell to cell, in and out of the editor. */

import { always, hasCell, mayEditCell } from "./context.ts"
import type { Action, ActionContext } from "./context.ts"

function neighbour({ view }: ActionContext, step: number): string | null {
  const { order } = view
  const focus = view.focus.get()
  if (focus === null) return (step < 0 ? order.at(-1) : order[0]) ?? null
  const place = order.indexOf(focus) + step
  return order[Math.max(0, Math.min(place, order.length - 1))] ?? null
}

function go(context: ActionContext, step: number): void {
  const cell = neighbour(context, step)
  if (cell !== null) context.view.goTo(cell)
}

function extend(context: ActionContext, step: number): void {
  const cell = neighbour(context, step)
  if (cell !== null) context.view.extendTo(cell)
}

/** The cell beside the one that is edited, if the cursor is at the edge of that. */
function beside(context: ActionContext, step: -1 | 1): string | null {
  const place = context.ui.place()
  if (!place || place.hasPopup || !(step < 0 ? place.isFirstLine : place.isLastLine)) return null
  const cell = neighbour(context, step)
  return cell === context.view.focus.get() ? null : cell
}

function editBeside(context: ActionContext, step: -1 | 1): void {
  const cell = beside(context, step)
  if (cell === null) return
  context.page.live.flush()
  context.view.edit(cell, step < 0 ? "end" : "start")
}

export const GO: readonly Action[] = [
  {
    name: "go.edit",
    title: "Edit the cell",
    group: "Go",
    keys: ["Enter"],
    mode: "command",
    when: mayEditCell,
    do: ({ view }) => {
      const focus = view.focus.get()
      if (focus !== null) view.edit(focus, "end")
    },
  },
  {
    name: "go.leave",
    title: "Leave the editor",
    group: "Go",
    keys: ["Esc"],
    mode: "edit",
    when: ({ ui }) => ui.place()?.hasPopup !== true,
    do: ({ view, page }) => {
      page.live.flush()
      view.leaveEditor()
    },
    isKeyOnly: true,
  },
  {
    name: "go.deselect",
    title: "Select only this cell",
    group: "Go",
    keys: ["Esc"],
    mode: "command",
    when: ({ view }) => view.selected.get().size > 1,
    do: ({ view }) => view.goTo(view.focus.get()),
    isKeyOnly: true,
  },
  { name: "go.up", title: "Cell above", group: "Go", keys: ["K", "ArrowUp"], mode: "command", when: always, do: (context) => go(context, -1), isKeyOnly: true },
  { name: "go.down", title: "Cell below", group: "Go", keys: ["J", "ArrowDown"], mode: "command", when: always, do: (context) => go(context, 1), isKeyOnly: true },
  {
    name: "go.extend_up",
    title: "Select the cell above too",
    group: "Go",
    keys: ["Shift-ArrowUp", "Shift-K"],
    mode: "command",
    when: always,
    do: (context) => extend(context, -1),
    isKeyOnly: true,
  },
  {
    name: "go.extend_down",
    title: "Select the cell below too",
    group: "Go",
    keys: ["Shift-ArrowDown", "Shift-J"],
    mode: "command",
    when: always,
    do: (context) => extend(context, 1),
    isKeyOnly: true,
  },
  {
    name: "go.first",
    title: "First cell",
    group: "Go",
    keys: ["Home", "Mod-ArrowUp"],
    mode: "command",
    when: always,
    do: ({ view }) => view.goTo(view.order[0] ?? null),
  },
  {
    name: "go.last",
    title: "Last cell",
    group: "Go",
    keys: ["End", "Mod-ArrowDown"],
    mode: "command",
    when: always,
    do: ({ view }) => view.goTo(view.order.at(-1) ?? null),
  },
  {
    name: "go.select_all",
    title: "Select all cells",
    group: "Go",
    keys: ["Mod-A"],
    mode: "command",
    when: hasCell,
    do: ({ view }) => view.select(view.order),
  },
  {
    name: "go.edit_above",
    title: "Up from the first line: edit the cell above",
    group: "Go",
    keys: ["ArrowUp"],
    mode: "edit",
    when: (context) => beside(context, -1) !== null,
    do: (context) => editBeside(context, -1),
    isKeyOnly: true,
  },
  {
    name: "go.edit_below",
    title: "Down from the last line: edit the cell below",
    group: "Go",
    keys: ["ArrowDown"],
    mode: "edit",
    when: (context) => beside(context, 1) !== null,
    do: (context) => editBeside(context, 1),
    isKeyOnly: true,
  },
]
