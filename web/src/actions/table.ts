/**
 * Everything one can do in a notebook: from this table come keys, the palette, menus and the `?` sheet.
 *
 * To add an action, add a row to one of the files. A test holds that no two rows have the same keys in one mode.
 */

import { CELLS } from "./cells.ts"
import { always } from "./context.ts"
import type { Action, ActionContext } from "./context.ts"
import { GO } from "./go.ts"
import { keyName, KeyMatcher } from "./keys.ts"
import type { KeyPress, Matched } from "./keys.ts"
import { RUN } from "./run.ts"
import type { Mode } from "./view.ts"

const PAGE: readonly Action[] = [
  { name: "view.palette", title: "Find an action…", group: "View", icon: "search", keys: ["Mod-K", "Mod-Shift-P"], when: always, do: ({ ui }) => ui.openPalette(), isKeyOnly: true },
  { name: "view.keys", title: "Keys", group: "View", icon: "keyboard", keys: ["?"], mode: "command", when: always, do: ({ ui }) => ui.openKeys() },
  {
    name: "notebook.rename",
    title: "Rename the notebook…",
    group: "Notebook",
    icon: "pencil",
    keys: [],
    when: ({ page }) => page.mayEdit,
    do: ({ ui }) => ui.editNotebookName(),
  },
  {
    name: "notebook.keep",
    title: "Send what was typed",
    group: "Notebook",
    keys: ["Mod-S"],
    when: always,
    do: ({ page }) => {
      page.live.flush()
      page.notify({ text: "Everything is kept as you type: there is nothing to save." })
    },
  },
]

export const ACTIONS: readonly Action[] = [...GO, ...RUN, ...CELLS, ...PAGE]

/** The action of that name. */
export function action(name: string, actions: readonly Action[] = ACTIONS): Action {
  const found = actions.find((each) => each.name === name)
  if (!found) throw new Error(`There is no action ${name}.`)
  return found
}

/** Finds actions by the keys of one mode. A row whose keys are taken by one above it goes without them. */
export class Keyboard {
  readonly #modes: Record<Mode, KeyMatcher<Action>>

  constructor(actions: readonly Action[], now: () => number) {
    this.#modes = { command: matcher(actions, "command", now), edit: matcher(actions, "edit", now) }
  }

  press(event: KeyPress, mode: Mode): Matched<Action> {
    const key = keyName(event)
    return key === null ? { kind: "none" } : this.#modes[mode].press(key)
  }

  /** Do what a key says. Returns whether it said something. */
  handle(event: KeyPress, mode: Mode, context: ActionContext): boolean {
    const matched = this.press(event, mode)
    if (matched.kind !== "action") return matched.kind === "begun"
    if (!matched.action.when(context)) return false
    matched.action.do(context)
    return true
  }
}

function matcher(actions: readonly Action[], mode: Mode, now: () => number): KeyMatcher<Action> {
  const bindings = new Map<string, Action>()
  for (const each of actions) {
    if (each.isLocal === true || (each.mode !== undefined && each.mode !== mode)) continue
    for (const keys of each.keys) if (!bindings.has(keys)) bindings.set(keys, each)
  }
  return new KeyMatcher(bindings, now)
}
