/**
 * Shows a match in the page without taking the focus: its cell is brought into view and the text is marked.
 *
 * The mark is a highlight of the browser's (CSS Custom Highlight API): no element is changed, so React and the editor
 * notice nothing. A browser without it only scrolls.
 */

import type { CellId } from "../core/types.gen.ts"
import type { Match } from "./matches.ts"

const NAME = "quire-find"
/** Where the panel is a sheet over the lower part of the page. */
const SHEET_BELOW = "(width < 560px)"
const BELOW_HEADER = 64

let stopWaiting = (): void => undefined

/** Bring a match into view and mark it. Returns whether its cell is in the page. */
export function showMatch(match: Match, text: string): boolean {
  const element = cellElement(match.cell)
  if (!element) return false
  clearMark()
  // A cell far away is not laid out (`content-visibility`): its own place is known, that of its text only then.
  element.scrollIntoView({ block: "nearest" })
  const markIt = (): boolean => markRange(rangeOf(element, match, text))
  if (!markIt() && match.where === "output") stopWaiting = whenChanged(element, markIt)
  return true
}

/** Bring a cell into view without a mark. */
export function showCell(cell: CellId): void {
  clearMark()
  cellElement(cell)?.scrollIntoView({ block: "nearest" })
}

/** Take the mark away. */
export function clearMark(): void {
  stopWaiting()
  mark(null)
}

function markRange(range: Range | null): boolean {
  const line = range?.startContainer.parentElement
  if (!line) return false
  mark(range)
  if (matchMedia(SHEET_BELOW).matches) scrollBy(0, line.getBoundingClientRect().top - BELOW_HEADER)
  else line.scrollIntoView({ block: isInView(line) ? "nearest" : "center", inline: "nearest" })
  return true
}

/** An output that was cut is drawn once it is near the view: try again whenever the cell changed. */
function whenChanged(element: Element, isDone: () => boolean): () => void {
  const observer = new MutationObserver(() => {
    if (isDone()) observer.disconnect()
  })
  observer.observe(element, { childList: true, subtree: true })
  return () => observer.disconnect()
}

function mark(range: Range | null): void {
  // Not in every browser that we know of.
  const highlights = (CSS as { readonly highlights?: HighlightRegistry }).highlights
  if (!highlights) return
  if (range) highlights.set(NAME, new Highlight(range))
  else highlights.delete(NAME)
}

export function cellElement(cell: CellId): HTMLElement | null {
  return document.querySelector<HTMLElement>(`[data-cell="${CSS.escape(cell)}"]`)
}

function isInView(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect()
  return top >= 0 && bottom <= innerHeight
}

/** Where the match is in the page: the same occurrence of its text as in the source or the output. */
function rangeOf(cell: HTMLElement, match: Match, text: string): Range | null {
  const wanted = text.slice(match.from, match.to)
  const before = occurrences(text.slice(0, match.from + wanted.length - 1), wanted)
  const part = cell.querySelector(match.where === "source" ? "[data-source], [data-editor]" : "[data-outputs]") ?? cell
  return nthOccurrence(part, wanted, before)
}

function occurrences(text: string, wanted: string): number {
  let count = 0
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) count += 1
  return count
}

/** The text of an element as it is read, with where each piece of it is. */
function nthOccurrence(element: Element, wanted: string, index: number): Range | null {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  const pieces: { readonly node: Text; readonly at: number }[] = []
  let whole = ""
  let line: Element | null = null
  for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
    // The editor has an element for each line, and no line feed between them.
    const its = node.parentElement?.closest(".cm-line") ?? null
    if (its !== line && line) whole += "\n"
    line = its
    pieces.push({ node, at: whole.length })
    whole += node.data
  }
  let from = whole.indexOf(wanted)
  for (let skipped = 0; skipped < index && from >= 0; skipped += 1) from = whole.indexOf(wanted, from + 1)
  return from < 0 ? null : rangeOver(pieces, from, from + wanted.length)
}

function rangeOver(pieces: readonly { readonly node: Text; readonly at: number }[], from: number, to: number): Range | null {
  const first = pieces.findLast(({ at }) => at <= from)
  const last = pieces.findLast(({ at }) => at < to)
  if (!first || !last) return null
  const range = document.createRange()
  range.setStart(first.node, Math.min(first.node.length, from - first.at))
  range.setEnd(last.node, Math.min(last.node.length, to - last.at))
  return range
}
