import { expect, test } from "vitest"

import { STEPS, TOUR_KEY, TourState } from "./tour_state.ts"

function storage(kept: Record<string, string> = {}) {
  return {
    kept,
    getItem: (key: string): string | null => kept[key] ?? null,
    setItem: (key: string, value: string): void => void (kept[key] = value),
  }
}

test("it begins by itself on the example, and nowhere else", () => {
  expect(new TourState(storage(), true).step.get()).toBe(0)
  expect(new TourState(storage(), false).step.get()).toBeNull()
})

test("a reload goes on where it was", () => {
  const kept = storage()
  new TourState(kept, true).go(2)
  expect(new TourState(kept, true).step.get()).toBe(2)
})

test("left or ended, it is not shown again unless somebody asks", () => {
  for (const end of [(tour: TourState) => tour.leave(), (tour: TourState) => tour.go(STEPS)]) {
    const kept = storage()
    end(new TourState(kept, true))
    const again = new TourState(kept, true)
    expect(again.step.get()).toBeNull()
    again.start()
    expect(again.step.get()).toBe(0)
  }
})

test("what nobody wrote is no step", () => {
  for (const wrong of ["x", "-1", "9", "1.5"]) expect(new TourState(storage({ [TOUR_KEY]: wrong }), true).step.get()).toBeNull()
})
