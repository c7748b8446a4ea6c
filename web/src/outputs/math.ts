/** Formulas, by KaTeX. Loaded when the first text with a formula is shown. */

import katex from "katex"
import "katex/dist/katex.min.css"

/** Draw a formula into an element, and return whether it could be read. What cannot be stays as it was written. */
export function drawMath(place: HTMLElement, tex: string, isDisplayed: boolean): boolean {
  try {
    katex.render(tex, place, { displayMode: isDisplayed, throwOnError: true, trust: false, strict: "ignore", maxSize: 50, maxExpand: 1000 })
    return true
  } catch (error) {
    place.textContent = tex
    place.title = error instanceof Error ? error.message : String(error)
    return false
  }
}
