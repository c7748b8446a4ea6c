/** What can be done on a review's page by key: the page's listener and the `?` sheet read this one table. */

import { goToChange, isTyping } from "../cells/DiffRows.tsx"

/** What the page hands in. The focused cell is the one whose section has the focus. */
export interface ReviewActs {
  readonly toggleReviewed: (cell: string) => void
  readonly toggleChosen: (cell: string) => void
  readonly comment: (cell: string | null) => void
  readonly answer: (answer: "accepted" | "declined" | "change_asked") => void
  /** Go to another file of the branch, or to the list of them (0). Returns whether there is one. */
  readonly goToFile: (by: -1 | 0 | 1) => boolean
}

export interface ReviewAction {
  readonly keys: string
  readonly title: string
  /** Returns whether there was something to do. */
  readonly do: (acts: ReviewActs) => boolean
}

export const REVIEW_ACTIONS: readonly ReviewAction[] = [
  { keys: "J", title: "Next change; after the last one, the next notebook of the branch", do: (acts) => walk(acts, 1) },
  { keys: "K", title: "Previous change; before the first one, the notebook before", do: (acts) => walk(acts, -1) },
  { keys: "F", title: "Next notebook of the branch", do: (acts) => acts.goToFile(1) },
  { keys: "B", title: "Notebook before", do: (acts) => acts.goToFile(-1) },
  { keys: "U", title: "All notebooks of the branch", do: (acts) => acts.goToFile(0) },
  { keys: "V", title: "Looked at, or look again", do: (acts) => onCell((cell) => acts.toggleReviewed(cell)) },
  { keys: "C", title: "Comment on the cell, or on the review", do: (acts) => (acts.comment(focusedCell()), true) },
  { keys: "L", title: "To the lines of the cell", do: () => goToLine(0) },
  { keys: "ArrowDown", title: "Next line", do: () => focusedLine() !== null && goToLine(1) },
  { keys: "ArrowUp", title: "Line before", do: () => focusedLine() !== null && goToLine(-1) },
  { keys: "Enter", title: "Comment on the line", do: () => false }, // as with any button
  { keys: "X", title: "Take this change out of what is accepted, or back in", do: (acts) => onCell((cell) => acts.toggleChosen(cell)) },
  { keys: "Y", title: "Accept", do: (acts) => (acts.answer("accepted"), true) },
  { keys: "M", title: "Ask for a change", do: (acts) => (acts.answer("change_asked"), true) },
  { keys: "N", title: "Decline", do: (acts) => (acts.answer("declined"), true) },
]

/** Do what a key stands for. Returns whether it was one of the page's. */
export function pressed(event: KeyboardEvent, acts: ReviewActs): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || isTyping(event.target)) return false
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key
  return REVIEW_ACTIONS.find(({ keys }) => keys === key)?.do(acts) ?? false
}

function rows(): HTMLElement | null {
  return document.querySelector<HTMLElement>("[data-diff-rows]")
}

function walk(acts: ReviewActs, by: -1 | 1): boolean {
  const list = rows()
  const changes = [...(list?.querySelectorAll("[data-change]") ?? [])]
  const at = changes.findIndex((change) => change.contains(document.activeElement))
  const isAtEnd = at >= 0 && changes[at + by] === undefined
  // While the last ones are still being drawn, the end is not known.
  if (isAtEnd && list?.ariaBusy !== "true" && acts.goToFile(by)) return true
  return goToChange(list, by)
}

function focusedCell(): string | null {
  return document.activeElement?.closest<HTMLElement>("[data-change]")?.dataset["cell"] ?? null
}

function onCell(act: (cell: string) => void): boolean {
  const cell = focusedCell()
  if (cell !== null) act(cell)
  return cell !== null
}

function focusedLine(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>("[data-line]") ?? null
}

/** Focus the first line that changed, or go on from the one that has the focus. */
function goToLine(by: number): boolean {
  const change = document.activeElement?.closest("[data-change]")
  const lines = [...(change?.querySelectorAll<HTMLElement>("[data-line]") ?? [])].filter((line) => line.offsetParent !== null)
  const at = lines.findIndex((line) => line === focusedLine())
  const first = lines.findIndex((line) => line.parentElement?.dataset["sign"] !== " ")
  const next = lines[by === 0 || at < 0 ? Math.max(first, 0) : Math.min(Math.max(at + by, 0), lines.length - 1)]
  next?.focus()
  return next !== undefined
}
