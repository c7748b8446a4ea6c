/** The difference of two texts by lines (Myers 1986), and the parts of it that are worth showing. */

import { visible } from "./visible.ts"

export interface DiffLine {
  readonly kind: "same" | "removed" | "added"
  readonly text: string
}

/** Lines that are left out because nothing changed there. */
export interface Gap {
  readonly kind: "gap"
  readonly count: number
}

/** More changes than this are shown as all of the old and all of the new: the search costs their square. */
const MOST_CHANGES = 1500
const CONTEXT = 2

/** The lines of both texts in order; what is replaced stands before what replaces it. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const old = lines(before)
  const now = lines(after)
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1
  let end = 0
  const most = Math.min(old.length, now.length) - start
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1
  return [
    ...old.slice(0, start).map(same),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end).map(same),
  ]
}

/** How many lines come in and go. */
export function changeCount(diff: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  const count = (kind: DiffLine["kind"]): number => diff.filter((line) => line.kind === kind).length
  return { added: count("added"), removed: count("removed") }
}

/** The changed lines with a few around them; a gap stands for the others. */
export function withoutSame(diff: readonly DiffLine[], context: number = CONTEXT): (DiffLine | Gap)[] {
  const isNear = new Uint8Array(diff.length)
  diff.forEach(({ kind }, index) => {
    if (kind !== "same") isNear.fill(1, Math.max(0, index - context), index + context + 1)
  })
  const shown: (DiffLine | Gap)[] = []
  let left = 0
  diff.forEach((line, index) => {
    if (!isNear[index]) left += 1
    else {
      if (left) shown.push({ kind: "gap", count: left })
      left = 0
      shown.push(line)
    }
  })
  if (left) shown.push({ kind: "gap", count: left })
  return shown
}

/** What a person is shown of a difference: the changed lines and a few around them, with nothing invisible in them. */
export function shownDiff(before: string, after: string): (DiffLine | Gap)[] {
  return withoutSame(lineDiff(before, after)).map((line) => (line.kind === "gap" ? line : { ...line, text: visible(line.text) }))
}

function lines(text: string): string[] {
  return text === "" ? [] : text.split("\n")
}

const same = (text: string): DiffLine => ({ kind: "same", text })
const removed = (text: string): DiffLine => ({ kind: "removed", text })
const added = (text: string): DiffLine => ({ kind: "added", text })

function middle(old: readonly string[], now: readonly string[]): DiffLine[] {
  const paths = old.length && now.length ? search(old, now) : null
  return paths ? sorted(walkBack(paths, old, now)) : [...old.map(removed), ...now.map(added)]
}

/** How far each diagonal reaches, for each number of changes; null when there are too many. */
function search(old: readonly string[], now: readonly string[]): Int32Array[] | null {
  const most = Math.min(old.length + now.length, MOST_CHANGES)
  const reach = new Int32Array(2 * most + 2)
  const paths: Int32Array[] = []
  for (let changes = 0; changes <= most; changes += 1) {
    paths.push(reach.slice())
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = startOf(reach, diagonal, changes, most)
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x += 1
      reach[most + diagonal] = x
      if (x >= old.length && x - diagonal >= now.length) return paths
    }
  }
  return null
}

function startOf(reach: Int32Array, diagonal: number, changes: number, most: number): number {
  return isDown(reach, diagonal, changes, most) ? at(reach, most + diagonal + 1) : at(reach, most + diagonal - 1) + 1
}

function isDown(reach: Int32Array, diagonal: number, changes: number, most: number): boolean {
  if (diagonal === -changes) return true
  return diagonal !== changes && at(reach, most + diagonal - 1) < at(reach, most + diagonal + 1)
}

function at(reach: Int32Array, index: number): number {
  return reach[index] ?? 0
}

function walkBack(paths: readonly Int32Array[], old: readonly string[], now: readonly string[]): DiffLine[] {
  const back: DiffLine[] = []
  let [x, y] = [old.length, now.length]
  const most = Math.min(old.length + now.length, MOST_CHANGES)
  for (let changes = paths.length - 1; changes >= 0; changes -= 1) {
    const reach = paths[changes] ?? new Int32Array()
    const diagonal = x - y
    const isInsert = isDown(reach, diagonal, changes, most)
    const start = changes === 0 ? 0 : startOf(reach, diagonal, changes, most)
    for (; x > start; x -= 1, y -= 1) back.push(same(old[x - 1] ?? ""))
    if (changes === 0) break
    if (isInsert) back.push(added(now[--y] ?? ""))
    else back.push(removed(old[--x] ?? ""))
  }
  return back.reverse()
}

/** Between two lines that stay, first what goes and then what comes. */
function sorted(diff: readonly DiffLine[]): DiffLine[] {
  const result: DiffLine[] = []
  let coming: DiffLine[] = []
  for (const line of diff) {
    if (line.kind === "added") coming.push(line)
    else if (line.kind === "removed") result.push(line)
    else {
      result.push(...coming, line)
      coming = []
    }
  }
  return [...result, ...coming]
}
