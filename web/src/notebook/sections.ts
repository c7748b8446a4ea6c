/**
 * Long notebooks in sections: what the browser does for each frame grows with the elements it has to look at, so rows that
 * are out of view are skipped a section at a time.
 *
 * Which cells begin a section follows from their ids alone. A cell that is added, removed or moved changes no other section
 * than those that it leaves and enters; rows that stay in their section are not drawn again.
 */

import type { CellId } from "../core/types.gen.ts"
import { isSameList } from "../sync/reuse.ts"

export interface Section {
  /** The cell that it begins with; of the first one, a name of its own, as others may come before its cells. */
  readonly key: string
  readonly cells: readonly CellId[]
}

/** How many cells a section has on average. */
const AVERAGE = 32

/** The cells in sections; sections that are what they were `before` are the same objects. */
export function sectionsOf(order: readonly CellId[], before: readonly Section[] = []): readonly Section[] {
  const known = new Map(before.map((section) => [section.key, section]))
  const sections: { key: string; cells: CellId[] }[] = [{ key: "first", cells: [] }]
  for (const id of order) {
    if (beginsSection(id)) sections.push({ key: id, cells: [] })
    sections.at(-1)?.cells.push(id)
  }
  return sections.map((section) => {
    const was = known.get(section.key)
    return was && isSameList(was.cells, section.cells) ? was : section
  })
}

/** One id of AVERAGE does, by its FNV-1a hash. */
function beginsSection(id: CellId): boolean {
  let hash = 0x811c9dc5
  for (let index = 0; index < id.length; index += 1) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193)
  return (hash >>> 8) % AVERAGE === 0
}
