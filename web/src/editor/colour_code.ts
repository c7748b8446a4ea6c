/** Colours of code that stands in a text: the blocks of a Markdown cell. They follow once the code is near the viewport. */

import styles from "./Code.module.css"
import { highlighted } from "./highlight.ts"
import { whenNear } from "./near_viewport.ts"
import { parserFor } from "./parsers.ts"

/** Colour the text of an element once it is near the viewport. Returns what calls that off. */
export function colourCode(element: HTMLElement, language: string): () => void {
  return parserFor(language) ? whenNear(element, () => colour(element, language)) : () => undefined
}

function colour(element: HTMLElement, language: string): void {
  const pieces = highlighted(element.textContent, language).map(({ text, classes }) => {
    if (!classes) return text
    const span = document.createElement("span")
    span.className = classes
    span.textContent = text
    return span
  })
  element.replaceChildren(...pieces)
  element.classList.add(styles["coloured"] ?? "")
}
