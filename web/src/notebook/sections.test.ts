/** Sections of long notebooks: which cells are in one follows from the cells alone. */

import { expect, test } from "vitest"
import { Random } from "../../testing/random.ts"
import type { CellId } from "../core/types.gen.ts"
import { sectionsOf } from "./sections.ts"

const ORDER: readonly CellId[] = Array.from({ length: 1000 }, (_, index) => `01J8${index.toString(36).padStart(6, "0")}`)

test("the sections have the cells in their order, a few dozen each", () => {
  const sections = sectionsOf(ORDER)
  expect(sections.flatMap(({ cells }) => cells)).toEqual(ORDER)
  expect(sections.length).toBeGreaterThan(10)
  expect(sections.length).toBeLessThan(100)
  expect(new Set(sections.map(({ key }) => key)).size).toBe(sections.length)
})

test("a cell that comes, goes or moves leaves the other sections what they were", () => {
  const random = new Random(1)
  let order = ORDER
  let sections = sectionsOf(order)
  for (let step = 0; step < 300; step += 1) {
    const at = random.integer(0, order.length - 1)
    const moved = order[at] ?? ""
    const rest = order.toSpliced(at, 1)
    const next = random.chance(0.3) ? rest : rest.toSpliced(random.integer(0, rest.length), 0, random.chance(0.5) ? moved : `new-${step}`)
    const after = sectionsOf(next, sections)
    expect(after).toEqual(sectionsOf(next))
    // One that is left and one that is entered; a cell that begins a section splits one more.
    expect(after.filter((section) => !sections.includes(section)).length).toBeLessThanOrEqual(4)
    order = next
    sections = after
  }
})

test("what is drawn slice by slice changes its last section alone", () => {
  const few = sectionsOf(ORDER.slice(0, 500))
  const all = sectionsOf(ORDER, few)
  expect(all.slice(0, few.length - 1)).toEqual(few.slice(0, -1))
  expect(few.slice(0, -1).every((section, index) => section === all[index])).toBe(true)
})

test("no cells, no sections of them", () => {
  expect(sectionsOf([]).flatMap(({ cells }) => cells)).toEqual([])
})
