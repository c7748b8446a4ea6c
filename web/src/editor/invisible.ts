/** Show characters that a page would not show by their numbers, as static text does. The text itself stays as it is. */

import { highlightSpecialChars } from "@codemirror/view"
import type { Extension } from "@codemirror/state"
import { invisibleCharacters, shownByNumber } from "../core/visible.ts"

export function showInvisible(): Extension {
  return highlightSpecialChars({
    specialChars: invisibleCharacters(),
    render: (point) => {
      const element = document.createElement("span")
      element.className = "hl-invisible"
      element.textContent = shownByNumber(point)
      return element
    },
  })
}
