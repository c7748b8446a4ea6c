/** Keys outside an editor: they act on the focused cell, unless they are for what the focus is on. */

import type { Page } from "./page.ts"

const FIELDS = "input, textarea, select, [contenteditable]:not([contenteditable=false])"
/** What has keys of its own: these reach no action but those with Ctrl or Command. */
const OWN_KEYS = "dialog, [role=menu], [role=listbox], [role=tree], [role=grid], [data-rail-panel]"
/** What Enter and Space are for. */
const PRESSED = "button, a[href], summary, [role=button], [role=tab]"

export function listenForKeys(page: Page): () => void {
  /** Keys that came before the panels they are for, and what was typed behind them. */
  const early: KeyboardEvent[] = []
  const press = (event: KeyboardEvent): void => {
    const target = event.target instanceof Element ? event.target : document.body
    if (event.defaultPrevented || event.isComposing || target.closest("[data-editor] .cm-editor")) return
    if (target.closest("dialog[open]") || isForTarget(event, target)) return
    if (isBeforePanels(page, event, early.length > 0)) {
      early.push(event)
      event.preventDefault()
    } else if (take(page, event)) event.preventDefault()
  }
  const stop = page.hasPanels.subscribe(() => {
    for (const event of early.splice(0)) take(page, event)
  })
  addEventListener("keydown", press)
  return () => {
    stop()
    removeEventListener("keydown", press)
  }
}

/** Do what a key says, or keep it for what is about to be shown. Returns whether it was for the page. */
function take(page: Page, event: KeyboardEvent): boolean {
  if (isDialogComing(page) || page.isPanelComing) return keepForShown(page, event)
  if (page.view.edited !== null && keepEarly(page, event)) return true
  return page.keyboard.handle(event, page.view.mode.get(), page.actions)
}

/** Whether a key is for a panel, as those that find and go somewhere are, or behind one, and the panels are still being loaded. */
function isBeforePanels(page: Page, event: KeyboardEvent, isBehind: boolean): boolean {
  if (page.hasPanels.get()) return false
  const isPanelKey = (event.altKey && /^(Key|Bracket)/.test(event.code)) || ((event.ctrlKey || event.metaKey) && event.code === "KeyF")
  return isPanelKey || (isBehind && !event.ctrlKey && !event.metaKey && !event.altKey)
}

/** Whether a dialog was asked for whose code is still being loaded: keys are for it, and do nothing to cells. */
function isDialogComing(page: Page): boolean {
  const overlay = page.overlay.get()
  return overlay !== null && overlay.kind !== "menu" && document.querySelector("dialog[open]") === null
}

/** Keep what is typed for a field that is about to be shown; Escape gives it up, and other keys do nothing meanwhile. */
function keepForShown(page: Page, event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false
  const kind = page.overlay.get()?.kind
  if (event.key !== "Escape") {
    if ((kind === undefined || kind === "palette") && event.key.length === 1) page.earlyText += event.key
  } else if (kind !== undefined) page.overlay.set(null)
  else page.openPanel(null)
  return true
}

/** The one key that acts on the notebook while something else stands in place of its cells: Z takes back. */
export function listenForUndo(page: Page): () => void {
  const press = (event: KeyboardEvent): void => {
    const target = event.target instanceof Element ? event.target : document.body
    if (event.key !== "z" || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (!target.closest(FIELDS) && !target.closest(OWN_KEYS)) page.doNamed("edit.undo")
  }
  addEventListener("keydown", press)
  return () => removeEventListener("keydown", press)
}

/** What is typed before the editor is loaded is kept for it. */
function keepEarly(page: Page, event: KeyboardEvent): boolean {
  if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return false
  page.earlyText += event.key
  event.preventDefault()
  return true
}

/** What text is typed into: there, Alt and a letter may be a character. */
const TEXT_FIELDS = "textarea, select, input:not([type=checkbox], [type=radio]), [contenteditable]:not([contenteditable=false])"

function isForTarget(event: KeyboardEvent, target: Element): boolean {
  // Keys that go somewhere work from the rail too.
  if (event.altKey && /^(Key|Bracket)/.test(event.code) && target.closest("[data-rail-panel]") && !target.closest(TEXT_FIELDS)) return false
  const isOfPage = (event.ctrlKey || event.metaKey) && !["a", "c", "v", "x", "z", "Enter", "ArrowUp", "ArrowDown"].includes(event.key)
  if (isOfPage) return false
  if (target.closest(FIELDS) || target.closest(OWN_KEYS)) return true
  return (event.key === "Enter" || event.key === " ") && !event.shiftKey && target.closest(PRESSED) !== null
}
