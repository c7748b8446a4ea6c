/** Keys outside an editor: they act on the focused cell, unless they are for what the focus is on. */

import type { Page } from "./page.ts"

const FIELDS = "input, textarea, select, [contenteditable]:not([contenteditable=false])"
/** What has keys of its own: these reach no action but those with Ctrl or Command. */
const OWN_KEYS = "dialog, [role=menu], [role=listbox], [role=tree], [role=grid], [data-rail-panel]"
/** What Enter and Space are for. */
const PRESSED = "button, a[href], summary, [role=button], [role=tab]"

export function listenForKeys(page: Page): () => void {
  const press = (event: KeyboardEvent): void => {
    const target = event.target instanceof Element ? event.target : document.body
    if (event.defaultPrevented || event.isComposing || target.closest("[data-editor] .cm-editor")) return
    if (target.closest("dialog[open]") || isForTarget(event, target)) return
    if (isDialogComing(page)) return void keepForDialog(page, event)
    if (page.view.edited !== null && keepEarly(page, event)) return
    if (page.keyboard.handle(event, page.view.mode.get(), page.actions)) event.preventDefault()
  }
  addEventListener("keydown", press)
  return () => removeEventListener("keydown", press)
}

/** Whether a dialog was asked for whose code is still being loaded: keys are for it, and do nothing to cells. */
function isDialogComing(page: Page): boolean {
  const overlay = page.overlay.get()
  return overlay !== null && overlay.kind !== "menu" && document.querySelector("dialog[open]") === null
}

function keepForDialog(page: Page, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (event.key === "Escape") page.overlay.set(null)
  else if (page.overlay.get()?.kind === "palette" && event.key.length === 1) page.earlyText += event.key
  event.preventDefault()
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
