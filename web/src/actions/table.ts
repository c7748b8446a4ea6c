/**
 * Everything one can do in a notebook: from this table come keys, the palette, menus and the `?` sheet.
 *
 * To add an action, add a row to one of the files. A test holds that no two rows have the same keys in one mode.
 */

import { Value } from "../sync/store.ts"
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

/** A sequence of keys that waits for its next one. */
export interface BegunSequence {
  readonly keys: string
  /** What the next key would do. */
  readonly next: readonly { readonly keys: string; readonly action: Action }[]
}

/**
 * Finds actions by the keys of one mode. A row whose keys are taken by one above it goes without them.
 *
 * A sequence waits for its next key however long that takes: the page shows it, and Escape, another key or another place gives it up.
 */
export class Keyboard {
  readonly begun = new Value<BegunSequence | null>(null)
  #modes: Record<Mode, KeyMatcher<Action>>

  constructor(actions: readonly Action[]) {
    this.#modes = matchers(actions)
  }

  /** Take another table. What was begun goes on. */
  setActions(actions: readonly Action[]): void {
    this.#modes = matchers(actions)
  }

  press(event: KeyPress, mode: Mode): Matched<Action> {
    const key = keyName(event)
    return key === null ? { kind: "none" } : this.#modes[mode].match(key, this.begun.get()?.keys)
  }

  /** Do what a key says. Returns whether it said something. */
  handle(event: KeyPress, mode: Mode, context: ActionContext): boolean {
    const key = keyName(event)
    if (key === null) return false
    const wasBegun = this.begun.get() !== null
    const matched = this.press(event, mode)
    this.begun.set(matched.kind === "begun" ? { keys: matched.keys, next: this.#modes[mode].continuations(matched.keys) } : null)
    if (wasBegun && key === "Esc") return true
    if (matched.kind !== "action") return matched.kind === "begun"
    if (!matched.action.when(context)) return false
    matched.action.do(context)
    return true
  }
}

function matchers(actions: readonly Action[]): Record<Mode, KeyMatcher<Action>> {
  return { command: matcher(actions, "command"), edit: matcher(actions, "edit") }
}

function matcher(actions: readonly Action[], mode: Mode): KeyMatcher<Action> {
  const bindings = new Map<string, Action>()
  for (const each of actions) {
    if (each.isLocal === true || (each.mode !== undefined && each.mode !== mode)) continue
    for (const keys of each.keys) if (!bindings.has(keys)) bindings.set(keys, each)
  }
  return new KeyMatcher(bindings)
}
