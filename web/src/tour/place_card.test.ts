import { expect, test } from "vitest"

import { placeCard } from "./place_card.ts"

const CARD = { width: 300, height: 200 }
const VIEW = { width: 1200, height: 800 }
const CORNER = { left: 888, top: 588 }

const box = (left: number, top: number, right: number, bottom: number) => ({ left, top, right, bottom })

test("a card stands to the right of its target where there is room, else below or above it", () => {
  expect(placeCard(box(100, 200, 700, 260), CARD, VIEW, 40)).toEqual({ left: 712, top: 200 })
  expect(placeCard(box(100, 200, 1100, 260), CARD, VIEW, 40)).toEqual({ left: 800, top: 272 })
  expect(placeCard(box(100, 600, 1100, 760), CARD, VIEW, 40)).toEqual({ left: 800, top: 388 })
})

test("a card is in the corner where its target is out of view, or as large as the view", () => {
  for (const target of [null, box(0, -100, 1100, 20), box(0, 900, 1100, 950), box(0, 50, 1190, 790)]) {
    expect(placeCard(target, CARD, VIEW, 40)).toEqual(CORNER)
  }
})
