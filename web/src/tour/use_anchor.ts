/** Keeps the card of the tour beside what it is about, and a ring around that, as the page scrolls and grows. */

import { useEffect } from "react"
import type { RefObject } from "react"

import { placeCard } from "./place_card.ts"

/** Below this the card is a sheet at the foot of the page: CSS alone places it. */
const NARROW = "(width < 700px)"
const RING_GAP = 3

export function useAnchor(card: RefObject<HTMLElement | null>, targets: readonly string[], step: number): void {
  const target = targets.join(" ; ")
  useEffect(() => {
    const element = card.current
    const ring = document.querySelector<HTMLElement>("[data-ring]")
    if (!element || !ring) return
    let frame = 0
    const place = (): void => {
      frame = 0
      const found = firstShown(target.split(" ; "))
      const box = found?.getBoundingClientRect() ?? null
      const header = found?.closest("header") ? 0 : (document.querySelector("header")?.getBoundingClientRect().bottom ?? 0)
      ring.hidden = box === null
      if (box) {
        // Within the window: what reaches from edge to edge would have a ring without sides.
        const left = Math.max(box.left - RING_GAP, 0)
        Object.assign(ring.style, {
          left: `${left}px`,
          top: `${box.top - RING_GAP}px`,
          width: `${Math.min(box.right + RING_GAP, document.documentElement.clientWidth) - left}px`,
          height: `${box.height + 2 * RING_GAP}px`,
        })
      }
      if (matchMedia(NARROW).matches) Object.assign(element.style, { left: "", top: "" })
      else {
        // Not over a panel: what a step is about may be in there.
        const width = document.querySelector("[data-rail-panel]")?.getBoundingClientRect().left ?? innerWidth
        const { left, top } = placeCard(box, { width: element.offsetWidth, height: element.offsetHeight }, { width, height: innerHeight }, header)
        Object.assign(element.style, { left: `${left}px`, top: `${top}px` })
      }
    }
    const later = (): void => void (frame ||= requestAnimationFrame(place))
    place()
    const resized = new ResizeObserver(later)
    resized.observe(document.body)
    resized.observe(element)
    // What the card is about may come later, or move: an output above it, a button in the header.
    const changed = new MutationObserver(later)
    changed.observe(document.body, { childList: true, subtree: true })
    addEventListener("scroll", later, { capture: true, passive: true })
    addEventListener("resize", later)
    return () => {
      cancelAnimationFrame(frame)
      resized.disconnect()
      changed.disconnect()
      removeEventListener("scroll", later, { capture: true })
      removeEventListener("resize", later)
    }
  }, [card, target, step])
}

/** The first of these that is there and drawn. */
function firstShown(selectors: readonly string[]): Element | null {
  for (const selector of selectors.filter(Boolean)) {
    const found = document.querySelector(selector)
    if (found && found.getClientRects().length > 0) return found
  }
  return null
}
