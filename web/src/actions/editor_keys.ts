/** What the editor itself has keys for: told in the `?` sheet and in the docs, done by editor/. */

import type { Action } from "./context.ts"

export const EDITOR_KEYS: readonly Pick<Action, "name" | "title" | "keys">[] = [
  { name: "editor.complete", title: "Complete, or indent", keys: ["Tab"] },
  { name: "editor.inspect", title: "Explain what is under the cursor", keys: ["Shift-Tab"] },
  { name: "editor.undo", title: "Undo your typing", keys: ["Mod-Z"] },
  { name: "editor.comment", title: "Comment lines", keys: ["Mod-/"] },
]
