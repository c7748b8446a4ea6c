/** Running cells, and stopping them. */

import { runs } from "../core/notebook.ts"
import type { CellId, KnownEvent, Notebook } from "../core/types.gen.ts"
import type { Outcome } from "../sync/live.ts"
import { additions } from "./cell_edits.ts"
import { counted, hasCell, mayRun, selectedCells } from "./context.ts"
import type { Action, ActionContext } from "./context.ts"
import { cancellations, interruptions, outdated, requests, runnable } from "./requests.ts"

const EMPTY = { kind: "code", source: "", name: null, tags: [], metadata: {} } as const

function shown({ page }: ActionContext): Notebook {
  return page.live.store.get()
}

/** Ask for cells: what was typed goes first, so that the source that is asked for is the one in the log. */
export function runCells(context: ActionContext, cells: readonly CellId[], again = false): void {
  const { live, parts, mayRun: may, notify } = context.page
  if (!may) return void notify({ text: "You may read this notebook, not run it. Ask its owner for the right to run." })
  live.flush()
  const events = requests(live.store.get(), cells, parts.newId, again)
  if (events.length) live.act(events, (outcome) => tellProposed(context, outcome))
}

/** Who has to ask first is told that this was asked. */
export function tellProposed({ page }: Pick<ActionContext, "page">, outcome: Outcome): void {
  if (outcome.kind === "recorded" && outcome.proposed) page.notify({ text: "Proposed: it is done once somebody agrees." })
}

function runSelection(context: ActionContext): void {
  const cells = selectedCells(context)
  const code = cells.filter(runs).map(({ id }) => id)
  if (code.length) runCells(context, code, true)
  else context.page.live.flush()
  context.view.leaveEditor()
}

function insertBelow(context: ActionContext, after: CellId): void {
  const { page, history, view, newCell } = context
  const events = additions(shown(context), [EMPTY], after, newCell)
  history.do("Added a cell", events)
  const cell = events[0]?.cell
  if (cell !== undefined && page.mayEdit) view.edit(cell)
}

function advance(context: ActionContext): void {
  const { view, page } = context
  const last = view.selection().at(-1)
  if (last === undefined) return
  const next = view.order[view.order.indexOf(last) + 1]
  if (next !== undefined) view.goTo(next)
  else if (page.mayEdit) insertBelow(context, last)
}

function runFrom(context: ActionContext, pick: (order: readonly CellId[], place: number) => readonly CellId[]): void {
  const focus = context.view.focus.get()
  const { order } = context.view
  runCells(context, focus === null ? [] : pick(order, order.indexOf(focus)))
}

function act(context: ActionContext, events: readonly KnownEvent[], nothing: string): void {
  if (events.length) context.page.live.act(events)
  else context.page.notify({ text: nothing })
}

async function restart(context: ActionContext, thenAll: boolean): Promise<void> {
  const { page, ui } = context
  const open = shown(context).executions.size
  const lost = open ? ` ${counted(open, "cell")} that run or wait will be cancelled.` : ""
  const text = `All variables are gone then; sources and outputs stay.${lost}`
  const title = thenAll ? "Restart the kernel and run all cells?" : "Restart the kernel?"
  if (!(await ui.ask({ title, text, yes: thenAll ? "Restart and run all" : "Restart", isDangerous: true }))) return
  page.live.act([...cancellations(shown(context)), { type: "restart_requested" }], (outcome) => {
    if (outcome.kind === "recorded" && thenAll) runCells(context, runnable(shown(context)))
  })
}

const mayRunCell = (context: ActionContext): boolean => hasCell(context)
const isBusy = (context: ActionContext): boolean => mayRun(context) && interruptions(shown(context)).length > 0

export const RUN: readonly Action[] = [
  {
    name: "run.cell",
    title: "Run",
    group: "Run",
    icon: "play",
    keys: ["Mod-Enter"],
    when: mayRunCell,
    do: runSelection,
  },
  {
    name: "run.advance",
    title: "Run and go on",
    group: "Run",
    icon: "play",
    keys: ["Shift-Enter"],
    when: mayRunCell,
    do: (context) => {
      runSelection(context)
      advance(context)
    },
  },
  {
    name: "run.insert",
    title: "Run and add a cell below",
    group: "Run",
    keys: ["Alt-Enter"],
    when: (context) => mayRunCell(context) && context.page.mayEdit,
    do: (context) => {
      runSelection(context)
      const last = context.view.selection().at(-1)
      if (last !== undefined) insertBelow(context, last)
    },
  },
  {
    name: "run.all",
    title: "Run all",
    group: "Run",
    icon: "run-all",
    keys: [],
    when: mayRun,
    do: (context) => runCells(context, runnable(shown(context))),
  },
  {
    name: "run.above",
    title: "Run all above",
    group: "Run",
    keys: [],
    when: (context) => mayRun(context) && hasCell(context),
    do: (context) => runFrom(context, (order, place) => order.slice(0, place)),
  },
  {
    name: "run.below",
    title: "Run this and all below",
    group: "Run",
    keys: [],
    when: (context) => mayRun(context) && hasCell(context),
    do: (context) => runFrom(context, (order, place) => order.slice(place)),
  },
  {
    name: "run.stale",
    title: "Run stale",
    group: "Run",
    keys: ["Shift-R"],
    mode: "command",
    when: mayRun,
    do: (context) => {
      const cells = outdated(shown(context))
      if (cells.length) runCells(context, cells)
      else context.page.notify({ text: "Nothing to run: every output is of its cell as it is." })
    },
  },
  {
    name: "run.interrupt",
    title: "Interrupt",
    group: "Run",
    icon: "stop",
    keys: ["I I"],
    mode: "command",
    when: mayRun,
    do: (context) => act(context, interruptions(shown(context)), "Nothing runs."),
  },
  {
    name: "run.cancel",
    title: "Cancel what waits",
    group: "Run",
    keys: [],
    when: (context) => mayRun(context) && cancellations(shown(context)).length > 0,
    do: (context) => act(context, cancellations(shown(context)), "Nothing waits."),
  },
  {
    name: "run.stop_all",
    title: "Interrupt, and cancel what waits",
    group: "Run",
    keys: [],
    when: isBusy,
    do: (context) => act(context, [...cancellations(shown(context)), ...interruptions(shown(context))], "Nothing runs."),
  },
  {
    name: "run.restart",
    title: "Restart the kernel…",
    group: "Run",
    icon: "restart",
    keys: ["0 0"],
    mode: "command",
    when: mayRun,
    do: (context) => void restart(context, false),
  },
  {
    name: "run.restart_all",
    title: "Restart and run all…",
    group: "Run",
    keys: [],
    when: mayRun,
    do: (context) => void restart(context, true),
  },
]
