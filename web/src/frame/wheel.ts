/** The wheel turns the page until the output was clicked into: a chart under the pointer must not catch it. */

import type { FromFrame } from "../outputs/protocol.ts"

export function keepWheel(say: (message: FromFrame) => void): void {
  let isEngaged = false
  window.addEventListener("pointerdown", () => (isEngaged = true), true)
  window.addEventListener("blur", () => (isEngaged = false))
  const turned = (event: WheelEvent): void => {
    if (isEngaged || event.ctrlKey) return
    // Its own listeners do not see it. Where something in it would scroll, the page scrolls instead.
    event.stopImmediatePropagation()
    if (!event.composedPath().some((each) => each instanceof Element && scrolls(each, event))) return
    event.preventDefault()
    say({ type: "wheel", dx: event.shiftKey ? 0 : event.deltaX, dy: event.deltaY })
  }
  window.addEventListener("wheel", turned, { capture: true, passive: false })
}

function scrolls(element: Element, { deltaX, deltaY }: WheelEvent): boolean {
  const isRoot = element === document.documentElement
  const { overflowX, overflowY } = getComputedStyle(element)
  const may = (overflow: string): boolean => isRoot || overflow === "auto" || overflow === "scroll"
  return (deltaY !== 0 && may(overflowY) && element.scrollHeight > element.clientHeight + 1) || (deltaX !== 0 && may(overflowX) && element.scrollWidth > element.clientWidth + 1)
}
