/** Replacing as edits of cells: all of it is one act on cells, which Z and the line's Undo take back. */

import { liveCells } from "../core/notebook.ts"
import type { PageContext } from "../sync/notebook_page.ts"
import { replaced } from "./matches.ts"
import type { Match } from "./matches.ts"
import type { Search } from "./search.ts"

/** Replace the match that is gone to, and return the next one; without one, only go to the first. */
export function replaceOne(context: PageContext, search: Search): Match | null {
  const match = search.found.get().matches[search.current.get()]
  const cell = match?.where === "source" ? context.live.store.cell(match.cell) : undefined
  const { regex } = search
  if (!match || !cell || !regex) return stepToSource(search)
  const made = replaced(cell, { regex, text: search.replacement.get(), isPattern: search.query.get().isPattern, only: match })
  if (made) {
    context.changeCells("Replaced 1 in 1 cell", [made.event], { isSilent: true })
    search.refresh()
  }
  return stepToSource(search)
}

/** The next match that can be replaced. */
function stepToSource(search: Search): Match | null {
  for (let steps = search.found.get().matches.length; steps > 0; steps -= 1) {
    const match = search.step(1)
    if (match?.where === "source") return match
  }
  return null
}

/** Replace every match in sources. */
export function replaceAll(context: PageContext, search: Search): void {
  const { regex } = search
  if (!regex) return
  const replacement = { regex, text: search.replacement.get(), isPattern: search.query.get().isPattern }
  const made = liveCells(context.live.store.get()).flatMap((cell) => replaced(cell, replacement) ?? [])
  if (made.length === 0) return
  const count = made.reduce((sum, one) => sum + one.count, 0)
  const where = made.length === 1 ? "in 1 cell" : `in ${made.length} cells`
  context.changeCells(`Replaced ${count} ${where}`, made.map(({ event }) => event))
  search.refresh()
}
