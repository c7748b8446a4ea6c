/** Edits of one text, drawn: what `transform`, `compose`, `invert` and `difference` promise, in code points. */

import { expect, test } from "vitest"

import { Random } from "../../testing/random.ts"
import { pointLength, toPoints, toUnits } from "./points.ts"
import { apply, compose, difference, invert, transform } from "./text.ts"
import type { Edit } from "./types.gen.ts"

function drawn(check: (text: string, random: Random) => void, count = 5000): void {
  for (let seed = 0; seed < count; seed += 1) {
    const random = new Random(seed)
    check(random.text(8), random)
  }
}

test("two edits of one text meet, whoever is first", () => {
  drawn((text, random) => {
    const [later, earlier] = [random.edit(pointLength(text)), random.edit(pointLength(text))]
    const [laterAfter, earlierAfter] = transform(later, earlier)
    expect(apply(apply(text, earlier), laterAfter)).toBe(apply(apply(text, later), earlierAfter))
  })
})

test("one edit does what two do, one after the other", () => {
  drawn((text, random) => {
    const first = random.edit(pointLength(text))
    const second = random.edit(pointLength(apply(text, first)))
    const both = compose(first, second)
    expect(apply(text, both), JSON.stringify([text, first, second])).toBe(apply(apply(text, first), second))
    let end = 0
    for (const [at, remove] of both) {
      expect(at).toBeGreaterThanOrEqual(end)
      end = at + remove
    }
    expect(end).toBeLessThanOrEqual(pointLength(text))
  })
})

test("an edit is taken back", () => {
  drawn((text, random) => {
    const edit = random.edit(pointLength(text))
    expect(apply(apply(text, edit), invert(text, edit))).toBe(text)
  })
})

test("a difference turns one text into the other", () => {
  drawn((text, random) => {
    const other = random.text(8)
    expect(apply(text, difference(text, other))).toBe(other)
  })
})

test("an editor that counts units comes to the same text", () => {
  const splice = (text: string, edit: Edit): string =>
    [...edit].reverse().reduce((now, [at, remove, insert]) => now.slice(0, at) + insert + now.slice(at + remove), text)
  drawn((text, random) => {
    const edit = random.edit(pointLength(text))
    expect(splice(text, toUnits(text, edit))).toBe(apply(text, edit))
    const units = random.edit(text.length, 1)
    expect(apply(text, toPoints(text, units))).toBe(splice(text, units))
  })
})

test("positions past U+FFFF and in line ends are counted as the log counts them", () => {
  expect(pointLength("🦊e\u0301👩‍🚀\r\n")).toBe(8)
  expect(toPoints("a🦊b\r\n", [[3, 1, "c"]])).toEqual([[2, 1, "c"]])
  expect(toUnits("a🦊b\r\n", [[2, 3, ""]])).toEqual([[3, 3, ""]])
})
