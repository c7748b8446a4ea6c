/** Where a card stands beside what it is about: to its right, below, above, or in the corner. */

export interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

export interface Size {
  readonly width: number
  readonly height: number
}

const GAP = 12

/** The corner of the card, inside the view. `target` is null where there is nothing to stand beside. */
export function placeCard(target: Box | null, card: Size, view: Size, header: number): { readonly left: number; readonly top: number } {
  const corner = { left: view.width - card.width - GAP, top: view.height - card.height - GAP }
  if (target === null || target.bottom < header || target.top > view.height) return corner
  const top = clamp(target.top, header + GAP, corner.top)
  if (view.width - target.right >= card.width + 2 * GAP) return { left: target.right + GAP, top }
  const left = clamp(target.right - card.width, GAP, corner.left)
  if (target.bottom + GAP + card.height + GAP <= view.height) return { left, top: Math.max(target.bottom + GAP, header + GAP) }
  if (target.top - GAP - card.height >= header + GAP) return { left, top: target.top - GAP - card.height }
  return corner
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most))
}
