/**
 * The page moves only because of what its reader did: the focused cell stays where it is when cells above it grow.
 *
 * The browser holds on to the first thing in view, and while somebody types to what is typed in. In command mode that lets
 * the focused cell be pushed away by an output of somebody else that is in view too. So as long as the focused cell is in
 * view, all other rows are no candidates (`data-hold`, in Cell.module.css). What was run here is another matter: then
 * the cell that runs stays in view, and its output grows down.
 */

import { openExecution } from "../core/notebook.ts"
import type { Page } from "./page.ts"

/** How long after the end of a cell its outputs may still take their place. */
const SETTLE_MILLISECONDS = 1000

export function holdFocused(page: Page, list: HTMLElement): () => void {
  let isInView = false
  let isOwnRunning = false
  let row: Element | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  const show = (): void => {
    list.toggleAttribute("data-hold", isInView && !isOwnRunning)
  }
  const observer = new IntersectionObserver((entries) => {
    isInView = entries.at(-1)?.isIntersecting ?? false
    show()
  })
  const refocus = (): void => {
    // After the row is drawn.
    requestAnimationFrame(() => {
      const next = list.querySelector("[data-cell][data-focused]")
      if (next === row) return
      if (row) observer.unobserve(row)
      row = next
      isInView = false
      if (row) observer.observe(row)
      show()
    })
  }
  const executed = (): void => {
    clearTimeout(timer)
    if (hasOwn(page)) {
      isOwnRunning = true
      show()
    } else if (isOwnRunning) {
      timer = setTimeout(() => {
        isOwnRunning = false
        show()
      }, SETTLE_MILLISECONDS)
    }
  }
  const stops = [page.view.focus.subscribe(refocus), page.live.store.subscribe("executions", executed)]
  refocus()
  executed()
  return () => {
    clearTimeout(timer)
    observer.disconnect()
    for (const stop of stops) stop()
  }
}

/** Whether something runs or waits that was asked for by the reader of this page. */
function hasOwn(page: Page): boolean {
  const notebook = page.live.store.get()
  return [...notebook.executions.keys()].some((id) => openExecution(notebook, id)?.by === page.open.me.actor)
}
